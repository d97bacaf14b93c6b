#include "aasm/planner/suggest.h"

#include <algorithm>

namespace aasm::planner {
namespace {

constexpr std::size_t kMaxWord = 64;
constexpr std::size_t kShortList = 12;

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string folded(std::string_view word) {
  std::string text(word.substr(0, kMaxWord));
  std::transform(text.begin(), text.end(), text.begin(), lower);
  return text;
}

}  // namespace

std::size_t edit_distance(std::string_view one, std::string_view other) {
  const std::string a = folded(one);
  const std::string b = folded(other);
  // Three rows of the usual table: two back is needed for swaps.
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) {
    row[j] = j;
  }
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(before, above);
    std::swap(above, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
  }
  return row[b.size()];
}

std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates) {
  const std::size_t limit = std::max<std::size_t>(1, std::min(word.size(), kMaxWord) / 3);
  std::optional<std::string> best;
  std::size_t best_distance = limit + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string suggestion_text(std::string_view word, std::span<const std::string> candidates) {
  if (const std::optional<std::string> near = nearest(word, candidates)) {
    return "; did you mean `" + *near + "`?";
  }
  if (candidates.empty() || candidates.size() > kShortList) {
    return "";
  }
  std::string text = "; known here: ";
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    text.append(i == 0 ? "`" : ", `").append(candidates[i]).append("`");
  }
  return text;
}

}  // namespace aasm::planner
