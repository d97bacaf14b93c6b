#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <system_error>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "aasm/schema/path_bytes.h"

#include "bpf.h"
#include "canary.h"
#include "canary_calls.h"
#include "canary_objects.h"
#include "classify.h"
#include "file_canary.h"
#include "ipc_canary.h"
#include "limit_canaries.h"
#include "lowering.h"
#include "network_canary.h"
#include "syscall_names.h"

namespace aasm::backend_native {
namespace {

using schema::Domain;
using schema::Purpose;

constexpr std::size_t kMaxProtectedPaths = 64;

std::string quoted(const std::string& path) {
  return "\"" + schema::PathBytes(path).display() + "\"";
}

// The part of a canary that is known before it runs.
struct Described {
  std::string id;
  Domain domain = Domain::kFilesystemRead;
  Purpose purpose = Purpose::kSelfProtection;
  std::string step;
  std::string action;
};

class CanaryPlanner {
 public:
  explicit CanaryPlanner(const CanaryContext& context) : context_(context) {}

  CanaryPlan plan() {
    add_filesystem_canaries();
    add_filter_canary();
    add_environ_canary();
    add_descriptor_canary();
    add_capability_canary();
    add_network_canaries();
    if (!is_observed(Domain::kIpc)) {
      add_ipc_canaries(context_, plan_);
    }
    add_limit_canaries(context_, plan_);
    if (!is_observed(Domain::kProcessCreation)) {
      add_creation_canary(context_, plan_);
    }
    for (const Domain domain : context_.filter.observing.domains()) {
      plan_.none.push_back({domain, "the domain is observed, so policy refuses nothing there"});
    }
    add_attempts_on_paths();
    add_attempts_on_processes();
    return std::move(plan_);
  }

 private:
  bool stated(Domain domain) const {
    return requirement_on(context_.requirements, domain) != nullptr;
  }
  Purpose purpose(Domain domain) const {
    return stated(domain) ? Purpose::kPolicy : Purpose::kSelfProtection;
  }

  bool is_observed(Domain domain) const { return context_.filter.observing.covers(domain); }

  ScriptedCanary& add(Described what, const ScriptCall& call, std::vector<int> refusals,
                      MissingControl missing) {
    ScriptedCanary scripted;
    scripted.canary.id = std::move(what.id);
    scripted.canary.domain = what.domain;
    scripted.canary.purpose = what.purpose;
    scripted.canary.step = std::move(what.step);
    scripted.canary.action = std::move(what.action);
    scripted.entry = plan_.script.add(call);
    scripted.refusals = std::move(refusals);
    scripted.missing_control = missing;
    plan_.canaries.push_back(std::move(scripted));
    return plan_.canaries.back();
  }

  void add_filesystem_canaries() {
    const std::string& directory = context_.protect.canary_dir;
    const bool observed = context_.filter.files.observes();
    if (stated(Domain::kFilesystemRead) && !observed) {
      const std::string path = canary_read_path(directory);
      add({"filesystem_read.open", Domain::kFilesystemRead, Purpose::kPolicy, "landlock",
           "openat(" + quoted(path) + ", O_RDONLY)"},
          open_call(path, O_RDONLY, plan_.script), {EACCES}, MissingControl::kFails);
      add_execute_canary(canary_exec_path(directory));
    }
    if (stated(Domain::kFilesystemWrite) && !observed) {
      const std::string path = canary_write_path(directory);
      add({"filesystem_write.open", Domain::kFilesystemWrite, Purpose::kPolicy, "landlock",
           "openat(" + quoted(path) + ", O_WRONLY)"},
          open_call(path, O_WRONLY, plan_.script), {EACCES}, MissingControl::kFails);
    }
    for (FileCanary& file : decided_file_calls(context_.filter.files, directory, plan_.script)) {
      // Where files are observed it lies in what self-protection keeps.
      const Purpose purpose = observed ? Purpose::kSelfProtection : Purpose::kPolicy;
      ScriptedCanary& scripted = add(
          {std::move(file.id), file.domain, purpose, "seccomp", std::move(file.action)}, file.call,
          {EACCES}, context_.outer_filter ? MissingControl::kNoCanary : MissingControl::kFails);
      scripted.must_be_reported = true;
      plan_.forbidden_entries.push_back(scripted.entry);
    }
  }

