#pragma once

#include "aasm/schema/digest.h"
#include "aasm/schema/record_run.h"
#include "aasm/schema/result.h"

namespace aasm::process {

// The facts of host and calling process under which a probe result may be used again. The digests
// are the caller's: they come from hashing files, which this does not do. `cgroup` is the path in
// the unified hierarchy, or all lines of /proc/self/cgroup joined with ";" where there are more.
schema::Result<schema::HostConditions> read_host_conditions(const schema::Sha256& aasm_digest,
                                                            const schema::Sha256& helper_digest);

}  // namespace aasm::process
