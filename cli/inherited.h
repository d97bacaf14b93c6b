#pragma once

#include <vector>

#include "aasm/process/open_descriptors.h"
#include "aasm/schema/result.h"

#include "launch.h"
#include "options.h"

namespace aasm::cli {

// What whoever started aasm left open; an error when that cannot be known. Taken before this
// process opens anything of its own.
using Inherited = schema::Result<std::vector<process::OpenDescriptor>>;
Inherited take_inherited();

// Says in the launch what becomes of each, and refuses the launch when one that would pass the
// boundary refers to a file of ours.
void add_inherited(const Inherited& inherited, const RunCommand& command, Launch& launch);

}  // namespace aasm::cli
