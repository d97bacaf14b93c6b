#include "aasm/planner/explain.h"

#include <cerrno>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "planner_support.h"

namespace aasm::planner {
namespace {

using testing::FakeBackend;
using testing::lowered;

class Calls final : public SyscallVocabulary {
 public:
  bool known_name(std::string_view name) const override {
    return name == "read" || name == "ptrace";
  }
  bool known_group(std::string_view group) const override { return group == "@small"; }
  std::vector<std::string> members(std::string_view group) const override {
    return group == "@small" ? std::vector<std::string>{"read"} : std::vector<std::string>();
  }
};

ActionView answered(ActionAnswer answer) {
  ActionView view;
  view.answer = answer;
  view.mechanism = "fake";
  return view;
}

class ExplainTest : public ::testing::Test {
 protected:
  ExplainTest() {
    host_.resolve = testing::FakeHost().resolver();
    host_.look = [](const std::string&) { return ENOENT; };
    host_.permits = [](const std::string&, int) { return 0; };
  }

  void load(const std::string& text) { policy_ = lowered(text); }

  ExplainedObject explained(const std::string& what, const std::string& operation = "") {
    const auto object = explain(
        {policy_.requirements, policy_.places, spec_, &backend_, calls_, host_, "/work/dir"}, what,
        operation);
    EXPECT_TRUE(object) << object.error().message();
    return object ? *object : ExplainedObject();
  }

  // "operation verdict rule" of each answer, one a line.
  std::string said(const std::string& what, const std::string& operation = "") {
    std::string text;
    for (const Explanation& one : explained(what, operation).answers) {
      text += (text.empty() ? "" : "\n") + one.action.operation + " " + verdict_token(one.verdict) +
              " " + one.rule;
    }
    return text;
  }

