#include "yaml_text.h"

#include <algorithm>

namespace aasm::planner {
namespace {

bool is_continuation(char one) {
  return (static_cast<unsigned char>(one) & 0xC0U) == 0x80U;
}

std::size_t line_end(std::string_view text, std::size_t offset) {
  const std::size_t end = text.find('\n', offset);
  return end == std::string_view::npos ? text.size() : end + 1;
}

// Behind a quoted scalar that begins at `at`.
std::size_t behind_quotes(std::string_view text, std::size_t at) {
  const char quote = text[at];
  for (++at; at < text.size(); ++at) {
    if (quote == '"' && text[at] == '\\') {
      ++at;
    } else if (text[at] == quote) {
      if (quote == '\'' && at + 1 < text.size() && text[at + 1] == '\'') {
        ++at;
        continue;
      }
      return at + 1;
    }
  }
  return text.size();
}

// A quote opens a scalar only where one may begin, and a # a comment only behind a blank.
bool begins_here(std::string_view text, std::size_t at) {
  return at == 0 || std::string_view(" \t\r\n,[{:").find(text[at - 1]) != std::string_view::npos;
}

bool is_blank(char one) {
  return one == ' ' || one == '\t' || one == '\r' || one == '\n';
}

}  // namespace

std::size_t offset_at(std::string_view text, const Position& at) {
  std::size_t offset = 0;
  for (std::int64_t line = 1; line < at.line; ++line) {
    offset = line_end(text, offset);
  }
  for (std::int64_t column = 1; column < at.column && offset < text.size(); ++column) {
    do {
      ++offset;
    } while (offset < text.size() && is_continuation(text[offset]));
  }
  return offset;
}

std::size_t line_start(std::string_view text, std::size_t offset) {
  const std::size_t newline = offset == 0 ? std::string_view::npos : text.rfind('\n', offset - 1);
  return newline == std::string_view::npos ? 0 : newline + 1;
}

std::size_t line_indent(std::string_view text, std::size_t offset) {
  const std::size_t start = line_start(text, offset);
  const std::size_t found = text.find_first_not_of(' ', start);
  return (found == std::string_view::npos ? text.size() : found) - start;
}

FlowEnd flow_end(std::string_view text, std::size_t open) {
  FlowEnd end{open, open};
  int depth = 0;
  for (std::size_t at = open; at < text.size();) {
    const char one = text[at];
    if (one == '#' && begins_here(text, at)) {
      at = line_end(text, at);
      continue;
    }
    if ((one == '"' || one == '\'') && begins_here(text, at)) {
      at = behind_quotes(text, at);
      end.last = at - 1;
      continue;
    }
    depth += one == '[' || one == '{' ? 1 : one == ']' || one == '}' ? -1 : 0;
    if (depth == 0) {
      end.close = at;
      return end;
    }
    end.last = is_blank(one) ? end.last : at;
    ++at;
  }
  return end;
}

std::size_t block_end(std::string_view text, std::size_t first, std::size_t column, bool list) {
  std::size_t end = line_end(text, first);
  for (std::size_t line = end; line < text.size();) {
    const std::size_t next = line_end(text, line);
    const std::string_view content = text.substr(line, next - line);
    const std::size_t indent = content.find_first_not_of(' ');
    const bool empty = indent == std::string_view::npos || content[indent] == '\n' ||
                       content[indent] == '\r' || content[indent] == '#';
    if (!empty) {
      const bool same = indent == column && (!list || content[indent] == '-');
      if (indent < column || (indent == column && !same) || content.substr(0, 3) == "---" ||
          content.substr(0, 3) == "...") {
        return end;
      }
      end = next;
    }
    line = next;
  }
  return end;
}

}  // namespace aasm::planner
