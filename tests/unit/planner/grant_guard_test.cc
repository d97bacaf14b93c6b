#include "aasm/planner/grant_guard.h"

#include <sys/mount.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "planner_support.h"
#include "temp_dir.h"

namespace aasm::planner {
namespace {

using schema::Domain;
using schema::LaunchRefusal;
using schema::Refusal;

// A state directory as `aasm init` makes it, beside a workspace and a place for programs:
//   state/{ledger.db,policy.yaml,trust} state/keys/key  work/  bin/aasm
class GrantGuardTest : public ::testing::Test {
 protected:
  GrantGuardTest() {
    for (const char* dir : {"/state", "/state/keys", "/work", "/bin"}) {
      std::filesystem::create_directory(root() + dir);
    }
    for (const char* file : {"/state/ledger.db", "/state/policy.yaml", "/state/keys/key",
                             "/state/trust", "/bin/aasm"}) {
      std::ofstream(root() + file) << "x";
    }
    protect_.home = root() + "/state";
    protect_.unreadable = {root() + "/state/ledger.db", root() + "/state/keys",
                           root() + "/state/trust"};
    protect_.unwritable = {root() + "/state/policy.yaml", root() + "/bin/aasm"};
  }

  const std::string& root() const { return dir_.path(); }

  std::vector<Refusal> check(Domain domain, const std::string& path,
                             const std::string& operation = "read") const {
    schema::Requirement one = testing::requirement(domain);
    schema::PolicyRule rule;
    rule.id = "the.rule[0]";
    rule.operation = operation;
    rule.selector.type = schema::SelectorType::kPathPrefix;
    rule.selector.value = schema::PathBytes(path);
    rule.line = 7;
    one.rules = {rule};
    return check_grants({one}, protect_, {"/p.yaml", {}}, walk_path);
  }

  // The kinds of refusal a grant meets, in order.
  std::string kinds(Domain domain, const std::string& path,
                    const std::string& operation = "read") const {
    std::string text;
    for (const Refusal& refusal : check(domain, path, operation)) {
      text += (text.empty() ? "" : " ") + std::string(schema::token(refusal.launch));
    }
    return text;
  }

  std::string read(const std::string& path) const { return kinds(Domain::kFilesystemRead, path); }
  std::string write(const std::string& path) const {
    return kinds(Domain::kFilesystemWrite, path, "write");
  }

