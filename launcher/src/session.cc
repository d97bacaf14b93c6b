#include "aasm/launcher/session.h"

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "aasm/schema/policy_parts.h"

#include "lifecycle.h"
#include "recorder.h"
#include "signals.h"
#include "terminal.h"
#include "wall_clock.h"

namespace aasm::launcher {
namespace {

using schema::Result;
using schema::RunEnding;

// Microseconds since its beginning or since it was last asked.
class Stopwatch {
 public:
  explicit Stopwatch(Clock::time_point begin) : last_(begin) {}

  std::int64_t lap_us() {
    const auto now = Clock::now();
    const auto spent = std::chrono::duration_cast<std::chrono::microseconds>(now - last_);
    last_ = now;
    return spent.count();
  }

 private:
  Clock::time_point last_;
};

// One run. The members are the steps of run(), which reads as a table of contents.
class Session {
 public:
  Session(schema::EvidenceSink& sink, SessionRequest request)
      : recorder_(sink, std::move(request.observer)),
        request_(std::move(request)),
        watch_(request_.began) {}

  SessionEnd run() {
    end_.times.setup_us = watch_.lap_us();
    // An error on this path is one of evidence: what could not be written ends the run.
    if (Result<void> done = steps(); !done) {
      end_.ending = RunEnding::kEvidenceFailure;
      end_.evidence_error = std::move(done).error();
      running_.reset();
      prepared_.reset();
    }
    return std::move(end_);
  }

 private:
  Result<void> steps() {
    AASM_TRY(record_decisions());
    if (const auto* refused = std::get_if<schema::PlanRefused>(&request_.plan)) {
      end_.refused = *refused;
      return close(RunEnding::kRefused);
    }
    // Before there is anybody to wait for an answer of ours.
    const SignalRelay relay = AASM_TRY(SignalRelay::create());
    request_.launch.signal_mask = relay.caller_mask();
    if (!prepare()) {
      return close(end_.failure->ending);
    }
    AASM_TRY(make_durable());
    if (!start()) {
      return close(end_.failure->ending);
    }
    AASM_TRY(watch(relay));
    return close(end_.evidence_error ? RunEnding::kEvidenceFailure : RunEnding::kFinished);
  }

  Result<void> record_decisions() {
    AASM_TRY(recorder_.open(request_.run, request_.opened));
    AASM_TRY(keep_documents());
    for (schema::PolicyResolved& part : schema::split_policy(std::move(request_.policy))) {
      recorder_.submit(std::move(part));
    }
    for (const schema::CapabilityProbed& probe : request_.probes) {
      recorder_.submit(probe);
    }
    std::visit([&](const auto& plan) { recorder_.submit(plan); }, request_.plan);
    return {};
  }

  Result<void> keep_documents() {
    if (!request_.policy_document.empty()) {
      request_.policy.blob =
          AASM_TRY(recorder_.sink().stage_blob(std::move(request_.policy_document)));
    }
    for (std::size_t i = 0; i < request_.extended_documents.size(); ++i) {
      request_.policy.extends->at(i).blob =
          AASM_TRY(recorder_.sink().stage_blob(std::move(request_.extended_documents[i])));
    }
    return {};
  }

  // False when the boundary could not be installed or proved; end_.failure says why.
  bool prepare() {
    request_.launch.plan = std::get<schema::PlanResolved>(request_.plan);
    request_.launch.on_installed = [this](schema::ControlPrepared control) {
      recorder_.submit(std::move(control));
    };
    Result<std::unique_ptr<planner::PreparedExecution>> prepared =
        request_.backend != nullptr ? request_.backend->prepare(request_.launch)
                                    : request_.unconfined(request_.launch);
    if (!prepared) {
      end_.failure =
          planner::LaunchFailure{RunEnding::kPrepareFailed, "prepare", prepared.error().message(),
                                 prepared.error().os_errno()};
      return false;
    }
    prepared_ = std::move(prepared).value();
    const planner::PreparationReport& report = prepared_->report();
    for (const schema::ControlPrepared& control : report.control) {
      recorder_.submit(control);
    }
    for (const schema::BoundaryProved& proved : report.proved) {
      recorder_.submit(proved);
    }
    end_.failure = report.failure;
    return !end_.failure && make_clock(report.wall_clock);
  }

