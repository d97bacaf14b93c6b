#include "aasm/claims/denials.h"

#include <algorithm>
#include <iterator>

#include "text.h"

namespace aasm::claims {
namespace {

void add_example(DenialGroup& group, const schema::Event& event) {
  const auto known =
      std::find_if(group.examples.begin(), group.examples.end(), [&](const DenialExample& one) {
        return one.object == event.object && one.executable == event.executable &&
               one.os_errno == event.os_errno;
      });
  if (known != group.examples.end()) {
    known->actions = add_saturating(known->actions, event.count);
  } else if (group.examples.size() < kMaxDenialExamples) {
    group.examples.push_back(
        {event.object, event.executable, event.pid, event.os_errno, event.count});
  }
}

}  // namespace

void Denials::add(const schema::Event& event) {
  auto group = std::find_if(groups_.begin(), groups_.end(), [&](const DenialGroup& one) {
    return one.cause == event.cause && one.rule == event.rule && one.operation == event.operation;
  });
  if (group == groups_.end()) {
    if (groups_.size() == kMaxDenialGroups) {
      ungrouped_ = add_saturating(ungrouped_, event.count);
      return;
    }
    groups_.push_back({event.operation, event.cause, event.rule, {}, {}, 0, {}});
    group = std::prev(groups_.end());
  }
  group->actions = add_saturating(group->actions, event.count);
  add_example(*group, event);
}

void locate_rules(const schema::Requirement* requirement, std::vector<DenialGroup>& groups) {
  if (requirement == nullptr) {
    return;
  }
  for (DenialGroup& group : groups) {
    const auto rule = std::find_if(requirement->rules.begin(), requirement->rules.end(),
                                   [&](const auto& one) { return one.id == group.rule; });
    if (rule != requirement->rules.end()) {
      group.line = rule->line;
      group.column = rule->column;
    }
  }
}

}  // namespace aasm::claims
