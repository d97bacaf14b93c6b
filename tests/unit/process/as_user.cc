#include "as_user.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

namespace aasm::test {

namespace {

constexpr unsigned kNobody = 65534;
constexpr int kTimeoutMs = 60'000;

bool become_nobody() {
  if (geteuid() != 0) {
    return true;
  }
  return setgroups(0, nullptr) == 0 && setresgid(kNobody, kNobody, kNobody) == 0 &&
         setresuid(kNobody, kNobody, kNobody) == 0 && prctl(PR_SET_DUMPABLE, 1) == 0;
}

[[noreturn]] void run_body(bool as_nobody, const std::function<std::string()>& body, int fd) {
  const std::string text = as_nobody && !become_nobody() ? "cannot become nobody" : body();
  const bool told = write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  _exit(told ? 0 : 1);
}

}  // namespace

std::string run_in_child(bool as_nobody, const std::function<std::string()>& body) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return "no pipe";
  }
  const pid_t pid = fork();
  if (pid == 0) {
    close(ends[0]);
    run_body(as_nobody, body, ends[1]);
  }
  close(ends[1]);
  std::string text;
  std::array<char, 4096> buffer{};
  for (;;) {
    pollfd entry = {ends[0], POLLIN, 0};
    if (poll(&entry, 1, kTimeoutMs) <= 0) {
      kill(pid, SIGKILL);
      text += "[the child hung]";
      break;
    }
    const ssize_t size = read(ends[0], buffer.data(), buffer.size());
    if (size <= 0) {
      break;
    }
    text.append(buffer.data(), static_cast<std::size_t>(size));
  }
  close(ends[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  if (status != 0) {
    text += "[the child's wait status was " + std::to_string(status) + "]";
  }
  return text;
}

}  // namespace aasm::test
