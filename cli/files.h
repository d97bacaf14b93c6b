#pragma once

#include <cstddef>
#include <string>

#include "aasm/schema/result.h"

namespace aasm::cli {

// The bytes of a small regular file. kNotFound, kPermissionDenied, kResourceExhausted past
// `max_bytes`, kInvalidArgument for anything that is no regular file.
schema::Result<std::string> read_small_file(const std::string& path, std::size_t max_bytes);

// The same for a file by which this program decides whom to believe: refused (kPermissionDenied)
// when somebody else than its owner, who is the effective user or root, may change it or its
// directory.
schema::Result<std::string> read_own_file(const std::string& path, std::size_t max_bytes);

}  // namespace aasm::cli
