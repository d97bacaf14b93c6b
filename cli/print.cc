#include "print.h"

#include <system_error>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>

#include "aasm/process/fd.h"
#include "aasm/schema/json_write.h"
#include "aasm/schema/time.h"
#include "aasm/schema/utf8.h"

namespace aasm::cli {
namespace {

// A reader that went away is no failure of the command.
void print_to(int fd, std::string_view text) {
  [[maybe_unused]] const schema::Result<void> done =
      process::write_all(process::BorrowedFd(fd), schema::as_bytes(text));
}

// Of a first byte of UTF-8, which json_write() gives.
std::size_t sequence_length(char first) {
  const auto byte = static_cast<unsigned char>(first);
  return byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

// "\u202e"; two units for what is past U+FFFF.
std::string utf16_escapes(std::string_view character) {
  std::uint32_t value = static_cast<unsigned char>(character[0]);
  value &= character.size() == 1 ? 0x7FU : 0xFFU >> (character.size() + 1);
  for (const char next : character.substr(1)) {
    value = (value << 6U) | (static_cast<unsigned char>(next) & 0x3FU);
  }
  const auto unit = [](std::uint32_t one) {
    std::array<char, 8> text{};
    std::snprintf(text.data(), text.size(), "\\u%04x", one & 0xFFFFU);
    return std::string(text.data());
  };
  if (value <= 0xFFFF) {
    return unit(value);
  }
  value -= 0x10000;
  return unit(0xD800U + (value >> 10U)) + unit(0xDC00U + (value & 0x3FFU));
}

}  // namespace

void print_out(std::string_view text) {
  print_to(STDOUT_FILENO, text);
}
schema::Result<void> write_out(std::string_view text) {
  schema::Result<void> done =
      process::write_all(process::BorrowedFd(STDOUT_FILENO), schema::as_bytes(text));
  if (!done && done.error().os_errno() == EPIPE) {
    return {};
  }
  return done;
}
void print_err(std::string_view text) {
  print_to(STDERR_FILENO, text);
}

std::string error_line(const schema::Error& error) {
  std::string line = "error: " + schema::escape_for_display(error.message());
  const std::string reason = std::generic_category().message(error.os_errno());
  if (error.os_errno() != 0 && error.message().find(reason) == std::string::npos) {
    line += " (" + reason + ")";
  }
  return line + "\n";
}

std::string json_line(const schema::JsonValue& value) {
  const std::string text = schema::json_write(value);
  std::string out;
  out.reserve(text.size() + 1);
  std::size_t at = 0;
  while (at < text.size()) {
    const std::string_view character(text.data() + at, sequence_length(text[at]));
    at += character.size();
    const bool plain = character.size() == 1 ? character[0] != 0x7F
                                             : schema::escape_for_display(character) == character;
    out += plain ? std::string(character) : utf16_escapes(character);
  }
  return out + "\n";
}

void print_json(const schema::JsonValue& value) {
  print_out(json_line(value));
}

std::string short_time(std::int64_t wall_ns) {
  std::string text = schema::format_wall(wall_ns);
  text.resize(19);
  text[10] = ' ';
  return text + "Z";
}

}  // namespace aasm::cli
