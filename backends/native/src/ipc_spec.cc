#include "ipc_spec.h"

#include <sys/stat.h>

#include <climits>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#include "rule_obstacle.h"

namespace aasm::backend_native {
namespace {

using schema::PolicyRule;
using schema::Result;
using schema::RuleEffect;
using schema::SelectorType;

Result<void> add_socket(const PolicyRule& rule, IpcSpec& spec) {
  if (rule.effect != RuleEffect::kAllow) {
    return obstacle(rule, "only a list of the sockets that are allowed is known to aasm-native");
  }
  if (rule.selector.type == SelectorType::kWhole) {
    spec.sockets_stated = false;
    return {};
  }
  if (rule.selector.type != SelectorType::kSocketPath) {
    return obstacle(rule, "selector " + std::string(schema::token(rule.selector.type)) +
                              " is no path of a socket");
  }
  SocketRule socket;
  socket.id = rule.id;
  socket.path = rule.selector.value.bytes();
  socket.resolved = socket.path;
  spec.sockets.push_back(std::move(socket));
  return {};
}

// The settings have one value each, which closes; another is none we know.
Result<void> add_setting(const PolicyRule& rule, IpcSpec& spec) {
  const bool abstract = rule.operation == "abstract_sockets";
  std::string* place = abstract                            ? &spec.abstract_rule
                       : rule.operation == "signals"       ? &spec.signals_rule
                       : rule.operation == "shared_memory" ? &spec.memory_rule
                                                           : nullptr;
  if (place == nullptr) {
    return obstacle(rule, "operation " + rule.operation + " is not known to aasm-native");
  }
  const std::string known = abstract ? "deny" : "inside";
  if (rule.effect != RuleEffect::kDeny || rule.selector.value.bytes() != known) {
    return obstacle(rule, rule.selector.value.display() + " is not known to aasm-native");
  }
  *place = rule.id;
  return {};
}

std::optional<std::string> real_path(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), ::free);
  return real ? std::optional<std::string>(real.get()) : std::nullopt;
}

// A socket that is made later has the name that its directory has.
std::string resolve(const std::string& path) {
  if (const auto whole = real_path(path)) {
    return *whole;
  }
  const std::size_t slash = path.rfind('/');
  const auto directory = real_path(slash == 0 ? "/" : path.substr(0, slash));
  if (!directory) {
    return path;
  }
  return (*directory == "/" ? "" : *directory) + path.substr(slash);
}

}  // namespace

Result<IpcSpec> make_ipc_spec(const schema::Requirement* requirement) {
  IpcSpec spec;
  if (requirement == nullptr) {
    return spec;
  }
  spec.sockets_stated = true;
  spec.sockets_default = requirement->default_rule;
  for (const PolicyRule& rule : requirement->rules) {
    AASM_TRY(rule.operation == "connect" ? add_socket(rule, spec) : add_setting(rule, spec));
  }
  return spec;
}

void observe_ipc(IpcSpec& spec) {
  spec.observes = true;
  spec.abstract_rule.clear();
  spec.signals_rule = spec.signals_rule.empty() ? "" : "self_protection.signals";
}

void locate_sockets(IpcSpec& spec) {
  for (SocketRule& rule : spec.sockets) {
    rule.resolved = resolve(rule.path);
    struct stat status {};
    rule.found = ::stat(rule.path.c_str(), &status) == 0 && S_ISSOCK(status.st_mode);
    if (rule.found) {
      rule.device = status.st_dev;
      rule.inode = status.st_ino;
    }
  }
}

}  // namespace aasm::backend_native
