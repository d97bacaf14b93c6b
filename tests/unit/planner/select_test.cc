#include "aasm/planner/select.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "aasm/planner/plan.h"
#include "aasm/planner/planner.h"
#include "aasm/planner/refusal.h"

#include "planner_support.h"

namespace aasm::planner {
namespace {

using schema::CandidateVerdict;
using schema::Domain;
using schema::IsolationClass;
using testing::FakeBackend;

schema::CapabilityProbed good() {
  return testing::capabilities({testing::preventing(Domain::kFilesystemRead),
                                testing::preventing(Domain::kFilesystemWrite)});
}

schema::CapabilityProbed absent(const char* reason) {
  schema::CapabilityProbed probed;
  probed.unavailable_reason = reason;
  return probed;
}

class SelectTest : public ::testing::Test {
 protected:
  SelectTest() { load(std::string(testing::kMinimal)); }

  void load(const std::string& text) {
    PolicyRequest request;
    request.sources.option = "/p.yaml";
    request.current_dir = "/";
    request.paths = {"/work/dir", "/home/u"};
    request.resolver = testing::FakeHost().resolver();
    request.hash = testing::fake_hash;
    request.reader = [text](const std::string&, std::size_t) {
      return schema::Result<std::optional<std::string>>(std::optional<std::string>(text));
    };
    policy_ = resolve_policy(request);
  }

  SelectionInput input() {
    SelectionInput in;
    in.policy = &policy_;
    in.spec =
        build_spec(policy_, {{}, "/usr/bin/true", "true", 1, "/work/dir", {"PATH=/bin"}}).spec;
    in.backends = {&native_};
    in.probe = [](Backend& backend) { return backend.probe({}); };
    in.hash = testing::fake_hash;
    in.resolver = testing::FakeHost().resolver();
    return in;
  }

  static std::string refusals_of(const PlanningOutcome& outcome) {
    std::string text;
    if (outcome.refused() != nullptr) {
      EXPECT_TRUE(outcome.refused()->check());
      for (const schema::Refusal& refusal : outcome.refused()->refusals) {
        EXPECT_TRUE(refusal.check());
        text += (text.empty() ? "" : " ") + std::string(schema::token(refusal.launch));
        text += refusal.reason ? ":" + std::string(schema::token(*refusal.reason)) : "";
      }
    }
    return text;
  }

  // "id verdict", one line a candidate.
  static std::string candidates_of(const std::vector<schema::Candidate>& candidates) {
    std::string text;
    for (const schema::Candidate& one : candidates) {
      EXPECT_FALSE(one.reason.empty()) << one.backend;
      text +=
          (text.empty() ? "" : "\n") + one.backend + " " + std::string(schema::token(one.verdict));
    }
    return text;
  }

