#include "mountinfo.h"

#include <fcntl.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "aasm/process/fd.h"

namespace aasm::backend_native {
namespace {

constexpr std::size_t kMaxMountinfo = std::size_t{16} * 1024 * 1024;

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

// Takes the field and its space off the line.
std::string_view next_field(std::string_view* line) {
  const std::size_t end = std::min(line->find(' '), line->size());
  const std::string_view field = line->substr(0, end);
  line->remove_prefix(std::min(end + 1, line->size()));
  return field;
}

// "36 35 8:1 ROOT PLACE rw,noatime master:1 - TYPE SOURCE OPTIONS"
std::optional<Mount> read_line(std::string_view line) {
  constexpr std::string_view kDash = " - ";
  const std::size_t dash = line.find(kDash);
  if (dash == std::string_view::npos) {
    return std::nullopt;
  }
  std::string_view before = line.substr(0, dash);
  std::string_view after = line.substr(dash + kDash.size());
  next_field(&before);  // id, parent
  next_field(&before);
  Mount mount;
  mount.device = next_field(&before);
  mount.root = unescaped(next_field(&before));
  mount.place = unescaped(next_field(&before));
  mount.type = next_field(&after);
  next_field(&after);  // source
  mount.super_options = next_field(&after);
  return mount.place.empty() ? std::nullopt : std::optional<Mount>(std::move(mount));
}

}  // namespace

std::vector<Mount> read_mounts(std::string_view mountinfo) {
  std::vector<Mount> mounts;
  while (!mountinfo.empty()) {
    const std::size_t end = std::min(mountinfo.find('\n'), mountinfo.size());
    if (std::optional<Mount> mount = read_line(mountinfo.substr(0, end))) {
      mounts.push_back(std::move(*mount));
    }
    mountinfo.remove_prefix(std::min(end + 1, mountinfo.size()));
  }
  return mounts;
}

schema::Result<std::string> read_mountinfo() {
  const process::Fd file = AASM_TRY(process::open_file("/proc/self/mountinfo", O_RDONLY));
  return process::read_all(file.borrow(), kMaxMountinfo);
}

}  // namespace aasm::backend_native
