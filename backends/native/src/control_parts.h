#pragma once

#include <string>
#include <vector>

#include "aasm/schema/record_boundary.h"
#include "aasm/wire/helper_wire.h"

#include "controls.h"

// What the controls of a preparation are put together from.
namespace aasm::backend_native {

// With the state and errno that the helper reported of `step`; purpose self_protection.
schema::Control control_of(const PreparedFacts& facts, std::string id, schema::Domain domain,
                           wire::Step step);

// Purpose policy, with the rules of the requirement, when the domain is stated.
void serve_policy(const PreparedFacts& facts, schema::Control& control);

// The controls on process_creation and resource.
void add_limit_controls(const PreparedFacts& facts, std::vector<schema::Control>& controls);

}  // namespace aasm::backend_native
