#include "controls.h"

#include <array>
#include <cerrno>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aasm/planner/environment.h"
#include "aasm/schema/json_write.h"
#include "aasm/schema/list_pieces.h"
#include "aasm/schema/record.h"

#include "bpf.h"
#include "landlock_uapi.h"
#include "own_capabilities.h"
#include "policy_builder.h"

namespace aasm::backend_native {
namespace {

using schema::Control;
using schema::Domain;
using schema::Purpose;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

class ControlsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (wire::StepReport& step : steps_) {
      step.state = static_cast<std::uint32_t>(wire::StepState::kDone);
    }
    request_.spec.requirements = {testing::read_requirement({}), testing::write_requirement({})};
    ruleset_.abi = 7;
    ruleset_.scoped = landlock::kScopeSignal;
  }
  std::vector<Control> list() {
    const schema::Requirement* syscalls = nullptr;
    for (const schema::Requirement& requirement : request_.spec.requirements) {
      if (requirement.domain == Domain::kSyscall) {
        syscalls = &requirement;
      }
    }
    auto filter = make_filter_spec(syscalls, "errno");
    EXPECT_TRUE(filter);
    filter_ = *filter;
    program_ = build_filter(filter_);
    seccomp_ = seccomp_detail(filter_, program_);
    return list_controls({request_, ruleset_, filter_, seccomp_, steps_, cut_});
  }
  PreparedFacts facts(std::span<const wire::StepReport> steps) {
    return {request_, ruleset_, filter_, seccomp_, steps, cut_};
  }
  static const Control* find(const std::vector<Control>& controls, const std::string& id,
                             Purpose purpose) {
    for (const Control& control : controls) {
      if (control.id == id && control.purpose == purpose) {
        return &control;
      }
    }
    return nullptr;
  }
  wire::StepReport& step(wire::Step which) { return steps_.at(static_cast<std::size_t>(which)); }

  planner::LaunchRequest request_;
  Ruleset ruleset_;
  std::optional<CapabilityCut> cut_;
  FilterSpec filter_;
  std::vector<sock_filter> program_;
  schema::SeccompDetail seccomp_;
  std::array<wire::StepReport, wire::kMaxSteps> steps_{};
};

TEST_F(ControlsTest, TheFilterServesPolicyOnlyWhenPolicyStatesCalls) {
  EXPECT_EQ(find(list(), "seccomp", Purpose::kPolicy), nullptr);
  request_.spec.requirements.push_back(
      testing::requirement(Domain::kSyscall, "syscalls.allow",
                           {testing::rule("syscalls.allow[0]", schema::RuleEffect::kAllow, "call",
                                          schema::SelectorType::kSyscall, "@default"),
                            testing::rule("syscalls.deny[0]", schema::RuleEffect::kDeny, "call",
                                          schema::SelectorType::kSyscall, "ptrace")}));
  const std::vector<Control> controls = list();
  const Control* policy = find(controls, "seccomp", Purpose::kPolicy);
  ASSERT_NE(policy, nullptr);
  EXPECT_THAT(policy->rules, ElementsAre("syscalls.allow", "syscalls.deny[0]"));
  ASSERT_TRUE(policy->seccomp);
  EXPECT_EQ(policy->seccomp->instructions, static_cast<std::int64_t>(program_.size()));
}

TEST_F(ControlsTest, WhatSelfProtectionRefusesIsListedUnderItsOwnPurpose) {
  const std::vector<Control> controls = list();
  const Control* own = find(controls, "seccomp", Purpose::kSelfProtection);
  ASSERT_NE(own, nullptr);
  EXPECT_THAT(own->rules, Contains("self_protection.ptrace"));
  EXPECT_THAT(own->rules, Contains("self_protection.tiocsti"));
  EXPECT_THAT(own->rules, Contains("compat.clone3"));
  EXPECT_THAT(own->rules, Not(Contains("self_protection.clone3")));
  EXPECT_TRUE(own->seccomp);
}

