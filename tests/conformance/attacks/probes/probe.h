// What the attack programs share. Each attempt is one forbidden thing; it returns 0 when it went
// through and an errno otherwise, and prints what it got hold of through leak().
#pragma once

#include <cerrno>
#include <cstddef>
#include <string>
#include <vector>

namespace attacks {

using Args = std::vector<std::string>;

struct Attempt {
  const char* name;
  std::size_t num_args;
  int (*run)(const Args& args);
};

using Attempts = std::vector<Attempt>;

const Attempts& file_attempts();
const Attempts& race_attempts();
const Attempts& path_attempts();
const Attempts& attribute_attempts();
const Attempts& exec_attempts();
const Attempts& process_attempts();
const Attempts& signal_attempts();
const Attempts& tree_attempts();
const Attempts& call_attempts();
const Attempts& namespace_attempts();
const Attempts& channel_attempts();
const Attempts& evidence_attempts();
const Attempts& network_attempts();
const Attempts& limit_attempts();

// 0 for a result that is not negative, else errno.
int result_of(long returned);

// The line that shows the runner what an attempt read.
void leak(const char* data, std::size_t size);
// Reads the start of an open file and leaks it. Takes the descriptor.
int leak_from(int fd);

// "supervisor" and "warden" name those of the run that we are in, else a number. Never below 2: a
// slip must not become kill(0) or kill(-1).
int pid_of(const std::string& text);

int number(const std::string& text);

// Runs `work` in a child and returns what it returned; -1 when a signal ended it.
template <class Work>
int in_child(Work work);

int wait_for_result(int pid, int read_end, int write_end);
int fork_with_pipe(int* ends);
[[noreturn]] void report_and_end(int write_end, int result);

template <class Work>
int in_child(Work work) {
  int ends[2];
  const int pid = fork_with_pipe(ends);
  if (pid < 0) {
    return errno;
  }
  if (pid == 0) {
    report_and_end(ends[1], work());
  }
  return wait_for_result(pid, ends[0], ends[1]);
}

}  // namespace attacks
