#include "aasm/schema/utf8.h"

#include <array>
#include <cstdint>
#include <cstring>

#include "utf8_decode.h"

namespace aasm::schema {
namespace detail {
namespace {

// What the first byte of a sequence says: how many bytes follow, which of its bits count, and
// the range of the second byte. That range is where table 3-7 keeps out overlong forms (E0, F0),
// surrogates (ED) and values past U+10FFFF (F4).
struct Lead {
  std::size_t following = 0;
  std::uint8_t bits = 0;
  std::uint8_t second_min = 0x80;
  std::uint8_t second_max = 0xBF;
};

constexpr Lead kNotALead{};

Lead lead_of(std::uint8_t byte) {
  if (byte < 0xC2 || byte > 0xF4) {
    return kNotALead;
  }
  if (byte < 0xE0) {
    return {1, static_cast<std::uint8_t>(byte & 0x1FU), 0x80, 0xBF};
  }
  if (byte < 0xF0) {
    const std::uint8_t low = byte == 0xE0 ? 0xA0 : 0x80;
    const std::uint8_t high = byte == 0xED ? 0x9F : 0xBF;
    return {2, static_cast<std::uint8_t>(byte & 0x0FU), low, high};
  }
  const std::uint8_t low = byte == 0xF0 ? 0x90 : 0x80;
  const std::uint8_t high = byte == 0xF4 ? 0x8F : 0xBF;
  return {3, static_cast<std::uint8_t>(byte & 0x07U), low, high};
}

// Length of the prefix of `bytes` that is ASCII, in whole steps of eight.
std::size_t ascii_prefix(std::string_view bytes) {
  constexpr std::uint64_t kHighBits = 0x8080808080808080U;
  std::size_t at = 0;
  std::uint64_t word = 0;
  for (; at + sizeof(word) <= bytes.size(); at += sizeof(word)) {
    std::memcpy(&word, bytes.data() + at, sizeof(word));
    if ((word & kHighBits) != 0) {
      break;
    }
  }
  return at;
}

}  // namespace

CodePoint decode_utf8(std::string_view bytes) {
  const auto first = static_cast<std::uint8_t>(bytes.front());
  if (first < 0x80) {
    return {first, 1};
  }
  const Lead lead = lead_of(first);
  if (lead.following == 0 || bytes.size() <= lead.following) {
    return {};
  }
  const auto second = static_cast<std::uint8_t>(bytes[1]);
  if (second < lead.second_min || second > lead.second_max) {
    return {};
  }
  char32_t value = lead.bits;
  for (std::size_t i = 1; i <= lead.following; ++i) {
    const auto byte = static_cast<std::uint8_t>(bytes[i]);
    if ((byte & 0xC0U) != 0x80) {
      return {};
    }
    value = (value << 6U) | (byte & 0x3FU);
  }
  return {value, lead.following + 1};
}

std::size_t find_invalid_utf8(std::string_view bytes) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    at += ascii_prefix(bytes.substr(at));
    if (at == bytes.size()) {
      break;
    }
    const CodePoint point = decode_utf8(bytes.substr(at));
    if (point.length == 0) {
      return at;
    }
    at += point.length;
  }
  return std::string_view::npos;
}

}  // namespace detail

namespace {

struct Range {
  char32_t first;
  char32_t last;
};

// Beyond ASCII, what a terminal acts on, what reorders or breaks a line, and what shows nothing
// and so lets two different names look alike. The joiners U+200C and U+200D stay: several scripts
// need them.
constexpr std::array kHidden = {
    Range{0x80, 0x9F},        // C1
    Range{0xAD, 0xAD},        // soft hyphen
    Range{0x61C, 0x61C},      // Arabic letter mark
    Range{0x200B, 0x200B},    // zero width space
    Range{0x200E, 0x200F},    // left-to-right and right-to-left marks
    Range{0x2028, 0x202E},    // line and paragraph separators, embeddings and overrides
    Range{0x2060, 0x206F},    // invisible operators, isolates, deprecated format characters
    Range{0xFEFF, 0xFEFF},    // byte order mark
    Range{0xFFF9, 0xFFFB},    // interlinear annotation
    Range{0xE0000, 0xE007F},  // tags
};

bool is_hidden(char32_t value) {
  for (const Range& range : kHidden) {
    if (value >= range.first && value <= range.last) {
      return true;
    }
  }
  return false;
}

constexpr std::string_view kHexDigits = "0123456789abcdef";

void append_byte_escape(std::string& out, std::uint8_t byte) {
  out += "\\x";
  out += kHexDigits[byte >> 4U];
  out += kHexDigits[byte & 0xFU];
}

void append_ascii(std::string& out, char c) {
  switch (c) {
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  const auto byte = static_cast<std::uint8_t>(c);
  if (byte < 0x20 || byte == 0x7F) {
    append_byte_escape(out, byte);
    return;
  }
  out += c;
}

void append_code_point_escape(std::string& out, char32_t value) {
  out += "\\u{";
  unsigned shift = 20;
  while (shift > 0 && (value >> shift) == 0) {
    shift -= 4;
  }
  for (;; shift -= 4) {
    out += kHexDigits[(value >> shift) & 0xFU];
    if (shift == 0) {
      break;
    }
  }
  out += '}';
}

}  // namespace

bool is_valid_utf8(std::string_view bytes) {
  return detail::find_invalid_utf8(bytes) == std::string_view::npos;
}

std::string escape_for_display(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const detail::CodePoint point = detail::decode_utf8(text);
    if (point.length == 0) {
      append_byte_escape(out, static_cast<std::uint8_t>(text.front()));
      text.remove_prefix(1);
      continue;
    }
    if (point.length == 1) {
      append_ascii(out, text.front());
    } else if (is_hidden(point.value)) {
      append_code_point_escape(out, point.value);
    } else {
      out += text.substr(0, point.length);
    }
    text.remove_prefix(point.length);
  }
  return out;
}

}  // namespace aasm::schema
