#include "attribution.h"

#include <dirent.h>
#include <grp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>

#include <gtest/gtest.h>

namespace aasm::backend_native {
namespace {

std::string own_executable() {
  std::array<char, 4096> buffer{};
  const ssize_t got = ::readlink("/proc/self/exe", buffer.data(), buffer.size());
  return std::string(buffer.data(), static_cast<std::size_t>(got));
}

// A process that waits until it is killed. `run` happens in it before it reports its readiness.
class WaitingProcess {
 public:
  template <class Run>
  explicit WaitingProcess(Run run) {
    std::array<int, 2> ready{};
    EXPECT_EQ(::pipe(ready.data()), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      run(ready[1]);
      ::pause();
      ::_exit(0);
    }
    ::close(ready[1]);
    EXPECT_EQ(::read(ready[0], &reported_, sizeof(reported_)),
              static_cast<ssize_t>(sizeof(reported_)));
    ::close(ready[0]);
  }
  ~WaitingProcess() { end(); }

  void end() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
      pid_ = 0;
    }
  }
  pid_t pid() const { return pid_; }
  pid_t reported() const { return reported_; }

 private:
  pid_t pid_ = 0;
  pid_t reported_ = 0;
};

void report(int fd, pid_t value) {
  if (::write(fd, &value, sizeof(value)) != static_cast<ssize_t>(sizeof(value))) {
    ::_exit(1);
  }
}

TEST(AttributionTest, ThreadIsAttributedToItsProcessAndExecutable) {
  Attribution attribution(1);
  pid_t tid = 0;
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  std::thread thread([&] {
    std::unique_lock lock(mutex);
    tid = static_cast<pid_t>(::syscall(SYS_gettid));
    changed.notify_all();
    changed.wait(lock, [&] { return done; });
  });
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return tid != 0; });
  }
  ASSERT_NE(tid, ::getpid());
  for (int again = 0; again < 2; ++again) {
    const Caller caller = attribution.identify(tid);
    EXPECT_EQ(caller.pid, ::getpid());
    EXPECT_EQ(caller.executable.bytes(), own_executable());
  }
  {
    const std::lock_guard lock(mutex);
    done = true;
  }
  changed.notify_all();
  thread.join();
}

TEST(AttributionTest, ProcessNameWithFieldsOfStatusDoesNotMislead) {
  const WaitingProcess process([](int fd) {
    ::prctl(PR_SET_NAME, "a\nTgid:\t1\n)");
    report(fd, ::getpid());
  });
  Attribution attribution(1);
  EXPECT_EQ(attribution.identify(process.pid()).pid, process.pid());
  // The parent is this process, where chains end.
  EXPECT_TRUE(attribution.parents(process.pid()).empty());
}

TEST(AttributionTest, ExecutableIsReadAnewAfterAnExec) {
  std::array<int, 2> go{};
  ASSERT_EQ(::pipe(go.data()), 0);
  WaitingProcess process([&go](int fd) {
    report(fd, ::getpid());
    char byte = 0;
    if (::read(go[0], &byte, 1) == 1) {
      ::execl("/bin/sleep", "sleep", "60", nullptr);
    }
  });
  Attribution attribution(1);
  EXPECT_EQ(attribution.identify(process.pid()).executable.bytes(), own_executable());
  ASSERT_EQ(::write(go[1], "x", 1), 1);
  std::string executable = own_executable();
  for (int tries = 0; tries < 500 && executable == own_executable(); ++tries) {
    ::usleep(10000);
    executable = attribution.identify(process.pid()).executable.bytes();
  }
  EXPECT_NE(executable.find("sleep"), std::string::npos) << executable;
  EXPECT_EQ(attribution.cached(), 1U);
  ::close(go[0]);
  ::close(go[1]);
}

TEST(AttributionTest, NumberOfAnEndedProcessNamesNobody) {
  WaitingProcess process([](int fd) { report(fd, ::getpid()); });
  Attribution attribution(1);
  const pid_t pid = process.pid();
  const Caller first = attribution.identify(pid);
  ASSERT_EQ(first.pid, pid);
  EXPECT_FALSE(first.certain) << "the number may be of somebody who has it since the call";
  const Caller second = attribution.identify(pid);
  ASSERT_EQ(second.pid, pid);
  EXPECT_TRUE(second.certain) << "it existed before the call and after it";
  process.end();
  const Caller caller = attribution.identify(pid);
  EXPECT_EQ(caller.pid, 0);
  EXPECT_FALSE(caller.certain);
  EXPECT_TRUE(caller.executable.empty());
  EXPECT_EQ(attribution.cached(), 0U);
}

