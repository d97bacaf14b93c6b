#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace aasm::planner {

// A place in a document, for people: both count from 1, the column in characters.
struct Position {
  std::int64_t line = 1;
  std::int64_t column = 1;

  auto operator<=>(const Position&) const = default;
};

// Something wrong with a document. One sentence, safe for a terminal.
struct Problem {
  Position at;
  std::string text;
};

struct YamlMember;

// One node of a YAML document after every alias has been replaced by what it names. Values only:
// no tags, no anchors, no numbers or booleans (the decoder reads those from the text). A map has
// no key twice.
struct YamlNode {
  enum class Kind : std::uint8_t { kNull, kScalar, kSequence, kMap };

  Kind kind = Kind::kNull;
  Position at;
  std::string text;     // scalar
  bool quoted = false;  // scalar: in quotes or a block, so never a number or a keyword
  bool folded = false;  // scalar: unquoted and going on over more than one line
  std::vector<YamlNode> items;
  std::vector<YamlMember> members;
};

struct YamlMember {
  std::string key;
  Position key_at;
  YamlNode value;
};

// Limits of a policy document. Aliases count each use; nodes count what aliases expand to.
inline constexpr std::size_t kPolicyMaxBytes = std::size_t{1024} * 1024;
inline constexpr std::size_t kYamlMaxDepth = 32;
inline constexpr std::size_t kYamlMaxNodes = 20000;
inline constexpr std::size_t kYamlMaxAliases = 64;
inline constexpr std::size_t kYamlMaxText = 4 * kPolicyMaxBytes;

// Exactly one of the two is set.
struct ParsedYaml {
  std::optional<YamlNode> root;
  std::optional<Problem> problem;
};

// Reads exactly one YAML document. Refused with its place: what is not UTF-8, a byte order mark,
// NUL and other control characters, characters that reorder or break lines unseen, tabs in
// indentation, directives, tags, a key twice in a map, keys that are not text, a second document,
// an unclosed quote, and whatever passes a limit above. Never throws; memory is linear in the
// limits.
ParsedYaml parse_yaml(std::string_view bytes);

// Where `offset` of `bytes` stands. An offset past the end is the end.
Position position_of(std::string_view bytes, std::size_t offset);

}  // namespace aasm::planner
