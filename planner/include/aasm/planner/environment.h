#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aasm/planner/execution_spec.h"
#include "aasm/schema/record_authority.h"

namespace aasm::planner {

using schema::SensitiveKind;

// What the name (in any case) says of the value; the first that matches, in the order of the
// reference implementation. nullopt: nothing, which proves nothing.
std::optional<schema::SensitiveKind> sensitive_kind(std::string_view name);

// The name as records hold it: they are text, so it is escaped where it is none; one of more than
// 1,024 bytes is cut and says so.
std::string recordable_name(std::string_view name);

// What policy says of credentials. An empty optional: not stated.
struct CredentialGrants {
  std::optional<std::vector<std::string>> environment;  // names that are passed on
  std::optional<std::vector<int>> descriptors;          // numbers that stay open
};

// The environment and the descriptors the program gets.
struct EnvironmentPlan {
  std::vector<std::string> environment;  // "NAME=value", in the order found
  std::vector<int> descriptors;          // sorted
  CredentialPosture posture;             // names only
  schema::AmbientAuthority ambient;      // the same for the record of the plan; no descriptor yet
};

// With a stated list only the named variables are kept; a credential of the supervisor is kept
// back even then. Without one the environment is left as it is, and the names that look like
// credentials are reported as ambient. Descriptors not stated: 0, 1 and 2. Values are never
// looked at. Posture and ambient have names as recordable_name() gives them; what does not fit into
// a record is counted. Pure.
EnvironmentPlan plan_environment(const std::vector<std::string>& environment,
                                 const CredentialGrants& grants);

// Adds what was open when aasm was started, ascending. One whose fate is `removed` stays so; of the
// others those in `passed` are delegated, and the rest is removed if the launch closes it.
void list_descriptors(const std::vector<schema::InheritedDescriptor>& inherited,
                      const std::vector<int>& passed, bool closes_others,
                      schema::AmbientAuthority& ambient);

}  // namespace aasm::planner
