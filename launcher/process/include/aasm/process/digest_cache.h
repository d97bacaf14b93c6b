#pragma once

#include <map>
#include <string>

#include "aasm/process/exec_target.h"
#include "aasm/process/fd.h"
#include "aasm/schema/digest.h"
#include "aasm/schema/result.h"

namespace aasm::process {

struct FileDigest {
  schema::Sha256 digest;
  bool cached = false;  // from an earlier hash of the same device, inode, size, mtime and ctime
};

// SHA-256 of files, remembered across runs by device, inode, size, mtime and ctime. An entry is as
// good as the clock that stamps ctime: who can set the clock or write the disk below the filesystem
// can make a changed file look unchanged. A file whose ctime is less than two seconds old is hashed
// but not remembered, because a change within the clock's grain would not show.
//
// The cache file is a convenience, not evidence: when it is missing, malformed, a symlink, another
// user's or open to others' writing, the cache starts empty. One thread at a time; two processes
// may share a file: the last save() wins, and of two at once one does.
class DigestCache {
 public:
  // Reads the cache at `path`, usually $AASM_HOME/digests.
  static DigestCache load(std::string path);

  // The digest of an open regular file. kConflict when the file changed while it was read.
  schema::Result<FileDigest> digest_of(BorrowedFd fd);

  // Writes the cache when it changed: a file of mode 0600, `<path>.new`, renamed into place.
  schema::Result<void> save();

 private:
  struct Less {
    bool operator()(const FileIdentity& a, const FileIdentity& b) const;
  };
  using Entries = std::map<FileIdentity, schema::Sha256, Less>;

  explicit DigestCache(std::string path) : path_(std::move(path)) {}

  static schema::Result<Entries> parse(std::string_view text);

  std::string path_;
  Entries entries_;
  bool changed_ = false;
};

// SHA-256 of an open regular file, without a cache. kConflict when it changed meanwhile.
schema::Result<schema::Sha256> hash_file(BorrowedFd fd);

}  // namespace aasm::process
