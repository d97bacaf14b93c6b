// Preloaded into aasm: the wall clock steps by AASM_TEST_CLOCK_STEP seconds as soon as the file
// AASM_TEST_CLOCK_FLAG is there. The kernel's clock is the host's and stays as it is.
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>

extern "C" int clock_gettime(clockid_t clock, timespec* now) noexcept {
  const long done = ::syscall(SYS_clock_gettime, clock, now);
  const char* flag = std::getenv("AASM_TEST_CLOCK_FLAG");
  const char* step = std::getenv("AASM_TEST_CLOCK_STEP");
  if (done == 0 && clock == CLOCK_REALTIME && flag != nullptr && step != nullptr &&
      ::access(flag, F_OK) == 0) {
    now->tv_sec += std::atol(step);
  }
  return static_cast<int>(done);
}
