#include <csignal>
#include <string_view>
#include <utility>

#include "aasm/process/pidfd.h"

#include "channel_worker.h"
#include "syscall_names.h"

// The part of the channel's thread that answers the launch child before the program runs.
namespace aasm::backend_native {
namespace {

std::string_view phase_step(Phase phase) {
  return phase == Phase::kCanary ? "canaries" : "handover";
}

}  // namespace

using schema::Error;
using schema::Result;

Result<void> ChannelWorker::serve_launch(const seccomp_notif& call, Phase phase) {
  // The answer of a caller that died meanwhile reaches nobody, which needs no mention here: the
  // launch fails because its child is gone.
  switch (gate(phase, script_, child_pid_, call)) {
    case GateAnswer::kLetRun:
      AASM_TRY(listener_.let_run(call.id));
      return {};
    case GateAnswer::kCanary:
      return serve_canary(call);
    case GateAnswer::kCanariesBegin:
      AASM_TRY(listener_.answer_zero(call.id));
      return {};
    case GateAnswer::kReadyForProgram: {
      const std::lock_guard lock(state_.mutex);
      state_.withheld = call.id;
      state_.changed.notify_all();
      return {};
    }
    case GateAnswer::kViolation:
      return end_launch(call, phase);
  }
  return end_launch(call, phase);
}

Result<void> ChannelWorker::serve_canary(const seccomp_notif& call) {
  Classification verdict = classify({call.data, call.pid, 0}, spec_);
  if (verdict.answer == AnswerKind::kKill) {
    verdict.answer = AnswerKind::kRefuse;
    verdict.event.os_errno = verdict.fallback_errno;
  }
  if (verdict.answer == AnswerKind::kUnlessInside && is_inside(call, &verdict.event)) {
    verdict.event.os_errno = kNoRefusal;
  }
  CanaryReport report;
  report.number = call.data.nr;
  if (verdict.answer == AnswerKind::kBroker) {
    report.reply = AASM_TRY(refuse_brokered_canary(call, &report.os_errno));
  } else {
    report.reply = AASM_TRY(answer(call, &verdict));
    report.os_errno = verdict.event.os_errno;
  }
  const std::lock_guard lock(state_.mutex);
  state_.reports.push_back(report);
  return {};
}

Result<void> ChannelWorker::end_launch(const seccomp_notif& call, Phase phase) {
  const SyscallArch arch = syscall_arch(call.data.arch, call.data.nr);
  fail(std::string(phase_step(phase)),
       Error(schema::ErrorCode::kIntegrity,
             "the launch helper made an unexpected call: " + syscall_name(arch, call.data.nr)));
  // It may be dead already; the refusal below holds in any case.
  (void)process::send_signal(child_.borrow(), SIGKILL);
  AASM_TRY(listener_.refuse(call.id, EPERM));
  return {};
}

}  // namespace aasm::backend_native
