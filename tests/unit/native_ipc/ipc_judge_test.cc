#include "ipc_judge.h"

#include <cerrno>

#include <gtest/gtest.h>

#include "ipc_builder.h"

namespace aasm::backend_native {
namespace {

using testing::ipc_requirement;
using testing::ipc_spec;
using testing::open_sockets;
using testing::setting;
using testing::socket_rule;

FoundSocket found(std::string path, std::uint64_t inode = 1) {
  FoundSocket socket;
  socket.name.path = std::move(path);
  socket.name.device = 7;
  socket.name.inode = inode;
  return socket;
}

TEST(IpcSpecTest, WhatIsNotStatedStaysOpen) {
  const IpcSpec none = make_ipc_spec(nullptr).value();
  EXPECT_FALSE(none.brokers());
  const IpcSpec signals = ipc_spec({open_sockets(), setting("signals", "inside")});
  EXPECT_FALSE(signals.brokers()) << "registers are enough";
  EXPECT_EQ(signals.signals_rule, "ipc.signals");
  EXPECT_FALSE(signals.sockets_stated);
  EXPECT_TRUE(ipc_spec({open_sockets(), setting("abstract_sockets", "deny")}).judges_sockets());
  EXPECT_TRUE(ipc_spec({open_sockets(), setting("shared_memory", "inside")}).brokers());
  EXPECT_TRUE(ipc_spec({}).sockets_stated) << "an empty list permits none";
}

TEST(IpcSpecTest, WhatIsUnknownIsAnObstacle) {
  for (const schema::PolicyRule& rule :
       {setting("signals", "deny"), setting("abstract_sockets", "inside"),
        setting("pipes", "inside"),
        testing::rule("r", schema::RuleEffect::kDeny, "connect", schema::SelectorType::kSocketPath,
                      "/run/x"),
        testing::rule("r", schema::RuleEffect::kAllow, "connect", schema::SelectorType::kPort, "1"),
        testing::rule("r", schema::RuleEffect::kAllow, "signals", schema::SelectorType::kLimit,
                      "inside")}) {
    const schema::Requirement stated = ipc_requirement({rule});
    EXPECT_FALSE(make_ipc_spec(&stated)) << rule.operation << ' ' << rule.selector.value.bytes();
  }
}

TEST(JudgeSocketPathTest, APathOnTheListIsAllowedByItsRule) {
  const IpcSpec spec = ipc_spec({socket_rule("r0", "/run/a"), socket_rule("r1", "/run/b")});
  const NetworkVerdict verdict = judge_socket_path(spec, NetworkCall::kConnect, found("/run/b"));
  EXPECT_TRUE(verdict.perform);
  EXPECT_TRUE(verdict.recorded);
  EXPECT_EQ(verdict.event.rule, "r1");
  EXPECT_EQ(verdict.event.outcome, schema::DecisionOutcome::kAllowed);
  EXPECT_EQ(verdict.event.object.name, "/run/b");
}

TEST(JudgeSocketPathTest, AnotherNameOfASocketOnTheListIsTheSameSocket) {
  IpcSpec spec = ipc_spec({socket_rule("r0", "/var/run/a")});
  spec.sockets[0].resolved = "/run/a";
  spec.sockets[0].found = true;
  spec.sockets[0].device = 7;
  spec.sockets[0].inode = 9;
  for (const FoundSocket& one : {found("/run/a", 2), found("/elsewhere/link", 9)}) {
    const NetworkVerdict verdict = judge_socket_path(spec, NetworkCall::kSend, one);
    EXPECT_TRUE(verdict.perform) << one.name.path;
    EXPECT_EQ(verdict.event.object.name, "/var/run/a") << "as the rule has it";
  }
  EXPECT_FALSE(judge_socket_path(spec, NetworkCall::kSend, found("/elsewhere", 8)).perform);
}

TEST(JudgeSocketPathTest, WhatIsOnNoListIsRefusedWithItsPath) {
  for (const IpcSpec& spec : {ipc_spec({}), ipc_spec({socket_rule("r0", "/run/a")})}) {
    for (const NetworkCall call : {NetworkCall::kConnect, NetworkCall::kSend}) {
      const NetworkVerdict verdict = judge_socket_path(spec, call, found("/run/a/b"));
      EXPECT_FALSE(verdict.perform);
      EXPECT_EQ(verdict.event.os_errno, EACCES);
      EXPECT_EQ(verdict.event.rule, "ipc.unix_sockets.allow");
      EXPECT_EQ(verdict.event.cause, schema::DecisionCause::kPolicy);
      EXPECT_EQ(verdict.event.object.name, "/run/a/b");
      EXPECT_EQ(verdict.event.domain, schema::Domain::kIpc);
    }
  }
}

TEST(JudgeSocketPathTest, SocketsOfTheTreeAndOtherFilesAreNoMatterOfTheList) {
  FoundSocket own = found("/work/own");
  own.made_inside = true;
  FoundSocket file = found("/etc/passwd");
  file.is_socket = false;
  for (const FoundSocket& one : {own, file}) {
    const NetworkVerdict verdict = judge_socket_path(ipc_spec({}), NetworkCall::kConnect, one);
    EXPECT_TRUE(verdict.perform);
    EXPECT_FALSE(verdict.recorded);
  }
  EXPECT_TRUE(judge_socket_path(ipc_spec({}), NetworkCall::kBind, found("/work/new")).perform);
  const IpcSpec open = ipc_spec({open_sockets(), setting("abstract_sockets", "deny")});
  EXPECT_TRUE(judge_socket_path(open, NetworkCall::kConnect, found("/run/a")).perform);
}

TEST(RefusalTest, BytesThatAreNoTextAreEscaped) {
  const IpcSpec spec = ipc_spec({open_sockets(), setting("abstract_sockets", "deny")});
  EXPECT_EQ(abstract_refused(spec, std::string("a\0\xff", 3)).object.name.find('\0'),
            std::string::npos);
  EXPECT_EQ(abstract_refused(spec, "x").mechanism, "landlock_scope");
  EXPECT_EQ(refuse_unresolved(ipc_spec({}), "/p/\xff").event.object.name.find('\xff'),
            std::string::npos);
}

}  // namespace
}  // namespace aasm::backend_native
