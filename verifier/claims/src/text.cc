#include "text.h"

#include <algorithm>

#include "aasm/schema/json_value.h"
#include "aasm/schema/utf8.h"

namespace aasm::claims {

std::string shown(std::string_view text, std::size_t limit) {
  std::string escaped = schema::escape_for_display(text);
  if (escaped.size() <= limit) {
    return escaped;
  }
  std::size_t end = limit;
  // A continuation byte of UTF-8 is 10xxxxxx: step back to where a character begins.
  while (end > 0 && (static_cast<unsigned char>(escaped[end]) & 0xC0U) == 0x80U) {
    --end;
  }
  return escaped.substr(0, end) + "...";
}

std::string counted(std::int64_t number, std::string_view noun) {
  std::string text = std::to_string(number) + " " + std::string(noun);
  return number == 1 ? text : text + "s";
}

std::string joined(const std::vector<std::string>& items, std::string_view separator) {
  std::string text;
  for (const std::string& item : items) {
    if (!text.empty()) {
      text += separator;
    }
    text += item;
  }
  return text;
}

void sort_unique(std::vector<std::string>& items) {
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
}

std::int64_t add_saturating(std::int64_t a, std::int64_t b) {
  if (b <= 0) {
    return a;
  }
  return a > schema::kJsonMaxInteger - b ? schema::kJsonMaxInteger : a + b;
}

std::string line(const std::string& text) {
  return "  " + text + "\n";
}

std::string block(std::string_view heading, const std::string& lines) {
  return lines.empty() ? "" : "\n" + std::string(heading) + "\n" + lines;
}

std::string list_line(std::string_view label, const std::vector<std::string>& items) {
  std::vector<std::string> shown_items;
  shown_items.reserve(items.size());
  for (const std::string& item : items) {
    shown_items.push_back(schema::escape_for_display(item));
  }
  return line(std::string(label) + ": " + (items.empty() ? "none" : joined(shown_items, ", ")));
}

std::string object_text(const schema::EventObject& object) {
  if (object.address) {
    const bool v6 = object.address->find(':') != std::string::npos;
    return (v6 ? "[" + *object.address + "]" : *object.address) + ":" +
           std::to_string(object.port.value_or(0)) + "/" + object.protocol.value_or("");
  }
  if (object.path) {
    return object.path->bytes();
  }
  if (object.type == schema::ObjectType::kUnlisted) {
    return "objects not listed";
  }
  // A call of another ABI has the name of one that may well be allowed.
  const bool other = object.arch == "x32" || object.arch == "i386";
  return other ? object.name + " (" + object.arch + ")" : object.name;
}

}  // namespace aasm::claims
