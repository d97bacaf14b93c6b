#include "receipt_check.h"

#include <optional>
#include <utility>

#include "aasm/ledger_format/keys.h"
#include "aasm/ledger_format/merkle.h"
#include "aasm/ledger_format/note.h"
#include "aasm/ledger_format/receipt.h"

#include "checkpoint_check.h"
#include "key_positions.h"
#include "payload_faults.h"
#include "receipt_run.h"
#include "record_view.h"
#include "references.h"

namespace aasm::verifier {
namespace {

using ledger_format::NoteVerdict;
using ledger_format::Receipt;
using ledger_format::ReceiptRecord;

class ReceiptCheck {
 public:
  ReceiptCheck(const VerifyRequest& request, const Receipt& receipt, Outcome& outcome)
      : request_(request),
        receipt_(receipt),
        outcome_(outcome),
        findings_(outcome.findings),
        keys_(request.trust, request.explicit_trust, outcome.findings),
        references_(request, outcome.findings, outcome.coverage),
        run_(outcome.findings) {}

  void run();

 private:
  // Each step returns false when the next ones would have nothing to go on.
  bool read_checkpoint();
  bool read_genesis();
  void check_note();
  bool check_note_signature();
  void check_quorum();
  void check_record(const ReceiptRecord& record);
  void check_position(const RecordView& view, const ReceiptRecord& record);
  bool is_of_host(const RecordView& view) const;
  std::optional<schema::PublicKey> signer_of(const RecordView& view) const;
  void check_authorship(RecordView& view);
  void note_key_record(const RecordView& view);
  void note_body(const RecordView& view);
  void check_request();

