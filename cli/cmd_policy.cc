#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "aasm/backends/syscall_vocabulary.h"
#include "aasm/crypto/prepare.h"
#include "aasm/process/digest_cache.h"
#include "aasm/process/outer_run.h"

#include "backends.h"
#include "commands.h"
#include "exit_status.h"
#include "home.h"
#include "last_death.h"
#include "launch.h"
#include "output_file.h"
#include "policy_findings.h"
#include "policy_in_use.h"
#include "policy_text.h"
#include "print.h"

namespace aasm::cli {
namespace {

using planner::PolicyFinding;
using planner::ResolvedPolicy;
using schema::Error;
using schema::ErrorCode;
using schema::Result;

// The programs that confine, where they are found.
std::vector<std::string> own_programs() {
  std::vector<std::string> programs;
  for (Result<std::string> one : {own_executable(), find_helper()}) {
    if (one) {
      programs.push_back(std::move(*one));
    }
  }
  return programs;
}

}  // namespace

std::vector<PolicyFinding> findings_of(const ResolvedPolicy& policy, const Home& home,
                                       const std::string& ledger, const std::string& workdir) {
  if (policy.record.state == schema::PolicyState::kLoadFailed) {
    return {};
  }
  const planner::WorkspaceHost host = workspace_host(workdir);
  planner::LintContext context;
  context.program_path = host.program_path;
  context.home = host.home;
  context.git_dirs = planner::git_directories(host);
  context.protect = protected_paths(home, ledger, own_programs(), policy);
  const auto vocabulary = backend_native::make_syscall_vocabulary();
  context.vocabulary = vocabulary.get();
  return planner::lint_policy(policy, context);
}

namespace {

schema::CapabilityProbed unavailable(const planner::Backend& backend, std::string reason) {
  schema::CapabilityProbed probed;
  probed.backend = backend.identity();
  probed.unavailable_reason = std::move(reason);
  return probed;
}

schema::CapabilityProbed measure(planner::Backend& backend, const planner::ExecutionSpec& spec,
                                 const Result<schema::HostConditions>& conditions,
                                 const Result<std::string>& helper) {
  if (!conditions || !helper) {
    return unavailable(backend, (helper ? conditions.error() : helper.error()).message());
  }
  Result<schema::CapabilityProbed> probed = probe_backend(backend, *conditions, *helper);
  if (!probed) {
    return unavailable(backend, "nothing could be measured: " + probed.error().message());
  }
  return probed->available ? backend.narrow(spec, std::move(*probed)) : std::move(*probed);
}

// Measures what this host can carry out of a policy that has loaded. Inside a run nothing is
// measured: what the boundary there refuses is no fault of the host.
std::vector<PolicyFinding> enforcement_findings(const ResolvedPolicy& policy, const Home& home) {
  if (policy.record.state != schema::PolicyState::kEnforced || process::seems_inside_a_run()) {
    return {};
  }
  planner::ExecutionSpec spec;
  spec.requirements = policy.record.requirements;
  process::DigestCache digests = process::DigestCache::load(home.file("digests"));
  const Result<std::string> helper = find_helper();
  const Result<schema::HostConditions> conditions =
      helper ? host_conditions(*helper, digests) : Result<schema::HostConditions>(helper.error());
  std::vector<schema::CapabilityProbed> measured;
  for (const auto& backend : make_backends()) {
    measured.push_back(measure(*backend, spec, conditions, helper));
  }
  return planner::lint_enforcement(policy, measured);
}

std::string result_line(bool refused) {
  if (refused) {
    return "result     a run here would be refused: see the errors\n";
  }
  return process::seems_inside_a_run()
             ? "result     no error, and inside a run nothing of the host was measured\n"
             : "result     a run here would start\n";
}

struct Checked {
  ResolvedPolicy policy;
  std::vector<PolicyFinding> findings;
};

// Beside what a program lacks to start stands what became of one.
void add_last_death(Checked& checked, const std::string& ledger) {
  for (PolicyFinding& one : checked.findings) {
    if (one.code == "lacks_start_calls" && checked.policy.record.document) {
      const std::string death = last_death(ledger, *checked.policy.record.document);
      one.where.text += death.empty() ? "" : "; " + death;
    }
  }
}

Result<Checked> check(const PolicyCheckCommand& command) {
  const Home home = AASM_TRY(Home::locate());
  const std::string file = absolute_or_empty(command.file);
  const std::string ledger = absolute_or_empty(command.common.ledger);
  const std::string workdir = AASM_TRY(enter_working_dir(command.workdir));
  Checked checked{policy_in_use(file, home, workdir), {}};
  checked.findings = findings_of(checked.policy, home, ledger, workdir);
  add_last_death(checked, ledger.empty() ? home.ledger() : ledger);
  for (PolicyFinding& one : enforcement_findings(checked.policy, home)) {
    checked.findings.push_back(std::move(one));
  }
  std::stable_sort(checked.findings.begin(), checked.findings.end(),
                   [](const auto& a, const auto& b) { return a.severity < b.severity; });
  return checked;
}

// The text of a policy for this place; refused when a run with it would be.
Result<std::string> fitted_policy(const PolicyInitCommand& command, const std::string& output) {
  const Home home = AASM_TRY(Home::locate());
  const std::string ledger = absolute_or_empty(command.common.ledger);
  const std::string workdir = AASM_TRY(enter_working_dir(command.workdir));
  std::string text = planner::starter_policy(planner::path_exists,
                                             planner::survey_workspace(workspace_host(workdir)));
  const ResolvedPolicy policy =
      policy_of_text(text, output.empty() ? home.policy() : output, workdir);
  const std::vector<PolicyFinding> findings = findings_of(policy, home, ledger, workdir);
  if (has_errors(policy, findings)) {
    print_err(policy_text(policy, findings));
    return Error(ErrorCode::kConflict,
                 "a run with this policy would be refused, so it is not written");
  }
  return text;
}

// What the starter policy lets the program write is the working directory.
Result<void> require_out_of_reach(const std::string& output, const std::string& workdir) {
  std::error_code code;
  const std::filesystem::path here = std::filesystem::weakly_canonical(
      workdir.empty() ? std::filesystem::path(".") : std::filesystem::path(workdir), code);
  const std::filesystem::path file = std::filesystem::weakly_canonical(output, code);
  if (code || !planner::path_covers(here.string(), file.string())) {
    return {};
  }
  return Error(ErrorCode::kConflict,
               output +
                   " lies in the working directory, which the program may write, and so "
                   "could change what confines it; name a file elsewhere, or a working "
                   "directory with --workdir [grant_covers_control]");
}

Result<void> init(const PolicyInitCommand& command) {
  const std::string output = absolute_or_empty(command.output);
  if (!output.empty()) {
    AASM_TRY(require_out_of_reach(output, command.workdir));
  }
  const std::string text = AASM_TRY(fitted_policy(command, output));
  if (output.empty()) {
    return write_out(text);
  }
  return AASM_TRY(OutputFile::open(output)).write_new(text);
}

}  // namespace

int run_policy_check(const PolicyCheckCommand& command) {
  crypto::prepare();
  const Result<Checked> checked = check(command);
  if (!checked) {
    print_err(error_line(checked.error()));
    return kExitFailed;
  }
  command.common.format == Format::kJson
      ? print_json(policy_json(checked->policy, checked->findings))
      : print_out(policy_text(checked->policy, checked->findings) +
                  result_line(has_errors(checked->policy, checked->findings)));
  const bool bad = has_errors(checked->policy, checked->findings) ||
                   (command.strict && !checked->findings.empty());
  return bad ? kExitFailed : kExitOk;
}

int run_policy_init(const PolicyInitCommand& command) {
  crypto::prepare();
  const Result<void> done = init(command);
  if (!done) {
    print_err(error_line(done.error()));
    return kExitFailed;
  }
  return kExitOk;
}

}  // namespace aasm::cli
