#include "aasm/ledger_format/receipt.h"

#include <algorithm>
#include <utility>

#include "aasm/ledger_format/note.h"
#include "aasm/schema/base64.h"
#include "aasm/schema/json_write.h"

#include "receipt_rules.h"
#include "text.h"

namespace aasm::ledger_format {
namespace {

using schema::JsonValue;

JsonValue record_json(const ReceiptRecord& record) {
  JsonValue::Array path;
  for (const schema::TreeHash& hash : record.path) {
    path.emplace_back(schema::to_base64(hash.bytes));
  }
  return JsonValue::Object{{"dsse", dsse_to_json(record.dsse)},
                           {"index", static_cast<std::int64_t>(record.index)},
                           {"path", std::move(path)}};
}

std::string extra_json(const Receipt& receipt) {
  JsonValue::Array records;
  for (const ReceiptRecord& record : receipt.records) {
    records.push_back(record_json(record));
  }
  return schema::json_write(JsonValue::Object{{"records", std::move(records)}});
}

bool is_the_proofs_own(const Receipt& receipt, const ReceiptRecord& record) {
  return record.index == receipt.index && record.path == receipt.path;
}

}  // namespace

namespace detail {

schema::Result<void> check_receipt(const Receipt& receipt, schema::ErrorCode code) {
  const auto& records = receipt.records;
  if (records.empty() || records.size() > kReceiptMaxRecords) {
    return schema::Error(records.empty() ? code : schema::ErrorCode::kResourceExhausted,
                         "a receipt has 1 to " + std::to_string(kReceiptMaxRecords) + " records");
  }
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (records[i].path.size() > kMaxProofHashes) {
      return schema::Error(code, "a receipt's path has at most 63 hashes");
    }
    if (records[i].index > static_cast<std::uint64_t>(schema::kJsonMaxInteger)) {
      return schema::Error(code, "a receipt's index is at most 2^53-1");
    }
    if (i > 0 && records[i - 1].index >= records[i].index) {
      return schema::Error(code, "the records of a receipt are not in ascending order");
    }
  }
  const bool has_own = std::any_of(
      records.begin(), records.end(),
      [&receipt](const ReceiptRecord& record) { return is_the_proofs_own(receipt, record); });
  if (!has_own) {
    return schema::Error(code, "no record of the receipt has the proof's index and path");
  }
  const schema::Result<SignedCheckpoint> checkpoint = parse_signed_checkpoint(receipt.checkpoint);
  if (!checkpoint) {
    return schema::Error(code, "the receipt's checkpoint: " + checkpoint.error().message());
  }
  return {};
}

}  // namespace detail

schema::Result<std::string> format_receipt(const Receipt& receipt) {
  AASM_TRY(detail::check_receipt(receipt, schema::ErrorCode::kInvalidArgument));
  std::string out(detail::kReceiptHeader);
  out += "\nextra " + schema::to_base64(schema::as_bytes(extra_json(receipt)));
  out += "\nindex " + std::to_string(receipt.index) + "\n";
  for (const schema::TreeHash& hash : receipt.path) {
    out += schema::to_base64(hash.bytes) + "\n";
  }
  out += "\n" + receipt.checkpoint;
  if (out.size() > kReceiptMaxBytes) {
    return schema::Error(schema::ErrorCode::kResourceExhausted,
                         "a receipt of more than " + std::to_string(kReceiptMaxBytes) + " bytes");
  }
  return out;
}

}  // namespace aasm::ledger_format