TEST_F(ControlsTest, AFailedStepIsAControlThatIsNotInstalled) {
  step(wire::Step::kLandlock) = {static_cast<std::uint32_t>(wire::StepState::kFailed), E2BIG, 0, 0};
  const std::vector<Control> controls = list();
  const Control* landlock = find(controls, "landlock", Purpose::kPolicy);
  ASSERT_NE(landlock, nullptr);
  EXPECT_FALSE(landlock->installed);
  EXPECT_EQ(landlock->os_errno, E2BIG);
  EXPECT_EQ(landlock->step, "landlock");
}

TEST_F(ControlsTest, AStepThatWasNeverReportedIsNotInstalled) {
  step(wire::Step::kSeccomp) = {};
  const std::vector<Control> controls = list();
  EXPECT_FALSE(find(controls, "seccomp", Purpose::kSelfProtection)->installed);
}

TEST_F(ControlsTest, EachFilesystemDomainHasItsOwnLandlockControl) {
  int num_landlock = 0;
  for (const Control& control : list()) {
    if (control.id == "landlock") {
      ++num_landlock;
      EXPECT_THAT(control.rules, ElementsAre(control.domain == Domain::kFilesystemRead
                                                 ? "filesystem.read.allow"
                                                 : "filesystem.write.allow"));
    }
  }
  EXPECT_EQ(num_landlock, 2);
}

TEST_F(ControlsTest, TheSignalScopeIsNotClaimedOnAnOlderAbi) {
  EXPECT_NE(find(list(), "signal_scope", Purpose::kSelfProtection), nullptr);
  ruleset_.scoped = 0;
  EXPECT_EQ(find(list(), "signal_scope", Purpose::kSelfProtection), nullptr);
}

TEST_F(ControlsTest, EnvironmentNamesAreListedAndValuesAreNot) {
  request_.environment = {"HOME=/root", "EMPTY="};
  EXPECT_EQ(find(list(), "environment", Purpose::kPolicy), nullptr);
  request_.spec.requirements.push_back(
      testing::requirement(Domain::kCredential, "credentials.environment.allow", {}));
  const std::vector<Control> controls = list();
  const Control* environment = find(controls, "environment", Purpose::kPolicy);
  ASSERT_NE(environment, nullptr);
  EXPECT_THAT(environment->names, ElementsAre("HOME", "EMPTY"));
}

TEST_F(ControlsTest, AnEnvironmentThatPassesWholeIsNoControl) {
  request_.spec.requirements.push_back(
      testing::requirement(Domain::kCredential, "credentials.descriptors.allow", {}));
  request_.spec.credentials.ambient_unremoved = {"HOME"};
  EXPECT_EQ(find(list(), "environment", Purpose::kPolicy), nullptr);
}

// Also when none of the names that pass looks like a credential.
TEST_F(ControlsTest, AnEnvironmentOfNamesThatNoPolicyHasIsNoControl) {
  request_.environment = {"EDITOR=vi"};
  request_.spec.requirements.push_back(
      testing::requirement(Domain::kCredential, "credentials.descriptors.allow", {}));
  request_.spec.ambient.ambient_unremoved = 1;
  EXPECT_EQ(find(list(), "environment", Purpose::kPolicy), nullptr);
}

// As the plan's inventory has it, with which it is compared.
TEST_F(ControlsTest, ALongNameIsRecordedByItsBeginning) {
  request_.environment = {std::string(2000, 'A') + "=1"};
  request_.spec.requirements.push_back(
      testing::requirement(Domain::kCredential, "credentials.environment.allow", {}));
  const std::vector<Control> controls = list();
  const Control* environment = find(controls, "environment", Purpose::kPolicy);
  ASSERT_NE(environment, nullptr);
  EXPECT_THAT(environment->names, ElementsAre(planner::recordable_name(std::string(2000, 'A'))));
  EXPECT_LT(environment->names.front().size(), 400U);
}

