#include "aasm/process/shebang.h"

#include <algorithm>

namespace aasm::process {

namespace {

constexpr auto kNone = std::string::npos;

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

// Index of the first byte of [first, last] that is no blank. As the kernel, `last` is looked at
// too.
std::size_t next_non_blank(const std::string& buffer, std::size_t first, std::size_t last) {
  for (; first <= last; ++first) {
    if (!is_blank(buffer[first])) {
      return first;
    }
  }
  return kNone;
}

// Index of the first blank or NUL of [first, last].
std::size_t next_terminator(const std::string& buffer, std::size_t first, std::size_t last) {
  for (; first <= last; ++first) {
    if (is_blank(buffer[first]) || buffer[first] == '\0') {
      return first;
    }
  }
  return kNone;
}

// Where the line ends: at its newline, or at the buffer's end when the interpreter's name certainly
// fits. kNone when the kernel refuses the line.
std::size_t line_end(const std::string& buffer) {
  const std::size_t last = kExecBufferSize - 1;
  const std::size_t end = buffer.find('\n');
  // The kernel's search stops at a NUL as well.
  if (end != kNone && buffer.find('\0') > end) {
    return end;
  }
  const std::size_t name = next_non_blank(buffer, 2, last);
  if (name == kNone || next_terminator(buffer, name, last) == kNone) {
    return kNone;
  }
  return last;
}

// The bytes from `from` up to `end` or an earlier NUL.
std::string text_between(const std::string& buffer, std::size_t from, std::size_t end) {
  return buffer.substr(from, std::min(buffer.find('\0', from), end) - from);
}

ProgramHead parse_script(const std::string& buffer) {
  ProgramHead head;
  head.format = ProgramFormat::kBadScript;
  std::size_t end = line_end(buffer);
  if (end == kNone) {
    return head;
  }
  while (is_blank(buffer[end - 1])) {
    --end;
  }
  const std::size_t name = next_non_blank(buffer, 2, end);
  if (name == kNone || name == end) {
    return head;
  }
  const std::size_t separator = next_terminator(buffer, name, end);
  head.format = ProgramFormat::kScript;
  head.interpreter = text_between(buffer, name, std::min(separator, end));
  if (separator < end && buffer[separator] != '\0') {
    const std::size_t argument = next_non_blank(buffer, separator, end);
    head.argument = argument == kNone ? "" : text_between(buffer, argument, end);
  }
  return head;
}

}  // namespace

ProgramHead parse_program_head(std::string_view head) {
  if (head.substr(0, 4) == std::string_view("\x7F"
                                            "ELF")) {
    return {ProgramFormat::kElf, "", ""};
  }
  if (head.substr(0, 2) != "#!") {
    return {ProgramFormat::kOther, "", ""};
  }
  // The kernel's buffer is padded with NUL.
  std::string buffer(head.substr(0, kExecBufferSize));
  buffer.resize(kExecBufferSize, '\0');
  return parse_script(buffer);
}

}  // namespace aasm::process
