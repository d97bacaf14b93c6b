#include "aasm/process/spawn.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <memory>

namespace aasm::process {

namespace {

using schema::Error;
using schema::ErrorCode;
using schema::Result;

constexpr std::size_t kStackSize = 64UL * 1024;
constexpr int kNumSignals = 64;

// The kernel's sigset. glibc's hides the two signals that it uses itself.
using KernelMask = std::uint64_t;

struct KernelAction {
  std::uintptr_t handler = 0;  // 0 default, 1 ignore
  unsigned long flags = 0;
  std::uintptr_t restorer = 0;
  KernelMask mask = 0;
};

// Everything the child needs, made before it exists. Read, and `*failure` written, by the child in
// the parent's memory while the parent stands still.
struct ChildPlan {
  int program = -1;
  const char* path = nullptr;
  char* const* argv = nullptr;
  char* const* envp = nullptr;
  std::vector<DescriptorMapping> descriptors;  // by target, ascending
  std::vector<int> copies;                     // of the sources, above every target
  int first_free = 0;
  bool restore_signals = false;
  KernelMask mask = 0;
  int os_errno = 0;
  int* failure = &os_errno;  // where the child says why it could not execute
};

long set_mask(int how, const KernelMask* mask, KernelMask* old) {
  return ::syscall(SYS_rt_sigprocmask, how, mask, old, sizeof(KernelMask));
}

// Every source is first copied above all targets: a target may be the number of a later source.
bool map_descriptors(ChildPlan& plan) {
  if (plan.program >= 0) {
    plan.program = ::fcntl(plan.program, F_DUPFD_CLOEXEC, plan.first_free);
    if (plan.program < 0) {
      return false;
    }
  }
  for (std::size_t i = 0; i < plan.descriptors.size(); ++i) {
    plan.copies[i] = ::fcntl(plan.descriptors[i].source, F_DUPFD_CLOEXEC, plan.first_free);
    if (plan.copies[i] < 0) {
      return false;
    }
  }
  unsigned next = 0;
  for (std::size_t i = 0; i < plan.descriptors.size(); ++i) {
    const int target = plan.descriptors[i].target;
    if (::dup2(plan.copies[i], target) < 0) {
      return false;
    }
    const auto number = static_cast<unsigned>(target);
    if (number > next && ::syscall(SYS_close_range, next, number - 1, CLOSE_RANGE_CLOEXEC) != 0) {
      return false;
    }
    next = number + 1;
  }
  return ::syscall(SYS_close_range, next, ~0U, CLOSE_RANGE_CLOEXEC) == 0;
}

// A handler of the caller's must not run here: with the caller's memory it would run the caller's
// code. So handlers go before the mask does.
bool restore_signals(const ChildPlan& plan) {
  for (int signal = 1; signal <= kNumSignals; ++signal) {
    KernelAction action;
    if (signal == SIGKILL || signal == SIGSTOP ||
        ::syscall(SYS_rt_sigaction, signal, nullptr, &action, sizeof(KernelMask)) != 0 ||
        action.handler <= 1) {
      continue;
    }
    action = KernelAction{};
    if (::syscall(SYS_rt_sigaction, signal, &action, nullptr, sizeof(KernelMask)) != 0) {
      return false;
    }
  }
  return set_mask(SIG_SETMASK, &plan.mask, nullptr) == 0;
}

// SAFETY: runs on a stack of its own in the parent's memory, while the parent stands still. Makes
// system calls and stores to *argument, nothing else.
int run_child(void* argument) {
  auto& plan = *static_cast<ChildPlan*>(argument);
  if (map_descriptors(plan) && (!plan.restore_signals || restore_signals(plan))) {
    if (plan.program >= 0) {
      ::syscall(SYS_execveat, plan.program, "", plan.argv, plan.envp, AT_EMPTY_PATH);
    } else {
      ::execve(plan.path, plan.argv, plan.envp);
    }
  }
  *plan.failure = errno;
  ::_exit(127);
}

#if defined(AASM_SPAWN_COPIES)
// The run-time of the thread sanitizer bears no second process in its memory: there the child has a
// copy of it, and one page that both see.
int clone_child(ChildPlan& plan, std::byte* top, int& pidfd) {
  void* page =
      ::mmap(nullptr, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) {
    return -1;
  }
  plan.failure = static_cast<int*>(page);
  const int pid = ::clone(run_child, top, CLONE_VFORK | CLONE_PIDFD | SIGCHLD, &plan, &pidfd);
  const int clone_errno = errno;
  plan.os_errno = *plan.failure;
  ::munmap(page, sizeof(int));
  errno = clone_errno;
  return pid;
}
#else
int clone_child(ChildPlan& plan, std::byte* top, int& pidfd) {
  return ::clone(run_child, top, CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, &plan, &pidfd);
}
#endif

std::vector<char*> pointers_to(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (const auto& text : strings) {
    // SAFETY: execve(2) does not write to the strings.
    pointers.push_back(const_cast<char*>(text.c_str()));  // NOLINT
  }
  pointers.push_back(nullptr);
  return pointers;
}

Result<void> check(const SpawnRequest& request) {
  const auto has_nul = [](const std::string& text) { return text.find('\0') != std::string::npos; };
  if (request.argv.empty() || request.program.valid() == !request.path.empty() ||
      has_nul(request.path) || std::any_of(request.argv.begin(), request.argv.end(), has_nul) ||
      std::any_of(request.environment.begin(), request.environment.end(), has_nul)) {
    return Error(ErrorCode::kInvalidArgument, "spawn: bad program, argument or environment");
  }
  return {};
}

Result<void> plan_descriptors(const SpawnRequest& request, ChildPlan& plan) {
  plan.descriptors = request.descriptors;
  std::sort(plan.descriptors.begin(), plan.descriptors.end(),
            [](const auto& a, const auto& b) { return a.target < b.target; });
  int last = -1;
  for (const auto& mapping : plan.descriptors) {
    if (mapping.source < 0 || mapping.target <= last) {
      return Error(ErrorCode::kInvalidArgument, "spawn: bad or doubled descriptor");
    }
    last = mapping.target;
  }
  plan.copies.assign(plan.descriptors.size(), -1);
  plan.first_free = last + 1;
  return {};
}

}  // namespace

Result<SpawnedProcess> spawn(const SpawnRequest& request) {
  AASM_TRY(check(request));
  ChildPlan plan;
  AASM_TRY(plan_descriptors(request, plan));
  const auto argv = pointers_to(request.argv);
  const auto envp = pointers_to(request.environment);
  plan.program = request.program.get();
  plan.path = request.path.c_str();
  plan.argv = argv.data();
  plan.envp = envp.data();
  plan.restore_signals = request.signals == SpawnSignals::kAsCaller;
  // Not cleared: that would touch every page of it.
  const auto stack = std::make_unique_for_overwrite<std::byte[]>(kStackSize);

  const KernelMask all = ~KernelMask{0};
  if (set_mask(SIG_SETMASK, &all, &plan.mask) != 0) {
    return system_error("rt_sigprocmask", errno);
  }
  int pidfd = -1;
  // The stack grows down, and the top of a heap block may be aligned to eight only.
  const auto top = (kStackSize - 64) & ~std::size_t{15};
  const int pid = clone_child(plan, stack.get() + top, pidfd);
  const int clone_errno = errno;
  set_mask(SIG_SETMASK, &plan.mask, nullptr);
  if (pid < 0) {
    return system_error("clone", clone_errno);
  }
  SpawnedProcess process{pid, Fd(pidfd)};
  if (plan.os_errno != 0) {
    ::waitpid(pid, nullptr, 0);
    return system_error("exec", plan.os_errno);
  }
  return process;
}

}  // namespace aasm::process
