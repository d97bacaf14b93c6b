#include "aasm/ledger_format/dsse.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "aasm/ledger_format/pae.h"
#include "aasm/schema/base64.h"
#include "aasm/schema/json_parse.h"

#include "json_shape.h"
#include "text.h"

namespace aasm::ledger_format {
namespace {

using schema::JsonValue;

constexpr std::array<std::string_view, 3> kEnvelopeMembers = {"payload", "payloadType",
                                                              "signatures"};
constexpr std::array<std::string_view, 2> kSignatureMembers = {"keyid", "sig"};

schema::Result<schema::Bytes> base64_member(const JsonValue& object, std::string_view name) {
  const std::string* text = object.find(name)->as_string();
  if (text == nullptr) {
    return detail::malformed("DSSE member " + std::string(name) + " is no string");
  }
  return AASM_TRY_CONTEXT(schema::from_base64(*text), "DSSE member " + std::string(name));
}

schema::Result<void> read_signature(const JsonValue& value, DsseEnvelope& out) {
  if (const auto problem = detail::check_shape(value, kSignatureMembers)) {
    return detail::malformed(detail::describe(*problem, "a DSSE signature"));
  }
  const std::string* key = value.find("keyid")->as_string();
  if (key == nullptr) {
    return detail::malformed("DSSE member keyid is no string");
  }
  out.key = AASM_TRY_CONTEXT(schema::KeyId::from_hex_text(*key), "DSSE member keyid");
  const schema::Bytes signature = AASM_TRY(base64_member(value, "sig"));
  if (signature.size() != out.signature.size()) {
    return detail::malformed("a DSSE signature that is not 64 bytes long");
  }
  std::copy(signature.begin(), signature.end(), out.signature.begin());
  return {};
}

}  // namespace

JsonValue dsse_to_json(const DsseEnvelope& envelope) {
  JsonValue::Object signature{{"keyid", envelope.key.hex()},
                              {"sig", schema::to_base64(envelope.signature)}};
  return JsonValue::Object{
      {"payload", schema::to_base64(schema::as_bytes(envelope.payload))},
      {"payloadType", kPayloadType},
      {"signatures", JsonValue::Array{std::move(signature)}},
  };
}

schema::Result<DsseEnvelope> dsse_from_json(const JsonValue& value) {
  if (const auto problem = detail::check_shape(value, kEnvelopeMembers)) {
    return detail::malformed(detail::describe(*problem, "a DSSE envelope"));
  }
  const std::string* type = value.find("payloadType")->as_string();
  if (type == nullptr || *type != kPayloadType) {
    return detail::malformed("a DSSE envelope of another payloadType");
  }
  const schema::Bytes payload = AASM_TRY(base64_member(value, "payload"));
  if (payload.size() > schema::kPayloadMaxBytes) {
    return detail::malformed("a DSSE payload of more than " +
                             std::to_string(schema::kPayloadMaxBytes) + " bytes");
  }
  const JsonValue::Array* signatures = value.find("signatures")->as_array();
  if (signatures == nullptr || signatures->size() != 1) {
    return detail::malformed("a DSSE envelope without exactly one signature");
  }
  DsseEnvelope envelope;
  envelope.payload = schema::as_text(payload);
  AASM_TRY(read_signature(signatures->front(), envelope));
  return envelope;
}

}  // namespace aasm::ledger_format
