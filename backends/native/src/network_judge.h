#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "aasm/schema/record_activity.h"

#include "network_address.h"
#include "network_spec.h"

// What a run's policy makes of a call on a socket (docs/decisions/0015). Pure functions: the caller
// has copied what they look at once, and makes an allowed call with that copy.
namespace aasm::backend_native {

struct NetworkVerdict {
  // False: refuse with event.os_errno. True: the call is made, by whoever holds the socket taken.
  bool perform = false;
  // False for calls that no statement of the policy is about. An address that the kernel would not
  // read is refused with the kernel's number and recorded with cause fault.
  bool recorded = true;
  // domain, operation, object, outcome, cause, rule, os_errno and mechanism; of a call that is
  // performed the caller sets the mechanism, and os_errno when it fails.
  schema::Event event;
  // judge_address() with `perform`: the address to make the call with (network_address.h).
  std::vector<std::uint8_t> address;
  // The call asks a resolver, this one: `address` is then that of the supervisor's own, and the
  // question is judged there.
  std::optional<InternetAddress> asked;
  // The call is to connect a datagram socket to this address, which only streams may be connected
  // to and which a name led to: so the C library learns by which address of this host it would be
  // reached. The socket is connected to that one instead, port 0; nothing is ever sent.
  std::optional<InternetAddress> source_for;
};

// Whether the caller of a call with this event is killed instead of refused.
bool kills(const NetworkSpec& spec, const schema::Event& event);

// A call that no statement of the policy is about: made, with these bytes, and not recorded.
NetworkVerdict not_judged(std::span<const std::uint8_t> address = {});

// socket(2) and socketpair(2), by registers alone. `type` with or without its flags. Open are
// stream and datagram sockets of AF_INET and AF_INET6 over TCP, MPTCP and UDP; AF_UNIX, whose
// domain is ipc; and of AF_NETLINK the protocol NETLINK_ROUTE, from which programs learn their
// interfaces. Every other is refused as the kernel would refuse one that may not have it: EPERM for
// raw and packet sockets, EACCES for those of ping, EPROTONOSUPPORT for other protocols,
// EAFNOSUPPORT for other families.
NetworkVerdict judge_socket(const NetworkSpec& spec, int family, int type, int protocol);

// setsockopt(2) and control messages, by level and option: options that carry a route send packets
// to an address that no rule has seen. EPERM.
NetworkVerdict judge_option(const NetworkSpec& spec, int level, int option);
bool option_carries_route(int level, int option);

// For sockets of every family but AF_UNIX. Also asks what the run has given out
// (NetworkSpec::given).
NetworkVerdict judge_address(const NetworkSpec& spec, NetworkCall call, const SocketFacts& socket,
                             std::span<const std::uint8_t> address);

// A unix socket that a name led to: `path` free of links, or the abstract name without its zero.
struct ResolvedSocket {
  std::string path;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::string abstract_name;
};

// Of a lookup: outcome, rule, errno and object of its event, but for the question's type and what
// it is answered. `name` as dns::name_text() writes it. `perform`: it may be looked up.
NetworkVerdict judge_name(const NetworkSpec& spec, const std::string& name);

// Refused are only sockets behind which names are looked up, when policy closes that.
NetworkVerdict judge_unix(const NetworkSpec& spec, NetworkCall call, const ResolvedSocket& socket);

}  // namespace aasm::backend_native
