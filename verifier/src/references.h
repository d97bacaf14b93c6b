#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aasm/ledger_format/merkle.h"
#include "aasm/ledger_format/note.h"
#include "aasm/verifier/verifier.h"

#include "key_positions.h"
#include "outcome.h"

namespace aasm::verifier {

// Checkpoints that somebody kept outside the file: this host's head file, --state, --expect-head.
// The file must be an extension of each that one of its log keys signed, whichever of them did; a
// signature in the name of any of them that does not hold is found whoever else signed. Usage:
// begin() once the keys are known, advance() after every record, finish() at the end. One thread.
class References {
 public:
  // What the notes are held against. Head files say nothing about a receipt.
  enum class Target : std::uint8_t { kRecords, kNoRecords, kReceipt };

  References(const VerifyRequest& request, FindingLog& findings, Coverage& coverage);

  void begin(const KeyPositions& keys, Target target);
  // After a record that may have changed the log key: every note is held against the new one.
  void know(const KeyPositions& keys);
  // `tree` is over all records so far.
  void advance(const ledger_format::CompactRange& tree);
  void finish(std::uint64_t records);
  // For a receipt, which holds one tree only.
  void compare_single(const ledger_format::Checkpoint& checkpoint);

 private:
  struct Reference {
    std::string source;
    std::string text;  // as given
    ledger_format::Note note;
    ledger_format::Checkpoint checkpoint;
    std::optional<schema::TreeHash> root;  // of the records at its size, once they were so many
    NoteOpinion opinion;                   // of the log keys so far
  };

  void add_heads(const KeyPositions& keys);
  void add(const KeyPositions& keys, const std::string& source, const std::string& note);
  bool accept_origin(const KeyPositions& keys, const Reference& reference);
  void judge(const KeyPositions& keys, Reference& reference);
  void report_unsigned(const Reference& reference);
  void compare(const Reference& reference);

  const VerifyRequest& request_;
  FindingLog& findings_;
  Coverage& coverage_;
  std::vector<Reference> references_;  // by size, ascending
  std::size_t num_log_keys_ = 0;
  std::size_t next_ = 0;  // the first whose size was not reached
  Target target_ = Target::kRecords;
};

}  // namespace aasm::verifier
