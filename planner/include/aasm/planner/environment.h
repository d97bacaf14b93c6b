#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aasm/planner/execution_spec.h"

namespace aasm::planner {

// What the name of an environment variable says about its value. A lower bound: a name that looks
// like nothing proves nothing.
enum class SensitiveKind : std::uint8_t {
  kMetadataEndpoint,
  kAuthAgent,
  kSupervisorCredential,
  kCloudCredential,
  kConnectionString,
  kServiceToken,
};

// The first kind, in the order of the list, that the name (in any case) matches; nullopt for none.
std::optional<SensitiveKind> sensitive_kind(std::string_view name);

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
};

// With a stated list only the named variables are kept; a credential of the supervisor is kept
// back even then. Without one the environment is left as it is, and the names that look like
// credentials are reported as ambient. Descriptors not stated: 0, 1 and 2. Values are never
// looked at. Pure.
EnvironmentPlan plan_environment(const std::vector<std::string>& environment,
                                 const CredentialGrants& grants);

}  // namespace aasm::planner
