#include "signal_target.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <csignal>

#include <gtest/gtest.h>

#include "aasm/process/fd.h"
#include "aasm/process/pidfd.h"

namespace aasm::backend_native {
namespace {

using Kind = SignalTarget::Kind;

SignalTarget target_of(int number, std::int64_t first, std::int64_t second = 0) {
  seccomp_data call{};
  call.nr = number;
  call.args[0] = static_cast<std::uint64_t>(first);
  call.args[1] = static_cast<std::uint64_t>(second);
  return signal_target(call);
}

std::string text_of(int number, std::int64_t first, std::int64_t second = 0) {
  return target_text(target_of(number, first, second));
}

TEST(SignalTargetTest, IsReadFromTheRegistersOfEachCall) {
  EXPECT_EQ(text_of(SYS_kill, 12), "12");
  EXPECT_EQ(text_of(SYS_kill, -12), "-12");
  EXPECT_EQ(target_of(SYS_kill, -12).kind, Kind::kGroup);
  EXPECT_EQ(target_of(SYS_kill, 0).kind, Kind::kOwn);
  EXPECT_EQ(target_of(SYS_kill, -1).kind, Kind::kOwn);
  EXPECT_EQ(target_of(SYS_kill, INT_MIN).kind, Kind::kNobody);
  EXPECT_EQ(target_of(SYS_kill, (1LL << 32) | 12).number, 12) << "the kernel reads 32 bits";
  EXPECT_EQ(text_of(SYS_tgkill, 5, 6), "6");
  EXPECT_EQ(text_of(SYS_rt_tgsigqueueinfo, 5, 6), "6");
  EXPECT_EQ(text_of(SYS_tkill, 5), "5");
  EXPECT_EQ(target_of(SYS_tkill, -5).kind, Kind::kNobody);
  EXPECT_EQ(text_of(SYS_rt_sigqueueinfo, 5), "5");
  EXPECT_EQ(text_of(SYS_pidfd_open, 5), "5");
  EXPECT_EQ(text_of(SYS_pidfd_send_signal, 3), "descriptor 3");
  EXPECT_EQ(target_of(SYS_pidfd_send_signal, -1).kind, Kind::kNobody);
}

TEST(SignalTargetTest, ADescriptorStandsForItsProcess) {
  const auto pidfd = process::pidfd_open(::getpid()).value();
  EXPECT_EQ(target_text(follow_descriptor({Kind::kDescriptor, pidfd.get()}, ::getpid())),
            std::to_string(::getpid()));
  const std::string directory = "/proc/" + std::to_string(::getppid());
  const process::Fd proc(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  EXPECT_EQ(target_text(follow_descriptor({Kind::kDescriptor, proc.get()}, ::getpid())),
            std::to_string(::getppid()));
  const process::Fd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(follow_descriptor({Kind::kDescriptor, null.get()}, ::getpid()).kind, Kind::kDescriptor);
}

// A child that waits, ended with the value.
class Child {
 public:
  explicit Child(bool own_group = false) : pid_(::fork()) {
    if (pid_ == 0) {
      ::pause();
      ::_exit(0);
    }
    if (own_group) {
      ::setpgid(pid_, pid_);
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

TEST(SignalScopeTest, DescendantsAreInsideAndNobodyElse) {
  const Child broker;
  const Child other(true);
  const SignalScope scope(::getpid(), broker.pid());
  EXPECT_FALSE(scope.is_outside({Kind::kProcess, other.pid()}));
  EXPECT_FALSE(scope.is_outside({Kind::kGroup, other.pid()}));
  EXPECT_TRUE(scope.is_outside({Kind::kProcess, ::getpid()})) << "the warden is not of the tree";
  EXPECT_TRUE(scope.is_outside({Kind::kProcess, broker.pid()}));
  EXPECT_TRUE(scope.is_outside({Kind::kProcess, ::getppid()}));
  EXPECT_TRUE(scope.is_outside({Kind::kProcess, 1}));
  EXPECT_FALSE(scope.is_outside({Kind::kOwn, 0}));
  EXPECT_FALSE(scope.is_outside({Kind::kProcess, 1 << 30})) << "the kernel says ESRCH";
  EXPECT_FALSE(scope.is_outside({Kind::kGroup, 1 << 30}));
}

TEST(SignalScopeTest, AGroupIsOutsideWhenAllOfItIs) {
  const Child stranger(true);
  const Child root;
  const SignalScope scope(root.pid(), 0);
  EXPECT_TRUE(scope.is_outside({Kind::kGroup, stranger.pid()}));
  const SignalScope around(::getpid(), 0);
  const Child member;
  EXPECT_FALSE(around.is_outside({Kind::kGroup, ::getpgrp()})) << "the child in it is inside";
}

}  // namespace
}  // namespace aasm::backend_native
