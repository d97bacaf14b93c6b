#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>

#include "fault.h"
#include "fd.h"
#include "snapshot.h"

namespace aasm::verifier {

// The directory that holds the target and the name of the target in it.
struct SourceDir {
  Fd dir;
  std::string name;
};
Step<SourceDir> open_source_dir(const std::string& target);

struct SourceFile {
  Fd fd;
  struct stat status {};
};

// Opens `name` for reading: no link is followed, nothing but a regular file is opened (so no FIFO
// blocks and no device notices), nothing is written. An absent file is nullopt.
Step<std::optional<SourceFile>> open_source(const SourceDir& source, const std::string& name);

// How much may be copied in all, and what was already.
struct CopyLimit {
  std::uint64_t max_bytes = 0;
  std::uint64_t copied_bytes = 0;
};

// Copies `file` to the empty file `out`, hashing what it copies. Zeros are not written, so a sparse
// file takes no more room than it did.
Step<CopiedFile> copy_source(const SourceFile& file, const std::string& name, const Fd& out,
                             const CopyLimit& limit);

}  // namespace aasm::verifier
