#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "aasm/crypto/ed25519.h"
#include "aasm/schema/digest.h"
#include "aasm/schema/json_value.h"
#include "aasm/schema/record.h"
#include "aasm/schema/result.h"
#include "aasm/schema/uuid.h"

namespace aasm::ledger {

// Where a record stands: its number and the leaf of the record before it.
struct Place {
  std::uint64_t seq = 0;
  schema::LeafHash prev;

  bool operator==(const Place&) const = default;
};

// The bytes of a record at its place, signed. Place and key are inside the signed payload.
struct SealedRecord {
  Place place;
  std::string payload;
  schema::LeafHash leaf;
  schema::KeyId key;
  crypto::Signature signature{};
};

// A record that waits to be appended: what it says, when it was said and who signs it. Its number,
// link and signature come with the transaction.
struct PendingRecord {
  schema::RunId run;  // empty for ledger kinds
  std::string kind;
  schema::JsonValue body;
  std::int64_t wall_ns = 0;                    // CLOCK_REALTIME
  std::uint64_t mono_ns = 0;                   // CLOCK_BOOTTIME
  const crypto::SigningKey* signer = nullptr;  // not owned; outlives the append
  std::optional<SealedRecord> ahead;           // set by Store::seal_ahead() only
};

// Stamped with both clocks now. kInvalidArgument for a body that its own reader would refuse, or
// with text that is not UTF-8: what nobody could read back must not be signed.
schema::Result<PendingRecord> make_pending(const schema::RunId& run, const schema::RecordBody& body,
                                           const crypto::SigningKey& signer);

// CLOCK_REALTIME in nanoseconds since the epoch.
std::int64_t wall_now_ns();

// Bytes beside the ledger's records (docs/spec/ledger-format.md section 3).
struct PendingBlob {
  schema::Sha256 digest;  // SHA-256(salt || data): what the record says
  schema::Bytes salt;     // 32 random bytes
  std::string data;
};

inline constexpr std::size_t kBlobMaxBytes = 1048576;

// Draws the salt and hashes. kResourceExhausted past kBlobMaxBytes.
schema::Result<PendingBlob> make_blob(std::string data);

}  // namespace aasm::ledger
