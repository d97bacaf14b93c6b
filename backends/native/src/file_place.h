#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "file_judge.h"

// Where a file stands to the places that a policy names. Pure.
namespace aasm::backend_native {

enum class Standing : std::uint8_t {
  kElsewhere,
  kAbove,   // the place lies below it, or would
  kInside,  // it is the place or lies below it
};

// By path or by a way of identities, whichever says more.
Standing standing_to(const FileDenial& denial, const ResolvedFile& file);

// Whether the file is a directory that was there at launch and that the place lies below.
bool holds_from_launch(const FileDenial& denial, const ResolvedFile& file);

// What Landlock grants a file, or, with `name`, the directory that holds its name: the sum of the
// grants that cover it.
struct Granted {
  std::uint64_t rights = 0;
  const FileGrant* narrowest = nullptr;  // of `domain`, among those that have any of `wanted`
  std::string path;  // of the file, as `narrowest` names it where its own path is not below it
};
Granted granted_to(const FileSpec& spec, const ResolvedFile& file, bool name, schema::Domain domain,
                   std::uint64_t wanted);

}  // namespace aasm::backend_native
