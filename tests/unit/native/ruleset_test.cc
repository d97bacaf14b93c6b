#include "ruleset.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "landlock_uapi.h"
#include "policy_builder.h"

namespace aasm::backend_native {
namespace {

using testing::allow_path;
using testing::deny_path;
using testing::deny_whole;
using testing::read_requirement;
using ::testing::SizeIs;
using testing::write_requirement;

constexpr std::uint64_t kReadDirectory = landlock::kReadFile | landlock::kReadDir;

TEST(LandlockRightsTest, EachAbiKnowsExactlyTheRightsItBrought) {
  EXPECT_EQ(landlock::known_rights(0), 0U);
  EXPECT_EQ(landlock::known_rights(1), 0x1fffU);
  EXPECT_EQ(landlock::known_rights(2), 0x3fffU);
  EXPECT_EQ(landlock::known_rights(3), 0x7fffU);
  EXPECT_EQ(landlock::known_rights(4), 0x7fffU);
  EXPECT_EQ(landlock::known_rights(5), 0xffffU);
  EXPECT_EQ(landlock::known_rights(6), 0xffffU);
  EXPECT_EQ(landlock::known_rights(99), 0xffffU);
}

TEST(LandlockRightsTest, TheSignalScopeAppearsWithAbiSix) {
  EXPECT_EQ(landlock::known_scopes(5) & landlock::kScopeSignal, 0U);
  EXPECT_EQ(landlock::known_scopes(6) & landlock::kScopeSignal, landlock::kScopeSignal);
}

struct InstallableRow {
  const char* why;
  Operation operation;
  FileKind kind;
  std::int64_t abi;
  std::uint64_t expected;
};

class InstallableRightsTest : public ::testing::TestWithParam<InstallableRow> {};

TEST_P(InstallableRightsTest, AreWhatFileAndKernelCanHold) {
  const InstallableRow& row = GetParam();
  EXPECT_EQ(installable_rights(rights_of(row.operation), row.kind, row.abi), row.expected)
      << row.why;
}

INSTANTIATE_TEST_SUITE_P(
    Rows, InstallableRightsTest,
    ::testing::Values(
        InstallableRow{"a directory can be listed", Operation::kRead, FileKind::kDirectory, 7,
                       kReadDirectory},
        InstallableRow{"a file cannot be listed", Operation::kRead, FileKind::kOther, 7,
                       landlock::kReadFile},
        InstallableRow{"a readable terminal takes ioctl", Operation::kRead, FileKind::kDevice, 7,
                       landlock::kReadFile | landlock::kIoctlDev},
        InstallableRow{"ABI 4 has no ioctl right", Operation::kRead, FileKind::kDevice, 4,
                       landlock::kReadFile},
        InstallableRow{"execution is one right", Operation::kExecute, FileKind::kDirectory, 7,
                       landlock::kExecute},
        InstallableRow{"an executable device is not controlled", Operation::kExecute,
                       FileKind::kDevice, 7, landlock::kExecute},
        InstallableRow{"every right but reading and executing", Operation::kWrite,
                       FileKind::kDirectory, 7, 0xffffU & ~kReadDirectory & ~landlock::kExecute},
        InstallableRow{"ABI 2 cannot hold truncation", Operation::kWrite, FileKind::kDirectory, 2,
                       0x3fffU & ~kReadDirectory & ~landlock::kExecute},
        InstallableRow{"in a file nothing is made", Operation::kWrite, FileKind::kOther, 7,
                       landlock::kWriteFile | landlock::kTruncate | landlock::kIoctlDev}));

TEST(GrantRequestsTest, ExecutionFollowsReadingWhenNotStated) {
  const auto requests = grant_requests({read_requirement({allow_path("r0", "read", "/usr")})});
  ASSERT_THAT(requests, SizeIs(1));
  EXPECT_EQ(requests[0].wanted, kReadDirectory | landlock::kExecute);
  EXPECT_EQ(requests[0].rule, "r0");
}

TEST(GrantRequestsTest, AnExecuteRuleTakesExecutionFromReading) {
  const auto requests = grant_requests(
      {read_requirement({allow_path("r0", "read", "/home"), allow_path("x0", "execute", "/usr")})});
  ASSERT_THAT(requests, SizeIs(2));
  EXPECT_EQ(requests[0].wanted, kReadDirectory);
  EXPECT_EQ(requests[1].wanted, landlock::kExecute);
}

TEST(GrantRequestsTest, AnEmptyExecuteListLeavesNothingExecutable) {
  const auto requests = grant_requests(
      {read_requirement({allow_path("r0", "read", "/home"), deny_whole("x", "execute")})});
  ASSERT_THAT(requests, SizeIs(1));
  EXPECT_EQ(requests[0].wanted, kReadDirectory);
}

TEST(GrantRequestsTest, ADenyOfOnePathDoesNotStateExecution) {
  const auto requests = grant_requests({read_requirement(
      {allow_path("r0", "read", "/usr"), deny_path("d0", "execute", "/home/x")})});
  ASSERT_THAT(requests, SizeIs(1));
  EXPECT_EQ(requests[0].wanted, kReadDirectory | landlock::kExecute);
}

TEST(GrantRequestsTest, ADenyOfTheWholeTakesEveryGrantOfThatOperationAway) {
  const auto requests = grant_requests(
      {read_requirement({allow_path("r0", "read", "/usr")}),
       write_requirement({allow_path("w0", "write", "/tmp"), deny_whole("w", "write")})});
  ASSERT_THAT(requests, SizeIs(1));
  EXPECT_EQ(requests[0].rule, "r0");
}

TEST(GrantRequestsTest, OtherDomainsGrantNoPath) {
  EXPECT_THAT(grant_requests({testing::requirement(schema::Domain::kIpc, "ipc.allow",
                                                   {allow_path("i0", "read", "/run/x")})}),
              SizeIs(0));
}

// dir/            a directory
// dir/file        a regular file
// link -> dir     a symbolic link
class BuildRulesetTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "rulesetXXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    ASSERT_EQ(::mkdir((root_ + "/dir").c_str(), 0755), 0);
    ASSERT_EQ(::mknod((root_ + "/dir/file").c_str(), S_IFREG | 0644, 0), 0);
    ASSERT_EQ(::symlink("dir", (root_ + "/link").c_str()), 0);
    const auto abi = landlock_abi();
    if (!abi) {
      GTEST_SKIP() << abi.error().message();
    }
    abi_ = *abi;
  }
  void TearDown() override {
    ::unlink((root_ + "/link").c_str());
    ::unlink((root_ + "/dir/file").c_str());
    ::rmdir((root_ + "/dir").c_str());
    ::rmdir(root_.c_str());
  }

