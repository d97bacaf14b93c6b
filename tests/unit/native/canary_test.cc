#include "canary.h"

#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "canary_objects.h"
#include "policy_builder.h"

namespace aasm::backend_native {
namespace {

using schema::AttemptOutcome;
using schema::ChannelReport;
using schema::Domain;
using schema::Purpose;
using schema::RunEnding;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::uint64_t kSysAdmin = 1U << 21;

// A plan of hand-made canaries, so that judging is tested without planning.
class JudgeTest : public ::testing::Test {
 protected:
  ScriptedCanary& add(const char* id, const char* step, MissingControl missing) {
    ScriptedCanary scripted;
    scripted.canary.id = id;
    scripted.canary.step = step;
    scripted.canary.action = "an action";
    scripted.entry = static_cast<std::uint32_t>(results_.size());
    scripted.refusals = {EACCES};
    scripted.missing_control = missing;
    results_.push_back({0, -EACCES});
    plan_.canaries.push_back(scripted);
    return plan_.canaries.back();
  }
  CanaryVerdict judge(const std::set<std::uint32_t>& reported = {}) const {
    return judge_canaries(plan_, results_, reported);
  }

  CanaryPlan plan_;
  std::vector<wire::ScriptResult> results_;
};

TEST_F(JudgeTest, AControlThatWorkedAndARefusalInsideProve) {
  add("filesystem_read.open", "landlock", MissingControl::kFails);
  const CanaryVerdict verdict = judge();
  EXPECT_FALSE(verdict.failure);
  ASSERT_EQ(verdict.proved.canaries.size(), 1U);
  EXPECT_TRUE(verdict.proved.canaries[0].proves());
  EXPECT_EQ(verdict.proved.canaries[0].inside.os_errno, EACCES);
}

struct FaultRow {
  const char* why;
  std::int64_t control;
  std::int64_t inside;
  const char* detail;
};

class FaultyCanaryTest : public JudgeTest, public ::testing::WithParamInterface<FaultRow> {};

TEST_P(FaultyCanaryTest, RefusesTheLaunchNamingTheStep) {
  add("filesystem_read.open", "landlock", MissingControl::kFails);
  results_[0] = {GetParam().control, GetParam().inside};
  const CanaryVerdict verdict = judge();
  ASSERT_TRUE(verdict.failure) << GetParam().why;
  EXPECT_EQ(verdict.failure->ending, RunEnding::kCanaryFailed);
  EXPECT_EQ(verdict.failure->step, "landlock");
  EXPECT_THAT(verdict.failure->detail, HasSubstr(GetParam().detail)) << GetParam().why;
}

INSTANTIATE_TEST_SUITE_P(
    Rows, FaultyCanaryTest,
    ::testing::Values(FaultRow{"it went through", 0, 3, "succeeded inside the boundary"},
                      FaultRow{"the control failed", -ENOENT, -EACCES,
                               "did not succeed without the boundary either: error (errno 2)"},
                      FaultRow{"another errno than the boundary's", 0, -ENOENT, "was not refused"},
                      FaultRow{"the inside half never ran", 0, wire::kNotAttempted,
                               "was not refused but not_attempted"},
                      FaultRow{"the control never ran", wire::kNotAttempted, -EACCES,
                               "not_attempted"}));

TEST_F(JudgeTest, ARefusalThatTheChannelMissedIsAFailure) {
  add("syscall.unshare", "seccomp", MissingControl::kFails).must_be_reported = true;
  const CanaryVerdict silent = judge();
  ASSERT_TRUE(silent.failure);
  EXPECT_EQ(silent.failure->step, "seccomp");
  EXPECT_EQ(silent.proved.canaries[0].channel, ChannelReport::kNotReported);
  const CanaryVerdict reported = judge({0});
  EXPECT_FALSE(reported.failure);
  EXPECT_EQ(reported.proved.canaries[0].channel, ChannelReport::kReported);
}

TEST_F(JudgeTest, AnActionThisHostNeverAllowsBecomesNoCanaryWithTheErrno) {
  add("credential.environ", "landlock", MissingControl::kNoCanary);
  results_[0] = {-EACCES, -EACCES};
  const CanaryVerdict verdict = judge();
  EXPECT_FALSE(verdict.failure);
  EXPECT_TRUE(verdict.proved.canaries.empty());
  ASSERT_EQ(verdict.proved.no_canary.size(), 1U);
  EXPECT_THAT(verdict.proved.no_canary[0].reason, HasSubstr("errno 13"));
}

TEST_F(JudgeTest, AnActionThatOnlyTheInsideAllowsIsAFailure) {
  add("credential.environ", "landlock", MissingControl::kNoCanary);
  results_[0] = {-EACCES, 0};
  ASSERT_TRUE(judge().failure);
}

TEST_F(JudgeTest, AReachedThingOfOursFailsSelfProtectionNamingIt) {
  add("self_protection.read", "landlock", MissingControl::kIgnored);
  results_[0] = {3, 3};
  const CanaryVerdict verdict = judge();
  ASSERT_TRUE(verdict.failure);
  EXPECT_EQ(verdict.failure->ending, RunEnding::kSelfProtectionFailed);
  EXPECT_EQ(verdict.failure->step, "self_protection.read");
}

TEST_F(JudgeTest, AnUnreachableThingOfOursNeedsNoControl) {
  add("self_protection.read", "landlock", MissingControl::kIgnored);
  results_[0] = {-ENOENT, -ENOENT};
  EXPECT_FALSE(judge().failure);
}

TEST_F(JudgeTest, ABrokenCanaryIsReportedBeforeTheThingOfOursItLetThrough) {
  add("self_protection.read", "landlock", MissingControl::kIgnored);
  add("descriptors.closed", "descriptors", MissingControl::kFails);
  results_ = {{3, 3}, {1, 1}};
  const CanaryVerdict verdict = judge();
  ASSERT_TRUE(verdict.failure);
  EXPECT_EQ(verdict.failure->ending, RunEnding::kCanaryFailed);
  EXPECT_EQ(verdict.failure->step, "descriptors");
}

TEST_F(JudgeTest, MissingResultsAreNotSuccesses) {
  add("filesystem_read.open", "landlock", MissingControl::kFails);
  results_.clear();
  ASSERT_TRUE(judge().failure);
}

TEST(ReadAttemptTest, TellsAddressesFromErrors) {
  EXPECT_EQ(read_attempt(-4096, {EACCES}).outcome, AttemptOutcome::kSucceeded);
  EXPECT_EQ(read_attempt(-4095, {EACCES}).outcome, AttemptOutcome::kError);
  EXPECT_EQ(read_attempt(0, {EACCES}).outcome, AttemptOutcome::kSucceeded);
}

class PlanCanariesTest : public ::testing::Test {
 protected:
  CanaryPlan plan() {
    const schema::Requirement* syscalls = nullptr;
    for (const schema::Requirement& requirement : requirements_) {
      if (requirement.domain == Domain::kSyscall) {
        syscalls = &requirement;
      }
    }
    auto filter = make_filter_spec(syscalls, "errno");
    EXPECT_TRUE(filter) << filter.error().message();
    filter_ = *filter;
    return plan_canaries({requirements_,
                          protect_,
                          filter_,
                          capabilities_,
                          capability_cut(capabilities_).has_value(),
                          outer_filter_,
                          ::getpid(),
                          9,
                          {},
                          {}});
  }
  static const ScriptedCanary* find(const CanaryPlan& plan, const std::string& id) {
    for (const ScriptedCanary& scripted : plan.canaries) {
      if (scripted.canary.id == id) {
        return &scripted;
      }
    }
    return nullptr;
  }

