#include "confined_run.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include "aasm/backends/native.h"
#include "aasm/schema/json_parse.h"
#include "aasm/schema/json_write.h"

namespace aasm::backend_native::testing {
namespace {

constexpr uid_t kNobody = 65534;
constexpr unsigned kWatchdogSeconds = 60;

void must(bool held, const char* what) {
  if (!held) {
    ::perror(what);
    std::abort();
  }
}

void write_file(const std::string& path, std::string_view text, mode_t mode) {
  std::ofstream(path) << text;
  must(::chmod(path.c_str(), mode) == 0, "chmod");
}

void give_to_nobody(const std::string& path) {
  must(::lchown(path.c_str(), kNobody, kNobody) == 0, "lchown");
}

std::string with_supervisor(std::string word) {
  const std::string mark = "{supervisor}";
  const std::size_t at = word.find(mark);
  return at == std::string::npos ? word : word.replace(at, mark.size(), std::to_string(::getpid()));
}

planner::LaunchRequest request_for(const Layout& layout, const Launch& launch) {
  planner::LaunchRequest request;
  request.spec.program = schema::PathBytes(launch.command.at(0));
  request.spec.arg_count = static_cast<std::int64_t>(launch.command.size()) - 1;
  request.spec.working_dir =
      schema::PathBytes(launch.working_dir.empty() ? layout.path("work") : launch.working_dir);
  request.spec.requirements = launch.requirements;
  request.spec.on_denial = launch.on_denial;
  for (const std::string& word : launch.command) {
    request.argv.push_back(with_supervisor(word));
  }
  request.environment = launch.environment;
  request.descriptors = launch.descriptors;
  request.protect.home = layout.path("home");
  request.protect.canary_dir = layout.path("home/canary");
  request.protect.unreadable = {layout.path("home/ledger.db"), layout.path("home/keys")};
  request.helper_path = std::string(AASM_BINARY_DIR) + "/bin/" + launch.helper;
  return request;
}

// The supervisor's part: what launcher/session does, with records written as lines to `out`.
class Supervisor {
 public:
  Supervisor(const Layout& layout, const Launch& launch, int out)
      : layout_(layout), launch_(launch), out_(out) {}

  void run() {
    auto backend = make_native_backend();
    planner::LaunchRequest request = request_for(layout_, launch_);
    if (launch_.hands_out_control) {
      request.on_installed = [this](schema::ControlPrepared control) { record(control); };
    }
    auto prepared = backend->prepare(request);
    if (!prepared) {
      end(schema::RunEnding::kPrepareFailed, prepared.error().message(),
          prepared.error().os_errno());
      return;
    }
    for (const auto& control : (*prepared)->report().control) {
      record(control);
    }
    for (const auto& proved : (*prepared)->report().proved) {
      record(proved);
    }
    if ((*prepared)->report().failure) {
      end_with(*(*prepared)->report().failure);
      return;
    }
    start(**prepared);
  }

 private:
  void start(planner::PreparedExecution& prepared) {
    auto outcome = prepared.start([this](schema::RecordBody body) { record(std::move(body)); });
    if (!outcome) {
      end(schema::RunEnding::kExecFailed, outcome.error().message(), outcome.error().os_errno());
      return;
    }
    if (outcome->failure) {
      end_with(*outcome->failure);
      return;
    }
    closed_.program_started = true;
    planner::RunningExecution& running = *outcome->running;
    if (launch_.before_recording) {
      launch_.before_recording();
    }
    record(running.started());
    if (launch_.while_running) {
      launch_.while_running(running);
    }
    pollfd exit = {running.exit_fd(), POLLIN, 0};
    while (::poll(&exit, 1, -1) < 0) {
    }
    const auto exited = running.finish();
    if (!exited) {
      end(schema::RunEnding::kEvidenceFailure, exited.error().message(), exited.error().os_errno());
      return;
    }
    record(*exited);
    closed_.channel = running.channel();
    end(schema::RunEnding::kFinished, "", 0);
  }

  void record(const schema::RecordBody& body) {
    const std::string line = std::string(schema::kind_of(body)) + "\t" +
                             schema::json_write(schema::write_body(body)) + "\n";
    must(::write(out_, line.data(), line.size()) == static_cast<ssize_t>(line.size()), "write");
  }
  void end_with(const planner::LaunchFailure& failure) {
    end(failure.ending, failure.step + ": " + failure.detail, failure.os_errno);
  }
  void end(schema::RunEnding ending, std::string detail, int os_errno) {
    closed_.ending = ending;
    closed_.detail = std::move(detail);
    closed_.os_errno = os_errno;
    closed_.records = 1;  // run.opened, which there is none of here
    record(closed_);
  }

