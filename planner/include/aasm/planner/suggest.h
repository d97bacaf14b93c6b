#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace aasm::planner {

// Edits that turn one word into the other: insertions, deletions, substitutions and swaps of
// neighbours, each 1 (optimal string alignment). Case does not count. Words are cut at 64 bytes.
std::size_t edit_distance(std::string_view one, std::string_view other);

// The candidate nearest to `word`, when it is near enough to be a likely slip: at most a third of
// the word's length, and at least 1, in edits. The first of equals wins.
std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates);

// "; did you mean `allow`?" when something is near, else "; known here: `allow`, `deny`" when the
// list is short, else nothing.
std::string suggestion_text(std::string_view word, std::span<const std::string> candidates);

}  // namespace aasm::planner
