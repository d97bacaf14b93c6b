#include <cerrno>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "confined_run.h"

namespace aasm::backend_native::testing {
namespace {

using schema::RunEnding;

using FilesystemTest = ConfinedTest;

std::string line(const std::string& action, int result) {
  return action + " = " + std::to_string(result);
}

TEST_P(FilesystemTest, ReadingIsAllowedInsideTheGrantsAndRefusedOutside) {
  const std::string ro = layout_.path("ro");
  const std::string secret = layout_.path("secret");
  const RunResult result =
      run_actions({"read", ro + "/file", "list", ro, "read", secret + "/file", "list", secret});
  ASSERT_EQ(result.closed.ending, RunEnding::kFinished) << result.closed.detail;
  EXPECT_TRUE(result.says(line("read " + ro + "/file", 0))) << result.output;
  EXPECT_TRUE(result.says(line("list " + ro, 0))) << result.output;
  EXPECT_TRUE(result.says(line("read " + secret + "/file", EACCES))) << result.output;
  EXPECT_TRUE(result.says(line("list " + secret, EACCES))) << result.output;
}

TEST_P(FilesystemTest, WritingIsAllowedInsideTheGrants) {
  const std::string work = layout_.path("work");
  const RunResult result = run_actions(
      {"write", work + "/file", "create", work + "/new", "truncate", work + "/file", "mkfifo",
       work + "/fifo", "symlink", "file", work + "/soft", "unlink", work + "/soft", "mkdir",
       work + "/dir", "rmdir", work + "/dir", "write", "/dev/null"});
  for (const char* refused : {" = 13", " = 1\n", " = 18"}) {
    EXPECT_THAT(result.output, ::testing::Not(::testing::HasSubstr(refused)));
  }
  EXPECT_TRUE(result.says(line("create " + work + "/new", 0))) << result.output;
  EXPECT_TRUE(result.says(line("rmdir " + work + "/dir", 0))) << result.output;
  EXPECT_TRUE(result.says(line("write /dev/null", 0))) << result.output;
}

TEST_P(FilesystemTest, EveryWayToWriteOutsideTheGrantsIsRefused) {
  const std::string ro = layout_.path("ro");
  const std::vector<std::vector<std::string>> attempts = {{"write", ro + "/file"},
                                                          {"rdwr", ro + "/file"},
                                                          {"truncate", ro + "/file"},
                                                          {"create", ro + "/new"},
                                                          {"mkdir", ro + "/dir"},
                                                          {"unlink", ro + "/file"},
                                                          {"mkfifo", ro + "/fifo"},
                                                          {"symlink", "x", ro + "/soft"},
                                                          {"rename", ro + "/file", ro + "/other"}};
  std::vector<std::string> actions;
  for (const auto& attempt : attempts) {
    actions.insert(actions.end(), attempt.begin(), attempt.end());
  }
  const RunResult result = run_actions(actions);
  for (const auto& attempt : attempts) {
    std::string text = attempt[0];
    for (std::size_t i = 1; i < attempt.size(); ++i) {
      text += " " + attempt[i];
    }
    EXPECT_TRUE(result.says(line(text, EACCES))) << text << "\n" << result.output;
  }
  EXPECT_NE(::access((ro + "/file").c_str(), F_OK), -1) << "the refusals had no effect";
  EXPECT_EQ(::access((ro + "/new").c_str(), F_OK), -1);
}

TEST_P(FilesystemTest, ADirectoryCanBeRenamedAndFilesMovedAndLinkedInOneWritableRoot) {
  const std::string work = layout_.path("work");
  const RunResult result = run_actions(
      {"mkdir", work + "/d", "rename", work + "/d", work + "/e", "mkdir", work + "/new", "rename",
       work + "/file", work + "/new/file", "link", work + "/new/file", work + "/e/linked"});
  EXPECT_TRUE(result.says(line("rename " + work + "/d " + work + "/e", 0))) << result.output;
  EXPECT_TRUE(result.says(line("rename " + work + "/file " + work + "/new/file", 0)))
      << result.output;
  EXPECT_TRUE(result.says(line("link " + work + "/new/file " + work + "/e/linked", 0)))
      << result.output;
}

TEST_P(FilesystemTest, NothingMovesOutOfOrIntoTheGrants) {
  const std::string work = layout_.path("work");
  const std::string secret = layout_.path("secret");
  const RunResult result = run_actions(
      {"rename", work + "/file", secret + "/taken", "link", secret + "/file", work + "/linked"});
  EXPECT_FALSE(result.says(line("rename " + work + "/file " + secret + "/taken", 0)));
  EXPECT_FALSE(result.says(line("link " + secret + "/file " + work + "/linked", 0)));
  EXPECT_EQ(::access((secret + "/taken").c_str(), F_OK), -1);
  EXPECT_EQ(::access((work + "/linked").c_str(), F_OK), -1);
}

TEST_P(FilesystemTest, ExecutionFollowsReadingWhenNotStated) {
  const RunResult result =
      run_actions({"exec", layout_.path("ro/tool"), "exec", layout_.path("secret/tool")});
  EXPECT_TRUE(result.says(line("exec " + layout_.path("ro/tool"), 0))) << result.output;
  EXPECT_TRUE(result.says(line("exec " + layout_.path("secret/tool"), EACCES))) << result.output;
}

TEST_P(FilesystemTest, AStatedExecuteListIsAllThatCanBeExecuted) {
  Launch launch;
  launch.requirements = usual(layout_);
  schema::PolicyRule execute;
  execute.id = "filesystem.execute.allow[0]";
  execute.operation = "execute";
  execute.selector = {schema::SelectorType::kPathPrefix, schema::PathBytes(layout_.actions())};
  launch.requirements[0].rules.push_back(execute);
  const RunResult result = run_actions(
      {"exec", layout_.path("ro/tool"), "read", layout_.path("ro/tool"), "exec", layout_.actions()},
      launch);
  EXPECT_TRUE(result.says(line("exec " + layout_.path("ro/tool"), EACCES))) << result.output;
  EXPECT_TRUE(result.says(line("read " + layout_.path("ro/tool"), 0))) << result.output;
  EXPECT_TRUE(result.says(line("exec " + layout_.actions(), 0))) << result.output;
}

TEST_P(FilesystemTest, ASymlinkedWorkingDirectoryWorks) {
  Launch launch;
  launch.working_dir = layout_.path("link");
  const RunResult result = run_actions({"cwd", "read", "file", "write", "file"}, launch);
  EXPECT_TRUE(result.says("cwd " + layout_.path("work"))) << result.output;
  EXPECT_TRUE(result.says("read file = 0")) << result.output;
  EXPECT_TRUE(result.says("write file = 0")) << result.output;
}

TEST_P(FilesystemTest, AMissingPathToReadIsSkippedAndTheRestStillHolds) {
  Launch launch;
  launch.requirements = {reads(layout_, {layout_.path("absent")}), writes(layout_)};
  const RunResult result = run_actions({"read", layout_.path("secret/file")}, launch);
  EXPECT_TRUE(result.says(line("read " + layout_.path("secret/file"), EACCES))) << result.output;
  int skipped = 0;
  for (const auto& prepared : result.all<schema::ControlPrepared>()) {
    for (const schema::Control& control : prepared.controls) {
      for (const auto& grant :
           control.landlock ? control.landlock->grants : std::vector<schema::PathGrant>()) {
        skipped += grant.skipped ? 1 : 0;
      }
    }
  }
  EXPECT_EQ(skipped, 1);
}

TEST_P(FilesystemTest, AMissingPathToWriteIsRefusedBeforeAnyProgram) {
  Launch launch;
  launch.requirements = {reads(layout_), writes(layout_, {layout_.path("absent")})};
  const RunResult result = run_actions({"cwd"}, launch);
  EXPECT_EQ(result.closed.ending, RunEnding::kPrepareFailed);
  EXPECT_EQ(result.closed.os_errno, ENOENT);
  EXPECT_TRUE(result.output.empty()) << result.output;
}

TEST_P(FilesystemTest, TheCanariesProveBothDomains) {
  const RunResult result = run_actions({"cwd"});
  for (const char* id :
       {"filesystem_read.open", "filesystem_read.execute", "filesystem_write.open"}) {
    const auto canary = result.canary(id);
    ASSERT_TRUE(canary) << id;
    EXPECT_TRUE(canary->proves()) << id;
    EXPECT_EQ(canary->inside.os_errno, EACCES);
    EXPECT_EQ(canary->channel, schema::ChannelReport::kNotApplicable);
  }
}

INSTANTIATE_TEST_SUITE_P(Users, FilesystemTest, ::testing::Values(As::kSelf, As::kNobody),
                         name_of_user);

}  // namespace
}  // namespace aasm::backend_native::testing
