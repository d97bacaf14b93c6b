#include "record_view.h"

#include <utility>

#include "aasm/ledger_format/pae.h"
#include "aasm/schema/json_parse.h"

namespace aasm::verifier {
namespace {

// More room than this is given back: few records need it, and a batch of them would keep it all.
constexpr std::size_t kMaxKeptBytes = std::size_t{4} << 10U;

schema::Bytes emptied(schema::Bytes bytes) {
  if (bytes.capacity() > kMaxKeptBytes) {
    return {};
  }
  bytes.clear();
  return bytes;
}

}  // namespace

void RawRecord::clear() {
  RawRecord fresh;
  fresh.payload = emptied(std::move(payload));
  fresh.signature = emptied(std::move(signature));
  *this = std::move(fresh);
}

void RecordView::clear() {
  RecordView fresh;
  raw.clear();
  fresh.raw = std::move(raw);
  fresh.pae = emptied(std::move(pae));
  *this = std::move(fresh);
}

bool hash_record(RecordView& record) {
  if (record.raw.payload.size() > schema::kPayloadMaxBytes) {
    return false;
  }
  ledger_format::write_pae(record.raw.payload, record.pae);
  record.leaf = ledger_format::leaf_hash(record.pae);
  return true;
}

void parse_record(RecordView& record) {
  if (!hash_record(record)) {
    record.fault = ledger_format::PayloadFault{ledger_format::EnvelopeFault::kTooLarge, ""};
    return;
  }
  auto parsed = ledger_format::parse_payload(schema::as_text(record.raw.payload));
  if (auto* fault = std::get_if<ledger_format::PayloadFault>(&parsed)) {
    record.fault = std::move(*fault);
    return;
  }
  auto& statement = std::get<ledger_format::Statement>(parsed);
  record.envelope = std::move(statement.envelope);
  record.kind = ledger_format::parse_record_kind(record.envelope->kind);
  schema::Result<std::optional<schema::RecordBody>> body =
      schema::read_body(record.envelope->kind, statement.body);
  if (body) {
    record.body = std::move(*body);
  } else {
    record.body_fault = body.error().message();
  }
}

void check_signature(RecordView& record) {
  record.signature_ok =
      record.signer && crypto::verify(*record.signer, record.pae, record.raw.signature);
}

}  // namespace aasm::verifier
