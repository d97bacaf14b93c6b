#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "aasm/crypto/ed25519.h"
#include "aasm/schema/digest.h"
#include "aasm/schema/hex.h"
#include "aasm/schema/json_parse.h"
#include "aasm/schema/json_value.h"

#include "support/sanitized.h"

// Reading tests/testdata. A file or member that is not there ends the test program.
namespace aasm::test {

inline schema::JsonValue read_vectors(std::string_view path) {
  std::ifstream file(std::string(AASM_SOURCE_DIR "/tests/testdata/") + std::string(path));
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return schema::json_parse(text).value();
}

inline schema::JsonValue ledger_vectors() {
  return read_vectors("ledger_vectors/vectors.json");
}

// The member at a path of names: at(v, {"keys", "log", "seed"}).
inline const schema::JsonValue& at(const schema::JsonValue& value,
                                   std::initializer_list<std::string_view> names) {
  const schema::JsonValue* found = &value;
  for (const std::string_view name : names) {
    found = found->find(name);
    if (found == nullptr) {
      std::abort();
    }
  }
  return *found;
}

inline const std::string& text_at(const schema::JsonValue& value,
                                  std::initializer_list<std::string_view> names) {
  const std::string* text = at(value, names).as_string();
  if (text == nullptr) {
    std::abort();
  }
  return *text;
}

inline schema::Bytes unhex(std::string_view text) {
  return schema::from_hex(text).value();
}

inline schema::Bytes bytes_at(const schema::JsonValue& value,
                              std::initializer_list<std::string_view> names) {
  return unhex(text_at(value, names));
}

inline schema::PublicKey public_key(std::string_view hex) {
  return schema::PublicKey::from_hex_text(hex).value();
}

// The key whose seed is `byte` thirty-two times; make_vectors.py has the same.
inline crypto::SigningKey test_key(std::uint8_t byte) {
  std::array<std::uint8_t, 32> seed{};
  seed.fill(byte);
  return crypto::SigningKey::from_seed(seed).value();
}

}  // namespace aasm::test
