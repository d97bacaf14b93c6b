#include "aasm/planner/widening.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "planner_support.h"

namespace aasm::planner {
namespace {

using testing::lowered;

// "rule: reason" of each widening of `inner` over `outer`, one a line.
std::string widenings(const std::string& outer, const std::string& inner) {
  std::string text;
  for (const Widening& one : widening(lowered(outer).requirements, lowered(inner).requirements)) {
    text += (text.empty() ? "" : "\n") + one.rule + ": " + one.reason;
  }
  return text;
}

std::string paths(const std::string& read, const std::string& rest = "") {
  return "filesystem: {read: {allow: [" + read + "]}" + rest + "}\n";
}

TEST(WideningTest, ANarrowerGrantWidensNothing) {
  EXPECT_EQ(widenings(paths("/usr, /etc"), paths("/usr/lib")), "");
  EXPECT_EQ(widenings(paths("/usr"), paths("")), "");
  EXPECT_EQ(widenings(paths("/usr"), paths("/usr")), "");
}

TEST(WideningTest, AGrantThatNoneCoversIsNamed) {
  EXPECT_EQ(widenings(paths("/usr, /etc"), paths("/usr, /opt")),
            "filesystem.read.allow[1]: no grant of filesystem.read.allow covers it");
  EXPECT_EQ(widenings(paths("/usr/lib"), paths("/usr")),
            "filesystem.read.allow[0]: no grant of filesystem.read.allow covers it");
}

TEST(WideningTest, ExecutionFollowsReadingWhereItIsNotStated) {
  const std::string some = paths("/usr", ", execute: {allow: [/usr/bin]}");
  const std::string nothing = paths("/usr", ", execute: {allow: []}");
  EXPECT_EQ(widenings(some, paths("/usr")),
            "filesystem.read.allow[0]: no grant of filesystem.read.allow covers it");
  EXPECT_EQ(widenings(paths("/usr"), some), "");
  EXPECT_EQ(widenings(some, nothing), "");
  EXPECT_NE(widenings(nothing, some), "");
}

TEST(WideningTest, WhatIsDeniedOutsideIsNotGrantedInside) {
  const std::string outer = paths("/usr", ", deny: [/usr/local]");
  EXPECT_EQ(widenings(outer, paths("/usr")),
            "filesystem.read.allow[0]: the outer policy denies a part of it: filesystem.deny[0]");
  EXPECT_EQ(widenings(outer, paths("/usr/lib")), "");
  EXPECT_EQ(widenings(outer, outer), "");
  EXPECT_EQ(widenings(outer, paths("/usr", ", deny: [/usr/local, /usr/lib]")), "");
  EXPECT_NE(widenings(outer, paths("/usr", ", deny: [/usr/local/bin]")), "");
}

TEST(WideningTest, ADomainThatIsNoLongerStatedIsAWidening) {
  EXPECT_EQ(widenings(paths("/usr"), "syscalls: {allow: [read]}\n"),
            "filesystem.read.allow: it does not state the domain");
  EXPECT_EQ(widenings("syscalls: {allow: [read]}\n", paths("/usr") + "syscalls: {allow: []}\n"),
            "");
}

TEST(WideningTest, NetworkIsComparedByHostPortAndProtocol) {
  const std::string outer =
      "network: {allowlist: ['*.example.org', api.example.com], egress: [{host: 10.0.0.0/8, ports: "
      "[5432]}], bind: {allow: ['127.0.0.1:8080']}}\n";
  const auto inner = [](const std::string& hosts) {
    return "network: {allowlist: [" + hosts +
           "], bind: {allow: []}}\nname_resolution: {allow: []}\n";
  };
  EXPECT_EQ(widenings(outer, inner("a.example.org, '10.1.2.3:5432'")), "");
  EXPECT_EQ(widenings(outer, inner("example.org")),
            "network.allowlist[0]: no grant of network.allowlist covers it");
  EXPECT_NE(widenings(outer, inner("'a.example.org:80'")), "");
  EXPECT_NE(widenings(outer, inner("'11.1.2.3:5432'")), "");
  EXPECT_EQ(widenings(outer, "network: {allowlist: []}\n"),
            "network.bind: no grant of network.allowlist covers it");
}

TEST(WideningTest, ALimitMayOnlyFall) {
  EXPECT_EQ(
      widenings("resources: {open_files: 10}\n", "resources: {open_files: 9, cpu_seconds: 1}\n"),
      "");
  EXPECT_EQ(widenings("resources: {open_files: 10}\n", "resources: {open_files: 11}\n"),
            "resources.open_files: it goes beyond the outer limit");
  EXPECT_EQ(widenings("resources: {open_files: 10}\n", "resources: {cpu_seconds: 1}\n"),
            "resources.open_files: it does not state it");
  EXPECT_EQ(widenings("processes: {max: 4}\n", "processes: {max: 4}\n"), "");
  EXPECT_NE(widenings("processes: {max: 4}\n", "processes: {max: 5}\n"), "");
}

TEST(WideningTest, SocketsAndSettingsStay) {
  const std::string outer = "ipc: {unix_sockets: {allow: [/run/a]}, signals: inside}\n";
  EXPECT_EQ(widenings(outer, "ipc: {unix_sockets: {allow: []}, signals: inside}\n"), "");
  EXPECT_EQ(widenings(outer, "ipc: {unix_sockets: {allow: [/run/b]}}\n"),
            "ipc.unix_sockets.allow[0]: no grant of ipc.unix_sockets.allow covers it\n"
            "ipc.signals: it does not state it");
  EXPECT_EQ(widenings(outer, "ipc: {signals: inside}\n"),
            "ipc.unix_sockets: no grant of ipc.unix_sockets.allow covers it");
}

TEST(WideningTest, CredentialsAreComparedByNameAndNumber) {
  const std::string outer =
      "credentials: {environment: {allow: [PATH]}, descriptors: {allow: [0]}}\n";
  EXPECT_EQ(widenings(outer, outer), "");
  EXPECT_NE(widenings(outer, "credentials: {environment: {allow: [HOME]}}\n"), "");
  EXPECT_NE(widenings(outer, "credentials: {descriptors: {allow: [0]}}\n"), "");
  EXPECT_NE(
      widenings(outer, "credentials: {environment: {allow: []}, descriptors: {allow: [3]}}\n"), "");
}

TEST(WideningTest, CredentialGrantsSayWhatRulesDoNot) {
  const CredentialGrants nothing{{}, std::vector<int>()};
  const CredentialGrants unstated;
  const CredentialGrants some{std::vector<std::string>{"PATH"}, std::vector<int>{0, 1}};
  EXPECT_TRUE(widening(some, some).empty());
  EXPECT_EQ(widening(nothing, unstated).size(), 1U);
  EXPECT_EQ(widening(some, unstated).size(), 2U);
  EXPECT_TRUE(widening(unstated, some).empty());
  EXPECT_TRUE(widening(unstated, nothing).empty());
}

TEST(WideningTest, AWeakerPostureOrLessEvidenceIsAWidening) {
  EXPECT_EQ(
      widenings(paths("/usr"), paths("/usr") + "posture: {default: degrade_if_unavailable}\n"),
      "filesystem.read.allow: its posture is degrade_if_unavailable where the outer one is "
      "required");
  EXPECT_EQ(widenings(paths("/usr") + "posture: {default: optional}\n", paths("/usr")), "");
  EXPECT_EQ(widenings(paths("/usr") + "evidence: {filesystem: decisions}\n", paths("/usr")),
            "filesystem.read.allow: it asks for less evidence than the outer policy");
}

TEST(WideningTest, AnotherDomainIsNotComparable) {
  EXPECT_EQ(widening(testing::requirement(schema::Domain::kIpc),
                     testing::requirement(schema::Domain::kSyscall))
                .size(),
            1U);
}

}  // namespace
}  // namespace aasm::planner
