#include "aasm/process/pidfd.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include <gtest/gtest.h>

#include "aasm/process/fd.h"

namespace aasm::process {
namespace {

using std::chrono::milliseconds;

// A child that waits until it is killed.
class WaitingChild {
 public:
  WaitingChild() : pid_(::fork()) {
    if (pid_ == 0) {
      for (;;) {
        ::pause();
      }
    }
  }
  WaitingChild(const WaitingChild&) = delete;
  WaitingChild& operator=(const WaitingChild&) = delete;
  ~WaitingChild() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      reap();
    }
  }
  pid_t pid() const { return pid_; }
  int reap() {
    int status = 0;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return status;
  }

 private:
  pid_t pid_;
};

TEST(PidfdTest, SignalEndsTheProcessAndTheWaitSeesIt) {
  WaitingChild child;
  const Fd pidfd = std::move(pidfd_open(child.pid())).value();
  EXPECT_FALSE(wait_ended(pidfd.borrow(), milliseconds(0)).value());
  ASSERT_TRUE(send_signal(pidfd.borrow(), SIGTERM).has_value());
  EXPECT_TRUE(wait_ended(pidfd.borrow(), milliseconds(5000)).value());
  const int status = child.reap();
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
}

TEST(PidfdTest, SignalToAReapedProcessIsNotFound) {
  WaitingChild child;
  const Fd pidfd = std::move(pidfd_open(child.pid())).value();
  ::kill(child.pid(), SIGKILL);
  child.reap();
  const auto sent = send_signal(pidfd.borrow(), 0);
  ASSERT_FALSE(sent.has_value());
  EXPECT_EQ(sent.error().os_errno(), ESRCH);
  EXPECT_EQ(sent.error().code(), schema::ErrorCode::kNotFound);
}

TEST(PidfdTest, DescriptorOfAnotherProcessIsTheSameFile) {
  Pipe pipe = std::move(make_pipe()).value();
  const WaitingChild child;
  const Fd pidfd = std::move(pidfd_open(child.pid())).value();
  const Fd taken = std::move(pidfd_getfd(pidfd.borrow(), pipe.write_end.get())).value();
  EXPECT_NE(::fcntl(taken.get(), F_GETFD) & FD_CLOEXEC, 0);
  ASSERT_EQ(::write(taken.get(), "x", 1), 1);
  char byte = 0;
  EXPECT_EQ(::read(pipe.read_end.get(), &byte, 1), 1);
}

TEST(PidfdTest, DescriptorThatIsNotOpenThereIsRefused) {
  const WaitingChild child;
  const Fd pidfd = std::move(pidfd_open(child.pid())).value();
  const auto taken = pidfd_getfd(pidfd.borrow(), 999);
  ASSERT_FALSE(taken.has_value());
  EXPECT_EQ(taken.error().os_errno(), EBADF);
}

TEST(PidfdTest, WaitForReadingEndsAtItsTimeout) {
  const Pipe pipe = std::move(make_pipe()).value();
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(wait_readable(pipe.read_end.borrow(), milliseconds(30)).value());
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(30));
}

}  // namespace
}  // namespace aasm::process
