#include "aasm/launcher/status_line.h"

#include <algorithm>
#include <cerrno>

namespace aasm::launcher {
namespace {

using schema::LaunchRefusal;
using schema::RunEnding;

int refused_status(const schema::PlanRefused& refused) {
  const auto says = [&](LaunchRefusal wanted) {
    return std::all_of(refused.refusals.begin(), refused.refusals.end(),
                       [&](const schema::Refusal& one) { return one.launch == wanted; });
  };
  if (says(LaunchRefusal::kProgramNotFound)) {
    return kExitNotFound;
  }
  return says(LaunchRefusal::kProgramNotExecutable) ? kExitNotExecutable : kExitRefused;
}

int exec_failed_status(int os_errno) {
  if (os_errno == ENOENT) {
    return kExitNotFound;
  }
  return os_errno == EACCES || os_errno == ENOEXEC || os_errno == EPERM ? kExitNotExecutable
                                                                        : kExitRefused;
}

int program_status(const schema::ProcessExited& exited) {
  if (exited.cause == schema::ExitCause::kWallClock) {
    return kExitWallClock;
  }
  return static_cast<int>(exited.signal ? 128 + *exited.signal : *exited.status);
}

std::string text_of(const std::optional<std::int64_t>& number) {
  return number ? std::to_string(*number) : std::string();
}

}  // namespace

int exit_status(const SessionEnd& end) {
  switch (end.ending) {
    case RunEnding::kFinished:
      return end.exited && !end.proof_lost ? program_status(*end.exited) : kExitEvidenceFailure;
    case RunEnding::kRefused:
      return end.refused ? refused_status(*end.refused) : kExitRefused;
    case RunEnding::kExecFailed:
      return end.failure ? exec_failed_status(end.failure->os_errno) : kExitRefused;
    case RunEnding::kPrepareFailed:
    case RunEnding::kCanaryFailed:
    case RunEnding::kSelfProtectionFailed:
      return kExitRefused;
    case RunEnding::kEvidenceFailure:
      return kExitEvidenceFailure;
  }
  std::abort();
}

std::string status_line(const SessionEnd& end, const std::optional<schema::RunId>& run) {
  std::string line = "aasm.status/1 ending=";
  line += token(end.ending);
  line += end.program_started ? " started=true" : " started=false";
  line += " exit=" + std::to_string(exit_status(end));
  line += " status=" + (end.exited ? text_of(end.exited->status) : std::string());
  line += " signal=" + (end.exited ? text_of(end.exited->signal) : std::string());
  line += " cause=";
  if (end.exited) {
    line += token(end.exited->cause);
  }
  line += " run=" + (run ? run->text() : std::string());
  line += " closed_seq=" + (end.closed ? std::to_string(end.closed->closed_seq) : std::string());
  line += " setup_us=" + std::to_string(end.times.setup_us);
  line += " prepare_us=" + std::to_string(end.times.prepare_us);
  line += " commit_before_us=" + std::to_string(end.times.commit_before_us);
  line += " start_us=" + std::to_string(end.times.start_us);
  line += " program_us=" + std::to_string(end.times.program_us);
  line += " commit_after_us=" + std::to_string(end.times.commit_after_us);
  line += '\n';
  return line;
}

}  // namespace aasm::launcher
