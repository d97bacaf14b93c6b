#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "filtered_process.h"
#include "support/sanitized.h"

namespace aasm::backend_native {
namespace {

std::int64_t resident_kib() {
  std::ifstream status("/proc/self/status");
  std::string word;
  std::int64_t kib = 0;
  while (status >> word) {
    if (word == "VmRSS:") {
      status >> kib;
    }
  }
  return kib;
}

TEST(ChannelLoadTest, DenialsFromEightThreadsAreCountedExactly) {
  constexpr int kThreads = 8;
  constexpr int kCalls = aasm::test::kIsSanitized ? 5000 : 25000;
  const std::int64_t before = resident_kib();
  const auto began = std::chrono::steady_clock::now();
  FilteredProcess process(spec_of(syscall_policy({"@default"})), [] {
    std::vector<std::thread> threads;
    std::array<int, kThreads> wrong{};
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&wrong, i] {
        for (int call = 0; call < kCalls; ++call) {
          wrong[static_cast<std::size_t>(i)] += raw_syscall(SYS_shmget, 1, 2, 3) != -EPERM ? 1 : 0;
        }
      });
    }
    int failures = 0;
    for (int i = 0; i < kThreads; ++i) {
      threads[static_cast<std::size_t>(i)].join();
      failures += wrong[static_cast<std::size_t>(i)];
    }
    return failures == 0 ? 0 : 1;
  });
  ASSERT_EQ(process.run(), 0);
  const auto took = std::chrono::steady_clock::now() - began;
  const std::int64_t grown = resident_kib() - before;
  EXPECT_EQ(process.actions_on("shmget"), kThreads * kCalls);
  EXPECT_EQ(process.totals().dropped, 0);
  for (const schema::Event& event : process.events()) {
    EXPECT_EQ(event.pids, 1) << event.object.name;
  }
  if (!aasm::test::kIsSanitized) {
    EXPECT_LT(grown, 32 * 1024);
  }
  std::printf(
      "%d denied calls in %lld ms, %zu entries, %lld KiB more memory\n", kThreads * kCalls,
      static_cast<long long>(std::chrono::duration_cast<std::chrono::milliseconds>(took).count()),
      process.events().size(), static_cast<long long>(grown));
}

TEST(ChannelLoadTest, DenialsOfManyProcessesAreCountedExactlyWithTheirPids) {
  constexpr int kProcesses = 200;
  constexpr int kCalls = 50;
  FilteredProcess process(spec_of(syscall_policy({"@default"})), [] {
    for (int i = 0; i < kProcesses; ++i) {
      if (::fork() == 0) {
        for (int call = 0; call < kCalls; ++call) {
          raw_syscall(SYS_shmget, 1, 2, 3);
        }
        ::_exit(0);
      }
    }
    int ended = 0;
    while (::wait(nullptr) > 0) {
      ++ended;
    }
    return ended == kProcesses ? 0 : 1;
  });
  ASSERT_EQ(process.run(), 0);
  EXPECT_EQ(process.actions_on("shmget"), kProcesses * kCalls);
  std::int64_t pids = 0;
  for (const schema::Event& event : process.events()) {
    pids += event.pids;
  }
  EXPECT_GE(pids, kProcesses);
}

// Calls that are all different do not coalesce; the flood is slowed, and still nothing is lost.
TEST(ChannelLoadTest, FloodOfDifferentCallsIsSlowedAndCountedExactly) {
  constexpr int kCalls = 9000;
  const auto began = std::chrono::steady_clock::now();
  FilteredProcess process(spec_of(syscall_policy({"@default"})), [] {
    int wrong = 0;
    for (int number = 1000; number < 1000 + kCalls; ++number) {
      wrong += raw_syscall(number) != -ENOSYS ? 1 : 0;
    }
    return wrong == 0 ? 0 : 1;
  });
  ASSERT_EQ(process.run(), 0);
  const auto took = std::chrono::steady_clock::now() - began;
  EXPECT_EQ(process.totals().events, kCalls);
  EXPECT_EQ(process.totals().actions, kCalls);
  // More than 100 full batches, of which 64 pass at once.
  EXPECT_GT(took, std::chrono::seconds(1));
}

