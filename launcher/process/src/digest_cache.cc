#include "aasm/process/digest_cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <tuple>
#include <vector>

#include "aasm/crypto/hash.h"
#include "aasm/process/proc_status.h"

#include "number.h"

namespace aasm::process {

namespace {

using schema::Error;
using schema::ErrorCode;
using schema::Result;
using schema::Sha256;

constexpr std::string_view kHeader = "aasm-digests/1\n";
constexpr std::size_t kMaxEntries = 512;
constexpr std::int64_t kMinAgeNs = 2'000'000'000;

Error malformed() {
  return Error(ErrorCode::kMalformed, "bad line in the digest cache");
}

// A regular file of ours that nobody else can have written.
bool is_trustworthy(const struct stat& info) {
  return S_ISREG(info.st_mode) && info.st_uid == ::geteuid() && (info.st_mode & 0022) == 0 &&
         info.st_nlink == 1;
}

Result<std::string> read_cache_file(const std::string& path) {
  const Fd fd = AASM_TRY(open_file(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  struct stat info = {};
  if (::fstat(fd.get(), &info) != 0 || !is_trustworthy(info)) {
    return Error(ErrorCode::kPermissionDenied, "the digest cache is not ours alone");
  }
  constexpr std::size_t kMaxBytes = 256UL << 10;
  return read_all(fd.borrow(), kMaxBytes);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string line_of(const FileIdentity& file, const Sha256& digest) {
  return std::to_string(file.device) + ' ' + std::to_string(file.inode) + ' ' +
         std::to_string(file.size) + ' ' + std::to_string(file.mtime_ns) + ' ' +
         std::to_string(file.ctime_ns) + ' ' + digest.hex() + '\n';
}

// The empty file of this name, locked while it is written, so that what a process that was killed
// left is taken over; or none, when somebody else writes it. It has one name, and is ours.
Result<Fd> take_temporary(const std::string& path) {
  Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
  if (!fd) {
    return system_error("opening " + path, errno);
  }
  struct stat held = {};
  struct stat named = {};
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0 || ::fstat(fd.get(), &held) != 0 ||
      ::lstat(path.c_str(), &named) != 0 || held.st_dev != named.st_dev ||
      held.st_ino != named.st_ino) {
    return Fd();
  }
  if (!is_trustworthy(held)) {
    return Error(ErrorCode::kPermissionDenied, path + " is not ours alone");
  }
  if (::fchmod(fd.get(), 0600) != 0 || ::ftruncate(fd.get(), 0) != 0) {
    return system_error("emptying " + path, errno);
  }
  return fd;
}

}  // namespace

bool DigestCache::Less::operator()(const FileIdentity& a, const FileIdentity& b) const {
  return std::tie(a.device, a.inode, a.size, a.mtime_ns, a.ctime_ns) <
         std::tie(b.device, b.inode, b.size, b.mtime_ns, b.ctime_ns);
}

Result<DigestCache::Entries> DigestCache::parse(std::string_view text) {
  if (text.substr(0, kHeader.size()) != kHeader || text.back() != '\n') {
    return malformed();
  }
  text = text.substr(kHeader.size());
  Entries entries;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const auto fields = split(text.substr(0, end), ' ');
    if (fields.size() != 6 || entries.size() == kMaxEntries) {
      return malformed();
    }
    FileIdentity file;
    file.device = AASM_TRY(parse_number<std::uint64_t>(fields[0]));
    file.inode = AASM_TRY(parse_number<std::uint64_t>(fields[1]));
    file.size = AASM_TRY(parse_number<std::int64_t>(fields[2]));
    file.mtime_ns = AASM_TRY(parse_number<std::int64_t>(fields[3]));
    file.ctime_ns = AASM_TRY(parse_number<std::int64_t>(fields[4]));
    entries.insert_or_assign(file, AASM_TRY(Sha256::from_hex_text(fields[5])));
    text = text.substr(end + 1);
  }
  return entries;
}

DigestCache DigestCache::load(std::string path) {
  DigestCache cache(std::move(path));
  // Whatever is wrong with the file, the answer is the same: hash again.
  const auto text = read_cache_file(cache.path_);
  if (text) {
    auto entries = parse(*text);
    if (entries) {
      cache.entries_ = std::move(*entries);
    }
  }
  return cache;
}

Result<Sha256> hash_file(BorrowedFd fd) {
  const FileIdentity before = AASM_TRY(identity_of(fd));
  crypto::Sha256Hasher hasher;
  constexpr std::size_t kChunk = 128UL << 10;
  std::vector<std::uint8_t> buffer(kChunk);
  off_t offset = 0;
  for (;;) {
    const ssize_t size = ::pread(fd.get(), buffer.data(), buffer.size(), offset);
    if (size < 0 && errno != EINTR) {
      return system_error("reading a file to hash", errno);
    }
    if (size == 0) {
      break;
    }
    if (size > 0) {
      hasher.update(schema::ByteView(buffer.data(), static_cast<std::size_t>(size)));
      offset += size;
    }
  }
  if (AASM_TRY(identity_of(fd)) != before || offset != before.size) {
    return Error(ErrorCode::kConflict, "the file changed while it was hashed");
  }
  return hasher.finish();
}

Result<FileDigest> DigestCache::digest_of(BorrowedFd fd) {
  const FileIdentity file = AASM_TRY(identity_of(fd));
  const auto known = entries_.find(file);
  if (known != entries_.end()) {
    return FileDigest{known->second, true};
  }
  const Sha256 digest = AASM_TRY(hash_file(fd));
  if (AASM_TRY(identity_of(fd)) == file && now_ns() - file.ctime_ns >= kMinAgeNs) {
    if (entries_.size() == kMaxEntries) {
      entries_.clear();
    }
    entries_.insert_or_assign(file, digest);
    changed_ = true;
  }
  return FileDigest{digest, false};
}

Result<void> DigestCache::save() {
  if (!changed_) {
    return {};
  }
  std::string text(kHeader);
  for (const auto& [file, digest] : entries_) {
    text += line_of(file, digest);
  }
  const std::string temporary = path_ + ".new";
  const Fd fd = AASM_TRY_CONTEXT(take_temporary(temporary), "creating the digest cache");
  if (!fd) {
    return {};  // somebody else is saving what they hashed
  }
  Result<void> written = write_all(fd.borrow(), schema::as_bytes(text));
  if (written && ::rename(temporary.c_str(), path_.c_str()) != 0) {
    written = system_error("renaming", errno);
  }
  if (!written) {
    ::unlink(temporary.c_str());
    return std::move(written).error().with_context("writing the digest cache");
  }
  changed_ = false;
  return {};
}

}  // namespace aasm::process
