#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "aasm/claims/contradictions.h"
#include "aasm/schema/json_value.h"

#include "sample_run.h"

// Runs that somebody who holds the keys has signed: every record is well-formed and every
// signature good, and only their content says that they cannot all be true.
namespace aasm::claims::test {
namespace {

using Code = ContradictionCode;
using schema::Domain;

struct Row {
  const char* why;
  Code expected;
  std::function<void(Records&)> change;
};

void with_denial(Records& run, const std::function<void(schema::Event&)>& change) {
  schema::Event event = denied_ptrace();
  change(event);
  set_events(run, {event});
}

void add_allow_rule(Records& run, const char* name) {
  schema::PolicyRule rule =
      body_of<schema::PolicyResolved>(run).requirements.at(4).rules.at(0);  // syscalls.allow[0]
  rule.selector.value = schema::PathBytes(name);
  body_of<schema::PolicyResolved>(run).requirements.at(4).rules.push_back(rule);
}

std::vector<Row> setup_rows() {
  return {
      {"the plan's backend was never measured", Code::kProbeMissing,
       [](Records& run) { remove_kind<schema::CapabilityProbed>(run); }},
      {"another backend was measured", Code::kProbeMissing,
       [](Records& run) { body_of<schema::CapabilityProbed>(run).backend.id = "other"; }},
      {"the probe stands behind the plan that relies on it", Code::kProbeMissing,
       [](Records& run) {
         std::swap(step_of<schema::CapabilityProbed>(run).body,
                   step_of<schema::PlanResolved>(run).body);
       }},
      {"control.prepared a second time", Code::kControlRepeated,
       [](Records& run) {
         Step second = step_of<schema::ControlPrepared>(run);
         std::get<schema::ControlPrepared>(second.body).controls.clear();
         run.insert(run.begin() + 5, second);
         renumber(run);
       }},
      {"one control is told twice, differently", Code::kControlRepeated,
       [](Records& run) {
         auto& controls = body_of<schema::ControlPrepared>(run).controls;
         controls.push_back(controls.at(2));
         controls.back().installed = false;
       }},
      {"rules go on in a control that is not installed", Code::kControlRepeated,
       [](Records& run) {
         auto& controls = body_of<schema::ControlPrepared>(run).controls;
         controls.push_back(controls.at(2));
         controls.back().rules = {"syscalls.deny[7]"};
         controls.back().installed = false;
       }},
      {"a rule is listed again", Code::kControlRepeated,
       [](Records& run) {
         auto& controls = body_of<schema::ControlPrepared>(run).controls;
         controls.push_back(controls.at(2));
         controls.back().rules.push_back("syscalls.deny[7]");
         controls.back().landlock.reset();
       }},
      {"boundary.proved a second time", Code::kCanaryRepeated,
       [](Records& run) {
         Step second = step_of<schema::BoundaryProved>(run);
         std::get<schema::BoundaryProved>(second.body).canaries.clear();
         run.insert(run.begin() + 6, second);
         renumber(run);
       }},
      {"one canary is reported twice", Code::kCanaryRepeated,
       [](Records& run) {
         auto& canaries = body_of<schema::BoundaryProved>(run).canaries;
         canaries.push_back(canaries.at(0));
         canaries.back().inside.outcome = schema::AttemptOutcome::kError;
       }},
      {"enforced, and its control is for self-protection", Code::kEnforcedWithoutControl,
       [](Records& run) {
         body_of<schema::ControlPrepared>(run).controls.at(0).purpose =
             schema::Purpose::kSelfProtection;
       }},
      {"enforced, and its control was not installed", Code::kEnforcedWithoutControl,
       [](Records& run) {
         body_of<schema::ControlPrepared>(run).controls.at(1).installed = false;
       }},
      {"enforced, and no control is on it", Code::kEnforcedWithoutControl,
       [](Records& run) {
         auto& controls = body_of<schema::ControlPrepared>(run).controls;
         controls.erase(controls.begin());
       }},
  };
}

schema::DomainCapability& probed_syscall(Records& run) {
  return body_of<schema::CapabilityProbed>(run).domains.at(2);
}

void unsupport(schema::DomainCapability& domain) {
  domain.support = schema::Support::kUnsupported;
  domain.reason = "not on this host";
  domain.limitations.clear();
  domain.mediation = schema::Mediation::kNone;
  domain.timing = schema::Timing::kNone;
  domain.synchrony = schema::Synchrony::kNone;
}

// The network is degraded in the sample; here with this level, over this probe of it.
void degrade(Records& run, const char* achieved, bool with_channel) {
  schema::DomainCapability network = probed_syscall(run);
  network.domain = Domain::kNetworkEgress;
  network.channel.mechanism = with_channel ? "seccomp_user_notification" : "none";
  body_of<schema::CapabilityProbed>(run).domains.push_back(network);
  body_of<schema::PlanResolved>(run).outcomes.at(4).achieved = achieved;
}

std::vector<Row> promise_rows() {
  return {
      {"enforced, and the probe says unsupported", Code::kOutcomeExceedsProbe,
       [](Records& run) { unsupport(probed_syscall(run)); }},
      {"enforced, and the probe does not report the domain", Code::kOutcomeExceedsProbe,
       [](Records& run) {
         auto& domains = body_of<schema::CapabilityProbed>(run).domains;
         domains.erase(domains.begin());
       }},
      {"enforced, and the probe decides too late", Code::kOutcomeExceedsProbe,
       [](Records& run) { probed_syscall(run).timing = schema::Timing::kPost; }},
      {"enforced, and a prerequisite was not satisfied", Code::kOutcomeExceedsProbe,
       [](Records& run) {
         probed_syscall(run).prerequisites.push_back(
             {"a listener", schema::PrerequisiteStatus::kUnsatisfied, ""});
       }},
      {"enforced, and the probe saw one process only", Code::kOutcomeExceedsProbe,
       [](Records& run) {
         probed_syscall(run).descendants = schema::DescendantCoverage::kTargetProcessOnly;
       }},
      {"observed, and the probe observes nothing", Code::kOutcomeExceedsProbe,
       [](Records& run) {
         auto& outcome = body_of<schema::PlanResolved>(run).outcomes.at(5);  // name_resolution
         outcome.kind = schema::OutcomeKind::kObserved;
         outcome.reason.reset();
       }},
      {"degraded to observation, without a channel", Code::kDegradedExceedsProbe,
       [](Records& run) { degrade(run, "observe", false); }},
      {"degraded to observation of more processes than the probe saw", Code::kDegradedExceedsProbe,
       [](Records& run) {
         degrade(run, "observe", true);
         body_of<schema::CapabilityProbed>(run).domains.back().descendants =
             schema::DescendantCoverage::kTargetProcessOnly;
       }},
      {"degraded to a prevention that was not measured", Code::kDegradedExceedsProbe,
       [](Records& run) {
         degrade(run, "prevent_before_effect, evidence setup", true);
         body_of<schema::CapabilityProbed>(run).domains.back().synchrony =
             schema::Synchrony::kBestEffort;
       }},
      {"degraded to a level of its own", Code::kDegradedExceedsProbe,
       [](Records& run) { degrade(run, "as good as prevented", true); }},
      {"degraded to observation of a domain that was not probed", Code::kDegradedExceedsProbe,
       [](Records& run) {
         body_of<schema::PlanResolved>(run).outcomes.at(4).achieved = "observe";
       }},
      {"the probe says that the backend is not available", Code::kBackendWasUnavailable,
       [](Records& run) {
         body_of<schema::CapabilityProbed>(run).available = false;
         body_of<schema::CapabilityProbed>(run).unavailable_reason = "no Landlock";
       }},
      {"the backend was rejected", Code::kBackendWasUnavailable,
       [](Records& run) {
         body_of<schema::PlanResolved>(run).candidates.at(0).verdict =
             schema::CandidateVerdict::kRejectedUnavailable;
       }},
      {"another backend was selected", Code::kBackendWasUnavailable,
       [](Records& run) {
         body_of<schema::PlanResolved>(run).candidates.at(1).verdict =
             schema::CandidateVerdict::kSelected;
       }},
      {"the plan is for another class than the run", Code::kIsolationClassDiffers,
       [](Records& run) {
         body_of<schema::PlanResolved>(run).requested = schema::IsolationClass::kProcess;
       }},
      {"a machine of its own was asked for, and the host's kernel is shared",
       Code::kIsolationClassDiffers,
       [](Records& run) {
         body_of<schema::RunOpened>(run).isolation = schema::IsolationClass::kMicrovm;
         body_of<schema::PlanResolved>(run).requested = schema::IsolationClass::kMicrovm;
       }},
  };
}

schema::AmbientAuthority& inventory(Records& run) {
  return *body_of<schema::PlanResolved>(run).ambient;
}

schema::Control& environment(Records& run) {
  return body_of<schema::ControlPrepared>(run).controls.at(3);
}

schema::Control& descriptors(Records& run) {
  return body_of<schema::ControlPrepared>(run).controls.at(4);
}

std::vector<Row> inventory_rows() {
  using schema::AuthorityFate;
  constexpr Code kCode = Code::kInventoryDiffers;
  return {
      {"a name was passed on that the inventory does not count", kCode,
       [](Records& run) { environment(run).names.emplace_back("HOME"); }},
      {"the inventory counts a name that was not passed on", kCode,
       [](Records& run) { ++inventory(run).delegated; }},
      {"the inventory counts a name that was passed on as not removed", kCode,
       [](Records& run) { inventory(run).ambient_unremoved = 1; }},
      {"a name was removed that the inventory does not count", kCode,
       [](Records& run) { environment(run).removed.emplace_back("HOME"); }},
      {"another name was removed", kCode,
       [](Records& run) { environment(run).removed = {"KUBECONFIG"}; }},
      {"a credential is delegated by the inventory alone", kCode,
       [](Records& run) { inventory(run).sensitive.at(0).fate = AuthorityFate::kDelegated; }},
      {"a credential is ambient by the inventory alone", kCode,
       [](Records& run) {
         inventory(run).sensitive.at(0).fate = AuthorityFate::kAmbientUnremoved;
       }},
      {"a credential is ambient by the control alone", kCode,
       [](Records& run) { environment(run).ambient_unremoved = {"KUBECONFIG"}; }},
      {"a descriptor is delegated and was closed", kCode,
       [](Records& run) { inventory(run).descriptors.at(3).fate = AuthorityFate::kDelegated; }},
      {"a descriptor is ambient and was closed", kCode,
       [](Records& run) {
         inventory(run).descriptors.at(3).fate = AuthorityFate::kAmbientUnremoved;
       }},
      {"a descriptor is removed and was passed on", kCode,
       [](Records& run) { descriptors(run).descriptors.push_back(7); }},
      {"a descriptor was passed on that was not inherited", kCode,
       [](Records& run) { descriptors(run).descriptors.push_back(8); }},
      {"one below the last that is listed, with others unlisted", kCode,
       [](Records& run) {
         inventory(run).descriptors_unlisted = 1;
         descriptors(run).descriptors.push_back(5);
       }},
  };
}

std::vector<Row> event_rows() {
  return {
      {"a denial under enforcement disabled", Code::kDeniedWithoutBoundary,
       [](Records& run) { body_of<schema::RunOpened>(run).enforcement_mode = "disabled"; }},
      {"a denial under isolation none", Code::kDeniedWithoutBoundary,
       [](Records& run) {
         body_of<schema::RunOpened>(run).isolation = schema::IsolationClass::kNone;
         body_of<schema::PlanResolved>(run).requested = schema::IsolationClass::kNone;
       }},
      {"a denial of a call that policy allows, by the list", Code::kDeniedAgainstPolicy,
       [](Records& run) {
         with_denial(run, [](auto& event) {
           event.object.name = "read";
           event.rule = "syscalls.allow";
         });
       }},
      {"a denial of a call that policy allows, by another rule", Code::kDeniedAgainstPolicy,
       [](Records& run) { with_denial(run, [](auto& event) { event.object.name = "prctl"; }); }},
      {"a denial with errno 0", Code::kDeniedWithoutErrno,
       [](Records& run) { with_denial(run, [](auto& event) { event.os_errno = 0; }); }},
      {"a denial with a negative errno", Code::kDeniedWithoutErrno,
       [](Records& run) { with_denial(run, [](auto& event) { event.os_errno = -1; }); }},
      {"a denial with an errno that no call returns", Code::kDeniedWithoutErrno,
       [](Records& run) { with_denial(run, [](auto& event) { event.os_errno = 4096; }); }},
      {"one count is the largest", Code::kEventCountOverflow,
       [](Records& run) {
         with_denial(run, [](auto& event) { event.count = schema::kJsonMaxInteger; });
       }},
      {"two counts pass the largest together", Code::kEventCountOverflow,
       [](Records& run) {
         schema::Event event = denied_ptrace();
         event.count = schema::kJsonMaxInteger - 1;
         set_events(run, {event, event});
         body_of<schema::RunClosed>(run).channel.actions = schema::kJsonMaxInteger;
       }},
      {"losses pass the largest", Code::kEventCountOverflow,
       [](Records& run) {
         body_of<schema::DecisionBatch>(run).dropped = schema::kJsonMaxInteger;
         body_of<schema::RunClosed>(run).channel.dropped = schema::kJsonMaxInteger;
       }},
  };
}

void end_with(Records& run, schema::ExitCause cause, std::int64_t status, std::int64_t signal) {
  schema::ProcessExited& exited = body_of<schema::ProcessExited>(run);
  exited.cause = cause;
  exited.status.reset();
  exited.signal.reset();
  (signal == 0 ? exited.status : exited.signal) = signal == 0 ? status : signal;
}

std::vector<Row> exit_rows() {
  using schema::ExitCause;
  return {
      {"exited, by a signal", Code::kExitCauseDiffers,
       [](Records& run) { end_with(run, ExitCause::kExited, 0, 9); }},
      {"signalled, with a status", Code::kExitCauseDiffers,
       [](Records& run) { end_with(run, ExitCause::kSignalled, 0, 0); }},
      {"by a limit that is not stated", Code::kExitCauseDiffers,
       [](Records& run) { end_with(run, ExitCause::kMemoryLimit, 0, 9); }},
      {"by the wall clock, sooner than it is stated", Code::kExitCauseDiffers,
       [](Records& run) {
         end_with(run, ExitCause::kWallClock, 0, 15);
         body_of<schema::ProcessExited>(run).use.wall_us = 1'798'999'999;
       }},
      {"killed by a denial under on_denial errno", Code::kExitCauseDiffers,
       [](Records& run) { end_with(run, ExitCause::kKilledByDenial, 0, 9); }},
      {"killed by a denial, with a status", Code::kExitCauseDiffers,
       [](Records& run) {
         body_of<schema::PolicyResolved>(run).on_denial = "kill";
         end_with(run, ExitCause::kKilledByDenial, 0, 0);
       }},
  };
}

TEST(ForgedRunTest, EachRowIsFoundAndNothingElse) {
  for (const auto& rows :
       {setup_rows(), promise_rows(), inventory_rows(), event_rows(), exit_rows()}) {
    for (const Row& row : rows) {
      SCOPED_TRACE(row.why);
      Records run = sample_run();
      row.change(run);
      const std::vector<Contradiction> found = claims_of(run).contradictions;
      ASSERT_EQ(found.size(), 1U);
      EXPECT_EQ(found[0].code, row.expected) << schema::token(found[0].code);
      EXPECT_FALSE(found[0].detail.empty());
    }
  }
}

struct Harmless {
  const char* why;
  std::function<void(Records&)> change;
};

TEST(ForgedRunTest, WhatAnHonestWriterRecordsIsNoContradiction) {
  using schema::ExitCause;
  const std::vector<Harmless> rows = {
      {"the same call by the table of another architecture",
       [](Records& run) {
         with_denial(run, [](auto& event) {
           event.object.name = "read";
           event.object.arch = "i386";
           event.rule = "syscalls.allow";
         });
       }},
      {"no inventory", [](Records& run) { body_of<schema::PlanResolved>(run).ambient.reset(); }},
      {"descriptors that could not be listed",
       [](Records& run) {
         inventory(run).descriptors.clear();
         inventory(run).descriptors_listed = false;
       }},
      {"a descriptor beyond those that had room",
       [](Records& run) {
         inventory(run).descriptors_unlisted = 1;
         descriptors(run).descriptors.push_back(8);
       }},
      {"names in two controls, one of them twice",
       [](Records& run) {
         schema::Control second = environment(run);
         second.id = "environment.2";
         environment(run).names = {"PATH", "PATH"};
         second.names = {"LANG"};
         body_of<schema::ControlPrepared>(run).controls.push_back(second);
       }},
      {"an environment that is left as it is",
       [](Records& run) {
         environment(run).installed = false;
         environment(run).names.clear();
         environment(run).removed.clear();
         environment(run).ambient_unremoved = {"GITHUB_TOKEN"};
         schema::AmbientAuthority left;
         left.ambient_unremoved = 9;
         left.sensitive = inventory(run).sensitive;
         inventory(run) = left;
         inventory(run).sensitive.at(0).fate = schema::AuthorityFate::kAmbientUnremoved;
       }},
      {"more ambient credentials than had room",
       [](Records& run) {
         environment(run).ambient_unremoved = {"KUBECONFIG"};
         inventory(run).sensitive_unlisted = 1;
       }},
      {"a call that an allow and a deny rule cover",
       [](Records& run) { add_allow_rule(run, "ptrace"); }},
      {"a call that policy allows and self-protection closes",
       [](Records& run) {
         add_allow_rule(run, "kexec_load");
         with_denial(run, [](auto& event) {
           event.object.name = "kexec_load";
           event.rule = "self_protection.kexec_load";
         });
       }},
      {"a killed caller receives no errno",
       [](Records& run) {
         body_of<schema::PolicyResolved>(run).on_denial = "kill";
         with_denial(run, [](auto& event) {
           event.os_errno = 0;
           event.reply = schema::ReplyState::kKilledWhileBlocked;
         });
         end_with(run, ExitCause::kKilledByDenial, 0, 9);
       }},
      {"a program killed by a denial of the network, where that kills",
       [](Records& run) {
         schema::Requirement network;
         network.domain = schema::Domain::kNetworkEgress;
         network.default_rule = "network.allowlist";
         network.on_denial = "kill";
         network.posture = schema::RequirementPosture::kDegradeIfUnavailable;
         body_of<schema::PolicyResolved>(run).requirements.push_back(network);
         end_with(run, ExitCause::kKilledByDenial, 0, 9);
       }},
      {"a program that ends by itself after the clock ran out",
       [](Records& run) {
         end_with(run, ExitCause::kWallClock, 3, 0);
         body_of<schema::ProcessExited>(run).use.wall_us = 1'800'000'000;
       }},
      {"a long list of grants in two entries",
       [](Records& run) {
         auto& controls = body_of<schema::ControlPrepared>(run).controls;
         controls.at(0).landlock = schema::LandlockDetail{};
         controls.push_back(controls.at(0));
         controls.back().landlock->grants.push_back({});
       }},
      {"a class that the backend is of",
       [](Records& run) {
         body_of<schema::RunOpened>(run).isolation = schema::IsolationClass::kProcess;
         body_of<schema::PlanResolved>(run).requested = schema::IsolationClass::kProcess;
       }},
      {"less is promised than was measured",
       [](Records& run) {
         body_of<schema::CapabilityProbed>(run).domains.push_back(probed_syscall(run));
         body_of<schema::CapabilityProbed>(run).domains.back().domain = Domain::kNetworkEgress;
       }},
      {"degraded to what was measured", [](Records& run) { degrade(run, "observe", true); }},
      {"degraded to observation of one process, as measured",
       [](Records& run) {
         degrade(run, "observe, descendants target_process_only", true);
         body_of<schema::CapabilityProbed>(run).domains.back().descendants =
             schema::DescendantCoverage::kTargetProcessOnly;
       }},
      {"degraded to prevention without its evidence",
       [](Records& run) { degrade(run, "prevent_before_effect, evidence setup", false); }},
      {"the largest count but one",
       [](Records& run) {
         with_denial(run, [](auto& event) { event.count = schema::kJsonMaxInteger - 1; });
       }},
  };
  for (const Harmless& row : rows) {
    SCOPED_TRACE(row.why);
    Records run = sample_run();
    row.change(run);
    for (const Contradiction& one : claims_of(run).contradictions) {
      ADD_FAILURE() << schema::token(one.code) << ": " << one.detail;
    }
  }
}

}  // namespace
}  // namespace aasm::claims::test
