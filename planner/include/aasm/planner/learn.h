#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "aasm/planner/backend.h"
#include "aasm/planner/policy_resolve.h"
#include "aasm/schema/record_activity.h"

// What a policy would have to say for the actions of recorded runs to be allowed
// (docs/decisions/0023). Proposals for a person to read: nothing here grants anything.
namespace aasm::planner {

// An action that a policy refused or would have refused, or that the host refused.
struct AskedEvent {
  schema::Event event;
  std::string run;  // its id
};

// Who asked for something, and how often.
struct Asking {
  std::int64_t events = 0;
  std::set<std::string> runs;
  std::set<std::string> operations;
};

// One entry for one list of the policy.
struct Addition {
  std::vector<std::string> list;  // the keys that lead to it below `spec`
  std::string value;              // as YAML, on one line
  std::string what;               // the same for people
  Asking by;
};

// Something that is not proposed, and why.
struct LeftOut {
  std::string what;
  std::string reason;
  Asking by;
};

struct Lesson {
  std::vector<Addition> additions;  // in the order of the lists, then of the values
  std::vector<LeftOut> left_out;
};

struct LearnContext {
  const ResolvedPolicy& policy;  // that is to be changed; borrowed
  std::string working_dir;       // of the runs, absolute; empty: they had different ones
  std::optional<std::string> home;
  ProtectedPaths protect;
};

// So many files or directories of one directory become that directory, unless it is a wide one: the
// root and what stands in it, and the home of the user with all above it.
inline constexpr std::size_t kMembersForDirectory = 4;

// Pure and deterministic: the order of the events does not matter.
Lesson learn(const std::vector<AskedEvent>& asked, const LearnContext& context);

}  // namespace aasm::planner
