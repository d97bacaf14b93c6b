#pragma once

#include <initializer_list>
#include <string>
#include <utility>

#include "ipc_spec.h"
#include "native/policy_builder.h"

// Requirements on ipc in one line each.
namespace aasm::backend_native::testing {

inline schema::PolicyRule socket_rule(std::string id, std::string path) {
  return rule(std::move(id), schema::RuleEffect::kAllow, "connect",
              schema::SelectorType::kSocketPath, std::move(path));
}
inline schema::PolicyRule setting(const std::string& operation, std::string value) {
  return rule("ipc." + operation, schema::RuleEffect::kDeny, operation,
              schema::SelectorType::kLimit, std::move(value));
}
inline schema::PolicyRule open_sockets() {
  return rule("ipc.unix_sockets", schema::RuleEffect::kAllow, "connect",
              schema::SelectorType::kWhole, "");
}
inline schema::Requirement ipc_requirement(std::initializer_list<schema::PolicyRule> rules) {
  return requirement(schema::Domain::kIpc, "ipc.unix_sockets.allow", rules);
}
inline IpcSpec ipc_spec(std::initializer_list<schema::PolicyRule> rules) {
  const schema::Requirement stated = ipc_requirement(rules);
  return make_ipc_spec(&stated).value();
}

}  // namespace aasm::backend_native::testing
