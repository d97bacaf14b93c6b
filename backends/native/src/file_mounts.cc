#include "file_mounts.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

namespace aasm::backend_native {
namespace {

struct Mount {
  std::string_view device;
  std::string root;   // in its filesystem
  std::string place;  // where it is shown
};

bool covers(std::string_view upper, std::string_view path) {
  return path.starts_with(upper) &&
         (path.size() == upper.size() || upper == "/" || path[upper.size()] == '/');
}

bool is_octal(std::string_view digits) {
  return digits.size() == 3 && digits.find_first_not_of("01234567") == std::string_view::npos;
}

// "\040" is a space.
std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view digits = text.substr(i + 1, 3);
    if (text[i] == '\\' && is_octal(digits)) {
      out += static_cast<char>((digits[0] - '0') * 64 + (digits[1] - '0') * 8 + (digits[2] - '0'));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::optional<Mount> read_line(std::string_view line) {
  std::array<std::string_view, 5> fields;  // id, parent, device, root, place
  for (std::string_view& field : fields) {
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) {
      return std::nullopt;
    }
    field = line.substr(0, space);
    line.remove_prefix(space + 1);
  }
  return Mount{fields[2], unescaped(fields[3]), unescaped(fields[4])};
}

std::vector<Mount> read_mounts(std::string_view text) {
  std::vector<Mount> mounts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (std::optional<Mount> mount = read_line(text.substr(0, end))) {
      mounts.push_back(std::move(*mount));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return mounts;
}

}  // namespace

std::vector<std::string> mounts_from_below(std::string_view mountinfo, std::string_view path) {
  const std::vector<Mount> mounts = read_mounts(mountinfo);
  const Mount* holds = nullptr;  // of equal places the later one is on top
  for (const Mount& mount : mounts) {
    if (covers(mount.place, path) &&
        (holds == nullptr || mount.place.size() >= holds->place.size())) {
      holds = &mount;
    }
  }
  std::vector<std::string> places;
  if (holds == nullptr) {
    return places;
  }
  const std::string_view rest = path.substr(holds->place == "/" ? 0 : holds->place.size());
  const std::string inside = (holds->root == "/" ? "" : holds->root) + std::string(rest);
  for (const Mount& mount : mounts) {
    if (mount.device == holds->device && mount.root.size() > inside.size() &&
        covers(inside, mount.root)) {
      places.push_back(mount.place);
    }
  }
  return places;
}

}  // namespace aasm::backend_native
