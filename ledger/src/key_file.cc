#include "key_file.h"

#include <array>
#include <cstdint>
#include <optional>

#include "aasm/crypto/secret.h"
#include "aasm/ledger_format/origin.h"
#include "aasm/schema/digest.h"

namespace aasm::ledger {
namespace {

using schema::Error;
using schema::ErrorCode;
using schema::Result;

constexpr std::string_view kFirstLine = "aasm-key/1";
constexpr std::string_view kHexDigits = "0123456789abcdef";

// schema::to_hex and from_hex would leave copies of the seed in freed memory.
void append_hex(std::span<const std::uint8_t, 32> bytes, std::string& out) {
  for (const std::uint8_t byte : bytes) {
    out.push_back(kHexDigits[byte >> 4]);
    out.push_back(kHexDigits[byte & 15U]);
  }
}

bool read_hex(std::string_view text, std::array<std::uint8_t, 32>& out) {
  if (text.size() != 64) {
    return false;
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t digit = kHexDigits.find(text[i]);
    if (digit == std::string_view::npos) {
      return false;
    }
    const auto high = static_cast<unsigned>(out[i / 2]) << 4;
    out[i / 2] = static_cast<std::uint8_t>((high | digit) & 0xffU);
  }
  return true;
}

// Takes the next line and returns what follows `word` and a space on it.
std::optional<std::string_view> take_value(std::string_view& text, std::string_view word) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) {
    return std::nullopt;
  }
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  if (line.substr(0, word.size()) != word || line.size() <= word.size() ||
      line[word.size()] != ' ') {
    return std::nullopt;
  }
  return line.substr(word.size() + 1);
}

}  // namespace

void write_key_file(std::string_view origin, std::string_view purpose,
                    const crypto::SigningKey& key, std::string& out) {
  out.append(kFirstLine).append("\norigin ").append(origin);
  out.append("\npurpose ").append(purpose).append("\npublic ");
  append_hex(key.public_key().bytes, out);
  out.append("\nseed ");
  append_hex(key.seed(), out);
  out.push_back('\n');
}

Result<KeyFile> parse_key_file(std::string_view text, std::string_view purpose) {
  const Error malformed(ErrorCode::kMalformed,
                        "not a key file for purpose " + std::string(purpose));
  if (text.substr(0, kFirstLine.size() + 1) != std::string(kFirstLine) + "\n") {
    return malformed;
  }
  text.remove_prefix(kFirstLine.size() + 1);
  const auto origin = take_value(text, "origin");
  const auto found_purpose = origin ? take_value(text, "purpose") : std::nullopt;
  const auto public_hex = found_purpose ? take_value(text, "public") : std::nullopt;
  const auto seed_hex = public_hex ? take_value(text, "seed") : std::nullopt;
  std::array<std::uint8_t, 32> seed{};
  if (!seed_hex || !text.empty() || *found_purpose != purpose || !read_hex(*seed_hex, seed)) {
    crypto::wipe_bytes(seed);
    return malformed;
  }
  Result<crypto::SigningKey> key = crypto::SigningKey::from_seed(seed);
  crypto::wipe_bytes(seed);
  AASM_TRY(ledger_format::check_origin(*origin));
  crypto::SigningKey signing_key = AASM_TRY(std::move(key));
  if (AASM_TRY(schema::PublicKey::from_hex_text(*public_hex)) != signing_key.public_key()) {
    return Error(ErrorCode::kIntegrity, "the public key is not that of the seed");
  }
  return KeyFile{std::string(*origin), std::move(signing_key)};
}

}  // namespace aasm::ledger
