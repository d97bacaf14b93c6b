#include "aasm/planner/planner.h"

#include <utility>

namespace aasm::planner {

void wish_to_observe(schema::PolicyResolved& policy) {
  for (schema::Requirement& requirement : policy.requirements) {
    if (requirement.domain == schema::Domain::kFilesystemRead ||
        requirement.domain == schema::Domain::kFilesystemWrite) {
      requirement.evidence = schema::EvidenceWish::kDecisions;
    }
  }
}

BuiltSpec build_spec(const ResolvedPolicy& policy, const SpecInputs& inputs) {
  BuiltSpec built;
  built.environment = plan_environment(inputs.environment, policy.credentials);
  built.spec.identity = inputs.identity;
  built.spec.program = schema::PathBytes(inputs.program);
  built.spec.given_program = schema::PathBytes(inputs.given_program);
  built.spec.arg_count = inputs.arg_count;
  built.spec.working_dir = schema::PathBytes(inputs.working_dir);
  built.spec.requirements = policy.record.requirements;
  built.spec.on_denial = policy.record.on_denial;
  built.spec.witness = policy.record.witness;
  built.spec.credentials = built.environment.posture;
  built.spec.ambient = built.environment.ambient;
  return built;
}

}  // namespace aasm::planner
