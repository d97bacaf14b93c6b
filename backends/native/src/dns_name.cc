#include "dns_name.h"

#include <algorithm>

namespace aasm::backend_native::dns {
namespace {

constexpr std::uint8_t kPointerBits = 0xC0;
constexpr std::size_t kHeaderBytes = 12;

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

std::string escaped(char c) {
  const auto value = static_cast<unsigned>(static_cast<unsigned char>(c));
  const std::string digits = std::to_string(value);
  return "\\" + std::string(3 - digits.size(), '0') + digits;
}

}  // namespace

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::optional<Name> read_name(std::span<const std::uint8_t> message, std::size_t at,
                              Pointers pointers) {
  Name name;
  std::size_t lowest = at;
  while (at < message.size()) {
    const std::uint8_t length = message[at];
    if ((length & kPointerBits) == kPointerBits) {
      if (pointers == Pointers::kRefused || at + 1 >= message.size()) {
        return std::nullopt;
      }
      const std::size_t target = static_cast<std::size_t>(length & 0x3FU) << 8U | message[at + 1];
      if (target >= lowest || target < kHeaderBytes) {
        return std::nullopt;
      }
      name.end = name.end == 0 ? at + 2 : name.end;
      at = lowest = target;
      continue;
    }
    if (length > kMaxLabelBytes || at + 1 + length > message.size() ||
        name.wire.size() + 1 + length > kMaxNameBytes) {
      return std::nullopt;
    }
    name.wire.append(reinterpret_cast<const char*>(message.data()) + at, std::size_t{1} + length);
    at += std::size_t{1} + length;
    if (length == 0) {
      name.end = name.end == 0 ? at : name.end;
      return name;
    }
  }
  return std::nullopt;
}

std::string name_text(std::string_view wire) {
  std::string text;
  for (std::size_t at = 0; at < wire.size() && wire[at] != 0;) {
    const std::size_t length = static_cast<unsigned char>(wire[at]);
    text += text.empty() ? "" : ".";
    for (const char c : wire.substr(at + 1, length)) {
      text += is_plain(lower(c)) ? std::string(1, lower(c)) : escaped(c);
    }
    at += 1 + length;
  }
  return text.empty() ? "." : text;
}

std::optional<std::string> name_wire(std::string_view text) {
  std::string wire;
  if (!text.empty() && text.back() == '.') {
    text.remove_suffix(1);
  }
  while (true) {
    const std::size_t dot = text.find('.');
    const std::string_view label = text.substr(0, dot);
    if (label.empty() || label.size() > kMaxLabelBytes ||
        label.find('\\') != std::string_view::npos) {
      return std::nullopt;
    }
    wire += static_cast<char>(label.size());
    wire += label;
    if (dot == std::string_view::npos) {
      break;
    }
    text.remove_prefix(dot + 1);
  }
  wire += '\0';
  return wire.size() <= kMaxNameBytes ? std::optional(wire) : std::nullopt;
}

// A length is no letter: it is 63 at most.
bool same_name(std::string_view one_wire, std::string_view other_wire) {
  return std::equal(one_wire.begin(), one_wire.end(), other_wire.begin(), other_wire.end(),
                    [](char a, char b) { return lower(a) == lower(b); });
}

}  // namespace aasm::backend_native::dns
