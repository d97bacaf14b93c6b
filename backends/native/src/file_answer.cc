#include "file_answer.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "aasm/process/proc_status.h"

namespace aasm::backend_native {
namespace {

using schema::Error;
using schema::ErrorCode;
using schema::Result;

constexpr std::size_t kMaxAbove = 2048;  // as many as a path has room for

std::optional<FileId> id_of(const process::Fd& fd) {
  struct stat status {};
  if (!fd || ::fstat(fd.get(), &status) != 0) {
    return std::nullopt;
  }
  return FileId{status.st_dev, status.st_ino};
}

process::Fd open_directory(int at, const std::string& name) {
  return process::Fd(::openat(at, name.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

// Without a descriptor of it the directory is what the path says, if the file is there.
process::Fd directory_by_path(const FoundPlace& place) {
  const std::size_t slash = place.path.rfind('/');
  if (place.path.empty() || place.path[0] != '/') {
    return {};
  }
  process::Fd directory = open_directory(AT_FDCWD, place.path.substr(0, slash + 1));
  struct stat status {};
  const std::string name = place.path.substr(slash + 1);
  const bool there = directory && ::fstatat(directory.get(), name.c_str(), &status,
                                            AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) == 0;
  const bool same = place.found.mode == 0 || (there && status.st_dev == place.found.device &&
                                              status.st_ino == place.found.inode);
  return same ? std::move(directory) : process::Fd();
}

// The name behind where it begins, as it is written: for one that leads nowhere. By itself where
// that is deeper than the kernel writes paths.
std::string written_path(const process::Fd& start, const std::string& name) {
  if (!start) {
    return name;
  }
  const Result<std::string> directory =
      process::read_link("/proc/self/fd/" + std::to_string(start.get()));
  if (directory && name.empty()) {  // of a call on the descriptor
    return directory->starts_with("/") ? *directory : std::string();
  }
  return !directory ? name : *directory + (*directory == "/" ? "" : "/") + name;
}

// A pipe, a memfd and what was removed have none: their links of proc(5) say something else.
std::string tree_path(const FoundPlace& place) {
  const bool removed = (place.found.flags & wire::kPlaceRemoved) != 0;
  return place.path[0] != '/' || removed ? std::string() : place.path;
}

bool take_text(const std::string& bytes, std::size_t* at, std::uint32_t size, std::string* text) {
  if (size > bytes.size() - *at) {
    return false;
  }
  text->assign(bytes, *at, size);
  *at += size;
  return true;
}

}  // namespace

Result<FileAnswer> read_file_answer(BrokerAnswer answer) {
  wire::BrokerFileReply reply{};
  const Error malformed(ErrorCode::kIntegrity, "a malformed answer from the broker", EPERM);
  if (answer.path.size() < sizeof reply) {
    return malformed;
  }
  std::memcpy(&reply, answer.path.data(), sizeof reply);
  FileAnswer file;
  file.result = answer.result;
  file.ours = (reply.flags & wire::kReplyOurs) != 0;
  std::size_t at = sizeof reply;
  for (std::size_t i = 0; i < file.places.size(); ++i) {
    FoundPlace& place = file.places.at(i);
    place.found = reply.places[i];
    if (!take_text(answer.path, &at, place.found.path_size, &place.path) ||
        !take_text(answer.path, &at, place.found.last_size, &place.last)) {
      return malformed;
    }
  }
  std::size_t next = 0;
  const std::array<std::pair<std::uint32_t, process::Fd*>, 4> wanted = {
      {{wire::kGivenFirst, &file.first},
       {wire::kGivenTarget, &file.target},
       {wire::kGivenSecond, &file.second},
       {wire::kGivenOpened, &file.opened}}};
  for (const auto& [bit, fd] : wanted) {
    if ((reply.given & bit) == 0) {
      continue;
    }
    if (next == answer.descriptors.size()) {
      return Error(ErrorCode::kResourceExhausted, "no room for a descriptor", EMFILE);
    }
    *fd = std::move(answer.descriptors[next++]);
  }
  return file;
}

ResolvedFile resolved_file(const FoundPlace& place, std::string name, const process::Fd& start) {
  ResolvedFile file;
  file.path = place.path.empty() ? written_path(start, name) : tree_path(place);
  const bool unnamed = file.path.empty() && name.empty();
  file.given = unnamed ? "a descriptor of no file" : std::move(name);
  file.exists = place.found.mode != 0;
  file.directory = S_ISDIR(place.found.mode);
  file.id = {place.found.device, place.found.inode};
  return file;
}

Result<std::vector<FileId>> directories_above(const FoundPlace& place,
                                              const process::Fd& directory) {
  std::vector<FileId> above;
  process::Fd current;
  errno = 0;
  if ((place.found.flags & wire::kPlaceByProcess) != 0 || !directory) {
    current = directory_by_path(place);
  } else {
    current = open_directory(directory.get(), place.last == "." ? ".." : ".");
  }
  while (above.size() < kMaxAbove) {
    const std::optional<FileId> id = id_of(current);
    if (!id || (!above.empty() && above.back() == *id)) {
      break;  // the root is its own parent
    }
    above.push_back(*id);
    current = open_directory(current.get(), "..");
  }
  if (!current && (errno == EMFILE || errno == ENFILE || errno == ENOMEM)) {
    return process::system_error("the directories above a file", errno);
  }
  return above;
}

}  // namespace aasm::backend_native
