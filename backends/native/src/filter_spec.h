#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aasm/schema/record_policy.h"
#include "aasm/schema/result.h"

#include "file_spec.h"
#include "ipc_spec.h"
#include "network_spec.h"
#include "observing.h"
#include "syscall_groups.h"

// What policy and self-protection together say about every system call number. The filter program
// (bpf.h), the answers to notified calls (classify.h) and the record of the control are all
// computed from this one value, so they cannot disagree.
namespace aasm::backend_native {

// What the program does with a native number. Those named judge, and the count of clone, look at
// argument registers.
enum class NumberAction : std::uint8_t {
  kAllow,
  kNotify,
  kJudgeIoctl,
  kJudgeIoctlOnFiles,  // the same, and what changes attributes is notified
  kJudgeClone,
  kJudgePrctl,
  kJudgePrlimit,
  kJudgePriority,    // setpriority
  kJudgeIoPriority,  // ioprio_set
  kJudgeScheduling,  // sched_set*
  kJudgeSeccomp,
  kJudgeSocket,
  kJudgeSendto,
  kJudgeSetsockopt,
  kJudgeOpen,    // flags in the second argument: notified where they write
  kJudgeOpenat,  // in the third
  kNotifyOpen,   // the same, notified but for O_PATH
  kNotifyOpenat,
  kJudgeRecvfrom,
  kCountFork,   // fork, vfork under a ceiling: notified
  kCountClone,  // clone under a ceiling: notified unless it makes a thread
};

// How many processes the tree may have: docs/spec/backends.md, "Process tree".
struct ProcessCeiling {
  std::int64_t max = 0;  // 0: none may be created
  std::string rule;      // that a refusal cites
};

// The ceiling that a requirement on Domain::kProcessCreation states.
std::optional<ProcessCeiling> process_ceiling(const std::vector<schema::Requirement>& requirements);

// What a refused creator receives: EAGAIN where there is a ceiling, as from the limits of the
// kernel, and EPERM where no process may be created at all, which waiting does not change.
int creation_errno(const ProcessCeiling& ceiling);

// A value; numbers are those of the native architecture. Rule ids are those of policy.resolved.
struct FilterSpec {
  bool stated = false;          // policy states the domain `syscall`
  bool default_notify = false;  // what no rule names is refused: an allow list is stated
  bool kill_on_denial = false;
  std::string default_rule;                          // cited when no rule names the call
  std::map<std::int32_t, std::string> allowed;       // number to rule
  std::map<std::int32_t, std::string> denied;        // number to rule; outranks `allowed`
  std::map<std::int32_t, const ClosedCall*> closed;  // by self-protection, after what policy opens
  // The caller's to set: what judges the calls on sockets and on files that are allowed, and the
  // calls that reach other processes.
  NetworkSpec network;
  FileSpec files;
  IpcSpec ipc;

  std::optional<ProcessCeiling> ceiling;  // policy states `process_creation`

  Observing observing;
  // Where system calls are observed: what is in force without the policy's list (observe_calls()).
  std::shared_ptr<const struct OpenCalls> open_calls;

  bool judges_sockets() const { return network.judges() || ipc.judges_sockets(); }
  // A socket's name may be one in a denied place.
  bool judges_binds() const { return judges_sockets() || files.denies(); }
  // Whether calls are made by the broker.
  bool brokers() const { return judges_sockets() || ipc.brokers() || files.judges(); }

  // True when the policy alone lets the call run.
  bool policy_allows(std::int32_t number) const;
};

struct OpenCalls {
  FilterSpec spec;
  std::vector<sock_filter> program;
};

// Where `spec.observing` covers system calls, sets open_calls. To be called when all else is set.
void observe_calls(FilterSpec& spec);

// `requirement` is the one on Domain::kSyscall, nullptr when policy does not state the domain:
// then what self-protection leaves open runs. A stated requirement is an allow list, an empty one
// too: what it does not name is refused, unless a rule allows the whole domain. Deny rules outrank
// allow rules, and one that denies the whole domain leaves nothing. kInvalidArgument for a selector
// that is no call or group we know, and for an on_denial other than errno and kill.
schema::Result<FilterSpec> make_filter_spec(const schema::Requirement* requirement,
                                            std::string_view on_denial);

// The calls on sockets that are judged where policy states the network or which sockets may be
// reached: by registers alone, or by what they point to (broker_calls.h).
const std::vector<std::int32_t>& network_calls();

// What judges an allowed call that reaches other processes.
enum class IpcCall : std::uint8_t { kNone, kSignal, kMemory };
IpcCall ipc_call(const FilterSpec& spec, std::int32_t number);
// The calls on files that FileSpec::judges(), by number; opening is judged by its flags too, and
// ioctl(2) by its request.
const std::vector<std::int32_t>& file_calls();
// execve(2) and execveat(2): judged at FileLevel::kDecisions and made by the caller itself
// (docs/decisions/0025).
const std::vector<std::int32_t>& execution_calls();
// One of either.
bool call_on_files(const seccomp_data& call);

// Those that say who was heard from or is connected to, notified where NetworkSpec::answers_names()
// (resolver_receive.h).
const std::vector<std::int32_t>& receive_calls();

// Whether this call is one of them, and nothing else refuses it. From registers alone.
bool receives(const seccomp_data& call, const FilterSpec& spec);

// The program's action for a native number (not negative, without the x32 bit).
NumberAction number_action(const FilterSpec& spec, std::int32_t number);

}  // namespace aasm::backend_native