TEST_F(ControlsTest, ACapabilityCutIsListedOnlyWhereThereWasOne) {
  EXPECT_EQ(find(list(), "capabilities", Purpose::kSelfProtection), nullptr);
  cut_ = CapabilityCut{kKeptCapabilities, true};
  const std::vector<Control> controls = list();
  const Control* capabilities = find(controls, "capabilities", Purpose::kSelfProtection);
  ASSERT_NE(capabilities, nullptr);
  EXPECT_THAT(capabilities->note, ::testing::HasSubstr("0x4db"));
}

TEST_F(ControlsTest, DescriptorsPassedOnAreListed) {
  request_.descriptors = {0, 1, 2, 9};
  const std::vector<Control> controls = list();
  const Control* descriptors = find(controls, "descriptors", Purpose::kSelfProtection);
  ASSERT_NE(descriptors, nullptr);
  EXPECT_THAT(descriptors->descriptors, ElementsAre(0, 1, 2, 9));
}

TEST_F(ControlsTest, WhatTheHelperReportsMayBePutInAfterwards) {
  static_cast<void>(list());
  cut_.emplace();
  for (int failed = 0; failed < static_cast<int>(wire::Step::kExec); ++failed) {
    const auto which = static_cast<wire::Step>(failed);
    const wire::StepReport done = step(which);
    step(which).state = static_cast<std::uint32_t>(wire::StepState::kFailed);
    step(which).os_errno = E2BIG;
    const std::string name = wire::step_name(which);
    const auto at_once =
        control_records(list_controls(facts(steps_)), {}, schema::BoundBy::kPath, name);
    auto afterwards = control_records(list_controls(facts({})), {}, schema::BoundBy::kPath, "");
    report_steps(steps_, name, afterwards);
    ASSERT_EQ(afterwards.size(), at_once.size());
    for (std::size_t i = 0; i < at_once.size(); ++i) {
      EXPECT_EQ(schema::json_write(schema::write_body(schema::RecordBody(afterwards[i]))),
                schema::json_write(schema::write_body(schema::RecordBody(at_once[i]))))
          << name;
    }
    step(which) = done;
  }
}

TEST_F(ControlsTest, AShortPreparationIsOneRecord) {
  const auto records = control_records(list(), {}, schema::BoundBy::kDescriptor, "");
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].part, 1);
  EXPECT_EQ(records[0].parts, 1);
  EXPECT_EQ(records[0].bound, schema::BoundBy::kDescriptor);
}

TEST_F(ControlsTest, ManyGrantsGoOnInFurtherRecordsAndNoneIsLost) {
  constexpr std::size_t kGrants = 3000;
  for (std::size_t i = 0; i < kGrants; ++i) {
    schema::PathGrant grant;
    grant.rule = "filesystem.read.allow[" + std::to_string(i) + "]";
    grant.requested = schema::PathBytes("/some/longer/directory/name/" + std::to_string(i));
    grant.resolved = grant.requested;
    ruleset_.read_grants.push_back(grant);
  }
  const auto records = control_records(list(), {}, schema::BoundBy::kPath, "");
  ASSERT_GT(records.size(), 1U);
  std::size_t seen = 0;
  for (std::size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(records[i].part, static_cast<std::int64_t>(i + 1));
    EXPECT_EQ(records[i].parts, static_cast<std::int64_t>(records.size()));
    EXPECT_LT(schema::json_write(schema::write_body(records[i])).size(), 48U * 1024);
    for (const Control& control : records[i].controls) {
      if (control.id == "landlock" && control.domain == Domain::kFilesystemRead) {
        for (const schema::PathGrant& grant : control.landlock->grants) {
          EXPECT_EQ(grant.rule, "filesystem.read.allow[" + std::to_string(seen) + "]");
          ++seen;
        }
      }
    }
  }
  EXPECT_EQ(seen, kGrants);
}

