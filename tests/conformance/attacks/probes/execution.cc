// Running programs that the execute list does not cover, and gaining privilege by running them.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "probe.h"

extern char** environ;

namespace attacks {
namespace {

// Runs `start` in a child, which execs. 0 when the program ended 0, its status as a text to leak.
template <class Start>
int run_program(Start start) {
  int ends[2];
  const int pid = fork_with_pipe(ends);
  if (pid == 0) {
    start();
    report_and_end(ends[1], errno);
  }
  ::close(ends[1]);
  int failed = 0;
  const bool refused = ::read(ends[0], &failed, sizeof failed) == sizeof failed;
  ::close(ends[0]);
  int status = 0;
  ::waitpid(pid, &status, 0);
  return refused ? failed : (status == 0 ? 0 : ECHILD);
}

// PROGRAM ARG...
int execute(const Args& args) {
  return run_program([&args] {
    std::vector<char*> words;
    for (const std::string& word : args) {
      words.push_back(const_cast<char*>(word.c_str()));
    }
    words.push_back(nullptr);
    ::execv(args[0].c_str(), words.data());
  });
}

int execute_by_link(const Args& args) {
  const int result = result_of(::symlink(args[0].c_str(), args[1].c_str()));
  return result != 0 ? result : execute({args[1], "--depth", "child", "hello"});
}

// A handle needs no right to get, and execveat takes one.
int execute_handle(const Args& args) {
  return run_program([&args] {
    const int handle = ::open(args[0].c_str(), O_PATH | O_CLOEXEC);
    char* const words[] = {const_cast<char*>(args[0].c_str()), const_cast<char*>("hello"), nullptr};
    ::syscall(SYS_execveat, handle, "", words, environ, AT_EMPTY_PATH);
  });
}

int copy_to_memory(const std::string& path) {
  const int from = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const int memory = ::memfd_create("copy", MFD_CLOEXEC);
  static char data[1 << 16];
  for (ssize_t got = 0; from >= 0 && memory >= 0 && (got = ::read(from, data, sizeof data)) > 0;) {
    if (::write(memory, data, static_cast<std::size_t>(got)) != got) {
      return -1;
    }
  }
  return from < 0 ? from : memory;
}

// FILE: granted for reading, not for executing; run from an anonymous copy.
int execute_memory_copy(const Args& args) {
  const int memory = copy_to_memory(args[0]);
  if (memory < 0) {
    return errno;
  }
  return run_program([memory] {
    char* const words[] = {const_cast<char*>("copy"), const_cast<char*>("hello"), nullptr};
    ::syscall(SYS_execveat, memory, "", words, environ, AT_EMPTY_PATH);
  });
}

// FILE COPY: run from a copy in a directory granted for writing.
int execute_written_copy(const Args& args) {
  const int memory = copy_to_memory(args[0]);
  const int copy = ::open(args[1].c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
  if (memory < 0 || copy < 0) {
    return errno;
  }
  static char data[1 << 16];
  ::lseek(memory, 0, SEEK_SET);
  for (ssize_t got = 0; (got = ::read(memory, data, sizeof data)) > 0;) {
    if (::write(copy, data, static_cast<std::size_t>(got)) != got) {
      return errno;
    }
  }
  ::close(copy);
  return execute({args[1], "hello"});
}

// PROGRAM: set-uid. 0 when the program it became had other ids than ours.
int execute_set_uid(const Args& args) {
  return execute({args[0], "has_uid_other_than", std::to_string(::getuid())});
}

int has_uid_other_than(const Args& args) {
  return static_cast<int>(::geteuid()) == number(args[0]) ? EPERM : 0;
}

}  // namespace

const Attempts& exec_attempts() {
  static const Attempts list = {
      {"hello", 0,
       [](const Args&) {
         leak("hello", 5);
         return 0;
       }},
      {"execute", 1, execute},
      {"execute_by_link", 2, execute_by_link},
      {"execute_handle", 1, execute_handle},
      {"execute_memory_copy", 1, execute_memory_copy},
      {"execute_written_copy", 2, execute_written_copy},
      {"execute_set_uid", 1, execute_set_uid},
      {"has_uid_other_than", 1, has_uid_other_than},
  };
  return list;
}

}  // namespace attacks
