#include "sample_run.h"

#include <utility>

namespace aasm::claims::test {

using schema::Domain;

void append(Records& run, schema::RecordBody body) {
  Step step;
  step.seq = run.empty() ? 0 : run.back().seq + 1;
  step.body = std::move(body);
  run.push_back(std::move(step));
}

void renumber(Records& run) {
  for (std::size_t i = 0; i < run.size(); ++i) {
    run[i].seq = static_cast<std::int64_t>(i);
  }
}

RunFacts facts_of(const Records& run) {
  RunFacts facts;
  for (const Step& step : run) {
    facts.add(step.seq, step.boot, step.signer_ok, step.body);
  }
  return facts;
}

RunClaims claims_of(const Records& run) {
  return derive(facts_of(run));
}

schema::Sha256 digest_of(std::uint8_t byte) {
  schema::Sha256 digest;
  digest.bytes.fill(byte);
  return digest;
}

schema::HostConditions conditions() {
  schema::HostConditions host;
  host.boot_id = kBoot;
  host.kernel_release = "6.1.0";
  host.machine = "x86_64";
  host.uid = 1000;
  host.gid = 1000;
  host.user_ns = "user:[4026531837]";
  host.aasm_digest = digest_of(0xa1);
  host.helper_digest = digest_of(0xa2);
  return host;
}

namespace {

schema::RunOpened opened() {
  schema::RunOpened body;
  body.identity.agent_id = "agent-7";
  body.identity.team_id = "team-red";
  body.session_id = "session-1";
  body.trace_id = "trace-1";
  body.program = schema::PathBytes("python3");
  body.arg_count = 2;
  body.working_dir = schema::PathBytes("/srv/work");
  body.aasm_version = "0.1.0";
  body.host = conditions();
  return body;
}

schema::PolicyRule rule(std::string id, schema::RuleEffect effect, std::string operation,
                        schema::SelectorType type, std::string value) {
  schema::PolicyRule made;
  made.id = std::move(id);
  made.effect = effect;
  made.operation = std::move(operation);
  made.selector = {type, schema::PathBytes(std::move(value))};
  return made;
}

schema::Requirement requirement(Domain domain, std::string default_rule,
                                std::vector<schema::PolicyRule> rules) {
  schema::Requirement made;
  made.domain = domain;
  made.default_rule = std::move(default_rule);
  made.rules = std::move(rules);
  return made;
}

schema::PolicyResolved policy() {
  using schema::RequirementPosture;
  using schema::RuleEffect;
  using schema::SelectorType;
  schema::PolicyResolved body;
  body.state = schema::PolicyState::kEnforced;
  body.source_kind = "option";
  body.source = schema::PathBytes("/srv/work/policy.yaml");
  body.document = digest_of(0x10);
  const auto allow = RuleEffect::kAllow;
  body.requirements.push_back(requirement(
      Domain::kFilesystemRead, "filesystem.read.allow",
      {rule("filesystem.read.allow[0]", allow, "read", SelectorType::kPathPrefix, "/usr"),
       rule("filesystem.read.allow[1]", allow, "read", SelectorType::kPathPrefix, "/srv/work")}));
  body.requirements.push_back(requirement(Domain::kFilesystemWrite, "filesystem.write.allow",
                                          {rule("filesystem.write.allow[0]", allow, "write",
                                                SelectorType::kPathPrefix, "/srv/work/build")}));
  body.requirements.push_back(requirement(Domain::kNetworkEgress, "network.allowlist",
                                          {rule("network.allowlist[0]", allow, "connect",
                                                SelectorType::kHostPattern, "api.example.com")}));
  body.requirements.back().posture = RequirementPosture::kDegradeIfUnavailable;
  body.requirements.push_back(requirement(Domain::kNameResolution, "name_resolution.allow",
                                          {rule("name_resolution.allow[0]", allow, "resolve",
                                                SelectorType::kHostPattern, "api.example.com")}));
  body.requirements.back().posture = RequirementPosture::kOptional;
  // One line of policy (a group of calls) lowers to several rules with one id.
  body.requirements.push_back(requirement(
      Domain::kSyscall, "syscalls.allow",
      {rule("syscalls.allow[0]", allow, "call", SelectorType::kSyscall, "read"),
       rule("syscalls.allow[0]", allow, "call", SelectorType::kSyscall, "prctl"),
       rule("syscalls.deny[0]", RuleEffect::kDeny, "call", SelectorType::kSyscall, "ptrace")}));
  body.requirements.push_back(
      requirement(Domain::kCredential, "credentials.environment.allow",
                  {rule("credentials.environment.allow[0]", allow, "inherit",
                        SelectorType::kEnvironmentName, "PATH")}));
  body.requirements.push_back(
      requirement(Domain::kResource, "resources",
                  {rule("resources.wall_clock_seconds", allow, "wall_clock_seconds",
                        SelectorType::kLimit, "1800")}));
  body.requirements.back().posture = RequirementPosture::kOptional;
  body.gaps.push_back({Domain::kIpc, "ipc", "the policy states nothing"});
  body.unmapped.push_back({std::nullopt, "capabilities.allow[0]", "model:x has no domain"});
  return body;
}

schema::DomainCapability capability(Domain domain, std::string mechanism, std::string scope) {
  schema::DomainCapability made;
  made.domain = domain;
  made.support = schema::Support::kPartial;
  made.limitations = {"a stated limitation"};
  made.mediation = schema::Mediation::kEnforce;
  made.timing = schema::Timing::kPre;
  made.synchrony = schema::Synchrony::kSync;
  made.descendants = schema::DescendantCoverage::kProcessTree;
  made.channel.mechanism = std::move(mechanism);
  made.channel.scope = std::move(scope);
  return made;
}

schema::BackendIdentity backend() {
  return {"aasm-native", "0.1.0", "this repository", "Apache-2.0", false};
}

schema::CapabilityProbed probed() {
  schema::CapabilityProbed body;
  body.backend = backend();
  body.conditions = conditions();
  body.available = true;
  body.domains.push_back(capability(Domain::kFilesystemRead, "none", "no decision is reported"));
  body.domains.push_back(capability(Domain::kFilesystemWrite, "none", "no decision is reported"));
  body.domains.push_back(capability(Domain::kSyscall, "seccomp_user_notification",
                                    "every system call that the filter does not let through"));
  body.domains.push_back(capability(Domain::kCredential, "none", "set up once"));
  return body;
}

schema::RequirementOutcome outcome(Domain domain, schema::OutcomeKind kind,
                                   schema::RequirementPosture posture) {
  schema::RequirementOutcome made;
  made.domain = domain;
  made.kind = kind;
  made.posture = posture;
  made.timing = schema::Timing::kPre;
  made.descendants = schema::DescendantCoverage::kProcessTree;
  return made;
}

schema::AmbientAuthority ambient() {
  using schema::AuthorityFate;
  using schema::DescriptorKind;
  schema::AmbientAuthority held;
  held.removed = 1;
  held.delegated = 2;
  held.sensitive = {
      {"GITHUB_TOKEN", schema::SensitiveKind::kServiceToken, AuthorityFate::kRemoved}};
  held.descriptors_listed = true;
  held.descriptors = {{0, DescriptorKind::kTerminal, true, AuthorityFate::kDelegated},
                      {1, DescriptorKind::kPipe, true, AuthorityFate::kDelegated},
                      {2, DescriptorKind::kFile, true, AuthorityFate::kDelegated},
                      {7, DescriptorKind::kSocket, true, AuthorityFate::kRemoved}};
  return held;
}

schema::PlanResolved plan() {
  using schema::OutcomeKind;
  using schema::RequirementPosture;
  schema::PlanResolved body;
  body.requested = schema::IsolationClass::kAuto;
  body.backend = backend();
  body.posture = schema::LaunchPosture::kDegraded;
  body.digest = digest_of(0x20);
  body.candidates.push_back(
      {"aasm-native", schema::CandidateVerdict::kSelected, "meets every required one", {}});
  body.candidates.push_back({"sandlock", schema::CandidateVerdict::kNotConsidered, "", {}});
  for (const Domain domain :
       {Domain::kFilesystemRead, Domain::kFilesystemWrite, Domain::kSyscall, Domain::kCredential}) {
    body.outcomes.push_back(outcome(domain, OutcomeKind::kEnforced, RequirementPosture::kRequired));
  }
  schema::RequirementOutcome network = outcome(Domain::kNetworkEgress, OutcomeKind::kDegraded,
                                               RequirementPosture::kDegradeIfUnavailable);
  network.planned = "prevent_before_effect";
  network.achieved = "none";
  network.reason = schema::RefusalReason::kDomainUnsupported;
  body.outcomes.push_back(network);
  schema::RequirementOutcome names =
      outcome(Domain::kNameResolution, OutcomeKind::kUnmet, RequirementPosture::kOptional);
  names.reason = schema::RefusalReason::kPrerequisiteUnsatisfied;
  names.detail = "no resolver answered";
  body.outcomes.push_back(names);
  schema::RequirementOutcome resource =
      outcome(Domain::kResource, OutcomeKind::kUnmet, RequirementPosture::kOptional);
  resource.reason = schema::RefusalReason::kDomainUnsupported;
  body.outcomes.push_back(resource);
  body.ambient = ambient();
  return body;
}

schema::Control control(std::string id, Domain domain, std::string mechanism,
                        std::vector<std::string> rules) {
  schema::Control made;
  made.id = std::move(id);
  made.domain = domain;
  made.mechanism = std::move(mechanism);
  made.rules = std::move(rules);
  made.step = made.id;
  made.installed = true;
  return made;
}

schema::ControlPrepared prepared() {
  schema::ControlPrepared body;
  body.backend = "aasm-native";
  body.controls.push_back(control("landlock_read", Domain::kFilesystemRead, "landlock",
                                  {"filesystem.read.allow", "filesystem.read.allow[0]"}));
  body.controls.push_back(control("landlock_write", Domain::kFilesystemWrite, "landlock",
                                  {"filesystem.write.allow", "filesystem.write.allow[0]"}));
  body.controls.push_back(control("seccomp", Domain::kSyscall, "seccomp_user_notification",
                                  {"syscalls.allow", "syscalls.deny[0]"}));
  body.controls.push_back(
      control("environment", Domain::kCredential, "exec", {"credentials.environment.allow"}));
  body.controls.back().names = {"PATH", "LANG"};
  body.controls.back().removed = {"GITHUB_TOKEN"};
  body.controls.push_back(control("descriptors", Domain::kCredential, "close_range", {}));
  body.controls.back().descriptors = {0, 1, 2};
  schema::Control guard =
      control("seccomp_guard", Domain::kIpc, "seccomp_user_notification", {"self_protection.kill"});
  guard.purpose = schema::Purpose::kSelfProtection;
  guard.note = "signals to processes outside";
  body.controls.push_back(guard);
  schema::PreparedImage image;
  image.path = schema::PathBytes("/usr/bin/python3");
  image.digest = digest_of(0x30);
  body.images.push_back(image);
  return body;
}

schema::BoundaryProved proved() {
  schema::BoundaryProved body;
  schema::Canary canary;
  canary.id = "filesystem_read.open";
  canary.domain = Domain::kFilesystemRead;
  canary.step = "landlock";
  canary.action = "open of an ungranted file";
  canary.control.outcome = schema::AttemptOutcome::kSucceeded;
  canary.inside = {schema::AttemptOutcome::kRefused, 13};
  body.canaries.push_back(canary);
  canary.id = "syscall.kcmp";
  canary.domain = Domain::kSyscall;
  canary.step = "seccomp";
  canary.inside = {schema::AttemptOutcome::kRefused, 1};
  canary.channel = schema::ChannelReport::kReported;
  body.canaries.push_back(canary);
  body.no_canary.push_back({Domain::kCredential, "nothing harmless to try"});
  return body;
}

schema::ProcessStarted started() {
  schema::ProcessStarted body;
  body.pid = 4242;
  body.start_time_ticks = 991;
  body.exe_read = schema::ExeRead::kAtExecStop;
  body.exe_digest = digest_of(0x30);
  body.exe = schema::PathBytes("/usr/bin/python3");
  return body;
}

schema::Event event(Domain domain, std::string operation) {
  schema::Event made;
  made.number = 1;
  made.domain = domain;
  made.operation = std::move(operation);
  made.mechanism = "seccomp_user_notification";
  made.pid = 4243;
  made.tid = 4243;
  made.parents = {4242};
  made.executable = schema::PathBytes("/usr/bin/python3");
  return made;
}

schema::Event call(std::string name, std::int64_t number) {
  schema::Event made = event(Domain::kSyscall, "call");
  made.object.type = schema::ObjectType::kSyscall;
  made.object.name = std::move(name);
  made.object.number = number;
  made.object.arch = "x86_64";
  return made;
}

}  // namespace

schema::Event denied_ptrace() {
  schema::Event made = call("ptrace", 101);
  made.os_errno = 1;
  made.rule = "syscalls.deny[0]";
  return made;
}

schema::Event allowed_prctl() {
  schema::Event made = call("prctl", 157);
  made.outcome = schema::DecisionOutcome::kAllowed;
  made.rule = "syscalls.allow[0]";
  return made;
}

schema::EventObject address_object(std::string address, std::int64_t port, std::string protocol) {
  schema::EventObject object;
  object.type = schema::ObjectType::kAddress;
  object.address = std::move(address);
  object.port = port;
  object.protocol = std::move(protocol);
  object.address_class = schema::AddressClass::kPublic;
  return object;
}

schema::Event compat_clone3() {
  schema::Event made = call("clone3", 435);
  made.os_errno = 38;
  made.cause = schema::DecisionCause::kCompat;
  made.rule = "compat.clone3";
  return made;
}

schema::Event observed_open() {
  schema::Event made = event(Domain::kFilesystemRead, "read");
  made.object.type = schema::ObjectType::kPath;
  made.object.path = schema::PathBytes("/usr/lib/libc.so.6");
  made.outcome = schema::DecisionOutcome::kAllowed;
  made.rule = "filesystem.read.allow[0]";
  return made;
}

schema::DecisionBatch decisions(std::vector<schema::Event> events) {
  schema::DecisionBatch batch;
  for (std::size_t i = 0; i < events.size(); ++i) {
    events[i].number = static_cast<std::int64_t>(i) + 1;
  }
  batch.events = std::move(events);
  return batch;
}

void set_events(Records& run, std::vector<schema::Event> events) {
  schema::ChannelTotals& totals = body_of<schema::RunClosed>(run).channel;
  totals.events = static_cast<std::int64_t>(events.size());
  totals.actions = 0;
  for (const schema::Event& one : events) {
    totals.actions += one.count;
  }
  body_of<schema::DecisionBatch>(run) = decisions(std::move(events));
}

Records sample_preview() {
  Records run;
  append(run, opened());
  append(run, policy());
  append(run, probed());
  append(run, plan());
  return run;
}

Records sample_run() {
  Records run = sample_preview();
  append(run, prepared());
  append(run, proved());
  append(run, started());
  append(run, decisions({}));
  schema::ProcessExited exited;
  exited.status = 0;
  append(run, exited);
  schema::RunClosed closed;
  closed.program_started = true;
  closed.records = 9;
  closed.channel.present = true;
  closed.channel.opened = true;
  closed.channel.closed = true;
  append(run, closed);
  set_events(run, {denied_ptrace(), compat_clone3(), allowed_prctl()});
  return run;
}

}  // namespace aasm::claims::test
