#pragma once

#include <string>

#include "aasm/crypto/ed25519.h"
#include "aasm/schema/digest.h"
#include "aasm/schema/json_value.h"
#include "aasm/schema/result.h"

namespace aasm::ledger_format {

// A record as a DSSE JSON envelope, the form it has in receipts and bundles:
// {"payload":b64,"payloadType":kPayloadType,"signatures":[{"keyid":hex,"sig":b64}]}.
// Exactly one signature. Nothing in it has been verified.
struct DsseEnvelope {
  std::string payload;  // the stored bytes, at most schema::kPayloadMaxBytes
  schema::KeyId key;
  crypto::Signature signature{};

  bool operator==(const DsseEnvelope&) const = default;
};

schema::JsonValue dsse_to_json(const DsseEnvelope& envelope);
// kMalformed for unknown or missing members, other types, non-canonical base64 or hex.
schema::Result<DsseEnvelope> dsse_from_json(const schema::JsonValue& value);

}  // namespace aasm::ledger_format
