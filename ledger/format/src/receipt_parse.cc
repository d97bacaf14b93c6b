#include <array>
#include <optional>
#include <utility>

#include "aasm/ledger_format/receipt.h"
#include "aasm/schema/base64.h"
#include "aasm/schema/json_parse.h"

#include "json_shape.h"
#include "receipt_rules.h"
#include "text.h"

namespace aasm::ledger_format {
namespace {

using schema::JsonValue;

constexpr std::array<std::string_view, 1> kExtraMembers = {"records"};
constexpr std::array<std::string_view, 3> kRecordMembers = {"dsse", "index", "path"};

schema::Result<schema::TreeHash> parse_hash(std::string_view text) {
  const schema::Bytes bytes = AASM_TRY(schema::from_base64(text));
  return schema::TreeHash::from_span(bytes);
}

// The rest of the next line after `keyword` and a space.
schema::Result<std::string_view> take_field(std::string_view& rest, std::string_view keyword) {
  const std::optional<std::string_view> line = detail::take_line(rest);
  const std::string prefix = std::string(keyword) + " ";
  if (!line || line->substr(0, prefix.size()) != prefix) {
    return detail::malformed("a receipt without its " + std::string(keyword) + " line");
  }
  return line->substr(prefix.size());
}

schema::Result<ProofPath> parse_json_path(const JsonValue& value) {
  const JsonValue::Array* hashes = value.as_array();
  if (hashes == nullptr || hashes->size() > kMaxProofHashes) {
    return detail::malformed("a receipt's path is no list of at most 63 hashes");
  }
  ProofPath path;
  for (const JsonValue& hash : *hashes) {
    const std::string* text = hash.as_string();
    if (text == nullptr) {
      return detail::malformed("a receipt's path holds something else than a string");
    }
    path.push_back(AASM_TRY_CONTEXT(parse_hash(*text), "a receipt's path"));
  }
  return path;
}

schema::Result<ReceiptRecord> parse_record(const JsonValue& value) {
  if (const auto problem = detail::check_shape(value, kRecordMembers)) {
    return detail::malformed(detail::describe(*problem, "a receipt's record"));
  }
  const std::int64_t* index = value.find("index")->as_int();
  if (index == nullptr || *index < 0) {
    return detail::malformed("a receipt's record without a usable index");
  }
  ReceiptRecord record;
  record.index = static_cast<std::uint64_t>(*index);
  record.dsse = AASM_TRY(dsse_from_json(*value.find("dsse")));
  record.path = AASM_TRY(parse_json_path(*value.find("path")));
  return record;
}

schema::Result<std::vector<ReceiptRecord>> parse_extra(std::string_view base64) {
  const schema::Bytes bytes = AASM_TRY_CONTEXT(schema::from_base64(base64), "a receipt's extra");
  const std::string_view text = schema::as_text(bytes);
  const JsonValue value = AASM_TRY_CONTEXT(schema::json_parse(text), "a receipt's extra");
  if (!schema::json_is_canonical(text, value)) {
    return detail::malformed("a receipt's extra is not in RFC 8785 form");
  }
  if (const auto problem = detail::check_shape(value, kExtraMembers)) {
    return detail::malformed(detail::describe(*problem, "a receipt's extra"));
  }
  const JsonValue::Array* entries = value.find("records")->as_array();
  if (entries == nullptr) {
    return detail::malformed("a receipt's records are no list");
  }
  if (entries->size() > kReceiptMaxRecords) {
    return schema::Error(schema::ErrorCode::kResourceExhausted, "a receipt with too many records");
  }
  std::vector<ReceiptRecord> records;
  for (const JsonValue& entry : *entries) {
    records.push_back(AASM_TRY(parse_record(entry)));
  }
  return records;
}

// The hash lines and the blank line after them.
schema::Result<ProofPath> take_path(std::string_view& rest) {
  ProofPath path;
  while (const std::optional<std::string_view> line = detail::take_line(rest)) {
    if (line->empty()) {
      return path;
    }
    if (path.size() == kMaxProofHashes) {
      return detail::malformed("a receipt's path has at most 63 hashes");
    }
    path.push_back(AASM_TRY_CONTEXT(parse_hash(*line), "a receipt's path"));
  }
  return detail::malformed("a receipt without a blank line before its checkpoint");
}

}  // namespace

schema::Result<Receipt> parse_receipt(std::string_view bytes) {
  if (bytes.size() > kReceiptMaxBytes) {
    return schema::Error(schema::ErrorCode::kResourceExhausted,
                         "a receipt of more than " + std::to_string(kReceiptMaxBytes) + " bytes");
  }
  const std::optional<std::string_view> header = detail::take_line(bytes);
  if (!header || *header != detail::kReceiptHeader) {
    return detail::malformed("not a c2sp.org/tlog-proof@v1");
  }
  const std::string_view extra = AASM_TRY(take_field(bytes, "extra"));
  const std::string_view index_text = AASM_TRY(take_field(bytes, "index"));
  const std::optional<std::uint64_t> index = detail::parse_decimal(index_text);
  if (!index) {
    return detail::malformed("the index of a receipt is no decimal number");
  }
  Receipt receipt;
  receipt.index = *index;
  receipt.path = AASM_TRY(take_path(bytes));
  receipt.records = AASM_TRY(parse_extra(extra));
  receipt.checkpoint = bytes;
  AASM_TRY(detail::check_receipt(receipt, schema::ErrorCode::kMalformed));
  return receipt;
}

}  // namespace aasm::ledger_format
