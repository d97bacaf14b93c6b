#include "ledger_check.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "blob_check.h"
#include "checkpoint_check.h"
#include "key_positions.h"
#include "open_hostile.h"
#include "references.h"
#include "run_check.h"
#include "run_claims.h"
#include "salvage.h"
#include "scan.h"
#include "spill.h"
#include "workers.h"

namespace aasm::verifier {
namespace {

using schema::Result;

// The quorum of the trust file is asked of the largest checkpoint that is right, with --run of one
// that covers the run (docs/spec/verify-rules.md, Witnesses). What no checkpoint covers has its own
// findings.
void judge_quorum(const VerifyRequest& request, Outcome& outcome) {
  const Coverage& coverage = outcome.coverage;
  if (!request.trust.policy.requires_witness() || coverage.records == 0) {
    return;
  }
  std::uint64_t needed = coverage.signed_up_to;
  if (!request.run.empty() && !outcome.runs.newest.empty()) {
    const auto end = static_cast<std::uint64_t>(outcome.runs.newest.back().last_seq) + 1;
    needed = std::min(needed, end);
  }
  if (needed == 0 || coverage.witnessed_up_to < needed) {
    outcome.findings.add(FindingCode::kWitnessQuorumNotMet, -1,
                         {.expected = std::to_string(needed) + " records witnessed",
                          .actual = std::to_string(coverage.witnessed_up_to)});
  }
}

Result<void> check_all(const VerifyRequest& request, sqlite::Connection& connection, Spill& spill,
                       Outcome& outcome) {
  KeyPositions keys(request.trust, request.explicit_trust, outcome.findings);
  CheckpointCheck checkpoints =
      AASM_TRY(CheckpointCheck::open(connection, request.trust.policy, outcome.findings));
  References references(request, outcome.findings, outcome.coverage);
  RunClaims claims(request, connection, outcome);
  RunCheck runs(request, spill, claims, outcome);
  Workers workers(request.threads);

  Scan scan(request, {keys, checkpoints, references, runs}, workers, outcome);
  AASM_TRY(scan.run(connection));
  if (runs.limit_reached()) {
    return {};  // what was not read may name blobs, end runs or carry witnesses
  }
  runs.finish();
  claims.finish();
  keys.finish();
  if (keys.known()) {
    outcome.trust = keys.outcome();
  }
  judge_quorum(request, outcome);
  AASM_TRY(check_blobs(connection, spill, outcome));
  return check_anchors(connection, outcome);
}

struct Opened {
  sqlite::Connection ledger;
  Spill spill;
};

// The names stand only here, while SQLite opens by them.
std::optional<Opened> open_by_name(const Snapshot& snapshot, ScratchDir& scratch,
                                   FindingLog& findings) {
  std::string path;
  for (std::size_t i = 0; i < snapshot.copies.size(); ++i) {
    Step<std::string> named =
        scratch.give_name(snapshot.copies[i], "ledger.db" + snapshot.suffixes[i]);
    if (named.fault() != nullptr) {
      add_fault(findings, *named.fault());
      return std::nullopt;
    }
    path = i == 0 ? *named.value() : path;
  }
  Step<std::string> spill_path = scratch.path_for("spill.db");
  if (spill_path.fault() != nullptr) {
    add_fault(findings, *spill_path.fault());
    return std::nullopt;
  }
  Result<sqlite::Connection> connection = open_hostile(path);
  if (!connection) {
    add_database_error(findings, connection.error());
    return std::nullopt;
  }
  Result<Spill> spill = Spill::make(*spill_path.value());
  if (!spill) {
    findings.add(FindingCode::kScratchUnusable, -1, {.detail = spill.error().message()});
    return std::nullopt;
  }
  return Opened{std::move(connection).value(), std::move(spill).value()};
}

std::optional<Opened> open_nameless(const Snapshot& snapshot, ScratchDir& scratch,
                                    FindingLog& findings) {
  const EndingSignalsBlocked blocked;
  std::optional<Opened> opened = open_by_name(snapshot, scratch, findings);
  scratch.forget_names();
  return opened;
}

// Of a damaged file: every page of it could be in two rows, which one change can bring about.
std::uint64_t most_kept(const VerifyRequest& request, const Outcome& outcome) {
  std::uint64_t bytes = 0;
  for (const CopiedFile& file : outcome.files) {
    bytes += 2 * file.size;
  }
  return std::min(bytes, request.max_bytes == 0 ? kDefaultMaxBytes : request.max_bytes);
}

}  // namespace

void check_ledger(const VerifyRequest& request, const Snapshot& snapshot, ScratchDir& scratch,
                  Outcome& outcome) {
  std::optional<Opened> opened = open_nameless(snapshot, scratch, outcome.findings);
  if (!opened) {
    return;
  }
  const Soundness soundness = prepare_hostile(opened->ledger, outcome.findings);
  if (soundness == Soundness::kUnusable) {
    return;
  }
  const bool damaged = soundness == Soundness::kDamaged;
  if (damaged && !salvage(opened->ledger, opened->spill.database(), most_kept(request, outcome),
                          outcome.findings)) {
    return;
  }
  sqlite::Connection& rows = damaged ? opened->spill.database() : opened->ledger;
  const Result<void> done = check_all(request, rows, opened->spill, outcome);
  if (!done) {
    add_database_error(outcome.findings, done.error());
  }
}

}  // namespace aasm::verifier
