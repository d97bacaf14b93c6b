#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aasm/schema/record_authority.h"
#include "aasm/schema/record_policy.h"
#include "aasm/schema/record_run.h"

namespace aasm::planner {

// Names of environment variables by what happens to them; never values. Sorted, without duplicates.
struct CredentialPosture {
  std::vector<std::string> removed;            // present here, not passed on
  std::vector<std::string> delegated;          // passed on because policy names them
  std::vector<std::string> ambient_unremoved;  // passed on although no policy names them

  bool operator==(const CredentialPosture&) const = default;
};

// What is done with what policy does not allow. Observing lets it through and records it, in the
// domains where the backend can (docs/decisions/0023); the others are enforced all the same.
enum class EnforcementMode : std::uint8_t { kEnforce, kObserve };

// As run.opened has it.
std::string_view mode_token(EnforcementMode mode);

// The identity-bound, policy-derived statement of what is to run and what it may do
// (docs/spec/product.md section 2). A value; carries no argument and no environment value.
struct ExecutionSpec {
  schema::AgentIdentity identity;
  schema::PathBytes program;        // absolute, as resolved along PATH
  schema::PathBytes given_program;  // as given on the command line
  std::int64_t arg_count = 0;
  schema::PathBytes working_dir;  // absolute
  std::vector<schema::Requirement> requirements;
  std::string on_denial = "errno";  // errno or kill
  std::optional<schema::WitnessWish> witness;
  EnforcementMode mode = EnforcementMode::kEnforce;
  CredentialPosture credentials;
  schema::AmbientAuthority ambient;  // the launcher adds what was open when it was started
};

// The requirement on `domain`; nullptr when policy does not state it.
const schema::Requirement* requirement_on(const std::vector<schema::Requirement>& requirements,
                                          schema::Domain domain);

}  // namespace aasm::planner
