#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace aasm::planner {

// Which of many paths cover a path, found by asking for each of its parents: the time depends on
// its depth and hardly on how many there are.
class PathIndex {
 public:
  // `path` as normalised_path() gives it. Of equal paths the first one counts.
  void add(std::string path, std::size_t number) { numbers_.emplace(std::move(path), number); }

  // The number of the widest entry that covers `path`, itself included; nullopt when none does.
  std::optional<std::size_t> widest(std::string_view path) const {
    for (std::size_t end = 1; end <= path.size(); end = next_end(path, end)) {
      const auto found = numbers_.find(path.substr(0, end));
      if (found != numbers_.end()) {
        return found->second;
      }
    }
    return std::nullopt;
  }

 private:
  // Where the parent that is one component longer ends: "/" has one byte, "/usr" four.
  static std::size_t next_end(std::string_view path, std::size_t end) {
    if (end >= path.size()) {
      return path.size() + 1;
    }
    const std::size_t slash = path.find('/', end == 1 ? 1 : end + 1);
    return slash == std::string_view::npos ? path.size() : slash;
  }

  std::map<std::string, std::size_t, std::less<>> numbers_;
};

}  // namespace aasm::planner
