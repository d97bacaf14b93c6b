#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include "aasm/process/proc_status.h"

#include "caller_memory.h"
#include "file_in_flight.h"

// What a call on files is about, in the words of the judge and of the record.
namespace aasm::backend_native {

using schema::Error;
using schema::ErrorCode;
using schema::Result;

namespace {

// Of a removed file that is executed the kernel still says where it was, and Landlock judges by
// that; of a memory file its name.
void name_removed(const FoundPlace& place, ResolvedFile& file) {
  constexpr std::string_view kMark = " (deleted)";
  constexpr std::string_view kMemory = "/memfd:";
  std::string_view text = place.path;
  if ((place.found.flags & wire::kPlaceRemoved) == 0 || !text.ends_with(kMark)) {
    return;
  }
  text.remove_suffix(kMark.size());
  if (text.starts_with(kMemory)) {
    file.given = text.substr(1);
  } else {
    file.path = text;
  }
}

// `directory` without a slash at its end.
bool grant_has(const FileSpec& spec, const std::string& rule, const std::string& directory) {
  return std::any_of(spec.grants.begin(), spec.grants.end(), [&](const FileGrant& grant) {
    const std::string above = grant.path == "/" ? "" : grant.path;
    return grant.rule == rule && (directory == above || directory.rfind(above + "/", 0) == 0);
  });
}

}  // namespace

void tell_by_directory(const FileSpec& spec, schema::Event* event) {
  schema::EventObject& object = event->object;
  if (event->outcome != schema::DecisionOutcome::kAllowed || !object.path || object.new_path) {
    return;
  }
  const std::string& path = object.path->bytes();
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos || !grant_has(spec, event->rule, path.substr(0, slash))) {
    return;
  }
  schema::EventObject directory;
  directory.type = object.type;
  directory.name = "entries";
  directory.path = schema::PathBytes(slash == 0 ? "/" : path.substr(0, slash));
  object = std::move(directory);
}

// Without the directories above them.
FileCall FileCalls::name_files(const InFlight& call, const FileAnswer& answer) const {
  FileCall described;
  described.file = resolved_file(answer.places[0], call.first_name, call.first_start);
  if (is_execution(call.request.call)) {
    name_removed(answer.places[0], described.file);
  }
  if (call.request.second) {
    described.other = resolved_file(answer.places[1], call.second_name, call.second_start);
  }
  described.operations = operations_of(call.request, described.file.exists);
  return described;
}

Result<FileCall> FileCalls::describe(const InFlight& call, const FileAnswer& answer) const {
  FileCall described = name_files(call, answer);
  if (wants_parents(spec_, described.file.path)) {
    described.file.parents = AASM_TRY(directories_above(answer.places[0], answer.first));
  }
  if (described.other && wants_parents(spec_, described.other->path)) {
    described.other->parents = AASM_TRY(directories_above(answer.places[1], answer.second));
  }
  return described;
}

// By the number in "/proc/N/...", of a process or one of its threads. A descriptor of such a file,
// which the broker does not see the way to, goes by this.
bool FileCalls::is_own_process(const std::string& path) const {
  constexpr std::string_view kProc = "/proc/";
  if (path.compare(0, kProc.size(), kProc) != 0) {
    return false;
  }
  const std::string number = path.substr(kProc.size(), path.find('/', kProc.size()) - kProc.size());
  if (number.empty() || number.find_first_not_of("0123456789") != std::string::npos) {
    return false;
  }
  const std::array<pid_t, 3> own = {::getpid(), warden_pid_, broker_pid_};
  return std::any_of(own.begin(), own.end(), [&number](pid_t pid) {
    return ::access(("/proc/" + std::to_string(pid) + "/task/" + number).c_str(), F_OK) == 0;
  });
}

void FileCalls::refuse_own(InFlight& call, const FileAnswer& answer) {
  FileCall described = name_files(call, answer);
  described.operations = operations_of(call.request, true);
  FileVerdict verdict = refuse_own_process(spec_, described);
  if (verdict.recorded) {
    call.events.push_back(std::move(verdict.event));
  }
  finish(call, EACCES);
}

// /dev/tty is whoever opens it has for a terminal: the broker's is not always the caller's.
Result<void> FileCalls::check_terminal(const InFlight& call, const FileAnswer& answer) const {
  constexpr unsigned kTerminals = 5;
  const wire::BrokerPlace& found = answer.places[0].found;
  if (!is_open(call.request.call) || !S_ISCHR(found.mode) ||
      found.special != makedev(kTerminals, 0)) {
    return {};
  }
  const Result<process::ProcStat> theirs = process::read_proc_stat(call.tid);
  const Result<process::ProcStat> ours = process::read_proc_stat(broker_pid_);
  if (!theirs || !ours) {
    return Error(ErrorCode::kUnavailable, "whose terminal it is cannot be read", EIO);
  }
  if (theirs->terminal == ours->terminal) {
    return {};
  }
  return theirs->terminal == 0 ? kernel_answer(ENXIO)
                               : Error(ErrorCode::kUnsupported, "a terminal of its own", EIO);
}

// Ends a call that was not made.
void FileCalls::fail(InFlight& call, const Error& error) {
  const std::int64_t os_errno = error.os_errno() != 0 ? error.os_errno() : EPERM;
  if (!is_kernel_answer(error)) {
    note_fault(call, os_errno);
  }
  finish(call, os_errno);
}

void FileCalls::note_fault(InFlight& call, std::int64_t os_errno) {
  FileCall described = call.described;
  if (described.file.path.empty()) {
    described = name_files(call, FileAnswer());
  }
  call.events.push_back(refuse_by_fault(spec_, described, os_errno).event);
}

}  // namespace aasm::backend_native
