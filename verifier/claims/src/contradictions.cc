#include "aasm/claims/contradictions.h"

#include <algorithm>

#include "aasm/claims/facts.h"

#include "ended_by_limit.h"
#include "inventory_checks.h"
#include "outcome_checks.h"
#include "probe_checks.h"
#include "text.h"

namespace aasm::claims {
namespace {

using schema::AttemptOutcome;
using schema::CapabilityProbed;

constexpr std::int64_t kSigKill = 9;

void check_setup_present(const RunFacts& facts, ContradictionLog& log) {
  const auto missing = [&](bool present, const char* kind) {
    if (!present) {
      log.note(ContradictionCode::kSetupRecordMissing, -1,
               std::string(kind) + " is missing though the program started");
    }
  };
  missing(facts.policy().has_value(), "policy.resolved");
  missing(facts.plan().has_value(), "plan.resolved");
  if (facts.plan() && facts.plan()->body.backend) {
    missing(facts.control_recorded(), "control.prepared");
    missing(facts.boundary_recorded(), "boundary.proved");
  }
}

// What was planned, and in the end claimed, rests on what this run's probe of the backend says.
void check_probe_present(const RunFacts& facts, ContradictionLog& log) {
  if (!facts.plan() || !facts.plan()->body.backend) {
    return;
  }
  const std::string& backend = facts.plan()->body.backend->id;
  const auto& probes = facts.probes();
  if (std::none_of(probes.begin(), probes.end(), [&](const HeldProbe& probe) {
        return probe.body.backend.id == backend && probe.mark.seq < facts.plan()->mark.seq;
      })) {
    log.note(ContradictionCode::kProbeMissing, facts.plan()->mark.seq,
             "no capability.probed of backend " + shown(backend) + " stands before the plan");
  }
}

// With nothing to enforce, nothing can have been denied by policy.
void check_denials(const RunFacts& facts, ContradictionLog& log) {
  const bool none = facts.opened()->body.isolation == schema::IsolationClass::kNone ||
                    (facts.plan() && !facts.plan()->body.backend);
  if (!none && facts.opened()->body.enforcement_mode != "disabled") {
    return;
  }
  for (const auto& [domain, name] : schema::EnumNames<schema::Domain>::kTokens) {
    if (facts.activity(domain).policy_denials() > 0) {
      log.note(ContradictionCode::kDeniedWithoutBoundary, facts.started()->mark.seq,
               std::string(name) + (none ? ": isolation none" : ": enforcement disabled"));
    }
  }
}

void check_exit_cause(const RunFacts& facts, ContradictionLog& log) {
  const schema::ProcessExited& exited = facts.exited()->body;
  std::string fault;
  if (exited.cause == schema::ExitCause::kExited && exited.signal) {
    fault = "exited, by a signal";
  } else if (exited.cause == schema::ExitCause::kSignalled && exited.status) {
    fault = "signalled, with a status";
  } else if (exited.cause == schema::ExitCause::kKilledByDenial &&
             (exited.signal != kSigKill || !facts.policy() || !facts.policy()->body.kills())) {
    fault = "killed_by_denial, and not by SIGKILL under on_denial kill";
  } else if (cannot_have_reached(facts.requirement(schema::Domain::kResource), exited)) {
    fault = "by a limit that policy does not state, or sooner than it states";
  }
  if (!fault.empty()) {
    log.note(ContradictionCode::kExitCauseDiffers, facts.exited()->mark.seq, fault);
  }
}

void check_canaries(const RunFacts& facts, ContradictionLog& log) {
  for (const Held<schema::Canary>& canary : facts.canaries()) {
    if (canary.body.inside.outcome == AttemptOutcome::kSucceeded) {
      log.note(ContradictionCode::kCanarySucceededInside, canary.mark.seq,
               "canary " + shown(canary.body.id) + " succeeded inside and the program started");
    }
  }
}

void check_first_image(const RunFacts& facts, ContradictionLog& log) {
  const schema::ProcessStarted& started = facts.started()->body;
  if (started.exe_read != schema::ExeRead::kAtExecStop || !facts.control_recorded()) {
    return;  // a read without the stop is never compared
  }
  const auto& images = facts.images();
  const bool prepared =
      started.exe_digest && std::any_of(images.begin(), images.end(), [&](const auto& image) {
        return image.digest == *started.exe_digest;
      });
  if (!prepared) {
    log.note(ContradictionCode::kStartedDigestNotPrepared, facts.started()->mark.seq,
             "the first image has none of the prepared digests");
  }
}

void check_started(const RunFacts& facts, ContradictionLog& log) {
  const std::int64_t seq = facts.started()->mark.seq;
  if (facts.refused()) {
    log.note(ContradictionCode::kStartedDespiteRefusal, seq, "the plan was refused");
  }
  if (!facts.failed_step().empty()) {
    log.note(ContradictionCode::kStartedAfterFailedStep, seq,
             "step " + shown(facts.failed_step()) + " failed");
  }
  check_setup_present(facts, log);
  check_outcomes(facts, log);
  check_canaries(facts, log);
  check_first_image(facts, log);
  check_controls(facts, log);
  if (facts.opened()) {
    check_denials(facts, log);
  }
}

// Empty when the reference holds.
std::string reference_fault(const HeldProbe& probe) {
  const CapabilityProbed& earlier = *probe.referenced;
  const auto& reference = *probe.body.reference;
  if (probe.referenced_leaf != reference.leaf || reference.seq >= probe.mark.seq) {
    return "another record than the reference names";
  }
  if (earlier.reference) {
    return "the referenced record measured nothing itself";
  }
  if (earlier.backend.id != probe.body.backend.id ||
      earlier.backend.version != probe.body.backend.version) {
    return "the referenced record is of another backend";
  }
  return earlier.conditions == probe.body.conditions ? "" : "measured under other conditions";
}

void check_probes(const RunFacts& facts, ContradictionLog& log) {
  for (const HeldProbe& probe : facts.probes()) {
    if (!probe.body.reference) {
      continue;
    }
    std::string fault = probe.referenced ? reference_fault(probe) : "";
    if (fault.empty() && facts.opened() && !(probe.body.conditions == facts.opened()->body.host)) {
      fault = "its conditions are not those of this run";
    }
    if (!fault.empty()) {
      log.note(ContradictionCode::kProbeReferenceDiffers, probe.mark.seq,
               "backend " + shown(probe.body.backend.id) + ": " + fault);
    }
  }
}

void check_totals(const RunFacts& facts, ContradictionLog& log) {
  const schema::ChannelTotals& said = facts.closed()->body.channel;
  const EventTotals& found = facts.totals();
  const std::int64_t seq = facts.closed()->mark.seq;
  const auto differs = [&](const char* what, std::int64_t stated, std::int64_t counted_here) {
    log.note(ContradictionCode::kEventTotalsDiffer, seq,
             std::string(what) + ": run.closed says " + std::to_string(stated) + ", the records " +
                 std::to_string(counted_here));
  };
  if (said.events != found.events) {
    differs("events", said.events, found.events);
  }
  if (said.actions != found.actions) {
    differs("actions", said.actions, found.actions);
  }
  // What was lost after the last batch stands in run.closed alone, so more is possible, less not.
  if (said.dropped < found.dropped) {
    differs("dropped", said.dropped, found.dropped);
  }
  if (said.nested_filter_event != found.first_nested_filter) {
    differs("nested filter", said.nested_filter_event.value_or(0),
            found.first_nested_filter.value_or(0));
  }
}

void check_closing(const RunFacts& facts, ContradictionLog& log) {
  const schema::RunClosed& closed = facts.closed()->body;
  const std::int64_t seq = facts.closed()->mark.seq;
  if (closed.program_started != facts.started().has_value()) {
    log.note(ContradictionCode::kClosingDiffers, seq,
             "program_started and the presence of process.started differ");
  }
  if (closed.ending == schema::RunEnding::kFinished && !facts.exited()) {
    log.note(ContradictionCode::kClosingDiffers, seq, "finished without process.exited");
  }
  check_totals(facts, log);
}

}  // namespace

void ContradictionLog::note(ContradictionCode code, std::int64_t seq, std::string_view detail) {
  const auto [at, fresh] = entries_.try_emplace(code);
  if (fresh) {
    at->second = {code, 0, seq, std::string(detail)};
  }
  at->second.count = add_saturating(at->second.count, 1);
}

std::vector<Contradiction> ContradictionLog::list() const {
  std::vector<Contradiction> all;
  all.reserve(entries_.size());
  for (const auto& entry : entries_) {
    all.push_back(entry.second);
  }
  return all;
}

ContradictionLog all_contradictions(const RunFacts& facts) {
  ContradictionLog log = facts.log();
  if (facts.parts_missing()) {
    log.note(ContradictionCode::kPartMissing, -1, "the last part of a list is missing");
  }
  if (facts.started()) {
    check_started(facts, log);
  }
  const auto& recomputed = facts.recomputed_plan_digest();
  if (facts.plan() && recomputed && *recomputed != facts.plan()->body.digest) {
    log.note(ContradictionCode::kPlanDigestDiffers, facts.plan()->mark.seq,
             "the plan's digest is not that of its content");
  }
  check_probe_present(facts, log);
  check_probes(facts, log);
  check_plan_against_probe(facts, log);
  check_inventory(facts, log);
  if (facts.exited()) {
    check_exit_cause(facts, log);
  }
  if (facts.closed()) {
    check_closing(facts, log);
  }
  return log;
}

}  // namespace aasm::claims
