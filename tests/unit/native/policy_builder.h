#pragma once

#include <initializer_list>
#include <string>
#include <utility>

#include "aasm/schema/record_policy.h"

// Requirements written the way the planner lowers them, in one line each.
namespace aasm::backend_native::testing {

inline schema::PolicyRule rule(std::string id, schema::RuleEffect effect, std::string operation,
                               schema::SelectorType type, std::string value) {
  schema::PolicyRule made;
  made.id = std::move(id);
  made.effect = effect;
  made.operation = std::move(operation);
  made.selector = {type, schema::PathBytes(std::move(value))};
  return made;
}

inline schema::PolicyRule allow_path(std::string id, std::string operation, std::string path) {
  return rule(std::move(id), schema::RuleEffect::kAllow, std::move(operation),
              schema::SelectorType::kPathPrefix, std::move(path));
}
inline schema::PolicyRule deny_path(std::string id, std::string operation, std::string path) {
  return rule(std::move(id), schema::RuleEffect::kDeny, std::move(operation),
              schema::SelectorType::kPathPrefix, std::move(path));
}
inline schema::PolicyRule deny_whole(std::string id, std::string operation) {
  return rule(std::move(id), schema::RuleEffect::kDeny, std::move(operation),
              schema::SelectorType::kWhole, "");
}

inline schema::Requirement requirement(schema::Domain domain, std::string default_rule,
                                       std::initializer_list<schema::PolicyRule> rules) {
  schema::Requirement made;
  made.domain = domain;
  made.default_rule = std::move(default_rule);
  made.rules = rules;
  return made;
}
inline schema::Requirement read_requirement(std::initializer_list<schema::PolicyRule> rules) {
  return requirement(schema::Domain::kFilesystemRead, "filesystem.read.allow", rules);
}
inline schema::Requirement write_requirement(std::initializer_list<schema::PolicyRule> rules) {
  return requirement(schema::Domain::kFilesystemWrite, "filesystem.write.allow", rules);
}

}  // namespace aasm::backend_native::testing
