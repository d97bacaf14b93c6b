#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "aasm/schema/digest.h"
#include "aasm/schema/fields.h"
#include "aasm/schema/record_ledger.h"

// Bodies of `key.rotated`, `key.replaced` and `key.revoked` (docs/spec/ledger-format.md section 5).
// The texts that are signed stand in ledger_format/keys.h.
namespace aasm::schema {

// The holder of a key hands over to a new one; the root is not needed. The record is signed by the
// host key in force, which for purpose host is `old_key`.
struct KeyRotated {
  std::string purpose;  // host or log
  PublicKey old_key;
  PublicKey new_key;
  std::optional<std::string> old_signature;  // log only: base64 of 64 bytes, by old_key
  std::string new_signature;                 // base64 of 64 bytes, by new_key

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("purpose", self.purpose);
    v.field("old_key", self.old_key);
    v.field("new_key", self.new_key);
    v.field("old_signature", self.old_signature);
    v.field("new_signature", self.new_signature);
  }
  Result<void> check() const;
};

// The root puts a new key in the place of one that was lost or stolen. The record is signed by the
// new key for purpose host, and by the host key in force for purpose log.
struct KeyReplaced {
  KeyCertificate certificate;  // of the new key
  PublicKey old_key;

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("certificate", self.certificate);
    v.field("old_key", self.old_key);
  }
  Result<void> check() const;
};

// What `key` signed at or after `limit`, a tree size, does not count, wherever this record stands.
struct KeyRevoked {
  KeyId key;
  std::uint64_t limit = 0;
  std::string signature;  // base64 of 64 bytes, by the root

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("key", self.key);
    v.field("limit", self.limit);
    v.field("signature", self.signature);
  }
};

}  // namespace aasm::schema
