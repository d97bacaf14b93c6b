#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aasm/schema/record_activity.h"
#include "aasm/schema/record_policy.h"

namespace aasm::claims {

inline constexpr std::size_t kMaxDenialGroups = 64;   // of one domain
inline constexpr std::size_t kMaxDenialExamples = 3;  // of one group

// One of the first denied actions of a group; identical ones are one example.
struct DenialExample {
  schema::EventObject object;
  schema::PathBytes executable;
  std::int64_t pid = 0;  // of the first; 0: not known
  std::int64_t os_errno = 0;
  std::int64_t actions = 0;

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("object", self.object);
    v.field("executable", self.executable);
    v.field("pid", self.pid);
    v.field("errno", self.os_errno);
    v.field("actions", self.actions);
  }
};

// Denied actions of the workload on one domain that agree in operation, cause and rule.
struct DenialGroup {
  std::string operation;
  schema::DecisionCause cause = schema::DecisionCause::kPolicy;
  std::string rule;
  std::optional<std::int64_t> line;  // of the rule in the policy's document, as recorded
  std::optional<std::int64_t> column;
  std::int64_t actions = 0;
  std::vector<DenialExample> examples;  // the first, in the order of the events

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("operation", self.operation);
    v.field("cause", self.cause);
    v.field("rule", self.rule);
    v.field("line", self.line);
    v.field("column", self.column);
    v.field("actions", self.actions);
    v.field("examples", self.examples);
  }
};

// The denials of one domain, in the order in which they came. Bounded, whatever the records hold:
// what finds no place in a group is only counted.
class Denials {
 public:
  void add(const schema::Event& event);

  const std::vector<DenialGroup>& groups() const { return groups_; }
  std::int64_t ungrouped() const { return ungrouped_; }

 private:
  std::vector<DenialGroup> groups_;
  std::int64_t ungrouped_ = 0;
};

// Says where the rules of the groups stand in the policy, as far as `requirement` records it (null:
// the domain is not stated).
void locate_rules(const schema::Requirement* requirement, std::vector<DenialGroup>& groups);

}  // namespace aasm::claims
