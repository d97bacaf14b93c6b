#include "aasm/planner/path_walk.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <deque>
#include <string_view>
#include <utility>

#include "aasm/schema/utf8.h"

namespace aasm::planner {
namespace {

using schema::Error;
using schema::ErrorCode;
using schema::Result;

constexpr int kMaxLinks = 40;  // as the kernel's MAXSYMLINKS

FileId id_of(const struct stat& facts) {
  return {static_cast<std::uint64_t>(facts.st_dev), static_cast<std::uint64_t>(facts.st_ino)};
}

std::deque<std::string> split(std::string_view path) {
  std::deque<std::string> parts;
  while (!path.empty()) {
    const std::string_view part = path.substr(0, path.find('/'));
    path.remove_prefix(part.size() == path.size() ? part.size() : part.size() + 1);
    if (!part.empty() && part != ".") {
      parts.emplace_back(part);
    }
  }
  return parts;
}

using Seen = std::unordered_map<std::string, LstatAnswer>;

class Walk {
 public:
  Walk(const std::string& path, Seen& seen) : seen_(seen), asked_(path), pending_(split(path)) {}

  Result<WalkedPath> run() {
    if (!enter_root()) {
      return std::move(out_);
    }
    while (!pending_.empty()) {
      const bool going = AASM_TRY(step());
      if (!going) {
        append_rest();
        return std::move(out_);
      }
    }
    out_.exists = true;
    out_.end = id_of(facts_);
    out_.hard_links = static_cast<std::uint64_t>(facts_.st_nlink);
    out_.is_directory = S_ISDIR(facts_.st_mode);
    out_.resolved = at_.empty() ? "/" : at_;
    return std::move(out_);
  }

 private:
  const LstatAnswer& look(const std::string& place) {
    const auto [entry, first] = seen_.try_emplace(place);
    if (first && ::lstat(place.c_str(), &entry->second.facts) != 0) {
      entry->second.os_errno = errno;
    }
    return entry->second;
  }

  bool enter_root() {
    at_.clear();
    const LstatAnswer& root = look("/");
    if (root.os_errno != 0) {
      out_.os_errno = root.os_errno;
      append_rest();
      return false;
    }
    facts_ = root.facts;
    out_.visited.push_back(id_of(facts_));
    return true;
  }

  // One component. False when the path does not go on.
  Result<bool> step() {
    const std::string part = std::move(pending_.front());
    pending_.pop_front();
    if (part == "..") {
      // Asked by this name, the kernel checks that the directory may be searched.
      const LstatAnswer& parent = look(at_ + "/..");
      if (parent.os_errno != 0) {
        return stopped(parent.os_errno, part);
      }
      at_.resize(at_.rfind('/') == std::string::npos ? 0 : at_.rfind('/'));
      facts_ = parent.facts;
      return true;
    }
    const std::string next = at_ + "/" + part;
    const LstatAnswer& answer = look(next);
    if (answer.os_errno != 0) {
      return stopped(answer.os_errno, part);
    }
    const struct stat& facts = answer.facts;
    out_.visited.push_back(id_of(facts));
    if (S_ISLNK(facts.st_mode)) {
      return follow(next, facts);
    }
    if (!pending_.empty() && !S_ISDIR(facts.st_mode)) {
      return stopped(ENOTDIR, part);
    }
    at_ = next;
    facts_ = facts;
    return true;
  }

  Result<bool> follow(const std::string& link, const struct stat& facts) {
    if (on_procfs(facts)) {
      return Error(ErrorCode::kUnsupported, "`" + schema::escape_for_display(asked_) +
                                                "` goes through " +
                                                schema::escape_for_display(link) +
                                                ", which names another file for each process");
    }
    if (++links_ > kMaxLinks) {
      return Error(ErrorCode::kMalformed, "`" + schema::escape_for_display(asked_) +
                                              "` goes through more than 40 symbolic links");
    }
    std::array<char, PATH_MAX> buffer{};
    const ssize_t length = ::readlink(link.c_str(), buffer.data(), buffer.size());
    if (length < 0) {
      return stopped(errno, link.substr(link.rfind('/') + 1));
    }
    const std::string_view target(buffer.data(), static_cast<std::size_t>(length));
    out_.links.emplace_back(link, target);
    std::deque<std::string> parts = split(target);
    pending_.insert(pending_.begin(), std::make_move_iterator(parts.begin()),
                    std::make_move_iterator(parts.end()));
    if (!target.empty() && target.front() == '/') {
      return enter_root();
    }
    return true;
  }

  // Links of procfs are not ordinary links: their target depends on who follows them.
  static bool on_procfs(const struct stat& facts) {
    struct stat proc = {};
    struct stat root = {};
    return ::stat("/proc", &proc) == 0 && ::stat("/", &root) == 0 && proc.st_dev != root.st_dev &&
           proc.st_dev == facts.st_dev;
  }

  bool stopped(int os_errno, const std::string& part) {
    out_.os_errno = os_errno;
    if (!part.empty()) {
      pending_.push_front(part);
    }
    return false;
  }

  void append_rest() {
    out_.resolved = at_;
    for (const std::string& part : pending_) {
      out_.resolved.append("/").append(part);
    }
    if (out_.resolved.empty()) {
      out_.resolved = "/";
    }
  }

  Seen& seen_;
  const std::string& asked_;
  std::deque<std::string> pending_;
  std::string at_;  // resolved so far, without a slash at its end; empty for the root
  struct stat facts_ = {};
  int links_ = 0;
  WalkedPath out_;
};

}  // namespace

Result<WalkedPath> walk_path(const std::string& path) {
  Seen seen;
  return Walk(path, seen).run();
}

PathWalker::PathWalker() : memory_(std::make_shared<Memory>()) {}

Result<WalkedPath> PathWalker::operator()(const std::string& path) const {
  const auto known = memory_->walked.find(path);
  if (known != memory_->walked.end()) {
    return known->second;
  }
  WalkedPath walked = AASM_TRY(Walk(path, memory_->seen).run());
  memory_->walked.emplace(path, walked);
  return walked;
}

}  // namespace aasm::planner
