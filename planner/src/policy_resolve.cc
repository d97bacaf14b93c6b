#include "aasm/planner/policy_resolve.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "aasm/planner/cascade.h"
#include "aasm/schema/policy_parts.h"

#include "implied_evidence.h"
#include "policy_load.h"

namespace aasm::planner {
namespace {

using schema::PolicyState;

struct Place {
  const char* kind;
  std::string path;
  bool has_to_exist;
};

std::vector<Place> places_of(const PolicyRequest& request) {
  const PolicySources& sources = request.sources;
  std::vector<Place> places;
  if (sources.option) {
    places.push_back({"option", joined(*sources.option, request.current_dir), true});
  }
  if (sources.environment && !sources.environment->empty()) {
    places.push_back({"environment", joined(*sources.environment, request.current_dir), true});
  }
  if (sources.home) {
    places.push_back({"home", joined(*sources.home, request.current_dir), false});
  }
  places.push_back({"system", sources.system, false});
  return places;
}

void fail(ResolvedPolicy& policy, std::vector<SourceProblem> problems) {
  policy.record.state = PolicyState::kLoadFailed;
  policy.problems = std::move(problems);
  policy.record.error = render_problems(policy.problems);
}

void take_lowered(ResolvedPolicy& policy, LoweredPolicy lowered) {
  policy.record.state = lowered.state;
  policy.record.on_denial = std::move(lowered.on_denial);
  policy.record.witness = lowered.witness;
  policy.record.requirements = std::move(lowered.requirements);
  policy.record.gaps = std::move(lowered.gaps);
  policy.record.unmapped = std::move(lowered.unmapped);
  policy.credentials = std::move(lowered.credentials);
  policy.places = std::move(lowered.places);
  imply_evidence(policy.record.requirements, policy.record.gaps);
}

std::vector<CascadeMember> lower_all(const PolicyRequest& request,
                                     const std::vector<LoadedDocument>& documents,
                                     std::vector<SourceProblem>& problems) {
  std::vector<CascadeMember> members;
  for (const LoadedDocument& one : documents) {
    LoweredPolicy lowered = lower_policy(one.document, request.resolver);
    std::vector<SourceProblem> found = problems_in(one.path, std::move(lowered.problems));
    std::move(found.begin(), found.end(), std::back_inserter(problems));
    members.push_back({one.document.metadata.scope.value_or(schema::PolicyScope::kAgent), one.path,
                       &one.document, std::move(lowered)});
  }
  return members;
}

// The others by scope, the policy's own document first.
void sort_documents(std::vector<LoadedDocument>& documents) {
  std::sort(std::next(documents.begin()), documents.end(),
            [](const LoadedDocument& a, const LoadedDocument& b) {
              return a.document.metadata.scope < b.document.metadata.scope;
            });
}

void state_sources(ResolvedPolicy& policy) {
  policy.record.scope = policy.documents.front().document.metadata.scope;
  policy.record.extends.emplace();
  for (std::size_t i = 1; i < policy.documents.size(); ++i) {
    const LoadedDocument& one = policy.documents[i];
    policy.record.extends->push_back(
        {*one.document.metadata.scope, schema::PathBytes(one.path), one.digest, std::nullopt});
  }
}

// A policy that cannot be recorded would end the run at its first record.
void check_recordable(ResolvedPolicy& policy) {
  const std::optional<std::string> why = schema::why_unrecordable(policy.record);
  if (!why) {
    return;
  }
  schema::PolicyResolved failed;
  failed.source_kind = policy.record.source_kind;
  failed.source = policy.record.source;
  failed.document = policy.record.document;
  policy.record = std::move(failed);
  policy.credentials = {};
  policy.places.clear();
  policy.each.clear();
  fail(policy, {{policy.source_path, std::nullopt, "the policy " + *why}});
}

void load(ResolvedPolicy& policy, const PolicyRequest& request) {
  LoadedDocuments loaded =
      load_documents(request, policy.source_path, policy.bytes, *policy.record.document);
  policy.documents = std::move(loaded.documents);
  if (!loaded.problems.empty()) {
    return fail(policy, std::move(loaded.problems));
  }
  sort_documents(policy.documents);
  std::vector<SourceProblem> problems;
  std::vector<CascadeMember> members = lower_all(request, policy.documents, problems);
  for (SourceProblem& problem : unmatched_halves(members)) {
    problems.push_back(std::move(problem));
  }
  if (!problems.empty()) {
    return fail(policy, std::move(problems));
  }
  if (members.size() == 1) {
    take_lowered(policy, std::move(members.front().lowered));
    return check_recordable(policy);
  }
  const GroupMembers groups = [&](std::string_view group) {
    return request.vocabulary == nullptr ? std::vector<std::string>()
                                         : request.vocabulary->members(group);
  };
  for (const CascadeMember& one : members) {
    policy.each.push_back({one.scope, one.source, one.lowered.requirements, one.lowered.places});
  }
  take_lowered(policy, intersect_policies(std::move(members), request.resolver, groups));
  if (policy.record.state != PolicyState::kUnconfigured) {
    state_sources(policy);
  }
  check_recordable(policy);
}

}  // namespace

ResolvedPolicy resolve_policy(const PolicyRequest& request) {
  ResolvedPolicy policy;
  policy.record.source_kind = "none";
  policy.resolver = request.resolver;
  for (const Place& place : places_of(request)) {
    schema::Result<std::optional<std::string>> bytes = request.reader(place.path, kPolicyMaxBytes);
    const bool absent = bytes && !bytes->has_value();
    if (absent && !place.has_to_exist) {
      policy.looked_in.push_back(place.path);
      continue;
    }
    policy.record.source_kind = place.kind;
    policy.record.source = schema::PathBytes(place.path);
    policy.source_path = place.path;
    if (!bytes) {
      fail(policy, {{place.path, std::nullopt, bytes.error().message()}});
    } else if (absent) {
      fail(policy, {{place.path, std::nullopt, "there is no such file"}});
    } else {
      policy.bytes = std::move(**bytes);
      policy.record.document = request.hash(schema::as_bytes(policy.bytes));
      load(policy, request);
    }
    return policy;
  }
  return policy;
}

}  // namespace aasm::planner
