#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "aasm/claims/claims.h"
#include "aasm/claims/report.h"
#include "aasm/schema/json_value.h"
#include "aasm/schema/record_plan.h"
#include "aasm/sqlite/connection.h"
#include "aasm/verifier/verifier.h"

#include "outcome.h"
#include "record_view.h"
#include "run.h"

namespace aasm::verifier {

// Recomputes the claims of the runs in scope (docs/spec/product.md section 5) and folds each run
// into a few lines once it ended. Resolves probe references from records that were scanned before,
// and compares the report given with --report. One thread.
class RunClaims {
 public:
  RunClaims(const VerifyRequest& request, sqlite::Connection& connection, Outcome& outcome);

  // Whether claims of `run` are asked for; called once for every run opened.
  bool takes(const std::string& run);
  // Adds a record to the facts of its run. `record.run->facts` is set.
  void feed(const RecordView& record);
  // Derives, reports contradictions, keeps the summary.
  void fold(const Run& run);
  // Lists an unfinished run, without claims.
  void list_unfinished(const Run& run);
  void finish();

 private:
  struct Probe {
    std::int64_t seq = 0;
    schema::LeafHash leaf;
    schema::CapabilityProbed body;
  };

  void resolve_probe(const RecordView& record, const schema::CapabilityProbed& body);
  std::optional<Probe> load_probe(std::int64_t seq);
  void add_findings(const Run& run, const claims::RunClaims& claims);
  void compare_given(const Run& run, const schema::JsonValue& recomputed);
  void keep(RunOutcome summary);

  const VerifyRequest& request_;
  sqlite::Connection& connection_;
  FindingLog& findings_;
  Outcome& outcome_;
  std::uint64_t matches_ = 0;
  std::size_t kept_json_bytes_ = 0;
  std::optional<Probe> last_probe_;  // runs in a row refer to the same record
  std::optional<schema::JsonValue> given_;
  std::string given_run_;
  bool given_compared_ = false;
};

}  // namespace aasm::verifier