  std::vector<schema::Requirement> requirements_ = {testing::read_requirement({}),
                                                    testing::write_requirement({})};
  planner::ProtectedPaths protect_{"/h", "/h/canary", {}, {}, {}};
  FilterSpec filter_;
  CapabilitySets capabilities_;
  bool outer_filter_ = false;
};

TEST_F(PlanCanariesTest, EachStepOfTheHelperHasACanary) {
  capabilities_.permitted = kSysAdmin;
  const CanaryPlan made = plan();
  for (const char* step : {"landlock", "seccomp", "descriptors", "capabilities"}) {
    EXPECT_TRUE(std::any_of(made.canaries.begin(), made.canaries.end(),
                            [step](const ScriptedCanary& scripted) {
                              return scripted.canary.step == step &&
                                     scripted.missing_control == MissingControl::kFails;
                            }))
        << step;
  }
}

TEST_F(PlanCanariesTest, OnlyTheFiltersCanaryConcernsTheChannel) {
  for (const ScriptedCanary& scripted : plan().canaries) {
    EXPECT_EQ(scripted.canary.channel, ChannelReport::kNotApplicable) << scripted.canary.id;
    EXPECT_EQ(scripted.canary.inside.outcome, AttemptOutcome::kNotAttempted);
    EXPECT_EQ(scripted.must_be_reported, scripted.canary.step == "seccomp") << scripted.canary.id;
  }
}

TEST_F(PlanCanariesTest, AnUnstatedDomainIsCheckedForSelfProtectionOnly) {
  const CanaryPlan made = plan();
  ASSERT_NE(find(made, "syscall.unshare"), nullptr);
  EXPECT_EQ(find(made, "syscall.unshare")->canary.purpose, Purpose::kSelfProtection);
  EXPECT_EQ(find(made, "descriptors.closed")->canary.purpose, Purpose::kSelfProtection);
  EXPECT_EQ(find(made, "filesystem_read.open")->canary.purpose, Purpose::kPolicy);
}

TEST_F(PlanCanariesTest, AStatedListMakesTheForbiddenCallItsCanary) {
  requirements_.push_back(
      testing::requirement(Domain::kSyscall, "syscalls.allow",
                           {testing::rule("a0", schema::RuleEffect::kAllow, "call",
                                          schema::SelectorType::kSyscall, "@default")}));
  const CanaryPlan made = plan();
  ASSERT_NE(find(made, "syscall.unshare"), nullptr);
  EXPECT_EQ(find(made, "syscall.unshare")->canary.purpose, Purpose::kPolicy);
  EXPECT_THAT(made.forbidden_entries, ElementsAre(find(made, "syscall.unshare")->entry));
}

TEST_F(PlanCanariesTest, UnderSomebodyElsesFilterEachHarmlessCallIsTried) {
  outer_filter_ = true;
  const CanaryPlan made = plan();
  // Not seccomp: where policy states no list, it is judged by its arguments and not always refused.
  ASSERT_EQ(made.forbidden_entries.size(), 3U);
  for (const char* id : {"syscall.unshare", "syscall.kcmp", "syscall.process_vm_readv"}) {
    ASSERT_NE(find(made, id), nullptr) << id;
    EXPECT_EQ(find(made, id)->missing_control, MissingControl::kNoCanary) << id;
    EXPECT_TRUE(find(made, id)->must_be_reported) << id;
  }
}

TEST_F(PlanCanariesTest, WithoutCapabilitiesThereIsNoCutToWatch) {
  const CanaryPlan made = plan();
  EXPECT_EQ(find(made, "capabilities.raise"), nullptr);
  ASSERT_EQ(made.none.size(), 1U);
  EXPECT_EQ(made.none[0].domain, Domain::kCredential);
}

TEST_F(PlanCanariesTest, ProtectedPathsThatDoNotExistAreLeftOut) {
  const CanaryPlan before = plan();
  protect_.unreadable = {"/nonexistent/ledger.db"};
  EXPECT_EQ(plan().canaries.size(), before.canaries.size());
}

TEST_F(PlanCanariesTest, AProtectedFileIsTriedForReadingAndWriting) {
  protect_.unreadable = {"/etc/passwd"};
  const CanaryPlan made = plan();
  ASSERT_NE(find(made, "self_protection.read.1"), nullptr);
  ASSERT_NE(find(made, "self_protection.write.2"), nullptr);
  EXPECT_EQ(find(made, "self_protection.write.2")->missing_control, MissingControl::kIgnored);
}

TEST_F(PlanCanariesTest, ManyProtectedPathsStayWithinTheScript) {
  protect_.unreadable = {"/usr/bin"};
  const CanaryPlan made = plan();
  EXPECT_LE(made.script.entries().size(), wire::kMaxScriptEntries);
  EXPECT_NE(find(made, "self_protection.signal_warden"), nullptr);
}

TEST(CanaryObjectsTest, AreMadeOnceAndKept) {
  std::string pattern = ::testing::TempDir() + "canaryXXXXXX";
  ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
  const std::string directory = pattern + "/canary";
  ASSERT_TRUE(ensure_canary_objects(directory));
  ASSERT_TRUE(ensure_canary_objects(directory));
  for (const std::string& path :
       {canary_read_path(directory), canary_write_path(directory), canary_exec_path(directory)}) {
    EXPECT_EQ(::unlink(path.c_str()), 0) << path;
  }
  ASSERT_EQ(::symlink("/etc/passwd", canary_read_path(directory).c_str()), 0);
  EXPECT_FALSE(ensure_canary_objects(directory));
  EXPECT_EQ(::unlink(canary_read_path(directory).c_str()), 0);
  EXPECT_EQ(::rmdir(directory.c_str()), 0);
  EXPECT_EQ(::rmdir(pattern.c_str()), 0);
}

}  // namespace
}  // namespace aasm::backend_native
