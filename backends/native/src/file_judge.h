#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aasm/schema/record_activity.h"

#include "file_spec.h"

// What a run's policy makes of a call on a file (docs/decisions/0020). Pure functions. Who calls
// them has resolved what the call is about and holds it by descriptor, so that what is judged is
// what is then acted on.
namespace aasm::backend_native {

// What a call does to its file.
enum class FileOperation : std::uint8_t {
  kRead,           // open for reading; of a directory: list
  kWrite,          // open for writing
  kTruncate,       // truncate(2), O_TRUNC
  kAttributes,     // chmod, chown, utime, setxattr and their kind
  kCreate,         // a regular file; with O_TMPFILE `file` is the directory
  kMakeDirectory,  // mkdir(2)
  kMakeNode,       // mknod(2), of whatever type
  kMakeSymlink,    // symlink(2); `file` is the link
  kRemove,         // unlink(2)
  kRemoveDirectory,
  kRename,
  kExchange,  // renameat2(2) with RENAME_EXCHANGE
  kLink,      // link(2); `file` is what is linked, `other` the new name
  kExecute,   // execve(2)
};

// The word of the event: read, write, execute, create, remove, rename or link.
std::string_view operation_word(FileOperation operation);

// A file as its descriptor told, or a name that is not there in a directory that is.
struct ResolvedFile {
  // Absolute, free of links, as the kernel names it. Empty for what has no name in the tree: a
  // pipe, a memfd, a file that was removed.
  std::string path;
  std::string given;  // as the caller wrote it
  bool directory = false;
  bool exists = true;
  FileId id;  // when it exists
  // The directories above it, nearest first, as far as they are known; their names are those of
  // `path`. Needed where wants_parents(). Of a name that is not there the first is the directory in
  // which it would be made.
  std::vector<FileId> parents;
};

// Whether a path alone does not say what judge_file() has to know: there are denied places, which
// go by other names too, or no grant covers this one by its path.
bool wants_parents(const FileSpec& spec, std::string_view path);

// One call. An open has several operations (open_operations()), every other has one.
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

// The call is made or was answered, and nothing of it is an event.
FileVerdict unrecorded();

// What open(2) with these flags does; nothing with O_PATH. `exists`: the file it leads to.
std::vector<FileOperation> open_operations(int flags, bool exists);

// Denied are, with EACCES: each operation on what lies inside a denied place (the place itself
// too), renaming out of it or onto it and a hard link of it; and renaming, exchanging or replacing
// a directory above one, removing one that was there at launch, and making a symbolic link where
// one would be, since the place would then go by another name. Inside it is what is so by its path,
// or by a way of identities: another mount, a link and another spelling lead to the same directory.
// What no grant covers the kernel refuses and not this function; only attributes, of which Landlock
// knows nothing, are denied here outside the grants to write. What is performed is an event with
// outcome allowed and the narrowest rule that grants it; where a mount shows a granted directory
// elsewhere, its path is given as the grant names it.
FileVerdict judge_file(const FileSpec& spec, const FileCall& call);

// A call to execute a file, of which the broker's kernel would let it be executed. Refused, with
// EACCES, is what no grant to execute covers all the same: a memory file, which Landlock passes
// over. What is performed the caller does itself, and its kernel reads the name anew.
FileVerdict judge_execution(const FileSpec& spec, const FileCall& call);

// The event of a call that judge_file() let be performed and the kernel ended with `os_errno`. Of
// EACCES and EXDEV: denied, cause policy, citing the list, where no grant holds the rights that the
// operation takes, so that Landlock refuses it whatever modes say. EACCES otherwise, EPERM and
// EROFS: denied, cause host_permission. Anything else (nothing of that name, a full disk, another
// filesystem) is no decision and not recorded.
FileVerdict blame_refusal(const FileSpec& spec, const FileCall& call, int os_errno);

// The event of a call that was not made for a reason of ours: denied, cause fault.
FileVerdict refuse_by_fault(const FileSpec& spec, const FileCall& call, std::int64_t os_errno);

// The event of a call that was not made because it was about a process of aasm's own: denied by
// "self_protection.own_processes", which is no decision of the policy. Recorded where policy states
// the domain.
FileVerdict refuse_own_process(const FileSpec& spec, const FileCall& call);

}  // namespace aasm::backend_native
