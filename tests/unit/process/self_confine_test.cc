#include "aasm/process/self_confine.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "aasm/process/landlock.h"

#include "as_user.h"
#include "temp_dir.h"

namespace aasm::process {
namespace {

using test::run_in_child;

// The errno of a call, or 0.
template <class F>
int error_of(F call) {
  errno = 0;
  return call() < 0 ? errno : 0;
}

int open_for(const std::string& path, int flags) {
  return error_of([&] { return ::open(path.c_str(), flags | O_CLOEXEC, 0600); });
}

// One file to read, one directory to write in, and one of each that is not listed.
class SelfConfineTest : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    for (const char* name : {"listed", "other"}) {
      std::ofstream(path(name)) << "x";
      ASSERT_EQ(::chmod(path(name).c_str(), 0666), 0);
    }
    for (const char* name : {"scratch", "elsewhere"}) {
      ASSERT_EQ(::mkdir(path(name).c_str(), 0700), 0);
      ASSERT_EQ(::chmod(path(name).c_str(), 0777), 0);
    }
    ASSERT_EQ(::chmod(directory_.path().c_str(), 0755), 0);
  }
  std::string path(const char* name) const { return directory_.file(name); }

  ConfinementReport confine(int newest_abi = 7) const {
    const Fd listed(::open(path("listed").c_str(), O_PATH | O_CLOEXEC));
    const Fd scratch(::open(path("scratch").c_str(), O_PATH | O_CLOEXEC));
    return confine_self({{listed.borrow()}, {scratch.borrow()}, newest_abi});
  }

  // Runs `attempt` in a child of its own, unconfined and confined; it yields an errno or 0.
  void expect_refused(const char* what, int os_errno, const std::function<int()>& attempt) const {
    EXPECT_EQ(run_in_child(GetParam(), [&] { return std::to_string(attempt()); }), "0")
        << what << " without confinement";
    EXPECT_EQ(run_in_child(GetParam(),
                           [&] {
                             confine();
                             return std::to_string(attempt());
                           }),
              std::to_string(os_errno))
        << what << " confined";
  }

 private:
  test::TempDir directory_;
};

long kernel_abi() {
  return landlock::abi_version();
}

