#include "aasm/planner/cascade.h"

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "aasm/planner/policy_resolve.h"
#include "aasm/planner/refusal.h"

#include "planner_support.h"

namespace aasm::planner {
namespace {

using schema::Domain;
using schema::PolicyState;
using schema::Requirement;
using schema::RequirementPosture;

using Files = std::map<std::string, std::string>;

// A small vocabulary with two groups that share a call.
class Calls final : public SyscallVocabulary {
 public:
  bool known_name(std::string_view name) const override { return !name.empty(); }
  bool known_group(std::string_view group) const override { return !members(group).empty(); }
  std::vector<std::string> members(std::string_view group) const override {
    return group == "@files"  ? std::vector<std::string>{"openat", "read"}
           : group == "@io"   ? std::vector<std::string>{"read", "write"}
           : group == "@most" ? std::vector<std::string>{"openat", "read", "write"}
                              : std::vector<std::string>();
  }
};

ResolvedPolicy resolved(const Files& files, const testing::FakeHost& host = {}) {
  static const Calls kCalls;
  PolicyRequest request;
  request.sources.option = "/p/own.yaml";
  request.current_dir = "/work/dir";
  request.paths = {"/work/dir", "/home/u"};
  request.vocabulary = &kCalls;
  request.resolver = host.resolver();
  request.hash = testing::fake_hash;
  request.reader = [files](const std::string& path, std::size_t /*max*/) {
    const auto found = files.find(path);
    return schema::Result<std::optional<std::string>>(
        found == files.end() ? std::nullopt : std::optional<std::string>(found->second));
  };
  return resolve_policy(request);
}

// The policy of an agent that extends that of its organisation.
ResolvedPolicy two(const std::string& org, const std::string& agent) {
  ResolvedPolicy policy =
      resolved({{"/p/org.yaml", "metadata: {scope: org}\n" + org},
                {"/p/own.yaml", "metadata: {scope: agent, extends: [org.yaml]}\n" + agent}});
  EXPECT_EQ(policy.record.error, "");
  EXPECT_TRUE(policy.record.check());
  return policy;
}

// "allow read /usr (org:filesystem.read.allow[0])" for each rule of a domain.
std::vector<std::string> rules(const ResolvedPolicy& policy, Domain domain) {
  std::vector<std::string> lines;
  const Requirement* requirement = policy.record.requirement_for(domain);
  for (const schema::PolicyRule& rule :
       requirement == nullptr ? std::vector<schema::PolicyRule>() : requirement->rules) {
    lines.push_back(std::string(token(rule.effect)) + " " + rule.operation + " " +
                    rule.selector.value.bytes() + " (" + rule.id + ")");
  }
  return lines;
}

using Lines = std::vector<std::string>;

TEST(CascadeTest, GrantsAreIntersectedByContainmentAndNamedAfterTheNarrower) {
  const ResolvedPolicy policy = two("filesystem: {read: {allow: [/usr, /work/dir/a]}}\n",
                                    "filesystem: {read: {allow: [/usr/lib, /work, /etc]}}\n");
  EXPECT_EQ(rules(policy, Domain::kFilesystemRead),
            (Lines{"allow read /usr/lib (agent:filesystem.read.allow[0])",
                   "allow read /work/dir/a (org:filesystem.read.allow[1])"}));
  EXPECT_EQ(policy.record.requirement_for(Domain::kFilesystemRead)->default_rule,
            "org:filesystem.read.allow+agent:filesystem.read.allow");
  EXPECT_EQ(policy.record.state, PolicyState::kEnforced);
}

TEST(CascadeTest, DisjointGrantsPermitNothing) {
  const ResolvedPolicy policy =
      two("filesystem: {write: {allow: [/a]}}\n", "filesystem: {write: {allow: [/b]}}\n");
  ASSERT_NE(policy.record.requirement_for(Domain::kFilesystemWrite), nullptr);
  EXPECT_EQ(rules(policy, Domain::kFilesystemWrite), Lines{});
}

// "agent:filesystem.read.allow[1]: ..." for each gap that tells of a cut.
Lines cuts(const ResolvedPolicy& policy) {
  Lines lines;
  for (const schema::PolicyGap& gap : policy.record.gaps) {
    if (gap.reason.find(" is cut by ") != std::string::npos ||
        gap.reason.find("are cut") != std::string::npos) {
      lines.push_back(gap.node + ": " + gap.reason);
    }
  }
  return lines;
}

TEST(CascadeTest, WhatABroaderScopeCutsIsSaidWhereItWasGranted) {
  EXPECT_EQ(cuts(two("filesystem: {read: {allow: [/usr, /work/dir/a]}}\n",
                     "filesystem:\n  read: {allow: [/usr/lib, /work, /etc]}\n")),
            (Lines{"agent:filesystem.read.allow[1]: `/work` is cut by org:filesystem.read.allow "
                   "(/p/org.yaml line 2): what is left of it is `/work/dir/a`",
                   "agent:filesystem.read.allow[2]: `/etc` is cut by org:filesystem.read.allow "
                   "(/p/org.yaml line 2): nothing of it is left"}));
  EXPECT_EQ(cuts(two("resources: {cpu_seconds: 5, open_files: 100}\n",
                     "resources: {cpu_seconds: 50, open_files: 10}\n")),
            Lines{"agent:resources.cpu_seconds: `50` (/p/own.yaml line 2) is cut by "
                  "org:resources.cpu_seconds "
                  "(/p/org.yaml line 2): what is left of it is `5`"});
  EXPECT_EQ(cuts(two("capabilities: {deny: [file_write]}\n",
                     "filesystem: {read: {allow: [/a]}, write: {allow: [/b]}}\n")),
            Lines{"agent:filesystem.write.allow[0]: `/b` is cut by org:capabilities.deny[0] "
                  "(/p/org.yaml line 2): nothing of it is left"});
}

TEST(CascadeTest, CallsThatABroaderScopeTakesAwayAreSaid) {
  EXPECT_EQ(cuts(two("syscalls: {allow: ['@io']}\n", "syscalls: {allow: ['@files', write]}\n")),
            Lines{"agent:syscalls.allow[0]: `@files` is cut by org:syscalls.allow "
                  "(/p/org.yaml line 2): what is left of it is `read`"});
  EXPECT_EQ(cuts(two("syscalls: {deny: [write]}\n", "syscalls: {allow: ['@files', write]}\n")),
            Lines{"agent:syscalls.allow[1]: `write` is cut by org:syscalls.deny[0] (/p/org.yaml "
                  "line 2): nothing of it is left"});
}

TEST(CascadeTest, NoCutIsSaidWhereNothingWasCut) {
  EXPECT_EQ(cuts(two("filesystem: {read: {allow: [/usr, /work]}}\n",
                     "filesystem: {read: {allow: [/usr/lib]}}\n")),
            Lines{})
      << "the nearer document asks for less";
  EXPECT_EQ(cuts(two("filesystem: {read: {allow: [/usr]}}\n",
                     "filesystem: {read: {allow: [/usr]}}\nprocesses: {max: 3}\n")),
            Lines{});
  EXPECT_EQ(cuts(two("ipc: {unix_sockets: {allow: [/run/x]}}\n", "ipc: {signals: inside}\n")),
            Lines{})
      << "a part that is not stated is no grant";
}

TEST(CascadeTest, ManyCutsOfOneListAreCounted) {
  std::string paths;
  for (int i = 0; i < 100; ++i) {
    paths += (i == 0 ? "/a" : ", /a") + std::to_string(i);
  }
  const Lines lines = cuts(two("filesystem: {write: {allow: [/b]}}\n",
                               "filesystem: {write: {allow: [" + paths + "]}}\n"));
  ASSERT_EQ(lines.size(), 33U);
  EXPECT_EQ(lines.back(),
            "agent:filesystem.write.allow (/p/own.yaml line 2): 68 more entries are cut");
}

TEST(CascadeTest, ADomainThatOneDocumentDoesNotStateIsTheOthers) {
  const ResolvedPolicy policy =
      two("processes: {max: 5}\n", "filesystem: {write: {allow: [/b]}}\n");
  EXPECT_EQ(rules(policy, Domain::kFilesystemWrite),
            Lines{"allow write /b (agent:filesystem.write.allow[0])"});
  EXPECT_EQ(rules(policy, Domain::kProcessCreation), Lines{"allow create 5 (org:processes.max)"});
  for (const schema::PolicyGap& gap : policy.record.gaps) {
    EXPECT_NE(gap.node, "filesystem.write");
    EXPECT_NE(gap.node, "processes");
  }
}

TEST(CascadeTest, WhatNoDocumentStatesIsListedOnce) {
  const ResolvedPolicy policy =
      two("processes: {max: 5}\n", "filesystem: {write: {allow: [/b]}}\n");
  const auto listed = [&](const char* node) {
    return std::count_if(policy.record.gaps.begin(), policy.record.gaps.end(),
                         [&](const schema::PolicyGap& gap) { return gap.node == node; });
  };
  EXPECT_EQ(listed("network"), 1);
  EXPECT_EQ(listed("ipc"), 1);
}

TEST(CascadeTest, DenialsUniteAndReachTheGrantsOfOtherDocuments) {
  const ResolvedPolicy policy =
      two("filesystem: {deny: [/home/u/.ssh, /tmp/x]}\n",
          "filesystem: {read: {allow: [/home/u, /tmp/x/y]}, write: {allow: [/home/u]}}\n");
  EXPECT_EQ(rules(policy, Domain::kFilesystemRead),
            (Lines{"allow read /home/u (agent:filesystem.read.allow[0])",
                   "deny read /home/u/.ssh (org:filesystem.deny[0])"}));
  EXPECT_EQ(rules(policy, Domain::kFilesystemWrite),
            (Lines{"allow write /home/u (agent:filesystem.write.allow[0])",
                   "deny write /home/u/.ssh (org:filesystem.deny[0])"}));
  const auto outranked = std::find_if(
      policy.record.gaps.begin(), policy.record.gaps.end(),
      [](const schema::PolicyGap& gap) { return gap.node == "agent:filesystem.read.allow[1]"; });
  ASSERT_NE(outranked, policy.record.gaps.end());
  EXPECT_NE(outranked->reason.find("org:filesystem.deny[1]"), std::string::npos);
}

TEST(CascadeTest, ADenialOfWritingAloneReachesTheGrantsToWriteOfOtherDocuments) {
  const ResolvedPolicy policy =
      two("filesystem: {write: {deny: [/w/.git, /w/x]}}\n",
          "filesystem: {read: {allow: [/w]}, write: {allow: [/w, /w/x/y]}}\n");
  EXPECT_EQ(rules(policy, Domain::kFilesystemRead),
            (Lines{"allow read /w (agent:filesystem.read.allow[0])"}));
  EXPECT_EQ(rules(policy, Domain::kFilesystemWrite),
            (Lines{"allow write /w (agent:filesystem.write.allow[0])",
                   "deny write /w/.git (org:filesystem.write.deny[0])",
                   "deny write /w/x (org:filesystem.write.deny[1])"}));
}

TEST(CascadeTest, DenialsWithoutAnyGrantInAnyDocumentAreALoadFailure) {
  const ResolvedPolicy policy =
      resolved({{"/p/org.yaml", "metadata: {scope: org}\nfilesystem: {deny: [/a]}\n"},
                {"/p/own.yaml",
                 "metadata: {scope: agent, extends: [org.yaml]}\nsyscalls: {deny: [read]}\n"}});
  EXPECT_EQ(policy.record.state, PolicyState::kLoadFailed);
  EXPECT_NE(policy.record.error.find("/p/org.yaml:2:20: filesystem.deny"), std::string::npos);
  EXPECT_NE(policy.record.error.find("/p/own.yaml:2:11: syscalls states no"), std::string::npos);
  EXPECT_EQ(resolved({{"/p/own.yaml", "metadata: {scope: org}\nfilesystem: {deny: [/a]}\n"}})
                .record.state,
            PolicyState::kLoadFailed)
      << "a scope alone is no other half";
}

TEST(CascadeTest, CallsAreIntersectedThroughTheirGroups) {
  EXPECT_EQ(rules(two("syscalls: {allow: ['@most']}\n", "syscalls: {allow: ['@files', write]}\n"),
                  Domain::kSyscall),
            (Lines{"allow call @files (agent:syscalls.allow[0])",
                   "allow call write (agent:syscalls.allow[1])"}));
  EXPECT_EQ(rules(two("syscalls: {allow: ['@io'], deny: [write]}\n",
                      "syscalls: {allow: ['@files'], deny: [write, openat]}\n"),
                  Domain::kSyscall),
            (Lines{"allow call read (agent:syscalls.allow[0].read)",
                   "deny call write (org:syscalls.deny[0])",
                   "deny call openat (agent:syscalls.deny[1])"}));
  const ResolvedPolicy kills =
      two("syscalls: {deny: [read], on_denial: kill}\n", "syscalls: {allow: ['@io']}\n");
  EXPECT_EQ(kills.record.on_denial, "kill");
  for (const char* other : {"", ", on_denial: errno"}) {
    const ResolvedPolicy network =
        two("network: {allowlist: [a.example], on_denial: kill}\n",
            "network: {allowlist: [a.example]" + std::string(other) + "}\n");
    EXPECT_TRUE(network.record.kills(Domain::kNetworkEgress));
    EXPECT_FALSE(network.record.kills(Domain::kSyscall));
  }
  EXPECT_EQ(rules(kills, Domain::kSyscall), (Lines{"allow call @io (agent:syscalls.allow[0])",
                                                   "deny call read (org:syscalls.deny[0])"}));
}

TEST(CascadeTest, ExecutionFollowsReadingOnlyWhereNoDocumentStatesIt) {
  EXPECT_EQ(rules(two("filesystem: {read: {allow: [/usr]}}\n",
                      "filesystem: {read: {allow: [/usr, /bin]}}\n"),
                  Domain::kFilesystemRead),
            Lines{"allow read /usr (agent:filesystem.read.allow[0])"});
  EXPECT_EQ(rules(two("filesystem: {read: {allow: [/usr]}, execute: {allow: [/usr/bin]}}\n",
                      "filesystem: {read: {allow: [/usr, /bin]}}\n"),
                  Domain::kFilesystemRead),
            (Lines{"allow read /usr (agent:filesystem.read.allow[0])",
                   "allow execute /usr/bin (org:filesystem.execute.allow[0])"}));
  EXPECT_EQ(rules(two("filesystem: {read: {allow: [/usr]}, execute: {allow: []}}\n",
                      "filesystem: {read: {allow: [/usr]}}\n"),
                  Domain::kFilesystemRead),
            (Lines{"allow read /usr (agent:filesystem.read.allow[0])",
                   "deny execute  (org:filesystem.execute.allow)"}));
}

TEST(CascadeTest, LimitsTakeTheSmallerAndOnesThatOneStatesAlone) {
  const ResolvedPolicy policy =
      two("processes: {max: 9}\nresources: {cpu_seconds: 5, open_files: 100}\n",
          "processes: {max: 7}\nresources: {cpu_seconds: 50, memory_bytes: 1000}\n");
  EXPECT_EQ(rules(policy, Domain::kProcessCreation), Lines{"allow create 7 (agent:processes.max)"});
  EXPECT_EQ(rules(policy, Domain::kResource),
            (Lines{"allow cpu_seconds 5 (org:resources.cpu_seconds)",
                   "allow open_files 100 (org:resources.open_files)",
                   "allow memory_bytes 1000 (agent:resources.memory_bytes)"}));
}

TEST(CascadeTest, TheWitnessThatAnyAsksForIsAskedForAndLeaveToEnableItOutranksListening) {
  const auto wish = [](const std::string& org, const std::string& agent) {
    const std::string files = "filesystem: {read: {allow: [/a]}}\n";
    return two(files + org, files + agent).record.witness;
  };
  const std::string listen = "evidence: {witness: listen}\n";
  const std::string enable = "evidence: {witness: enable}\n";
  EXPECT_EQ(wish("", ""), std::nullopt);
  EXPECT_EQ(wish(listen, ""), schema::WitnessWish::kListen);
  EXPECT_EQ(wish(listen, enable), schema::WitnessWish::kEnable);
  EXPECT_EQ(wish(enable, listen), schema::WitnessWish::kEnable);
}

TEST(CascadeTest, TheStricterPostureAndTheStrongerWishHold) {
  const ResolvedPolicy policy =
      two("posture: {default: degrade_if_unavailable, filesystem_write: required}\n"
          "evidence: {filesystem: decisions}\n",
          "posture: {default: optional}\n"
          "filesystem: {read: {allow: [/a]}, write: {allow: [/b]}}\n");
  const Requirement* read = policy.record.requirement_for(Domain::kFilesystemRead);
  const Requirement* write = policy.record.requirement_for(Domain::kFilesystemWrite);
  EXPECT_EQ(read->posture, RequirementPosture::kDegradeIfUnavailable);
  EXPECT_EQ(write->posture, RequirementPosture::kRequired);
  EXPECT_EQ(read->evidence, schema::EvidenceWish::kDecisions);
  EXPECT_EQ(write->evidence, schema::EvidenceWish::kDecisions);
  const ResolvedPolicy silent = two("filesystem: {read: {allow: [/a]}}\n",
                                    "posture: {default: optional}\n"
                                    "filesystem: {read: {allow: [/a]}}\n");
  EXPECT_EQ(silent.record.requirement_for(Domain::kFilesystemRead)->posture,
            RequirementPosture::kRequired)
      << "a document that states a domain and no posture requires it";
}

TEST(CascadeTest, CapabilitiesOfOneDocumentOutrankTheGrantsOfAnother) {
  const ResolvedPolicy policy = two("capabilities: {deny: [file_write, 'mcp_tool:git']}\n",
                                    "filesystem: {read: {allow: [/a]}, write: {allow: [/b]}}\n");
  EXPECT_EQ(rules(policy, Domain::kFilesystemWrite), Lines{});
  EXPECT_EQ(policy.record.requirement_for(Domain::kFilesystemWrite)->default_rule,
            "org:capabilities.deny[0]+agent:filesystem.write.allow");
  ASSERT_EQ(policy.record.unmapped.size(), 1U);
  EXPECT_EQ(policy.record.unmapped[0].node, "org:capabilities.deny[1]");
}

TEST(CascadeTest, CredentialsAndSocketsAreIntersectedPartByPart) {
  const ResolvedPolicy policy =
      two("credentials: {environment: {allow: [PATH, HOME]}}\n"
          "ipc: {signals: inside, abstract_sockets: deny}\n",
          "credentials: {environment: {allow: [HOME, TERM]}, descriptors: {allow: [0, 1]}}\n"
          "ipc: {unix_sockets: {allow: [/run/x]}, signals: inside}\n");
  EXPECT_EQ(policy.credentials.environment, (std::vector<std::string>{"HOME"}));
  EXPECT_EQ(policy.credentials.descriptors, (std::vector<int>{0, 1}));
  EXPECT_EQ(rules(policy, Domain::kIpc),
            (Lines{"allow connect /run/x (agent:ipc.unix_sockets.allow[0])",
                   "deny signals inside (org:ipc.signals)",
                   "deny abstract_sockets deny (org:ipc.abstract_sockets)"}));
  const ResolvedPolicy none = two("credentials: {environment: {allow: []}}\n",
                                  "credentials: {environment: {allow: [HOME]}}\n");
  ASSERT_TRUE(none.credentials.environment.has_value());
  EXPECT_TRUE(none.credentials.environment->empty());
  EXPECT_FALSE(none.credentials.descriptors.has_value());
}

TEST(CascadeTest, EveryDocumentIsRecordedWithScopeSourceAndDigest) {
  const Files files = {{"/p/own.yaml",
                        "metadata: {scope: agent, extends: [sub/team.yaml]}\n"
                        "filesystem: {read: {allow: [/a]}}\n"},
                       {"/p/sub/team.yaml",
                        "metadata: {scope: team, extends: [../org.yaml]}\nprocesses: {max: 3}\n"},
                       {"/p/sub/../org.yaml", "metadata: {scope: org}\nprocesses: {max: 2}\n"}};
  const ResolvedPolicy policy = resolved(files);
  EXPECT_EQ(policy.record.error, "");
  EXPECT_EQ(policy.record.scope, schema::PolicyScope::kAgent);
  ASSERT_TRUE(policy.record.extends.has_value());
  ASSERT_EQ(policy.record.extends->size(), 2U);
  EXPECT_EQ(policy.record.extends->at(0).scope, schema::PolicyScope::kOrg);
  EXPECT_EQ(policy.record.extends->at(1).source.bytes(), "/p/sub/team.yaml");
  EXPECT_EQ(policy.record.extends->at(1).document,
            testing::fake_hash(schema::as_bytes(files.at("/p/sub/team.yaml"))));
  EXPECT_EQ(policy.documents.size(), 3U);
  EXPECT_EQ(rules(policy, Domain::kProcessCreation), Lines{"allow create 2 (org:processes.max)"});
  EXPECT_FALSE(resolved({{"/p/own.yaml", "filesystem: {read: {allow: [/a]}}\n"}}).record.extends);
}

TEST(CascadeTest, ARefusalNamesTheDocumentTheStatementStandsIn) {
  const ResolvedPolicy policy =
      resolved({{"/p/own.yaml",
                 "metadata: {scope: agent, extends: [org.yaml]}\n"
                 "filesystem: {read: {allow: [/a]}, write: {allow: [/a/b, /a/c]}}\n"},
                {"/p/org.yaml",
                 "metadata: {scope: org}\nprocesses: {max: 2}\n"
                 "filesystem:\n  write:\n    allow: [/a/b, /a/c/d]\n"}});
  ASSERT_EQ(policy.record.error, "");
  const PolicyView view = view_of(policy);
  const auto place = [&](Domain domain) {
    return describe_place(*policy.record.requirement_for(domain), view);
  };
  EXPECT_EQ(place(Domain::kFilesystemRead), "`agent:filesystem.read.allow` (/p/own.yaml:2:28)");
  EXPECT_EQ(place(Domain::kProcessCreation), "`org:processes.max` (/p/org.yaml:2:18)");
  const auto& writes = policy.record.requirement_for(Domain::kFilesystemWrite)->rules;
  ASSERT_EQ(writes.size(), 2U);
  EXPECT_NE(refuse_grant_covers_control(writes[0], {"/x"}, view).detail.find("(/p/own.yaml:2:"),
            std::string::npos)
      << refuse_grant_covers_control(writes[0], {"/x"}, view).detail;
  EXPECT_NE(refuse_grant_covers_control(writes[1], {"/x"}, view).detail.find("(/p/org.yaml:5:19)"),
            std::string::npos)
      << refuse_grant_covers_control(writes[1], {"/x"}, view).detail;
}

TEST(CascadeTest, WhatDoesNotLoadFailsTheWholeAtThePlaceThatNamesIt) {
  const std::string own = "metadata: {scope: agent, extends: [x.yaml]}\n";
  const auto error = [&](const Files& files) { return resolved(files).record.error; };
  EXPECT_EQ(error({{"/p/own.yaml", own}}),
            "/p/own.yaml:1:36: metadata.extends[0]: `/p/x.yaml` is not there, and every document "
            "of a policy has to load");
  EXPECT_EQ(error({{"/p/own.yaml", own}, {"/p/x.yaml", "metadata: {scope: org}\nfilesytem: {}\n"}})
                .substr(0, 40),
            "/p/x.yaml:2:1: unknown key `filesytem` i");
  EXPECT_NE(error({{"/p/own.yaml", own}, {"/p/x.yaml", "processes: {max: 1}\n"}})
                .find("/p/x.yaml:1:1: metadata.scope is not stated"),
            std::string::npos);
  EXPECT_NE(error({{"/p/own.yaml", own}, {"/p/x.yaml", "metadata: {scope: agent}\n"}})
                .find("metadata.scope is agent, as that of"),
            std::string::npos);
  EXPECT_NE(
      error({{"/p/own.yaml", own}, {"/p/x.yaml", "metadata: {scope: org, extends: [own.yaml]}\n"}})
          .find("/p/x.yaml:1:34: metadata.extends[0]: `/p/own.yaml` is a part of this policy "
                "already"),
      std::string::npos);
  EXPECT_NE(error({{"/p/own.yaml", "metadata: {scope: org, extends: [own.yaml]}\n"}})
                .find("is a part of this policy already"),
            std::string::npos);
}

TEST(CascadeTest, ASixthDocumentIsOneTooMany) {
  Files files;
  for (int i = 0; i < 7; ++i) {
    files["/p/" + std::to_string(i) + ".yaml"] =
        "metadata: {scope: org, extends: [" + std::to_string(i + 1) + ".yaml]}\n";
  }
  files["/p/own.yaml"] = "metadata: {scope: agent, extends: [0.yaml]}\n";
  EXPECT_NE(resolved(files).record.error.find("would be one document too many"), std::string::npos);
}

// --- what the documents allow together is what each of them allows ---

const Lines kPaths = {"/", "/a", "/a/b", "/a/b/c", "/a/bc", "/d", "/d/e"};

bool covers(const std::string& upper, const std::string& path) {
  return upper == "/" || path == upper || path.substr(0, upper.size() + 1) == upper + "/";
}

// The plain meaning of a requirement for one path, as docs/policy-reference.md states it.
bool allows(const ResolvedPolicy& policy, Domain domain, const std::string& operation,
            const std::string& path) {
  const Requirement* requirement = policy.record.requirement_for(domain);
  if (requirement == nullptr) {
    return true;
  }
  const auto speaks = [&](const std::string& of) {
    return std::any_of(requirement->rules.begin(), requirement->rules.end(),
                       [&](const schema::PolicyRule& rule) { return rule.operation == of; });
  };
  const std::string by = operation == "execute" && !speaks("execute") ? "read" : operation;
  bool allowed = false;
  bool denied = false;
  for (const schema::PolicyRule& rule : requirement->rules) {
    const bool whole = rule.selector.type == schema::SelectorType::kWhole;
    if (rule.operation == by && (whole || covers(rule.selector.value.bytes(), path))) {
      (rule.effect == schema::RuleEffect::kAllow ? allowed : denied) = true;
    }
  }
  return allowed && !denied;
}

std::string random_list(std::mt19937& random) {
  std::string text = "[";
  for (auto i = random() % 3; i > 0; --i) {
    text += kPaths[random() % kPaths.size()] + ", ";
  }
  return text + "]";
}

std::string random_body(std::mt19937& random) {
  std::string text = "filesystem:\n  read: {allow: " + random_list(random) + "}\n";
  text += random() % 2 == 0 ? "  execute: {allow: " + random_list(random) + "}\n" : "";
  text += random() % 3 != 0 ? "  write: {allow: " + random_list(random) + "}\n" : "";
  text += random() % 2 == 0 ? "  deny: " + random_list(random) + "\n" : "";
  text += random() % 8 == 0 ? "capabilities: {deny: [file_write]}\n" : "";
  return text;
}

TEST(CascadePropertyTest, TogetherAllowsExactlyWhatEachAllowsInAnyOrder) {
  std::mt19937 random(20260101);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same each time
  const std::vector<std::pair<Domain, std::string>> operations = {
      {Domain::kFilesystemRead, "read"},
      {Domain::kFilesystemRead, "execute"},
      {Domain::kFilesystemWrite, "write"}};
  for (int round = 0; round < 2000; ++round) {
    const std::string a = random_body(random);
    const std::string b = random_body(random);
    const ResolvedPolicy one = resolved({{"/p/own.yaml", a}});
    const ResolvedPolicy other = resolved({{"/p/own.yaml", b}});
    const ResolvedPolicy both = two(a, b);
    const ResolvedPolicy swapped = two(b, a);
    for (const auto& [domain, operation] : operations) {
      for (const std::string& path : kPaths) {
        // A denial of one document reaches the grants of the other: it allows the path when
        // it states the operation, or says nothing of it.
        const bool each =
            allows(one, domain, operation, path) && allows(other, domain, operation, path);
        const bool now = allows(both, domain, operation, path);
        EXPECT_LE(now, each) << "wider: " << operation << " " << path << "\n" << a << "---\n" << b;
        const bool write_stated = one.record.requirement_for(domain) != nullptr &&
                                  other.record.requirement_for(domain) != nullptr;
        if (write_stated) {
          EXPECT_EQ(now, each) << operation << " " << path << "\n" << a << "---\n" << b;
        }
        EXPECT_EQ(now, allows(swapped, domain, operation, path)) << a << "---\n" << b;
      }
    }
    ASSERT_FALSE(::testing::Test::HasFailure()) << "round " << round;
  }
}

}  // namespace
}  // namespace aasm::planner
