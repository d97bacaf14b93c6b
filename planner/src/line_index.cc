#include "line_index.h"

#include <algorithm>

namespace aasm::planner {

LineIndex::LineIndex(std::string_view text) : text_(text) {
  starts_.push_back(0);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') {
      starts_.push_back(i + 1);
    }
  }
  document_lines_ = std::max<std::size_t>(starts_.size(), 3) - 2;
}

std::string_view LineIndex::from(int line, int column) const {
  return known(line, column) ? text_.substr(offset_of(line, column)) : std::string_view();
}

Position LineIndex::position(int line, int column) {
  if (!known(line, column)) {
    return {};
  }
  const auto index = static_cast<std::size_t>(line);
  if (index >= document_lines_) {
    return {static_cast<std::int64_t>(document_lines_), 1};
  }
  const std::size_t offset = offset_of(line, column);
  if (index != last_line_ || offset < last_offset_) {
    last_line_ = index;
    last_offset_ = starts_[index];
    last_column_ = 1;
  }
  const std::size_t step = offset - last_offset_;
  last_column_ += position_of(text_.substr(last_offset_, step), step).column - 1;
  last_offset_ = offset;
  return {line + 1, last_column_};
}

bool LineIndex::known(int line, int column) const {
  return line >= 0 && column >= 0 && static_cast<std::size_t>(line) < starts_.size();
}

std::size_t LineIndex::offset_of(int line, int column) const {
  const auto index = static_cast<std::size_t>(line);
  const std::size_t end = index + 1 < starts_.size() ? starts_[index + 1] - 1 : text_.size();
  return std::min(end, starts_[index] + static_cast<std::size_t>(column));
}

}  // namespace aasm::planner
