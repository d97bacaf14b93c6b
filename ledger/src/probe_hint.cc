#include "probe_hint.h"

#include <array>
#include <charconv>
#include <utility>

#include "aasm/crypto/hash.h"
#include "aasm/schema/fields.h"
#include "aasm/schema/json_write.h"

#include "private_files.h"

namespace aasm::ledger {
namespace {

using schema::ErrorCode;
using schema::Result;

constexpr std::size_t kHintMaxBytes = 128;

std::optional<ProbeHint> parse_hint(std::string_view text) {
  ProbeHint hint;
  const char* end = text.data() + text.size();
  const auto [after, failed] = std::from_chars(text.data(), end, hint.seq);
  if (failed != std::errc() || after == end || *after != ' ' || text.back() != '\n') {
    return std::nullopt;
  }
  text.remove_prefix(static_cast<std::size_t>(after - text.data()) + 1);
  text.remove_suffix(1);
  Result<schema::LeafHash> leaf = schema::LeafHash::from_hex_text(text);
  if (!leaf) {
    return std::nullopt;
  }
  hint.leaf = *leaf;
  return hint;
}

}  // namespace

std::string probe_hint_name(std::string_view backend, const schema::HostConditions& conditions) {
  const schema::JsonValue key = schema::JsonValue::Object{
      {"backend", backend}, {"conditions", schema::write_fields(conditions)}};
  return crypto::sha256(schema::as_bytes(schema::json_write(key))).hex();
}

Result<void> write_probe_hint(const std::string& directory, const std::string& name,
                              const ProbeHint& hint) {
  const Fd fd = AASM_TRY(ensure_private_dir(directory));
  return replace_private_file(fd.get(), name,
                              std::to_string(hint.seq) + " " + hint.leaf.hex() + "\n");
}

Result<std::optional<ProbeHint>> read_probe_hint(const std::string& directory,
                                                 const std::string& name) {
  const auto absent_or_error = [](schema::Error error) -> Result<std::optional<ProbeHint>> {
    if (error.code() == ErrorCode::kNotFound) {
      return std::optional<ProbeHint>();
    }
    return error;
  };
  const Result<Fd> fd = open_private_dir(directory);
  if (!fd) {
    return absent_or_error(fd.error());
  }
  std::array<char, kHintMaxBytes> buffer{};
  const Result<std::string_view> text =
      read_private_file(fd->get(), name, buffer.data(), buffer.size());
  if (!text) {
    return absent_or_error(text.error());
  }
  return parse_hint(*text);
}

}  // namespace aasm::ledger