  const VerifyRequest& request_;
  const Receipt& receipt_;
  Outcome& outcome_;
  FindingLog& findings_;
  KeyPositions keys_;
  References references_;
  ledger_format::SignedCheckpoint checkpoint_;
  ReceiptRun run_;
};

RecordView view_of(const ReceiptRecord& record) {
  RecordView view;
  view.raw.seq = static_cast<std::int64_t>(record.index);
  view.raw.key = record.dsse.key;
  const schema::ByteView payload = schema::as_bytes(record.dsse.payload);
  view.raw.payload.assign(payload.begin(), payload.end());
  view.raw.signature.assign(record.dsse.signature.begin(), record.dsse.signature.end());
  parse_record(view);
  return view;
}

bool ReceiptCheck::read_checkpoint() {
  schema::Result<ledger_format::SignedCheckpoint> parsed =
      ledger_format::parse_signed_checkpoint(receipt_.checkpoint);
  if (!parsed) {
    findings_.add(FindingCode::kReceiptMalformed, -1, {.actual = parsed.error().message()});
    return false;
  }
  checkpoint_ = std::move(parsed).value();
  run_.begin(receipt_.index, checkpoint_.checkpoint.size);
  return true;
}

bool ReceiptCheck::read_genesis() {
  const RecordView first = view_of(receipt_.records.front());
  const auto* created = first.body ? std::get_if<schema::LedgerCreated>(&*first.body) : nullptr;
  if (first.fault) {
    findings_.add(code_for(first.fault->fault), first.raw.seq,
                  {.actual = to_string(first.fault->fault), .detail = first.fault->detail});
    return false;
  }
  if (created == nullptr || first.raw.seq != 0) {
    findings_.add(FindingCode::kReceiptRecordMissing, -1, {.expected = "record 0, ledger.created"});
    return false;
  }
  keys_.begin(*first.envelope, *created);
  outcome_.trust = keys_.outcome();
  references_.begin(keys_, References::Target::kReceipt);
  return true;
}

void ReceiptCheck::check_note() {
  const ledger_format::Checkpoint& said = checkpoint_.checkpoint;
  if (said.origin != keys_.origin()) {
    findings_.add(FindingCode::kCheckpointOrigin, -1,
                  {.expected = keys_.origin(), .actual = said.origin});
  }
  if (check_note_signature()) {
    keys_.judge_revocation(*keys_.outcome().log, said.size == 0 ? 0 : said.size - 1);
    outcome_.coverage.checkpoints = 1;
    outcome_.coverage.signed_up_to = said.size;
    outcome_.receipt_note = receipt_.checkpoint;
  }
  check_quorum();
  references_.compare_single(said);
}

bool ReceiptCheck::check_note_signature() {
  if (!keys_.log()) {
    findings_.add(FindingCode::kKeyUnresolved, -1, {.detail = "checkpoint"});
    return false;
  }
  const NoteVerdict verdict = ledger_format::verify_note(checkpoint_.note, *keys_.log());
  if (verdict != NoteVerdict::kVerified) {
    findings_.add(code_for(verdict, keys_.skipped_key_record()), -1,
                  {.expected = keys_.log()->text(), .actual = receipt_.checkpoint});
  }
  return verdict == NoteVerdict::kVerified;
}

void ReceiptCheck::check_quorum() {
  if (!request_.trust.policy.requires_witness()) {
    return;
  }
  const ledger_format::QuorumVerdict quorum =
      ledger_format::check_quorum(request_.trust.policy, checkpoint_.note);
  for (const std::string& name : quorum.bad) {
    findings_.add(FindingCode::kWitnessBadSignature, -1,
                  {.actual = receipt_.checkpoint, .detail = "witness " + name});
  }
  if (!quorum.met) {
    findings_.add(FindingCode::kWitnessQuorumNotMet, -1, {.actual = receipt_.checkpoint});
    return;
  }
  outcome_.coverage.witnessed_up_to = checkpoint_.checkpoint.size;
  keys_.note_witnessed(checkpoint_.checkpoint.size);
}

void ReceiptCheck::check_position(const RecordView& view, const ReceiptRecord& record) {
  const std::int64_t seq = view.raw.seq;
  const ledger_format::Envelope& envelope = *view.envelope;
  if (envelope.seq != record.index) {
    findings_.add(
        FindingCode::kSequenceMismatch, seq,
        {.expected = std::to_string(record.index), .actual = std::to_string(envelope.seq)});
  }
  if (envelope.key != view.raw.key) {
    findings_.add(FindingCode::kKeyMismatch, seq,
                  {.expected = envelope.key.hex(), .actual = view.raw.key.hex()});
  }
  if (envelope.origin != keys_.origin()) {
    findings_.add(FindingCode::kOriginMismatch, seq,
                  {.expected = keys_.origin(), .actual = envelope.origin});
  }
}

// Who must have signed the record, by its kind; run.opened comes before run.closed. Of an unknown
// kind it is the run key if the record is of the run and names it.
bool ReceiptCheck::is_of_host(const RecordView& view) const {
  return view.kind ? ledger_format::is_signed_by_host(*view.kind) : !run_.names_its_key(view);
}

std::optional<schema::PublicKey> ReceiptCheck::signer_of(const RecordView& view) const {
  return is_of_host(view) ? keys_.signer_of(view.body ? &*view.body : nullptr) : run_.key();
}

void ReceiptCheck::check_authorship(RecordView& view) {
  const std::int64_t seq = view.raw.seq;
  const std::optional<schema::PublicKey> signer = signer_of(view);
  if (!signer) {
    findings_.add(FindingCode::kKeyUnresolved, seq, {.detail = view.envelope->kind});
    return;
  }
  const schema::KeyId id = ledger_format::key_id(*signer);
  if (view.envelope->key != id) {
    const bool skipped = keys_.skipped_key_record() && is_of_host(view);
    findings_.add(skipped ? FindingCode::kSignerAfterSkippedKey : FindingCode::kWrongSigner, seq,
                  {.expected = id.hex(), .actual = view.envelope->key.hex()});
    return;
  }
  view.signer = signer;
  check_signature(view);
  if (!view.signature_ok) {
    findings_.add(FindingCode::kBadSignature, seq,
                  {.expected = "a signature by " + id.hex(),
                   .actual = schema::to_hex(view.raw.signature),
                   .detail = view.envelope->kind});
  }
  keys_.judge_revocation(id, static_cast<std::uint64_t>(seq));
}

void ReceiptCheck::note_key_record(const RecordView& view) {
  const std::int64_t seq = view.raw.seq;
  if (keys_.apply(seq, view.body ? &*view.body : nullptr)) {
    references_.know(keys_);
    return;
  }
  ++outcome_.coverage.skipped;
  keys_.skip_key_record();
  findings_.add(FindingCode::kRecordSkipped, seq, {.actual = view.envelope->kind});
}

void ReceiptCheck::note_body(const RecordView& view) {
  if (view.envelope->kind.starts_with("key.")) {
    note_key_record(view);
  } else if (!run_.note(view) && (view.raw.seq != 0 || !view.body)) {
    findings_.add(FindingCode::kReceiptRecordUnexpected, view.raw.seq,
                  {.actual = view.envelope->kind});
  }
}

void ReceiptCheck::check_record(const ReceiptRecord& record) {
  RecordView view = view_of(record);
  ++outcome_.coverage.records;
  if (!ledger_format::verify_inclusion(view.leaf, record.index, checkpoint_.checkpoint.size,
                                       record.path, checkpoint_.checkpoint.root)) {
    findings_.add(FindingCode::kReceiptNotIncluded, view.raw.seq,
                  {.expected = "a path to root " + checkpoint_.checkpoint.root.hex(),
                   .actual = "leaf " + view.leaf.hex()});
  }
  if (view.fault) {
    findings_.add(code_for(view.fault->fault), view.raw.seq,
                  {.actual = to_string(view.fault->fault), .detail = view.fault->detail});
    return;
  }
  if (!view.body_fault.empty()) {
    findings_.add(FindingCode::kBodyMalformed, view.raw.seq, {.actual = view.body_fault});
    if (view.envelope->kind.starts_with("key.")) {
      keys_.skip_key_record();
    }
    return;
  }
  check_position(view, record);
  check_authorship(view);
  note_body(view);
}

void ReceiptCheck::check_request() {
  const std::string& run = run_.said().run;
  if (!request_.run.empty() && !run.starts_with(request_.run)) {
    findings_.add(FindingCode::kRunNotFound, -1, {.expected = request_.run, .actual = run});
  }
  if (request_.given_report) {
    findings_.add(FindingCode::kReportNotRecomputed, -1,
                  {.expected = "a ledger", .actual = "a receipt"});
  }
}

void ReceiptCheck::run() {
  if (!read_checkpoint() || !read_genesis()) {
    return;
  }
  for (const ReceiptRecord& record : receipt_.records) {
    check_record(record);
  }
  check_note();  // the log key is the one that the key records leave in force
  run_.check_presence();
  check_request();
  keys_.finish();
  outcome_.trust = keys_.outcome();
  outcome_.receipt = run_.said();
}

}  // namespace

void check_receipt(const VerifyRequest& request, const std::string& bytes, Outcome& outcome) {
  const schema::Result<Receipt> receipt = ledger_format::parse_receipt(bytes);
  if (!receipt || receipt->records.empty()) {
    outcome.findings.add(
        FindingCode::kReceiptMalformed, -1,
        {.actual = receipt ? "a receipt without records" : receipt.error().message()});
    return;
  }
  ReceiptCheck(request, *receipt, outcome).run();
}

}  // namespace aasm::verifier
