// What a confined program tries, one action after another, each result on a line of its own:
//   read /etc/shadow = 13
// where the number is 0 for success and an errno otherwise. Static, so that it needs no path but
// its own. Usage: actions [VERB ARG...]...

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

using Args = std::vector<std::string>;

int result_of(long returned) {
  return returned < 0 ? errno : 0;
}

int number(const std::string& text) {
  return static_cast<int>(std::strtol(text.c_str(), nullptr, 0));
}

int open_and_close(const std::string& path, int flags) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC, 0644);
  const int result = result_of(fd);
  if (fd >= 0) {
    ::close(fd);
  }
  return result;
}

int read_file(const Args& args) {
  const int fd = ::open(args[0].c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return errno;
  }
  char byte = 0;
  const int result = result_of(::read(fd, &byte, 1));
  ::close(fd);
  return result;
}

int list_directory(const Args& args) {
  DIR* directory = ::opendir(args[0].c_str());
  if (directory == nullptr) {
    return errno;
  }
  ::closedir(directory);
  return 0;
}

// 0 when the program ran and exited 0, else the errno of the exec.
int execute(const Args& args) {
  int pipe_fds[2];
  if (::pipe2(pipe_fds, O_CLOEXEC) != 0) {
    return errno;
  }
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::execl(args[0].c_str(), args[0].c_str(), nullptr);
    const int failed = errno;
    [[maybe_unused]] const ssize_t written = ::write(pipe_fds[1], &failed, sizeof failed);
    ::_exit(127);
  }
  ::close(pipe_fds[1]);
  int failed = 0;
  [[maybe_unused]] const ssize_t got = ::read(pipe_fds[0], &failed, sizeof failed);
  ::close(pipe_fds[0]);
  ::waitpid(pid, nullptr, 0);
  return failed;
}

int trace(const Args& args) {
  const int result = result_of(::ptrace(PTRACE_ATTACH, number(args[0]), nullptr, nullptr));
  return result;
}

int read_memory_of(const Args& args) {
  char byte = 0;
  iovec local = {&byte, 1};
  iovec remote = {&byte, 1};
  return result_of(::process_vm_readv(number(args[0]), &local, 1, &remote, 1, 0));
}

// Runs `work` in a process that has left session and parents behind, and waits for it by a pipe.
template <class Work>
int in_orphan(Work work) {
  int pipe_fds[2];
  if (::pipe2(pipe_fds, O_CLOEXEC) != 0) {
    return errno;
  }
  const pid_t child = ::fork();
  if (child == 0) {
    ::setsid();
    if (::fork() == 0) {
      const int result = work();
      [[maybe_unused]] const ssize_t written = ::write(pipe_fds[1], &result, sizeof result);
      ::_exit(0);
    }
    ::_exit(0);
  }
  ::close(pipe_fds[1]);
  ::waitpid(child, nullptr, 0);
  int result = -1;
  [[maybe_unused]] const ssize_t got = ::read(pipe_fds[0], &result, sizeof result);
  ::close(pipe_fds[0]);
  return result;
}

int call_number(const Args& args) {
  return result_of(::syscall(number(args[0]), 0, 0, 0, 0, 0, 0));
}

int call_from_orphan(const Args& args) {
  return in_orphan([&args] {
    std::printf("orphan %d\n", ::getpid());
    std::fflush(stdout);
    return call_number(args);
  });
}

// Leaves a sleeper that has its own session and no parent of the tree.
int leave_sleeper(const Args& /*args*/) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::setsid();
    const pid_t sleeper = ::fork();
    if (sleeper == 0) {
      ::sleep(600);
      ::_exit(0);
    }
    std::printf("sleeper %d\n", sleeper);
    std::fflush(stdout);
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  return 0;
}

int print_environment(const Args& /*args*/) {
  for (char** entry = environ; *entry != nullptr; ++entry) {
    std::printf("env %s\n", *entry);
  }
  return 0;
}

int print_working_directory(const Args& /*args*/) {
  char path[4096];
  if (::getcwd(path, sizeof path) == nullptr) {
    return errno;
  }
  std::printf("cwd %s\n", path);
  return 0;
}