  testing::TempDir dir_;
  ProtectedPaths protect_;
};

TEST_F(GrantGuardTest, GrantsBesideTheProtectedFilesPass) {
  EXPECT_EQ(read(root() + "/work"), "");
  EXPECT_EQ(write(root() + "/work"), "");
  EXPECT_EQ(read(root() + "/bin"), "") << "reading aasm is harmless";
  EXPECT_EQ(read(root() + "/state/policy.yaml"), "");
  EXPECT_EQ(read("/usr"), "");
}

TEST_F(GrantGuardTest, GrantsOverEvidenceAreRefusedForEachOperation) {
  for (const std::string& path :
       {std::string("/"), root(), root() + "/state", root() + "/state/keys",
        root() + "/state/ledger.db", root() + "/state/trust"}) {
    EXPECT_EQ(read(path), "grant_covers_evidence") << path;
    EXPECT_EQ(kinds(Domain::kFilesystemRead, path, "execute"), "grant_covers_evidence") << path;
    EXPECT_EQ(write(path).substr(0, 21), "grant_covers_evidence") << path;
  }
}

TEST_F(GrantGuardTest, WriteGrantsOverControlAreRefusedAndReadGrantsAreNot) {
  EXPECT_EQ(write(root() + "/bin"), "grant_covers_control");
  EXPECT_EQ(write(root() + "/bin/aasm"), "grant_covers_control");
  EXPECT_EQ(write(root() + "/state/policy.yaml"), "grant_covers_control");
  EXPECT_EQ(write("/"), "grant_covers_evidence grant_covers_control");
}

TEST_F(GrantGuardTest, OfControlGroupsOtherThingsAreTrueThanOfThePolicy) {
  protect_.groups = {root() + "/work"};
  protect_.unwritable.push_back(root() + "/work");
  const std::vector<Refusal> groups = check(Domain::kFilesystemWrite, root() + "/work", "write");
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_NE(groups[0].detail.find("resources.memory_bytes"), std::string::npos);
  EXPECT_EQ(groups[0].detail.find("next run"), std::string::npos);
  const std::vector<Refusal> both = check(Domain::kFilesystemWrite, "/", "write");
  ASSERT_EQ(both.size(), 3U) << "evidence, policy and aasm, groups";
  EXPECT_EQ(both[1].detail.find(root() + "/work"), std::string::npos);
  EXPECT_NE(both[2].detail.find(root() + "/work"), std::string::npos);
}

TEST_F(GrantGuardTest, GrantInsideAProtectedDirectoryIsRefused) {
  EXPECT_EQ(read(root() + "/state/keys/key"), "grant_covers_evidence");
  EXPECT_EQ(read(root() + "/state/keys/not-there-yet"), "grant_covers_evidence");
}

TEST_F(GrantGuardTest, SymbolicLinkToTheStateDirectoryHidesNothing) {
  std::filesystem::create_symlink(root() + "/state", root() + "/work/innocent");
  EXPECT_EQ(read(root() + "/work/innocent"), "grant_covers_evidence");
  EXPECT_EQ(write(root() + "/work/innocent/ledger.db"), "grant_covers_evidence");
}

TEST_F(GrantGuardTest, DirectoryThatHoldsALinkOnTheWayToTheLedgerIsRefused) {
  std::filesystem::create_directory(root() + "/links");
  std::filesystem::create_symlink(root() + "/state", root() + "/links/aasm");
  protect_.unreadable = {root() + "/links/aasm/ledger.db"};
  EXPECT_EQ(write(root() + "/links"), "grant_covers_evidence");
  EXPECT_EQ(write(root() + "/state"), "grant_covers_evidence grant_covers_control");
  EXPECT_EQ(write(root() + "/work"), "");
}

TEST_F(GrantGuardTest, HardLinkToAnEvidenceFileIsRefusedWhereverItLies) {
  std::filesystem::create_hard_link(root() + "/state/ledger.db", root() + "/work/copy");
  const std::vector<Refusal> direct = check(Domain::kFilesystemRead, root() + "/work/copy");
  ASSERT_EQ(direct.size(), 2U);
  EXPECT_NE(direct[0].detail.find("ledger.db"), std::string::npos);
  // Nobody can know what directory holds the second name: the file itself is refused.
  const std::vector<Refusal> elsewhere = check(Domain::kFilesystemRead, "/usr");
  ASSERT_EQ(elsewhere.size(), 1U);
  EXPECT_EQ(elsewhere[0].launch, LaunchRefusal::kGrantCoversEvidence);
  EXPECT_NE(elsewhere[0].detail.find("2 names"), std::string::npos);
}

TEST_F(GrantGuardTest, ProtectedFileThatDoesNotExistYetIsProtectedByItsPath) {
  protect_.unreadable = {root() + "/fresh/ledger.db"};
  EXPECT_EQ(read(root() + "/fresh"), "grant_covers_evidence");
  EXPECT_EQ(read(root()), "grant_covers_evidence");
  EXPECT_EQ(read(root() + "/work"), "");
}

TEST_F(GrantGuardTest, BindMountOfTheStateDirectoryHidesNothing) {
  std::filesystem::create_directory(root() + "/mounted");
  if (::mount((root() + "/state").c_str(), (root() + "/mounted").c_str(), nullptr, MS_BIND,
              nullptr) != 0) {
    GTEST_SKIP() << "bind mounts need a privilege this test runs without";
  }
  const std::string refused = read(root() + "/mounted");
  ::umount2((root() + "/mounted").c_str(), MNT_DETACH);
  EXPECT_EQ(refused, "grant_covers_evidence");
}

TEST_F(GrantGuardTest, DenyRulesAndOtherDomainsGrantNothing) {
  schema::Requirement one = testing::requirement(Domain::kFilesystemRead);
  schema::PolicyRule rule;
  rule.id = "filesystem.deny[0]";
  rule.effect = schema::RuleEffect::kDeny;
  rule.operation = "read";
  rule.selector.type = schema::SelectorType::kPathPrefix;
  rule.selector.value = schema::PathBytes(root() + "/state");
  one.rules = {rule};
  EXPECT_TRUE(check_grants({one}, protect_, {}, walk_path).empty());
  one.domain = Domain::kIpc;
  one.rules[0].effect = schema::RuleEffect::kAllow;
  EXPECT_TRUE(check_grants({one}, protect_, {}, walk_path).empty());
}

TEST_F(GrantGuardTest, MessageNamesRuleLineAndWhatIsCovered) {
  const std::vector<Refusal> refusals = check(Domain::kFilesystemRead, root() + "/state");
  ASSERT_EQ(refusals.size(), 1U);
  EXPECT_NE(refusals[0].detail.find("`the.rule[0]` (/p.yaml:7) grants to read"), std::string::npos);
  EXPECT_NE(refusals[0].detail.find("ledger.db"), std::string::npos);
  EXPECT_NE(refusals[0].detail.find("/keys"), std::string::npos);
  EXPECT_TRUE(refusals[0].check());
}

}  // namespace
}  // namespace aasm::planner
