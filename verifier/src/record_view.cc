#include "record_view.h"

#include <utility>

#include "aasm/ledger_format/pae.h"
#include "aasm/schema/json_parse.h"

namespace aasm::verifier {

void parse_record(RecordView& record) {
  if (record.raw.payload.size() > schema::kPayloadMaxBytes) {
    record.fault = ledger_format::PayloadFault{ledger_format::EnvelopeFault::kTooLarge, ""};
    return;
  }
  record.pae = ledger_format::pae(record.raw.payload);
  record.leaf = ledger_format::leaf_hash(record.pae);
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
