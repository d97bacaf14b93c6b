#include "ipc_judge.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "aasm/schema/path_bytes.h"

namespace aasm::backend_native {
namespace {

using schema::DecisionCause;
using schema::DecisionOutcome;
using schema::Event;
using schema::ObjectType;

constexpr const char* kMechanism = "seccomp_user_notification";

Event ipc_event(std::string operation, ObjectType type, std::string name) {
  Event event;
  event.domain = schema::Domain::kIpc;
  event.operation = std::move(operation);
  event.object.type = type;
  event.object.name = std::move(name);
  event.outcome = DecisionOutcome::kDenied;
  event.cause = DecisionCause::kPolicy;
  event.mechanism = kMechanism;
  return event;
}

NetworkVerdict refuse_path(const IpcSpec& spec, const std::string& path) {
  NetworkVerdict verdict;
  verdict.event = ipc_event("connect", ObjectType::kSocket, schema::PathBytes(path).display());
  verdict.event.rule = spec.sockets_default;
  verdict.event.os_errno = EACCES;
  return verdict;
}

bool covers(const SocketRule& rule, const ResolvedSocket& socket) {
  const bool same = rule.found && rule.device == socket.device && rule.inode == socket.inode;
  return same || rule.path == socket.path || rule.resolved == socket.path;
}

}  // namespace

NetworkVerdict judge_socket_path(const IpcSpec& spec, NetworkCall call, const FoundSocket& found) {
  const bool reaches = call == NetworkCall::kConnect || call == NetworkCall::kSend;
  if (!spec.sockets_stated || !reaches || !found.is_socket) {
    return not_judged();
  }
  const auto rule =
      std::find_if(spec.sockets.begin(), spec.sockets.end(),
                   [&found](const SocketRule& one) { return covers(one, found.name); });
  if (rule == spec.sockets.end()) {
    return found.made_inside ? not_judged() : refuse_path(spec, found.name.path);
  }
  NetworkVerdict verdict;
  verdict.perform = true;
  // By the name the rule has for it, so that the record can be held against the rule.
  verdict.event = ipc_event("connect", ObjectType::kSocket, rule->path);
  verdict.event.outcome = DecisionOutcome::kAllowed;
  verdict.event.rule = rule->id;
  return verdict;
}

NetworkVerdict refuse_unresolved(const IpcSpec& spec, const std::string& path) {
  return refuse_path(spec, path);
}

Event abstract_refused(const IpcSpec& spec, const std::string& name) {
  Event event = ipc_event("connect", ObjectType::kSocket, "@" + schema::PathBytes(name).display());
  event.rule = spec.abstract_rule;
  event.os_errno = EPERM;
  event.mechanism = "landlock_scope";
  return event;
}

Event signal_refused(const IpcSpec& spec, const std::string& target) {
  Event event = ipc_event("signals", ObjectType::kProcess, target);
  event.rule = spec.signals_rule;
  event.os_errno = EPERM;
  return event;
}

Event memory_refused(const IpcSpec& spec, const std::string& what) {
  Event event = ipc_event("shared_memory", ObjectType::kName, what);
  event.rule = spec.memory_rule;
  event.os_errno = EACCES;
  return event;
}

Event ipc_fault(const IpcSpec& spec, const std::string& what, std::int64_t os_errno) {
  Event event = ipc_event("connect", ObjectType::kSocket, what);
  event.cause = DecisionCause::kFault;
  event.rule = spec.sockets_default;
  event.os_errno = os_errno;
  return event;
}

}  // namespace aasm::backend_native