TEST_F(ControlsTest, ManyRulesGoOnInFurtherControlsAndNoneIsLost) {
  schema::Requirement& read = request_.spec.requirements.front();
  std::vector<std::string> ids = {read.default_rule};
  read.rules.resize(3000, testing::deny_path("", "read", "/d"));
  for (std::size_t i = 0; i < read.rules.size(); ++i) {
    read.rules[i].id = "filesystem.deny[" + std::to_string(i) + "]";
    ids.push_back(read.rules[i].id);
  }
  for (std::size_t i = 0; i < 600; ++i) {
    schema::PathGrant grant;
    grant.requested = schema::PathBytes("/some/longer/directory/name/" + std::to_string(i));
    ruleset_.read_grants.push_back(grant);
  }
  std::vector<std::string> seen;
  std::size_t grants = 0;
  for (const auto& record : control_records(list(), {}, schema::BoundBy::kPath, "")) {
    const schema::JsonValue body = schema::write_body(record);
    EXPECT_LT(schema::json_write(body).size(), 48U * 1024);
    EXPECT_LT(schema::num_members(body), 4000U);
    for (const Control& control : record.controls) {
      if (control.id == "landlock" && control.domain == Domain::kFilesystemRead) {
        grants += control.landlock->grants.size();
        const bool again = !seen.empty() && control.rules.front() == seen.front();
        seen.insert(seen.end(), again ? control.rules.end() : control.rules.begin(),
                    control.rules.end());
      }
    }
  }
  EXPECT_EQ(seen, ids);
  EXPECT_EQ(grants, 600U);
}

TEST_F(ControlsTest, ManyNamesOfVariablesGoOnInFurtherControlsAndNoneIsLost) {
  request_.spec.requirements.push_back(
      testing::requirement(Domain::kCredential, "credentials.environment.allow", {}));
  std::vector<std::string> names;
  for (int i = 0; i < 9000; ++i) {
    names.push_back("V" + std::to_string(i) + (i < 40 ? std::string(1000, '\x01') : ""));
  }
  request_.spec.credentials.removed = names;
  request_.environment = {"HOME=/", std::string(30000, 'H') + "=/"};
  std::vector<std::string> seen;
  std::set<std::string> ids;
  for (const auto& record : control_records(list(), {}, schema::BoundBy::kPath, "")) {
    const schema::JsonValue body = schema::write_body(record);
    EXPECT_LT(schema::json_write(body).size(), 48U * 1024);
    EXPECT_LT(schema::num_members(body), 4000U);
    for (const Control& control : record.controls) {
      if (control.id.starts_with("environment")) {
        EXPECT_TRUE(ids.insert(control.id).second) << control.id;
        seen.insert(seen.end(), control.removed.begin(), control.removed.end());
      }
    }
  }
  EXPECT_EQ(seen, names);
  EXPECT_EQ(ids.count("environment"), 1U);
  EXPECT_GT(ids.size(), 9U);
}

TEST(ProvedRecordsTest, ManyCanariesGoOnInFurtherRecords) {
  schema::BoundaryProved proved;
  for (int i = 0; i < 128; ++i) {
    schema::Canary canary;
    canary.id = "self_protection.read." + std::to_string(i);
    canary.action = "openat(\"" + std::string(1000, 'x') + "\", O_RDONLY)";
    proved.canaries.push_back(canary);
  }
  proved.no_canary.push_back({Domain::kCredential, "nothing to cut"});
  const auto records = proved_records(proved);
  ASSERT_GT(records.size(), 1U);
  std::size_t seen = 0;
  for (const schema::BoundaryProved& record : records) {
    EXPECT_EQ(record.parts, static_cast<std::int64_t>(records.size()));
    EXPECT_LT(schema::json_write(schema::write_body(record)).size(), 48U * 1024);
    seen += record.canaries.size();
  }
  EXPECT_EQ(seen, proved.canaries.size());
  EXPECT_EQ(records[0].no_canary.size(), 1U);
}

TEST(SplitTest, AnEmptyListIsOneEmptyPiece) {
  const auto pieces = schema::split_for_records(std::vector<schema::PathGrant>{});
  ASSERT_EQ(pieces.size(), 1U);
  EXPECT_TRUE(pieces[0].empty());
}

}  // namespace
}  // namespace aasm::backend_native
