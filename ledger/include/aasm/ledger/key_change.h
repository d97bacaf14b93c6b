#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aasm/ledger/keystore.h"
#include "aasm/ledger/paths.h"
#include "aasm/ledger_format/keys.h"
#include "aasm/schema/digest.h"
#include "aasm/schema/result.h"

// Changes of the host and log keys of a ledger (docs/spec/ledger-format.md section 5). Each is one
// transaction with a checkpoint over it. Runs may be going on: their supervisors see the change at
// their next append and go on with the new key files. A change that was cut off is finished, or
// found never to have been, by the next writer.
//
// kIntegrity when ledger, head file and key files do not fit together: nothing was written then.
// kUnavailable when another writer holds the ledger for longer than 5 s.
namespace aasm::ledger {

// One host or log key that the ledger has or had.
struct LedgerKey {
  ledger_format::KeyPurpose purpose = ledger_format::KeyPurpose::kHost;
  schema::PublicKey key;
  schema::KeyId id;
  std::uint64_t since = 0;             // the record that brought it
  std::optional<std::uint64_t> until;  // the record that ended it; none while in force
  std::optional<std::uint64_t> revoked_limit;
  bool held = false;  // its private key is in the key directory
};

// As the records say, in order; nothing is verified.
schema::Result<std::vector<LedgerKey>> list_keys(const LedgerPaths& paths);

struct KeyChanged {
  std::string origin;
  std::vector<LedgerKey> keys;  // the new ones
  std::string checkpoint;       // the note over the change
};

// A new key vouched for by the old one; the root is not needed.
schema::Result<KeyChanged> rotate_key(const LedgerPaths& paths, ledger_format::KeyPurpose purpose);

// New keys by the root's word alone, for old ones that were lost or stolen. `purposes`: host, log,
// or both, host first. kInvalidArgument when `root` is not the ledger's.
schema::Result<KeyChanged> replace_keys(const LedgerPaths& paths, const RootKey& root,
                                        const std::vector<ledger_format::KeyPurpose>& purposes);

struct KeyRevokedReport {
  std::string origin;
  schema::KeyId key;
  std::uint64_t limit = 0;
  std::uint64_t seq = 0;
};

// Says that what `key` signed at or after `limit` does not count; without a limit, where it was
// retired. kNotFound for a key this ledger never had, kConflict for one in force (replace it first)
// and for a limit at or below something it did sign: that closes the ledger, which fails
// verification from then on, and is recorded with `close_ledger` only. kInvalidArgument for a limit
// past where the key was retired.
schema::Result<KeyRevokedReport> revoke_key(const LedgerPaths& paths, const RootKey& root,
                                            const schema::KeyId& key,
                                            std::optional<std::uint64_t> limit, bool close_ledger);

}  // namespace aasm::ledger
