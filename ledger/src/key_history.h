#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aasm/ledger_format/keys.h"
#include "aasm/ledger_format/vkey.h"
#include "aasm/schema/digest.h"
#include "aasm/schema/result.h"

#include "ledger_db.h"

namespace aasm::ledger {

// A host or log key and the record that brought it.
struct KeyIntroduction {
  ledger_format::KeyPurpose purpose = ledger_format::KeyPurpose::kHost;
  schema::PublicKey key;
  std::uint64_t seq = 0;
  bool rotated = false;  // by key.rotated, which the old host key signs itself

  bool operator==(const KeyIntroduction&) const = default;
};

struct KeyRevocation {
  schema::KeyId key;
  std::uint64_t limit = 0;
  std::uint64_t seq = 0;

  bool operator==(const KeyRevocation&) const = default;
};

// The keys that a ledger has had, as its records say: what a writer compares its own keys with
// before it signs. Signatures are not judged here; a writer only ever goes on with keys it holds.
class KeyHistory {
 public:
  // Reads record 0 and looks at every other: once after a key change, and then kept in
  // heads/<name>.keys. kIntegrity when a record cannot be read.
  static schema::Result<KeyHistory> scan(LedgerDb& db);
  // What the kept file says; nullopt when there is none that reads. It is removed inside the
  // transaction that changes a key and written by whoever scanned while holding the write lock,
  // so it is never older than the ledger.
  static std::optional<KeyHistory> kept(const std::string& heads, const std::string& origin);
  void keep(const std::string& heads) const;
  static schema::Result<void> forget(const std::string& heads, const std::string& origin);

  // Follows the next record.
  schema::Result<void> follow(const RecordRow& row) { return look(row); }
  // Whether a record followed since the last settle() changed a key.
  bool has_change() const { return changed_; }
  void settle() { changed_ = false; }

  const std::string& origin() const { return origin_; }
  const std::vector<KeyIntroduction>& introductions() const { return introductions_; }
  const std::vector<KeyRevocation>& revocations() const { return revocations_; }
  const KeyIntroduction& in_force(ledger_format::KeyPurpose purpose) const;
  // The log key in force, and those before it, newest first.
  schema::Result<ledger_format::VerifierKey> log() const;
  std::vector<ledger_format::VerifierKey> older_logs() const;

  bool operator==(const KeyHistory&) const = default;

 private:
  schema::Result<void> look(const RecordRow& row);
  std::string text() const;
  static std::optional<KeyHistory> parse(std::string_view text);

  std::string origin_;
  std::vector<KeyIntroduction> introductions_;  // in order; the first two are record 0's
  std::vector<KeyRevocation> revocations_;
  bool changed_ = false;
};

}  // namespace aasm::ledger
