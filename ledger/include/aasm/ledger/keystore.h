#pragma once

#include <string>
#include <string_view>

#include "aasm/crypto/ed25519.h"
#include "aasm/schema/result.h"

// The long-lived private keys (docs/spec/ledger-format.md section 5), one file each in one
// directory: root.key, host.key, log.key. The directory has mode 0700, the files 0600, all owned
// by the effective user; anything else is refused as kPermissionDenied. Seeds are read from and
// written to these files only, never the environment or an argument list.
namespace aasm::ledger {

// What a writer signs with. Every key belongs to `origin`.
struct KeySet {
  std::string origin;
  crypto::SigningKey host;
  crypto::SigningKey log;
};

// What certifies host and log keys. May be kept offline once the ledger exists.
struct RootKey {
  std::string origin;
  crypto::SigningKey key;
};

struct NewKeys {
  RootKey root;
  KeySet keys;
};

// Makes the three keys for a new origin and their directory, all or nothing: the files are written
// and synced in a temporary directory that is then renamed. kConflict when `directory` exists.
schema::Result<NewKeys> create_keys(const std::string& directory, std::string_view origin);

// kNotFound when the directory or a file is absent, kMalformed for a file of another form,
// kIntegrity when the files do not belong together.
schema::Result<KeySet> load_keys(const std::string& directory);
schema::Result<RootKey> load_root_key(const std::string& directory);

}  // namespace aasm::ledger