  ResolvedPolicy policy_;
  FakeBackend native_{"aasm-native", IsolationClass::kProcess, good()};
  FakeBackend gvisor_{"gvisor", IsolationClass::kUserspaceKernel, good()};
};

TEST_F(SelectTest, ThePlanSaysWhetherItsBackendIsExperimentalHere) {
  const PlanningOutcome validated = select_and_negotiate(input());
  ASSERT_NE(validated.plan(), nullptr) << refusals_of(validated);
  EXPECT_FALSE(validated.plan()->experimental);
  native_.mark_experimental();
  const PlanningOutcome marked = select_and_negotiate(input());
  ASSERT_NE(marked.plan(), nullptr) << refusals_of(marked);
  EXPECT_TRUE(marked.plan()->experimental);
  EXPECT_NE(marked.plan()->digest, validated.plan()->digest);
}

TEST_F(SelectTest, TheFirstEligibleCandidateWinsAndLaterOnesAreNotProbed) {
  SelectionInput in = input();
  in.backends = {&gvisor_, &native_};  // the order given does not matter
  const PlanningOutcome outcome = select_and_negotiate(in);
  ASSERT_NE(outcome.plan(), nullptr) << refusals_of(outcome);
  EXPECT_EQ(outcome.backend, &native_);
  EXPECT_EQ(outcome.plan()->backend->id, "aasm-native");
  EXPECT_EQ(outcome.plan()->posture, schema::LaunchPosture::kReady);
  EXPECT_EQ(outcome.plan()->steps, std::vector<std::string>{"install aasm-native"});
  EXPECT_TRUE(outcome.plan()->check());
  EXPECT_EQ(native_.probes(), 1);
  EXPECT_EQ(gvisor_.probes(), 0);
  EXPECT_EQ(outcome.probes.size(), 1U);
  EXPECT_EQ(candidates_of(outcome.plan()->candidates),
            "aasm-native selected\nsandlock not_considered\ngvisor not_considered\n"
            "microvm not_considered");
}

TEST_F(SelectTest, ACandidateThatFallsShortIsPassedWithItsReason) {
  FakeBackend weak("aasm-native", IsolationClass::kProcess, absent("no Landlock"));
  SelectionInput in = input();
  in.backends = {&weak, &gvisor_};
  const PlanningOutcome outcome = select_and_negotiate(in);
  ASSERT_NE(outcome.plan(), nullptr);
  EXPECT_EQ(outcome.backend, &gvisor_);
  const std::vector<schema::Candidate>& candidates = outcome.plan()->candidates;
  EXPECT_EQ(candidates_of(candidates),
            "aasm-native rejected_unavailable\nsandlock rejected_unavailable\ngvisor selected\n"
            "microvm not_considered");
  EXPECT_EQ(candidates[0].reason, "no Landlock");
  EXPECT_EQ(candidates[1].reason,
            "not built in this version, which has aasm-native (class process), gvisor (class "
            "userspace-kernel)");
}

TEST_F(SelectTest, NoneEligibleIsARefusalThatNamesEach) {
  native_.cannot_lower(Domain::kFilesystemWrite);
  const PlanningOutcome outcome = select_and_negotiate(input());
  EXPECT_EQ(refusals_of(outcome), "requirement_unmet:domain_unsupported backend_unavailable");
  EXPECT_NE(outcome.refused()->refusals[1].detail.find("`sandlock`, `gvisor`, `microvm`"),
            std::string::npos);
  EXPECT_EQ(outcome.backend, nullptr);
  const std::vector<schema::Candidate>& candidates = outcome.refused()->candidates;
  EXPECT_EQ(candidates[0].verdict, CandidateVerdict::kRejectedRequirementsUnmet);
  EXPECT_EQ(candidates[0].unmet, std::vector<Domain>{Domain::kFilesystemWrite});
  EXPECT_EQ(candidates[0].reason, "filesystem_write: domain_unsupported");
}

TEST_F(SelectTest, APinnedBackendNeverFallsThrough) {
  FakeBackend weak("aasm-native", IsolationClass::kProcess, absent("no Landlock"));
  SelectionInput in = input();
  in.backends = {&weak, &gvisor_};
  in.backend_pin = "aasm-native";
  const PlanningOutcome outcome = select_and_negotiate(in);
  EXPECT_EQ(refusals_of(outcome), "backend_unavailable:prerequisite_unsatisfied");
  EXPECT_EQ(gvisor_.probes(), 0);
  EXPECT_EQ(outcome.refused()->selection, schema::SelectionMode::kExplicit);
  in.backend_pin = "gvisor";
  const PlanningOutcome pinned = select_and_negotiate(in);
  ASSERT_NE(pinned.plan(), nullptr);
  EXPECT_EQ(pinned.backend, &gvisor_);
  EXPECT_EQ(weak.probes(), 1) << "only by the first pin";
}

TEST_F(SelectTest, PinsThatCannotBeMetSayWhy) {
  SelectionInput in = input();
  in.backend_pin = "nativ";
  PlanningOutcome outcome = select_and_negotiate(in);
  EXPECT_EQ(refusals_of(outcome), "backend_unavailable");
  EXPECT_NE(outcome.refused()->refusals[0].detail.find("`microvm`"), std::string::npos);
  in.backend_pin = "sandlock";
  outcome = select_and_negotiate(in);
  EXPECT_NE(outcome.refused()->refusals[0].detail.find("not built in this version"),
            std::string::npos);
  in.backend_pin = "aasm-native";
  in.isolation = IsolationClass::kMicrovm;
  outcome = select_and_negotiate(in);
  EXPECT_NE(outcome.refused()->refusals[0].detail.find("realises the class process"),
            std::string::npos);
  in.isolation = IsolationClass::kNone;
  outcome = select_and_negotiate(in);
  EXPECT_EQ(refusals_of(outcome), "backend_unavailable");
  EXPECT_EQ(native_.probes(), 0);
}

TEST_F(SelectTest, AClassConsidersOnlyItsOwnCandidates) {
  SelectionInput in = input();
  in.backends = {&native_, &gvisor_};
  in.isolation = IsolationClass::kUserspaceKernel;
  const PlanningOutcome outcome = select_and_negotiate(in);
  ASSERT_NE(outcome.plan(), nullptr);
  EXPECT_EQ(outcome.backend, &gvisor_);
  EXPECT_EQ(native_.probes(), 0);
  in.isolation = IsolationClass::kMicrovm;
  EXPECT_EQ(refusals_of(select_and_negotiate(in)), "backend_unavailable");
}

TEST_F(SelectTest, BackendsOutsideTheFixedOrderComeLast) {
  FakeBackend other("other", IsolationClass::kProcess, good());
  EXPECT_EQ(known_backends({&other, &native_}),
            (std::vector<std::string>{"aasm-native", "sandlock", "gvisor", "microvm", "other"}));
}

TEST_F(SelectTest, AProbeThatMeasuresNothingMakesTheCandidateUnavailable) {
  SelectionInput in = input();
  in.probe = [](Backend&) {
    return schema::Result<schema::CapabilityProbed>(
        schema::Error(schema::ErrorCode::kInternal, "the helper is gone"));
  };
  const PlanningOutcome outcome = select_and_negotiate(in);
  EXPECT_NE(outcome.refused()->candidates[0].reason.find("the helper is gone"), std::string::npos);
  EXPECT_TRUE(outcome.probes.empty());
}

TEST_F(SelectTest, PolicyStatesThatRefuseDoSoBeforeAnyProbe) {
  struct Row {
    const char* text;
    const char* refusal;
  };
  for (const Row& row : std::vector<Row>{{"tools: {}\n", "policy_unconfigured"},
                                         {"filesytem: {}\n", "policy_load_failed"},
                                         {"tools: {'*': {allow: true}}\n", "policy_permissive"}}) {
    load(row.text);
    EXPECT_EQ(refusals_of(select_and_negotiate(input())), row.refusal);
  }
  EXPECT_EQ(native_.probes(), 0);
}

TEST_F(SelectTest, IsolationNoneStartsWithOutcomesThatSayNoBoundary) {
  SelectionInput in = input();
  in.isolation = IsolationClass::kNone;
  const PlanningOutcome outcome = select_and_negotiate(in);
  ASSERT_NE(outcome.plan(), nullptr);
  EXPECT_TRUE(outcome.plan()->check());
  EXPECT_EQ(outcome.plan()->posture, schema::LaunchPosture::kUnconfined);
  EXPECT_EQ(outcome.plan()->selection, schema::SelectionMode::kNone);
  EXPECT_EQ(outcome.plan()->outcomes.size(), 2U);
  EXPECT_EQ(outcome.plan()->outcomes[0].kind, schema::OutcomeKind::kNoBoundary);
  EXPECT_EQ(outcome.backend, nullptr);
  EXPECT_EQ(native_.probes(), 0);
  load("tools: {'*': {allow: true}}\n");
  in = input();
  in.isolation = IsolationClass::kNone;
  EXPECT_NE(select_and_negotiate(in).plan(), nullptr) << "permissive runs with none only";
  for (const char* refusing : {"tools: {}\n", "filesytem: {}\n"}) {
    load(refusing);
    in = input();
    in.isolation = IsolationClass::kNone;
    EXPECT_NE(select_and_negotiate(in).refused(), nullptr) << refusing;
  }
}

TEST_F(SelectTest, BothFilesystemDomainsHaveToBeStated) {
  for (const char* text :
       {"filesystem: {read: {allow: [/usr]}}\n", "filesystem: {write: {allow: [/w]}}\n",
        "syscalls: {allow: ['@default']}\nposture: {default: optional}\n"}) {
    load(text);
    EXPECT_EQ(refusals_of(select_and_negotiate(input())).substr(0, 21), "filesystem_not_stated");
  }
  load("capabilities: {deny: [file_read, file_write]}\n");
  EXPECT_NE(select_and_negotiate(input()).plan(), nullptr) << "a denial states the domain too";
}

TEST_F(SelectTest, NoRequirementAtAllIsRefused) {
  SelectionInput in = input();
  in.spec.requirements.clear();
  EXPECT_EQ(refusals_of(select_and_negotiate(in)), "no_requirements");
}

TEST_F(SelectTest, GrantsOverOurOwnFilesRefuseTheLaunch) {
  SelectionInput in = input();
  in.protect.unreadable = {"/work/dir/.aasm/ledger.db"};
  in.protect.unwritable = {"/work/dir/policy.yaml", "/usr/bin/aasm"};
  EXPECT_EQ(refusals_of(select_and_negotiate(in)), "grant_covers_evidence grant_covers_control");
  in.isolation = IsolationClass::kNone;
  EXPECT_NE(select_and_negotiate(in).plan(), nullptr) << "nothing is granted without a boundary";
}

TEST_F(SelectTest, EveryReasonIsReportedTogether) {
  load("filesystem: {read: {allow: [/secret]}}\nnetwork: {allowlist: []}\n");
  SelectionInput in = input();
  in.protect.unreadable = {"/secret/ledger.db"};
  in.earlier = {refuse_program_not_found("x")};
  in.backend_pin = "aasm-native";
  EXPECT_EQ(refusals_of(select_and_negotiate(in)),
            "filesystem_not_stated grant_covers_evidence requirement_unmet:no_capability_reported "
            "requirement_unmet:no_capability_reported program_not_found");
}

TEST_F(SelectTest, InsideARunNothingIsMeasured) {
  load(std::string(testing::kMinimal));
  SelectionInput in = input();
  in.earlier = {refuse_nested_run()};
  const PlanningOutcome outcome = select_and_negotiate(in);
  EXPECT_EQ(refusals_of(outcome), "nested_run_unsupported");
  EXPECT_TRUE(outcome.probes.empty());
  EXPECT_EQ(native_.probes(), 0);
}

TEST_F(SelectTest, ADegradedRequirementDegradesThePlanAndStatesBothLevels) {
  load(std::string(testing::kMinimal) +
       "name_resolution: {allow: []}\nposture: {name_resolution: degrade_if_unavailable}\n");
  const PlanningOutcome outcome = select_and_negotiate(input());
  ASSERT_NE(outcome.plan(), nullptr) << refusals_of(outcome);
  EXPECT_EQ(outcome.plan()->posture, schema::LaunchPosture::kDegraded);
  EXPECT_TRUE(outcome.plan()->check());
  EXPECT_EQ(outcome.plan()->outcome_for(Domain::kNameResolution)->kind,
            schema::OutcomeKind::kDegraded);
}

TEST_F(SelectTest, TheDigestIsOfTheMeaningAndNotOfTheOrderOrTheLines) {
  const auto digest_of = [&](const std::string& text) {
    load(text);
    const PlanningOutcome outcome = select_and_negotiate(input());
    EXPECT_NE(outcome.plan(), nullptr) << refusals_of(outcome) << policy_.record.error;
    return outcome.plan() == nullptr ? schema::Sha256() : outcome.plan()->digest;
  };
  const schema::Sha256 base =
      digest_of("filesystem: {read: {allow: [/usr, /lib]}, write: {allow: [/w]}}\n");
  EXPECT_EQ(base, digest_of("# moved\n\nfilesystem:\n  write: {allow: [/w/, /w]}\n"
                            "  read: {allow: [/lib, /usr, /usr/bin]}\n"));
  EXPECT_NE(base, digest_of("filesystem: {read: {allow: [/usr]}, write: {allow: [/w]}}\n"));
  EXPECT_NE(base, digest_of("filesystem: {read: {allow: [/usr, /lib]}, write: {allow: [/w]}, "
                            "execute: {allow: [/usr]}}\n"));
  EXPECT_NE(base, digest_of("filesystem: {read: {allow: [/usr, /lib]}, write: {allow: [/w]}}\n"
                            "posture: {filesystem_read: optional}\n"));
}

TEST_F(SelectTest, TheDigestChangesWithWhatRuns) {
  const auto digest_of = [&](const char* program, const char* dir, std::int64_t args) {
    SelectionInput in = input();
    in.spec =
        build_spec(policy_, {{}, "/usr/bin/true", program, args, dir, {"A_TOKEN=secret"}}).spec;
    return select_and_negotiate(in).plan()->digest;
  };
  const schema::Sha256 base = digest_of("/usr/bin/true", "/w", 1);
  EXPECT_EQ(base, digest_of("/usr/bin/true", "/w", 1));
  EXPECT_NE(base, digest_of("/usr/bin/false", "/w", 1));
  EXPECT_NE(base, digest_of("/usr/bin/true", "/v", 1));
  EXPECT_NE(base, digest_of("/usr/bin/true", "/w", 2));
}

// The environment of whoever launches is no part of the plan: policy says what passes.
TEST_F(SelectTest, ThePlanTextHoldsNothingOfTheEnvironment) {
  const BuiltSpec built =
      build_spec(policy_, {{}, "/usr/bin/true", "true", 1, "/w", {"A_TOKEN=hunter2"}});
  const std::string text = plan_canonical_text(built.spec, schema::PlanResolved());
  EXPECT_EQ(text.find("A_TOKEN"), std::string::npos);
  EXPECT_EQ(text.find("hunter2"), std::string::npos);
}

}  // namespace
}  // namespace aasm::planner
