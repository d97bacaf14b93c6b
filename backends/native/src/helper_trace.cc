#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <thread>
#include <utility>

#include "aasm/process/proc_status.h"

#include "helper_client.h"

// The part of the client that uses ptrace(2): the stop behind the exec.
namespace aasm::backend_native {

namespace {

using schema::Error;
using schema::ErrorCode;
using schema::Result;
using Clock = std::chrono::steady_clock;

// What one wait status of a seized child asks for.
enum class StopKind : std::uint8_t { kExec, kGroupStop, kContinued, kSignal, kEnded };

StopKind kind_of(int status) {
  if (!WIFSTOPPED(status)) {
    return StopKind::kEnded;
  }
  switch (status >> 16) {
    case PTRACE_EVENT_EXEC:
      return StopKind::kExec;
    case PTRACE_EVENT_STOP:
      // SIGTRAP: the end of a group stop, by SIGCONT (ptrace(2), PTRACE_EVENT_STOP).
      return WSTOPSIG(status) == SIGTRAP ? StopKind::kContinued : StopKind::kGroupStop;
    default:
      return StopKind::kSignal;
  }
}

// Lets the child do what it would do without a tracer: stay stopped, or take its signal.
void resume(pid_t pid, StopKind kind, int status) {
  if (kind == StopKind::kGroupStop) {
    ::ptrace(PTRACE_LISTEN, pid, nullptr, nullptr);
    return;
  }
  const long signal = kind == StopKind::kSignal ? WSTOPSIG(status) : 0;
  ::ptrace(PTRACE_CONT, pid, nullptr, signal);
}

Result<ExecStop> read_exec_stop(pid_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/exe";
  ExecStop stop;
  stop.exe = AASM_TRY_CONTEXT(process::open_file(path, O_RDONLY), "opening /proc/PID/exe");
  stop.path = AASM_TRY(process::read_link(path));
  stop.start_time_ticks = AASM_TRY(process::read_proc_stat(pid)).start_time_ticks;
  return stop;
}

}  // namespace

Result<void> HelperClient::seize() {
  constexpr long kOptions = PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
  if (::ptrace(PTRACE_SEIZE, child_pid_, nullptr, kOptions) != 0) {
    return process::system_error("attaching to the launch child", errno);
  }
  traced_ = true;
  return {};
}

Result<ExecStop> HelperClient::wait_exec_stop(Timeout timeout) {
  const auto deadline = Clock::now() + timeout;
  std::chrono::microseconds nap(10);
  while (traced_ && Clock::now() < deadline) {
    int status = 0;
    const pid_t pid = ::waitpid(child_pid_, &status, WNOHANG | __WALL);
    if (pid < 0) {
      return process::system_error("waiting for the exec stop", errno);
    }
    if (pid == 0) {
      std::this_thread::sleep_for(nap);
      nap = std::min(nap * 2, std::chrono::microseconds(1000));
      continue;
    }
    const StopKind kind = kind_of(status);
    switch (kind) {
      case StopKind::kExec:
        return read_exec_stop(child_pid_);
      case StopKind::kEnded:
        traced_ = false;
        return Error(ErrorCode::kUnavailable, "the launch child ended instead of executing",
                     status_.exec_errno());
      case StopKind::kGroupStop:
      case StopKind::kContinued:
      case StopKind::kSignal:
        resume(child_pid_, kind, status);
        break;
    }
  }
  return Error(ErrorCode::kUnavailable, "no exec stop");
}

Result<void> HelperClient::detach() {
  if (!std::exchange(traced_, false)) {
    return {};
  }
  if (::ptrace(PTRACE_DETACH, child_pid_, nullptr, nullptr) != 0) {
    return process::system_error("detaching from the program", errno);
  }
  return {};
}

// The end of a traced process reaches its parent, the warden, only after its tracer has seen it.
void HelperClient::reap_tracee() {
  if (!traced_) {
    return;
  }
  int status = 0;
  const pid_t pid = ::waitpid(child_pid_, &status, WNOHANG | __WALL);
  if (pid < 0 || (pid == child_pid_ && !WIFSTOPPED(status))) {
    traced_ = false;
  }
}

}  // namespace aasm::backend_native
