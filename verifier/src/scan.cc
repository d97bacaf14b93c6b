#include "scan.h"

#include <algorithm>
#include <utility>

#include "aasm/ledger_format/pae.h"

#include "payload_faults.h"

namespace aasm::verifier {

using schema::Result;

namespace {

// Placed records that are given to the workers together.
constexpr std::size_t kAllowedAtOnce = 8;

}  // namespace

Scan::Scan(const VerifyRequest& request, const Parts& parts, Workers& workers, Outcome& outcome)
    : request_(request),
      parts_(parts),
      workers_(workers),
      outcome_(outcome),
      findings_(outcome.findings) {}

// Leaves `batch` empty at the end. What stands in it after an Error is not to be used.
Result<void> Scan::read_batch(RecordRows& rows, RecordBatch& batch) {
  batch.clear();
  std::size_t bytes = 0;
  while (batch.size() < kBatchRecords && bytes < kBatchBytes) {
    RawRecord& record = batch.add().raw;
    if (!AASM_TRY(rows.next(record))) {
      batch.drop_last();
      break;
    }
    bytes += record.payload.size();
  }
  return {};
}

void Scan::read_ahead(RecordRows& rows) {
  const Result<void> done = read_batch(rows, ahead_);
  if (!done) {
    ahead_.clear();
    end_error_ = done.error();
  }
}

void Scan::check_row(const RecordView& record) {
  const RawRecord& raw = record.raw;
  if (raw.seq != next_seq_) {
    findings_.add(FindingCode::kSequenceGap, raw.seq,
                  {.expected = std::to_string(next_seq_), .actual = std::to_string(raw.seq)});
  }
  if (!raw.malformed.empty()) {
    findings_.add(
        FindingCode::kRowMalformed, raw.seq,
        {.expected = "blobs of 32, 32, at most 65000, 32 and 64 bytes", .actual = raw.malformed});
  }
  if (record.leaf != raw.leaf) {
    findings_.add(FindingCode::kLeafMismatch, raw.seq,
                  {.expected = record.leaf.hex(), .actual = raw.leaf.hex()});
  }
}

void Scan::check_chain(const RecordView& record) {
  std::optional<schema::LeafHash> prev = last_leaf_;
  if (first_ && record.envelope) {
    prev = ledger_format::genesis_prev(record.envelope->origin);
  }
  if (prev && record.raw.prev != *prev) {
    findings_.add(FindingCode::kPrevMismatch, record.raw.seq,
                  {.expected = prev->hex(), .actual = record.raw.prev.hex()});
  }
}

void Scan::check_payload(const RecordView& record) {
  const std::int64_t seq = record.raw.seq;
  if (record.fault) {
    findings_.add(code_for(record.fault->fault), seq,
                  {.actual = to_string(record.fault->fault), .detail = record.fault->detail});
    return;
  }
  if (!record.body_fault.empty()) {
    findings_.add(FindingCode::kBodyMalformed, seq, {.actual = record.body_fault});
  } else if (!record.body) {
    ++outcome_.coverage.skipped;
    findings_.add(FindingCode::kRecordSkipped, seq, {.actual = record.envelope->kind});
  }
}

void Scan::check_envelope(const RecordView& record) {
  const ledger_format::Envelope& envelope = *record.envelope;
  const RawRecord& raw = record.raw;
  if (static_cast<std::int64_t>(envelope.seq) != raw.seq) {
    findings_.add(FindingCode::kSequenceMismatch, raw.seq,
                  {.expected = std::to_string(raw.seq), .actual = std::to_string(envelope.seq)});
  }
  if (envelope.prev != raw.prev) {
    findings_.add(FindingCode::kEnvelopePrevMismatch, raw.seq,
                  {.expected = raw.prev.hex(), .actual = envelope.prev.hex()});
  }
  if (envelope.key != raw.key) {
    findings_.add(FindingCode::kKeyMismatch, raw.seq,
                  {.expected = envelope.key.hex(), .actual = raw.key.hex()});
  }
  if (!parts_.keys.origin().empty() && envelope.origin != parts_.keys.origin()) {
    findings_.add(FindingCode::kOriginMismatch, raw.seq,
                  {.expected = parts_.keys.origin(), .actual = envelope.origin});
  }
}

void Scan::place_genesis(const RecordView& record) {
  const auto* created = record.body ? std::get_if<schema::LedgerCreated>(&*record.body) : nullptr;
  if (created == nullptr || record.raw.seq != 0) {
    findings_.add(FindingCode::kGenesisMissing, record.raw.seq,
                  {.expected = "ledger.created at 0",
                   .actual = record.envelope ? record.envelope->kind : "no readable record"});
  } else {
    parts_.keys.begin(*record.envelope, *created);
    parts_.checkpoints.set_cadence(created->checkpoint_every);
  }
  outcome_.trust = parts_.keys.outcome();
  parts_.references.begin(parts_.keys, References::Target::kRecords);
}

Result<void> Scan::place(RecordView& record) {
  check_row(record);
  check_chain(record);
  check_payload(record);
  if (first_) {
    place_genesis(record);
  }
  if (record.envelope) {
    check_envelope(record);
    AASM_TRY(parts_.runs.admit(record, parts_.keys, parts_.checkpoints));
    parts_.references.know(parts_.keys);
  }
  tree_.append(record.leaf);
  if (!record.run || record.ends == Ends::kRun) {
    settled_ = tree_.size();
  }
  AASM_TRY(parts_.checkpoints.advance(tree_, parts_.keys, record.ends));
  parts_.references.advance(tree_);
  last_leaf_ = record.leaf;
  next_seq_ = record.raw.seq + 1;
  first_ = false;
  ++outcome_.coverage.records;
  return {};
}

Result<void> Scan::judge(RecordView& record) {
  if (record.signer && !record.signature_ok) {
    findings_.add(FindingCode::kBadSignature, record.raw.seq,
                  {.expected = "a signature by " + record.envelope->key.hex(),
                   .actual = schema::to_hex(record.raw.signature),
                   .detail = record.envelope->kind});
  }
  return parts_.runs.feed(record);
}

void Scan::finish_tail() {
  const std::uint64_t covered = parts_.checkpoints.last_size();
  const std::uint64_t records = outcome_.coverage.records;
  if (records <= covered) {
    return;
  }
  const bool excluded = request_.allow_open && request_.run.empty() && settled_ <= covered;
  findings_.add(excluded ? FindingCode::kTailOfOpenRuns : FindingCode::kTailUnsigned,
                static_cast<std::int64_t>(covered),
                {.expected = "a checkpoint of size " + std::to_string(records),
                 .actual = "the newest has size " + std::to_string(covered)});
}

Result<void> Scan::finish() {
  if (first_) {
    findings_.add(FindingCode::kEmptyLedger, -1, {.expected = "ledger.created at 0"});
    parts_.references.begin(parts_.keys, References::Target::kNoRecords);
  }
  AASM_TRY(parts_.checkpoints.finish(outcome_.coverage.records));
  parts_.references.finish(outcome_.coverage.records);
  finish_tail();
  return {};
}

// Places batch_, checks its signatures and those of the checkpoints it passes, and reads ahead_.
Result<void> Scan::place_batch(RecordRows& rows) {
  const std::size_t num_records = batch_.size();
  const Workers::Task check = [this, num_records](std::size_t index) {
    if (index < num_records) {
      check_signature(batch_[index]);
    } else {
      parts_.checkpoints.check_signature(index - num_records);
    }
  };
  workers_.begin(check);
  Result<void> placed;
  for (std::size_t i = 0; i < num_records && placed; ++i) {
    placed = place(batch_[i]);
    if (placed && (i + 1) % kAllowedAtOnce == 0) {
      workers_.allow(i + 1);
    }
  }
  if (placed) {
    // From here on nothing is added to the queue of checkpoints, which the workers may now read.
    workers_.allow(num_records + parts_.checkpoints.num_pending());
    read_ahead(rows);
  }
  workers_.finish();
  return placed;
}

// Judges batch_ while ahead_ is parsed.
Result<void> Scan::judge_batch() {
  const Workers::Task parse = [this](std::size_t index) { parse_record(ahead_[index]); };
  workers_.begin(parse);
  workers_.allow(ahead_.size());
  Result<void> judged;
  for (std::size_t i = 0; i < batch_.size() && judged; ++i) {
    judged = judge(batch_[i]);
  }
  workers_.finish();
  return judged;
}

Result<void> Scan::run(sqlite::Connection& connection) {
  const std::int64_t last = AASM_TRY(last_seq(connection));
  const std::uint64_t total = last < 0 ? 0 : static_cast<std::uint64_t>(last) + 1;
  RecordRows rows = AASM_TRY(RecordRows::open(connection));
  read_ahead(rows);
  AASM_TRY(judge_batch());  // parses the first batch
  while (!ahead_.empty() && !parts_.runs.limit_reached()) {
    std::swap(batch_, ahead_);
    AASM_TRY(place_batch(rows));
    AASM_TRY(judge_batch());
    parts_.checkpoints.settle(parts_.keys, outcome_);
    if (request_.progress) {
      request_.progress(std::min(outcome_.coverage.records, total), total);
    }
  }
  if (parts_.runs.limit_reached()) {
    return {};  // the rest was not read: nothing may be said about the end
  }
  if (end_error_) {
    return *std::move(end_error_);
  }
  return finish();
}

}  // namespace aasm::verifier