TEST_P(SelfConfineTest, FilesThatAreNotListedAreOutOfReach) {
  if (kernel_abi() < 3) {
    GTEST_SKIP() << "this kernel has no Landlock that covers truncation";
  }
  expect_refused("reading", EACCES, [&] { return open_for(path("other"), O_RDONLY); });
  expect_refused("writing", EACCES, [&] { return open_for(path("other"), O_WRONLY); });
  expect_refused("writing to what may be read", EACCES,
                 [&] { return open_for(path("listed"), O_WRONLY); });
  expect_refused("truncating", EACCES,
                 [&] { return error_of([&] { return ::truncate(path("listed").c_str(), 0); }); });
  expect_refused("making a file", EACCES, [&] {
    const int result = open_for(path("elsewhere/new"), O_WRONLY | O_CREAT | O_EXCL);
    ::unlink(path("elsewhere/new").c_str());
    return result;
  });
  expect_refused("listing a directory", EACCES,
                 [&] { return open_for(path("elsewhere"), O_RDONLY | O_DIRECTORY); });
  expect_refused("moving out of the scratch directory", EACCES, [&] {
    ::close(::open(path("scratch/f").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    const int result =
        error_of([&] { return ::rename(path("scratch/f").c_str(), path("elsewhere/f").c_str()); });
    ::unlink(path("elsewhere/f").c_str());
    ::unlink(path("scratch/f").c_str());
    return result;
  });
}

TEST_P(SelfConfineTest, WhatIsListedStaysInReach) {
  const std::string said = run_in_child(GetParam(), [&]() -> std::string {
    const ConfinementReport report = confine();
    AASM_CHILD_CHECK(open_for(path("listed"), O_RDONLY) == 0, std::strerror(errno));
    const std::string file = path("scratch/a");
    AASM_CHILD_CHECK(open_for(file, O_RDWR | O_CREAT | O_EXCL) == 0, std::strerror(errno));
    AASM_CHILD_CHECK(open_for(file, O_RDWR | O_TRUNC) == 0, std::strerror(errno));
    AASM_CHILD_CHECK(::mkdir(path("scratch/d").c_str(), 0700) == 0, std::strerror(errno));
    AASM_CHILD_CHECK(::unlink(file.c_str()) == 0, std::strerror(errno));
    AASM_CHILD_CHECK(::rmdir(path("scratch/d").c_str()) == 0, std::strerror(errno));
    AASM_CHILD_CHECK(report.filter, report.text());
    return "";
  });
  EXPECT_EQ(said, "");
}

TEST_P(SelfConfineTest, ProgramsSocketsAndAttributesAreRefused) {
  expect_refused("executing", EPERM, [] {
    // Without confinement the path alone is wrong, which the kernel finds out.
    const char* const argv[] = {"none", nullptr};
    const int result =
        error_of([&] { return ::syscall(SYS_execve, "/nonexistent/none", argv, nullptr); });
    return result == ENOENT ? 0 : result;
  });
  expect_refused("a process", EPERM, [] {
    return error_of([] {
      const long pid = ::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
      if (pid == 0) {
        ::_exit(0);
      }
      return pid;
    });
  });
  expect_refused("a socket", EPERM,
                 [] { return error_of([] { return ::socket(AF_INET, SOCK_STREAM, 0); }); });
  expect_refused("a local socket", EPERM,
                 [] { return error_of([] { return ::socket(AF_UNIX, SOCK_STREAM, 0); }); });
  expect_refused("a tracer", EPERM,
                 [] { return error_of([] { return ::ptrace(PTRACE_TRACEME, 0, 0, 0); }); });
  expect_refused("a signal", EPERM, [] { return error_of([] { return ::kill(::getpid(), 0); }); });
  expect_refused("executable memory", EPERM, [] {
    return error_of([] {
      return ::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
                     MAP_FAILED
                 ? -1
                 : 0;
    });
  });
}

// A file of the very user, as a ledger is: ordinary modes would let all of it through.
TEST_P(SelfConfineTest, AttributesOfOwnFilesAreRefused) {
  const auto own = [&] {
    const std::string file = path("elsewhere/own");
    ::close(::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    return file;
  };
  const std::string file = path("elsewhere/own");
  ASSERT_EQ(run_in_child(GetParam(), [&] { return own() == file ? "" : "no file"; }), "");
  expect_refused("a mode", EPERM,
                 [&] { return error_of([&] { return ::chmod(file.c_str(), 0644); }); });
  expect_refused("an owner", EPERM, [&] {
    return error_of([&] { return ::chown(file.c_str(), ::getuid(), ::getgid()); });
  });
  expect_refused("times", EPERM, [&] {
    return error_of([&] { return ::utimensat(AT_FDCWD, file.c_str(), nullptr, 0); });
  });
}

TEST_P(SelfConfineTest, ThreadsMemoryAndAbortStillWork) {
  const std::string said = run_in_child(GetParam(), [&]() -> std::string {
    AASM_CHILD_CHECK(confine().filter, "no filter");
    pthread_t thread{};
    int value = 0;
    const int code = ::pthread_create(
        &thread, nullptr,
        [](void* argument) -> void* {
          *static_cast<int*>(argument) = 7;
          return nullptr;
        },
        &value);
    AASM_CHILD_CHECK(code == 0, std::strerror(code));
    ::pthread_join(thread, nullptr);
    AASM_CHILD_CHECK(value == 7, "the thread did not run");
    AASM_CHILD_CHECK(::syscall(SYS_tgkill, ::getpid(), ::getpid(), 0) == 0, "own signal");
    rlimit limit{};
    AASM_CHILD_CHECK(::getrlimit(RLIMIT_NOFILE, &limit) == 0, "own limits");
    return "";
  });
  EXPECT_EQ(said, "");
}

TEST_P(SelfConfineTest, EveryAbiConfinesAsFarAsItGoesAndSaysHowFar) {
  for (int abi = 0; abi <= 7; ++abi) {
    const std::string said = run_in_child(GetParam(), [&]() -> std::string {
      const ConfinementReport report = confine(abi);
      const int usable = static_cast<int>(std::min<long>(abi, kernel_abi()));
      const int expected = usable >= 2 ? usable : 0;  // abi 1 would refuse links in the scratch
      AASM_CHILD_CHECK(report.landlock_abi == expected, report.text());
      AASM_CHILD_CHECK(report.filter, report.text());
      const int read = open_for(path("other"), O_RDONLY);
      AASM_CHILD_CHECK(read == (expected > 0 ? EACCES : 0), std::to_string(read));
      AASM_CHILD_CHECK(open_for(path("listed"), O_RDONLY) == 0, "listed");
      const std::string text = report.text();
      AASM_CHILD_CHECK(
          text == (expected > 0
                       ? "confined: landlock abi " + std::to_string(expected) + ", filter"
                       : "partly confined: filter; no landlock: " + report.landlock_reason),
          text);
      AASM_CHILD_CHECK((expected > 0) == report.landlock_reason.empty(), text);
      return "";
    });
    EXPECT_EQ(said, "") << "abi " << abi;
  }
}

// A kernel without seccomp answers EINVAL; here an outer filter does.
TEST_P(SelfConfineTest, WithoutSeccompItGoesOnAndSaysSo) {
  const std::string said = run_in_child(GetParam(), [&]() -> std::string {
    sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_SECCOMP, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program = {6, code};
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    AASM_CHILD_CHECK(::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0, "outer");
    const ConfinementReport report = confine();
    AASM_CHILD_CHECK(!report.filter && !report.filter_reason.empty(), report.text());
    AASM_CHILD_CHECK(report.text().find("no filter: ") != std::string::npos, report.text());
    return "";
  });
  EXPECT_EQ(said, "");
}

INSTANTIATE_TEST_SUITE_P(Users, SelfConfineTest, ::testing::Values(false, true),
                         [](const auto& user) { return user.param ? "Nobody" : "Self"; });

}  // namespace
}  // namespace aasm::process
