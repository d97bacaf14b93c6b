#pragma once

#include "aasm/planner/backend.h"

#include "file_judge.h"
#include "ruleset.h"

// Files where the run observes them (docs/decisions/0023): Landlock grants everything, the judge
// keeps what is aasm's own, and of the rest it is told what the policy would refuse.
namespace aasm::backend_native {

// `policy` as the policy has it. The result denies what `protect` names, citing
// self_protection.aasm_files, and grants the rest.
schema::Result<FileSpec> observing_files(FileSpec policy, const planner::ProtectedPaths& protect,
                                         const schema::PathGrant& everything);

// The event of a call that was made and that the kernel ended with `os_errno`: what policy would
// have refused, and what the host did. Anything else is not recorded.
FileVerdict observe_file(const FileSpec& spec, const FileCall& call, int os_errno);

// The event of a call that the kernel ended with `os_errno`, observed or not.
FileVerdict judge_outcome(const FileSpec& spec, const FileCall& call, int os_errno);

// observe_file() of an execution that the broker's kernel was asked about.
FileVerdict observe_execution(const FileSpec& spec, const FileCall& call, int os_errno);

}  // namespace aasm::backend_native
