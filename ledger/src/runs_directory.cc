#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <string_view>
#include <utility>

#include "aasm/crypto/hash.h"

#include "private_files.h"
#include "run_lock.h"

// RunsDirectory: what stands in runs/.
namespace aasm::ledger {
namespace {

using schema::ErrorCode;
using schema::Result;

constexpr std::string_view kFirstLine = "aasm-run/1\n";
constexpr std::string_view kSuffix = ".lock";
constexpr std::size_t kNoteMaxBytes = 512;

struct CloseDir {
  void operator()(DIR* directory) const { closedir(directory); }
};

Result<std::vector<std::string>> list(int directory) {
  Fd copy(openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!copy.valid()) {
    return os_error("opening the runs directory", errno);
  }
  const std::unique_ptr<DIR, CloseDir> stream(fdopendir(copy.get()));
  if (stream == nullptr) {
    return os_error("reading the runs directory", errno);
  }
  static_cast<void>(copy.release());  // the stream's now
  std::vector<std::string> names;
  while (const dirent* entry = readdir(stream.get())) {
    names.emplace_back(entry->d_name);
  }
  return names;
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  std::uint64_t size = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), size);
  const bool whole = end == text.data() + text.size();
  return code == std::errc() && whole && !text.empty() ? std::optional(size) : std::nullopt;
}

std::string marker_prefix(const std::string& origin) {
  return "swept-" + crypto::sha256(schema::as_bytes(origin)).hex().substr(0, 16) + "-";
}

std::string read_start(int file) {
  std::array<char, kNoteMaxBytes> buffer{};
  const ssize_t got = pread(file, buffer.data(), buffer.size(), 0);
  return {buffer.data(), got > 0 ? static_cast<std::size_t>(got) : 0};
}

std::optional<RunLockNote> parse_note(std::string_view text) {
  if (!text.starts_with(kFirstLine) || text.back() != '\n') {
    return std::nullopt;
  }
  text.remove_prefix(kFirstLine.size());
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos || end + 1 == text.size()) {
    return std::nullopt;
  }
  const auto size = parse_size(text.substr(end + 1, text.size() - end - 2));
  return size ? std::optional(RunLockNote{std::string(text.substr(0, end)), *size}) : std::nullopt;
}

// The file, if it is there and nobody holds it.
Fd lock_if_free(int directory, const std::string& name) {
  Fd file(openat(directory, name.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  const bool taken = file.valid() && flock(file.get(), LOCK_EX | LOCK_NB) == 0 &&
                     fstat(file.get(), &status) == 0 && status.st_nlink > 0;
  return taken ? std::move(file) : Fd();
}

// A lock file that has not got its name: ".<run id>.lock.new-<16 hex>".
bool is_unnamed_lock(std::string_view name) {
  constexpr std::string_view kBefore = ".lock.new-";
  constexpr std::size_t kSuffixDigits = 16;
  const std::size_t at = name.find(kBefore);
  if (!name.starts_with('.') || at == std::string_view::npos) {
    return false;
  }
  const std::string_view digits = name.substr(at + kBefore.size());
  return digits.size() == kSuffixDigits &&
         digits.find_first_not_of("0123456789abcdef") == std::string_view::npos &&
         schema::RunId::parse(std::string(name.substr(1, at - 1))).has_value();
}

}  // namespace

Result<std::optional<RunsDirectory>> RunsDirectory::read(const std::string& path) {
  Result<Fd> directory = open_private_dir(path);
  if (!directory) {
    if (directory.error().code() == ErrorCode::kNotFound) {
      return std::optional<RunsDirectory>();
    }
    return std::move(directory).error().with_context("runs directory");
  }
  RunsDirectory runs(std::move(*directory));
  runs.names_ = AASM_TRY(list(runs.directory_.get()));
  return std::optional<RunsDirectory>(std::move(runs));
}

bool RunsDirectory::has_lock(const schema::RunId& run) const {
  return std::find(names_.begin(), names_.end(), run.text() + std::string(kSuffix)) != names_.end();
}

Result<std::vector<StaleLock>> RunsDirectory::take_stale() const {
  std::vector<StaleLock> stale;
  for (const std::string& name : names_) {
    if (stale.size() == kMaxStale || !name.ends_with(kSuffix)) {
      continue;
    }
    const Result<schema::RunId> run =
        schema::RunId::parse(name.substr(0, name.size() - kSuffix.size()));
    if (!run) {
      continue;
    }
    Fd file = lock_if_free(directory_.get(), name);
    if (!file.valid()) {
      continue;
    }
    const std::string text = read_start(file.get());
    std::optional<RunLockNote> note = parse_note(text);
    if (!note && !text.empty()) {
      continue;  // not ours: left alone
    }
    Fd directory(openat(directory_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!directory.valid()) {
      return os_error("opening the runs directory", errno);
    }
    stale.push_back({*run, std::move(note), RunLock(std::move(directory), std::move(file), name)});
  }
  return stale;
}

void RunsDirectory::remove_unnamed() const {
  for (const std::string& name : names_) {
    const Fd file = is_unnamed_lock(name) ? lock_if_free(directory_.get(), name) : Fd();
    if (file.valid()) {
      unlinkat(directory_.get(), name.c_str(), 0);
    }
  }
}

bool RunsDirectory::is_swept(const std::string& origin, const std::string& boot) const {
  return std::find(names_.begin(), names_.end(), marker_prefix(origin) + boot) != names_.end();
}

std::uint64_t RunsDirectory::swept_size(const std::string& origin) const {
  const std::string prefix = marker_prefix(origin);
  std::uint64_t largest = 0;
  for (const std::string& name : names_) {
    const Fd file(name.starts_with(prefix)
                      ? openat(directory_.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
                      : -1);
    std::string text = file.valid() ? read_start(file.get()) : std::string();
    if (text.ends_with('\n')) {
      text.pop_back();
      largest = std::max(largest, parse_size(text).value_or(0));
    }
  }
  return largest;
}

void RunsDirectory::mark_swept(const std::string& path, const std::string& origin,
                               const std::string& boot, std::uint64_t size) {
  const Result<Fd> directory = ensure_private_dir(path);
  const std::string name = marker_prefix(origin) + boot;
  if (!directory ||
      !replace_private_file(directory->get(), name, std::to_string(size) + "\n").has_value()) {
    return;
  }
  const Result<std::vector<std::string>> names = list(directory->get());
  for (const std::string& other : names ? *names : std::vector<std::string>()) {
    if (other.starts_with(marker_prefix(origin)) && other != name) {
      unlinkat(directory->get(), other.c_str(), 0);
    }
  }
}

}  // namespace aasm::ledger
