#include <algorithm>
#include <optional>

#include "aasm/ledger_format/origin.h"
#include "aasm/ledger_format/trust.h"
#include "aasm/schema/utf8.h"

#include "text.h"
#include "trust_lines.h"

namespace aasm::ledger_format {
namespace {

schema::Result<void> add_root(TrustKeys& keys, const detail::TrustLine& line) {
  if (line.words.size() != 3) {
    return detail::at_line(line.number, "expected: root <origin> <vkey>");
  }
  const std::string_view origin = line.words[1];
  if (!is_key_name(origin)) {
    return detail::at_line(line.number, "not an origin");
  }
  VerifierKey key =
      AASM_TRY(detail::parse_line_key(line.number, line.words[2], NoteKeyType::kEd25519));
  const bool duplicate =
      std::any_of(keys.roots.begin(), keys.roots.end(),
                  [origin](const TrustedRoot& root) { return root.origin == origin; });
  if (duplicate) {
    return detail::at_line(line.number, "a second root for one origin");
  }
  if (keys.roots.size() == kTrustMaxEntries) {
    return detail::at_line(line.number, "too many roots");
  }
  keys.roots.push_back({std::string(origin), std::move(key)});
  return {};
}

schema::Result<void> add_revoked(TrustKeys& keys, const detail::TrustLine& line) {
  if (line.words.size() != 3) {
    return detail::at_line(line.number, "expected: revoked <keyid> <size>");
  }
  const schema::Result<schema::KeyId> key = schema::KeyId::from_hex_text(line.words[1]);
  if (!key) {
    return detail::at_line(line.number, "a key id is 64 lower-case hex digits");
  }
  const std::optional<std::uint64_t> size = detail::parse_decimal(line.words[2]);
  if (!size) {
    return detail::at_line(line.number, "a size is a decimal number");
  }
  const bool duplicate = std::any_of(keys.revoked.begin(), keys.revoked.end(),
                                     [&key](const RevokedKey& other) { return other.key == *key; });
  if (duplicate) {
    return detail::at_line(line.number, "a second revocation of one key");
  }
  if (keys.revoked.size() == kTrustMaxEntries) {
    return detail::at_line(line.number, "too many revoked keys");
  }
  keys.revoked.push_back({*key, *size});
  return {};
}

schema::Result<void> add_line(TrustKeys& keys, const detail::TrustLine& line) {
  if (line.words.front() == "root") {
    return add_root(keys, line);
  }
  if (line.words.front() == "revoked") {
    return add_revoked(keys, line);
  }
  return detail::at_line(line.number, "expected root or revoked");
}

}  // namespace

schema::Result<TrustKeys> parse_trust_keys(std::string_view text) {
  TrustKeys keys;
  for (const detail::TrustLine& line : AASM_TRY(detail::split_trust_lines(text))) {
    AASM_TRY(add_line(keys, line));
  }
  return keys;
}

std::string format_trust_keys(const TrustKeys& keys) {
  std::string out;
  for (const TrustedRoot& root : keys.roots) {
    out += "root " + root.origin + " " + root.key.text() + "\n";
  }
  for (const RevokedKey& revoked : keys.revoked) {
    out += "revoked " + revoked.key.hex() + " " + std::to_string(revoked.size) + "\n";
  }
  return out;
}

}  // namespace aasm::ledger_format
