#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aasm/schema/record_activity.h"

#include "file_spec.h"

// What a run's policy makes of a call on a file (docs/decisions/0020). Pure functions. Who calls
// them has resolved what the call is about and holds it by descriptor, so that what is judged is
// what is then acted on.
namespace aasm::backend_native {

// What a call does to its file. The word of the event stands behind it.
enum class FileOperation : std::uint8_t {
  kRead,             // read: open for reading; of a directory: list
  kExecute,          // execute
  kWrite,            // write: open for writing
  kTruncate,         // write: truncate(2), O_TRUNC
  kAttributes,       // write: chmod, chown, utime, setxattr and their kind
  kCreate,           // create: a regular file, O_TMPFILE in the directory `file` too
  kMakeDirectory,    // create
  kMakeNode,         // create: mknod(2) of any kind
  kMakeSymlink,      // create
  kRemove,           // remove
  kRemoveDirectory,  // remove
  kRename,           // rename
  kExchange,         // rename: renameat2(RENAME_EXCHANGE)
  kLink,             // link
};

// The policy's word for it: "read", "create", ...
std::string_view operation_word(FileOperation operation);

// A file as its descriptor told, or a name that is not there in a directory that is.
struct ResolvedFile {
  std::string path;   // absolute, free of links, as the kernel names it
  std::string given;  // as the caller wrote it
  bool directory = false;
  bool exists = true;
  FileId id;  // when it exists
  // The directories above it, nearest first, as far as they are known; names are taken from `path`.
  // Needed only where FileSpec::denies(). Of a name that is not there the first is where it would
  // be made.
  std::vector<FileId> parents;
};

// One call. An open has several operations (open_operations()); every other has one. Of an open
// that makes its file `file` does not exist yet.
struct FileCall {
  std::vector<FileOperation> operations;
  ResolvedFile file;
  std::optional<ResolvedFile> other;  // kRename, kExchange, kLink: where to
};

struct FileVerdict {
  // False: refuse with event.os_errno. True: the call is made; what the kernel then says is the
  // answer, and its refusal is told by blame_refusal().
  bool perform = true;
  bool recorded = true;
  // domain, operation, object, outcome, cause, rule, os_errno and mechanism.
  schema::Event event;
};

// What open(2) with these flags does: with O_PATH nothing. `exists`: of the file it leads to.
std::vector<FileOperation> open_operations(int flags, bool exists);

// Denied are, with EACCES: each operation on what lies inside a denied place (the place itself
// too), renaming out of it or onto it, and a hard link of it, by the rule for that operation; and
// renaming, exchanging, replacing or removing a directory above one, and making a symbolic link
// where one would be, since the place would then go by another name. Inside it is what is so by its
// path, or by a way of identities: another mount, a link or another spelling of it lead to the same
// directory. What grants do not cover the kernel refuses, not this function. What is performed is
// an event with outcome allowed and the narrowest rule that grants it.
FileVerdict judge_file(const FileSpec& spec, const FileCall& call);

// The event of a call that judge_file() let be performed and the kernel ended with `os_errno`. Of
// EACCES, EPERM and EXDEV: outcome denied; cause policy, citing the list, where no grant holds the
// rights the operation takes, so that policy refuses it whatever modes say; else cause
// host_permission. EROFS and ETXTBSY: host_permission. Anything else (nothing of that name, a full
// disk) is no decision and not recorded.
FileVerdict blame_refusal(const FileSpec& spec, const FileCall& call, int os_errno);

}  // namespace aasm::backend_native