  const Layout& layout_;
  const Launch& launch_;
  int out_;
  schema::RunClosed closed_;
};

[[noreturn]] void supervise(const Layout& layout, const Launch& launch, int out) {
  ::alarm(kWatchdogSeconds);
  if (launch.as == As::kNobody && ::geteuid() == 0) {
    become_nobody();
  }
  const int output = ::open(layout.path("output").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  const int input = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  must(output >= 0 && input >= 0, "open");
  must(::dup2(input, 0) == 0 && ::dup2(output, 1) == 1 && ::dup2(output, 2) == 2, "dup2");
  if (launch.before) {
    launch.before();
  }
  Supervisor(layout, launch, out).run();
  ::_exit(0);
}

std::string slurp(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

void read_records(const std::string& text, RunResult& result) {
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line)) {
    const std::size_t tab = line.find('\t');
    const auto json = schema::json_parse(std::string_view(line).substr(tab + 1));
    must(json.has_value(), "a record is no JSON");
    const auto body = schema::read_body(line.substr(0, tab), *json);
    if (!body) {
      std::fprintf(stderr, "%s: %s\n", line.c_str(), body.error().message().c_str());
    }
    must(body.has_value() && body->has_value(), "a record is not valid");
    result.records.push_back(**body);
  }
  if (const auto closed = result.first<schema::RunClosed>()) {
    result.closed = *closed;
  }
}

}  // namespace

Layout::Layout(As as) {
  for (const char* name : {"home", "home/keys", "work", "ro", "secret"}) {
    must(::mkdir(path(name).c_str(), 0755) == 0, "mkdir");
  }
  write_file(path("home/ledger.db"), "ledger", 0600);
  write_file(path("home/keys/log.key"), "key", 0600);
  write_file(path("output"), "", 0644);
  write_file(path("work/file"), "work\n", 0644);
  write_file(path("ro/file"), "ro\n", 0644);
  write_file(path("secret/file"), "secret\n", 0644);
  write_file(path("ro/script"), "#!" + actions() + " cwd\n", 0755);
  must(::symlink("work", path("link").c_str()) == 0, "symlink");
  for (const std::string& copy : {actions(), path("ro/tool"), path("secret/tool")}) {
    std::filesystem::copy_file(AASM_ACTIONS, copy);
    must(::chmod(copy.c_str(), 0755) == 0, "chmod");
  }
  must(::chmod(directory_.path().c_str(), 0755) == 0, "chmod");
  if (as == As::kNobody && ::geteuid() == 0) {
    give_to_nobody(directory_.path());
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory_.path())) {
      give_to_nobody(entry.path());
    }
  }
}

RunResult run_confined(const Layout& layout, Launch launch) {
  const std::string record_file = layout.path("home/records");
  const int out = ::open(record_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  must(out >= 0, "open");
  const pid_t pid = ::fork();
  must(pid >= 0, "fork");
  if (pid == 0) {
    supervise(layout, launch, out);
  }
  ::close(out);
  int status = 0;
  must(::waitpid(pid, &status, 0) == pid, "waitpid");
  RunResult result;
  result.supervisor_lived = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  result.output = slurp(layout.path("output"));
  read_records(slurp(record_file), result);
  ::unlink(record_file.c_str());
  must(::truncate(layout.path("output").c_str(), 0) == 0, "truncate");
  return result;
}

std::vector<schema::Event> RunResult::events() const {
  std::vector<schema::Event> events;
  for (const auto& batch : all<schema::DecisionBatch>()) {
    events.insert(events.end(), batch.events.begin(), batch.events.end());
  }
  return events;
}

std::optional<schema::Canary> RunResult::canary(const std::string& id) const {
  for (const auto& proved : all<schema::BoundaryProved>()) {
    for (const schema::Canary& canary : proved.canaries) {
      if (canary.id == id) {
        return canary;
      }
    }
  }
  return std::nullopt;
}

bool RunResult::says(const std::string& line) const {
  return ("\n" + output).find("\n" + line + "\n") != std::string::npos;
}

int RunResult::number_after(const std::string& word) const {
  const std::size_t at = ("\n" + output).find("\n" + word + " ");
  return at == std::string::npos ? -1 : std::atoi(output.c_str() + at + word.size() + 1);
}

namespace {

schema::PolicyRule path_rule(const std::string& node, std::size_t index, const char* operation,
                             const std::string& path) {
  schema::PolicyRule rule;
  rule.id = node + "[" + std::to_string(index) + "]";
  rule.operation = operation;
  rule.selector = {schema::SelectorType::kPathPrefix, schema::PathBytes(path)};
  return rule;
}

schema::Requirement path_requirement(schema::Domain domain, const std::string& node,
                                     const char* operation, const std::vector<std::string>& paths) {
  schema::Requirement requirement;
  requirement.domain = domain;
  requirement.default_rule = node;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    requirement.rules.push_back(path_rule(node, i, operation, paths[i]));
  }
  return requirement;
}

}  // namespace

