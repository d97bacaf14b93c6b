#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "aasm/schema/result.h"

#include "fd.h"

// Files and directories that only their owner may touch. Every path is opened without following a
// link in its last component, and close-on-exec.
namespace aasm::ledger {

// An Error whose code fits `os_errno`; `what` reads "opening the key directory".
schema::Error os_error(std::string_view what, int os_errno);

// Opens a directory, refusing (kPermissionDenied) one not owned by the effective user or with
// another mode than 0700.
schema::Result<Fd> open_private_dir(const std::string& path);
// The same, making it first when it is absent.
schema::Result<Fd> ensure_private_dir(const std::string& path);
// Opens a directory whatever its mode: for syncing the parent of a new file.
schema::Result<void> sync_directory(const std::string& path);
// The directory part of a path: "." when there is none.
std::string parent_of(const std::string& path);

// Reads a whole file into `buffer`, refusing one not owned by the effective user or with another
// mode than 0600. Returns the bytes read; kMalformed when the file is longer than the buffer.
schema::Result<std::string_view> read_private_file(int directory, const std::string& name,
                                                   char* buffer, std::size_t size);

// Writes a file that must not exist (mode 0600) and syncs it.
schema::Result<void> create_private_file(int directory, const std::string& name,
                                         std::string_view bytes);
// Puts `bytes` under `name` by renaming `<name>.new` over it, which is locked (flock) while it is
// written; what a writer that was killed left under that name is taken over. Not synced: after a
// power cut the old content, the new or an empty file may be there.
schema::Result<void> replace_private_file(int directory, const std::string& name,
                                          std::string_view bytes);

// Sixteen hex digits for the name of a temporary file.
schema::Result<std::string> random_suffix();

}  // namespace aasm::ledger
