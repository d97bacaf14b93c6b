#include "own_files.h"

#include <sys/stat.h>
#include <system_error>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <vector>

#include "aasm/schema/utf8.h"

namespace aasm::cli {
namespace {

std::string attributes_of(const std::string& path, bool with_time) {
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0) {
    return errno == ENOENT ? "missing" : std::string("unreadable: ") + std::strerror(errno);
  }
  std::ostringstream out;
  out << "owner " << info.st_uid << ", group " << info.st_gid << ", mode " << std::oct
      << (info.st_mode & 07777U) << std::dec;
  if (with_time) {
    out << ", changed " << info.st_ctim.tv_sec << "." << info.st_ctim.tv_nsec;
  }
  return out.str();
}

}  // namespace

OwnFiles OwnFiles::look(const Home& home, const std::string& ledger) {
  OwnFiles own;
  for (const std::string& path : {home.root(), ledger, home.heads()}) {
    own.add(path, false);
  }
  std::vector<std::string> at_rest = {home.keys(), home.trust(), home.trust_keys()};
  std::error_code error;
  std::filesystem::directory_iterator entry(home.keys(), error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    at_rest.push_back(entry->path().string());
  }
  for (const std::string& path : at_rest) {
    own.add(path, true);
  }
  return own;
}

void OwnFiles::add(const std::string& path, bool with_time) {
  state_[path] = {with_time, attributes_of(path, with_time)};
}

// Each by itself: a folder that cannot be listed now says nothing of what is in it.
std::string OwnFiles::change() const {
  for (const auto& [path, was] : state_) {
    const std::string is = attributes_of(path, was.with_time);
    if (is != was.attributes) {
      std::string text = "attributes of aasm's own files changed during the run: ";
      text += schema::escape_for_display(path) + ": ";
      text += was.attributes + "; then ";
      return text += is;
    }
  }
  return {};
}

}  // namespace aasm::cli