int print_status(const Args& /*args*/) {
  std::FILE* file = std::fopen("/proc/self/status", "re");
  if (file == nullptr) {
    return errno;
  }
  char line[512];
  while (std::fgets(line, sizeof line, file) != nullptr) {
    if (std::strncmp(line, "Cap", 3) == 0 || std::strncmp(line, "NoNewPrivs", 10) == 0 ||
        std::strncmp(line, "Seccomp:", 8) == 0) {
      std::fputs(line, stdout);
    }
  }
  std::fclose(file);
  return 0;
}

struct Verb {
  const char* name;
  std::size_t num_args;
  int (*run)(const Args& args);
};

constexpr Verb kVerbs[] = {
    {"read", 1, read_file},
    {"list", 1, list_directory},
    {"write", 1, [](const Args& a) { return open_and_close(a[0], O_WRONLY); }},
    {"rdwr", 1, [](const Args& a) { return open_and_close(a[0], O_RDWR); }},
    {"create", 1, [](const Args& a) { return open_and_close(a[0], O_WRONLY | O_CREAT | O_EXCL); }},
    {"truncate", 1, [](const Args& a) { return result_of(::truncate(a[0].c_str(), 0)); }},
    {"mkdir", 1, [](const Args& a) { return result_of(::mkdir(a[0].c_str(), 0755)); }},
    {"rmdir", 1, [](const Args& a) { return result_of(::rmdir(a[0].c_str())); }},
    {"unlink", 1, [](const Args& a) { return result_of(::unlink(a[0].c_str())); }},
    {"mkfifo", 1, [](const Args& a) { return result_of(::mkfifo(a[0].c_str(), 0644)); }},
    {"rename", 2, [](const Args& a) { return result_of(::rename(a[0].c_str(), a[1].c_str())); }},
    {"link", 2, [](const Args& a) { return result_of(::link(a[0].c_str(), a[1].c_str())); }},
    {"symlink", 2, [](const Args& a) { return result_of(::symlink(a[0].c_str(), a[1].c_str())); }},
    {"exec", 1, execute},
    {"fd", 1, [](const Args& a) { return result_of(::fcntl(number(a[0]), F_GETFD)); }},
    {"kill", 2, [](const Args& a) { return result_of(::kill(number(a[0]), number(a[1]))); }},
    {"kill_parent", 1, [](const Args& a) { return result_of(::kill(::getppid(), number(a[0]))); }},
    {"ptrace_parent", 0, [](const Args&) { return trace({std::to_string(::getppid())}); }},
    {"kill_self", 1, [](const Args& a) { return result_of(::kill(::getpid(), number(a[0]))); }},
    {"ptrace", 1, trace},
    {"vmread", 1, read_memory_of},
    {"call", 1, call_number},
    {"orphan_call", 1, call_from_orphan},
    {"sleeper", 0, leave_sleeper},
    {"environment", 0, print_environment},
    {"cwd", 0, print_working_directory},
    {"status", 0, print_status},
    {"sleep", 1,
     [](const Args& a) { return ::sleep(static_cast<unsigned>(number(a[0]))) == 0 ? 0 : EINTR; }},
    {"exit", 1,
     [](const Args& a) {
       std::fflush(stdout);
       ::_exit(number(a[0]));
       return 0;
     }},
};

const Verb* find_verb(const std::string& name) {
  for (const Verb& verb : kVerbs) {
    if (name == verb.name) {
      return &verb;
    }
  }
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const Verb* verb = find_verb(argv[i]);
    if (verb == nullptr || i + static_cast<int>(verb->num_args) >= argc) {
      std::printf("unknown %s\n", argv[i]);
      return 99;
    }
    std::string line = argv[i];
    Args args;
    for (std::size_t k = 0; k < verb->num_args; ++k) {
      args.emplace_back(argv[++i]);
      line += " " + args.back();
    }
    const int result = verb->run(args);
    std::printf("%s = %d\n", line.c_str(), result);
    std::fflush(stdout);
  }
  return 0;
}
