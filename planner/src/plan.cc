#include "aasm/planner/plan.h"

#include "aasm/schema/plan_text.h"

namespace aasm::planner {

std::string plan_canonical_text(const ExecutionSpec& spec, const schema::PlanResolved& plan) {
  return schema::plan_canonical_text({spec.identity, spec.given_program, spec.arg_count,
                                      spec.working_dir, spec.requirements, spec.on_denial},
                                     plan);
}

schema::Sha256 plan_digest(const ExecutionSpec& spec, const schema::PlanResolved& plan,
                           const HashFunction& hash) {
  return hash(schema::as_bytes(plan_canonical_text(spec, plan)));
}

}  // namespace aasm::planner
