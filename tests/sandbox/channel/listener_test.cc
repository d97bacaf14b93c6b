#include "listener.h"

#include <linux/filter.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <optional>

#include <gtest/gtest.h>

#include "aasm/process/pidfd.h"

#include "bpf.h"
#include "filtered_process.h"

// The kernel's part, one notification at a time.
namespace aasm::backend_native {
namespace {

// A child that makes one denied call and exits with its errno.
class ListenerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::vector<sock_filter> program = build_filter(spec_of(syscall_policy({"@default"})));
    child_ = ::fork();
    if (child_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
      std::vector<sock_filter> own = program;
      const sock_fprog filter = {static_cast<unsigned short>(own.size()), own.data()};
      const long fd = ::syscall(
          SYS_seccomp, SECCOMP_SET_MODE_FILTER,
          SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, &filter);
      __atomic_store_n(&words_[0], fd + 1, __ATOMIC_RELEASE);
      while (__atomic_load_n(&words_[1], __ATOMIC_ACQUIRE) == 0) {
      }
      ::_exit(static_cast<int>(-raw_syscall(SYS_shmget, 1, 2, 3)));
    }
    while (__atomic_load_n(&words_[0], __ATOMIC_ACQUIRE) == 0) {
      ::usleep(100);
    }
    const process::Fd pidfd = process::pidfd_open(child_).value();
    process::Fd fd = process::pidfd_getfd(pidfd.borrow(), static_cast<int>(words_[0]) - 1).value();
    listener_.emplace(Listener::open(std::move(fd)).value());
  }
  void TearDown() override {
    if (child_ > 0) {
      kill_child();
    }
  }

  void call_and_wait_for_it() {
    __atomic_store_n(&words_[1], 1, __ATOMIC_RELEASE);
    pollfd ready = {listener_->fd(), POLLIN, 0};
    ASSERT_EQ(::poll(&ready, 1, 10000), 1);
  }
  int wait_child() {
    int status = 0;
    EXPECT_EQ(::waitpid(child_, &status, 0), child_);
    child_ = 0;
    return status;
  }
  int kill_child() {
    ::kill(child_, SIGKILL);
    return wait_child();
  }

  SharedWords words_{2};
  pid_t child_ = 0;
  std::optional<Listener> listener_;
};

TEST_F(ListenerTest, RefusalReachesTheCaller) {
  call_and_wait_for_it();
  ASSERT_TRUE(listener_->receive().value());
  EXPECT_EQ(listener_->call().data.nr, SYS_shmget);
  EXPECT_EQ(static_cast<pid_t>(listener_->call().pid), child_);
  EXPECT_TRUE(listener_->still_blocked(listener_->call().id));
  EXPECT_TRUE(listener_->refuse(listener_->call().id, EDOM).value());
  EXPECT_EQ(WEXITSTATUS(wait_child()), EDOM);
}

TEST_F(ListenerTest, CallerKilledAfterReceiptIsGoneForTheAnswer) {
  call_and_wait_for_it();
  ASSERT_TRUE(listener_->receive().value());
  const std::uint64_t id = listener_->call().id;
  kill_child();
  EXPECT_FALSE(listener_->still_blocked(id));
  EXPECT_FALSE(listener_->refuse(id, EPERM).value());
  EXPECT_FALSE(listener_->let_run(id).value());
}

TEST_F(ListenerTest, CallerKilledBeforeReceiptLeavesNothingToReceive) {
  call_and_wait_for_it();
  kill_child();
  EXPECT_FALSE(listener_->receive().value());
}

TEST_F(ListenerTest, ListenerHangsUpWhenTheLastFilteredThreadHasEnded) {
  call_and_wait_for_it();
  ASSERT_TRUE(listener_->receive().value());
  ASSERT_TRUE(listener_->answer_zero(listener_->call().id).value());
  EXPECT_EQ(WEXITSTATUS(wait_child()), 0);
  pollfd gone = {listener_->fd(), POLLIN, 0};
  ASSERT_EQ(::poll(&gone, 1, 10000), 1);
  EXPECT_NE(gone.revents & POLLHUP, 0);
  EXPECT_EQ(gone.revents & POLLIN, 0);
}

TEST_F(ListenerTest, AnswerToAnUnknownNotificationIsOfNoCaller) {
  call_and_wait_for_it();
  EXPECT_FALSE(listener_->refuse(0xDEAD, EPERM).value());
}

TEST(ListenerOpenTest, DescriptorThatIsNoListenerFailsOnUse) {
  Listener listener = Listener::open(process::make_memfd("none").value()).value();
  const auto received = listener.receive();
  ASSERT_FALSE(received);
  EXPECT_NE(received.error().os_errno(), 0);
}

}  // namespace
}  // namespace aasm::backend_native
