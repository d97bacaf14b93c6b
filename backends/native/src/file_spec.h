#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "aasm/planner/path_walk.h"
#include "aasm/schema/record_boundary.h"
#include "aasm/schema/record_policy.h"
#include "aasm/schema/result.h"

// The requirements on filesystem_read and filesystem_write in the form in which calls on files are
// judged (docs/decisions/0020).
namespace aasm::backend_native {

using planner::FileId;

// Which calls on files are decided one by one. Each level has what the one before it has.
enum class FileLevel : std::uint8_t {
  kSetup,           // none: Landlock refuses by itself and without a record
  kWriteDecisions,  // what makes, changes, removes or renames
  kDecisions,       // opening for reading too
};

// An allow rule as it was installed: a path, what it was at launch, and Landlock's rights.
struct FileGrant {
  std::string rule;
  schema::Domain domain = schema::Domain::kFilesystemRead;
  std::string path;  // free of links
  FileId id;
  std::uint64_t rights = 0;
};

// A place by something that was there at launch: the directory (or file) `from`, and the names that
// lead on from it; none: it is the place. "/a/b/c" of which /a/b existed has three: from "/" with
// "a/b/c", from /a with "b/c", from /a/b with "c".
struct FileWay {
  FileId from;
  std::vector<std::string> names;
};

// A deny rule on a path, of reading or of writing. The place does not have to exist.
struct FileDenial {
  std::string rule;
  schema::Domain domain = schema::Domain::kFilesystemRead;
  std::string path;  // free of links as far as it existed at launch
  std::vector<FileWay> ways;
};

struct FileSpec {
  FileLevel level = FileLevel::kSetup;
  bool read_stated = false;
  std::string read_default;  // the list that is cited where no grant covers
  bool write_stated = false;
  std::string write_default;
  std::vector<FileGrant> grants;
  std::vector<FileDenial> denials;
  // Where files are observed: what the policy itself says (file_observe.h).
  std::shared_ptr<const FileSpec> policy;

  // Whether calls on files are notified at all.
  bool judges() const { return level != FileLevel::kSetup; }
  // Whether the way to a file has to be known (ResolvedFile::parents) before a call is made.
  bool denies() const { return !denials.empty(); }
  bool observes() const { return policy != nullptr; }
};

// The components of a path.
std::vector<std::string> path_names(std::string_view path);

// The ways to a place as it is now, from the root down as far as there is something.
std::vector<FileWay> ways_to(const std::string& path);

// A mask of rights from the way records print it (hex_mask()).
std::uint64_t mask_of(std::string_view hex);

// The level that both requirements come to: `decisions` of reading needs every open to be notified,
// so of writing nothing is left out. nullptr: the policy does not state the domain.
FileLevel file_level(const schema::Requirement* read, const schema::Requirement* write);

// `read_grants` and `write_grants` as the ruleset installed them (ruleset.h). Looks, with stat(2),
// at what stands on the way to each denied place; a place in no grant is looked at all the same. A
// place at which a mount shows something from below a denied one is denied too.
schema::Result<FileSpec> make_file_spec(const std::vector<schema::Requirement>& requirements,
                                        const std::vector<schema::PathGrant>& read_grants,
                                        const std::vector<schema::PathGrant>& write_grants);

}  // namespace aasm::backend_native
