#pragma once

#include <optional>
#include <string>

#include "aasm/schema/activity_vocabulary.h"

#include "network_spec.h"

// Calls on sockets of loopback that canaries try.
namespace aasm::backend_native {

struct SocketCanary {
  std::string id;
  schema::Domain domain = schema::Domain::kNetworkEgress;
  std::string step;    // that it watches
  std::string action;  // in words
  int type = 0;        // SOCK_*
  long number = 0;     // of the call
  std::string address;
  bool reported = false;  // by the decision channel
};

// One that the policy denies by this domain, or none: a connection to `listener` (struct
// sockaddr_in; may be empty), else a datagram socket's connect, by which nothing is sent.
std::optional<SocketCanary> denied_socket_call(const NetworkSpec& spec, schema::Domain domain,
                                               const std::string& listener);

// A bind that nobody judges before the program runs, so that Landlock has to refuse it.
SocketCanary floor_socket_call();

}  // namespace aasm::backend_native
