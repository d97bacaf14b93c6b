#pragma once

#include <cstdint>
#include <string>

#include "aasm/schema/digest.h"
#include "aasm/schema/fields.h"

// Body of `ledger.created`, record 0 (docs/spec/ledger-format.md section 5).
namespace aasm::schema {

// A root certificate of one key, as carried in a record.
struct KeyCertificate {
  std::string purpose;  // host or log
  PublicKey key;
  std::string signature;  // base64 of 64 bytes, by the root key

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("purpose", self.purpose);
    v.field("key", self.key);
    v.field("signature", self.signature);
  }
};

struct LedgerCreated {
  std::string origin;
  std::string format = "ledger/1";
  PublicKey root;
  KeyCertificate host;
  KeyCertificate log;
  std::int64_t checkpoint_every = 256;  // largest distance of neighbouring checkpoint sizes
  std::string aasm_version;

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("origin", self.origin);
    v.field("format", self.format);
    v.field("root", self.root);
    v.field("host", self.host);
    v.field("log", self.log);
    v.field("checkpoint_every", self.checkpoint_every);
    v.field("aasm_version", self.aasm_version);
  }
  Result<void> check() const;
};

}  // namespace aasm::schema
