#pragma once

#include <string_view>

#include "aasm/schema/record_policy.h"
#include "aasm/schema/record_run.h"

namespace aasm::claims {

// The operation of the rules that state the limit of this cause; empty for a cause that is none.
std::string_view limit_of(schema::ExitCause cause);

// Whether a rule of the requirement, whatever document it is of, states that limit.
bool states_limit(const schema::Requirement& requirement, std::string_view limit);

// Whether a program that a limit is said to have ended cannot have reached it: no rule states it,
// or the wall clock had not run so long. `requirement` is that on resource, or nullptr.
bool cannot_have_reached(const schema::Requirement* requirement,
                         const schema::ProcessExited& exited);

}  // namespace aasm::claims
