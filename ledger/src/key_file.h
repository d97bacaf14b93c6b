#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "aasm/crypto/ed25519.h"
#include "aasm/schema/result.h"

namespace aasm::ledger {

// The text of a key file, five lines:
//   aasm-key/1
//   origin <origin>
//   purpose root|host|log
//   public <64 hex>
//   seed <64 hex>
// Origins are at most 255 bytes, so a file fits kKeyFileMaxBytes.
inline constexpr std::size_t kKeyFileMaxBytes = 512;

struct KeyFile {
  std::string origin;
  crypto::SigningKey key;
};

// Appends the text to `out`, which the caller wipes; reserve kKeyFileMaxBytes first, so that no
// copy is left behind by growth.
void write_key_file(std::string_view origin, std::string_view purpose,
                    const crypto::SigningKey& key, std::string& out);

// kMalformed for any other text or purpose, kIntegrity when the public key is not the seed's.
schema::Result<KeyFile> parse_key_file(std::string_view text, std::string_view purpose);

}  // namespace aasm::ledger
