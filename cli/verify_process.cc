#include "verify_process.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <utility>

#include "exit_status.h"

namespace aasm::cli {
namespace {

using Clock = std::chrono::steady_clock;
using process::Fd;
using verifier::Stopped;

constexpr std::size_t kMaxMessage = std::size_t{256} << 20U;
constexpr int kMaxStarts = 20;  // while a writer makes new files
constexpr std::chrono::milliseconds kPause{5};

// A directory of our own for the child to work in; removed with what it left.
class Scratch {
 public:
  Scratch() {
    std::error_code error;
    std::string pattern = std::filesystem::temp_directory_path(error).string();
    pattern = (error ? std::string("/tmp") : pattern) + "/aasm-verify-XXXXXX";
    if (mkdtemp(pattern.data()) != nullptr) {
      path_ = pattern;
    }
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    if (!path_.empty()) {
      std::error_code ignored;
      std::filesystem::remove_all(path_, ignored);
    }
  }
  const std::string& path() const { return path_; }  // empty: it could not be made

 private:
  std::string path_;
};

// Signals that would end this process: blocked, and seen on a descriptor, while it exists.
class Interruptions {
 public:
  Interruptions() {
    sigset_t set{};
    sigemptyset(&set);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
      sigaddset(&set, signal);
    }
    pthread_sigmask(SIG_BLOCK, &set, &before_);
    fd_ = Fd(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  Interruptions(const Interruptions&) = delete;
  Interruptions& operator=(const Interruptions&) = delete;
  ~Interruptions() { unblock(); }

  int fd() const { return fd_.get(); }
  void unblock() const { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  // The signal that came, if one did.
  std::optional<int> taken() const {
    signalfd_siginfo info{};
    if (read(fd_.get(), &info, sizeof info) != static_cast<ssize_t>(sizeof info)) {
      return std::nullopt;
    }
    return static_cast<int>(info.ssi_signo);
  }

 private:
  Fd fd_;
  sigset_t before_{};
};

struct ChildEnd {
  std::string message;
  int status = 0;             // as of waitpid(2)
  std::optional<int> signal;  // that came for us
  bool late = false;
  bool too_much = false;
};

constexpr Clock::time_point kNever = Clock::time_point::max();

int wait_ms(Clock::time_point deadline) {
  if (deadline == kNever) {
    return -1;
  }
  constexpr std::chrono::milliseconds kLongest{1000000};
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  return static_cast<int>(std::clamp(left, std::chrono::milliseconds(0), kLongest).count());
}

// Reads what the child says until it ends, or until there is a reason to end it.
void listen(process::BorrowedFd pipe, const Interruptions& interruptions,
            Clock::time_point deadline, ChildEnd& end) {
  std::array<char, 65536> buffer{};
  while (!end.late && !end.too_much && !end.signal) {
    std::array<pollfd, 2> fds = {{{pipe.get(), POLLIN, 0}, {interruptions.fd(), POLLIN, 0}}};
    end.late = Clock::now() >= deadline;
    if (end.late || (poll(fds.data(), fds.size(), wait_ms(deadline)) < 0 && errno != EINTR)) {
      return;
    }
    end.signal = interruptions.taken();
    if (fds[0].revents != 0) {
      const ssize_t got = read(pipe.get(), buffer.data(), buffer.size());
      if (got == 0 || (got < 0 && errno != EINTR)) {
        return;
      }
      end.message.append(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
      end.too_much = end.message.size() > kMaxMessage;
    }
  }
}

schema::Result<ChildEnd> run_child(const verifier::VerifyRequest& request, Format format,
                                   process::BorrowedFd scratch, const Interruptions& interruptions,
                                   Clock::time_point deadline) {
  process::Pipe pipe = AASM_TRY(process::make_pipe());
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) {
    return process::system_error("starting the process that verifies", errno);
  }
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
      _exit(kExitOutOfMemory);
    }
    interruptions.unblock();
    run_verify_child(request, format, scratch, pipe.write_end.borrow());
  }
  pipe.write_end.reset();
  ChildEnd end;
  listen(pipe.read_end.borrow(), interruptions, deadline, end);
  if (end.late || end.too_much || end.signal) {
    kill(child, SIGKILL);
  }
  while (waitpid(child, &end.status, 0) < 0 && errno == EINTR) {
  }
  return end;
}

bool is_verdict(int status) {
  return status == kExitOk || status == kExitFailed || status == kExitInconclusive ||
         status == kExitUnreadable;
}

Verified judge(const ChildEnd& end, const verifier::VerifyRequest& request, Format format,
               std::chrono::seconds deadline) {
  const auto stopped = [&](Stopped why, const std::string& detail) {
    return render(verifier::stopped_report(request, why, detail), format);
  };
  if (end.late) {
    return stopped(Stopped::kByLimit,
                   "the deadline of " + std::to_string(deadline.count()) + " seconds has passed");
  }
  if (WIFEXITED(end.status) && WEXITSTATUS(end.status) == kExitOutOfMemory) {
    return stopped(Stopped::kByLimit, "the process that verifies ran out of memory");
  }
  if (WIFEXITED(end.status) && is_verdict(WEXITSTATUS(end.status)) && !end.too_much) {
    if (std::optional<Verified> said = read_message(end.message, WEXITSTATUS(end.status))) {
      return *std::move(said);
    }
  }
  return stopped(Stopped::kByFault, WIFSIGNALED(end.status)
                                        ? "the process that verifies died by signal " +
                                              std::to_string(WTERMSIG(end.status))
                                        : "the process that verifies gave no report");
}

// One child after another, until one could read the target as it is.
Verified verify_in(const Scratch& scratch, verifier::VerifyRequest& request, Format format,
                   std::chrono::seconds deadline, const Interruptions& interruptions,
                   std::optional<int>& signal) {
  const Clock::time_point until = deadline.count() > 0 ? Clock::now() + deadline : kNever;
  const Fd work(open(scratch.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  request.scratch = scratch.path();
  for (int start = 1;; ++start) {
    const schema::Result<ChildEnd> end =
        run_child(request, format, work.borrow(), interruptions, until);
    if (!end) {
      return render(verifier::stopped_report(request, Stopped::kByFault, end.error().message()),
                    format);
    }
    Verified verified = judge(*end, request, format, deadline);
    signal = end->signal;
    // A rule of Landlock is for a file, not for its name: a writer may have made a new WAL since.
    if (signal || end->late || !verified.file_refused || start == kMaxStarts) {
      return verified;
    }
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace

Verified verify_confined(verifier::VerifyRequest request, Format format,
                         std::chrono::seconds deadline) {
  const Interruptions interruptions;
  std::optional<int> signal;
  std::optional<Scratch> scratch;
  scratch.emplace();
  Verified verified = verify_in(*scratch, request, format, deadline, interruptions, signal);
  scratch.reset();
  if (signal) {
    interruptions.unblock();
    raise(*signal);
  }
  return verified;
}

}  // namespace aasm::cli
