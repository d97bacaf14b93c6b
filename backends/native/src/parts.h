#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "aasm/schema/fields.h"
#include "aasm/schema/json_write.h"

namespace aasm::backend_native {

// What a list may take of one record's body, which has 48 KiB and 4,000 members
// (docs/spec/ledger-format.md section 3). An item of our lists has at most 10 members.
inline constexpr std::size_t kPartBytes = std::size_t{36} * 1024;
inline constexpr std::size_t kPartItems = 256;

// `items` in order, in pieces that fit a record each; one empty piece for an empty list.
template <class T>
std::vector<std::vector<T>> split_for_records(std::vector<T> items) {
  std::vector<std::vector<T>> pieces(1);
  std::size_t bytes = 0;
  for (T& item : items) {
    const std::size_t size = schema::json_write(schema::write_fields(item)).size() + 1;
    const bool full = bytes + size > kPartBytes || pieces.back().size() >= kPartItems;
    if (full && !pieces.back().empty()) {
      pieces.emplace_back();
      bytes = 0;
    }
    bytes += size;
    pieces.back().push_back(std::move(item));
  }
  return pieces;
}

}  // namespace aasm::backend_native
