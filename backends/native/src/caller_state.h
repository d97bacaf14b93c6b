#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "aasm/process/fd.h"
#include "aasm/schema/result.h"

#include "broker_client.h"
#include "network_address.h"

// What a blocked caller is and has, by /proc/TID and pidfd_getfd(2). True of the caller only if its
// notification is still valid afterwards.
namespace aasm::backend_native {

// A copy of the caller's descriptor `number`. EBADF where it has none, as a kernel_answer(). Any
// other error is ours: a limit of this process, or a caller that may not be looked into.
schema::Result<process::Fd> take_descriptor(pid_t tid, int number);
// The same for who takes more than one: by what open_caller() gave.
schema::Result<process::Fd> open_caller(pid_t tid);
schema::Result<process::Fd> take_descriptor(const process::Fd& caller, int number);

// What the kernel says of a socket; ENOTSOCK, as a kernel_answer(), of anything else.
schema::Result<SocketFacts> socket_facts(const process::Fd& socket);

// The address of this host from which packets to `destination` would go, port 0. No packet is sent.
schema::Result<InternetAddress> source_address(const InternetAddress& destination);

// The name it is bound to, as getsockname(2) gives it.
schema::Result<std::string> socket_name(const process::Fd& socket);

// The fields of /proc/TID/status that a call is made with.
struct CallerStatus {
  BrokerCredentials credentials;
  bool plain = false;  // effective and filesystem ids agree
  std::uint32_t mode_mask = 0;
  std::uint64_t waiting_signals = 0;  // pending and not blocked
};

schema::Result<CallerStatus> parse_caller_status(std::string_view text);
schema::Result<CallerStatus> read_caller_status(pid_t tid);

// Its root and its working directory, O_PATH. An error where its root is not ours.
schema::Result<process::Fd> caller_root(pid_t tid);
schema::Result<process::Fd> caller_directory(pid_t tid);

}  // namespace aasm::backend_native
