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

Result<SealedRecord> seal(const PendingRecord& record, const Place& place,
                          const std::string& origin, const std::string& boot) {
  SealedRecord sealed;
  sealed.place = place;
  sealed.key = ledger_format::key_id(record.signer->public_key());
  const ledger_format::Envelope envelope{
      .origin = origin,
      .seq = place.seq,
      .prev = place.prev,
      .run = record.run,
      .kind = record.kind,
      .wall_ns = record.wall_ns,
      .mono_ns = record.mono_ns,
      .boot = boot,
      .key = sealed.key,
  };
  sealed.payload = AASM_TRY(ledger_format::build_payload(envelope, record.body));
  const schema::Bytes pae = ledger_format::pae(schema::as_bytes(sealed.payload));
  sealed.leaf = ledger_format::leaf_hash(pae);
  sealed.signature = AASM_TRY(record.signer->sign(pae));
  return sealed;
}

Result<void> Appender::add(const PendingRecord& record) {
  AASM_TRY(runs_.accept(record, keys_.host.public_key()));
  return insert(record);
}

Result<void> Appender::insert(const PendingRecord& record) {
  const Place place{head_.range.size(), head_.last_leaf};
  // What was sealed ahead says nothing else than sealing now would: all of it but the place is of
  // the record and of this store, and the place is compared here, inside the transaction.
  std::optional<SealedRecord> now;
  if (!record.ahead || record.ahead->place != place) {
    now = AASM_TRY(seal(record, place, keys_.origin, boot_));
  }
  const SealedRecord& sealed = now ? *now : *record.ahead;
  AASM_TRY(db_.insert(
      NewRecord{place.seq, place.prev, sealed.leaf, sealed.payload, sealed.key, sealed.signature}));
  head_.range.append(sealed.leaf);
  head_.last_leaf = sealed.leaf;
  leaves_.push_back(sealed.leaf);
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
