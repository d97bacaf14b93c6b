#include "action_view.h"

#include <cerrno>
#include <string>

#include <gtest/gtest.h>

#include "policy_builder.h"

namespace aasm::backend_native {
namespace {

using planner::ActionAnswer;
using planner::ActionView;
using schema::Domain;
using testing::allow_path;
using testing::deny_path;
using testing::deny_whole;
using testing::read_requirement;
using testing::write_requirement;

ActionView view(const planner::ExecutionSpec& spec, const std::string& operation,
                const std::string& object) {
  const bool reads = operation == "read" || operation == "execute";
  const Domain domain = operation == "call" ? Domain::kSyscall
                        : reads             ? Domain::kFilesystemRead
                                            : Domain::kFilesystemWrite;
  return view_action(spec, {domain, operation, object});
}

planner::ExecutionSpec files() {
  planner::ExecutionSpec spec;
  spec.requirements = {
      read_requirement({allow_path("r0", "read", "/usr"), allow_path("r1", "read", "/opt"),
                        allow_path("x0", "execute", "/usr/bin"),
                        allow_path("x1", "execute", "/tools")}),
      write_requirement({allow_path("w0", "write", "/w"), allow_path("w1", "write", "/f/file")})};
  return spec;
}

TEST(ActionViewTest, AGrantCoversWhatLiesBelowIt) {
  EXPECT_EQ(view(files(), "read", "/usr/lib/x").answer, ActionAnswer::kAllowed);
  EXPECT_EQ(view(files(), "read", "/usr/lib/x").rule, "r0");
  EXPECT_EQ(view(files(), "read", "/usr2").answer, ActionAnswer::kDenied);
  EXPECT_EQ(view(files(), "read", "/usr2").os_errno, EACCES);
  EXPECT_EQ(view(files(), "read", "/usr2").mechanism, "landlock");
}

TEST(ActionViewTest, ExecutingTakesReadingToo) {
  EXPECT_EQ(view(files(), "execute", "/usr/bin/x").answer, ActionAnswer::kAllowed);
  EXPECT_EQ(view(files(), "execute", "/usr/bin/x").rule, "x0");
  EXPECT_EQ(view(files(), "execute", "/opt/x").answer, ActionAnswer::kDenied);
  EXPECT_EQ(view(files(), "execute", "/tools/x").answer, ActionAnswer::kDenied);
  EXPECT_NE(view(files(), "execute", "/tools/x").note.find("to read it"), std::string::npos);
}

TEST(ActionViewTest, ExecutionThatIsNotStatedFollowsReading) {
  planner::ExecutionSpec spec;
  spec.requirements = {read_requirement({allow_path("r0", "read", "/usr")})};
  EXPECT_EQ(view(spec, "execute", "/usr/x").answer, ActionAnswer::kAllowed);
  spec.requirements = {
      read_requirement({allow_path("r0", "read", "/usr"), deny_whole("none", "execute")})};
  EXPECT_EQ(view(spec, "execute", "/usr/x").answer, ActionAnswer::kDenied);
}

TEST(ActionViewTest, ADeniedPlaceIsDeniedByItsRuleWhereSingleCallsAreDecided) {
  planner::ExecutionSpec spec;
  spec.requirements = {
      read_requirement({allow_path("r0", "read", "/w"), deny_path("d0", "read", "/w/.git"),
                        deny_whole("none", "execute")}),
      testing::write_requirement(
          {allow_path("w0", "write", "/w"), deny_path("d0", "write", "/w/.git")})};
  EXPECT_EQ(view(spec, "read", "/w/.git/x").answer, ActionAnswer::kAllowed)
      << "nobody decides where only the set-up is asked for";
  for (schema::Requirement& requirement : spec.requirements) {
    requirement.evidence = schema::EvidenceWish::kDecisions;
  }
  for (const char* operation : {"read", "write", "create", "remove"}) {
    const planner::ActionView inside = view(spec, operation, "/w/.git/x");
    EXPECT_EQ(inside.answer, ActionAnswer::kDenied) << operation;
    EXPECT_EQ(inside.rule, "d0") << operation;
    EXPECT_EQ(inside.mechanism, "seccomp_user_notification") << operation;
    EXPECT_TRUE(inside.recorded) << operation;
    EXPECT_EQ(view(spec, operation, "/w/.gitx").answer, ActionAnswer::kAllowed) << operation;
    EXPECT_TRUE(view(spec, operation, "/etc/x").recorded) << operation;
  }
  EXPECT_TRUE(view(spec, "execute", "/w/x").recorded);
  spec.requirements[1].rules[1].selector.value = schema::PathBytes("/w/d/.git");
  EXPECT_EQ(view(spec, "remove", "/w/d").rule, "d0") << "it would go by another name";
  EXPECT_EQ(view(spec, "create", "/w/d").answer, ActionAnswer::kAllowed);
}

TEST(ActionViewTest, ANameIsJudgedByItsFolder) {
  EXPECT_EQ(view(files(), "create", "/w/new").answer, ActionAnswer::kAllowed);
  EXPECT_EQ(view(files(), "create", "/w").answer, ActionAnswer::kDenied);
  EXPECT_EQ(view(files(), "remove", "/f/file").answer, ActionAnswer::kDenied);
  EXPECT_EQ(view(files(), "write", "/f/file").answer, ActionAnswer::kAllowed);
}

TEST(ActionViewTest, CallsAreAnsweredAsTheFilterAnswersThem) {
  planner::ExecutionSpec spec;
  EXPECT_EQ(view(spec, "call", "syslog").answer, ActionAnswer::kAllowed);
  EXPECT_EQ(view(spec, "call", "ptrace").rule, "self_protection.ptrace");
  EXPECT_EQ(view(spec, "call", "ptrace").os_errno, EPERM);
  EXPECT_TRUE(view(spec, "call", "ptrace").recorded);
  EXPECT_EQ(view(spec, "call", "clone3").os_errno, ENOSYS);
  EXPECT_EQ(view(spec, "call", "ioctl").answer, ActionAnswer::kByArguments);
  EXPECT_FALSE(view(spec, "call", "ioctl").note.empty());
  spec.requirements = {
      testing::requirement(Domain::kSyscall, "syscalls.allow",
                           {testing::rule("a", schema::RuleEffect::kAllow, "call",
                                          schema::SelectorType::kSyscall, "@default")})};
  EXPECT_EQ(view(spec, "call", "read").rule, "a");
  EXPECT_EQ(view(spec, "call", "syslog").rule, "syscalls.allow");
  spec.on_denial = "kill";
  EXPECT_EQ(view(spec, "call", "syslog").os_errno, 0);
  EXPECT_EQ(view(spec, "call", "syslog").note, "the caller is killed");
}

TEST(ActionViewTest, OtherDomainsAreNotMediated) {
  EXPECT_EQ(view_action({}, {Domain::kNetworkEgress, "connect", "a.b:443"}).answer,
            ActionAnswer::kNotMediated);
  EXPECT_EQ(view({}, "call", "no_such_call").answer, ActionAnswer::kNotMediated);
}

}  // namespace
}  // namespace aasm::backend_native