  void add_execute_canary(const std::string& path) {
    add({"filesystem_read.execute", Domain::kFilesystemRead, Purpose::kPolicy, "landlock",
         "execveat(" + quoted(path) + ", AT_EXECVE_CHECK)"},
        execute_call(path, plan_.script), {EACCES}, MissingControl::kNoCanary);
  }

  // What the channel would answer the workload.
  schema::Event answer_to(std::int32_t number) const {
    NotifiedCall call;
    call.data.nr = number;
    call.data.arch = kNativeAuditArch;
    return classify(call, context_.filter).event;
  }

  // One is enough, unless somebody else's filter may refuse it before ours sees it.
  void add_filter_canary() {
    for (const HarmlessCall& harmless : kHarmlessCalls) {
      const std::optional<std::int32_t> number = syscall_number(harmless.name);
      if (!number || number_action(context_.filter, *number) != NumberAction::kNotify) {
        continue;
      }
      const schema::Event answer = answer_to(*number);
      if (answer.outcome != schema::DecisionOutcome::kDenied) {
        continue;  // it is observed
      }
      const bool by_policy = answer.rule.rfind("self_protection.", 0) != 0;
      ScriptedCanary& scripted =
          add({"syscall." + std::string(harmless.name), Domain::kSyscall,
               by_policy ? Purpose::kPolicy : Purpose::kSelfProtection, "seccomp",
               std::string(harmless.action)},
              harmless_call(harmless.name, *number, plan_.script), {EPERM},
              context_.outer_filter ? MissingControl::kNoCanary : MissingControl::kFails);
      scripted.must_be_reported = true;
      plan_.forbidden_entries.push_back(scripted.entry);
      if (!context_.outer_filter) {
        return;
      }
    }
    if (!plan_.forbidden_entries.empty()) {
      return;
    }
    plan_.none.push_back({Domain::kSyscall,
                          "policy allows every call that could be tried without harm: unshare, "
                          "kcmp, process_vm_readv, seccomp"});
  }

  void add_environ_canary() {
    const std::string path = "/proc/" + std::to_string(context_.supervisor_pid) + "/environ";
    add({"credential.environ", Domain::kCredential, purpose(Domain::kCredential), "landlock",
         "openat(environ of the supervisor, O_RDONLY)"},
        open_call(path, O_RDONLY, plan_.script), {EACCES, EPERM}, MissingControl::kNoCanary);
  }

  void add_descriptor_canary() {
    ScriptCall call;
    call.number = SYS_fcntl;
    call.args = {value_arg(context_.canary_descriptor), value_arg(F_GETFD), value_arg(0)};
    add({"descriptors.closed", Domain::kCredential, purpose(Domain::kCredential), "descriptors",
         "fcntl(F_GETFD) of a descriptor that is not passed on"},
        call, {EBADF}, MissingControl::kFails);
  }

  // Asks for exactly the capabilities the supervisor has: no change before the cut, a rise after.
  void add_capability_canary() {
    if (!context_.cut_capabilities) {
      plan_.none.push_back({Domain::kCredential, "capability cut: there is nothing to cut"});
      return;
    }
    add({"capabilities.raise", Domain::kCredential, Purpose::kSelfProtection, "capabilities",
         "capset(2) to the supervisor's own capabilities"},
        capset_call(context_.capabilities, plan_.script), {EPERM}, MissingControl::kFails);
  }

  // A socket of its own for the one call that is watched.
  void add_socket_call(const SocketCanary& wanted) {
    ScriptCall socket;
    socket.number = SYS_socket;
    socket.args = {value_arg(AF_INET), value_arg(wanted.type | SOCK_CLOEXEC), value_arg(0)};
    const ScriptArg made = result_arg(plan_.script.add(socket));
    ScriptCall call;
    call.number = wanted.number;
    call.args = {made, plan_.script.blob(wanted.address),
                 value_arg(static_cast<std::int64_t>(wanted.address.size()))};
    ScriptedCanary& scripted =
        add({wanted.id, wanted.domain, Purpose::kPolicy, wanted.step, wanted.action}, call,
            {EACCES}, MissingControl::kNoCanary);
    scripted.must_be_reported = wanted.reported;
    if (wanted.reported) {
      plan_.forbidden_entries.push_back(scripted.entry);
    }
    ScriptCall close;
    close.number = SYS_close;
    close.args = {made};
    plan_.script.add(close);
  }

