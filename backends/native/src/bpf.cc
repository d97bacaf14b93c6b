#include "bpf.h"

#include <linux/seccomp.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>

#include <netinet/in.h>

#include "aasm/crypto/hash.h"
#include "aasm/wire/helper_wire.h"

#include "file_attributes.h"
#include "scheduling_judge.h"
#include "shared_memory.h"
#include "signal_target.h"
#include "syscall_names.h"

namespace aasm::backend_native {
namespace {

using Program = std::vector<sock_filter>;

// Bytes of seccomp_data.args[n]; little endian, so the low half comes first.
constexpr std::uint32_t low_half(std::uint32_t argument) {
  return static_cast<std::uint32_t>(offsetof(seccomp_data, args)) + argument * 8;
}
constexpr std::uint32_t high_half(std::uint32_t argument) {
  return low_half(argument) + 4;
}

sock_filter load(std::uint32_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset);
}
sock_filter allow() {
  return BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
}
sock_filter notify() {
  return BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
}
sock_filter jump_always(std::size_t count) {
  return BPF_STMT(BPF_JMP | BPF_JA, static_cast<std::uint32_t>(count));
}
sock_filter jump_if(std::uint16_t test, std::uint32_t value, std::size_t if_true,
                    std::size_t if_false) {
  const sock_filter made = {static_cast<std::uint16_t>(BPF_JMP | test | BPF_K),
                            static_cast<std::uint8_t>(if_true), static_cast<std::uint8_t>(if_false),
                            value};
  return made;
}
sock_filter if_equal(std::uint32_t value, std::size_t if_true, std::size_t if_false) {
  return jump_if(BPF_JEQ, value, if_true, if_false);
}

// ioctl(fd, request, ...): the kernel reads 32 bits of the request.
Program judge_ioctl() {
  return {load(low_half(1)), if_equal(kIoctlTiocsti, 2, 0), if_equal(kIoctlTioclinux, 1, 0),
          allow(), notify()};
}

Program judge_ioctl_on_files() {
  return {load(low_half(1)),
          if_equal(kIoctlTiocsti, 4, 0),
          if_equal(kIoctlTioclinux, 3, 0),
          if_equal(kIoctlSetFlags, 2, 0),
          if_equal(kIoctlSetAttributes, 1, 0),
          allow(),
          notify()};
}

// clone(flags, ...): the kernel reads 32 bits of the flags.
Program judge_clone() {
  return {load(low_half(0)), jump_if(BPF_JSET, kCloneNewFlags, 1, 0), allow(), notify()};
}

// The same, and a process is counted while a thread is not.
Program count_clone() {
  return {load(low_half(0)), jump_if(BPF_JSET, kCloneNewFlags, 2, 0),
          jump_if(BPF_JSET, kCloneThread, 0, 1), allow(), notify()};
}

// prctl(option, arg2, ...): 32 bits of the option, 64 of arg2.
Program judge_prctl() {
  return {load(low_half(0)),
          if_equal(kPrctlSetSeccomp, 7, 0),
          if_equal(kPrctlSetMm, 6, 0),
          if_equal(kPrctlSetDumpable, 0, 4),
          load(low_half(1)),
          if_equal(0, 0, 2),
          load(high_half(1)),
          if_equal(0, 1, 0),
          allow(),
          notify()};
}

// prlimit64(pid, resource, new, old): 32 bits of the pid; without `new` it only reads.
Program judge_prlimit() {
  return {load(low_half(0)),  if_equal(0, 4, 0), load(low_half(2)), if_equal(0, 0, 3),
          load(high_half(2)), if_equal(0, 0, 1), allow(),           notify()};
}

// sched_set*(pid, ...): 0 is the caller.
Program judge_scheduling() {
  return {load(low_half(0)), if_equal(0, 0, 1), allow(), notify()};
}

// setpriority and ioprio_set(which, who, ...): 32 bits of each; only the caller itself goes
// through.
Program judge_priority(std::uint32_t of_process) {
  return {load(low_half(0)), if_equal(of_process, 0, 3),
          load(low_half(1)), if_equal(0, 0, 1),
          allow(),           notify()};
}

// seccomp(operation, ...): SET_MODE_STRICT and SET_MODE_FILTER, not the questions above them.
Program judge_seccomp() {
  return {load(low_half(0)), jump_if(BPF_JGT, kSeccompSetModeFilter, 0, 1), allow(), notify()};
}

// socket(family, type, protocol): TCP and UDP over IP by their own numbers, and unix sockets, go
// through; whatever else is open is so by network_judge.h.
Program judge_socket_call() {
  return {load(low_half(0)),
          if_equal(AF_UNIX, 11, 0),
          if_equal(AF_INET, 1, 0),
          if_equal(AF_INET6, 0, 10),
          load(low_half(1)),
          BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xF),  // SOCK_TYPE_MASK
          if_equal(SOCK_STREAM, 0, 3),
          load(low_half(2)),
          if_equal(0, 4, 0),
          if_equal(IPPROTO_TCP, 3, 4),
          if_equal(SOCK_DGRAM, 0, 3),
          load(low_half(2)),
          if_equal(0, 0, 2),
          allow(),
          notify(),
          if_equal(IPPROTO_UDP, 0, 1),
          allow(),
          notify()};
}