schema::Requirement reads(const Layout& layout, std::vector<std::string> more) {
  more.insert(more.begin(), {layout.path("work"), layout.path("ro"), layout.actions()});
  return path_requirement(schema::Domain::kFilesystemRead, "filesystem.read.allow", "read", more);
}

schema::Requirement writes(const Layout& layout, std::vector<std::string> more) {
  more.insert(more.begin(), {layout.path("work"), "/dev/null"});
  return path_requirement(schema::Domain::kFilesystemWrite, "filesystem.write.allow", "write",
                          more);
}

std::vector<schema::Requirement> usual(const Layout& layout) {
  return {reads(layout), writes(layout)};
}

schema::Requirement syscalls_default_without(std::vector<std::string> denied) {
  schema::Requirement requirement;
  requirement.domain = schema::Domain::kSyscall;
  requirement.default_rule = "syscalls.allow";
  schema::PolicyRule allow;
  allow.id = "syscalls.allow[0]";
  allow.operation = "call";
  allow.selector = {schema::SelectorType::kSyscall, schema::PathBytes("@default")};
  requirement.rules.push_back(allow);
  for (std::size_t i = 0; i < denied.size(); ++i) {
    schema::PolicyRule deny = allow;
    deny.id = "syscalls.deny[" + std::to_string(i) + "]";
    deny.effect = schema::RuleEffect::kDeny;
    deny.selector.value = schema::PathBytes(denied[i]);
    requirement.rules.push_back(deny);
  }
  return requirement;
}

schema::Requirement credentials() {
  schema::Requirement requirement;
  requirement.domain = schema::Domain::kCredential;
  requirement.default_rule = "credentials.environment.allow";
  return requirement;
}

std::vector<std::string> system_paths() {
  return {"/usr", "/bin", "/lib", "/lib64", "/etc", "/dev/null", "/dev/urandom"};
}

void become_nobody() {
  must(::setgroups(0, nullptr) == 0, "setgroups");
  must(::setresgid(kNobody, kNobody, kNobody) == 0, "setresgid");
  must(::setresuid(kNobody, kNobody, kNobody) == 0, "setresuid");
  // Changing ids clears it, and a shell that starts aasm as nobody has it set.
  must(::prctl(PR_SET_DUMPABLE, 1) == 0, "prctl");
}

bool gone(int pid) {
  constexpr int kRounds = 500;
  for (int i = 0; i < kRounds; ++i) {
    if (::kill(pid, 0) != 0 && errno == ESRCH) {
      return true;
    }
    ::usleep(2000);
  }
  return false;
}

int parent_of(int pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  std::string word;
  int parent = -1;
  while (status >> word) {
    if (word == "PPid:") {
      status >> parent;
      break;
    }
  }
  return parent;
}

RunResult ConfinedTest::run(Launch launch) {
  launch.as = GetParam();
  if (launch.requirements.empty()) {
    launch.requirements = usual(layout_);
  }
  return run_confined(layout_, std::move(launch));
}

RunResult ConfinedTest::run_actions(std::vector<std::string> actions, Launch launch) {
  launch.command = std::move(actions);
  launch.command.insert(launch.command.begin(), layout_.actions());
  return run(std::move(launch));
}

std::string name_of_user(const ::testing::TestParamInfo<As>& parameter) {
  return parameter.param == As::kSelf ? "Self" : "Nobody";
}

}  // namespace aasm::backend_native::testing
