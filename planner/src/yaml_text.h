#pragma once

#include <cstddef>
#include <string_view>

#include "aasm/planner/yaml_tree.h"

// Places in the text of a YAML document that has been read without a fault, by what the reader does
// not tell: where a node ends.
namespace aasm::planner {

std::size_t offset_at(std::string_view text, const Position& at);
std::size_t line_start(std::string_view text, std::size_t offset);
// How many blanks the line of `offset` begins with.
std::size_t line_indent(std::string_view text, std::size_t offset);

// Of a list or map in brackets that opens at `open`: its closing bracket, and the last byte before
// that which is neither blank nor comment (the opening bracket where it is empty).
struct FlowEnd {
  std::size_t close = 0;
  std::size_t last = 0;
};
FlowEnd flow_end(std::string_view text, std::size_t open);

// Behind the last line, blank ones and comments aside, of the block list or map whose first dash or
// key stands at `first` in `column`.
std::size_t block_end(std::string_view text, std::size_t first, std::size_t column, bool list);

}  // namespace aasm::planner
