#include "lifecycle.h"

#include <poll.h>

#include <array>
#include <cerrno>

namespace aasm::launcher {
namespace {

// Places in the list that poll(2) waits on; the relay of signals is the one between.
constexpr std::size_t kExit = 0;
constexpr std::size_t kFailure = 2;

}  // namespace

std::optional<schema::Error> supervise(planner::RunningExecution& running,
                                       const schema::EvidenceSink& sink, const SignalRelay& relay) {
  std::array<pollfd, 3> waits{
      {{running.exit_fd(), POLLIN, 0},
       {relay.fd(), POLLIN, 0},
       {sink.failure_fd(), POLLIN, 0}}};  // poll(2) skips a descriptor of -1
  std::optional<schema::Error> evidence_error;
  while (true) {
    if (poll(waits.data(), waits.size(), -1) < 0 && errno != EINTR) {
      running.terminate(schema::ExitCause::kEvidenceFailure);
      return schema::Error(schema::ErrorCode::kInternal, "poll on the running program", errno);
    }
    if ((waits[kFailure].revents & POLLIN) != 0) {
      evidence_error = sink.failure();
      running.terminate(schema::ExitCause::kEvidenceFailure);
      waits[kFailure].fd = -1;
    }
    while (const std::optional<int> signal = relay.next()) {
      // The program may be gone already; then there is nobody left to tell.
      [[maybe_unused]] const auto delivered = running.send_signal(*signal);
    }
    if (waits[kExit].revents != 0) {
      return evidence_error;
    }
  }
}

}  // namespace aasm::launcher