  std::string root_;
  std::int64_t abi_ = 0;
};

TEST_F(BuildRulesetTest, RecordsTheInodeThatWasOpenedThroughASymlink) {
  const auto built =
      build_ruleset({read_requirement({allow_path("r0", "read", root_ + "/link")})}, abi_);
  ASSERT_TRUE(built) << built.error().message();
  ASSERT_THAT(built->read_grants, SizeIs(1));
  const schema::PathGrant& grant = built->read_grants[0];
  struct stat target {};
  ASSERT_EQ(::stat((root_ + "/dir").c_str(), &target), 0);
  EXPECT_EQ(grant.requested.bytes(), root_ + "/link");
  EXPECT_EQ(grant.resolved.bytes(), root_ + "/dir");
  EXPECT_EQ(grant.device, target.st_dev);
  EXPECT_EQ(grant.inode, target.st_ino);
  EXPECT_EQ(grant.access, hex_mask(kReadDirectory | landlock::kExecute));
  EXPECT_FALSE(grant.skipped);
}

TEST_F(BuildRulesetTest, MorePathsThanMayBeOpenAtOnceAreGranted) {
  struct rlimit before {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  struct rlimit few = before;
  few.rlim_cur = 64;
  schema::Requirement many = read_requirement({});
  std::string path = root_;
  for (int i = 0; i < 200; ++i) {
    path += "/.";
    many.rules.push_back(allow_path("r" + std::to_string(i), "read", path + "/dir"));
  }
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  const auto built = build_ruleset({many}, abi_);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_TRUE(built) << built.error().message();
  ASSERT_THAT(built->read_grants, SizeIs(200));
  for (const schema::PathGrant& grant : built->read_grants) {
    EXPECT_FALSE(grant.skipped) << grant.note;
  }
}

TEST_F(BuildRulesetTest, AMissingPathToReadIsSkippedAndSaidSo) {
  const auto built = build_ruleset({read_requirement({allow_path("r0", "read", root_ + "/absent"),
                                                      allow_path("r1", "read", root_ + "/dir")})},
                                   abi_);
  ASSERT_TRUE(built) << built.error().message();
  ASSERT_THAT(built->read_grants, SizeIs(2));
  EXPECT_TRUE(built->read_grants[0].skipped);
  EXPECT_EQ(built->read_grants[0].access, "0x0");
  EXPECT_THAT(built->read_grants[0].note, ::testing::HasSubstr("No such file"));
  EXPECT_FALSE(built->read_grants[1].skipped);
}

TEST_F(BuildRulesetTest, AMissingPathToWriteIsRefusedNamingTheRule) {
  const auto built = build_ruleset(
      {write_requirement({allow_path("filesystem.write.allow[0]", "write", root_ + "/absent")})},
      abi_);
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error().code(), schema::ErrorCode::kNotFound);
  EXPECT_EQ(built.error().os_errno(), ENOENT);
  EXPECT_THAT(built.error().message(), ::testing::HasSubstr("filesystem.write.allow[0]"));
}

