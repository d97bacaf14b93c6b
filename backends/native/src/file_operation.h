#pragma once

#include <cstdint>

#include "file_judge.h"

// What each operation on a file asks for.
namespace aasm::backend_native {

schema::Domain domain_of(FileOperation operation);

bool has_two_names(FileOperation operation);

// Whether the right is asked of the directory that holds the name rather than of the file.
bool changes_directory(FileOperation operation, const ResolvedFile& file);

// What Landlock asks for (security/landlock/fs.c). A grant to write has every right to make
// something, so one of them stands for those of mknod(2).
std::uint64_t rights_for(FileOperation operation, const ResolvedFile& file);

}  // namespace aasm::backend_native
