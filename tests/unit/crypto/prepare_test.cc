#include "aasm/crypto/prepare.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "aasm/crypto/ed25519.h"

#include "vectors.h"

// What happens once in a process is tested in children of a process that never called the module:
// hence a program of its own, whose parent process must not touch it.
namespace aasm::crypto {
namespace {

TEST(PrepareTest, RestoresTheEnvironment) {
  for (const char* before : {"", "512"}) {
    const pid_t pid = ::fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) {
      if (*before == '\0') {
        ::unsetenv("BOTAN_MLOCK_POOL_SIZE");
      } else {
        ::setenv("BOTAN_MLOCK_POOL_SIZE", before, 1);
      }
      prepare();
      const char* after = ::getenv("BOTAN_MLOCK_POOL_SIZE");
      ::_exit(std::string(after == nullptr ? "" : after) == before ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0) << "before: " << before;
  }
}

// What `measure` returns in a forked child after the child has made its first key and signature.
template <class Measure>
long in_child_after_first_signature(Measure measure) {
  std::array<int, 2> fds{};
  if (::pipe(fds.data()) != 0) {
    return -1;
  }
  const pid_t pid = ::fork();
  if (pid == 0) {
    const bool has_signed = test::test_key(1).sign({}).has_value();
    const long value = has_signed ? measure() : -1;
    ::_exit(::write(fds[1], &value, sizeof value) == sizeof value ? 0 : 1);
  }
  long value = -1;
  if (::read(fds[0], &value, sizeof value) != sizeof value) {
    value = -1;
  }
  ::close(fds[0]);
  ::close(fds[1]);
  ::waitpid(pid, nullptr, 0);
  return value;
}

// Kilobytes of locked memory (proc(5), status).
long locked_kb() {
  std::ifstream status("/proc/self/status");
  std::string word;
  long value = -1;
  while (status >> word) {
    if (word == "VmLck:") {
      status >> value;
    }
  }
  return value;
}

long cpu_time_us() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<long>(now.tv_sec) * 1000000 + now.tv_nsec / 1000;
}

TEST(PrepareTest, BotanLocksNoPoolOfPages) {
  if (test::kIsSanitized) {
    GTEST_SKIP() << "sanitizers replace mlock by nothing";
  }
  // The key's page is gone by then; with its pool Botan would hold 512 kB locked.
  EXPECT_EQ(in_child_after_first_signature(locked_kb), 0);
}

TEST(PrepareTest, AProcessesFirstKeyAndSignatureTakeUnderAMillisecond) {
  if (test::kIsSanitized) {
    GTEST_SKIP() << "sanitizers change the time";
  }
  // Processor time, and the best of five, so that a busy machine does not fail it. A forked child
  // starts from zero. With Botan's pool of locked pages it would be above 2 ms each time.
  long best_us = 1000000;
  for (int attempt = 0; attempt < 5; ++attempt) {
    const long took_us = in_child_after_first_signature(cpu_time_us);
    ASSERT_GE(took_us, 0);
    best_us = std::min(best_us, took_us);
  }
  EXPECT_LT(best_us, 1000);
}

}  // namespace
}  // namespace aasm::crypto
