// Words that look like evidence, and names made to confuse whoever writes it down.

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "probe.h"

namespace attacks {
namespace {

// TEXT: on every stream we have.
int print_everywhere(const Args& args) {
  for (const int fd : {1, 2}) {
    [[maybe_unused]] ssize_t ignored = ::write(fd, args[0].c_str(), args[0].size());
    ignored = ::write(fd, "\n", 1);
  }
  return result_of(::syscall(SYS_unshare, 0));
}

// NAME: the process takes it, and makes the forbidden call under it.
int call_under_name(const Args& args) {
  ::prctl(PR_SET_NAME, args[0].c_str());
  return result_of(::syscall(SYS_unshare, 0));
}

std::string own_program() {
  char path[4096] = {};
  return ::readlink("/proc/self/exe", path, sizeof path - 1) < 0 ? "" : path;
}

// FROM TO: copies a program.
int copy_program(const std::string& from, const std::string& to) {
  const int source = ::open(from.c_str(), O_RDONLY | O_CLOEXEC);
  const int target = ::open(to.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
  static char data[1 << 16];
  for (ssize_t got = 0; (got = ::read(source, data, sizeof data)) > 0;) {
    if (::write(target, data, static_cast<std::size_t>(got)) != got) {
      return errno;
    }
  }
  ::close(source);
  ::close(target);
  return target < 0 ? EACCES : 0;
}

// PATH HOW: a copy of this program under that path makes the forbidden call. Its file name is what
// the record has to carry. With HOW "gone" it removes the copy before; with "unreadable" the copy
// may be executed and not read, which makes a process that others may not look at.
int call_as(const Args& args) {
  if (const int result = copy_program(own_program(), args[0]); result != 0) {
    return result;
  }
  if (args[1] == "unreadable" && ::chmod(args[0].c_str(), 0111) != 0) {
    return errno;
  }
  const int pid = ::fork();
  if (pid == 0) {
    ::execl(args[0].c_str(), args[0].c_str(),
            args[1] == "gone" ? "call_unnamed" : "unshare_nothing", args[0].c_str(), nullptr);
    ::_exit(97);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WEXITSTATUS(status) == 0 ? 0 : (WEXITSTATUS(status) == 40 ? EPERM : ECHILD);
}

int call_unnamed(const Args& args) {
  ::unlink(args[0].c_str());
  return result_of(::syscall(SYS_unshare, 0));
}

// BYTES: a command line of that size.
int call_with_long_arguments(const Args& args) {
  const std::string word(static_cast<std::size_t>(number(args[0])), 'x');
  const std::string program = own_program();
  const int pid = ::fork();
  if (pid == 0) {
    std::vector<char*> words = {const_cast<char*>(program.c_str()),
                                const_cast<char*>("unshare_nothing")};
    words.insert(words.end(), 8, const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    ::execv(program.c_str(), words.data());
    ::_exit(97);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WEXITSTATUS(status) == 0 ? 0 : (WEXITSTATUS(status) == 40 ? EPERM : ECHILD);
}

// The call by which the launch helper speaks to the supervisor. 0 when somebody answers it.
int fake_rendezvous(const Args& args) {
  return result_of(::syscall(number(args[0]), 1, 0, 0, 0, 0, 0));
}

// UID: becomes another user, which takes away what others may see of the caller.
int call_as_user(const Args& args) {
  return in_child([&args] {
    const auto user = static_cast<uid_t>(number(args[0]));
    if (::setresgid(user, user, user) != 0 || ::setresuid(user, user, user) != 0) {
      return ENOSYS;
    }
    return result_of(::syscall(SYS_unshare, 0));
  });
}

// DIR DEPTH LEN: a folder that deep, each name of that many bytes that JSON has to write in six.
int make_folders(const std::string& start, int depth, int length) {
  int folder = ::open(start.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  const std::string name(static_cast<std::size_t>(length), '\x01');
  for (int i = 0; i < depth; ++i) {
    ::mkdirat(folder, name.c_str(), 0755);
    const int next = ::openat(folder, name.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    ::close(folder);
    folder = next;
  }
  return folder;
}

// DIR DEPTH MANY: that many programs down there, none like another, make the forbidden call.
int call_from_folders(const Args& args) {
  const std::string program = args[0] + "/program";
  const int folder = make_folders(args[0], number(args[1]), 250);
  int result = copy_program(own_program(), program);
  for (int i = 0; i < number(args[2]) && result != ECHILD && folder >= 0; ++i) {
    const std::string name = "p" + std::to_string(i);
    if (::linkat(AT_FDCWD, program.c_str(), folder, name.c_str(), 0) != 0) {
      return errno;
    }
    const int pid = ::fork();
    if (pid == 0) {
      char* const words[] = {const_cast<char*>("p"), const_cast<char*>("unshare_nothing"), nullptr};
      ::syscall(SYS_execveat, folder, name.c_str(), words, environ, 0);
      ::_exit(97);
    }
    int status = 0;
    ::waitpid(pid, &status, 0);
    result = WEXITSTATUS(status) == 40 ? EPERM : (WEXITSTATUS(status) == 0 ? 0 : ECHILD);
  }
  return folder < 0 ? EBADF : result;
}

// STATUS: ends as if aasm itself had ended so.
int end_with(const Args& args) {
  std::printf("attempt end_with ok 0 pid %d parents %d\n", ::getpid(), ::getppid());
  std::fflush(stdout);
  ::_exit(number(args[0]));
}

}  // namespace

const Attempts& evidence_attempts() {
  static const Attempts list = {
      {"print_everywhere", 1, print_everywhere},
      {"call_under_name", 1, call_under_name},
      {"call_as", 2, call_as},
      {"call_unnamed", 1, call_unnamed},
      {"call_with_long_arguments", 1, call_with_long_arguments},
      {"fake_rendezvous", 1, fake_rendezvous},
      {"call_as_user", 1, call_as_user},
      {"call_from_folders", 3, call_from_folders},
      {"end_with", 1, end_with},
  };
  return list;
}

}  // namespace attacks
