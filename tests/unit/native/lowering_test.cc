#include "lowering.h"

#include <cerrno>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "capabilities.h"
#include "policy_builder.h"

namespace aasm::backend_native {
namespace {

using schema::AttemptOutcome;
using schema::Domain;
using schema::DomainCapability;
using schema::Support;
using testing::allow_path;
using testing::deny_path;
using testing::deny_whole;
using ::testing::HasSubstr;
using testing::read_requirement;
using testing::rule;
using testing::write_requirement;

struct LowerRow {
  const char* why;
  schema::Requirement requirement;
  const char* obstacle;  // part of the reason; empty: can be lowered
};

class CannotLowerTest : public ::testing::TestWithParam<LowerRow> {};

TEST_P(CannotLowerTest, NamesTheObstacle) {
  const LowerRow& row = GetParam();
  const std::optional<std::string> obstacle = cannot_lower(row.requirement);
  if (row.obstacle[0] == '\0') {
    EXPECT_FALSE(obstacle) << row.why << ": " << obstacle.value_or("");
    return;
  }
  ASSERT_TRUE(obstacle) << row.why;
  EXPECT_THAT(*obstacle, HasSubstr(row.obstacle)) << row.why;
}

schema::Requirement observed(schema::Requirement requirement) {
  requirement.intent = schema::Intent::kObserve;
  return requirement;
}
schema::Requirement decided(schema::Requirement requirement) {
  requirement.evidence = schema::EvidenceWish::kDecisions;
  return requirement;
}
schema::Requirement syscalls(std::initializer_list<schema::PolicyRule> rules) {
  return testing::requirement(Domain::kSyscall, "syscalls.allow", rules);
}
schema::PolicyRule syscall_rule(schema::RuleEffect effect, std::string name) {
  return rule("s0", effect, "call", schema::SelectorType::kSyscall, std::move(name));
}

INSTANTIATE_TEST_SUITE_P(
    Rows, CannotLowerTest,
    ::testing::Values(
        LowerRow{"plain grants", read_requirement({allow_path("r0", "read", "/usr")}), ""},
        LowerRow{"an empty list", write_requirement({}), ""},
        LowerRow{"a deny beside the grants",
                 read_requirement({allow_path("r0", "read", "/usr"),
                                   deny_path("d0", "read", "/home/a")}),
                 ""},
        LowerRow{"a sibling with the same prefix of letters",
                 read_requirement({allow_path("r0", "read", "/home/a"),
                                   deny_path("d0", "read", "/home/ab")}),
                 ""},
        LowerRow{"a deny inside a grant where execution is not stated",
                 decided(read_requirement({allow_path("r0", "read", "/home"),
                                           deny_path("d0", "read", "/home/a")})),
                 "since filesystem.execute is not stated"},
        LowerRow{"a deny of executing inside a grant to execute",
                 decided(read_requirement({allow_path("r0", "read", "/home"),
                                           deny_path("d0", "read", "/home/a"),
                                           allow_path("x0", "execute", "/home"),
                                           deny_path("dx", "execute", "/home/a")})),
                 "rule dx denies a part of what x0 lets execute"},
        LowerRow{"a deny of reading inside a grant, nothing of it executed",
                 decided(read_requirement({allow_path("r0", "read", "/home"),
                                           deny_path("d0", "read", "/home/a"),
                                           allow_path("x0", "execute", "/usr")})),
                 ""},
        LowerRow{"a deny of reading, and no decisions",
                 read_requirement({allow_path("r0", "read", "/home"),
                                   deny_path("d0", "read", "/home/a"), deny_whole("x", "execute")}),
                 "takes evidence decisions"},
        LowerRow{"a deny of writing inside a grant",
                 decided(write_requirement({allow_path("w0", "write", "/w"),
                                            deny_path("d0", "write", "/w/a")})),
                 ""},
        LowerRow{
            "a deny of exactly the grant",
            write_requirement({allow_path("w0", "write", "/w"), deny_path("d0", "write", "/w")}),
            "takes evidence write-decisions"},
        LowerRow{
            "a deny above a grant",
            write_requirement({allow_path("w0", "write", "/w/x"), deny_path("d0", "write", "/w")}),
            "rule d0 denies"},
        LowerRow{"a deny of the whole",
                 write_requirement({allow_path("w0", "write", "/w"), deny_whole("d", "write")}),
                 ""},
        LowerRow{"a grant of the whole",
                 read_requirement({rule("r0", schema::RuleEffect::kAllow, "read",
                                        schema::SelectorType::kWhole, "")}),
                 "a grant of the whole"},
        LowerRow{"an operation of a later version",
                 read_requirement({allow_path("r0", "watch", "/usr")}), "operation watch"},
        LowerRow{"a selector that is no path",
                 read_requirement({rule("r0", schema::RuleEffect::kAllow, "read",
                                        schema::SelectorType::kHostPattern, "a.example")}),
                 "selector host_pattern"},
        LowerRow{"observation without prevention",
                 observed(read_requirement({allow_path("r0", "read", "/usr")})),
                 "does not observe"},
        LowerRow{"a known call", syscalls({syscall_rule(schema::RuleEffect::kDeny, "ptrace")}), ""},
        LowerRow{"a call nobody knows",
                 syscalls({syscall_rule(schema::RuleEffect::kDeny, "ptrase")}), "ptrase"},
        LowerRow{"a setting of a later version",
                 testing::requirement(Domain::kIpc, "ipc",
                                      {rule("ipc.pipes", schema::RuleEffect::kDeny, "pipes",
                                            schema::SelectorType::kLimit, "inside")}),
                 "operation pipes is not known"}));

TEST(NarrowTest, ReplacesOnlyTheDomainThatCannotBeLowered) {
  const schema::ProbeAttempt watched = {"an action",
                                        {AttemptOutcome::kSucceeded, 0},
                                        {AttemptOutcome::kRefused, EACCES},
                                        schema::ChannelReport::kReported};
  schema::CapabilityProbed measured;
  for (const auto& [domain, token] : schema::EnumNames<Domain>::kTokens) {
    schema::ProbeAttempt by_itself = watched;
    by_itself.channel = schema::ChannelReport::kNotApplicable;
    measured.domains.push_back(derive_capability(domain, {by_itself, watched}, watched));
  }
  planner::ExecutionSpec spec;
  spec.requirements = {
      read_requirement({allow_path("r0", "read", "/home"), deny_path("d0", "read", "/home/a")}),
      write_requirement({allow_path("w0", "write", "/w")})};
  const schema::CapabilityProbed narrowed = narrow_capabilities(spec, measured);
  for (const DomainCapability& capability : narrowed.domains) {
    EXPECT_EQ(capability.support == Support::kUnsupported,
              capability.domain == Domain::kFilesystemRead);
    EXPECT_GE(capability.prerequisites.size(), 2U) << "what was measured stays";
  }
}

TEST(NarrowTest, ADenyInsideAGrantTakesAChannel) {
  planner::ExecutionSpec spec;
  spec.requirements = {decided(
      write_requirement({allow_path("w0", "write", "/w"), deny_path("d0", "write", "/w/a")}))};
  schema::CapabilityProbed measured;
  measured.domains.resize(1);
  measured.domains[0].domain = Domain::kFilesystemWrite;
  measured.domains[0].support = Support::kPartial;
  measured.domains[0].channel.mechanism = "none";
  EXPECT_THAT(narrow_capabilities(spec, measured).domains[0].reason,
              HasSubstr("takes decisions on single calls"));
  measured.domains[0].channel.mechanism = "seccomp_user_notification";
  EXPECT_EQ(narrow_capabilities(spec, measured).domains[0].support, Support::kPartial);
}

TEST(InstallableTest, LeavesOutWhatCannotBeLoweredButKeepsWhatLandlockCanGrant) {
  planner::ExecutionSpec spec;
  spec.requirements = {
      read_requirement({allow_path("r0", "read", "/home"), deny_path("d0", "read", "/home/a")}),
      syscalls({syscall_rule(schema::RuleEffect::kAllow, "ptrase")}),
      testing::requirement(Domain::kIpc, "ipc", {allow_path("r0", "connect", "/run/x")})};
  const auto installable = installable_requirements(spec);
  ASSERT_EQ(installable.size(), 1U);
  EXPECT_EQ(installable[0].domain, Domain::kFilesystemRead);
}

TEST(InstallableTest, LeavesOutWhatIsOnlyToBeObserved) {
  planner::ExecutionSpec spec;
  spec.requirements = {observed(read_requirement({allow_path("r0", "read", "/usr")}))};
  EXPECT_TRUE(installable_requirements(spec).empty());
}

}  // namespace
}  // namespace aasm::backend_native
