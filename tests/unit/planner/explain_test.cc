#include "aasm/planner/explain.h"

#include <cerrno>
#include <map>
#include <memory>
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
        {policy_.requirements, policy_.places, spec_, &backend_, calls_, host_, "/work/dir", each_},
        what, operation);
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
  std::vector<DocumentStatements> each_;
};

TEST_F(ExplainTest, OfDocumentsThatDisagreeEachHasItsWord) {
  const auto statements = [](schema::PolicyScope scope, const char* file, const char* text) {
    const LoweredPolicy one = lowered(text);
    return DocumentStatements{scope, file, one.requirements, one.places};
  };
  each_ = {
      statements(schema::PolicyScope::kOrg, "/o.yaml", "filesystem: {read: {allow: [/usr]}}\n"),
      statements(schema::PolicyScope::kTeam, "/t.yaml", "processes: {max: 3}\n"),
      statements(schema::PolicyScope::kAgent, "/a.yaml",
                 "filesystem:\n  read: {allow: [/usr, /opt]}\n")};
  load("filesystem: {read: {allow: [/usr]}, write: {allow: []}}\n");
  const std::vector<DocumentSaying> said = explained("/opt/x", "read").answers[0].documents;
  ASSERT_EQ(said.size(), 2U) << "a document that does not state the domain has no word";
  EXPECT_EQ(said[0].word, PolicyWord::kDenied);
  EXPECT_EQ(said[0].rule, "org:filesystem.read.allow");
  EXPECT_EQ(said[0].line, 1);
  EXPECT_EQ(said[1].word, PolicyWord::kAllowed);
  EXPECT_EQ(said[1].source, "/a.yaml");
  EXPECT_EQ(said[1].rule, "agent:filesystem.read.allow[1]");
  EXPECT_EQ(said[1].line, 2);
  EXPECT_TRUE(explained("/usr/x", "read").answers[0].documents.empty());
  EXPECT_TRUE(explained("/etc/x", "read").answers[0].documents.empty()) << "no document allows it";
}

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

TEST_F(ExplainTest, OfARefusedLookupTheStatementOnNamesIsCited) {
  load("network: {allowlist: ['*:53', 'a.example:80']}\nname_resolution: {allow: [b.example]}\n");
  ActionView view = answered(ActionAnswer::kDenied);
  view.rule = "name_resolution.allow";
  for (const char* object : {"10.0.0.1:53", "a.example:80"}) {
    backend_.answers(std::string("connect ") + object, view);
    const Explanation one = explained(object, "connect").answers[0];
    EXPECT_EQ(one.rule, "name_resolution.allow") << object;
    EXPECT_EQ(one.policy, PolicyWord::kDenied) << object;
    EXPECT_EQ(one.line, 2) << object;
  }
  view.rule = "self_protection.something";
  backend_.answers("connect 10.0.0.1:53", view);
  EXPECT_EQ(said("10.0.0.1:53", "connect"), "connect denied network.allowlist[0]");
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
  const ExplainInput input{
      policy_.requirements, policy_.places, spec_, &backend_, calls_, host_, "/work/dir", {}};
  for (const auto& [what, operation] :
       std::vector<std::pair<std::string, std::string>>{{"*.example.org", ""},
                                                        {"10.0.0.0.0", ""},
                                                        {"a b", ""},
                                                        {"read", "write"},
                                                        {"/etc", "resolve"},
                                                        {"a.b", "read"},
                                                        {"", ""}}) {
    const auto object = explain(input, what, operation);
    ASSERT_FALSE(object) << what;
    EXPECT_EQ(object.error().code(), schema::ErrorCode::kInvalidArgument) << what;
  }
}

// A slip in the name of a call is not answered as if a host had been meant.
TEST_F(ExplainTest, ANameThatMayHaveBeenMeantForACallIsMentioned) {
  load("syscalls: {allow: []}\n");
  const std::vector<std::string> notes = explained("ptrcae").notes;
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes.front().find("no system call known here has this name"), std::string::npos);
  EXPECT_EQ(explained("localhost").notes, std::vector<std::string>{});
  EXPECT_EQ(explained("example.com").notes, std::vector<std::string>{});
}

TEST_F(ExplainTest, AFileOfTheNameOfAHostIsMentioned) {
  load("syscalls: {allow: []}\n");
  host_.look = [](const std::string& path) { return path == "/work/dir/notes.txt" ? 0 : ENOENT; };
  EXPECT_EQ(explained("notes.txt").notes,
            (std::vector<std::string>{"taken for a host; for the file of this name write "
                                      "./notes.txt"}));
}

class ExplainExecuteTest : public ExplainTest {
 protected:
  ExplainExecuteTest() {
    load("filesystem:\n  read: {allow: [/usr, /bin]}\n  write: {allow: []}\n");
    host_.resolve = [](const std::string& path) {
      WalkedPath walked;
      walked.resolved = path;
      walked.exists = path.find("absent") == std::string::npos;
      walked.os_errno = walked.exists ? 0 : ENOENT;
      return schema::Result<WalkedPath>(walked);
    };
    host_.needs = [this](const std::string& path) -> schema::Result<NeededFile> {
      if (path.find("closed") != std::string::npos) {
        return schema::Error(schema::ErrorCode::kPermissionDenied, "no");
      }
      const auto found = needs_.find(path);
      return found == needs_.end() ? NeededFile() : found->second;
    };
  }

