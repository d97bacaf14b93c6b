#include "prepared.h"

#include <fcntl.h>
#include <poll.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "aasm/process/pidfd.h"
#include "aasm/process/proc_status.h"

#include "bpf.h"
#include "controls.h"
#include "remedy.h"
#include "running.h"

namespace aasm::backend_native {
namespace {

using planner::LaunchFailure;
using schema::Error;
using schema::ErrorCode;
using schema::ProcessStarted;
using schema::Result;
using std::chrono::milliseconds;

// Each is thousands of times what the step takes; they only end what hangs.
constexpr milliseconds kStartPatience(5000);
constexpr milliseconds kStepPatience(5000);
constexpr milliseconds kExecPatience(30000);

}  // namespace

NativePrepared::NativePrepared(LaunchMaterial material, HelperClient helper,
                               std::unique_ptr<AuditWitness> witness)
    : material_(std::move(material)), helper_(std::move(helper)), witness_(std::move(witness)) {}

Result<std::unique_ptr<planner::PreparedExecution>> NativePrepared::create(
    LaunchMaterial material) {
  const process::Fd program = AASM_TRY_CONTEXT(
      process::open_file(material.request.helper_path, O_RDONLY), "opening the launch helper");
  std::unique_ptr<AuditWitness> witness;
  if (material.request.spec.witness) {
    witness = AuditWitness::open(*material.request.spec.witness, material.ruleset.abi);
  }
  HelperClient helper =
      AASM_TRY(HelperClient::begin(launch_helper_spec(material, program.borrow())));
  std::unique_ptr<NativePrepared> prepared(
      new NativePrepared(std::move(material), std::move(helper), std::move(witness)));
  prepared->describe_control();
  AASM_TRY(prepared->helper_->wait_started(kStartPatience));
  if (prepared->witness_) {
    prepared->witness_->follow(prepared->helper_->child_pid());
  }
  Result<std::optional<process::Fd>> listener =
      prepared->helper_->wait_filter_installed(kStepPatience);
  if (!listener) {
    prepared->fail_from(listener.error());
  } else if (!*listener) {
    prepared->await_helpers_end();
  } else if (const auto opened = prepared->open_channel(std::move(**listener)); !opened) {
    prepared->fail_from(opened.error());
  } else {
    prepared->hand_out_control();
    prepared->await_canaries();
  }
  prepared->write_report();
  return std::unique_ptr<planner::PreparedExecution>(std::move(prepared));
}

Result<void> NativePrepared::open_channel(process::Fd listener) {
  if (material_.memory) {
    AASM_TRY(material_.memory.take(helper_->child_pid()));
  }
  report_pipe_ = AASM_TRY(process::duplicate(helper_->report_pipe()));
  ChannelSetup setup;
  setup.listener = std::move(listener);
  setup.report_pipe = helper_->take_report_pipe();
  setup.spec = material_.filter;
  setup.script = channel_script(material_.canaries);
  setup.child = helper_->child_pid();
  setup.warden = helper_->warden_pid();
  if (material_.inner_ruleset) {
    setup.broker = BrokerSetup{helper_->take_broker_socket(), helper_->broker_pid()};
  }
  channel_ = AASM_TRY(Channel::open(std::move(setup)));
  return {};
}

void NativePrepared::await_canaries() {
  const Result<std::vector<CanaryReport>> reports = channel_->await_canaries(kStepPatience);
  if (!reports) {
    fail_from(reports.error());
    return;
  }
  judge(reported_entries(material_.canaries, *reports));
}

// A helper that says its filter is on and has no listener: it runs its canaries and ends at the
// rendezvous that nobody answers.
void NativePrepared::await_helpers_end() {
  const auto ended = helper_->wait_exit(kStepPatience);
  if (!ended) {
    fail_from(ended.error());
    return;
  }
  judge({});
  if (!report_.failure) {
    fail_from(Error(ErrorCode::kIntegrity, "the filter has no listener"));
  }
}

// The helper's own word on the step wins over what the supervisor saw of it.
void NativePrepared::fail_from(const Error& error) {
  LaunchFailure failure;
  failure.detail = error.message();
  failure.os_errno = error.os_errno();
  failure.step = "launch_helper";
  const HelperResults results = helper_->results();
  if (results.failed_step) {
    const wire::StepReport& step = results.steps.at(static_cast<std::size_t>(*results.failed_step));
    failure.step = wire::step_name(*results.failed_step);
    failure.os_errno = step.os_errno;
    failure.detail = step_failure_text(*results.failed_step, step.os_errno);
  } else if (channel_ && channel_->failure()) {
    failure = *channel_->failure();
    failure.ending = schema::RunEnding::kPrepareFailed;
  }
  report_.failure = std::move(failure);
}

void NativePrepared::judge(const std::set<std::uint32_t>& reported) {
  CanaryVerdict verdict = judge_canaries(material_.canaries, helper_->results().script, reported);
  proved_ = std::move(verdict.proved);
  material_.ipc_objects = {};
  report_.failure = std::move(verdict.failure);
}

// The helper tries its canaries meanwhile.
void NativePrepared::hand_out_control() {
  if (!material_.request.on_installed) {
    return;
  }
  for (schema::ControlPrepared& control : control_report(helper_->results())) {
    material_.request.on_installed(std::move(control));
  }
  has_handed_out_control_ = true;
}

// Before the helper has reported anything, since it is at work meanwhile.
void NativePrepared::describe_control() {
  const schema::SeccompDetail seccomp = seccomp_detail(material_.filter, material_.program);
  control_ =
      control_records(list_controls({material_.request,
                                     material_.ruleset,
                                     material_.filter,
                                     seccomp,
                                     {},
                                     material_.cut,
                                     material_.inner_ruleset ? &*material_.inner_ruleset : nullptr,
                                     material_.limits,
                                     material_.memory ? &material_.memory : nullptr}),
                      material_.images, material_.target.bound, "");
}

// Once.
std::vector<schema::ControlPrepared> NativePrepared::control_report(const HelperResults& results) {
  const std::string failed_step =
      results.failed_step && report_.failure &&
              report_.failure->ending == schema::RunEnding::kPrepareFailed
          ? wire::step_name(*results.failed_step)
          : "";
  report_steps(results.steps, failed_step, control_);
  return std::move(control_);
}

void NativePrepared::write_report() {
  if (const auto clock = wall_clock(material_.request.spec.requirements)) {
    report_.wall_clock = clock->limit;
  }
  if (!has_handed_out_control_) {
    report_.control = control_report(helper_->results());
  }
  if (proved_) {
    report_.proved = proved_records(std::move(*proved_));
  }
}

Result<planner::StartOutcome> NativePrepared::start(planner::ActivityEmitter emit) {
  if (report_.failure || !channel_ || !helper_) {
    return Error(ErrorCode::kInvalidArgument, "this execution must not be started");
  }
  auto gate = std::make_shared<EmitGate>(std::move(emit));
  EndWatch watch = AASM_TRY(EndWatch::open());
  AASM_TRY(watch.add(helper_->exit_fd().get()));
  AASM_TRY(watch.add(channel_->ended_fd()));
  const Result<void> seized = helper_->seize();
  planner::StartOutcome outcome;
  if (witness_) {
    witness_->mark_start();
  }
  const Result<void> gone =
      channel_->release_go([gate](schema::RecordBody body) { gate->emit(std::move(body)); });
  if (!gone) {
    outcome.failure = exec_failure(gone.error());
    return outcome;
  }
  const Result<ProcessStarted> started = watch_exec(report_pipe_.borrow(), seized);
  if (!started) {
    outcome.failure = exec_failure(started.error());
    return outcome;
  }
  outcome.running = std::make_unique<NativeRunning>(
      NativeRunning::Parts{*started, std::move(*helper_), std::move(channel_), std::move(gate),
                           std::move(material_.memory), std::move(witness_), std::move(watch)});
  helper_.reset();
  return outcome;
}

Result<ProcessStarted> NativePrepared::watch_exec(process::BorrowedFd report_pipe,
                                                  const Result<void>& seized) {
  if (!seized) {
    return await_exec_unwatched(report_pipe, seized.error().message());
  }
  return read_at_exec_stop();
}

Result<ProcessStarted> NativePrepared::read_at_exec_stop() {
  const ExecStop stop = AASM_TRY(helper_->wait_exec_stop(kExecPatience));
  ProcessStarted started;
  started.pid = helper_->child_pid();
  started.start_time_ticks = stop.start_time_ticks;
  started.bound = material_.target.bound;
  started.exe = schema::PathBytes(stop.path);
  const Result<process::FileDigest> digest = material_.digests.digest_of(stop.exe.borrow());
  if (digest) {
    started.exe_read = schema::ExeRead::kAtExecStop;
    started.exe_digest = digest->digest;
  } else {
    started.exe_not_read_reason = digest.error().message();
  }
  AASM_TRY(helper_->detach());
  return started;
}

// Without a tracer the end of the report pipe tells that the exec has happened, or that the child
// is gone; the status page tells which. A child that was killed inside the exec itself looks like a
// program that was killed at once.
Result<ProcessStarted> NativePrepared::await_exec_unwatched(process::BorrowedFd report_pipe,
                                                            std::string reason) {
  // The byte written before the filter may still be in the pipe: only the hang-up counts.
  pollfd pipe = {report_pipe.get(), 0, 0};
  const auto deadline = std::chrono::steady_clock::now() + kExecPatience;
  while ((pipe.revents & (POLLHUP | POLLERR)) == 0) {
    const auto left =
        std::chrono::duration_cast<milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) {
      return Error(ErrorCode::kUnavailable, "the program was not executed in time");
    }
    if (::poll(&pipe, 1, static_cast<int>(left.count())) < 0 && errno != EINTR) {
      return process::system_error("waiting for the exec", errno);
    }
  }
  const HelperResults results = helper_->results();
  if (results.exec_errno != 0 || results.failed_step || !results.came_to(wire::Step::kExec)) {
    return Error(ErrorCode::kUnavailable, "the program was not executed", results.exec_errno);
  }
  ProcessStarted started;
  started.pid = helper_->child_pid();
  started.bound = material_.target.bound;
  started.exe_not_read_reason = std::move(reason);
  const Result<process::ProcStat> stat = process::read_proc_stat(helper_->child_pid());
  started.start_time_ticks = stat ? stat->start_time_ticks : 0;
  return started;
}

LaunchFailure NativePrepared::exec_failure(const Error& error) const {
  LaunchFailure failure;
  failure.ending = schema::RunEnding::kExecFailed;
  failure.step = wire::step_name(wire::Step::kExec);
  failure.detail = error.message();
  failure.os_errno = error.os_errno();
  const HelperResults results = helper_->results();
  if (results.exec_errno != 0) {
    failure.os_errno = results.exec_errno;
    failure.detail = "executing " + material_.request.spec.program.display() + ": " +
                     ::strerror(results.exec_errno);
    if (results.exec_errno == ENOENT) {
      failure.detail += " (the program is there; the loader or interpreter it names is not)";
    } else if (results.exec_errno == EACCES) {
      failure.detail +=
          " (the policy, or a mode, does not let the program or its interpreter be "
          "executed)";
    }
  } else if (channel_->failure()) {
    failure.step = channel_->failure()->step;
    failure.detail = channel_->failure()->detail;
  }
  return failure;
}

}  // namespace aasm::backend_native
