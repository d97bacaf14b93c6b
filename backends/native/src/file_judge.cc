#include "file_judge.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "file_operation.h"
#include "file_place.h"
#include "landlock_uapi.h"

namespace aasm::backend_native {
namespace {

using schema::DecisionCause;
using schema::DecisionOutcome;
using schema::Domain;
using schema::Event;
using schema::ObjectType;
using schema::PathBytes;

constexpr const char* kByChannel = "seccomp_user_notification";

const std::string& default_rule(const FileSpec& spec, Domain domain) {
  return domain == Domain::kFilesystemRead ? spec.read_default : spec.write_default;
}

bool stated(const FileSpec& spec, Domain domain) {
  return domain == Domain::kFilesystemRead ? spec.read_stated : spec.write_stated;
}

schema::EventObject object_of(const FileCall& call, std::string path) {
  const ResolvedFile& file = call.file;
  schema::EventObject object;
  if (path.empty()) {
    object.type = ObjectType::kName;
    object.name = file.given;
    return object;
  }
  object.type = ObjectType::kPath;
  if (file.given != path && !file.given.empty()) {
    object.given_path = PathBytes(file.given);
  }
  object.path = PathBytes(std::move(path));
  if (call.other) {
    object.new_path = PathBytes(call.other->path);
  }
  if (file.exists) {
    object.device = file.id.device;
    object.inode = file.id.inode;
  }
  return object;
}

FileVerdict denied(const FileCall& call, FileOperation operation, Domain domain, std::string rule,
                   int os_errno) {
  FileVerdict verdict;
  verdict.perform = false;
  Event& event = verdict.event;
  event.domain = domain;
  event.operation = operation_word(operation);
  event.object = object_of(call, call.file.path);
  event.outcome = DecisionOutcome::kDenied;
  event.cause = DecisionCause::kPolicy;
  event.rule = std::move(rule);
  event.os_errno = os_errno;
  event.mechanism = kByChannel;
  return verdict;
}

bool concerns(const FileDenial& denial, FileOperation operation, const ResolvedFile& file) {
  const Standing standing = standing_to(denial, file);
  if (standing == Standing::kInside) {
    return true;
  }
  switch (operation) {
    case FileOperation::kRename:
    case FileOperation::kExchange:
    case FileOperation::kMakeSymlink:
      return standing == Standing::kAbove;
    case FileOperation::kRemoveDirectory:
      return holds_from_launch(denial, file);
    case FileOperation::kRead:
    case FileOperation::kWrite:
    case FileOperation::kTruncate:
    case FileOperation::kAttributes:
    case FileOperation::kCreate:
    case FileOperation::kMakeDirectory:
    case FileOperation::kMakeNode:
    case FileOperation::kRemove:
    case FileOperation::kLink:
    case FileOperation::kExecute:
      return false;
  }
  return false;
}

// A name that is changed concerns denials of reading too: what lies inside would go by another.
const FileDenial* denial_of(const FileSpec& spec, const FileCall& call, FileOperation operation) {
  const auto found =
      std::find_if(spec.denials.begin(), spec.denials.end(), [&](const FileDenial& denial) {
        return (denial.domain == domain_of(operation) || has_two_names(operation)) &&
               (concerns(denial, operation, call.file) ||
                (call.other && concerns(denial, operation, *call.other)));
      });
  return found == spec.denials.end() ? nullptr : &*found;
}

Granted granted_for(const FileSpec& spec, FileOperation operation, const ResolvedFile& file) {
  const std::uint64_t cited =
      operation == FileOperation::kExecute ? landlock::kExecute : rights_for(operation, file);
  return granted_to(spec, file, changes_directory(operation, file), domain_of(operation), cited);
}

bool has_rights(const FileSpec& spec, FileOperation operation, const ResolvedFile& file) {
  const std::uint64_t wanted = rights_for(operation, file);
  return (granted_for(spec, operation, file).rights & wanted) == wanted;
}

// The operation at one of the ends of the call that no grant has the rights for.
std::optional<FileOperation> not_granted(const FileSpec& spec, const FileCall& call) {
  for (const FileOperation operation : call.operations) {
    const bool source = operation == FileOperation::kLink || has_rights(spec, operation, call.file);
    if (!source || (call.other && !has_rights(spec, operation, *call.other))) {
      return operation;
    }
  }
  return std::nullopt;
}

// Landlock lets nothing go where more would be granted to it than where it comes from: EXDEV.
bool would_widen(const FileSpec& spec, const FileCall& call) {
  if (!call.other) {
    return false;
  }
  const std::uint64_t from = granted_for(spec, call.operations.front(), call.file).rights;
  const std::uint64_t to = granted_for(spec, call.operations.front(), *call.other).rights;
  const bool both = call.operations.front() == FileOperation::kExchange;
  return (to & ~from) != 0 || (both && (from & ~to) != 0);
}

bool is_refusal(int os_errno) {
  return os_errno == EACCES || os_errno == EPERM || os_errno == EROFS || os_errno == EXDEV;
}

FileVerdict allowed(const FileSpec& spec, const FileCall& call) {
  const FileOperation operation = call.operations.front();
  Granted granted = granted_for(spec, operation, call.file);
  FileVerdict verdict;
  const Domain domain = domain_of(operation);
  const bool seen = domain == Domain::kFilesystemRead ? spec.level == FileLevel::kDecisions
                                                      : spec.level != FileLevel::kSetup;
  verdict.recorded = seen && granted.narrowest != nullptr && !call.file.path.empty();
  Event& event = verdict.event;
  event.domain = domain;
  event.operation = operation_word(operation);
  event.object = object_of(call, granted.narrowest != nullptr ? granted.path : call.file.path);
  event.outcome = DecisionOutcome::kAllowed;
  event.cause = DecisionCause::kPolicy;
  event.rule = granted.narrowest != nullptr ? granted.narrowest->rule : default_rule(spec, domain);
  event.mechanism = operation == FileOperation::kExecute ? kByChannel : "broker";
  return verdict;
}

}  // namespace

FileVerdict unrecorded() {
  FileVerdict verdict;
  verdict.recorded = false;
  return verdict;
}

bool wants_parents(const FileSpec& spec, std::string_view path) {
  ResolvedFile file;
  file.path = path;
  file.exists = false;
  return spec.denies() || granted_to(spec, file, true, Domain::kFilesystemRead, 0).rights == 0;
}

FileVerdict judge_file(const FileSpec& spec, const FileCall& call) {
  if (call.operations.empty() || !spec.judges()) {
    return unrecorded();
  }
  for (const FileOperation operation : call.operations) {
    if (const FileDenial* denial = denial_of(spec, call, operation)) {
      return denied(call, operation, denial->domain, denial->rule, EACCES);
    }
    const bool has_attributes = call.file.exists && !call.file.path.empty();
    if (operation == FileOperation::kAttributes && spec.write_stated && has_attributes &&
        !has_rights(spec, operation, call.file)) {
      return denied(call, operation, Domain::kFilesystemWrite, spec.write_default, EACCES);
    }
  }
  return allowed(spec, call);
}

FileVerdict judge_execution(const FileSpec& spec, const FileCall& call) {
  constexpr FileOperation kExecute = FileOperation::kExecute;
  return has_rights(spec, kExecute, call.file)
             ? allowed(spec, call)
             : denied(call, kExecute, domain_of(kExecute), spec.read_default, EACCES);
}

FileVerdict blame_refusal(const FileSpec& spec, const FileCall& call, int os_errno) {
  if (call.operations.empty() || !is_refusal(os_errno)) {
    return unrecorded();
  }
  const std::optional<FileOperation> missing = not_granted(spec, call);
  const bool by_rights = (missing && os_errno != EPERM && os_errno != EROFS) ||
                         (os_errno == EXDEV && would_widen(spec, call));
  const FileOperation operation = missing.value_or(call.operations.front());
  const Domain domain = domain_of(operation);
  if (!stated(spec, domain) || (os_errno == EXDEV && !by_rights)) {
    return unrecorded();
  }
  FileVerdict verdict = denied(call, operation, domain, default_rule(spec, domain), os_errno);
  verdict.perform = true;
  if (operation != FileOperation::kExecute && operation != FileOperation::kAttributes) {
    verdict.event.mechanism = by_rights ? "landlock" : "broker";
  }
  if (!by_rights) {
    verdict.event.cause = DecisionCause::kHostPermission;
    if (const Granted granted = granted_for(spec, operation, call.file); granted.narrowest) {
      verdict.event.rule = granted.narrowest->rule;
    }
  }
  return verdict;
}

FileVerdict refuse_by_fault(const FileSpec& spec, const FileCall& call, std::int64_t os_errno) {
  FileVerdict verdict = blame_refusal(spec, call, EACCES);
  if (!verdict.recorded) {
    // The policy says nothing of what the call does, and was still the reason to look at it.
    const Domain domain = spec.read_stated ? Domain::kFilesystemRead : Domain::kFilesystemWrite;
    const FileOperation operation =
        call.operations.empty() ? FileOperation::kRead : call.operations.front();
    verdict = denied(call, operation, domain, default_rule(spec, domain), EACCES);
  }
  verdict.perform = false;
  verdict.event.outcome = DecisionOutcome::kDenied;
  verdict.event.cause = DecisionCause::kFault;
  verdict.event.os_errno = os_errno;
  verdict.event.mechanism = kByChannel;
  return verdict;
}

FileVerdict refuse_own_process(const FileSpec& spec, const FileCall& call) {
  if (call.operations.empty()) {
    return unrecorded();
  }
  const FileOperation operation = call.operations.front();
  const Domain domain = domain_of(operation);
  FileVerdict verdict = denied(call, operation, domain, "self_protection.own_processes", EACCES);
  verdict.recorded = stated(spec, domain);
  verdict.event.mechanism = "broker";
  return verdict;
}

}  // namespace aasm::backend_native
