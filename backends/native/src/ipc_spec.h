#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "aasm/schema/record_policy.h"
#include "aasm/schema/result.h"

// The requirement on ipc in the form in which calls are judged (docs/decisions/0022).
namespace aasm::backend_native {

// A unix socket that may be connected and sent to, by the path the policy names and as it was found
// at the launch: links to it, and other mounts and names of it, are the same socket.
struct SocketRule {
  std::string id;
  std::string path;
  std::string resolved;  // free of links; the path itself where nothing of it is there
  bool found = false;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
};

// A rule that is empty is one the policy does not state: that part of the domain stays open.
struct IpcSpec {
  bool sockets_stated = false;  // sockets with a path
  std::string sockets_default;
  std::vector<SocketRule> sockets;
  std::string abstract_rule;
  std::string signals_rule;
  std::string memory_rule;
  bool observes = false;  // signals stay refused, by self-protection (observe_ipc())

  bool judges_sockets() const { return sockets_stated || !abstract_rule.empty(); }
  bool brokers() const { return judges_sockets() || !memory_rule.empty(); }
};

// nullptr: the policy does not state the domain. The error says what in it is unknown here. Pure:
// `resolved` and what follows it are locate_sockets()'s to fill in.
schema::Result<IpcSpec> make_ipc_spec(const schema::Requirement* requirement);

// Where the domain is observed: Landlock's scope keeps signals inside whatever policy says, and
// where abstract sockets were made nobody could tell without it, so they are neither refused nor
// seen.
void observe_ipc(IpcSpec& spec);

// Looks at the host for the sockets of the rules.
void locate_sockets(IpcSpec& spec);

}  // namespace aasm::backend_native