TEST(AttributionTest, ParentsAreNearestFirstAndEndAtTheRoot) {
  // this process > middle > leaf
  const WaitingProcess middle([](int fd) {
    const pid_t leaf = ::fork();
    if (leaf == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      const pid_t inner = ::fork();
      if (inner == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        report(fd, ::getpid());
      }
      ::pause();
      ::_exit(0);
    }
  });
  const pid_t inner = middle.reported();
  const std::vector<std::int64_t> chain = Attribution(1).parents(inner);
  ASSERT_EQ(chain.size(), 2U);
  EXPECT_EQ(chain[1], middle.pid());
  EXPECT_EQ(Attribution(static_cast<pid_t>(chain[0])).parents(inner),
            std::vector<std::int64_t>{chain[0]});
  ::kill(inner, SIGKILL);
  ::kill(static_cast<pid_t>(chain[0]), SIGKILL);
}

TEST(AttributionTest, StatusIsReadSinceTheThreadWasAskedAbout) {
  const mode_t before = ::umask(0022);
  Attribution attribution(1);
  const auto status = [&attribution] {
    attribution.identify(::getpid());
    return attribution.status(::getpid()).value();
  };
  EXPECT_NE(status().find("Umask:\t0022\n"), std::string::npos) << "new here";
  ::umask(0077);
  EXPECT_NE(status().find("Umask:\t0077\n"), std::string::npos) << "known";
  ::umask(0027);
  EXPECT_NE(status().find("Umask:\t0027\n"), std::string::npos) << "read anew each time";
  EXPECT_NE(Attribution(1).status(::getpid()).value().find("Umask:\t0027\n"), std::string::npos)
      << "never asked about";
  ::umask(before);
}

TEST(AttributionTest, StatusOfWhoIsInManyGroupsIsWhole) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "setting groups takes root";
  }
  const WaitingProcess process([](int fd) {
    std::array<gid_t, 1000> groups{};
    std::iota(groups.begin(), groups.end(), gid_t{100000});
    report(fd, ::setgroups(groups.size(), groups.data()) == 0 ? ::getpid() : 0);
  });
  Attribution attribution(1);
  for (const char* what : {"new here", "known"}) {
    ASSERT_EQ(attribution.identify(process.reported()).pid, process.pid());
    EXPECT_NE(attribution.status(process.pid()).value().find("\nCapEff:"), std::string::npos)
        << what;
  }
}

TEST(AttributionTest, DescriptorsAreThoseTheThreadHasNow) {
  Attribution attribution(1);
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  const auto taken = [&] {
    attribution.identify(::getpid());
    return attribution.take_descriptor(::getpid(), pipe[0]);
  };
  EXPECT_TRUE(attribution.take_descriptor(::getpid(), pipe[0])) << "never asked about";
  EXPECT_TRUE(taken());
  ::close(pipe[0]);
  EXPECT_EQ(taken().error().os_errno(), EBADF);
  EXPECT_EQ(attribution.take_descriptor(::getpid(), -1).error().os_errno(), EBADF);
  ::close(pipe[1]);

  WaitingProcess process([](int fd) { report(fd, ::getpid()); });
  const pid_t pid = process.pid();
  ASSERT_EQ(attribution.identify(pid).pid, pid);
  EXPECT_TRUE(attribution.take_descriptor(pid, STDIN_FILENO));
  process.end();
  EXPECT_FALSE(attribution.take_descriptor(pid, STDIN_FILENO));
}

TEST(AttributionTest, ThereIsNoStatusOfAGoneThread) {
  WaitingProcess process([](int fd) { report(fd, ::getpid()); });
  const pid_t pid = process.pid();
  Attribution attribution(1);
  ASSERT_EQ(attribution.identify(pid).pid, pid);
  attribution.identify(::getpid());
  process.end();
  EXPECT_FALSE(attribution.status(pid));
}

TEST(AttributionTest, ParentsOfAGoneProcessAreEmpty) {
  WaitingProcess process([](int fd) { report(fd, ::getpid()); });
  const pid_t pid = process.pid();
  process.end();
  EXPECT_TRUE(Attribution(1).parents(pid).empty());
}

TEST(AttributionTest, AChainIsCutWhenItIsFullAndDoesNotEndAtTheRoot) {
  const Attribution attribution(7);
  std::vector<std::int64_t> chain(Attribution::kMaxParents, 9);
  EXPECT_TRUE(attribution.is_cut(chain));
  chain.back() = 7;
  EXPECT_FALSE(attribution.is_cut(chain));
  chain.back() = 9;
  chain.pop_back();
  EXPECT_FALSE(attribution.is_cut(chain));
  EXPECT_FALSE(attribution.is_cut({}));
}

TEST(AttributionTest, CacheHoldsNoMoreThanItsCapacity) {
  const WaitingProcess one([](int fd) { report(fd, ::getpid()); });
  const WaitingProcess two([](int fd) { report(fd, ::getpid()); });
  const WaitingProcess three([](int fd) { report(fd, ::getpid()); });
  Attribution attribution(1, 2);
  for (const WaitingProcess* process : {&one, &two, &three, &one}) {
    EXPECT_EQ(attribution.identify(process->pid()).pid, process->pid());
    EXPECT_LE(attribution.cached(), 2U);
  }
}

}  // namespace
}  // namespace aasm::backend_native
