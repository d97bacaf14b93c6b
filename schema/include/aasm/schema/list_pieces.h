#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "aasm/schema/fields.h"
#include "aasm/schema/json_write.h"

// Lists that are too long for one record (docs/spec/ledger-format.md section 3).
namespace aasm::schema {

// What a list may take of one record's body, which has 48 KiB and 4,000 members.
inline constexpr std::size_t kPieceBytes = std::size_t{36} * 1024;
inline constexpr std::size_t kPieceItems = 256;
inline constexpr std::size_t kPieceMembers = 3500;

// Members of objects and elements of lists, as the profile counts them.
inline std::size_t num_members(const JsonValue& value) {
  std::size_t count = 0;
  if (const auto* list = value.as_array()) {
    for (const JsonValue& one : *list) {
      count += 1 + num_members(one);
    }
  } else if (const auto* object = value.as_object()) {
    for (const auto& member : *object) {
      count += 1 + num_members(member.second);
    }
  }
  return count;
}

// `items` in order, in pieces that fit a record each; one empty piece for an empty list.
template <class T>
std::vector<std::vector<T>> split_for_records(std::vector<T> items) {
  std::vector<std::vector<T>> pieces(1);
  std::size_t bytes = 0;
  std::size_t members = 0;
  for (T& item : items) {
    const JsonValue value = write_fields(item);
    const std::size_t size = json_write(value).size() + 1;
    const std::size_t has = 1 + num_members(value);
    const bool full = bytes + size > kPieceBytes || members + has > kPieceMembers ||
                      pieces.back().size() >= kPieceItems;
    if (full && !pieces.back().empty()) {
      pieces.emplace_back();
      bytes = members = 0;
    }
    bytes += size;
    members += has;
    pieces.back().push_back(std::move(item));
  }
  return pieces;
}

}  // namespace aasm::schema
