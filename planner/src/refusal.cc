#include "aasm/planner/refusal.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "aasm/planner/policy_resolve.h"
#include "aasm/schema/utf8.h"

#include "refusal_words.h"

// Refusals of one requirement.
namespace aasm::planner {
namespace {

using schema::DomainCapability;
using schema::Prerequisite;
using schema::PrerequisiteStatus;
using schema::Refusal;
using schema::RefusalReason;
using schema::Requirement;

constexpr const char* kRelax =
    "; or, if the run may go on without it, set `posture.%` to degrade_if_unavailable or optional";

std::string domain_of(const UnmetRequirement& unmet) {
  return std::string(schema::token(unmet.requirement.domain));
}

// "`filesystem.read.allow` (p.yaml:3:5) asks aasm-native to prevent what filesystem_read covers"
std::string asked(const UnmetRequirement& unmet) {
  const bool prevent = unmet.requirement.intent == schema::Intent::kPreventBeforeEffect;
  return describe_place(unmet.requirement, unmet.policy) + " asks " + displayed(unmet.backend) +
         (prevent ? " to refuse unpermitted actions of " : " to observe actions of ") +
         domain_of(unmet) + (prevent ? " before they take effect" : "");
}

std::string relax(const UnmetRequirement& unmet) {
  std::string text = kRelax;
  return text.replace(text.find('%'), 1, domain_of(unmet));
}

Refusal unmet_refusal(const UnmetRequirement& unmet, RefusalReason reason, const std::string& gives,
                      const std::string& fix) {
  Refusal refusal;
  refusal.launch = schema::LaunchRefusal::kRequirementUnmet;
  refusal.domain = unmet.requirement.domain;
  refusal.reason = reason;
  refusal.detail = asked(unmet) + "; " + gives;
  refusal.fix = fix + relax(unmet);
  return refusal;
}

std::string unsatisfied_text(const DomainCapability* capability) {
  std::string text;
  for (const Prerequisite& one :
       capability == nullptr ? std::vector<Prerequisite>() : capability->prerequisites) {
    if (one.status == PrerequisiteStatus::kSatisfied) {
      continue;
    }
    text += text.empty() ? "" : "; ";
    text += displayed(one.text) + " (" + std::string(schema::token(one.status));
    text += one.detail.empty() ? ")" : ": " + displayed(one.detail) + ")";
  }
  return text.empty() ? "a prerequisite" : text;
}

}  // namespace

std::string displayed(std::string_view text) {
  return schema::escape_for_display(text);
}

std::string quoted_display(std::string_view text) {
  return "`" + schema::escape_for_display(text) + "`";
}

PolicyView view_of(const ResolvedPolicy& policy) {
  PolicyView view{policy.source_path, policy.places, {}};
  for (const LoadedDocument& one : policy.documents) {
    if (policy.documents.size() > 1 && one.document.metadata.scope) {
      view.documents.emplace_back(std::string(token(*one.document.metadata.scope)) + ":", one.path);
    }
  }
  return view;
}

std::string source_name(const PolicyView& policy) {
  if (policy.source.empty()) {
    return "the policy";
  }
  return displayed(policy.source) + (policy.documents.empty() ? "" : " with what it extends");
}

const std::string& source_of(const PolicyView& policy, std::string_view id) {
  const auto found = std::find_if(policy.documents.begin(), policy.documents.end(),
                                  [&](const auto& one) { return id.starts_with(one.first); });
  return found == policy.documents.end() ? policy.source : found->second;
}

std::string source_place(const std::string& source, std::optional<std::int64_t> line,
                         std::optional<std::int64_t> column) {
  if (!line) {
    return source.empty() ? "the policy" : displayed(source);
  }
  if (source.empty()) {
    return "line " + std::to_string(*line);
  }
  const std::string place = displayed(source) + ":" + std::to_string(*line);
  return column ? place + ":" + std::to_string(*column) : place;
}

std::string describe_place(const Requirement& requirement, const PolicyView& policy) {
  const DomainPlace* place = place_on(policy.places, requirement.domain);
  if (place == nullptr) {
    return quoted_display(requirement.default_rule);
  }
  return quoted_display(place->node) + " (" +
         source_place(source_of(policy, place->node), place->at.line, place->at.column) + ")";
}

Refusal refuse_no_capability_reported(const UnmetRequirement& unmet) {
  return unmet_refusal(unmet, RefusalReason::kNoCapabilityReported,
                       "the backend has reported nothing about this domain, and silence is taken "
                       "neither for a yes nor for a no",
                       "run `aasm backends probe` to see what each backend reports, and choose one "
                       "that covers the domain");
}

Refusal refuse_domain_unsupported(const UnmetRequirement& unmet) {
  const std::string reason = unmet.capability == nullptr || unmet.capability->reason.empty()
                                 ? std::string("it gives no reason")
                                 : displayed(unmet.capability->reason);
  return unmet_refusal(unmet, RefusalReason::kDomainUnsupported,
                       "it cannot do that here: " + reason,
                       "choose a backend that supports the domain (`aasm backends list`), or take "
                       "the statement out of the policy, which leaves the domain open");
}

Refusal refuse_observe_only(const UnmetRequirement& unmet) {
  return unmet_refusal(unmet, RefusalReason::kObserveOnlyForPreventionRequirement,
                       "it only watches such actions here, and an action that was watched has "
                       "happened",
                       "choose a backend that enforces the domain (`aasm backends list`)");
}

Refusal refuse_decision_too_late(const UnmetRequirement& unmet) {
  return unmet_refusal(
      unmet, RefusalReason::kDecisionTooLate,
      "its decision falls when the effect has taken place (timing " +
          std::string(schema::token(unmet.capability == nullptr ? schema::Timing::kNone
                                                                : unmet.capability->timing)) +
          "), which is detection and not prevention",
      "choose a backend that decides before the effect (`aasm backends list`)");
}

Refusal refuse_decision_not_synchronous(const UnmetRequirement& unmet) {
  return unmet_refusal(unmet, RefusalReason::kDecisionNotSynchronous,
                       "the action does not wait for its decision and can win the race",
                       "choose a backend whose decisions are synchronous (`aasm backends list`)");
}

Refusal refuse_prerequisite_unsatisfied(const UnmetRequirement& unmet) {
  return unmet_refusal(unmet, RefusalReason::kPrerequisiteUnsatisfied,
                       "that rests on something which was not watched at work on this host: " +
                           unsatisfied_text(unmet.capability),
                       "run `aasm backends probe` to see each attempt and what came of it, and "
                       "meet the prerequisite");
}

Refusal refuse_descendant_coverage(const UnmetRequirement& unmet) {
  const std::string covered(schema::token(unmet.capability == nullptr
                                              ? schema::DescendantCoverage::kUnmeasured
                                              : unmet.capability->descendants));
  return unmet_refusal(unmet, RefusalReason::kDescendantCoverageInsufficient,
                       "its coverage of child processes is " + covered +
                           ", and a boundary that a child can leave is none",
                       "choose a backend that covers the process tree (`aasm backends list`)");
}

Refusal refuse_no_evidence_produced(const UnmetRequirement& unmet) {
  const std::string wish(schema::token(unmet.requirement.evidence));
  const schema::Domain domain = unmet.requirement.domain;
  const bool files =
      domain == schema::Domain::kFilesystemRead || domain == schema::Domain::kFilesystemWrite;
  return unmet_refusal(unmet, RefusalReason::kNoEvidenceProduced,
                       "the policy wants a record of single decisions (evidence " + wish +
                           ") and the backend has no channel that reports them for this domain",
                       "set `evidence." + (files ? "filesystem" : domain_of(unmet)) +
                           ": setup` in the policy to accept evidence of the set-up only, or "
                           "choose a backend with a decision channel for the domain");
}

Refusal refuse_requirement(RefusalReason reason, const UnmetRequirement& unmet) {
  switch (reason) {
    case RefusalReason::kNoCapabilityReported:
      return refuse_no_capability_reported(unmet);
    case RefusalReason::kDomainUnsupported:
      return refuse_domain_unsupported(unmet);
    case RefusalReason::kObserveOnlyForPreventionRequirement:
      return refuse_observe_only(unmet);
    case RefusalReason::kDecisionTooLate:
      return refuse_decision_too_late(unmet);
    case RefusalReason::kDecisionNotSynchronous:
      return refuse_decision_not_synchronous(unmet);
    case RefusalReason::kPrerequisiteUnsatisfied:
      return refuse_prerequisite_unsatisfied(unmet);
    case RefusalReason::kDescendantCoverageInsufficient:
      return refuse_descendant_coverage(unmet);
    case RefusalReason::kNoEvidenceProduced:
      return refuse_no_evidence_produced(unmet);
  }
  return refuse_no_capability_reported(unmet);
}

namespace {

// What has to be put right first comes first: with no policy nothing else can be judged.
int rank_of(schema::LaunchRefusal launch) {
  switch (launch) {
    case schema::LaunchRefusal::kNestedRunUnsupported:
      return 0;
    case schema::LaunchRefusal::kPolicyUnconfigured:
    case schema::LaunchRefusal::kPolicyLoadFailed:
    case schema::LaunchRefusal::kPolicyPermissive:
      return 1;
    case schema::LaunchRefusal::kNoRequirements:
    case schema::LaunchRefusal::kFilesystemNotStated:
      return 2;
    case schema::LaunchRefusal::kGrantCoversEvidence:
    case schema::LaunchRefusal::kGrantCoversControl:
      return 3;
    case schema::LaunchRefusal::kRequirementUnmet:
      return 4;
    case schema::LaunchRefusal::kBackendUnavailable:
      return 5;
    case schema::LaunchRefusal::kProgramNotFound:
    case schema::LaunchRefusal::kProgramNotExecutable:
      return 6;
  }
  return 7;
}

auto key_of(const Refusal& refusal) {
  return std::tuple(rank_of(refusal.launch), refusal.launch, refusal.domain, refusal.reason,
                    std::string_view(refusal.detail), std::string_view(refusal.fix));
}

}  // namespace

void sort_refusals(std::vector<Refusal>& refusals) {
  std::sort(refusals.begin(), refusals.end(),
            [](const Refusal& a, const Refusal& b) { return key_of(a) < key_of(b); });
  refusals.erase(
      std::unique(refusals.begin(), refusals.end(),
                  [](const Refusal& a, const Refusal& b) { return key_of(a) == key_of(b); }),
      refusals.end());
}

}  // namespace aasm::planner