  Calls calls_;
  HostView host_;
  ExecutionSpec spec_;
  FakeBackend backend_{"fake", schema::IsolationClass::kProcess, testing::capabilities({})};
  LoweredPolicy policy_;
};

TEST_F(ExplainTest, TheNarrowestGrantIsNamed) {
  load("filesystem: {read: {allow: [/, /usr, /usr/lib]}, write: {allow: [/tmp]}}\n");
  // The planner drops what another grant covers.
  EXPECT_EQ(said("/usr/lib/x", "read"), "read allowed filesystem.read.allow[0]");
  load("filesystem: {read: {allow: [/usr, /etc]}, write: {allow: [/tmp]}}\n");
  EXPECT_EQ(said("/etc/passwd", "read"), "read allowed filesystem.read.allow[1]");
}

TEST_F(ExplainTest, WhatPolicyDeniesAndNothingCarriesOutIsNotEnforced) {
  load("filesystem: {read: {allow: [/usr]}, write: {allow: []}, deny: [/usr/local]}\n");
  EXPECT_EQ(said("/usr/local/x", "read"), "read not_enforced filesystem.deny[0]");
  backend_.answers("read /usr/local/x", answered(ActionAnswer::kDenied));
  EXPECT_EQ(said("/usr/local/x", "read"), "read denied filesystem.deny[0]");
  backend_.answers("read /opt", answered(ActionAnswer::kDenied));
  EXPECT_EQ(said("/opt", "read"), "read denied filesystem.read.allow");
  EXPECT_EQ(explained("/opt", "read").answers[0].line, 1);
}

TEST_F(ExplainTest, ExecutionFollowsReadingUntilItIsStated) {
  load("filesystem: {read: {allow: [/usr]}}\n");
  EXPECT_EQ(said("/usr/x", "execute"), "execute allowed filesystem.read.allow[0]");
  load("filesystem:\n  read: {allow: [/usr]}\n  execute: {allow: [/usr/bin]}\n");
  EXPECT_EQ(said("/usr/bin/x", "execute"), "execute allowed filesystem.execute.allow[0]");
  EXPECT_EQ(said("/usr/x", "execute"), "execute not_enforced filesystem.execute.allow");
  EXPECT_EQ(explained("/usr/x", "execute").answers[0].line, 3);
  load("filesystem:\n  read: {allow: [/usr]}\n  execute: {allow: []}\n");
  EXPECT_EQ(said("/usr/bin/x", "execute"), "execute not_enforced filesystem.execute.allow");
}

TEST_F(ExplainTest, ANameIsMadeAndRemovedByARightOnItsFolder) {
  load("filesystem: {read: {allow: [/a]}, write: {allow: [/a/file, /b]}}\n");
  EXPECT_EQ(said("/a/file", "write"), "write allowed filesystem.write.allow[0]");
  EXPECT_EQ(said("/a/file", "remove"), "remove not_enforced filesystem.write.allow");
  EXPECT_EQ(said("/b/file", "remove"), "remove allowed filesystem.write.allow[1]");
  EXPECT_EQ(said("/b", "create"), "create not_enforced filesystem.write.allow");
}

TEST_F(ExplainTest, ALinkAtTheEndIsFollowedToReadAndNotToRemove) {
  load("filesystem: {read: {allow: [/real]}, write: {allow: [/links]}}\n");
  testing::FakeHost host;
  host.links["/links/way"] = "/real/file";
  host_.resolve = host.resolver();
  EXPECT_EQ(said("/links/way", "read"), "read allowed filesystem.read.allow[0]");
  EXPECT_EQ(said("/links/way", "remove"), "remove allowed filesystem.write.allow[0]");
  EXPECT_EQ(explained("/links/way", "read").resolved, "/real/file");
}

TEST_F(ExplainTest, WhatTheHostSaysStandsBeside) {
  load("filesystem: {read: {allow: [/a]}, write: {allow: [/a]}}\n");
  testing::FakeHost host;
  host.missing = {"/a/none"};
  host_.resolve = host.resolver();
  EXPECT_EQ(explained("/a/none", "read").answers[0].host_errno, ENOENT);
  EXPECT_EQ(explained("/a/file", "read").answers[0].host_errno, 0);
  host_.permits = [](const std::string&, int) { return EROFS; };
  EXPECT_EQ(explained("/a/file", "write").answers[0].host_errno, EROFS);
  EXPECT_EQ(said("/a/file", "write"), "write allowed filesystem.write.allow[0]");
}

TEST_F(ExplainTest, HostsHaveAConnectionAndALookUp) {
  load("network: {allowlist: ['*.example.org', 'api.example.com:8443']}\n");
  EXPECT_EQ(said("www.Example.org"),
            "connect allowed network.allowlist[0]\nresolve allowed network.allowlist[0]");
  EXPECT_EQ(said("api.example.com:8443", "connect"), "connect allowed network.allowlist[1]");
  EXPECT_EQ(said("api.example.com", "connect"), "connect not_enforced network.allowlist");
  EXPECT_EQ(said("10.0.0.1:80"), "connect not_enforced network.allowlist");
  load("filesystem: {read: {allow: []}}\n");
  EXPECT_EQ(said("a.b", "connect"), "connect not_stated ");
}

TEST_F(ExplainTest, ARangeCoversItsAddresses) {
  load("network: {egress: [{host: 10.0.0.0/8, ports: [5432]}]}\n");
  EXPECT_EQ(said("10.1.2.3:5432", "connect"), "connect allowed network.egress[0].ports[0]");
  EXPECT_EQ(said("11.1.2.3:5432", "connect"), "connect not_enforced network.egress");
}

TEST_F(ExplainTest, TheUnspecifiedAddressIsWhereItLeads) {
  load("network: {egress: [{host: 127.0.0.1, ports: [80]}, {host: '[::1]', ports: [80]}]}\n");
  EXPECT_EQ(said("0.0.0.0:80", "connect"), "connect allowed network.egress[0].ports[0]");
  EXPECT_EQ(explained("0.0.0.0:80", "connect").resolved, "127.0.0.1:80");
  EXPECT_EQ(explained("0.0.0.0:80", "connect").notes.size(), 1U);
  EXPECT_EQ(said("[::]:80", "connect"), "connect allowed network.egress[1].ports[0]");
  EXPECT_EQ(explained("10.0.0.0:80", "connect").resolved, "10.0.0.0:80");
}

TEST_F(ExplainTest, CallsAreFoundInGroups) {
  load("syscalls: {allow: ['@small'], deny: [ptrace]}\n");
  EXPECT_EQ(said("read"), "call allowed syscalls.allow[0]");
  EXPECT_EQ(said("ptrace"), "call not_enforced syscalls.deny[0]");
  backend_.answers("call read", answered(ActionAnswer::kByArguments));
  EXPECT_EQ(said("read"), "call by_arguments syscalls.allow[0]");
  load("filesystem: {read: {allow: []}}\n");
  backend_.answers("call ptrace", answered(ActionAnswer::kDenied));
  EXPECT_EQ(said("ptrace"), "call denied ");
}

TEST_F(ExplainTest, OnlyWhatIsReportedHasARecord) {
  load("syscalls: {allow: []}\n");
  ActionView view = answered(ActionAnswer::kDenied);
  backend_.answers("call read", view);
  EXPECT_NE(explained("read").answers[0].record.find("none"), std::string::npos);
  view.recorded = true;
  backend_.answers("call read", view);
  EXPECT_EQ(explained("read").answers[0].record.find("one event"), 0U);
  load("syscalls: {allow: [read]}\n");
  view.answer = ActionAnswer::kAllowed;
  backend_.answers("call read", view);
  EXPECT_EQ(explained("read").answers[0].record.find("one event"), 0U) << "an allowed connection";
  view.recorded = false;
  backend_.answers("call read", view);
  EXPECT_EQ(explained("read").answers[0].record, "none");
}

TEST_F(ExplainTest, WhatCannotBeAskedIsSaid) {
  load("syscalls: {allow: []}\n");
  const ExplainInput input{policy_.requirements, policy_.places, spec_, &backend_, calls_, host_,
                           "/work/dir"};
  for (const auto& [what, operation] :
       std::vector<std::pair<std::string, std::string>>{{"*.example.org", ""},
                                                        {"10.0.0.0.0", ""},
                                                        {"a b", ""},
                                                        {"read", "write"},
                                                        {"/etc", "connect"},
                                                        {"a.b", "read"},
                                                        {"", ""}}) {
    const auto object = explain(input, what, operation);
    ASSERT_FALSE(object) << what;
    EXPECT_EQ(object.error().code(), schema::ErrorCode::kInvalidArgument) << what;
  }
}

TEST_F(ExplainTest, AFileOfTheNameOfAHostIsMentioned) {
  load("syscalls: {allow: []}\n");
  host_.look = [](const std::string& path) { return path == "/work/dir/notes.txt" ? 0 : ENOENT; };
  EXPECT_EQ(explained("notes.txt").notes,
            (std::vector<std::string>{"taken for a host; for the file of this name write "
                                      "./notes.txt"}));
}

}  // namespace
}  // namespace aasm::planner
