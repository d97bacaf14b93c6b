#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "flips.h"

// Executions: the files are copies of this program, which with the word "tell" ends with a status
// that says which of them it is.
namespace flips {
namespace {

constexpr int kStatusOfErrno = 100;

struct Execution {
  int at;
  const char* name;  // of the caller's memory
  int flags;
  char* const* words;
};

int execute(void* argument) {
  const auto& execution = *static_cast<const Execution*>(argument);
  ::syscall(SYS_execveat, execution.at, execution.name, execution.words, nullptr, execution.flags);
  ::_exit(kStatusOfErrno + errno);
}

// In the caller's memory and with its descriptors, while its other threads go on. The child's
// status.
int execute_once(Execution execution) {
  alignas(16) static std::array<char, 65536> stack;
  const int child = ::clone(execute, stack.data() + stack.size(),
                            CLONE_VM | CLONE_VFORK | CLONE_FILES | SIGCHLD, &execution);
  int status = -1;
  return child > 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status)
             ? WEXITSTATUS(status)
             : -1;
}

// 0: by the file that may be executed; kToldDenied: by the other one.
void note(Counts& counts, int status) {
  errno = status - kStatusOfErrno;
  counts.leaks += status == kToldDenied ? 1 : 0;
  count(counts, status == 0 || status == kToldDenied ? 0 : -1);
}

// What is told stands in memory too; flips between an empty word and the right one.
class Words {
 public:
  Words() : words_{first_.data(), tell_.data(), nullptr} {}
  char* const* get() { return words_.data(); }
  void change(int i) {
    *const_cast<char* volatile*>(words_.data()) = i == 0 ? first_.data() : tell_.data();
  }

 private:
  std::array<char, 5> first_ = {'f', 'l', 'i', 'p', 0};
  std::array<char, 5> tell_ = {'t', 'e', 'l', 'l', 0};
  std::array<char*, 3> words_;
};

}  // namespace

// The name in memory, and the words beside it.
Counts flip_executed_names(long rounds, const Arguments& files) {
  Counts counts;
  static std::array<char, 4096> name;
  Words words;
  const auto change = [&](int i) {
    // The zero of the longer one is never missing.
    std::memcpy(name.data(), files.at(static_cast<std::size_t>(i)).c_str(),
                files.at(static_cast<std::size_t>(i)).size() + 1);
  };
  change(0);
  const Flipper first(change);
  const Flipper second([&](int i) { words.change(i); });
  for (long i = 0; i < rounds; ++i) {
    note(counts, execute_once({AT_FDCWD, name.data(), 0, words.get()}));
  }
  return counts;
}

// A link that is renamed over by one to the other file.
Counts flip_executed_links(long rounds, const Arguments& files) {
  Counts counts;
  Words words;
  const auto change = [&](int i) {
    if (::symlink(files.at(static_cast<std::size_t>(i)).c_str(), "next") == 0) {
      ::rename("next", "way");
    }
  };
  change(0);
  const Flipper flipper(change);
  for (long i = 0; i < rounds; ++i) {
    note(counts, execute_once({AT_FDCWD, "way", 0, words.get()}));
  }
  return counts;
}

// execveat(2) on the descriptor itself.
Counts flip_executed_descriptors(long rounds, const Arguments& files) {
  Counts counts;
  Words words;
  const std::array<int, 2> ends = {::open(files.at(0).c_str(), O_PATH | O_CLOEXEC),
                                   ::open(files.at(1).c_str(), O_PATH | O_CLOEXEC)};
  const int flipped = ::dup(ends[0]);
  const Flipper flipper([&](int i) { ::dup2(ends.at(static_cast<std::size_t>(i)), flipped); });
  for (long i = 0; i < rounds; ++i) {
    note(counts, execute_once({flipped, "", AT_EMPTY_PATH, words.get()}));
  }
  return counts;
}

}  // namespace flips
