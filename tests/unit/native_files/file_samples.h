#pragma once

#include <string>
#include <utility>
#include <vector>

#include "file_judge.h"
#include "ruleset.h"

namespace aasm::backend_native {

inline constexpr std::uint64_t kDevice = 7;

inline FileId id_of(std::uint64_t inode) {
  return {kDevice, inode};
}

inline FileGrant grant(std::string rule, schema::Domain domain, std::string path,
                       std::uint64_t inode, Operation operation) {
  return {std::move(rule), domain, std::move(path), id_of(inode), rights_of(operation)};
}

// /w (inode 10) may be read and written, /usr (20) read; denied are /w/hooks (inode 11) and
// /w/later/secret, of which /w/later is not there.
inline FileSpec sample_spec(FileLevel level = FileLevel::kDecisions) {
  using schema::Domain;
  FileSpec spec;
  spec.level = level;
  spec.read_stated = spec.write_stated = true;
  spec.read_default = "filesystem.read.allow";
  spec.write_default = "filesystem.write.allow";
  spec.grants = {
      grant("read[0]", Domain::kFilesystemRead, "/w", 10, Operation::kRead),
      grant("read[1]", Domain::kFilesystemRead, "/usr", 20, Operation::kRead),
      grant("write[0]", Domain::kFilesystemWrite, "/w", 10, Operation::kWrite),
  };
  for (const Domain domain : {Domain::kFilesystemWrite, Domain::kFilesystemRead}) {
    const std::string word = domain == Domain::kFilesystemRead ? "read" : "write";
    spec.denials.push_back({"deny[0]." + word,
                            domain,
                            "/w/hooks",
                            {{id_of(2), {"w", "hooks"}}, {id_of(10), {"hooks"}}, {id_of(11), {}}}});
    spec.denials.push_back(
        {"deny[1]." + word,
         domain,
         "/w/later/secret",
         {{id_of(2), {"w", "later", "secret"}}, {id_of(10), {"later", "secret"}}}});
  }
  return spec;
}

// A file that is there; with `inode` 0 a name that is not.
inline ResolvedFile file_at(std::string path, std::uint64_t inode, std::vector<FileId> parents = {},
                            bool directory = false) {
  ResolvedFile file;
  file.given = file.path = std::move(path);
  file.exists = inode != 0;
  file.id = file.exists ? id_of(inode) : FileId();
  file.directory = directory;
  file.parents = std::move(parents);
  return file;
}

inline FileCall call_of(FileOperation operation, ResolvedFile file) {
  return {{operation}, std::move(file), std::nullopt};
}

inline FileCall call_of(FileOperation operation, ResolvedFile file, ResolvedFile other) {
  return {{operation}, std::move(file), std::move(other)};
}

}  // namespace aasm::backend_native
