#pragma once

#include <cstdint>
#include <optional>

#include "outcome.h"
#include "record_view.h"

namespace aasm::verifier {

// The one run that a receipt is about, from its run.opened and run.closed
// (docs/spec/verify-rules.md). The first run.opened says which run that is.
class ReceiptRun {
 public:
  explicit ReceiptRun(FindingLog& findings) : findings_(findings) {}

  // What the receipt and its checkpoint say of themselves.
  void begin(std::uint64_t index, std::uint64_t tree_size);

  // False when the record is neither of the two, or not this run's, or comes again.
  bool note(const RecordView& view);

  // The key that signs the run's records, once run.opened was met.
  const std::optional<schema::PublicKey>& key() const { return key_; }

  // Whether the record is of this run and names the key that signs its records.
  bool names_its_key(const RecordView& view) const;

  void check_presence();

  const ReceiptOutcome& said() const { return said_; }

 private:
  bool note_opened(const RecordView& view, const schema::RunOpened& opened);
  bool note_closed(const RecordView& view, const schema::RunClosed& closed);

  FindingLog& findings_;
  std::optional<schema::PublicKey> key_;
  schema::RunId run_;
  bool closed_ = false;
  ReceiptOutcome said_;
};

}  // namespace aasm::verifier
