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
#include "record_view.h"

namespace aasm::verifier {

// What a note is that the log key in force did not sign. Behind a skipped key record its key may be
// one that we were not told of.
FindingCode code_for(ledger_format::NoteVerdict verdict, bool after_skipped_key);

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

  // `tree` is over all records so far; `ends` what the last of them ends, after which a writer
  // commits a checkpoint.
  schema::Result<void> advance(const ledger_format::CompactRange& tree, const KeyPositions& keys,
                               Ends ends);
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
    bool after_skipped_key = false;  // there may be a log key that we were not told of
    bool root_agrees = false;
    bool unknown_key = false;
    ledger_format::NoteVerdict verdict = ledger_format::NoteVerdict::kNoSignature;
    ledger_format::QuorumVerdict quorum;
  };

  CheckpointCheck(sqlite::Connection& connection, sqlite::Statement rows,
                  const ledger_format::TrustPolicy& policy, FindingLog& findings);

  schema::Result<void> read_next();
  void judge(const Row& row, const ledger_format::CompactRange& tree, const KeyPositions& keys);
  void judge_gap(std::uint64_t size);
  void add_missing(std::uint64_t size, const char* why);
  bool settle_signature(const Pending& pending, KeyPositions& keys);

  sqlite::Connection& connection_;
  sqlite::Statement rows_;
  const ledger_format::TrustPolicy& policy_;
  FindingLog& findings_;
  std::uint64_t every_ = 256;
  std::optional<Row> next_;
  std::uint64_t last_size_ = 0;
  std::uint64_t owed_size_ = 0;  // a change of keys without a checkpoint so far; 0 for none
  std::vector<Pending> pending_;
};

}  // namespace aasm::verifier