// sendto(fd, buffer, size, flags, address, ...): without an address it goes where the socket goes.
Program judge_sendto() {
  return {load(low_half(4)), if_equal(0, 0, 5), load(high_half(4)),
          if_equal(0, 0, 3), load(low_half(3)), jump_if(BPF_JSET, kFastOpen, 1, 0),
          allow(),           notify()};
}

// recvfrom(fd, buffer, size, flags, address, ...): without an address nothing is said of whom.
Program judge_recvfrom() {
  return {load(low_half(4)), if_equal(0, 0, 3), load(high_half(4)),
          if_equal(0, 0, 1), allow(),           notify()};
}

// setsockopt(fd, level, option, ...): as option_carries_route() of network_judge.h.
Program judge_setsockopt() {
  return {load(low_half(1)),
          if_equal(IPPROTO_IP, 1, 0),
          if_equal(IPPROTO_IPV6, 3, 8),
          load(low_half(2)),
          if_equal(4, 7, 0),
          if_equal(7, 6, 5),
          load(low_half(2)),
          if_equal(5, 4, 0),
          if_equal(6, 3, 0),
          if_equal(32, 2, 0),
          if_equal(57, 1, 0),
          allow(),
          notify()};
}

// open(name, flags, mode) and openat(directory, name, flags, mode): 32 bits of the flags.
Program judge_open(std::uint32_t flags) {
  return {load(low_half(flags)), jump_if(BPF_JSET, kOpenReference, 1, 0),
          jump_if(BPF_JSET, kOpenWrites, 1, 0), allow(), notify()};
}
Program notify_open(std::uint32_t flags) {
  return {load(low_half(flags)), jump_if(BPF_JSET, kOpenReference, 0, 1), allow(), notify()};
}

Program leaf(NumberAction action) {
  switch (action) {
    case NumberAction::kAllow:
      return {allow()};
    case NumberAction::kNotify:
      return {notify()};
    case NumberAction::kJudgeIoctl:
      return judge_ioctl();
    case NumberAction::kJudgeIoctlOnFiles:
      return judge_ioctl_on_files();
    case NumberAction::kJudgeClone:
      return judge_clone();
    case NumberAction::kJudgePrctl:
      return judge_prctl();
    case NumberAction::kJudgePrlimit:
      return judge_prlimit();
    case NumberAction::kJudgePriority:
      return judge_priority(kPriorityOfProcess);
    case NumberAction::kJudgeIoPriority:
      return judge_priority(kIoPriorityOfProcess);
    case NumberAction::kJudgeScheduling:
      return judge_scheduling();
    case NumberAction::kJudgeSeccomp:
      return judge_seccomp();
    case NumberAction::kJudgeSocket:
      return judge_socket_call();
    case NumberAction::kJudgeSendto:
      return judge_sendto();
    case NumberAction::kJudgeSetsockopt:
      return judge_setsockopt();
    case NumberAction::kJudgeOpen:
      return judge_open(1);
    case NumberAction::kJudgeOpenat:
      return judge_open(2);
    case NumberAction::kNotifyOpen:
      return notify_open(1);
    case NumberAction::kNotifyOpenat:
      return notify_open(2);
    case NumberAction::kJudgeRecvfrom:
      return judge_recvfrom();
    case NumberAction::kCountFork:
      return {notify()};
    case NumberAction::kCountClone:
      return count_clone();
  }
  return {notify()};
}

// Numbers from `first` up to the next range are decided alike.
struct Range {
  std::int32_t first;
  NumberAction action;
};

