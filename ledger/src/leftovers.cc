#include "leftovers.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <vector>

#include "private_files.h"

namespace aasm::ledger {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSuffixDigits = 16;  // of random_suffix()

bool is_leftover(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) {
    return false;
  }
  const std::string_view rest = name.substr(prefix.size());
  const std::string_view digits = rest.substr(0, kSuffixDigits);
  const std::string_view companion = rest.substr(digits.size());
  return digits.size() == kSuffixDigits &&
         digits.find_first_not_of("0123456789abcdef") == std::string_view::npos &&
         (companion.empty() || companion == "-wal" || companion == "-shm" ||
          companion == "-journal");
}

}  // namespace

void remove_leftovers(const std::string& path) {
  const std::string prefix = fs::path(path).filename().string() + ".new-";
  std::vector<fs::path> found;
  std::error_code code;
  for (fs::directory_iterator at(parent_of(path), code); !code && at != fs::directory_iterator();
       at.increment(code)) {
    if (is_leftover(at->path().filename().string(), prefix)) {
      found.push_back(at->path());
    }
  }
  for (const fs::path& one : found) {
    fs::remove_all(one, code);
  }
}

}  // namespace aasm::ledger
