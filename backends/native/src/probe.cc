#include "probe.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "aasm/process/fd.h"

#include "bpf.h"
#include "canary.h"
#include "canary_objects.h"
#include "capabilities.h"
#include "channel.h"
#include "helper_client.h"
#include "launch_material.h"
#include "lowering.h"
#include "probe_requirements.h"
#include "remedy.h"
#include "ruleset.h"

namespace aasm::backend_native {
namespace {

using schema::CapabilityProbed;
using schema::Domain;
using schema::Error;
using schema::ProbeAttempt;
using schema::Requirement;
using schema::Result;
using std::chrono::milliseconds;

constexpr milliseconds kPatience(5000);
constexpr std::uint32_t kGrandchild = 2;

// The objects of one probe; removed with it.
class ScratchObjects {
 public:
  static Result<ScratchObjects> make(const std::string& directory) {
    ScratchObjects objects(directory + "/probe");
    AASM_TRY(ensure_canary_objects(objects.directory_));
    return objects;
  }
  ScratchObjects(ScratchObjects&& other) noexcept
      : directory_(std::exchange(other.directory_, std::string())) {}
  ScratchObjects& operator=(ScratchObjects&&) = delete;
  ScratchObjects(const ScratchObjects&) = delete;
  ScratchObjects& operator=(const ScratchObjects&) = delete;
  ~ScratchObjects() {
    if (directory_.empty()) {
      return;
    }
    for (const std::string& path : {canary_read_path(directory_), canary_write_path(directory_),
                                    canary_exec_path(directory_)}) {
      ::unlink(path.c_str());
    }
    ::rmdir(directory_.c_str());
  }
  const std::string& directory() const { return directory_; }

