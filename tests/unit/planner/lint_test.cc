#include "aasm/planner/lint.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "planner_support.h"
#include "temp_dir.h"

namespace aasm::planner {
namespace {

// A home with a workspace in it, and the policy of a run in the workspace.
class LintTest : public ::testing::Test {
 protected:
  LintTest() : home_(dir_.path() + "/home"), work_(home_ + "/work") {
    for (const char* path : {"/work/.git/hooks", "/.ssh", "/bin", "/.aasm/keys"}) {
      std::filesystem::create_directories(home_ + path);
    }
  }

  ResolvedPolicy resolve(const std::string& text) const {
    PolicyRequest request;
    request.sources.option = work_ + "/p.yaml";
    request.current_dir = work_;
    request.paths = {work_, home_};
    request.hash = testing::fake_hash;
    request.reader = [text](const std::string&, std::size_t) {
      return schema::Result<std::optional<std::string>>(std::optional<std::string>(text));
    };
    return resolve_policy(request);
  }

  std::vector<PolicyFinding> lint(const std::string& text) const {
    const ResolvedPolicy policy = resolve(text);
    EXPECT_EQ(policy.record.error, "");
    LintContext context;
    context.program_path = {home_ + "/bin", "/usr/bin"};
    context.home = home_;
    context.git_dirs = {work_ + "/.git"};
    context.protect.unreadable = {home_ + "/.aasm/keys"};
    return lint_policy(policy, context);
  }

  // "error code 3:14 rule" for each finding.
  std::string codes(const std::string& text) const {
    std::string all;
    for (const PolicyFinding& one : lint(text)) {
      all +=
          (all.empty() ? "" : "\n") + std::string(one.severity == Severity::kError ? "E " : "W ");
      all += one.code;
      if (one.where.at) {
        all += " " + std::to_string(one.where.at->line) + ":" +
               std::to_string(one.where.at->column) + " " + one.rule;
      }
    }
    return all;
  }