  void add_network_canaries() {
    for (const Domain domain : {Domain::kNetworkEgress, Domain::kNameResolution}) {
      if (!stated(domain) || is_observed(domain)) {
        continue;
      }
      const std::optional<SocketCanary> canary =
          denied_socket_call(context_.filter.network, domain, context_.listener);
      if (canary) {
        add_socket_call(*canary);
      } else {
        plan_.none.push_back(
            {domain, "policy allows every address that could be tried without harm"});
      }
    }
    if (stated(Domain::kNetworkEgress) && !is_observed(Domain::kNetworkEgress)) {
      add_socket_call(floor_socket_call());
    }
  }

  void add_attempt_on_path(const std::string& path, int flags) {
    struct stat status {};
    if (plan_.script.full() || ::lstat(path.c_str(), &status) != 0) {
      return;
    }
    const bool directory = S_ISDIR(status.st_mode);
    const bool reads = flags == O_RDONLY;
    const bool judged = context_.filter.files.observes();
    const int all = flags | (directory ? O_DIRECTORY : 0);
    ScriptedCanary& scripted = add(
        {"self_protection." + std::string(reads ? "read." : "write.") + std::to_string(++attempts_),
         reads ? Domain::kFilesystemRead : Domain::kFilesystemWrite, Purpose::kSelfProtection,
         judged ? "seccomp" : "landlock",
         (judged ? "openat2(" : "openat(") + quoted(path) +
             (reads ? ", O_RDONLY)" : ", O_WRONLY)")},
        judged ? open_how_call(path, all, plan_.script) : open_call(path, all, plan_.script),
        {EACCES, EPERM}, MissingControl::kIgnored);
    if (judged) {
      scripted.must_be_reported = true;
      plan_.forbidden_entries.push_back(scripted.entry);
    }
    if (reads && !directory) {
      add_attempt_on_path(path, O_WRONLY);
    }
  }

  // A directory stands for the files in it too: policy could have granted one of them alone.
  std::vector<std::string> unreadable_paths() const {
    std::vector<std::string> paths;
    for (const std::string& path : context_.protect.unreadable) {
      paths.push_back(path);
      std::error_code ignored;
      std::filesystem::directory_iterator entries(path, ignored);
      for (; !ignored && entries != std::filesystem::directory_iterator();
           entries.increment(ignored)) {
        paths.push_back(entries->path().string());
      }
    }
    paths.resize(std::min(paths.size(), kMaxProtectedPaths / 2));
    return paths;
  }

  bool runs_now(const std::string& path) const {
    return std::find(context_.executing.begin(), context_.executing.end(), path) !=
           context_.executing.end();
  }

  void add_attempts_on_paths() {
    for (const std::string& path : unreadable_paths()) {
      add_attempt_on_path(path, O_RDONLY);
    }
    std::error_code ignored;
    for (const std::string& path : context_.protect.unwritable) {
      // A directory is opened for writing by nobody (EISDIR).
      if (!runs_now(path) && !std::filesystem::is_directory(path, ignored)) {
        add_attempt_on_path(path, O_WRONLY);
      }
    }
  }

  void add_attempts_on_processes() {
    const std::string memory = "/proc/" + std::to_string(context_.supervisor_pid) + "/mem";
    add({"self_protection.supervisor_memory", Domain::kCredential, Purpose::kSelfProtection,
         "landlock", "openat(mem of the supervisor, O_RDWR)"},
        open_call(memory, O_RDWR, plan_.script), {EACCES, EPERM}, MissingControl::kIgnored);
    add_signal_attempt("supervisor", value_arg(context_.supervisor_pid));
    add_signal_attempt("warden", warden_pid_arg());
  }

  void add_signal_attempt(const std::string& whom, ScriptArg pid) {
    ScriptCall call;
    call.number = SYS_kill;
    call.args = {pid, value_arg(0)};
    add({"self_protection.signal_" + whom, Domain::kIpc, Purpose::kSelfProtection, "landlock",
         "kill(" + whom + ", 0)"},
        call, {EPERM}, MissingControl::kIgnored);
  }

  const CanaryContext& context_;
  CanaryPlan plan_;
  int attempts_ = 0;
};

}  // namespace

CanaryPlan plan_canaries(const CanaryContext& context) {
  return CanaryPlanner(context).plan();
}

}  // namespace aasm::backend_native
