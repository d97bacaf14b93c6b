#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aasm/planner/backend.h"
#include "aasm/planner/policy_resolve.h"

namespace aasm::planner {

enum class Severity : std::uint8_t {
  kError,    // a run with this policy is refused
  kWarning,  // it runs, and gives the agent more than whoever wrote it may have meant
};

// Something a policy says that its writer should know of. `code` is one of
// docs/policy-reference.md, "What check looks for".
struct PolicyFinding {
  Severity severity = Severity::kWarning;
  std::string code;
  std::string rule;  // id of the statement; empty for the whole
  SourceProblem where;
};

// The host that a policy is held against. Paths are absolute; what is not there counts too, since
// an agent may make it.
struct LintContext {
  std::vector<std::string> program_path;  // the directories of $PATH
  std::optional<std::string> home;
  std::vector<std::string> git_dirs;  // of the repository the working directory is in
  ProtectedPaths protect;
  PathResolver resolve = PathWalker();
  const SyscallVocabulary* vocabulary = nullptr;  // borrowed; null: calls are not looked at
};

// What is wrong with or worth knowing of a policy that has loaded, in the order of the rules;
// errors first. A lower bound: it looks at places that are known, not at all that could be.
std::vector<PolicyFinding> lint_policy(const ResolvedPolicy& policy, const LintContext& context);

// The stated domains that none of `backends` carries out as stated, in the order of the vocabulary.
// `backends` is what each that a run could have can do here for this policy (Backend::narrow()). An
// error where posture requires the domain, for then a run is refused.
std::vector<PolicyFinding> lint_enforcement(const ResolvedPolicy& policy,
                                            const std::vector<schema::CapabilityProbed>& backends);

// Where the statement behind a rule, gap or unmapped node stands, by its id. nullopt for an id that
// names none.
std::optional<SourceProblem> statement_place(const ResolvedPolicy& policy, std::string_view id);

}  // namespace aasm::planner