  const testing::TempDir dir_;
  std::string home_;
  std::string work_;
};

const std::string kRead = "filesystem:\n  read: {allow: [/usr]}\n";

TEST_F(LintTest, ANarrowPolicyHasNothingToSay) {
  std::filesystem::create_directories(work_ + "/out");
  EXPECT_EQ(codes(kRead + "  write: {allow: ['${WORKDIR}/out']}\n"), "");
}

TEST_F(LintTest, WritingWhatRunsOutsideIsNamedWithItsPlace) {
  EXPECT_EQ(codes(kRead + "  write:\n    allow: ['${WORKDIR}']\n"),
            "W writes_git_programs 4:13 filesystem.write.allow[0]");
  EXPECT_EQ(codes(kRead + "  write:\n    allow: ['${HOME}/bin']\n"),
            "W writes_programs 4:13 filesystem.write.allow[0]");
  std::ofstream(home_ + "/.profile") << "";
  EXPECT_EQ(codes(kRead + "  write:\n    allow: ['${HOME}/.profile']\n"),
            "W writes_startup_files 4:13 filesystem.write.allow[0]");
  std::filesystem::create_directories(home_ + "/bin/sub");
  EXPECT_EQ(codes(kRead + "  write: {allow: ['${HOME}/bin/sub']}\n"),
            "W writes_programs 3:19 filesystem.write.allow[0]")
      << "a grant inside such a directory";
}

TEST_F(LintTest, AGrantOfTheWholeHomeIsNamedForEachThingInIt) {
  const std::string all = codes(kRead + "  write: {allow: ['${HOME}']}\n");
  for (const char* code : {"W writes_programs", "W writes_startup_files", "W writes_git_programs",
                           "W writes_credentials", "E grant_covers_evidence 3:19"}) {
    EXPECT_NE(all.find(code), std::string::npos) << code << " in\n" << all;
  }
  EXPECT_EQ(all.substr(0, 2), "E ") << "errors come first";
}

TEST_F(LintTest, ReadingCredentialsIsNamedUnderAnyName) {
  const std::string write = "  write: {allow: []}\n";
  EXPECT_EQ(codes("filesystem:\n  read: {allow: [/usr, '${HOME}/.ssh']}\n" + write),
            "W reads_credentials 2:24 filesystem.read.allow[1]");
  std::filesystem::create_symlink(home_ + "/.ssh", work_ + "/innocent");
  EXPECT_EQ(codes("filesystem:\n  read: {allow: ['${WORKDIR}/innocent']}\n" + write),
            "W reads_credentials 2:18 filesystem.read.allow[0]");
  EXPECT_EQ(codes("filesystem:\n  read: {allow: [/proc]}\n" + write),
            "W reads_processes 2:18 filesystem.read.allow[0]");
}

TEST_F(LintTest, EveryHostIsNamedInEachSpelling) {
  const std::string files = kRead + "  write: {allow: []}\n";
  EXPECT_EQ(codes(files + "network: {allowlist: ['*']}\n"),
            "W every_host 4:23 network.allowlist[0]\n"
            "W every_host 4:23 network.allowlist[0]")
      << "once to connect and once to look up";
  EXPECT_NE(
      codes(files + "network: {egress: [{host: 0.0.0.0/0, ports: [1]}]}\n").find("every_host"),
      std::string::npos);
  EXPECT_EQ(codes(files + "network: {allowlist: ['*.example.org']}\n"), "");
}

TEST_F(LintTest, CredentialsThatArePassedOnAreNamed) {
  EXPECT_EQ(codes(kRead + "  write: {allow: []}\n"
                          "credentials: {environment: {allow: [PATH, AWS_SECRET_ACCESS_KEY]}}\n"),
            "W passes_credential 4:43 credentials.environment.allow[1]");
}

TEST_F(LintTest, WhatKeepsARunFromStartingIsAnError) {
  EXPECT_EQ(codes(kRead), "E filesystem_not_stated");
  EXPECT_EQ(codes("tools: {}\n"), "E unconfigured");
  EXPECT_EQ(codes("filesystem: {read: {allow: [/]}, write: {allow: [/]}}\n"), "W permissive")
      << "without a boundary nothing else counts";
}

TEST_F(LintTest, StatementsAreFoundByTheirIds) {
  const ResolvedPolicy policy = resolve(
      "filesystem:\n  read: {allow: [/usr]}\n  deny: [/usr/x]\n"
      "network:\n  allowlist: [a.b]\n  bind: {allow: ['127.0.0.1:80']}\n"
      "  egress:\n    - {host: a.c, ports: [1]}\nname_resolution: {allow: [x.y]}\n"
      "credentials: {environment: {allow: [A]}, descriptors: {allow: [0, 7]}}\n"
      "ipc: {unix_sockets: {allow: [/s]}}\nsyscalls: {allow: [read], deny: [write]}\n"
      "capabilities: {allow: [file_read], deny: ['model:x']}\n");
  ASSERT_EQ(policy.record.error, "");
  const auto line = [&](const char* id) {
    const std::optional<SourceProblem> at = statement_place(policy, id);
    return at ? at->at->line : -1;
  };
  EXPECT_EQ(line("filesystem.read.allow[0]"), 2);
  EXPECT_EQ(line("filesystem.deny[0].write"), 3);
  EXPECT_EQ(line("network.allowlist[0]"), 5);
  EXPECT_EQ(line("network.bind.allow[0]"), 6);
  EXPECT_EQ(line("network.egress[0].ports[0]"), 8);
  EXPECT_EQ(line("name_resolution.allow[0]"), 9);
  EXPECT_EQ(line("credentials.environment.allow[0]"), 10);
  EXPECT_EQ(line("credentials.descriptors.allow[1]"), 10);
  EXPECT_EQ(line("ipc.unix_sockets.allow[0]"), 11);
  EXPECT_EQ(line("syscalls.deny[0]"), 12);
  EXPECT_EQ(line("capabilities.deny[0]"), 13);
  for (const char* none : {"", "[", "[0]", "filesystem.read.allow", "filesystem.read.allow[",
                           "filesystem.read.allow[9]", "filesystem.write.allow[0]", "x.allow[0]",
                           "org:filesystem.read.allow[0]", "filesystem.read.allow[0"}) {
    EXPECT_EQ(line(none), -1) << none;
  }
}

TEST_F(LintTest, TheTerminalsOfThisUserAreMentioned) {
  for (const char* path : {"/dev", "/dev/pts"}) {
    const std::string text = codes("filesystem: {read: {allow: [" + std::string(path) +
                                   "]}, write: {allow: [" + path + "]}}\n");
    EXPECT_EQ(text,
              "W reaches_terminals 1:29 filesystem.read.allow[0]\n"
              "W reaches_terminals " +
                  std::string(path == std::string("/dev") ? "1:53" : "1:57") +
                  " filesystem.write.allow[0]");
  }
  EXPECT_EQ(codes("filesystem: {read: {allow: [/dev/null, /dev/tty]}, write: {allow: []}}\n"), "");
}

class LintEnforcementTest : public LintTest {
 protected:
  static constexpr const char* kText =
      "filesystem: {read: {allow: [/usr]}, write: {allow: []}}\nnetwork:\n  allowlist: [a.b]\n"
      "posture: {network_egress: degrade_if_unavailable}\n";