TEST_F(BuildRulesetTest, AFileIsGrantedFileRightsAlone) {
  const auto built =
      build_ruleset({write_requirement({allow_path("w0", "write", root_ + "/dir/file")})}, abi_);
  ASSERT_TRUE(built) << built.error().message();
  ASSERT_THAT(built->write_grants, SizeIs(1));
  EXPECT_EQ(built->write_grants[0].access,
            hex_mask((landlock::kWriteFile | landlock::kTruncate | landlock::kIoctlDev) &
                     landlock::known_rights(abi_)));
}

TEST_F(BuildRulesetTest, HandlesEveryRightOfTheKernelAndScopesSignals) {
  const auto built = build_ruleset({read_requirement({}), write_requirement({})}, abi_);
  ASSERT_TRUE(built) << built.error().message();
  EXPECT_EQ(built->handled_fs, landlock::known_rights(abi_));
  EXPECT_EQ(built->scoped, landlock::known_scopes(abi_) & landlock::kScopeSignal);
  EXPECT_TRUE(built->read_grants.empty());
}

TEST_F(BuildRulesetTest, BuildsForAnOlderAbiWithoutItsLaterRights) {
  const auto built = build_ruleset({write_requirement({allow_path("w0", "write", root_)})}, 2);
  ASSERT_TRUE(built) << built.error().message();
  EXPECT_EQ(built->handled_fs, 0x3fffU);
  EXPECT_EQ(built->scoped, 0U);
  EXPECT_EQ(built->write_grants[0].access,
            hex_mask(0x3fffU & ~kReadDirectory & ~landlock::kExecute));
}

TEST_F(BuildRulesetTest, TheRulesetDescriptorIsCloseOnExec) {
  const auto built = build_ruleset({read_requirement({}), write_requirement({})}, abi_);
  ASSERT_TRUE(built) << built.error().message();
  EXPECT_EQ(::fcntl(built->fd.get(), F_GETFD), FD_CLOEXEC);
}

}  // namespace
}  // namespace aasm::backend_native
