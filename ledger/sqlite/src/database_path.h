#pragma once

#include <string>

#include "aasm/schema/result.h"
#include "aasm/sqlite/connection.h"

namespace aasm::sqlite {

// The path to hand to SQLite: symbolic links of the directory followed, the last component checked
// to be a regular file. For kCreateNew the file has been made when this returns: an empty file is a
// valid empty database, and only open(2) with O_EXCL tells whether we are the ones who made it.
schema::Result<std::string> resolve_database_path(const std::string& path, OpenMode mode);

}  // namespace aasm::sqlite
