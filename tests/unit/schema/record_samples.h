#pragma once

#include <vector>

#include "aasm/schema/record.h"

namespace aasm::schema::testing {

// One body of every kind, each with every optional field present and every list non-empty.
inline std::vector<RecordBody> sample_bodies() {
  Requirement requirement;
  requirement.domain = Domain::kSyscall;
  requirement.default_rule = "syscalls.allow";
  requirement.rules.push_back({"syscalls.allow[0]",
                               RuleEffect::kAllow,
                               "call",
                               {SelectorType::kSyscall, PathBytes("@default")},
                               7,
                               9});
  PolicyResolved policy{PolicyState::kEnforced,
                        "option",
                        PathBytes("/p.yaml"),
                        Sha256{},
                        Sha256{},
                        PolicyScope::kAgent,
                        {{{PolicyScope::kOrg, PathBytes("/o.yaml"), Sha256{}, std::nullopt}}},
                        "errno",
                        WitnessWish::kEnable,
                        {requirement},
                        {{Domain::kIpc, "ipc", "left open"}},
                        {{std::nullopt, "tools", "no domain"}},
                        ""};

  RunOpened opened;
  opened.identity = {"agent", "team", "root", "l1", {"root", "agent"}};
  opened.program = PathBytes("py\xff");
  opened.backend_pin = "aasm-native";
  opened.checkpoint = "note";

  DomainCapability capability;
  capability.domain = Domain::kSyscall;
  capability.support = Support::kPartial;
  capability.limitations = {"one"};
  capability.prerequisites = {{"p", PrerequisiteStatus::kSatisfied, "d"}};
  capability.attempts = {{"a",
                          {AttemptOutcome::kSucceeded, 0},
                          {AttemptOutcome::kRefused, 1},
                          ChannelReport::kReported}};
  CapabilityProbed probed;
  probed.available = true;
  probed.domains = {capability};

  PlanResolved plan;
  plan.backend = BackendIdentity{"aasm-native", "1", "s", "Apache-2.0", false};
  plan.candidates = {{"x", CandidateVerdict::kSelected, "r", {Domain::kIpc}}};
  plan.posture = LaunchPosture::kDegraded;
  plan.outcomes = {{Domain::kSyscall, OutcomeKind::kDegraded,
                    RequirementPosture::kDegradeIfUnavailable, Timing::kNone,
                    DescendantCoverage::kUnmeasured, RefusalReason::kDomainUnsupported, "d",
                    "prevent_before_effect", "none"}};
  plan.steps = {"one"};
  AmbientAuthority ambient;
  ambient.removed = 2;
  ambient.delegated = 1;
  ambient.sensitive = {{"GH_TOKEN", SensitiveKind::kServiceToken, AuthorityFate::kRemoved}};
  ambient.descriptors_listed = true;
  ambient.descriptors = {{0, DescriptorKind::kTerminal, true, AuthorityFate::kDelegated},
                         {7, DescriptorKind::kFile, false, AuthorityFate::kRemoved}};
  plan.ambient = ambient;
  PlanRefused refused;
  refused.candidates = plan.candidates;
  refused.refusals = {{LaunchRefusal::kRequirementUnmet, Domain::kIpc,
                       RefusalReason::kDomainUnsupported, "d", "f"}};
  refused.ambient = ambient;

  Control control;
  control.id = "seccomp";
  control.installed = true;
  control.landlock = LandlockDetail{
      7, "ff", "2", {{"r", PathBytes("/a"), PathBytes("/b"), 1, 2, "3", false, "n"}}};
  control.seccomp = SeccompDetail{Sha256{}, 3, "notify", {"read"}, {"ptrace"}};
  control.names = {"PATH"};
  control.removed = {"SHELL"};
  control.ambient_unremoved = {"AWS_SECRET_ACCESS_KEY"};
  control.descriptors = {0, 1};
  ControlPrepared prepared;
  prepared.controls = {control};
  prepared.images = {{ImageRole::kScript, PathBytes("/s"), 1, 2, 3, Sha256{}, true}};
  BoundaryProved proved;
  proved.canaries = {Canary{}};
  proved.no_canary = {{Domain::kResource, "none harmless"}};

  ProcessStarted started;
  started.pid = 9;
  started.exe_read = ExeRead::kAtExecStop;
  started.exe_digest = Sha256{};

  Event event;
  event.number = 1;
  event.operation = "call";
  event.mechanism = "m";
  event.rule = "syscalls.allow";
  event.object.type = ObjectType::kSyscall;
  event.object.name = "ptrace";
  event.object.number = 101;
  event.object.arch = "x86_64";
  event.parents = {1, 2};
  event.parents_truncated = true;
  Event path_event = event;
  path_event.number = 2;
  path_event.object = {};
  path_event.object.type = ObjectType::kPath;
  path_event.object.path = PathBytes("/x\n");
  path_event.object.given_path = PathBytes("../x\n");
  path_event.object.new_path = PathBytes("/y");
  path_event.object.device = 1;
  path_event.object.inode = 2;
  Event address_event = event;
  address_event.number = 3;
  address_event.object = {};
  address_event.object.type = ObjectType::kAddress;
  address_event.object.address = "10.0.0.1";
  address_event.object.port = 443;
  address_event.object.protocol = "tcp";
  address_event.object.address_class = AddressClass::kPrivate;
  DecisionBatch decisions;
  decisions.events = {event, path_event, address_event};
  ObservationBatch observations;
  observations.events = {event};

  WitnessReported witness;
  witness.state = WitnessState::kHeard;
  witness.domains = {"1148a2ce8"};
  witness.before_start = 1;
  witness.heard = 2;
  witness.counted = 3;
  witness.denials = {{"fs.read_file", PathBytes("/x"), "vda", 5, "", 2}};

  ProcessExited exited;
  exited.status = 3;
  RunClosed closed;
  closed.program_started = true;
  closed.records = 4;
  closed.os_errno = 2;
  closed.channel = {true, true, true, 2, 5, 0, 1};
  LedgerCreated created;
  created.host.purpose = "host";
  created.log.purpose = "log";
  KeyRotated rotated;
  rotated.purpose = "log";
  rotated.old_signature = "AA==";
  KeyReplaced replaced;
  replaced.certificate.purpose = "host";
  return {created,      opened,   policy,      probed,  plan,
          refused,      prepared, proved,      started, decisions,
          observations, witness,  exited,      closed,  RunRecovered{"process.started", true},
          rotated,      replaced, KeyRevoked{}};
}

}  // namespace aasm::schema::testing
