#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aasm/ledger_format/merkle.h"
#include "aasm/ledger_format/note.h"
#include "aasm/ledger_format/trust.h"
#include "aasm/schema/result.h"
#include "aasm/sqlite/connection.h"

#include "key_positions.h"
#include "outcome.h"

namespace aasm::verifier {

// Step 4 of docs/spec/ledger-format.md section 9, and the cadence rule of section 6. The rows of
// `checkpoints` are read beside the scan: advance() after every record compares roots and
// frontiers; the signatures wait in a queue for the workers. One thread, but for check_signature().
class CheckpointCheck {
 public:
  static schema::Result<CheckpointCheck> open(sqlite::Connection& connection,
                                              const ledger_format::TrustPolicy& policy,
                                              FindingLog& findings);

  // `every` of record 0: the largest distance of neighbouring sizes.
  void set_cadence(std::int64_t every) { every_ = static_cast<std::uint64_t>(every); }

  // `tree` is over all records so far; `ends_run` when the last of them is a run.closed or
  // run.recovered.
  schema::Result<void> advance(const ledger_format::CompactRange& tree, const KeyPositions& keys,
                               bool ends_run);
  schema::Result<void> finish(std::uint64_t records);

  // The text of the checkpoint of `size` if it has passed already, else nullopt.
  schema::Result<std::optional<std::string>> passed_text(std::uint64_t size);
  // Size of the newest that has passed; 0 before the first.
  std::uint64_t last_size() const { return last_size_; }

  // The queue of signatures to judge.
  std::size_t num_pending() const { return pending_.size(); }
  void check_signature(std::size_t index);            // for the workers
  void settle(KeyPositions& keys, Outcome& outcome);  // then, in order

 private:
  struct Row {
    std::int64_t size = 0;
    std::string note;
    schema::Bytes frontier;
    bool malformed = false;
  };
  struct Pending {
    std::uint64_t size = 0;
    std::string bytes;
    ledger_format::Note note;
    std::optional<ledger_format::VerifierKey> log;  // in force at this size
    bool root_agrees = false;
    bool unknown_key = false;
    ledger_format::NoteVerdict verdict = ledger_format::NoteVerdict::kNoSignature;
    ledger_format::QuorumVerdict quorum = ledger_format::QuorumVerdict::kNotMet;
  };

  CheckpointCheck(sqlite::Connection& connection, sqlite::Statement rows,
                  const ledger_format::TrustPolicy& policy, FindingLog& findings);

  schema::Result<void> read_next();
  void judge(const Row& row, const ledger_format::CompactRange& tree, const KeyPositions& keys);
  void judge_gap(std::uint64_t size);
  void settle_witnesses(const Pending& pending, KeyPositions& keys, Coverage& coverage);

  sqlite::Connection& connection_;
  sqlite::Statement rows_;
  const ledger_format::TrustPolicy& policy_;
  FindingLog& findings_;
  std::uint64_t every_ = 256;
  std::optional<Row> next_;
  std::uint64_t last_size_ = 0;
  std::vector<Pending> pending_;
};

}  // namespace aasm::verifier
