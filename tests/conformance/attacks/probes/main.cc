// attack_probe [--hold] [--depth child|grandchild|daemon] ATTEMPT ARG...
// attack_probe --decoy ENV-NAME FILE        a process outside, with something worth taking
//
// Static, so that it needs no grant but its own file. Makes one attempt at the asked depth below
// the process that was started and prints
//   attempt NAME ok|refused ERRNO pid PID parents NEAREST,...
// Ends 0 when the attempt went through, 40 when it was refused, 97 to 99 when it was not made. With
// --hold it says "held" after that and ends when its input does, so that others can look.

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "probe.h"

namespace attacks {
namespace {

constexpr int kRefused = 40;
constexpr int kNotMade = 97;
constexpr int kUnknown = 99;

const Attempt* find_attempt(const std::string& name) {
  for (const Attempts* family :
       {&file_attempts(), &race_attempts(), &path_attempts(), &attribute_attempts(),
        &exec_attempts(), &process_attempts(), &signal_attempts(), &tree_attempts(),
        &call_attempts(), &namespace_attempts(), &channel_attempts(), &evidence_attempts(),
        &network_attempts(), &limit_attempts()}) {
    for (const Attempt& attempt : *family) {
      if (name == attempt.name) {
        return &attempt;
      }
    }
  }
  return nullptr;
}

int attempt_here(const Attempt& attempt, const Args& args, const std::string& trail) {
  const int parent = ::getppid();
  const int result = attempt.run(args);
  const char* name = result == 0 ? "0" : ::strerrorname_np(result);
  std::printf("attempt %s %s %s pid %d parents %d%s\n", attempt.name,
              result == 0 ? "ok" : "refused", name != nullptr ? name : "-", ::getpid(), parent,
              trail.c_str());
  std::fflush(stdout);
  return result == 0 ? 0 : kRefused;
}

int status_of(int pid) {
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Two processes down, and through an exec of the program's own: the boundary has to survive both.
int as_grandchild(char** argv, int at) {
  const int program = ::getpid();
  const int middle = ::fork();
  if (middle == 0) {
    const int last = ::fork();
    if (last == 0) {
      const std::string trail = "--trail=," + std::to_string(program);
      std::vector<char*> words = {argv[0], const_cast<char*>(trail.c_str())};
      for (char** word = argv + at; *word != nullptr; ++word) {
        words.push_back(*word);
      }
      words.push_back(nullptr);
      ::execv(argv[0], words.data());
      ::_exit(kNotMade);
    }
    ::_exit(status_of(last));
  }
  return status_of(middle);
}

// Own session, no parent of the tree; the program waits for the word of it.
int as_daemon(const Attempt& attempt, const Args& args) {
  int ends[2];
  const int first = fork_with_pipe(ends);
  if (first == 0) {
    ::setsid();
    const int starter = ::getpid();
    if (::fork() != 0) {
      ::_exit(0);
    }
    while (::getppid() == starter) {
      ::usleep(200);
    }
    report_and_end(ends[1], attempt_here(attempt, args, ""));
  }
  const int result = wait_for_result(first, ends[0], ends[1]);
  return result < 0 ? kNotMade : result;
}

// Holds a secret in its environment, its memory and at descriptor 9 until its parent ends.
int be_decoy(const char* variable, const char* file) {
  const int parent = ::getppid();
  ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);  // Yama would spoil the control
  const char* secret = std::getenv(variable);
  const int fd = ::open(file, O_RDWR);
  if (secret == nullptr || fd < 0 || ::dup2(fd, 9) != 9 || ::chdir("/") != 0) {
    return kNotMade;
  }
  static char kept[256];
  std::snprintf(kept, sizeof kept, "%s", secret);
  std::printf("decoy %p %s\n", static_cast<void*>(kept), std::strlen(kept) > 8 ? "ready" : "bad");
  std::fflush(stdout);
  while (::getppid() == parent) {
    ::usleep(50000);
  }
  return 0;
}

int attempt_at_depth(const std::string& depth, int argc, char** argv, int at) {
  std::string trail;
  if (at < argc && std::strncmp(argv[at], "--trail=", 8) == 0) {
    trail = argv[at++] + 8;
  }
  const Attempt* attempt = at < argc ? find_attempt(argv[at]) : nullptr;
  if (attempt == nullptr || argc - at - 1 < static_cast<int>(attempt->num_args)) {
    std::fprintf(stderr, "no such attempt, or too few arguments\n");
    return kUnknown;
  }
  if (depth == "grandchild") {
    return as_grandchild(argv, at);
  }
  const Args args(argv + at + 1, argv + argc);
  return depth == "daemon" ? as_daemon(*attempt, args) : attempt_here(*attempt, args, trail);
}

int run(int argc, char** argv) {
  int at = 1;
  bool hold = false;
  std::string depth = "child";
  ::signal(SIGVTALRM, SIG_IGN);  // what goes to the whole group must not end who looks at it
  if (argc > 3 && std::strcmp(argv[1], "--decoy") == 0) {
    return be_decoy(argv[2], argv[3]);
  }
  if (at < argc && std::strcmp(argv[at], "--hold") == 0) {
    hold = true;
    ++at;
  }
  if (at + 1 < argc && std::strcmp(argv[at], "--depth") == 0) {
    depth = argv[at + 1];
    at += 2;
  }
  const int status = attempt_at_depth(depth, argc, argv, at);
  if (hold) {
    std::printf("held\n");
    std::fflush(stdout);
    char byte = 0;
    while (::read(0, &byte, 1) > 0) {
    }
  }
  return status;
}

}  // namespace
}  // namespace attacks

int main(int argc, char** argv) {
  return attacks::run(argc, argv);
}
