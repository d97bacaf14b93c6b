#pragma once

#include <linux/seccomp.h>

#include <cstdint>
#include <optional>

#include "aasm/schema/record_activity.h"

#include "filter_spec.h"

// What a notified call is answered, and how it stands in the record. docs/spec/backends.md.
namespace aasm::backend_native {

enum class AnswerKind : std::uint8_t {
  kRefuse,        // with event.os_errno
  kContinue,      // the kernel runs the call; only ever decided on argument registers
  kEmulate,       // answered 0 without effect
  kBroker,        // judged by what its arguments point to, and made by the broker (broker_calls.h)
  kUnlessInside,  // refuse, unless what it is about is of the tree (channel_ipc.cc)
  kKill,  // the caller's process, while the call is still blocked; else refuse with `fallback`
};

struct NotifiedCall {
  seccomp_data data{};
  std::int64_t tid = 0;
  std::int64_t pid = 0;  // thread group id; 0 when it could not be read
};

// `event` has what depends on the call and the policy; number, reply, pid, tid, parents,
// executable and counts are the caller's to fill in.
struct Classification {
  AnswerKind answer = AnswerKind::kRefuse;
  std::int64_t fallback_errno = 0;  // kKill: the answer should killing fail
  bool recorded = true;  // false: a call policy allows, which a register test could not let through
  schema::Event event;
  // Where calls are observed: this one, which policy would have refused. What follows is decided
  // as if it had not.
  std::optional<schema::Event> seen;
};

// Whether this call makes a process that the ceiling of `spec` counts, and nothing else refuses it.
// From registers alone.
bool creates_process(const seccomp_data& call, const FilterSpec& spec);

// A pure function of its arguments, for calls of the workload. The first that applies:
//   another architecture or x32      ENOSYS  default rule, or self_protection.foreign_architecture
//   a number without a name, where files are observed   ENOSYS   self_protection.unknown_call
//   refused by policy, where calls are observed   as if it were not, and `seen`
//   named by a deny rule             EPERM   that rule
//   closed, answered for fallback    ENOSYS or EOPNOTSUPP   compat.<name>, cause compat
//   not on a stated allow list       EPERM, ENOSYS for a number without a name   default rule
//   closed                           EPERM   self_protection.<name>
//   judged by argument               syscall_closed.inc
//   on a name in the filesystem, where policy wants decisions of them   file_judge.h
//   on a socket, where policy states the network or sockets   network_judge.h, ipc_judge.h
//   signals somebody, uses what processes share   EPERM, EACCES   ipc_judge.h, as if that were
//                                    outside: whether it is, is asked after (kUnlessInside)
//   makes a process under a ceiling  EAGAIN or EPERM   the ceiling's rule, as if it were reached:
//                                    whether it is, process_count.h says, which is asked before
// Denials by a rule of the policy kill when the policy says so; no others do.
Classification classify(const NotifiedCall& call, const FilterSpec& spec);

}  // namespace aasm::backend_native
