#include "learn_network.h"

#include <algorithm>
#include <utility>

#include "aasm/planner/endpoint.h"
#include "aasm/schema/utf8.h"

#include "learn_paths.h"

namespace aasm::planner {
namespace {

using schema::AddressClass;
using schema::ObjectType;

bool is_host_name(const std::string& name) {
  const auto endpoint = parse_host_endpoint(name);
  return endpoint && endpoint->kind == HostKind::kName && endpoint->port == 0 &&
         name.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_") ==
             std::string::npos;
}

std::string in_brackets(const std::string& host) {
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

std::string egress_entry(const std::string& host, std::int64_t port, const std::string& protocol) {
  return "{ host: \"" + host + "\", ports: [" + std::to_string(port) + "], protocol: " + protocol +
         " }";
}

}  // namespace

std::string NetworkLearner::why_not(const schema::EventObject& object) const {
  if (object.type != ObjectType::kAddress) {
    return "no list of the policy opens sockets of this kind";
  }
  switch (*object.address_class) {
    case AddressClass::kMetadata:
      return "clouds answer there with credentials";
    case AddressClass::kUnspecified:
    case AddressClass::kMulticast:
    case AddressClass::kReserved:
    case AddressClass::kTranslated:
      return "its address is " + std::string(schema::token(*object.address_class));
    case AddressClass::kLoopback:
    case AddressClass::kLinkLocal:
    case AddressClass::kPrivate:
    case AddressClass::kPublic:
      break;
  }
  return *object.port == 0 ? "it names no port" : "";
}

void NetworkLearner::take(const schema::Event& event, const Asking& by) {
  const schema::EventObject& object = event.object;
  if (event.operation == "resolve" && object.type == ObjectType::kName) {
    merge(looked_up_[object.name], by);
    return;
  }
  const bool bind = event.operation == "bind";
  std::string reason = why_not(object);
  if (bind && object.type == ObjectType::kAddress &&
      *object.address_class == AddressClass::kUnspecified) {
    reason = *object.port == 0 ? "it names no port" : "";
  }
  if (reason.empty() && event.operation == "resolve") {
    reason = "names are looked up there by a way that a list of names does not open";
  }
  if (!reason.empty()) {
    const std::string where =
        object.address ? in_brackets(*object.address) + ":" + std::to_string(*object.port)
                       : schema::escape_for_display(object.name);
    merge(left_[{std::string(schema::token(event.domain)) + " " + event.operation + " " + where,
                 reason}],
          by);
    return;
  }
  const bool named = !bind && is_host_name(object.name);
  const Target target{named ? object.name : *object.address, *object.protocol, *object.port};
  merge((bind ? bound_ : named ? names_ : addresses_)[target], by);
}

// The C library orders the addresses of a name by connecting datagram sockets to them: where the
// name is reached over TCP that is not asked for by itself.
void NetworkLearner::finish_names(Lesson& lesson) {
  std::set<std::string> streams;
  for (const auto& [target, by] : names_) {
    if (target.protocol == "tcp") {
      streams.insert(target.host);
    }
  }
  for (auto& [target, by] : names_) {
    const std::string where = target.host + ":" + std::to_string(target.port);
    if (target.protocol == "tcp") {
      lesson.additions.push_back({{"network", "allowlist"}, "\"" + where + "\"", where, by});
    } else if (!streams.contains(target.host)) {
      lesson.additions.push_back({{"network", "egress"},
                                  egress_entry(target.host, target.port, target.protocol),
                                  where + "/" + target.protocol,
                                  by});
    }
  }
  const bool listed = std::any_of(
      policy_.documents.begin(), policy_.documents.end(),
      [](const LoadedDocument& one) { return one.document.name_resolution.has_value(); });
  for (auto& [name, by] : looked_up_) {
    const bool reached = std::any_of(names_.begin(), names_.end(), [&name = name](const auto& one) {
      return one.first.host == name;
    });
    if (listed && is_host_name(name)) {
      lesson.additions.push_back({{"name_resolution", "allow"}, "\"" + name + "\"", name, by});
    } else if (!reached) {
      lesson.left_out.push_back(
          {"name_resolution resolve " + schema::escape_for_display(name),
           "it was looked up and nothing that it stands for was reached; a name of `network` may "
           "be looked up",
           by});
    }
  }
}

void NetworkLearner::finish(Lesson& lesson) {
  finish_names(lesson);
  for (auto& [target, by] : addresses_) {
    lesson.additions.push_back(
        {{"network", "egress"},
         egress_entry(target.host, target.port, target.protocol),
         in_brackets(target.host) + ":" + std::to_string(target.port) + "/" + target.protocol,
         by});
  }
  std::map<std::string, Asking> binds;
  for (const auto& [target, by] : bound_) {
    merge(binds[in_brackets(target.host) + ":" + std::to_string(target.port)], by);
  }
  for (auto& [where, by] : binds) {
    lesson.additions.push_back({{"network", "bind", "allow"}, "\"" + where + "\"", where, by});
  }
  for (auto& [key, by] : left_) {
    lesson.left_out.push_back({key.first, key.second, by});
  }
}

}  // namespace aasm::planner
