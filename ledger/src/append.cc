#include "append.h"

#include <utility>

#include "aasm/ledger_format/envelope.h"
#include "aasm/ledger_format/keys.h"
#include "aasm/ledger_format/pae.h"

namespace aasm::ledger {

using schema::Result;

Appender::Appender(LedgerDb& db, const KeySet& keys, const std::string& boot,
                   const StoreOptions& options, Head head, RunStates runs)
    : db_(db),
      keys_(keys),
      boot_(boot),
      options_(options),
      head_(std::move(head)),
      runs_(std::move(runs)) {}

void Appender::step(AppendStep step) const {
  if (options_.on_step) {
    options_.on_step(step);
  }
}

Result<void> Appender::add(const PendingRecord& record) {
  AASM_TRY(runs_.accept(record, keys_.host.public_key()));
  const schema::KeyId key = ledger_format::key_id(record.signer->public_key());
  const ledger_format::Envelope envelope{
      .origin = keys_.origin,
      .seq = head_.range.size(),
      .prev = head_.last_leaf,
      .run = record.run,
      .kind = record.kind,
      .wall_ns = record.wall_ns,
      .mono_ns = record.mono_ns,
      .boot = boot_,
      .key = key,
  };
  const std::string payload = AASM_TRY(ledger_format::build_payload(envelope, record.body));
  const schema::Bytes pae = ledger_format::pae(schema::as_bytes(payload));
  const schema::LeafHash leaf = ledger_format::leaf_hash(pae);
  const crypto::Signature signature = AASM_TRY(record.signer->sign(pae));
  AASM_TRY(db_.insert(NewRecord{envelope.seq, envelope.prev, leaf, payload, key, signature}));
  head_.range.append(leaf);
  head_.last_leaf = leaf;
  leaves_.push_back(leaf);
  step(AppendStep::kRecordInserted);
  if (ends_run(record.kind) || head_.range.size() - head_.checkpoint_size == kCheckpointEvery) {
    return add_checkpoint();
  }
  return {};
}

Result<void> Appender::add(const PendingBlob& blob) {
  return db_.insert(blob);
}

Result<void> Appender::add_checkpoint() {
  const ledger_format::Checkpoint checkpoint{keys_.origin, head_.range.size(), head_.range.root()};
  std::string note = AASM_TRY(ledger_format::sign_checkpoint(checkpoint, keys_.log));
  AASM_TRY(db_.insert(CheckpointRow{checkpoint.size, note, head_.range.frontier()}));
  head_.checkpoint_size = checkpoint.size;
  head_.note = std::move(note);
  checkpointed_ = true;
  step(AppendStep::kCheckpointInserted);
  return {};
}

}  // namespace aasm::ledger
