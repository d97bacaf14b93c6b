#include "aasm/planner/lower.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "planner_support.h"

namespace aasm::planner {
namespace {

using schema::Domain;
using schema::PolicyState;
using testing::FakeHost;
using testing::lowered;

const schema::Requirement& requirement_of(const LoweredPolicy& policy, Domain domain) {
  for (const schema::Requirement& one : policy.requirements) {
    if (one.domain == domain) {
      return one;
    }
  }
  static const schema::Requirement kNone;
  ADD_FAILURE() << "no requirement on " << schema::token(domain);
  return kNone;
}

bool states(const LoweredPolicy& policy, Domain domain) {
  return std::any_of(policy.requirements.begin(), policy.requirements.end(),
                     [&](const auto& one) { return one.domain == domain; });
}

// "id effect operation value", one line a rule.
std::string rules_of(const LoweredPolicy& policy, Domain domain) {
  std::string text;
  for (const schema::PolicyRule& rule : requirement_of(policy, domain).rules) {
    text += (text.empty() ? "" : "\n") + rule.id + " " + std::string(schema::token(rule.effect)) +
            " " + rule.operation + " " + std::string(schema::token(rule.selector.type)) + " " +
            rule.selector.value.bytes();
  }
  return text;
}

std::string gaps_of(const LoweredPolicy& policy) {
  std::string text;
  for (const schema::PolicyGap& gap : policy.gaps) {
    text += gap.node + ": " + gap.reason + "\n";
  }
  return text;
}

bool has_gap(const LoweredPolicy& policy, const std::string& start) {
  return ("\n" + gaps_of(policy)).find("\n" + start) != std::string::npos;
}

TEST(LowerTest, EachEntryBecomesARuleThatNamesItsPlace) {
  const LoweredPolicy policy = lowered(
      "filesystem:\n"
      "  read: {allow: [/usr, '${WORKDIR}']}\n"
      "  write: {allow: [/dev/null]}\n"
      "syscalls: {allow: ['@default', openat], deny: [ptrace], on_denial: kill}\n"
      "credentials: {environment: {allow: [PATH]}, descriptors: {allow: [0, 5]}}\n");
  EXPECT_EQ(policy.state, PolicyState::kEnforced);
  EXPECT_EQ(rules_of(policy, Domain::kFilesystemRead),
            "filesystem.read.allow[0] allow read path_prefix /usr\n"
            "filesystem.read.allow[1] allow read path_prefix /work/dir");
  EXPECT_EQ(rules_of(policy, Domain::kFilesystemWrite),
            "filesystem.write.allow[0] allow write path_prefix /dev/null");
  EXPECT_EQ(rules_of(policy, Domain::kSyscall),
            "syscalls.allow[0] allow call syscall @default\n"
            "syscalls.allow[1] allow call syscall openat\n"
            "syscalls.deny[0] deny call syscall ptrace");
  EXPECT_EQ(rules_of(policy, Domain::kCredential),
            "credentials.environment.allow[0] allow inherit environment_name PATH\n"
            "credentials.descriptors.allow[0] allow inherit descriptor 0\n"
            "credentials.descriptors.allow[1] allow inherit descriptor 5");
  EXPECT_EQ(policy.on_denial, "kill");
  EXPECT_EQ(requirement_of(policy, Domain::kFilesystemRead).rules[1].line, 2);
  EXPECT_EQ(requirement_of(policy, Domain::kFilesystemRead).default_rule, "filesystem.read.allow");
  EXPECT_EQ(requirement_of(policy, Domain::kFilesystemWrite).default_rule,
            "filesystem.write.allow");
  EXPECT_EQ(requirement_of(policy, Domain::kSyscall).default_rule, "syscalls.allow");
  EXPECT_EQ(requirement_of(policy, Domain::kCredential).default_rule,
            "credentials.environment.allow");
  EXPECT_EQ(policy.credentials.environment, std::vector<std::string>{"PATH"});
  EXPECT_EQ(policy.credentials.descriptors, (std::vector<int>{0, 5}));
}

TEST(LowerTest, AnEmptyListIsARequirementWithoutRulesAndAnAbsentOneIsNone) {
  const LoweredPolicy policy = lowered("filesystem: {read: {allow: []}}\nsyscalls: {allow: []}\n");
  EXPECT_EQ(policy.state, PolicyState::kEnforced);
  EXPECT_TRUE(requirement_of(policy, Domain::kFilesystemRead).rules.empty());
  EXPECT_TRUE(requirement_of(policy, Domain::kSyscall).rules.empty());
  EXPECT_FALSE(states(policy, Domain::kFilesystemWrite));
  EXPECT_TRUE(has_gap(policy, "filesystem.write: not stated"));
  EXPECT_FALSE(has_gap(policy, "filesystem.read: not stated"));
}

TEST(LowerTest, StatedExecutionHasRulesOfItsOwnAndAbsentExecutionIsAGap) {
  const LoweredPolicy follows = lowered("filesystem: {read: {allow: [/usr]}}\n");
  EXPECT_TRUE(has_gap(follows, "filesystem.execute: not stated: execution follows"));
  const LoweredPolicy stated =
      lowered("filesystem: {read: {allow: [/usr]}, execute: {allow: [/usr/bin]}}\n");
  EXPECT_EQ(rules_of(stated, Domain::kFilesystemRead),
            "filesystem.read.allow[0] allow read path_prefix /usr\n"
            "filesystem.execute.allow[0] allow execute path_prefix /usr/bin");
  EXPECT_FALSE(has_gap(stated, "filesystem.execute"));
}

TEST(LowerTest, EmptyExecutionDeniesTheWholeOfItRatherThanReadAsAbsent) {
  EXPECT_EQ(rules_of(lowered("filesystem: {read: {allow: [/usr]}, execute: {allow: []}}\n"),
                     Domain::kFilesystemRead),
            "filesystem.read.allow[0] allow read path_prefix /usr\n"
            "filesystem.execute.allow deny execute whole ");
  // The same when a deny leaves nothing of the list.
  EXPECT_EQ(rules_of(lowered("filesystem: {read: {allow: [/usr]}, execute: {allow: [/opt/x]}, "
                             "deny: [/opt]}\n"),
                     Domain::kFilesystemRead),
            "filesystem.read.allow[0] allow read path_prefix /usr\n"
            "filesystem.execute.allow deny execute whole ");
}

TEST(LowerTest, LinksAreResolvedAndWhatAnotherGrantCoversIsDropped) {
  FakeHost host;
  host.links = {{"/bin", "/usr/bin"}, {"/data", "/srv/data"}};
  const LoweredPolicy policy =
      lowered("filesystem: {read: {allow: [/bin, /usr, /data, /usr/lib, /usr]}}\n", host);
  EXPECT_EQ(rules_of(policy, Domain::kFilesystemRead),
            "filesystem.read.allow[1] allow read path_prefix /usr\n"
            "filesystem.read.allow[2] allow read path_prefix /srv/data");
}

TEST(LowerTest, OfTwoNamesForOneDirectoryTheFirstStays) {
  FakeHost host;
  host.links = {{"/a", "/real"}, {"/b", "/real"}};
  EXPECT_EQ(
      rules_of(lowered("filesystem: {read: {allow: [/a, /b]}}\n", host), Domain::kFilesystemRead),
      "filesystem.read.allow[0] allow read path_prefix /real");
}

TEST(LowerTest, MissingPathToReadIsAGapAndMissingPathToWriteAProblem) {
  FakeHost host;
  host.missing = {"/none"};
  const LoweredPolicy read = lowered("filesystem: {read: {allow: [/none]}}\n", host);
  EXPECT_TRUE(read.problems.empty());
  EXPECT_TRUE(has_gap(read, "filesystem.read.allow[0]: `/none` does not exist"));
  const LoweredPolicy write = lowered("filesystem:\n  write: {allow: [/ok, /none]}\n", host);
  ASSERT_EQ(write.problems.size(), 1U);
  EXPECT_EQ(write.problems[0].at, (Position{2, 24}));
  EXPECT_NE(write.problems[0].text.find("filesystem.write.allow[1]: `/none` does not exist"),
            std::string::npos);
}

TEST(LowerTest, DenyInsideAGrantIsKeptAsADenyRuleOfEachDomainItTouches) {
  const LoweredPolicy policy = lowered(
      "filesystem: {read: {allow: [/w]}, write: {allow: [/w]}, execute: {allow: [/w]}, "
      "deny: [/w/.git]}\n");
  EXPECT_EQ(rules_of(policy, Domain::kFilesystemRead),
            "filesystem.read.allow[0] allow read path_prefix /w\n"
            "filesystem.deny[0] deny read path_prefix /w/.git\n"
            "filesystem.execute.allow[0] allow execute path_prefix /w\n"
            "filesystem.deny[0].execute deny execute path_prefix /w/.git");
  EXPECT_EQ(rules_of(policy, Domain::kFilesystemWrite),
            "filesystem.write.allow[0] allow write path_prefix /w\n"
            "filesystem.deny[0] deny write path_prefix /w/.git");
}

TEST(LowerTest, DenyOfOneOperationIsARuleOfThatOne) {
  const LoweredPolicy policy = lowered(
      "filesystem: {read: {allow: [/w], deny: [/w/key]}, write: {allow: [/w], deny: [/w/.git]}, "
      "execute: {allow: [/w]}}\n");
  EXPECT_EQ(rules_of(policy, Domain::kFilesystemRead),
            "filesystem.read.allow[0] allow read path_prefix /w\n"
            "filesystem.read.deny[0] deny read path_prefix /w/key\n"
            "filesystem.execute.allow[0] allow execute path_prefix /w");
  EXPECT_EQ(rules_of(policy, Domain::kFilesystemWrite),
            "filesystem.write.allow[0] allow write path_prefix /w\n"
            "filesystem.write.deny[0] deny write path_prefix /w/.git");
  EXPECT_EQ(rules_of(lowered("filesystem: {read: {allow: [/w/a]}, write: {allow: [/w/a], "
                             "deny: [/w]}}\n"),
                     Domain::kFilesystemRead),
            "filesystem.read.allow[0] allow read path_prefix /w/a");
}

// Case 7.
TEST(LowerTest, ALinkOnTheWayToWhatIsDeniedMayNotBeReplaced) {
  FakeHost host;
  host.links = {{"/w/.bashrc", "/ro/rc"}};
  const LoweredPolicy policy = lowered(
      "filesystem: {read: {allow: [/w]}, write: {allow: [/w]}, deny: [/w/.bashrc]}\n", host);
  EXPECT_EQ(rules_of(policy, Domain::kFilesystemWrite),
            "filesystem.write.allow[0] allow write path_prefix /w\n"
            "filesystem.deny[0].link deny write path_prefix /w/.bashrc");
  EXPECT_EQ(rules_of(policy, Domain::kFilesystemRead),
            "filesystem.read.allow[0] allow read path_prefix /w");
}

// Case 6.
TEST(LowerTest, WhatIsDeniedDoesNotHaveToBeThere) {
  FakeHost host;
  host.missing = {"/w/.aws"};
  const LoweredPolicy policy =
      lowered("filesystem: {read: {allow: [/w]}, deny: [/w/.aws]}\n", host);
  EXPECT_EQ(rules_of(policy, Domain::kFilesystemRead),
            "filesystem.read.allow[0] allow read path_prefix /w\n"
            "filesystem.deny[0] deny read path_prefix /w/.aws");
  EXPECT_TRUE(has_gap(policy, "filesystem.deny[0]: `/w/.aws` does not exist; its name is denied"));
}

TEST(LowerTest, DenyThatCoversAGrantTakesItAway) {
  const LoweredPolicy policy =
      lowered("filesystem: {read: {allow: [/usr, /home/u/x]}, deny: [/home]}\n");
  EXPECT_EQ(rules_of(policy, Domain::kFilesystemRead),
            "filesystem.read.allow[0] allow read path_prefix /usr");
  EXPECT_TRUE(has_gap(policy, "filesystem.read.allow[1]: outranked by filesystem.deny[0]"));
  EXPECT_FALSE(has_gap(policy, "filesystem.deny[0]"));
}

TEST(LowerTest, DenyOutsideEachGrantIsAGap) {
  const LoweredPolicy policy = lowered("filesystem: {read: {allow: [/usr]}, deny: [/srv]}\n");
  EXPECT_EQ(rules_of(policy, Domain::kFilesystemRead),
            "filesystem.read.allow[0] allow read path_prefix /usr");
  EXPECT_TRUE(has_gap(policy, "filesystem.deny[0]: `/srv` lies in no grant"));
}

TEST(LowerTest, EvidenceWishGoesToTheDomainsItSpeaksOf) {
  const std::string both = "filesystem: {read: {allow: [/r]}, write: {allow: [/w]}}\n";
  const LoweredPolicy writes = lowered(both + "evidence: {filesystem: write-decisions}\n");
  EXPECT_EQ(requirement_of(writes, Domain::kFilesystemRead).evidence, schema::EvidenceWish::kSetup);
  EXPECT_EQ(requirement_of(writes, Domain::kFilesystemWrite).evidence,
            schema::EvidenceWish::kWriteDecisions);
  const LoweredPolicy calls =
      lowered(both +
              "syscalls: {allow: []}\nevidence: {filesystem: decisions, filesystem_read: setup, "
              "syscall: decisions, ipc: decisions}\n");
  EXPECT_EQ(requirement_of(calls, Domain::kFilesystemRead).evidence, schema::EvidenceWish::kSetup);
  EXPECT_EQ(requirement_of(calls, Domain::kFilesystemWrite).evidence,
            schema::EvidenceWish::kDecisions);
  EXPECT_EQ(requirement_of(calls, Domain::kSyscall).evidence, schema::EvidenceWish::kDecisions);
  EXPECT_TRUE(has_gap(calls, "evidence.ipc: evidence for a domain the policy does not state"));
  const LoweredPolicy all = lowered(both + "evidence: {filesystem: decisions}\n");
  EXPECT_EQ(requirement_of(all, Domain::kFilesystemRead).evidence,
            schema::EvidenceWish::kDecisions);
  EXPECT_EQ(requirement_of(all, Domain::kFilesystemWrite).evidence,
            schema::EvidenceWish::kDecisions);
}

TEST(LowerTest, PostureComesFromTheDomainElseFromTheDefault) {
  const LoweredPolicy policy = lowered(
      "filesystem: {read: {allow: [/r]}, write: {allow: [/w]}}\n"
      "posture: {default: optional, filesystem_write: required, ipc: required}\n");
  EXPECT_EQ(requirement_of(policy, Domain::kFilesystemRead).posture,
            schema::RequirementPosture::kOptional);
  EXPECT_EQ(requirement_of(policy, Domain::kFilesystemWrite).posture,
            schema::RequirementPosture::kRequired);
  EXPECT_TRUE(has_gap(policy, "posture.ipc: a posture for a domain"));
  EXPECT_EQ(requirement_of(lowered("filesystem: {read: {allow: [/r]}}\n"), Domain::kFilesystemRead)
                .posture,
            schema::RequirementPosture::kRequired);
}

struct CapabilityRow {
  const char* text;
  Domain domain;
  const char* default_rule;  // nullptr: no requirement
};

TEST(LowerTest, CapabilitiesTakeTheWholeOfTheirDomainAway) {
  const std::vector<CapabilityRow> rows = {
      {"deny: [file_read]", Domain::kFilesystemRead, "capabilities.deny[0]"},
      {"deny: [file_write]", Domain::kFilesystemWrite, "capabilities.deny[0]"},
      {"deny: [agent_spawn, file_delete]", Domain::kFilesystemWrite, "capabilities.deny[1]"},
      {"deny: [network_outbound]", Domain::kNetworkEgress, "capabilities.deny[0]"},
      {"deny: [terminal_exec]", Domain::kProcessCreation, "capabilities.deny[0]"},
      {"deny: [agent_spawn]", Domain::kProcessCreation, "capabilities.deny[0]"},
      {"allow: []", Domain::kFilesystemRead, "capabilities.allow"},
      {"allow: []", Domain::kProcessCreation, "capabilities.allow"},
      {"allow: [file_read]", Domain::kFilesystemRead, nullptr},
      {"allow: [file_read, file_write]", Domain::kFilesystemWrite, "capabilities.allow"},
      {"allow: [file_write, file_delete]", Domain::kFilesystemWrite, nullptr},
      {"allow: [terminal_exec]", Domain::kProcessCreation, nullptr},
      {"allow: [file_read], deny: [file_read]", Domain::kFilesystemRead, "capabilities.deny[0]"},
      {"deny: []", Domain::kFilesystemRead, nullptr},
  };
  for (const CapabilityRow& row : rows) {
    const LoweredPolicy policy = lowered("capabilities: {" + std::string(row.text) + "}\n");
    if (row.default_rule == nullptr) {
      EXPECT_FALSE(states(policy, row.domain)) << row.text;
      continue;
    }
    EXPECT_TRUE(requirement_of(policy, row.domain).rules.empty()) << row.text;
    EXPECT_EQ(requirement_of(policy, row.domain).default_rule, row.default_rule) << row.text;
  }
}

TEST(LowerTest, CapabilitiesOutrankTheFinerNodesAndSaySo) {
  const LoweredPolicy policy = lowered(
      "filesystem: {read: {allow: [/usr]}, write: {allow: [/w]}}\n"
      "capabilities: {deny: [file_read, file_delete]}\n");
  EXPECT_TRUE(requirement_of(policy, Domain::kFilesystemRead).rules.empty());
  EXPECT_TRUE(requirement_of(policy, Domain::kFilesystemWrite).rules.empty());
  EXPECT_TRUE(has_gap(policy, "filesystem.read: outranked by capabilities.deny[0]"));
  EXPECT_TRUE(has_gap(policy, "filesystem.write: outranked by capabilities.deny[1]"));
}

TEST(LowerTest, InboundDenialBindsNothingAndLeavesConnectingOpen) {
  EXPECT_EQ(rules_of(lowered("capabilities: {deny: [network_inbound]}\n"), Domain::kNetworkEgress),
            "capabilities.deny[0] deny bind whole \n"
            "network allow connect whole ");
}

TEST(LowerTest, WhatHasNoExecutionDomainIsListedAndNotDropped) {
  const LoweredPolicy policy = lowered(
      "tools: {}\nscope: global\n"
      "capabilities: {allow: ['mcp_tool:git'], deny: [file_read, 'model:x']}\n");
  std::vector<std::string> nodes;
  for (const schema::PolicyGap& one : policy.unmapped) {
    nodes.push_back(one.node);
  }
  EXPECT_EQ(nodes, (std::vector<std::string>{"capabilities.allow[0]", "capabilities.deny[1]",
                                             "tools", "scope"}));
}

TEST(LowerTest, DomainsThatNoBackendCoversBecomeRequirementsAllTheSame) {
  const LoweredPolicy policy = lowered(testing::file_text(testing::testdata("all-nodes.yaml")));
  ASSERT_EQ(policy.requirements.size(), 9U);
  for (std::size_t i = 0; i < policy.requirements.size(); ++i) {
    EXPECT_EQ(policy.requirements[i].domain, static_cast<Domain>(i));
    EXPECT_TRUE(policy.requirements[i].check());
  }
  EXPECT_EQ(requirement_of(policy, Domain::kNameResolution).posture,
            schema::RequirementPosture::kDegradeIfUnavailable);
  EXPECT_EQ(rules_of(policy, Domain::kNetworkEgress),
            "network.allowlist[0] allow connect host_pattern api.example.com:443\n"
            "network.allowlist[1] allow connect host_pattern *.example.org:443\n"
            "network.bind.allow[0] allow bind port 127.0.0.1:8080\n"
            "network.egress[0].ports[0] allow connect address_range 10.0.0.0/8:5432/tcp");
  EXPECT_EQ(rules_of(policy, Domain::kProcessCreation), "processes.max allow create limit 64");
  EXPECT_EQ(requirement_of(policy, Domain::kIpc).default_rule, "ipc.unix_sockets.allow");
  EXPECT_EQ(requirement_of(policy, Domain::kResource).rules.size(), 5U);
}

TEST(LowerTest, AnEmptyHostListDeniesAllAndAnAbsentOneLeavesConnectingOpen) {
  const LoweredPolicy none = lowered("network: {allowlist: []}\n");
  EXPECT_EQ(rules_of(none, Domain::kNetworkEgress), "network.bind allow bind whole ");
  EXPECT_TRUE(requirement_of(none, Domain::kNameResolution).rules.empty());
  const LoweredPolicy bind = lowered("network: {bind: {allow: []}}\n");
  EXPECT_EQ(rules_of(bind, Domain::kNetworkEgress), "network allow connect whole ");
  EXPECT_FALSE(states(bind, Domain::kNameResolution));
}

TEST(LowerTest, HostsOfTheNetworkMayBeLookedUpWhenNothingElseIsStated) {
  const LoweredPolicy policy = lowered(
      "network: {allowlist: ['a.b:8443', '*.c.d', '192.0.2.7', '[::1]:80'], egress: [{host: e.f, "
      "ports: [1]}, "
      "{host: 10.0.0.1, ports: [1]}]}\n");
  EXPECT_EQ(rules_of(policy, Domain::kNameResolution),
            "network.allowlist[0] allow resolve host_pattern a.b\n"
            "network.allowlist[1] allow resolve host_pattern *.c.d\n"
            "network.egress[0] allow resolve host_pattern e.f");
}

struct StateRow {
  const char* text;
  PolicyState state;
};

TEST(LowerTest, StateSaysWhetherAnythingIsControlled) {
  const std::vector<StateRow> rows = {
      {"{}\n", PolicyState::kUnconfigured},
      {"tools: {x: {allow: false}}\n", PolicyState::kUnconfigured},
      {"posture: {default: optional}\nevidence: {filesystem: decisions}\n",
       PolicyState::kUnconfigured},
      {"filesystem: {}\ncredentials: {}\nresources: {}\n", PolicyState::kUnconfigured},
      {"capabilities: {deny: ['model:x']}\n", PolicyState::kUnconfigured},
      {"tools: {'*': {allow: true}}\n", PolicyState::kPermissive},
      {"filesystem: {read: {allow: [/]}, write: {allow: [/]}}\n", PolicyState::kPermissive},
      {"filesystem: {read: {allow: [/]}, execute: {allow: [/]}}\n", PolicyState::kPermissive},
      {"capabilities: {allow: [file_read, file_write, file_delete, network_outbound, "
       "network_inbound, terminal_exec]}\n",
       PolicyState::kPermissive},
      {"filesystem: {read: {allow: [/]}, execute: {allow: [/usr]}}\n", PolicyState::kEnforced},
      {"filesystem: {read: {allow: [/]}, execute: {allow: []}}\n", PolicyState::kEnforced},
      {"filesystem: {read: {allow: [/]}, deny: [/x]}\n", PolicyState::kEnforced},
      {"filesystem: {read: {allow: [/]}, write: {allow: [/w]}}\n", PolicyState::kEnforced},
      {"filesystem: {read: {allow: []}}\n", PolicyState::kEnforced},
      {"tools: {'*': {allow: true}}\nsyscalls: {allow: ['@default']}\n", PolicyState::kEnforced},
      {"network: {allowlist: ['*']}\n", PolicyState::kEnforced},
      {"credentials: {descriptors: {allow: []}}\n", PolicyState::kEnforced},
  };
  for (const StateRow& row : rows) {
    EXPECT_EQ(schema::token(lowered(row.text).state), schema::token(row.state)) << row.text;
  }
}

TEST(LowerTest, WithoutOutboundTrafficNothingIsLookedUpUnlessItIsNamed) {
  const std::string denied = "capabilities: {deny: [network_outbound]}\n";
  const LoweredPolicy hosts = lowered("network: {allowlist: [a.x]}\n" + denied);
  EXPECT_EQ(requirement_of(hosts, Domain::kNameResolution).default_rule, "capabilities.deny[0]");
  EXPECT_EQ(rules_of(hosts, Domain::kNameResolution), "");
  const LoweredPolicy named = lowered("name_resolution: {allow: [a.x]}\n" + denied);
  EXPECT_EQ(rules_of(named, Domain::kNameResolution),
            "name_resolution.allow[0] allow resolve host_pattern a.x");
}

TEST(LowerTest, UnstatedHalfOfCredentialsIsAGapWithWhatHappens) {
  const LoweredPolicy environment = lowered("credentials: {environment: {allow: []}}\n");
  EXPECT_TRUE(has_gap(environment, "credentials.descriptors: not stated: descriptors 0, 1 and 2"));
  EXPECT_TRUE(environment.credentials.environment.has_value());
  EXPECT_FALSE(environment.credentials.descriptors.has_value());
  const LoweredPolicy descriptors = lowered("credentials: {descriptors: {allow: []}}\n");
  EXPECT_TRUE(has_gap(descriptors, "credentials.environment: not stated: the environment passes"));
  EXPECT_EQ(requirement_of(descriptors, Domain::kCredential).default_rule,
            "credentials.descriptors.allow");
  EXPECT_FALSE(descriptors.credentials.environment.has_value());
}

TEST(LowerTest, PathThatNamesAnotherFileForEachProcessIsAProblem) {
  const PolicyDocument document =
      testing::decoded("filesystem:\n  read: {allow: [/usr, /proc/self/fd]}\n");
  const LoweredPolicy policy = lower_policy(document, walk_path);
  ASSERT_EQ(policy.problems.size(), 1U);
  EXPECT_EQ(policy.problems[0].at.line, 2);
  EXPECT_NE(policy.problems[0].text.find("names another file for each process"), std::string::npos);
}

}  // namespace
}  // namespace aasm::planner
