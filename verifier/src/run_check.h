#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "aasm/schema/result.h"
#include "aasm/verifier/verifier.h"

#include "checkpoint_check.h"
#include "key_positions.h"
#include "outcome.h"
#include "record_view.h"
#include "run.h"
#include "run_claims.h"
#include "spill.h"

namespace aasm::verifier {

// More runs than this open at once is no ledger of ours, and would cost memory without bound.
inline constexpr std::size_t kMaxOpenRuns = 1024;
// And of what open runs say about their setup, in payload bytes; batches of events are not kept.
inline constexpr std::size_t kMaxHeldBytes = std::size_t{16} << 20U;

// The state machine of runs (docs/spec/ledger-format.md section 5): who must have signed a record,
// and whether it may stand where it stands. Records come twice, in ledger order: admit() before
// the signatures are checked, feed() after. One thread.
class RunCheck {
 public:
  RunCheck(const VerifyRequest& request, Spill& spill, RunClaims& claims, Outcome& outcome);

  // Sets signer, run and `ends` of a record whose envelope was read. An Error when our own
  // scratch database fails.
  schema::Result<void> admit(RecordView& record, KeyPositions& keys, CheckpointCheck& checkpoints);
  // Hands the record, its signature judged, to the claims of its run, and ends the run there.
  schema::Result<void> feed(RecordView& record);
  // Judges the unfinished runs.
  void finish();

  bool limit_reached() const { return limit_reached_; }

 private:
  void admit_ledger_record(RecordView& record, KeyPositions& keys);
  schema::Result<void> admit_opening(RecordView& record, KeyPositions& keys,
                                     CheckpointCheck& checkpoints);
  schema::Result<void> admit_to_run(RecordView& record, KeyPositions& keys);
  schema::Result<void> admit_stray(RecordView& record, KeyPositions& keys);
  void demand_host(RecordView& record, KeyPositions& keys);
  void demand_run_key(RecordView& record, KeyPositions& keys);
  schema::Result<void> check_embedded(const RecordView& record, const schema::RunOpened& body,
                                      CheckpointCheck& checkpoints);
  void check_clock(Run& run, const RecordView& record);
  void check_place(Run& run, const RecordView& record);
  void check_ending(const Run& run, const RecordView& record);
  schema::Result<void> end_run(RecordView& record);
  schema::Result<void> note_blobs(const schema::PolicyResolved& policy);
  void feed_claims(const RecordView& record);
  void count_ending(const RecordView& record);
  void add_unfinished(const Run& run, FindingCode code);

  const VerifyRequest& request_;
  Spill& spill_;
  RunClaims& claims_;
  FindingLog& findings_;
  Outcome& outcome_;
  std::map<std::string, std::shared_ptr<Run>> open_;
  std::size_t held_bytes_ = 0;
  bool limit_reached_ = false;
};

}  // namespace aasm::verifier