// Nor is anything lost where more of them are refused than are told apart.
TEST(ChannelLoadTest, WhatIsNotToldApartIsCountedExactly) {
  constexpr int kCalls = 5000;
  FilteredOptions options;
  options.limits.events.denied = 100;
  FilteredProcess process(
      spec_of(syscall_policy({"@default"})),
      [] {
        int wrong = 0;
        for (int number = 1000; number < 1000 + kCalls; ++number) {
          wrong += raw_syscall(number) != -ENOSYS ? 1 : 0;
        }
        return wrong == 0 ? 0 : 1;
      },
      options);
  ASSERT_EQ(process.run(), 0);
  EXPECT_EQ(process.totals().actions, kCalls);
  EXPECT_LT(process.totals().events, 1000);
  std::int64_t unlisted = 0;
  for (const schema::Event& event : process.events()) {
    const bool told = event.object.type == schema::ObjectType::kSyscall;
    EXPECT_TRUE(told || event.object.type == schema::ObjectType::kUnlisted);
    EXPECT_FALSE(event.executable.empty());
    EXPECT_FALSE(event.parents.empty());
    unlisted += told ? 0 : event.count;
  }
  EXPECT_GE(unlisted, kCalls - 1000);
}

void nothing(int) {}

// A signal that arrives before the supervisor has fetched the call interrupts it, and nothing has
// happened; one that arrives later waits for the answer. Without WAIT_KILLABLE_RECV it would
// interrupt a call that is already recorded, and the repeated call would be a second event.
TEST(ChannelLoadTest, SignalsDuringACallMakeNoSecondEvent) {
  constexpr int kCalls = 2000;
  const SharedWords seen(2);
  FilteredProcess process(spec_of(syscall_policy({"@default"})), [&] {
    struct sigaction action {};
    action.sa_handler = nothing;
    ::sigaction(SIGALRM, &action, nullptr);
    const itimerval often = {{0, 50}, {0, 50}};
    ::setitimer(ITIMER_REAL, &often, nullptr);
    for (int call = 0; call < kCalls; ++call) {
      const long answer = raw_syscall(SYS_shmget, 1, 2, 3);
      seen[0] += answer == -EPERM ? 1 : 0;
      seen[1] += answer == -EINTR ? 1 : 0;
    }
    return 0;
  });
  ASSERT_EQ(process.run(), 0);
  EXPECT_EQ(seen[0] + seen[1], kCalls);
  EXPECT_GT(seen[0], 0);
  EXPECT_EQ(process.actions_on("shmget"), seen[0]);
  for (const schema::Event& event : process.events_on("shmget")) {
    EXPECT_EQ(event.reply, schema::ReplyState::kAccepted);
  }
}

TEST(ChannelLoadTest, CallersKilledAtRandomLeaveTheChannelWhole) {
  FilteredProcess process(spec_of(syscall_policy({"@default"})), [] {
    for (int round = 0; round < 30; ++round) {
      std::array<pid_t, 4> callers{};
      for (pid_t& caller : callers) {
        caller = ::fork();
        if (caller == 0) {
          for (;;) {
            raw_syscall(SYS_shmget, 1, 2, 3);
          }
        }
      }
      ::usleep(1000);
      for (const pid_t caller : callers) {
        ::kill(caller, SIGKILL);
        ::waitpid(caller, nullptr, 0);
      }
    }
    return 0;
  });
  ASSERT_EQ(process.run(), 0);
  EXPECT_GT(process.actions_on("shmget"), 0);
  for (const schema::Event& event : process.events()) {
    if (event.reply == schema::ReplyState::kAccepted) {
      EXPECT_FALSE(event.executable.empty());
    }
  }
}

}  // namespace
}  // namespace aasm::backend_native