  // "error code 3:14: text" for each finding, with the domains that `backends` carry out.
  std::string said(const std::vector<schema::CapabilityProbed>& backends) const {
    std::string all;
    for (const PolicyFinding& one : lint_enforcement(resolve(kText), backends)) {
      all += (one.severity == Severity::kError ? "E " : "W ") + one.code;
      all += one.where.at ? " " + std::to_string(one.where.at->line) + ":" +
                                std::to_string(one.where.at->column)
                          : "";
      all += ": " + one.where.text + "\n";
    }
    return all;
  }
  static schema::CapabilityProbed backend(const std::vector<schema::Domain>& domains) {
    std::vector<schema::DomainCapability> list;
    for (const schema::Domain domain : domains) {
      list.push_back(testing::preventing(domain));
    }
    return testing::capabilities(std::move(list));
  }
};

TEST_F(LintEnforcementTest, WhatIsCarriedOutIsNotMentioned) {
  EXPECT_EQ(said({backend({schema::Domain::kFilesystemRead, schema::Domain::kFilesystemWrite,
                           schema::Domain::kNetworkEgress, schema::Domain::kNameResolution})}),
            "");
}

TEST_F(LintEnforcementTest, PostureMakesItAnErrorOrAWarningAtTheStatement) {
  const std::string text =
      said({backend({schema::Domain::kFilesystemRead, schema::Domain::kFilesystemWrite})});
  EXPECT_NE(text.find("W not_enforced_here 3:3: "), std::string::npos) << text;
  EXPECT_NE(text.find("E not_enforced_here 3:3: "), std::string::npos) << text;
  EXPECT_NE(text.find("`posture.network_egress` is degrade_if_unavailable"), std::string::npos);
  EXPECT_NE(text.find("refuse unpermitted actions of name_resolution"), std::string::npos) << text;
  EXPECT_EQ(text.find("filesystem_"), std::string::npos) << text;
}

TEST_F(LintEnforcementTest, OneBackendThatCarriesItOutIsEnough) {
  const schema::CapabilityProbed files =
      backend({schema::Domain::kFilesystemRead, schema::Domain::kFilesystemWrite});
  const schema::CapabilityProbed names =
      backend({schema::Domain::kNetworkEgress, schema::Domain::kNameResolution});
  EXPECT_EQ(said({files, names}), "");
}

TEST_F(LintEnforcementTest, WithoutABackendPostureHelpsNot) {
  schema::CapabilityProbed none = backend({});
  none.available = false;
  none.unavailable_reason = "no Landlock";
  const std::string text = said({none});
  EXPECT_EQ(text.find("W "), std::string::npos) << text;
  for (const char* domain :
       {"filesystem_read", "filesystem_write", "network_egress", "name_resolution"}) {
    EXPECT_NE(text.find("carries out " + std::string(domain) + ", whatever posture says: "),
              std::string::npos)
        << text;
  }
  EXPECT_NE(said({}).find("no backend is built"), std::string::npos);
}

}  // namespace
}  // namespace aasm::planner
