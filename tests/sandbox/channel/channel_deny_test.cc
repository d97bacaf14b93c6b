#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "filtered_process.h"
#include "syscall_groups.h"

namespace aasm::backend_native {
namespace {

constexpr std::int32_t kHighest = 600;
constexpr std::size_t kWords = kHighest + 1;

bool notified(const FilterSpec& spec, std::int32_t number) {
  // The kernel lets these two pass without asking a filter; they fail or end their caller.
  if (kNativeArch == SyscallArch::kX86_64 && (number == 335 || number == 336)) {
    return false;
  }
  return number_action(spec, number) == NumberAction::kNotify;
}

std::map<std::pair<std::string, std::int64_t>, schema::Event> by_call(
    const FilteredProcess& process) {
  std::map<std::pair<std::string, std::int64_t>, schema::Event> found;
  for (const schema::Event& event : process.events()) {
    const auto key = std::pair(event.object.arch, event.object.number.value_or(-1));
    EXPECT_TRUE(found.emplace(key, event).second) << event.object.name << " has two entries";
  }
  return found;
}

struct NumbersCase {
  const char* what;
  schema::Requirement policy;
};

std::vector<NumbersCase> number_cases() {
  return {{"@default", syscall_policy({"@default"})},
          {"a short list", syscall_policy({"exit_group", "close"})}};
}

TEST(ChannelDenyTest, EveryUnlistedNumberIsRefusedWithOneEventEach) {
  for (const NumbersCase& policy : number_cases()) {
    const FilterSpec spec = spec_of(policy.policy);
    const SharedWords results(kWords);
    FilteredProcess process(spec, [&] {
      for (std::int32_t number = 0; number <= kHighest; ++number) {
        if (notified(spec, number)) {
          results[static_cast<std::size_t>(number)] = raw_syscall(number, -1, -1, -1, -1, -1, -1);
        }
      }
      return 0;
    });
    ASSERT_EQ(process.run(), 0) << policy.what;
    const auto found = by_call(process);
    std::size_t expected = 0;
    for (std::int32_t number = 0; number <= kHighest; ++number) {
      if (!notified(spec, number)) {
        continue;
      }
      ++expected;
      const std::string name = syscall_name(kNativeArch, number);
      const ClosedCall* closed = find_closed_call(name);
      std::int64_t refusal = known_syscall_number(number) ? EPERM : ENOSYS;
      if (closed != nullptr && closed->answer != ClosedAnswer::kEperm) {
        refusal = closed->answer == ClosedAnswer::kEnosys ? ENOSYS : EOPNOTSUPP;
      }
      EXPECT_EQ(results[static_cast<std::size_t>(number)], -refusal) << policy.what << ' ' << name;
      const auto event = found.find({std::string(arch_token(kNativeArch)), number});
      ASSERT_NE(event, found.end()) << policy.what << ' ' << name << " has no event";
      EXPECT_EQ(event->second.count, 1) << name;
      EXPECT_EQ(event->second.os_errno, refusal) << name;
      EXPECT_EQ(event->second.reply, schema::ReplyState::kAccepted) << name;
      EXPECT_EQ(event->second.object.name, name);
    }
    EXPECT_EQ(found.size(), expected) << policy.what;
    EXPECT_GT(expected, 250U);
  }
}

TEST(ChannelDenyTest, EveryX32NumberIsRefusedWithOneEventEach) {
  if (kNativeArch != SyscallArch::kX86_64) {
    GTEST_SKIP() << "x32 numbers exist on x86_64 only";
  }
  const SharedWords results(kWords);
  FilteredProcess process(spec_of(syscall_policy({"@default"})), [&] {
    for (std::int32_t number = 0; number <= kHighest; ++number) {
      results[static_cast<std::size_t>(number)] =
          raw_syscall(number | 0x40000000, -1, -1, -1, -1, -1, -1);
    }
    return 0;
  });
  ASSERT_EQ(process.run(), 0);
  const auto found = by_call(process);
  EXPECT_EQ(found.size(), kWords);
  for (std::int32_t number = 0; number <= kHighest; ++number) {
    EXPECT_EQ(results[static_cast<std::size_t>(number)], -ENOSYS) << number;
    const auto event = found.find({"x32", number | 0x40000000});
    ASSERT_NE(event, found.end()) << number;
    EXPECT_EQ(event->second.count, 1) << number;
    EXPECT_EQ(event->second.rule, "syscalls.allow");
  }
}

#if defined(__x86_64__)
// A call by the 32-bit gate, which a 64-bit program can use.
long gate_call(long number) {
  long result = number;
  __asm__ volatile("int $0x80"
                   : "+a"(result)
                   : "b"(-1L), "c"(-1L), "d"(-1L), "S"(-1L), "D"(-1L)
                   : "memory", "r8", "r9", "r10", "r11");
  return static_cast<std::int32_t>(result);
}

TEST(ChannelDenyTest, EveryI386NumberThroughTheGateIsRefusedWithOneEventEach) {
  for (const FilterSpec& spec : {spec_of(syscall_policy({"@default"})), unstated_spec()}) {
    const SharedWords results(kWords);
    FilteredProcess process(spec, [&] {
      for (std::int32_t number = 0; number <= kHighest; ++number) {
        results[static_cast<std::size_t>(number)] = gate_call(number);
      }
      return 0;
    });
    const int status = process.run();
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV) {
      GTEST_SKIP() << "this kernel has no 32-bit gate (CONFIG_IA32_EMULATION)";
    }
    ASSERT_EQ(status, 0);
    const auto found = by_call(process);
    EXPECT_EQ(found.size(), kWords);
    for (std::int32_t number = 0; number <= kHighest; ++number) {
      EXPECT_EQ(results[static_cast<std::size_t>(number)], -ENOSYS) << number;
      const auto event = found.find({"i386", number});
      ASSERT_NE(event, found.end()) << number;
      EXPECT_EQ(event->second.count, 1) << number;
    }
  }
}
#endif

TEST(ChannelDenyTest, ListedCallsRunAndLeaveNoEvent) {
  FilteredProcess process(spec_of(syscall_policy({"@default"})),
                          [] { return ::getppid() > 0 && ::access("/", R_OK) == 0 ? 7 : 1; });
  EXPECT_EQ(WEXITSTATUS(process.run()), 7);
  EXPECT_TRUE(process.events().empty());
  EXPECT_EQ(process.totals().events, 0);
}

TEST(ChannelDenyTest, GrandchildIsNamedWithItsThreadParentsExecutableAndErrno) {
  const SharedWords ids(3);
  FilteredProcess process(spec_of(syscall_policy({"@default"})), [&] {
    const pid_t child = ::fork();
    if (child == 0) {
      const pid_t grandchild = ::fork();
      if (grandchild == 0) {
        ids[1] = raw_syscall(SYS_getpid);
        ids[2] = raw_syscall(SYS_shmget, 1, 2, 3);
        ::_exit(0);
      }
      ids[0] = raw_syscall(SYS_getpid);
      ::waitpid(grandchild, nullptr, 0);
      ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
    return 0;
  });
  const pid_t top = process.pid();
  ASSERT_EQ(process.run(), 0);
  char executable[4096] = {};
  ASSERT_GT(::readlink("/proc/self/exe", executable, sizeof(executable) - 1), 0);
  ASSERT_EQ(process.events_on("shmget").size(), 1U);
  const schema::Event event = process.events_on("shmget")[0];
  EXPECT_EQ(ids[2], -EPERM);
  EXPECT_EQ(event.os_errno, EPERM);
  EXPECT_EQ(event.object.name, "shmget");
  EXPECT_EQ(event.object.number, SYS_shmget);
  EXPECT_EQ(event.pid, ids[1]);
  EXPECT_EQ(event.tid, ids[1]);
  EXPECT_EQ(event.parents, (std::vector<std::int64_t>{ids[0], top, ::getpid()}));
  EXPECT_EQ(event.executable.bytes(), executable);
  EXPECT_EQ(event.cause, schema::DecisionCause::kPolicy);
  EXPECT_EQ(event.outcome, schema::DecisionOutcome::kDenied);
  EXPECT_EQ(event.rule, "syscalls.allow");
}

// Words in a program's output are no evidence.
TEST(ChannelDenyTest, ProgramThatOnlyPrintsPermissionDeniedMakesNoEvent) {
  FilteredProcess process(spec_of(syscall_policy({"@default"})), [] {
    const int out = ::dup(2);
    const std::string text = "shmget: Permission denied (EPERM)\n";
    const ssize_t written = ::write(out, text.data(), text.size());
    return written == static_cast<ssize_t>(text.size()) ? 1 : 2;
  });
  EXPECT_EQ(WEXITSTATUS(process.run()), 1);
  EXPECT_EQ(process.totals().events, 0);
  EXPECT_EQ(process.totals().actions, 0);
}

}  // namespace
}  // namespace aasm::backend_native
