#include "ledger_check.h"

#include <optional>
#include <utility>

#include "blob_check.h"
#include "checkpoint_check.h"
#include "key_positions.h"
#include "open_hostile.h"
#include "references.h"
#include "run_check.h"
#include "run_claims.h"
#include "scan.h"
#include "spill.h"
#include "workers.h"

namespace aasm::verifier {
namespace {

using schema::Result;

// With a trust file that asks for witnesses, what is asked must be covered by a checkpoint that
// enough of them signed.
void judge_quorum(const VerifyRequest& request, Outcome& outcome) {
  const Coverage& coverage = outcome.coverage;
  std::uint64_t needed = coverage.records;
  if (!request.run.empty() && !outcome.runs.newest.empty()) {
    needed = static_cast<std::uint64_t>(outcome.runs.newest.back().last_seq) + 1;
  }
  if (request.trust.policy.requires_witness() && coverage.witnessed_up_to < needed) {
    outcome.findings.add(FindingCode::kWitnessQuorumNotMet, -1,
                         {.expected = std::to_string(needed) + " records witnessed",
                          .actual = std::to_string(coverage.witnessed_up_to)});
  }
}

Result<void> check_all(const VerifyRequest& request, sqlite::Connection& connection,
                       const ScratchDir& scratch, Outcome& outcome) {
  Spill spill = AASM_TRY_CONTEXT(Spill::make(scratch), "the scratch database");
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
  judge_quorum(request, outcome);
  AASM_TRY(check_blobs(connection, spill, outcome));
  return check_anchors(connection, outcome);
}

}  // namespace

void check_ledger(const VerifyRequest& request, const std::string& path, const ScratchDir& scratch,
                  Outcome& outcome) {
  std::optional<sqlite::Connection> connection = open_hostile(path, outcome.findings);
  if (!connection) {
    return;
  }
  const Result<void> done = check_all(request, *connection, scratch, outcome);
  if (!done) {
    add_database_error(outcome.findings, done.error());
  }
}

}  // namespace aasm::verifier