  bool make_clock(std::optional<std::chrono::seconds> limit) {
    Result<WallClock> clock = WallClock::create(limit);
    if (!clock) {
      end_.failure = planner::LaunchFailure{RunEnding::kPrepareFailed, "wall_clock",
                                            clock.error().message(), clock.error().os_errno()};
      return false;
    }
    clock_ = std::move(*clock);
    return true;
  }

  Result<void> make_durable() {
    end_.times.prepare_us = watch_.lap_us();
    AASM_TRY(recorder_.sink().flush());
    end_.times.commit_before_us = watch_.lap_us();
    return {};
  }

  // False when the program could not be executed; end_.failure says why.
  bool start() {
    Result<planner::StartOutcome> outcome =
        prepared_->start([this](schema::RecordBody batch) { recorder_.submit(std::move(batch)); });
    end_.times.start_us = watch_.lap_us();
    if (!outcome) {
      end_.failure = planner::LaunchFailure{RunEnding::kExecFailed, "start",
                                            outcome.error().message(), outcome.error().os_errno()};
      return false;
    }
    if (outcome->failure) {
      end_.failure = std::move(outcome->failure);
      return false;
    }
    running_ = std::move(outcome->running);
    end_.program_started = true;
    recorder_.submit(running_->started());
    recorder_.sink().start_streaming();
    return true;
  }

  Result<void> watch(const SignalRelay& relay) {
    clock_->start();
    end_.evidence_error = supervise(*running_, recorder_.sink(), relay, terminal_, *clock_);
    Result<schema::ProcessExited> exited = running_->finish();
    end_.times.program_us = watch_.lap_us();
    if (!exited) {
      end_.boundary_failed = true;
      return std::move(exited).error();
    }
    if (clock_->over() && exited->cause != schema::ExitCause::kEvidenceFailure) {
      exited->cause = schema::ExitCause::kWallClock;
    }
    terminal_.restore(exited->signal.has_value());
    end_.exited = *exited;
    recorder_.submit(*exited);
    if (exited->cause == schema::ExitCause::kEvidenceFailure && !end_.evidence_error) {
      end_.evidence_error = running_->fault();
      end_.boundary_failed = true;
    }
    return {};
  }

  Result<void> close(RunEnding ending) {
    end_.ending = ending;
    schema::RunClosed body;
    body.ending = ending;
    body.program_started = end_.program_started;
    if (end_.failure) {
      body.detail = end_.failure->step + ": " + end_.failure->detail;
      if (end_.failure->os_errno != 0) {
        body.os_errno = end_.failure->os_errno;
      }
    }
    if (request_.notice && end_.program_started) {
      end_.notice = request_.notice();
      body.detail = end_.notice;
    }
    if (end_.evidence_error) {
      body.detail = end_.evidence_error->message();
    }
    if (running_) {
      body.channel = running_->channel();
    }
    (end_.program_started ? end_.times.program_us : end_.times.prepare_us) += watch_.lap_us();
    end_.closed = AASM_TRY(recorder_.close(std::move(body)));
    end_.times.commit_after_us = watch_.lap_us();
    running_.reset();
    prepared_.reset();
    if (request_.settle) {
      request_.settle();
    }
    return {};
  }

  Recorder recorder_;
  SessionRequest request_;
  SessionEnd end_;
  Stopwatch watch_;
  TerminalState terminal_;
  std::optional<WallClock> clock_;
  std::unique_ptr<planner::PreparedExecution> prepared_;
  std::unique_ptr<planner::RunningExecution> running_;
};

}  // namespace

SessionEnd run_session(schema::EvidenceSink& sink, SessionRequest request) {
  return Session(sink, std::move(request)).run();
}

}  // namespace aasm::launcher