 private:
  explicit ScratchObjects(std::string directory) : directory_(std::move(directory)) {}
  std::string directory_;
};

// What one probe is made from.
struct ProbeMaterial {
  ScratchObjects objects;
  Ruleset ruleset;
  FilterSpec filter;
  CapabilitySets capabilities;
  std::optional<CapabilityCut> cut;
  process::Fd canary_descriptor;
  process::Fd helper;
  CanaryPlan canaries;
  std::optional<InnerRuleset> inner_ruleset;
  CanaryListener canary_listener;
  IpcCanaryObjects ipc_objects;
  std::vector<ProcessLimit> limits;
};

Result<ProbeMaterial> gather(const planner::ProbeRequest& request, std::int64_t abi) {
  const std::vector<Requirement> requirements = probe_requirements(abi);
  ScratchObjects objects = AASM_TRY(ScratchObjects::make(request.scratch_dir));
  Ruleset ruleset = AASM_TRY(build_ruleset(requirements, abi));
  FilterSpec filter =
      AASM_TRY(make_filter_spec(requirement_on(requirements, Domain::kSyscall), "errno"));
  filter.network = AASM_TRY(network_spec_of(requirements));
  filter.ipc = AASM_TRY(ipc_spec_of(requirements));
  std::optional<InnerRuleset> inner;
  filter.files = AASM_TRY(make_file_spec(requirements, ruleset.read_grants, ruleset.write_grants));
  if (filter.brokers()) {
    inner = AASM_TRY(build_inner_ruleset(filter.network, abi));
  }
  CanaryListener listener = open_canary_listener();
  IpcCanaryObjects ipc_objects(filter.ipc, objects.directory());
  filter.ceiling = process_ceiling(requirements);
  std::vector<ProcessLimit> limits = process_limits(requirements, own_limit);
  const CapabilitySets capabilities = AASM_TRY(own_capabilities());
  process::Fd descriptor = AASM_TRY(process::open_file("/dev/null", O_RDONLY));
  process::Fd helper = AASM_TRY_CONTEXT(process::open_file(request.helper_path, O_RDONLY),
                                        "opening the launch helper");
  const std::optional<CapabilityCut> cut = capability_cut(capabilities);
  const planner::ProtectedPaths protect{"", objects.directory(), {}, {}, {}};
  CanaryPlan canaries = plan_canaries({requirements,
                                       protect,
                                       filter,
                                       capabilities,
                                       cut.has_value(),
                                       under_a_filter(),
                                       ::getpid(),
                                       descriptor.get(),
                                       {},
                                       listener.address,
                                       limits,
                                       ipc_objects.names()});
  return ProbeMaterial{std::move(objects),
                       std::move(ruleset),
                       std::move(filter),
                       capabilities,
                       cut,
                       std::move(descriptor),
                       std::move(helper),
                       std::move(canaries),
                       std::move(inner),
                       std::move(listener),
                       std::move(ipc_objects),
                       std::move(limits)};
}

HelperSpec probe_helper_spec(const ProbeMaterial& material) {
  HelperSpec spec;
  spec.helper = material.helper.borrow();
  FrameSpec& frame = spec.frame;
  frame.role = wire::Role::kProbe;
  frame.fork_depth = kGrandchild;
  frame.rulesets = {{material.ruleset.fd.get(), restrict_flags(material.ruleset.abi)}};
  if (material.inner_ruleset) {
    frame.rulesets.push_back({material.inner_ruleset->fd.get(), frame.rulesets[0].flags});
    frame.broker = true;
  }
  frame.rlimits = rlimits_of(material.limits);
  frame.filter = build_filter(material.filter);
  frame.seccomp_flags = SECCOMP_FILTER_FLAG_NEW_LISTENER | kWaitKillableRecv;
  frame.capabilities = material.cut;
  frame.script = material.canaries.script.entries();
  frame.script_data = material.canaries.script.data();
  spec.passed_unlisted = {material.canary_descriptor.get()};
  return spec;
}

// What the helper and the channel saw.
struct ProbeOutcome {
  std::vector<wire::ScriptResult> results;
  std::set<std::uint32_t> reported;
  std::string missing;  // why there is no boundary at all; empty when there is one
};

std::string missing_step(const HelperClient& helper, const Error& error) {
  const HelperResults results = helper.results();
  if (!results.failed_step) {
    return error.message();
  }
  const wire::StepReport& step = results.steps.at(static_cast<std::size_t>(*results.failed_step));
  return step_failure_text(*results.failed_step, step.os_errno);
}

Result<ProbeOutcome> run_probe(const ProbeMaterial& material) {
  ProbeOutcome outcome;
  HelperClient helper = AASM_TRY(HelperClient::spawn(probe_helper_spec(material), kPatience));
  Result<std::optional<process::Fd>> listener = helper.wait_filter_installed(kPatience);
  if (!listener || !*listener) {
    outcome.missing =
        listener ? "the filter has no listener" : missing_step(helper, listener.error());
    return outcome;
  }
  ChannelSetup setup;
  setup.listener = std::move(**listener);
  setup.report_pipe = helper.take_report_pipe();
  setup.spec = material.filter;
  setup.script = channel_script(material.canaries);
  setup.script.descendants = true;
  setup.child = helper.child_pid();
  setup.warden = helper.warden_pid();
  if (material.inner_ruleset) {
    setup.broker = BrokerSetup{helper.take_broker_socket(), helper.broker_pid()};
  }
  const std::unique_ptr<Channel> channel = AASM_TRY(Channel::open(std::move(setup)));
  const Result<std::vector<CanaryReport>> reports = channel->await_canaries(kPatience);
  if (!reports) {
    outcome.missing = missing_step(helper, reports.error());
    return outcome;
  }
  outcome.reported = reported_entries(material.canaries, *reports);
  outcome.results = helper.results().script;
  // Ends the waiting probe while somebody still answers it.
  static_cast<void>(helper.kill_tree(kPatience).has_value());
  return outcome;
}

ProbeAttempt attempt_of(const schema::Canary& canary) {
  return {canary.action, canary.control, canary.inside, canary.channel};
}

const schema::Canary* find_canary(const std::vector<schema::Canary>& canaries,
                                  const std::string& id) {
  const auto found = std::find_if(canaries.begin(), canaries.end(),
                                  [&id](const schema::Canary& c) { return c.id == id; });
  return found == canaries.end() ? nullptr : &*found;
}

std::vector<ProbeAttempt> attempts_on(Domain domain, const std::vector<schema::Canary>& canaries) {
  std::vector<ProbeAttempt> attempts;
  for (const schema::Canary& canary : canaries) {
    if (canary.domain == domain && canary.id.rfind("self_protection.", 0) != 0) {
      attempts.push_back(attempt_of(canary));
    }
  }
  return attempts;
}

// The limits that a filter around aasm sets to the decision channel.
void add_outer_filter_limit(CapabilityProbed& probed) {
  for (schema::DomainCapability& capability : probed.domains) {
    if (capability.domain == Domain::kSyscall &&
        capability.support != schema::Support::kUnsupported) {
      capability.support = schema::Support::kPartial;
      capability.limitations.emplace_back(
          "a seccomp filter that was there before aasm refuses some calls first: those refusals "
          "are not reported and not recorded");
    }
  }
}

// Self-protection has no posture: a host on which it cannot be had is none for this backend, and a
// plan made on it would only fail at the start.
std::string missing_signal_scope(const ProbeAttempt& signal_scope, std::int64_t abi) {
  if (signal_scope.inside.outcome != schema::AttemptOutcome::kSucceeded) {
    return "";
  }
  return "the signal scope (Landlock ABI 6, Linux 6.12) is missing, Landlock here has ABI " +
         std::to_string(abi) + ": " + signal_scope.action +
         " succeeded inside the boundary, so the program could end its own supervisor; a newer "
         "kernel is needed, and no posture in the policy does without it";
}

// What was tried and cannot happen here even without a boundary narrows the claim: it becomes a
// limitation of its domain.
void add_untried(std::span<const schema::NoCanary> untried, CapabilityProbed& probed) {
  for (const schema::NoCanary& none : untried) {
    for (schema::DomainCapability& capability : probed.domains) {
      if (capability.domain == none.domain && capability.support != schema::Support::kUnsupported) {
        capability.support = schema::Support::kPartial;
        capability.limitations.push_back("not probed: " + none.reason);
      }
    }
  }
}

ProbeAttempt signal_attempt(const schema::BoundaryProved& proved) {
  ProbeAttempt signal_scope;
  signal_scope.action = "kill(supervisor, 0)";
  if (const auto* canary = find_canary(proved.canaries, "self_protection.signal_supervisor")) {
    signal_scope = attempt_of(*canary);
  }
  return signal_scope;
}

void derive_domains(const schema::BoundaryProved& proved, const ProbeAttempt& signal_scope,
                    std::size_t num_unplanned, CapabilityProbed& probed) {
  for (const auto& entry : schema::EnumNames<Domain>::kTokens) {
    probed.domains.push_back(
        derive_capability(entry.first, attempts_on(entry.first, proved.canaries), signal_scope));
  }
  add_untried(std::span(proved.no_canary).subspan(num_unplanned), probed);
}

}  // namespace

Result<CapabilityProbed> probe_host(const planner::ProbeRequest& request,
                                    schema::BackendIdentity identity) {
  CapabilityProbed probed;
  probed.backend = std::move(identity);
  probed.boundary = schema::PlatformBoundary::kSharedHostKernel;
  probed.conditions = request.conditions;
  const Result<std::int64_t> abi = landlock_abi();
  if (!abi) {
    probed.unavailable_reason = abi.error().message();
    return probed;
  }
  const ProbeMaterial material = AASM_TRY_CONTEXT(gather(request, *abi), "preparing the probe");
  const ProbeOutcome outcome = AASM_TRY(run_probe(material));
  if (!outcome.missing.empty()) {
    probed.unavailable_reason = outcome.missing;
    return probed;
  }
  const CanaryVerdict verdict =
      judge_canaries(material.canaries, outcome.results, outcome.reported);
  const ProbeAttempt signal_scope = signal_attempt(verdict.proved);
  derive_domains(verdict.proved, signal_scope, material.canaries.none.size(), probed);
  if (under_a_filter()) {
    add_outer_filter_limit(probed);
  }
  probed.unavailable_reason = missing_signal_scope(signal_scope, *abi);
  probed.available = probed.unavailable_reason.empty();
  return probed;
}

}  // namespace aasm::backend_native
