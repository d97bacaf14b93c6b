#pragma once

#include <string>
#include <vector>

#include "aasm/planner/lint.h"

#include "home.h"

namespace aasm::cli {

// What is wrong with or worth knowing of a policy on this host; of one that did not load, nothing.
std::vector<planner::PolicyFinding> findings_of(const planner::ResolvedPolicy& policy,
                                                const Home& home, const std::string& ledger,
                                                const std::string& workdir);

}  // namespace aasm::cli
