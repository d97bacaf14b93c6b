#include "yaml_prescan.h"

#include <array>
#include <cstdint>
#include <utility>

#include "aasm/schema/utf8.h"

namespace aasm::planner {
namespace {

struct Refused {
  std::string_view sequence;
  const char* why;
};

// Characters that look like nothing, or make a line read in another order than it is parsed.
constexpr std::array kRefused = {
    Refused{"\xEF\xBB\xBF", "a byte order mark; save the file as UTF-8 without one"},
    // NOLINTBEGIN(misc-misleading-bidirectional): spelled as escapes, which mislead nobody
    Refused{"\xE2\x80\xA8", "a line separator that editors do not show (U+2028)"},
    Refused{"\xE2\x80\xA9", "a paragraph separator that editors do not show (U+2029)"},
    Refused{"\xE2\x80\x8B", "a character that shows nothing (U+200B)"},
    Refused{"\xE2\x80\x8E", "a character that changes the reading direction (U+200E)"},
    Refused{"\xE2\x80\x8F", "a character that changes the reading direction (U+200F)"},
    Refused{"\xD8\x9C", "a character that changes the reading direction (U+061C)"},
    Refused{"\xE2\x80\xAA", "a character that changes the reading direction (U+202A)"},
    Refused{"\xE2\x80\xAB", "a character that changes the reading direction (U+202B)"},
    Refused{"\xE2\x80\xAC", "a character that changes the reading direction (U+202C)"},
    Refused{"\xE2\x80\xAD", "a character that changes the reading direction (U+202D)"},
    Refused{"\xE2\x80\xAE", "a character that changes the reading direction (U+202E)"},
    Refused{"\xE2\x81\xA6", "a character that changes the reading direction (U+2066)"},
    Refused{"\xE2\x81\xA7", "a character that changes the reading direction (U+2067)"},
    Refused{"\xE2\x81\xA8", "a character that changes the reading direction (U+2068)"},
    Refused{"\xE2\x81\xA9", "a character that changes the reading direction (U+2069)"},
    // NOLINTEND(misc-misleading-bidirectional)
};

std::size_t sequence_length(char lead) {
  const auto byte = static_cast<std::uint8_t>(lead);
  if (byte < 0xC0) {
    return 1;
  }
  if (byte < 0xE0) {
    return 2;
  }
  return byte < 0xF0 ? 3 : 4;
}

// Why a control character may not stand there; nullptr when it may.
const char* control_fault(std::string_view bytes, std::size_t at) {
  const auto byte = static_cast<std::uint8_t>(bytes[at]);
  if (byte == 0) {
    return "a NUL byte";
  }
  if (byte == '\r') {
    const bool line_end = at + 1 < bytes.size() && bytes[at + 1] == '\n';
    return line_end ? nullptr : "a carriage return that ends no line";
  }
  if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7F) {
    return "a control character";
  }
  return nullptr;
}

const char* multibyte_fault(std::string_view character) {
  if (!schema::is_valid_utf8(character)) {
    return "bytes that are not UTF-8";
  }
  if (character.size() == 2 && character[0] == '\xC2' &&
      static_cast<std::uint8_t>(character[1]) < 0xA0) {
    return "a control character";
  }
  for (const Refused& refused : kRefused) {
    if (character == refused.sequence) {
      return refused.why;
    }
  }
  return nullptr;
}

// Follows the start of each line, where a tab or a percent sign has a meaning of its own.
class LineStart {
 public:
  const char* fault(char byte) {
    const bool first = std::exchange(first_, false);
    if (byte == '\n') {
      first_ = true;
      indenting_ = true;
      return nullptr;
    }
    if (first && byte == '%') {
      return "a YAML directive (a line that starts with %); remove the line";
    }
    if (indenting_ && byte == '\t') {
      return "a tab in the indentation; indent with spaces";
    }
    indenting_ = indenting_ && (byte == ' ' || byte == '-' || byte == '?');
    return nullptr;
  }

 private:
  bool first_ = true;
  bool indenting_ = true;
};

Problem problem_at(std::string_view bytes, std::size_t offset, const char* why) {
  return {position_of(bytes, offset), std::string("the document holds ") + why};
}

}  // namespace

std::optional<Problem> prescan_yaml(std::string_view bytes) {
  if (bytes.size() > kPolicyMaxBytes) {
    return Problem{{}, "the document is larger than 1 MiB (1048576 bytes)"};
  }
  LineStart line;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t length = sequence_length(bytes[at]);
    const std::string_view character = bytes.substr(at, length);
    const bool ascii = static_cast<std::uint8_t>(bytes[at]) < 0x80;
    const char* why = ascii ? control_fault(bytes, at) : multibyte_fault(character);
    if (why == nullptr) {
      why = line.fault(bytes[at]);
    }
    if (why != nullptr) {
      return problem_at(bytes, at, why);
    }
    at += length;
  }
  return std::nullopt;
}

Position position_of(std::string_view bytes, std::size_t offset) {
  Position at;
  for (std::size_t i = 0; i < offset && i < bytes.size(); ++i) {
    if (bytes[i] == '\n') {
      ++at.line;
      at.column = 1;
    } else if ((static_cast<std::uint8_t>(bytes[i]) & 0xC0U) != 0x80) {
      ++at.column;
    }
  }
  return at;
}

}  // namespace aasm::planner
