#include "trust_lines.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "aasm/ledger_format/trust.h"

#include "text.h"

namespace aasm::ledger_format::detail {
namespace {

bool is_allowed(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return c == '\t' || (byte >= 0x20 && byte != 0x7F);
}

}  // namespace

schema::Result<std::vector<TrustLine>> split_trust_lines(std::string_view text) {
  if (text.size() > kTrustMaxBytes) {
    return malformed("a trust file of more than " + std::to_string(kTrustMaxBytes) + " bytes");
  }
  std::vector<TrustLine> lines;
  std::size_t number = 1;
  while (const std::optional<std::string_view> line = take_line(text)) {
    if (!std::all_of(line->begin(), line->end(), is_allowed)) {
      return at_line(number, "a control character");
    }
    std::vector<std::string_view> words = split_words(*line);
    if (!words.empty() && words.front().front() != '#') {
      lines.push_back({number, std::move(words)});
    }
    ++number;
  }
  if (!text.empty()) {
    return at_line(number, "the last line has no newline");
  }
  return lines;
}

schema::Result<VerifierKey> parse_line_key(std::size_t number, std::string_view text,
                                           NoteKeyType type) {
  VerifierKey key = AASM_TRY_CONTEXT(VerifierKey::parse(text), "line " + std::to_string(number));
  if (key.type() != type) {
    return at_line(number, "a verifier key of a type that does not belong here");
  }
  return key;
}

}  // namespace aasm::ledger_format::detail
