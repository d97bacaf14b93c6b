#include <algorithm>
#include <utility>

#include "aasm/planner/lint.h"
#include "aasm/planner/negotiate.h"
#include "aasm/schema/utf8.h"

#include "refusal_words.h"

namespace aasm::planner {
namespace {

using schema::CapabilityProbed;
using schema::Requirement;

SourceProblem place_of(const ResolvedPolicy& policy, const Requirement& requirement) {
  const DomainPlace* place = place_on(policy.places, requirement.domain);
  if (place == nullptr) {
    return {policy.source_path, std::nullopt, ""};
  }
  return {source_of(view_of(policy), place->node), place->at, ""};
}

// What the first of the backends that are to be had says where it falls short; nullopt when one
// meets the requirement.
std::optional<schema::Refusal> shortfall(const Requirement& requirement,
                                         const std::vector<CapabilityProbed>& backends) {
  std::optional<schema::Refusal> first;
  for (const CapabilityProbed& backend : backends) {
    const schema::DomainCapability* capability = backend.find(requirement.domain);
    const auto reason = first_shortfall(requirement, capability);
    if (!reason) {
      return std::nullopt;
    }
    if (!first) {
      first = refuse_requirement(*reason, {requirement, capability, backend.backend.id, {}});
    }
  }
  return first;
}

PolicyFinding finding_of(const ResolvedPolicy& policy, const Requirement& requirement,
                         const schema::Refusal& short_of) {
  const bool refused = requirement.posture == schema::RequirementPosture::kRequired;
  const bool evidence = short_of.reason == schema::RefusalReason::kNoEvidenceProduced;
  PolicyFinding finding;
  finding.severity = refused ? Severity::kError : Severity::kWarning;
  finding.code = evidence ? "no_evidence_here" : "not_enforced_here";
  finding.where = place_of(policy, requirement);
  finding.where.text = short_of.detail + "; " +
                       (refused ? short_of.fix
                                : "a run goes on without it, since `posture." +
                                      std::string(token(requirement.domain)) + "` is " +
                                      std::string(token(requirement.posture)));
  return finding;
}

// Whatever posture says: without a backend there is no run.
PolicyFinding finding_without_backend(const ResolvedPolicy& policy, const Requirement& requirement,
                                      const std::string& reasons) {
  PolicyFinding finding;
  finding.severity = Severity::kError;
  finding.code = "not_enforced_here";
  finding.where = place_of(policy, requirement);
  finding.where.text = "nothing here carries out " + std::string(token(requirement.domain)) +
                       ", whatever posture says: " + reasons;
  return finding;
}

}  // namespace

std::vector<PolicyFinding> lint_enforcement(const ResolvedPolicy& policy,
                                            const std::vector<CapabilityProbed>& backends) {
  std::vector<CapabilityProbed> available;
  std::string reasons = backends.empty() ? "no backend is built" : "";
  for (const CapabilityProbed& backend : backends) {
    if (backend.available) {
      available.push_back(backend);
      continue;
    }
    reasons += (reasons.empty() ? "" : "; ") + backend.backend.id +
               " is unavailable: " + schema::escape_for_display(backend.unavailable_reason);
  }
  std::vector<PolicyFinding> findings;
  for (const Requirement& requirement : policy.record.requirements) {
    if (available.empty()) {
      findings.push_back(finding_without_backend(policy, requirement, reasons));
    } else if (const auto short_of = shortfall(requirement, available)) {
      findings.push_back(finding_of(policy, requirement, *short_of));
    }
  }
  return findings;
}

}  // namespace aasm::planner
