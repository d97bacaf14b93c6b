#include "own_files.h"

#include <sys/stat.h>
#include <system_error>

#include <filesystem>
#include <sstream>
#include <vector>

#include "aasm/schema/utf8.h"

namespace aasm::cli {
namespace {

std::string attributes_of(const std::string& path, bool with_time) {
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0) {
    return "missing";
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
    own.state_[path] = attributes_of(path, false);
  }
  std::vector<std::string> at_rest = {home.keys(), home.trust(), home.trust_keys()};
  std::error_code error;
  std::filesystem::directory_iterator entry(home.keys(), error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    at_rest.push_back(entry->path().string());
  }
  for (const std::string& path : at_rest) {
    own.state_[path] = attributes_of(path, true);
  }
  return own;
}

std::string OwnFiles::changed_since(const OwnFiles& before) const {
  for (const auto& [path, was] : before.state_) {
    const auto now = state_.find(path);
    const std::string is = now == state_.end() ? "missing" : now->second;
    if (is != was) {
      std::string text = "attributes of aasm's own files changed during the run: ";
      text += schema::escape_for_display(path) + ": ";
      text += was + "; then ";
      return text += is;
    }
  }
  return {};
}

}  // namespace aasm::cli
