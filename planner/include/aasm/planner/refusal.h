#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "aasm/planner/lower.h"
#include "aasm/schema/record_plan.h"
#include "aasm/schema/record_policy.h"
#include "aasm/schema/record_run.h"

// The texts of refusals: what was asked and in which line of the policy, what this host gives,
// what to do. One function for each token of docs/spec/product.md section 4; nothing else in the
// program words a refusal. Every string given here is put in escaped.
namespace aasm::planner {

struct ResolvedPolicy;

// What a message about a requirement needs to know of the policy.
struct PolicyView {
  std::string source;  // path of the policy's own document; empty when there is none
  std::vector<DomainPlace> places;
  // Of a policy that is several documents: what ids of rules begin with ("org:"), and the path.
  std::vector<std::pair<std::string, std::string>> documents = {};
};
PolicyView view_of(const ResolvedPolicy& policy);

// "`filesystem.read.allow` (policy.yaml:7:5)": the statement a requirement comes from.
std::string describe_place(const schema::Requirement& requirement, const PolicyView& policy);

// Everything a message about one unmet requirement is made from. Borrowed for the call.
struct UnmetRequirement {
  const schema::Requirement& requirement;
  const schema::DomainCapability* capability;  // null: no report
  const std::string& backend;
  const PolicyView& policy;
};

schema::Refusal refuse_no_capability_reported(const UnmetRequirement& unmet);
schema::Refusal refuse_domain_unsupported(const UnmetRequirement& unmet);
schema::Refusal refuse_observe_only(const UnmetRequirement& unmet);
schema::Refusal refuse_decision_too_late(const UnmetRequirement& unmet);
schema::Refusal refuse_decision_not_synchronous(const UnmetRequirement& unmet);
schema::Refusal refuse_prerequisite_unsatisfied(const UnmetRequirement& unmet);
schema::Refusal refuse_descendant_coverage(const UnmetRequirement& unmet);
schema::Refusal refuse_no_evidence_produced(const UnmetRequirement& unmet);

// The one of the eight above that belongs to `reason`.
schema::Refusal refuse_requirement(schema::RefusalReason reason, const UnmetRequirement& unmet);

schema::Refusal refuse_backend_unavailable(const std::string& backend, const std::string& reason);
// The candidates of a walk that no code stands behind, in one refusal.
schema::Refusal refuse_backends_not_built(const std::vector<std::string>& backends);
schema::Refusal refuse_unknown_backend(const std::string& backend,
                                       const std::vector<std::string>& known);
schema::Refusal refuse_backend_class(const std::string& backend, schema::IsolationClass is,
                                     schema::IsolationClass asked);
schema::Refusal refuse_backend_with_none(const std::string& backend);
schema::Refusal refuse_policy_unconfigured(const PolicyView& policy,
                                           const std::vector<std::string>& looked_in);
schema::Refusal refuse_policy_load_failed(const std::string& error);
schema::Refusal refuse_policy_permissive(const PolicyView& policy);
schema::Refusal refuse_no_requirements(const PolicyView& policy);
schema::Refusal refuse_filesystem_not_stated(const PolicyView& policy, bool read_stated,
                                             bool write_stated);
schema::Refusal refuse_grant_covers_evidence(const schema::PolicyRule& rule,
                                             const std::vector<std::string>& covered,
                                             const PolicyView& policy);
// Another name of a file of ours cannot be found by following paths.
schema::Refusal refuse_evidence_hard_linked(const std::string& path, std::uint64_t links);
schema::Refusal refuse_grant_covers_control(const schema::PolicyRule& rule,
                                            const std::vector<std::string>& covered,
                                            const PolicyView& policy);
// The same reason, where what is covered keeps a limit of this run.
schema::Refusal refuse_grant_covers_groups(const schema::PolicyRule& rule,
                                           const std::vector<std::string>& covered,
                                           const PolicyView& policy);
// Of a descriptor that would pass the boundary: on a file of ours, or on one that confines and open
// for writing.
schema::Refusal refuse_descriptor_of_evidence(std::int64_t number, const std::string& path);
schema::Refusal refuse_descriptor_of_control(std::int64_t number, const std::string& path);
schema::Refusal refuse_program_not_found(const std::string& program);
schema::Refusal refuse_program_not_executable(const std::string& program,
                                              const std::string& reason);
schema::Refusal refuse_nested_run();

// What to do about a run that ended so before its program ran, or for want of evidence; empty for
// one that finished.
std::string advice_for(schema::RunEnding ending);

// The same for an evidence_failure that is the warden's or the decision channel's.
std::string advice_for_failed_boundary();

// In the order of what has to be put right first, each once.
void sort_refusals(std::vector<schema::Refusal>& refusals);

}  // namespace aasm::planner
