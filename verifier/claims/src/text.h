#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "aasm/schema/enum_names.h"
#include "aasm/schema/record_activity.h"

namespace aasm::claims {

// escape_for_display(), cut to about `limit` bytes with "..." at the end: for details that quote
// something from a record.
std::string shown(std::string_view text, std::size_t limit = 160);

// "1 action", "3 actions".
std::string counted(std::int64_t number, std::string_view noun);

std::string joined(const std::vector<std::string>& items, std::string_view separator);

void sort_unique(std::vector<std::string>& items);

// token() as a string, for concatenation.
template <schema::NamedEnum E>
std::string name_of(E value) {
  return std::string(schema::token(value));
}

// a + b, stopping at the largest integer a record can hold.
std::int64_t add_saturating(std::int64_t a, std::int64_t b);

// "  text" and a newline.
std::string line(const std::string& text);

// A heading and its lines; nothing at all without lines.
std::string block(std::string_view heading, const std::string& lines);

// "  label: a, b", the items escaped; "none" without any.
std::string list_line(std::string_view label, const std::vector<std::string>& items);

// The object as it was named: raw bytes. An address as "10.0.0.1:443/tcp".
std::string object_text(const schema::EventObject& object);

}  // namespace aasm::claims
