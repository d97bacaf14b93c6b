#include "bpf_leaf.h"

#include <sys/socket.h>

#include <netinet/in.h>

#include "bpf.h"
#include "file_attributes.h"
#include "scheduling_judge.h"

namespace aasm::backend_native::bpf {
namespace {

// Bytes of seccomp_data.args[n]; little endian, so the low half comes first.
constexpr std::uint32_t low_half(std::uint32_t argument) {
  return static_cast<std::uint32_t>(offsetof(seccomp_data, args)) + argument * 8;
}
constexpr std::uint32_t high_half(std::uint32_t argument) {
  return low_half(argument) + 4;
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

}  // namespace

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

}  // namespace aasm::backend_native::bpf