  Explanation executed(const std::string& path) { return explained(path, "execute").answers.at(0); }
  std::string needs_of(const std::string& path) {
    std::string text;
    for (const Explanation& one : executed(path).needs) {
      text += one.needed_as + " " + one.action.object + " " + verdict_token(one.verdict) + ";";
    }
    return text;
  }

  // A backend that refuses to execute what is below /opt.
  class Refusing final : public Backend {
   public:
    schema::BackendIdentity identity() const override { return {}; }
    schema::IsolationClass isolation_class() const override {
      return schema::IsolationClass::kProcess;
    }
    bool experimental() const override { return false; }
    schema::Result<schema::CapabilityProbed> probe(const ProbeRequest&) override {
      return schema::CapabilityProbed();
    }
    schema::CapabilityProbed narrow(const ExecutionSpec&,
                                    schema::CapabilityProbed measured) const override {
      return measured;
    }
    std::vector<std::string> steps(const ExecutionSpec&) const override { return {}; }
    ActionView view(const ExecutionSpec&, const Action& action) const override {
      ActionView view = answered(action.object.starts_with("/opt") ? ActionAnswer::kDenied
                                                                   : ActionAnswer::kAllowed);
      view.os_errno = view.answer == ActionAnswer::kDenied ? EACCES : 0;
      return view;
    }
    schema::Result<std::unique_ptr<PreparedExecution>> prepare(const LaunchRequest&) override {
      return schema::Error(schema::ErrorCode::kUnsupported, "planning only");
    }
  };

  std::map<std::string, NeededFile> needs_;
};

constexpr NeededFile::Kind kInterpreter = NeededFile::Kind::kInterpreter;
constexpr NeededFile::Kind kLoader = NeededFile::Kind::kLoader;

TEST_F(ExplainExecuteTest, AScriptNeedsItsInterpretersAndTheirLoader) {
  needs_["/usr/script"] = {kInterpreter, "/usr/outer"};
  needs_["/usr/outer"] = {kInterpreter, "/bin/sh"};
  needs_["/bin/sh"] = {kLoader, "/usr/ld.so"};
  needs_["/usr/ld.so"] = {kLoader, "/usr/never"};
  EXPECT_EQ(
      needs_of("/usr/script"),
      "interpreter /usr/outer allowed;interpreter /bin/sh allowed;loader /usr/ld.so allowed;");
  EXPECT_EQ(executed("/usr/script").verdict, ActionVerdict::kAllowed);
}

TEST_F(ExplainExecuteTest, WhatIsDeniedOfOneIsDeniedOfTheProgram) {
  needs_["/usr/script"] = {kInterpreter, "/opt/tool"};
  const Refusing refusing;
  const auto object =
      explain({policy_.requirements, policy_.places, spec_, &refusing, calls_, host_, "/work", {}},
              "/usr/script", "execute");
  ASSERT_TRUE(object);
  const Explanation& answer = object->answers.at(0);
  EXPECT_EQ(answer.verdict, ActionVerdict::kDenied);
  EXPECT_EQ(answer.view.os_errno, EACCES);
  EXPECT_EQ(answer.view.note, "it needs the interpreter `/opt/tool`, which is denied");
  EXPECT_EQ(answer.policy, PolicyWord::kAllowed);  // of the script itself
  EXPECT_EQ(answer.needs.at(0).policy, PolicyWord::kDenied);
}

TEST_F(ExplainExecuteTest, WhatNobodyEnforcesIsSaidOfTheProgramToo) {
  needs_["/usr/script"] = {kInterpreter, "/opt/tool"};
  EXPECT_EQ(executed("/usr/script").verdict, ActionVerdict::kNotEnforced);
}

TEST_F(ExplainExecuteTest, TheHostsAnswerIsThatOfTheFirstFileThatIsMissing) {
  needs_["/usr/script"] = {kInterpreter, "/usr/absent"};
  EXPECT_EQ(executed("/usr/script").host_errno, ENOENT);
  needs_["/usr/bad"] = {NeededFile::Kind::kRefused, ""};
  EXPECT_EQ(executed("/usr/bad").host_errno, ENOEXEC);
  needs_["/usr/again"] = {kInterpreter, "/usr/again"};
  EXPECT_EQ(executed("/usr/again").host_errno, ELOOP);
  EXPECT_EQ(executed("/usr/again").needs.size(), 4U);
}

TEST_F(ExplainExecuteTest, ARelativeInterpreterStartsFromTheWorkingDirectory) {
  needs_["/usr/script"] = {kInterpreter, "tool"};
  EXPECT_EQ(executed("/usr/script").needs.at(0).action.object, "/work/dir/tool");
}

TEST_F(ExplainExecuteTest, WhatCannotBeReadIsSaid) {
  const ExplainedObject object = explained("/usr/closed", "execute");
  EXPECT_TRUE(object.answers.at(0).needs.empty());
  ASSERT_EQ(object.notes.size(), 1U);
  EXPECT_NE(object.notes.front().find("is not known"), std::string::npos);
}

TEST_F(ExplainExecuteTest, OtherOperationsNeedNothing) {
  needs_["/usr/script"] = {kInterpreter, "/opt/tool"};
  for (const Explanation& one : explained("/usr/script").answers) {
    EXPECT_EQ(one.needs.empty(), one.action.operation != "execute") << one.action.operation;
  }
}

}  // namespace
}  // namespace aasm::planner
