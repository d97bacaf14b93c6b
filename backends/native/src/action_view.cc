#include "action_view.h"

#include <linux/audit.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "classify.h"
#include "landlock_uapi.h"
#include "lowering.h"
#include "network_view.h"
#include "ruleset.h"
#include "syscall_groups.h"
#include "syscall_names.h"

namespace aasm::backend_native {
namespace {

using planner::ActionAnswer;
using planner::ActionView;
using schema::Domain;
using schema::Requirement;

#if defined(__x86_64__)
constexpr std::uint32_t kAuditArch = AUDIT_ARCH_X86_64;
#else
constexpr std::uint32_t kAuditArch = AUDIT_ARCH_AARCH64;
#endif

// The rights that have to be granted: reading a file and listing a directory come together, and so
// does all that changes what a directory holds. A file is opened for reading to be executed
// (security/landlock/fs.c, get_required_file_open_access()), so that takes two.
std::uint64_t right_of(std::string_view operation) {
  if (operation == "read") {
    return landlock::kReadFile;
  }
  if (operation == "execute") {
    return landlock::kExecute | landlock::kReadFile;
  }
  return operation == "write" ? landlock::kWriteFile : landlock::kRemoveFile;
}

bool covers(std::string_view upper, std::string_view path) {
  return path.starts_with(upper) &&
         (path.size() == upper.size() || upper == "/" || path[upper.size()] == '/');
}

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

ActionView view_path(const std::vector<Requirement>& requirements, const planner::Action& action) {
  ActionView view;
  view.mechanism = "landlock";
  const bool entry = action.operation == "create" || action.operation == "remove";
  const std::string place = entry ? parent_of(action.object) : action.object;
  const std::uint64_t needed = right_of(action.operation);
  std::uint64_t granted = 0;
  std::size_t depth = 0;
  for (const GrantRequest& grant : grant_requests(requirements)) {
    if ((grant.wanted & needed) == 0 || !covers(grant.path, place)) {
      continue;
    }
    granted |= grant.wanted & needed;
    if (view.rule.empty() || grant.path.size() > depth) {
      view.rule = grant.rule;
      depth = grant.path.size();
    }
  }
  if (granted == needed) {
    view.answer = ActionAnswer::kAllowed;
    return view;
  }
  if ((granted & landlock::kExecute) != 0) {
    view.note = "executing a file takes a grant to read it as well";
  }
  view.answer = ActionAnswer::kDenied;
  view.os_errno = EACCES;
  const Requirement* requirement = requirement_on(requirements, action.domain);
  view.rule = requirement != nullptr ? requirement->default_rule : "";
  return view;
}

// Whether `call` stands in the list "one, another".
bool lists(std::string_view calls, std::string_view call) {
  while (!calls.empty()) {
    const std::size_t end = std::min(calls.find(", "), calls.size());
    if (calls.substr(0, end) == call) {
      return true;
    }
    calls.remove_prefix(std::min(end + 2, calls.size()));
  }
  return false;
}

std::string conditions_of(std::string_view call) {
  std::string text;
  for (const ClosedArgument& argument : closed_arguments()) {
    if (lists(argument.call, call)) {
      text += std::string(text.empty() ? "" : "; ") + std::string(argument.condition) + ": " +
              std::string(argument.answer) + " (" + std::string(argument.rule) + ")";
    }
  }
  return text;
}

std::string ceiling_text(const ProcessCeiling& ceiling) {
  return ceiling.max == 0 ? "makes a process: EPERM (" + ceiling.rule + ")"
                          : "makes a process while there are " + std::to_string(ceiling.max) +
                                ": EAGAIN (" + ceiling.rule + ")";
}

ActionView view_call(const std::vector<Requirement>& requirements, const std::string& on_denial,
                     const std::string& name) {
  ActionView view;
  schema::Result<FilterSpec> spec =
      make_filter_spec(requirement_on(requirements, Domain::kSyscall), on_denial);
  if (spec) {
    spec->ceiling = process_ceiling(requirements);
  }
  const std::optional<std::int32_t> number = syscall_number(name);
  if (!spec || !number) {
    view.note = spec ? "this architecture has no such call" : spec.error().message();
    return view;
  }
  view.mechanism = "seccomp_user_notification";
  const NumberAction action = number_action(*spec, *number);
  const auto allowed = spec->allowed.find(*number);
  view.rule = allowed == spec->allowed.end() ? "" : allowed->second;
  if (action == NumberAction::kAllow) {
    view.answer = ActionAnswer::kAllowed;
    return view;
  }
  if (action != NumberAction::kNotify) {
    view.answer = ActionAnswer::kByArguments;
    view.note = conditions_of(name);
    if (action == NumberAction::kCountFork || action == NumberAction::kCountClone) {
      view.note += std::string(view.note.empty() ? "" : "; ") + ceiling_text(*spec->ceiling);
    }
    return view;
  }
  NotifiedCall call;
  call.data.arch = kAuditArch;
  call.data.nr = *number;
  const Classification answered = classify(call, *spec);
  view.answer = ActionAnswer::kDenied;
  view.rule = answered.event.rule;
  view.os_errno = static_cast<int>(answered.event.os_errno);
  view.recorded = answered.recorded;
  if (answered.answer == AnswerKind::kKill) {
    view.note = "the caller is killed";
  } else if (answered.event.cause == schema::DecisionCause::kCompat) {
    view.note = "answered so that the caller falls back; it is recorded as such and as no denial";
  }
  return view;
}

}  // namespace

ActionView view_action(const planner::ExecutionSpec& spec, const planner::Action& action) {
  const std::vector<Requirement> requirements = installable_requirements(spec);
  switch (action.domain) {
    case Domain::kFilesystemRead:
    case Domain::kFilesystemWrite:
      return view_path(requirements, action);
    case Domain::kSyscall:
      return view_call(requirements, spec.on_denial, action.object);
    case Domain::kNetworkEgress:
    case Domain::kNameResolution:
      return view_network(requirements, action);
    case Domain::kProcessCreation:
    case Domain::kIpc:
    case Domain::kCredential:
    case Domain::kResource:
      break;
  }
  return {};
}

}  // namespace aasm::backend_native
