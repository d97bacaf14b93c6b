#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include <gtest/gtest.h>

#include "filtered_process.h"

namespace aasm::backend_native {
namespace {

long add_own_filter(bool by_prctl) {
  // Allows what it is asked, except getpriority, which it refuses with EDOM.
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpriority, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EDOM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter = {4, program};
  const long address = reinterpret_cast<long>(&filter);
  return by_prctl ? raw_syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, address)
                  : raw_syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, address);
}

TEST(ChannelSpecialTest, NestedFilterIsAllowedAndMarksTheChannel) {
  for (const bool by_prctl : {false, true}) {
    FilteredProcess process(spec_of(syscall_policy({"@default"})), [by_prctl] {
      if (raw_syscall(SYS_shmget, 1, 2, 3) != -EPERM || add_own_filter(by_prctl) != 0) {
        return 1;
      }
      // Its own denial hides from the channel; ours is still made and reported.
      return raw_syscall(SYS_getpriority, 0, 0) == -EDOM && raw_syscall(SYS_semget) == -EPERM ? 0
                                                                                              : 2;
    });
    ASSERT_EQ(process.run(), 0);
    const std::vector<schema::Event> events = process.events();
    ASSERT_EQ(events.size(), 3U);
    EXPECT_FALSE(events[0].nested_filter);
    EXPECT_TRUE(events[1].nested_filter);
    EXPECT_EQ(events[1].outcome, schema::DecisionOutcome::kAllowed);
    EXPECT_EQ(events[1].cause, schema::DecisionCause::kCompat);
    EXPECT_EQ(events[1].object.name, by_prctl ? "prctl" : "seccomp");
    EXPECT_EQ(events[2].object.name, "semget");
    EXPECT_EQ(process.totals().nested_filter_event, 2);
  }
}

TEST(ChannelSpecialTest, SecondListenerIsRefusedByTheKernel) {
  FilteredProcess process(spec_of(syscall_policy({"@default"})), [] {
    sock_filter program[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF)};
    const sock_fprog filter = {1, program};
    return raw_syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                       reinterpret_cast<long>(&filter)) == -EBUSY
               ? 0
               : 1;
  });
  EXPECT_EQ(process.run(), 0);
}

TEST(ChannelSpecialTest, DumpableIsAnsweredWithoutEffect) {
  FilteredProcess process(spec_of(syscall_policy({"@default"})), [] {
    return raw_syscall(SYS_prctl, PR_SET_DUMPABLE, 0) == 0 &&
                   raw_syscall(SYS_prctl, PR_GET_DUMPABLE) == 1
               ? 0
               : 1;
  });
  ASSERT_EQ(process.run(), 0);
  ASSERT_EQ(process.events().size(), 1U);
  const schema::Event event = process.events()[0];
  EXPECT_EQ(event.outcome, schema::DecisionOutcome::kEmulated);
  EXPECT_EQ(event.cause, schema::DecisionCause::kCompat);
  EXPECT_EQ(event.rule, "compat.set_dumpable");
  EXPECT_EQ(event.os_errno, 0);
}

TEST(ChannelSpecialTest, OwnLimitsRunByPidAndThoseOfTheSupervisorDoNot) {
  const pid_t supervisor = ::getpid();
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  FilteredProcess process(spec_of(syscall_policy({"@default"})), [supervisor] {
    rlimit limits{};
    const long address = reinterpret_cast<long>(&limits);
    if (raw_syscall(SYS_prlimit64, supervisor, RLIMIT_NOFILE, 0, address) != 0) {
      return 1;
    }
    limits.rlim_cur = limits.rlim_cur / 2;
    if (raw_syscall(SYS_prlimit64, ::getpid(), RLIMIT_NOFILE, address, 0) != 0) {
      return 2;
    }
    rlimit now{};
    ::getrlimit(RLIMIT_NOFILE, &now);
    if (now.rlim_cur != limits.rlim_cur) {
      return 3;
    }
    return raw_syscall(SYS_prlimit64, supervisor, RLIMIT_NOFILE, address, 0) == -EPERM ? 0 : 4;
  });
  ASSERT_EQ(WEXITSTATUS(process.run()), 0);
  rlimit after{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &after), 0);
  EXPECT_EQ(after.rlim_cur, before.rlim_cur);
  ASSERT_EQ(process.events().size(), 1U);
  EXPECT_EQ(process.events()[0].rule, "self_protection.prlimit_other");
}

// The caller's other threads and children are of its tree; the supervisor, and a group that it may
// be in, are not.
TEST(ChannelSpecialTest, TheTreeMayBeRescheduledAndTheSupervisorMayNot) {
  const pid_t supervisor = ::getpid();
  const int before = ::getpriority(PRIO_PROCESS, 0);
  FilteredProcess process(spec_of(syscall_policy({"@default"})), [supervisor] {
    const pid_t child = ::fork();
    if (child == 0) {
      ::pause();
    }
    const long of_child = raw_syscall(SYS_setpriority, PRIO_PROCESS, child, 19);
    const int seen = ::getpriority(PRIO_PROCESS, static_cast<id_t>(child));
    ::kill(child, SIGKILL);
    if (of_child != 0 || seen != 19) {
      return 1;
    }
    if (raw_syscall(SYS_setpriority, PRIO_PROCESS, ::gettid(), 18) != 0 ||
        raw_syscall(SYS_setpriority, PRIO_PROCESS, 0, 19) != 0) {
      return 2;
    }
    const sched_param none{};
    const long address = reinterpret_cast<long>(&none);
    return raw_syscall(SYS_setpriority, PRIO_PROCESS, supervisor, 19) == -EPERM &&
                   raw_syscall(SYS_setpriority, PRIO_PGRP, 0, 19) == -EPERM &&
                   raw_syscall(SYS_sched_setscheduler, supervisor, SCHED_IDLE, address) == -EPERM
               ? 0
               : 3;
  });
  ASSERT_EQ(WEXITSTATUS(process.run()), 0);
  EXPECT_EQ(::getpriority(PRIO_PROCESS, 0), before);
  ASSERT_EQ(process.events().size(), 2U);
  EXPECT_EQ(process.events()[0].count + process.events()[1].count, 3);
  for (const schema::Event& event : process.events()) {
    EXPECT_EQ(event.rule, "self_protection.scheduling_other");
  }
}

TEST(ChannelSpecialTest, UnstatedPolicyRunsOrdinaryCallsAndRecordsOursAsSelfProtection) {
  FilteredProcess process(unstated_spec(), [] {
    const long segment = raw_syscall(SYS_shmget, 0, 4096, 01600);
    if (segment < 0) {
      return 1;
    }
    raw_syscall(SYS_shmctl, segment, 0, 0);
    return raw_syscall(SYS_ptrace, 16, 1, 0, 0) == -EPERM && raw_syscall(0xAA51, 2) == -ENOSYS ? 0
                                                                                               : 2;
  });
  ASSERT_EQ(WEXITSTATUS(process.run()), 0);
  ASSERT_EQ(process.events().size(), 2U);
  EXPECT_EQ(process.events()[0].rule, "self_protection.ptrace");
  EXPECT_EQ(process.events()[1].rule, "self_protection.rendezvous");
}

}  // namespace
}  // namespace aasm::backend_native
