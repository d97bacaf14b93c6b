#include "aasm/planner/policy_resolve.h"

#include <utility>

#include "aasm/planner/policy_decode.h"
#include "aasm/schema/utf8.h"

namespace aasm::planner {
namespace {

using schema::PolicyState;

struct Place {
  const char* kind;
  std::string path;
  bool has_to_exist;
};

std::string absolute(const std::string& path, const std::string& current_dir) {
  return path.starts_with('/') ? path : current_dir + "/" + path;
}

std::vector<Place> places_of(const PolicyRequest& request) {
  const PolicySources& sources = request.sources;
  std::vector<Place> places;
  if (sources.option) {
    places.push_back({"option", absolute(*sources.option, request.current_dir), true});
  }
  if (sources.environment && !sources.environment->empty()) {
    places.push_back({"environment", absolute(*sources.environment, request.current_dir), true});
  }
  if (sources.home) {
    places.push_back({"home", absolute(*sources.home, request.current_dir), false});
  }
  places.push_back({"system", sources.system, false});
  return places;
}

void fail(ResolvedPolicy& policy, std::string why) {
  policy.record.state = PolicyState::kLoadFailed;
  policy.record.error = std::move(why);
}

void take_lowered(ResolvedPolicy& policy, LoweredPolicy lowered) {
  policy.record.state = lowered.state;
  policy.record.on_denial = std::move(lowered.on_denial);
  policy.record.requirements = std::move(lowered.requirements);
  policy.record.gaps = std::move(lowered.gaps);
  policy.record.unmapped = std::move(lowered.unmapped);
  policy.credentials = std::move(lowered.credentials);
  policy.places = std::move(lowered.places);
}

void load(ResolvedPolicy& policy, const PolicyRequest& request) {
  const std::string source = schema::escape_for_display(policy.source_path);
  DecodedPolicy decoded = decode_policy(policy.bytes, {request.paths, request.vocabulary});
  if (!decoded.document) {
    fail(policy, render_problems(source, decoded.problems));
    return;
  }
  LoweredPolicy lowered = lower_policy(*decoded.document, request.resolver);
  if (!lowered.problems.empty()) {
    fail(policy, render_problems(source, lowered.problems));
    return;
  }
  take_lowered(policy, std::move(lowered));
}

}  // namespace

ResolvedPolicy resolve_policy(const PolicyRequest& request) {
  ResolvedPolicy policy;
  policy.record.source_kind = "none";
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
    const std::string shown = schema::escape_for_display(place.path);
    if (!bytes) {
      fail(policy, shown + ": " + bytes.error().message());
    } else if (absent) {
      fail(policy, shown + ": there is no such file");
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
