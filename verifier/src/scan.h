#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "aasm/ledger_format/merkle.h"
#include "aasm/schema/result.h"
#include "aasm/sqlite/connection.h"
#include "aasm/verifier/verifier.h"

#include "checkpoint_check.h"
#include "key_positions.h"
#include "outcome.h"
#include "record_batch.h"
#include "record_rows.h"
#include "references.h"
#include "run_check.h"
#include "workers.h"

namespace aasm::verifier {

// A batch of records: small enough that its parsed form stays small, large enough for all workers.
inline constexpr std::size_t kBatchRecords = 256;
inline constexpr std::size_t kBatchBytes = std::size_t{512} << 10U;

// Step 3 of docs/spec/ledger-format.md section 9: reads every record once, in order. Each batch is
// parsed on the workers, placed in order (chain, tree, signer), its signatures are checked on the
// workers, and then the records go to the claims in order. Faults become findings and the scan goes
// on with the recomputed values, so that one change is not reported at every later record.
//
// What depends on nothing but a record's bytes runs ahead, so that the workers are busy while this
// thread places, reads and judges: signatures are checked while later records of the batch are
// placed and the next batch is read, and that one is parsed while this one is judged. Everything
// that may find something in the ledger as a whole stays on this thread and in the order above, so
// the findings do not depend on the number of threads.
class Scan {
 public:
  struct Parts {
    KeyPositions& keys;
    CheckpointCheck& checkpoints;
    References& references;
    RunCheck& runs;
  };
  Scan(const VerifyRequest& request, const Parts& parts, Workers& workers, Outcome& outcome);

  // An Error when SQLite could not go on.
  schema::Result<void> run(sqlite::Connection& connection);

 private:
  static schema::Result<void> read_batch(RecordRows& rows, RecordBatch& batch);
  void read_ahead(RecordRows& rows);
  schema::Result<void> place_batch(RecordRows& rows);
  schema::Result<void> judge_batch();
  schema::Result<void> place(RecordView& record);
  void place_genesis(const RecordView& record);
  void check_row(const RecordView& record);
  void check_chain(const RecordView& record);
  void check_payload(const RecordView& record);
  void check_envelope(const RecordView& record);
  schema::Result<void> judge(RecordView& record);
  schema::Result<void> finish();
  void finish_tail();

  const VerifyRequest& request_;
  Parts parts_;
  Workers& workers_;
  Outcome& outcome_;
  FindingLog& findings_;
  RecordBatch batch_;                       // being placed and judged; parsed
  RecordBatch ahead_;                       // the one after it
  std::optional<schema::Error> end_error_;  // why SQLite read no further: due after `ahead_`
  ledger_format::CompactRange tree_;
  // Number of records up to the last that belongs to no run, or ends one.
  std::uint64_t settled_ = 0;
  std::int64_t next_seq_ = 0;
  std::optional<schema::LeafHash> last_leaf_;
  bool first_ = true;
};

}  // namespace aasm::verifier
