#include "action_view.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "aasm/planner/paths.h"

#include "classify.h"
#include "file_spec.h"
#include "ipc_judge.h"
#include "landlock_uapi.h"
#include "limit_view.h"
#include "lowering.h"
#include "network_setup.h"
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

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

// The policy's word: what changes which names there are is writing.
std::string_view word_of(std::string_view operation) {
  return operation == "read" || operation == "execute" ? operation : "write";
}

// By the path alone: a deny rule is not met here through another mount or name.
const schema::PolicyRule* denying_rule(const Requirement& requirement,
                                       const planner::Action& action) {
  if (requirement.evidence == schema::EvidenceWish::kSetup) {
    return nullptr;
  }
  for (const schema::PolicyRule& rule : requirement.rules) {
    const bool of_path = rule.effect == schema::RuleEffect::kDeny &&
                         rule.selector.type == schema::SelectorType::kPathPrefix;
    const std::string& place = of_path ? rule.selector.value.bytes() : action.object;
    // A directory above a denied place keeps its name. Nobody executes a file in another's place
    // (docs/decisions/0020).
    const bool concerned =
        planner::path_covers(place, action.object) ||
        (action.operation == "remove" && planner::path_covers(action.object, place));
    if (of_path && rule.operation == word_of(action.operation) && rule.operation != "execute" &&
        concerned) {
      return &rule;
    }
  }
  return nullptr;
}

bool decided_singly(const std::vector<Requirement>& requirements, const planner::Action& action) {
  const FileLevel level = file_level(requirement_on(requirements, Domain::kFilesystemRead),
                                     requirement_on(requirements, Domain::kFilesystemWrite));
  const bool reads = action.operation == "read" || action.operation == "execute";
  return level == FileLevel::kDecisions || (!reads && level != FileLevel::kSetup);
}

// What Landlock makes of it: the rights that the grants above a place hold together.
ActionView view_grants(const std::vector<Requirement>& requirements,
                       const planner::Action& action) {
  ActionView view;
  view.mechanism = "landlock";
  const bool entry = action.operation == "create" || action.operation == "remove";
  const std::string place = entry ? parent_of(action.object) : action.object;
  const std::uint64_t needed = right_of(action.operation);
  std::uint64_t granted = 0;
  std::size_t depth = 0;
  for (const GrantRequest& grant : grant_requests(requirements)) {
    if ((grant.wanted & needed) == 0 || !planner::path_covers(grant.path, place)) {
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

ActionView view_path(const std::vector<Requirement>& requirements, const planner::Action& action) {
  ActionView view = view_grants(requirements, action);
  view.recorded = decided_singly(requirements, action);
  const Requirement* requirement = requirement_on(requirements, action.domain);
  const schema::PolicyRule* denial =
      requirement == nullptr ? nullptr : denying_rule(*requirement, action);
  if (denial != nullptr) {
    view.answer = ActionAnswer::kDenied;
    view.mechanism = "seccomp_user_notification";
    view.rule = denial->id;
    view.os_errno = EACCES;
  }
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

// Of a call that is refused unless it stays inside, or judged by what its arguments point to.
std::string outside_text(const schema::Event& event) {
  const std::string answer = event.os_errno == EPERM ? "EPERM" : "EACCES";
  return event.domain == Domain::kIpc
             ? "reaches what is not of the run: " + answer + " (" + event.rule + ")"
             : "reaches a socket: by which it is; ask for its path with the operation connect";
}

ActionView view_call(const std::vector<Requirement>& requirements, const std::string& on_denial,
                     const std::string& name) {
  ActionView view;
  schema::Result<FilterSpec> spec =
      make_filter_spec(requirement_on(requirements, Domain::kSyscall), on_denial);
  schema::Result<IpcSpec> ipc = make_ipc_spec(requirement_on(requirements, Domain::kIpc));
  if (spec && ipc) {
    spec->ceiling = process_ceiling(requirements);
    spec->ipc = std::move(*ipc);
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
  call.data.arch = kNativeAuditArch;
  call.data.nr = *number;
  const Classification answered = classify(call, *spec);
  if (answered.answer == AnswerKind::kUnlessInside || answered.answer == AnswerKind::kBroker) {
    view.answer = ActionAnswer::kByArguments;
    view.note = outside_text(answered.event);
    return view;
  }
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

ActionView view_socket(const std::vector<Requirement>& requirements, const std::string& path) {
  ActionView view;
  const schema::Result<IpcSpec> spec = ipc_spec_of(requirements);
  if (!spec || !spec->sockets_stated) {
    view.note = spec ? "" : spec.error().message();
    return view;
  }
  FoundSocket found;
  found.name.path = path;
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) {
    found.name.device = status.st_dev;
    found.name.inode = status.st_ino;
    found.is_socket = S_ISSOCK(status.st_mode);
  }
  const NetworkVerdict verdict = judge_socket_path(*spec, NetworkCall::kConnect, found);
  if (!verdict.recorded) {
    view.answer = ActionAnswer::kAllowed;
    view.note = "no socket: the kernel says that nobody listens there";
    return view;
  }
  view.answer = verdict.perform ? ActionAnswer::kAllowed : ActionAnswer::kDenied;
  view.mechanism = verdict.event.mechanism;
  view.rule = verdict.event.rule;
  view.os_errno = static_cast<int>(verdict.event.os_errno);
  view.recorded = true;
  view.note = verdict.perform ? "" : "a socket that a process of the run has bound is reached";
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
    case Domain::kIpc:
      return view_socket(requirements, action.object);
    case Domain::kResource:
      return view_limit(requirements, action.object);
    case Domain::kProcessCreation:
    case Domain::kCredential:
      break;
  }
  return {};
}

}  // namespace aasm::backend_native
