#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "aasm/planner/yaml_tree.h"

namespace aasm::planner {

// From the parser's places (lines and columns from 0, columns in bytes, -1 for none) to places for
// people. The last line of `text` is not part of the document: what is missed there was missed at
// the document's end. Borrows the text; not for concurrent use.
class LineIndex {
 public:
  explicit LineIndex(std::string_view text);

  // The text from a place on; empty for no place.
  std::string_view from(int line, int column) const;
  Position position(int line, int column);

 private:
  bool known(int line, int column) const;
  std::size_t offset_of(int line, int column) const;

  std::string_view text_;
  std::vector<std::size_t> starts_;
  std::size_t document_lines_ = 0;
  // Where the last answer stood: a document may be one long line, asked about often.
  std::size_t last_line_ = 0;
  std::size_t last_offset_ = 0;
  std::int64_t last_column_ = 1;
};

}  // namespace aasm::planner
