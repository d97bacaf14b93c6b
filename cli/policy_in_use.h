#pragma once

#include <map>
#include <string>

#include "aasm/planner/backend.h"
#include "aasm/planner/lint.h"
#include "aasm/planner/policy_resolve.h"
#include "aasm/planner/workspace.h"

#include "home.h"

namespace aasm::cli {

// The policy a run in `working_dir` would have: `option` (empty: not given), $AA_POLICY, the
// home's, the system's. Never fails; what went wrong is in the record.
planner::ResolvedPolicy policy_in_use(const std::string& option, const Home& home,
                                      const std::string& working_dir);

// `text` as that policy, as if it stood in `path`: what a policy that is not written yet would be.
planner::ResolvedPolicy policy_of_text(const std::string& text, const std::string& path,
                                       const std::string& working_dir);

// The policy that `path` names, where some files hold what `texts` has for them by path.
planner::ResolvedPolicy policy_of_texts(const std::map<std::string, std::string>& texts,
                                        const std::string& path, const std::string& working_dir);

// Files of ours by what a policy may not grant. `ledger` empty: the home's. Programs that are not
// known are left out.
planner::ProtectedPaths protected_paths(const Home& home, const std::string& ledger,
                                        const std::vector<std::string>& programs,
                                        const planner::ResolvedPolicy& policy);

// This host and this shell, for fitting a policy to it and for holding one against it.
planner::WorkspaceHost workspace_host(const std::string& working_dir);

}  // namespace aasm::cli
