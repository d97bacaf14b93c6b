#include "attribution.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <optional>
#include <string_view>
#include <utility>

#include "aasm/process/proc_status.h"

#include "caller_state.h"

namespace aasm::backend_native {
namespace {

process::Fd open_process(std::int64_t pid) {
  const std::string path = "/proc/" + std::to_string(pid);
  return process::Fd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

process::Fd open_below(const process::Fd& directory, const char* name) {
  return process::Fd(::openat(directory.get(), name, O_RDONLY | O_CLOEXEC));
}

constexpr std::size_t kStart = 4096;

// The start of a file as it is now; empty when it cannot be read.
std::string read_start(const process::Fd& file) {
  std::array<char, kStart> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  const ssize_t got = file ? ::pread(file.get(), buffer.data(), buffer.size(), 0) : -1;
  return got > 0 ? std::string(buffer.data(), static_cast<std::size_t>(got)) : std::string();
}

std::optional<std::int64_t> leading_number(std::string_view text) {
  std::int64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc{}) {
    return std::nullopt;
  }
  return number;
}

// "Tgid:\t123". The process chooses its name, which stands in the first line; the kernel escapes
// newlines in it, so no line of its making can look like this one.
std::optional<std::int64_t> thread_group(const std::string& status) {
  constexpr std::string_view kField = "\nTgid:\t";
  const std::size_t at = status.find(kField);
  if (at == std::string::npos) {
    return std::nullopt;
  }
  return leading_number(std::string_view(status).substr(at + kField.size()));
}

// The fourth field of stat: "123 (name) S 45". The name may hold parentheses; the last one ends it.
std::optional<std::int64_t> parent_of(const process::Fd& directory) {
  const std::string stat = read_start(open_below(directory, "stat"));
  const std::size_t end = stat.rfind(')');
  if (end == std::string::npos || end + 4 > stat.size()) {
    return std::nullopt;
  }
  return leading_number(std::string_view(stat).substr(end + 4));
}

std::optional<schema::PathBytes> executable_of(const process::Fd& directory) {
  std::array<char, PATH_MAX + 1> buffer{};
  const ssize_t got = ::readlinkat(directory.get(), "exe", buffer.data(), buffer.size());
  if (got < 0) {
    return std::nullopt;
  }
  return schema::PathBytes(std::string(buffer.data(), static_cast<std::size_t>(got)));
}

}  // namespace

void Attribution::make_room() {
  if (known_.size() < capacity_) {
    return;
  }
  const auto oldest =
      std::min_element(known_.begin(), known_.end(), [](const auto& left, const auto& right) {
        return left.second.last_use < right.second.last_use;
      });
  known_.erase(oldest);
}

Attribution::Known* Attribution::open_thread(pid_t tid) {
  known_.erase(tid);
  Known known;
  known.directory = open_process(tid);
  if (!known.directory && errno == EMFILE) {
    known_.clear();
    known.directory = open_process(tid);
  }
  if (!known.directory) {
    return nullptr;
  }
  known.status = open_below(known.directory, "status");
  if (!known.status && errno == EMFILE) {
    known_.clear();
    known.status = open_below(known.directory, "status");
  }
  std::string status = read_start(known.status);
  const std::optional<std::int64_t> pid = thread_group(status);
  if (!pid) {
    return nullptr;
  }
  known.pid = *pid;
  fresh_ = {tid, std::move(status)};
  make_room();
  return &known_.emplace(tid, std::move(known)).first->second;
}

Caller Attribution::identify(pid_t tid) {
  ++uses_;
  fresh_ = {};
  const auto found = known_.find(tid);
  Known* known = found == known_.end() ? nullptr : &found->second;
  std::optional<schema::PathBytes> executable;
  if (known != nullptr) {
    executable = executable_of(known->directory);
  }
  const bool certain = executable.has_value();
  if (!executable) {
    // New here, or ended and its number reused, or unreadable: only opening it again can tell.
    known = open_thread(tid);
    if (known == nullptr) {
      return {};
    }
    executable = executable_of(known->directory);
  }
  known->last_use = uses_;
  Caller caller;
  caller.pid = known->pid;
  caller.certain = certain;
  caller.executable = std::move(executable).value_or(schema::PathBytes());
  return caller;
}

schema::Result<std::string> Attribution::status(pid_t tid) const {
  std::string text;
  if (const auto found = known_.find(tid); fresh_.tid == tid) {
    text = fresh_.status;
  } else if (found != known_.end()) {
    text = read_start(found->second.status);
  }
  // Who is in hundreds of groups has a longer one.
  const bool whole = !text.empty() && text.size() < kStart;
  return whole ? schema::Result<std::string>(std::move(text))
               : process::read_small_file("/proc/" + std::to_string(tid) + "/status");
}

schema::Result<process::Fd> Attribution::take_descriptor(pid_t tid, int number) {
  const auto found = known_.find(tid);
  if (found == known_.end()) {
    return backend_native::take_descriptor(tid, number);
  }
  process::Fd& thread = found->second.thread;
  if (!thread) {
    thread = AASM_TRY(open_caller(tid));
  }
  return backend_native::take_descriptor(thread, number);
}

std::optional<std::int64_t> Attribution::held_parent(std::int64_t pid) const {
  const auto found = known_.find(static_cast<pid_t>(pid));
  const bool held = found != known_.end() && found->second.pid == pid;
  return held ? parent_of(found->second.directory) : std::nullopt;
}

// What is held and answers still has had its number all the time. The root is ours to wait for, so
// nobody else has had its.
std::vector<std::int64_t> Attribution::parents(std::int64_t pid) const {
  std::vector<std::int64_t> chain;
  const std::int64_t self = ::getpid();
  process::Fd child;  // empty where it is held
  std::optional<std::int64_t> parent = held_parent(pid);
  if (!parent) {
    child = open_process(pid);
    parent = parent_of(child);
  }
  while (parent && *parent > 0 && chain.size() < kMaxParents) {
    if (*parent == self && self != root_) {
      break;
    }
    std::optional<std::int64_t> next;
    if (*parent != root_ && !(next = held_parent(*parent))) {
      process::Fd directory = open_process(*parent);
      if ((child ? parent_of(child) : held_parent(pid)) != parent) {
        break;
      }
      next = parent_of(directory);
      child = std::move(directory);
    } else {
      child.reset();
    }
    chain.push_back(*parent);
    pid = *parent;
    parent = next;
  }
  return chain;
}

}  // namespace aasm::backend_native
