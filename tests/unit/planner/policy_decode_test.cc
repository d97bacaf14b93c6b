#include "aasm/planner/policy_decode.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "planner_support.h"

namespace aasm::planner {
namespace {

using testing::decoded;
using testing::problems_of;

struct Faulty {
  const char* text;
  const char* expected;  // how the one problem starts
};

void expect_faults(const std::vector<Faulty>& rows) {
  for (const Faulty& row : rows) {
    const std::string problems = problems_of(row.text);
    EXPECT_EQ(problems.substr(0, std::string(row.expected).size()), row.expected) << row.text;
    EXPECT_EQ(problems.find('\n'), std::string::npos) << "more than one fault: " << problems;
  }
}

TEST(PolicyDecodeTest, EachUnknownKeyIsNamedWithItsPlaceAndTheNearestKey) {
  expect_faults({
      {"filesytem: {}\n",
       "1:1 unknown key `filesytem` in the document; did you mean `filesystem`?"},
      {"filesystem:\n  raed: {allow: [/usr]}\n",
       "2:3 unknown key `raed` in filesystem; did you mean `read`?"},
      {"filesystem:\n  read:\n    alow: [/usr]\n",
       "3:5 unknown key `alow` in filesystem.read; did you mean `allow`?"},
      {"network: {allow_list: []}\n",
       "1:11 unknown key `allow_list` in network; did you mean `allowlist`?"},
      {"network:\n  egress:\n    - {host: a.b, ports: [1], protcol: tcp}\n",
       "3:31 unknown key `protcol` in network.egress[0]; did you mean `protocol`?"},
      {"syscalls: {allow: [], on_denail: kill}\n",
       "1:23 unknown key `on_denail` in syscalls; did you mean `on_denial`?"},
      {"credentials: {environment: {deny: []}}\n",
       "1:29 unknown key `deny` in credentials.environment; known here: `allow`"},
      {"resources: {memory_byte: 5}\n",
       "1:13 unknown key `memory_byte` in resources; did you mean `memory_bytes`?"},
      {"posture: {filesystem: required}\n", "1:11 unknown key `filesystem` in posture; known here"},
      {"evidence: {syscalls: setup}\n",
       "1:12 unknown key `syscalls` in evidence; did you mean `syscall`?"},
      {"capabilities: {allowed: []}\n", "1:16 unknown key `allowed` in capabilities; did you me"},
      {"ipc: {unix_socket: {allow: []}}\n",
       "1:7 unknown key `unix_socket` in ipc; did you mean `unix_sockets`?"},
      {"processes: {maximum: 1}\n", "1:13 unknown key `maximum` in processes; known here: `max`"},
      {"name_resolution: {allows: []}\n", "1:19 unknown key `allows` in name_resolution; did yo"},
      {"x\xE2\x80\x8Cy: 1\n", "1:1 unknown key"},
      {"<<: {a: 1}\n", "1:1 unknown key `<<` in the document"},
  });
}

TEST(PolicyDecodeTest, EachValueOfTheWrongKindIsRefused) {
  expect_faults({
      {"- a\n", "1:1 the document has to be a map and is a list"},
      {"just text\n", "1:1 the document has to be a map and is text"},
      {"filesystem: all\n", "1:13 filesystem has to be a map and is text"},
      {"filesystem:\n", "1:1 filesystem has to be a map and is nothing; remove the key"},
      {"filesystem: {read: [/usr]}\n", "1:20 filesystem.read has to be a map with the key `allow`"},
      {"filesystem:\n  read:\n    allow:\n",
       "3:5 filesystem.read.allow has to be a list and is nothing; write [] to permit nothing"},
      {"filesystem: {read: {allow: /usr}}\n",
       "1:28 filesystem.read.allow has to be a list and is text"},
      {"filesystem: {read: {allow: [[/usr]]}}\n",
       "1:29 filesystem.read.allow[0] has to be text and is a list"},
      {"filesystem: {read: {allow: [/usr, ~]}}\n",
       "1:35 filesystem.read.allow[1] has to be text and is nothing"},
      {"filesystem:\n  read:\n    allow:\n    - /usr\n     - /lib\n",
       "4:7 filesystem.read.allow[0] goes on in a further line"},
      {"credentials: {descriptors: {allow: ['1']}}\n",
       "1:37 credentials.descriptors.allow[0] is `1` and has to be a whole number"},
      {"credentials: {descriptors: {allow: [-1]}}\n",
       "1:37 credentials.descriptors.allow[0] is `-1`"},
      {"credentials: {descriptors: {allow: [0x1]}}\n",
       "1:37 credentials.descriptors.allow[0] is `0x1`"},
      {"credentials: {descriptors: {allow: [01]}}\n",
       "1:37 credentials.descriptors.allow[0] is `01`"},
      {"processes: {max: 0}\n", "1:18 processes.max is `0` and has to be a whole number from 1"},
      {"processes: {max: 1.5}\n", "1:18 processes.max is `1.5`"},
      {"processes: {max: many}\n", "1:18 processes.max is `many`"},
      {"resources: {memory_bytes: 9007199254740992}\n", "1:27 resources.memory_bytes is `9007199"},
      {"resources: {memory_bytes: 99999999999999999999}\n", "1:27 resources.memory_bytes is `999"},
      {"resources: {open_files: true}\n", "1:25 resources.open_files is `true`"},
  });
}

TEST(PolicyDecodeTest, EachValueOutsideItsVocabularyIsRefused) {
  expect_faults({
      {"filesystem: {read: {allow: [usr]}}\n", "1:29 filesystem.read.allow[0]: `usr` is not abs"},
      {"filesystem: {read: {allow: [/a/../b]}}\n", "1:29 filesystem.read.allow[0]: `/a/../b` goe"},
      {"syscalls: {allow: [Read]}\n", "1:20 syscalls.allow[0]: `Read` is neither the name"},
      {"syscalls: {allow: ['@']}\n", "1:20 syscalls.allow[0]: `@` is neither the name"},
      {"syscalls: {allow: ['@default'], on_denial: trap}\n",
       "1:44 syscalls.on_denial: `trap` is not a value here; known here: `errno`, `kill`"},
      {"network: {allowlist: [], on_denial: trap}\n",
       "1:37 network.on_denial: `trap` is not a value here; known here: `errno`, `kill`"},
      {"posture: {default: require}\n",
       "1:20 posture.default: `require` is not a value here; did you mean `required`?"},
      {"posture: {ipc: off}\n", "1:16 posture.ipc: `off` is not a value here; known here: `requi"},
      {"evidence: {filesystem: write_decisions}\n",
       "1:24 evidence.filesystem: `write_decisions` is not a value here; did you mean `write-de"},
      {"credentials: {environment: {allow: ['A=B']}}\n",
       "1:37 credentials.environment.allow[0]: `A=B` is no name of an environment variable"},
      {"credentials: {environment: {allow: ['LC_*']}}\n",
       "1:37 credentials.environment.allow[0]: `LC_*` is no name of an environment variable; pat"},
      {"credentials: {environment: {allow: [AASM_API_KEY]}}\n",
       "1:37 credentials.environment.allow[0]: `AASM_API_KEY` is a credential of the supervisor"},
      {"capabilities: {deny: [file_reed]}\n",
       "1:23 capabilities.deny[0]: `file_reed` is no capability; did you mean `file_read`?"},
      {"capabilities: {deny: ['mcp_tool:']}\n", "1:23 capabilities.deny[0]: `mcp_tool:` names no"},
      {"network: {allowlist: ['http://a.b']}\n", "1:23 network.allowlist[0]: `http://a.b` is no "},
      {"network: {allowlist: ['a.b:0']}\n", "1:23 network.allowlist[0]: `a.b:0` has no port"},
      {"network: {allowlist: ['a.b:65536']}\n", "1:23 network.allowlist[0]: `a.b:65536` has no p"},
      {"network: {allowlist: ['a.*.b']}\n", "1:23 network.allowlist[0]: `a.*.b` is no host patt"},
      {"network: {allowlist: ['*.']}\n", "1:23 network.allowlist[0]: `*.` is no host pattern"},
      {"network: {egress: [{host: a.b}]}\n", "1:20 network.egress[0] needs `host` and `ports`"},
      {"network: {egress: [{host: a.b, ports: []}]}\n", "1:39 network.egress[0].ports names no"},
      {"network: {egress: [{host: a.b, ports: [1], protocol: icmp}]}\n",
       "1:54 network.egress[0].protocol: `icmp` is not a value here; known here: `tcp`, `udp`"},
      {"network: {bind: {allow: [127.0.0.1]}}\n", "1:26 network.bind.allow[0]: `127.0.0.1` is no "},
      {"name_resolution: {allow: ['a.b:53']}\n", "1:27 name_resolution.allow[0]: `a.b:53` is no "},
      {"ipc: {signals: outside}\n", "1:16 ipc.signals: `outside` is not a value here"},
  });
}

TEST(PolicyDecodeTest, StatementsThatContradictTheirNeighboursAreRefused) {
  expect_faults({
      {"filesystem: {execute: {allow: [/usr]}}\n", "1:31 filesystem.execute is stated and filesy"},
      {"filesystem: {deny: [/usr]}\n", "1:20 filesystem.deny is stated without a grant"},
      {"filesystem: {read: {deny: [/usr]}, write: {allow: [/usr]}}\n",
       "1:27 filesystem.read.deny is stated without a grant to deny a part of; state "
       "filesystem.read.allow"},
      {"filesystem: {write: {deny: [/usr]}, read: {allow: [/usr]}}\n",
       "1:28 filesystem.write.deny is stated without a grant"},
      {"syscalls: {deny: [ptrace]}\n", "1:11 syscalls states no `allow` list"},
      {"syscalls: {on_denial: kill}\n", "1:11 syscalls states no `allow` list"},
      {"network: {on_denial: kill}\n", "1:10 network.on_denial is stated without a list"},
  });
}

TEST(PolicyDecodeTest, EnvelopeIsReadStrictly) {
  expect_faults({
      {"kind: Policy\nspec: {}\n", "1:1 `apiVersion` is missing"},
      {"apiVersion: agent-assembly/v1\nspec: {}\n", "1:1 `kind` is missing"},
      {"apiVersion: agent-assembly/v1\nkind: Policy\n", "1:1 `spec` is missing"},
      {"apiVersion: agent-assembly/v2\nkind: Policy\nspec: {}\n",
       "1:13 apiVersion: `agent-assembly/v2` is not a value here; did you mean "
       "`agent-assembly/v1`"},
      {"apiVersion: agent-assembly/v1\nkind: policy\nspec: {}\n",
       "2:7 kind: `policy` is not a value here; did you mean `Policy`?"},
      {"apiVersion: agent-assembly/v1\nkind: Policy\nspec: {}\nfilesystem: {}\n",
       "4:1 `filesystem` stands beside `spec`; it belongs into it"},
      {"apiVersion: agent-assembly/v1\nkind: Policy\nspec: {}\nmetdata: {}\n",
       "4:1 unknown key `metdata` in the document; did you mean `metadata`?"},
      {"apiVersion: agent-assembly/v1\nkind: Policy\nspec:\n", "3:1 spec has to be a map and is n"},
      {"metadata: {nmae: x}\n", "1:12 unknown key `nmae` in metadata; did you mean `name`?"},
      {"metadata: {name: [x]}\n", "1:18 metadata.name has to be text and is a list"},
      {"metadata: {scope: planet}\n", "1:19 metadata.scope: `planet` is not a value here"},
  });
}

TEST(PolicyDecodeTest, ScopeAndExtendsAreRead) {
  const PolicyDocument document =
      decoded("metadata: {scope: team, extends: [org.yaml, /etc/aasm/g.yaml, '${HOME}/x.yaml']}\n");
  EXPECT_EQ(document.metadata.scope, schema::PolicyScope::kTeam);
  ASSERT_EQ(document.metadata.extends->entries.size(), 3U);
  EXPECT_EQ(document.metadata.extends->entries[0].text, "org.yaml");
  EXPECT_EQ(document.metadata.extends->entries[2].text, "/home/u/x.yaml");
  EXPECT_FALSE(decoded("filesystem: {}\n").metadata.extends.has_value());
  expect_faults({
      {"metadata: {extends: org.yaml}\n", "1:21 metadata.extends has to be a list and is text"},
      {"metadata: {extends: ['']}\n", "1:22 metadata.extends[0]: an empty name"},
      {"metadata: {extends: ['~/x.yaml']}\n", "1:22 metadata.extends[0]: `~/x.yaml` starts with"},
      {"metadata: {extends: ['${WORKDIR}/x']}\n",
       "1:22 metadata.extends[0]: `${WORKDIR}/x` uses a variable where none is read"},
  });
}

TEST(PolicyDecodeTest, ListsThatOnlyTakeAwayMayStandInADocumentWithAScope) {
  EXPECT_EQ(problems_of("filesystem: {deny: [/usr]}\nmetadata: {scope: org}\n"), "");
  EXPECT_EQ(problems_of("metadata: {scope: org}\nsyscalls: {deny: [ptrace]}\n"), "");
}

TEST(PolicyDecodeTest, PlainNumbersAndBooleansAreNoText) {
  for (const char* text : {"1", "-1", "+1.5", "1.", ".5", "1e3", "0x1F", "0o17", ".inf", "-.INF",
                           ".nan", "true", "False"}) {
    const std::string entry = std::string("credentials: {environment: {allow: [") + text + "]}}\n";
    EXPECT_NE(problems_of(entry).find("put it in quotes if it is meant"), std::string::npos)
        << text;
  }
  for (const char* text : {"a1", "_1", "yes", "True_", "e3", "x0x1"}) {
    const std::string entry = std::string("credentials: {environment: {allow: [") + text + "]}}\n";
    EXPECT_EQ(problems_of(entry), "") << text;
  }
  EXPECT_EQ(problems_of("credentials: {environment: {allow: ['true']}}\n"), "");
  expect_faults({{"network: {allowlist: [8080]}\n",
                  "1:23 network.allowlist[0] has to be text and `8080` is a number"}});
}

TEST(PolicyDecodeTest, PathsThatNoKernelCallTakesAreRefusedAtTheirExactLength) {
  const auto problem = [](const std::string& path) {
    return problems_of("filesystem: {read: {allow: ['" + path + "']}}\n");
  };
  const auto path_of = [](std::size_t bytes) {
    std::string path;
    while (path.size() + 101 <= bytes) {
      path += "/" + std::string(100, 'p');
    }
    return path + "/" + std::string(bytes - path.size() - 1, 'q');
  };
  for (const std::size_t name : {63U, 64U, 65U, 255U}) {
    EXPECT_EQ(problem("/" + std::string(name, 'n')), "") << name;
  }
  EXPECT_NE(problem("/" + std::string(256, 'n')).find("a name of 256 bytes"), std::string::npos);
  EXPECT_NE(problem("/a/" + std::string(86, 'n') + "\xC3\xBC" + std::string(168, 'n')).find("256"),
            std::string::npos)
      << "bytes are counted, not characters";
  EXPECT_EQ(problem(path_of(4000)), "");
  EXPECT_EQ(problem(path_of(4095)), "");
  EXPECT_NE(problem(path_of(4096)).find("stands for 4096 bytes"), std::string::npos);
  EXPECT_EQ(problem("${WORKDIR}" + path_of(4095 - 9)), "") << "/work/dir has 9";
  EXPECT_NE(problem("${WORKDIR}" + path_of(4095 - 8)).find("stands for 4096"), std::string::npos);
  EXPECT_LT(problem(path_of(5000)).size(), 250U) << "a message does not repeat the path";
}

TEST(PolicyDecodeTest, AllFaultsAreReportedTogetherInTheOrderOfTheDocument) {
  const std::string problems = problems_of(
      "syscalls: {allow: [Bad]}\nfilesystem:\n  read: {allow: [rel, /ok]}\n  wirte: {}\n");
  EXPECT_EQ(problems,
            "1:20 syscalls.allow[0]: `Bad` is neither the name of a system call nor a group like "
            "@default\n"
            "3:18 filesystem.read.allow[0]: `rel` is not absolute; start it with `/`, `${WORKDIR}` "
            "or `${HOME}`\n"
            "4:3 unknown key `wirte` in filesystem; did you mean `write`?");
}

TEST(PolicyDecodeTest, ALongListOfFaultsIsCutAndSaysSo) {
  std::string text = "credentials: {environment: {allow: [";
  for (int i = 0; i < 30; ++i) {
    text += "'1', ";
  }
  const DecodedPolicy result = decode_policy(text + "]}}\n", testing::decode_context());
  EXPECT_EQ(result.problems.size(), 30U);
  const std::string rendered = render_problems(problems_in("p.yaml", result.problems));
  EXPECT_EQ(rendered.substr(0, 12), "p.yaml:1:37:");
  EXPECT_NE(rendered.find("\nand 10 more"), std::string::npos);
}

TEST(PolicyDecodeTest, MessagesHoldNoRawControlCharacters) {
  const std::string problems = problems_of("\"a\\e[31m\\n\": 1\n");
  EXPECT_EQ(problems.find('\x1b'), std::string::npos);
  EXPECT_EQ(problems.find('\n'), std::string::npos);
}

TEST(PolicyDecodeTest, AbsentEmptyAndFilledListsStayThreeThings) {
  const PolicyDocument absent = decoded("filesystem: {write: {allow: [/w]}}\n");
  EXPECT_FALSE(absent.filesystem->read.has_value());
  const PolicyDocument empty = decoded("filesystem: {read: {allow: []}}\n");
  ASSERT_TRUE(empty.filesystem->read.has_value());
  EXPECT_TRUE(empty.filesystem->read->entries.empty());
  const PolicyDocument filled = decoded("filesystem: {read: {allow: [/r]}}\n");
  ASSERT_EQ(filled.filesystem->read->entries.size(), 1U);
  EXPECT_EQ(filled.filesystem->read->entries[0].text, "/r");
  EXPECT_FALSE(decoded("filesystem: {read: {}}\n").filesystem->read.has_value());
}

TEST(PolicyDecodeTest, RepeatedEntriesCollapseAndKeepTheirIndexes) {
  const PolicyDocument document = decoded("filesystem: {read: {allow: [/a, /a/, /b]}}\n");
  ASSERT_EQ(document.filesystem->read->entries.size(), 2U);
  EXPECT_EQ(document.filesystem->read->entries[1].index, 2U);
}

TEST(PolicyDecodeTest, HostPatternsAreLowerCaseWithTheirPort) {
  const PolicyDocument document =
      decoded("network: {allowlist: [API.example.com, '*.B.org:8443', '*', '[::1]:80']}\n");
  const std::vector<TextEntry>& entries = document.network->allowlist->entries;
  ASSERT_EQ(entries.size(), 4U);
  EXPECT_EQ(entries[0].text, "api.example.com:443");
  EXPECT_EQ(entries[1].text, "*.b.org:8443");
  EXPECT_EQ(entries[2].text, "*:443");
  EXPECT_EQ(entries[3].text, "[::1]:80");
}

TEST(PolicyDecodeTest, NodesOfTheReferenceAreKnownAndListed) {
  const PolicyDocument document = decoded(
      "version: '1'\nscope: global\napproval_timeout_secs: 5\ntools: {x: {allow: true}}\n"
      "budget: {daily_limit_usd: 1.5}\nschedule: {}\ndata: {}\napproval: {}\n");
  EXPECT_EQ(document.unmapped.size(), 8U);
  EXPECT_FALSE(document.tools_allow_all);
  EXPECT_TRUE(decoded("tools: {'*': {allow: true}}\n").tools_allow_all);
  EXPECT_FALSE(decoded("tools: {'*': {allow: 'true'}}\n").tools_allow_all);
  EXPECT_FALSE(decoded("tools: {'*': {allow: true}, x: {allow: false}}\n").tools_allow_all);
}

class SmallVocabulary final : public SyscallVocabulary {
 public:
  bool known_name(std::string_view name) const override { return name == "openat"; }
  std::vector<std::string> members(std::string_view /*group*/) const override { return {}; }
  bool known_group(std::string_view group) const override { return group == "@default"; }
  std::vector<std::string> suggestions() const override { return {"openat", "@default"}; }
};

TEST(PolicyDecodeTest, UnknownSystemCallsAreRefusedWithASuggestion) {
  const SmallVocabulary vocabulary;
  DecodeContext context = testing::decode_context();
  context.vocabulary = &vocabulary;
  EXPECT_EQ(problems_of("syscalls: {allow: ['@default', openat]}\n", context), "");
  EXPECT_EQ(problems_of("syscalls: {allow: [opnat]}\n", context),
            "1:20 syscalls.allow[0]: `opnat` is no system call known here; did you mean `openat`?");
  EXPECT_EQ(problems_of("syscalls: {allow: ['@defualt']}\n", context),
            "1:20 syscalls.allow[0]: `@defualt` is no group of system calls known here; did you "
            "mean `@default`?");
  EXPECT_EQ(problems_of("syscalls: {allow: [opnat]}\n"), "") << "without a vocabulary, by shape";
}

TEST(PolicyDecodeTest, EveryNodeOfTheSpecificationCanBeStated) {
  EXPECT_EQ(problems_of(testing::file_text(testing::testdata("all-nodes.yaml"))), "");
}

}  // namespace
}  // namespace aasm::planner
