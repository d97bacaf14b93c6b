#include "lifecycle.h"

#include <poll.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "aasm/process/proc_status.h"

namespace aasm::launcher {
namespace {

// Places in the list that poll(2) waits on; the relay of signals is the one between.
constexpr std::size_t kExit = 0;
constexpr std::size_t kFailure = 2;

bool is_stopped(std::int64_t pid) {
  const auto stat = process::read_proc_stat(static_cast<pid_t>(pid));
  return stat && stat->state == 'T';
}

// The program may be gone already; then there is nobody left to tell.
void pass_on(planner::RunningExecution& running, int signal) {
  if (signal == SIGCONT && !is_stopped(running.started().pid)) {
    return;  // meant for us: the program has gone on
  }
  [[maybe_unused]] const auto delivered = running.send_signal(signal);
}

void stop_with_program(planner::RunningExecution& running, int signal, const SignalRelay& relay,
                       TerminalState& terminal) {
  const std::int64_t pid = running.started().pid;
  terminal.pause();
  if (relay.stop_with(signal, [pid] { return is_stopped(pid); })) {
    terminal.resume();
    pass_on(running, SIGCONT);
  }
}

}  // namespace

std::optional<schema::Error> supervise(planner::RunningExecution& running,
                                       schema::EvidenceSink& sink, const SignalRelay& relay,
                                       TerminalState& terminal, WallClock& clock) {
  std::array<pollfd, 3> waits{
      {{running.exit_fd(), POLLIN, 0},
       {relay.fd(), POLLIN, 0},
       {sink.failure_fd(), POLLIN, 0}}};  // poll(2) skips a descriptor of -1
  std::optional<schema::Error> evidence_error;
  while (true) {
    if (poll(waits.data(), waits.size(), clock.wait_ms()) < 0 && errno != EINTR) {
      running.terminate(schema::ExitCause::kEvidenceFailure);
      return schema::Error(schema::ErrorCode::kInternal, "poll on the running program", errno);
    }
    if ((waits[kFailure].revents & POLLIN) != 0) {
      evidence_error = sink.failure();
      running.terminate(schema::ExitCause::kEvidenceFailure);
      waits[kFailure].fd = -1;
    }
    while (const std::optional<int> signal = relay.next()) {
      pass_on(running, *signal);
    }
    const planner::ProgramState state =
        waits[kExit].revents == 0 ? planner::ProgramState{} : running.take_state();
    if (state.ended) {
      return evidence_error;
    }
    clock.act(running);
    if (state.stop_signal != 0 && !evidence_error && !clock.over() && sink.flush()) {
      stop_with_program(running, state.stop_signal, relay, terminal);
    }
  }
}

}  // namespace aasm::launcher
