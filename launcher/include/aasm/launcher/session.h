#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "aasm/planner/backend.h"
#include "aasm/schema/evidence_sink.h"
#include "aasm/schema/record.h"
#include "aasm/schema/result.h"

namespace aasm::launcher {

using Clock = std::chrono::steady_clock;

// Everything that was decided before the launch. The plan is the very one a dry run would print.
struct SessionRequest {
  schema::RunId run;
  schema::RunOpened opened;  // the sink fills run key and checkpoint
  schema::PolicyResolved policy;
  std::string policy_document;                   // bytes kept as a blob; empty: none was read
  std::vector<std::string> extended_documents;   // bytes of policy.extends, in its order
  std::vector<schema::CapabilityProbed> probes;  // in the order they were made
  std::variant<schema::PlanResolved, schema::PlanRefused> plan;
  planner::Backend* backend = nullptr;  // borrowed; null when refused or with isolation none
  // Prepares the launch when `backend` is null and the plan is no refusal.
  std::function<schema::Result<std::unique_ptr<planner::PreparedExecution>>(
      const planner::LaunchRequest&)>
      unconfined;
  planner::LaunchRequest launch;  // spec, argv, environment, descriptors, paths of ours
  // Sees every record as staged, in order, one call at a time, from whichever thread submits it.
  // It must not call back into the session. May be empty.
  std::function<void(const schema::RecordBody&)> observer;
  // Asked when the program has ended: a sentence for run.closed about what was noticed, or nothing.
  std::function<std::string()> notice;
  // Called at the end, while signals are still held back: waits for what the sink does on its own
  // once the run is closed. May be empty.
  std::function<void()> settle;
  Clock::time_point began = Clock::now();  // when this process turned to the run: for the times
};

// How long each phase took, in microseconds: for bench/ and the status line. Each begins where the
// one before ended, so together they are all the time from `began` to the end of the session.
struct PhaseTimes {
  std::int64_t setup_us = 0;          // options read, ledger opened, launch gathered and planned
  std::int64_t prepare_us = 0;        // decisions staged, boundary installed, canaries run
  std::int64_t commit_before_us = 0;  // everything above the line made durable
  std::int64_t start_us = 0;          // from the go to the first instruction of the program
  std::int64_t program_us = 0;        // from the start to its end
  std::int64_t commit_after_us = 0;   // closing records and checkpoint made durable
};

// How the run ended. Exactly what the exit status, the status line and the report are made from.
struct SessionEnd {
  schema::RunEnding ending = schema::RunEnding::kRefused;
  bool program_started = false;
  std::optional<schema::PlanRefused> refused;     // ending refused
  std::optional<planner::LaunchFailure> failure;  // failed after plan.resolved, before the start
  std::optional<schema::ProcessExited> exited;    // when the program ran and its end was seen
  std::string notice;                             // of request.notice
  std::optional<schema::Error> evidence_error;    // ending evidence_failure
  bool boundary_failed = false;             // it is of the warden or the channel, not of the ledger
  std::optional<schema::ClosedRun> closed;  // absent when closing could not be recorded
  bool proof_lost = false;  // the caller's: a receipt or report that was asked for is not written
  PhaseTimes times;
};

// Runs one session from run.opened to run.closed (docs/spec/product.md section 3). Everything up to
// boundary.proved is durable before the program is executed; a record that cannot be written stops
// the launch or ends the tree. Signals sent to this process are passed on to the program; terminal
// state is put back. Call from the main thread, with no other thread running but the sink's.
SessionEnd run_session(schema::EvidenceSink& sink, SessionRequest request);

}  // namespace aasm::launcher
