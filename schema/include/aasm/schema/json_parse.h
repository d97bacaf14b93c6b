#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "aasm/schema/json_value.h"
#include "aasm/schema/result.h"

namespace aasm::schema {

// Limits of profile `aasm-json-1`.
inline constexpr std::size_t kJsonMaxDepth = 32;
inline constexpr std::size_t kJsonMaxMembers = 8192;  // object members and array items, in all
inline constexpr std::size_t kPayloadMaxBytes = 65000;

// Parses exactly one JSON text of profile `aasm-json-1` (docs/spec/ledger-format.md section 2).
// Refused as kMalformed, naming what and the byte offset where: invalid UTF-8, BOM, NUL bytes,
// bytes after the value, duplicate keys (compared after escapes are read), keys that are empty or
// outside [A-Za-z0-9_.:/-], lone surrogates, real numbers, exponents, leading zeros, -0, integers
// past 2^53-1, more than kJsonMaxDepth levels or kJsonMaxMembers members (both stop the parse where
// they are passed). Messages repeat nothing of the text. A string may hold U+0000 as \u0000.
// The caller bounds the size of `text`: memory and time are linear in it, save n log n for keys.
// The top value may be of any type; callers that want an object check. Whitespace is accepted
// here: canonical form is a separate question, see json_is_canonical().
Result<JsonValue> json_parse(std::string_view text);

// The value of a text that is in canonical form, else nullopt: exactly when json_parse() takes it
// and json_is_canonical() holds, at a fraction of the cost of the two. The bounds are those of
// json_parse().
std::optional<JsonValue> json_parse_canonical(std::string_view text);

// True when `text` is byte for byte what json_write(value) gives (RFC 8785).
bool json_is_canonical(std::string_view text, const JsonValue& value);

}  // namespace aasm::schema