std::vector<Range> number_ranges(const FilterSpec& spec) {
  std::set<std::int32_t> special = {SYS_ioctl,   SYS_clone,
                                    SYS_prctl,   SYS_prlimit64,
                                    SYS_seccomp, static_cast<std::int32_t>(wire::kRendezvousCall)};
#if defined(SYS_fork)
  special.insert({SYS_fork, SYS_vfork});
#endif
  special.insert(scheduling_calls().begin(), scheduling_calls().end());
  for (const auto& entry : spec.allowed) {
    special.insert(entry.first);
  }
  for (const auto& entry : spec.denied) {
    special.insert(entry.first);
  }
  for (const auto& entry : spec.closed) {
    special.insert(entry.first);
  }
  for (const auto* calls : {&network_calls(), &signal_calls(), &memory_calls()}) {
    special.insert(calls->begin(), calls->end());
  }
  if (spec.files.judges()) {
    special.insert(file_calls().begin(), file_calls().end());
    special.insert(execution_calls().begin(), execution_calls().end());
  }
  if (spec.network.answers_names()) {
    special.insert(receive_calls().begin(), receive_calls().end());
  }
  constexpr std::int32_t kBeyondNames = 1024;
  for (std::int32_t number = 0; spec.files.observes() && number < kBeyondNames; ++number) {
    if (!known_syscall_number(number)) {
      special.insert(number);
    }
  }
  std::set<std::int32_t> starts = {0};
  for (const std::int32_t number : special) {
    starts.insert(number);
    starts.insert(number + 1);
  }
  std::vector<Range> ranges;
  for (const std::int32_t start : starts) {
    const NumberAction action = number_action(spec, start);
    if (ranges.empty() || ranges.back().action != action) {
      ranges.push_back({start, action});
    }
  }
  return ranges;
}

void append(Program* program, const Program& more) {
  program->insert(program->end(), more.begin(), more.end());
}

// Branches on "number >= first of the right half". A conditional jump reaches 255 instructions; a
// larger left half is jumped over unconditionally.
Program tree(std::span<const Range> ranges) {
  if (ranges.size() == 1) {
    return leaf(ranges.front().action);
  }
  const std::size_t middle = ranges.size() / 2;
  const Program left = tree(ranges.first(middle));
  const auto split = static_cast<std::uint32_t>(ranges[middle].first);
  Program program;
  if (left.size() <= UINT8_MAX) {
    program.push_back(jump_if(BPF_JGE, split, left.size(), 0));
  } else {
    program.push_back(jump_if(BPF_JGE, split, 0, 1));
    program.push_back(jump_always(left.size()));
  }
  append(&program, left);
  append(&program, tree(ranges.subspan(middle)));
  return program;
}

std::vector<std::string> sorted_names(const std::vector<std::int32_t>& numbers) {
  std::vector<std::string> names;
  names.reserve(numbers.size());
  for (const std::int32_t number : numbers) {
    names.push_back(syscall_name(kNativeArch, number));
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

Program build_filter(const FilterSpec& spec) {
  Program program = {
      load(static_cast<std::uint32_t>(offsetof(seccomp_data, arch))),
      if_equal(kNativeAuditArch, 1, 0),
      notify(),
      load(static_cast<std::uint32_t>(offsetof(seccomp_data, nr))),
      // Negative numbers too. No other architecture has numbers this high.
      jump_if(BPF_JGE, kX32Bit, 0, 1),
      notify(),
  };
  append(&program, tree(number_ranges(spec)));
  return program;
}

schema::Bytes filter_bytes(std::span<const sock_filter> program) {
  schema::Bytes bytes;
  bytes.reserve(program.size() * sizeof(sock_filter));
  for (const sock_filter& instruction : program) {
    bytes.push_back(static_cast<std::uint8_t>(instruction.code & 0xFFU));
    bytes.push_back(static_cast<std::uint8_t>(instruction.code >> 8U));
    bytes.push_back(instruction.jt);
    bytes.push_back(instruction.jf);
    for (unsigned shift = 0; shift < 32; shift += 8) {
      bytes.push_back(static_cast<std::uint8_t>((instruction.k >> shift) & 0xFFU));
    }
  }
  return bytes;
}

schema::SeccompDetail seccomp_detail(const FilterSpec& spec, std::span<const sock_filter> program) {
  schema::SeccompDetail detail;
  detail.program = crypto::sha256(filter_bytes(program));
  detail.instructions = static_cast<std::int64_t>(program.size());
  detail.default_action = spec.default_notify ? "notify" : "allow";
  std::vector<std::int32_t> numbers;
  if (spec.default_notify) {
    for (const auto& entry : spec.allowed) {
      // Also those that are judged one by one.
      if (spec.policy_allows(entry.first) && !spec.closed.contains(entry.first)) {
        numbers.push_back(entry.first);
      }
    }
    detail.allowed = sorted_names(numbers);
    return detail;
  }
  for (const auto& entry : spec.closed) {
    numbers.push_back(entry.first);
  }
  for (const auto& entry : spec.denied) {
    if (!spec.closed.contains(entry.first)) {
      numbers.push_back(entry.first);
    }
  }
  detail.denied = sorted_names(numbers);
  return detail;
}

}  // namespace aasm::backend_native
