#include "aasm/process/exec_target.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "as_user.h"
#include "temp_dir.h"

namespace aasm::process {
namespace {

using schema::BoundBy;
using schema::ImageRole;
using schema::LaunchRefusal;

class ExecTargetTest : public testing::Test {
 protected:
  std::string add(const std::string& name, const std::string& content, unsigned mode = 0755) {
    const std::string path = dir_.file(name);
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path, std::ios::binary) << content;
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    return path;
  }
  std::string add_elf(const std::string& name, unsigned mode = 0755) {
    return add(name,
               "\x7F"
               "ELF-enough-for-the-first-look",
               mode);
  }
  TargetResolution resolve(const std::string& program, const std::string& search = "") {
    return std::move(resolve_target(program, search)).value();
  }
  void expect_refusal(const TargetResolution& resolution, LaunchRefusal reason, int os_errno) {
    ASSERT_TRUE(resolution.refusal.has_value());
    EXPECT_FALSE(resolution.target.has_value());
    EXPECT_EQ(resolution.refusal->reason, reason);
    EXPECT_EQ(resolution.refusal->os_errno, os_errno);
  }

  test::TempDir dir_;
};

TEST_F(ExecTargetTest, ElfIsBoundByDescriptor) {
  const std::string path = add_elf("program");
  const auto resolution = resolve(path);
  ASSERT_TRUE(resolution.target.has_value());
  EXPECT_EQ(resolution.target->bound, BoundBy::kDescriptor);
  ASSERT_EQ(resolution.target->images.size(), 1U);
  const ExecImage& image = resolution.target->program();
  EXPECT_EQ(image.role, ImageRole::kBinary);
  EXPECT_EQ(image.path, path);
  struct stat info = {};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(image.identity.inode, info.st_ino);
  EXPECT_EQ(image.identity.device, info.st_dev);
  EXPECT_EQ(image.identity.size, info.st_size);
}

TEST_F(ExecTargetTest, ScriptListsItsInterpretersInTheKernelsOrder) {
  const std::string elf = add_elf("elf");
  const std::string middle = add("middle", "#!" + elf + " -a\n");
  const std::string script = add("script", "#!" + middle + "\n");
  const auto resolution = resolve(script);
  ASSERT_TRUE(resolution.target.has_value());
  EXPECT_EQ(resolution.target->bound, BoundBy::kPath);
  EXPECT_EQ(resolution.target->path, script);
  ASSERT_EQ(resolution.target->images.size(), 3U);
  EXPECT_EQ(resolution.target->images[0].role, ImageRole::kScript);
  EXPECT_EQ(resolution.target->images[1].role, ImageRole::kInterpreter);
  EXPECT_EQ(resolution.target->images[1].path, middle);
  EXPECT_EQ(resolution.target->images[2].role, ImageRole::kInterpreter);
  EXPECT_EQ(resolution.target->images[2].path, elf);
}

TEST_F(ExecTargetTest, FourInterpretersAreFollowedAndFiveAreRefused) {
  std::string next = add_elf("elf");
  for (int i = 1; i <= 4; ++i) {
    next = add("script" + std::to_string(i), "#!" + next + "\n");
  }
  const auto four = resolve(next);
  ASSERT_TRUE(four.target.has_value());
  EXPECT_EQ(four.target->images.size(), 5U);
  const std::string fifth = add("script5", "#!" + next + "\n");
  expect_refusal(resolve(fifth), LaunchRefusal::kProgramNotExecutable, ELOOP);
}

TEST_F(ExecTargetTest, SymlinkKeepsItsNameAndTellsWhereItLeads) {
  const std::string path = add_elf("program");
  const std::string link = dir_.file("link");
  ASSERT_EQ(::symlink(path.c_str(), link.c_str()), 0);
  const auto resolution = resolve(link);
  ASSERT_TRUE(resolution.target.has_value());
  EXPECT_EQ(resolution.target->program().path, link);
  EXPECT_EQ(resolution.target->program().resolved, std::filesystem::canonical(path).string());
}

TEST_F(ExecTargetTest, SearchTakesTheFirstDirectoryThatHasAnExecutable) {
  add("first/program", "", 0644);
  const std::string second = add_elf("second/program");
  add_elf("third/program");
  const std::string search =
      dir_.file("first") + ":" + dir_.file("second") + ":" + dir_.file("third");
  const auto resolution = resolve("program", search);
  ASSERT_TRUE(resolution.target.has_value());
  EXPECT_EQ(resolution.target->path, second);
}

TEST_F(ExecTargetTest, EachWayOfNotFindingHasItsRefusal) {
  add("plain/program",
      "\x7F"
      "ELF",
      0644);
  std::filesystem::create_directories(dir_.file("folder/program"));
  const std::string loop = dir_.file("loop");
  ASSERT_EQ(::symlink(loop.c_str(), loop.c_str()), 0);
  const std::string missing_interpreter = add("no-interpreter", "#!" + dir_.file("none") + "\n");
  const std::string bad_line = add("bad-line", "#!\n");
  const std::string folder_interpreter =
      add("folder-interpreter", "#!" + dir_.file("folder") + "\n");
  struct Row {
    const char* name;
    std::string program;
    std::string search;
    LaunchRefusal reason;
    int os_errno;
  };
  const Row rows[] = {
      {"empty name", "", "/bin", LaunchRefusal::kProgramNotFound, ENOENT},
      {"path that does not exist", dir_.file("none"), "", LaunchRefusal::kProgramNotFound, ENOENT},
      {"path through a file", dir_.file("plain/program/x"), "", LaunchRefusal::kProgramNotFound,
       ENOTDIR},
      {"name in no directory", "program", dir_.file("none"), LaunchRefusal::kProgramNotFound,
       ENOENT},
      {"path without execute bit", dir_.file("plain/program"), "",
       LaunchRefusal::kProgramNotExecutable, EACCES},
      {"name only without execute bit", "program", dir_.file("plain") + ":" + dir_.file("none"),
       LaunchRefusal::kProgramNotExecutable, EACCES},
      {"name only as a directory", "program", dir_.file("folder"),
       LaunchRefusal::kProgramNotExecutable, EACCES},
      {"path that is a directory", dir_.file("folder"), "", LaunchRefusal::kProgramNotExecutable,
       EACCES},
      {"symlink to itself", loop, "", LaunchRefusal::kProgramNotExecutable, ELOOP},
      {"interpreter that does not exist", missing_interpreter, "",
       LaunchRefusal::kProgramNotExecutable, ENOENT},
      {"interpreter that is a directory", folder_interpreter, "",
       LaunchRefusal::kProgramNotExecutable, EACCES},
      {"bad first line", bad_line, "", LaunchRefusal::kProgramNotExecutable, ENOEXEC},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    expect_refusal(resolve(row.program, row.search), row.reason, row.os_errno);
  }
}

TEST_F(ExecTargetTest, RefusalNamesTheFileThatIsToBlame) {
  const std::string interpreter = add("interpreter", "x", 0644);
  const auto resolution = resolve(add("script", "#!" + interpreter + "\n"));
  ASSERT_TRUE(resolution.refusal.has_value());
  EXPECT_EQ(resolution.refusal->path, interpreter);
}

TEST_F(ExecTargetTest, WithoutPathTheDefaultOfExecvpIsSearched) {
  const auto resolution = std::move(resolve_target("sh", std::nullopt)).value();
  ASSERT_TRUE(resolution.target.has_value());
  EXPECT_EQ(resolution.target->path, "/bin/sh");
}

TEST_F(ExecTargetTest, FileThatIsNeitherElfNorScriptIsLeftToTheKernel) {
  const auto resolution = resolve(add("text", "echo hello\n"));
  ASSERT_TRUE(resolution.target.has_value());
  EXPECT_EQ(resolution.target->bound, BoundBy::kPath);
}

// Root reads every file; so this runs as somebody else.
TEST(ExecTargetUserTest, ProgramThatCannotBeReadIsRefused) {
  EXPECT_EQ(test::run_in_child(
                true,
                []() -> std::string {
                  const test::TempDir dir;
                  const std::string path = dir.file("program");
                  std::ofstream(path, std::ios::binary) << "\x7F"
                                                           "ELF";
                  AASM_CHILD_CHECK(::chmod(path.c_str(), 0111) == 0, "");
                  const auto resolution = std::move(resolve_target(path, "")).value();
                  AASM_CHILD_CHECK(resolution.refusal.has_value(), "");
                  AASM_CHILD_CHECK(
                      resolution.refusal->reason == LaunchRefusal::kProgramNotExecutable, "");
                  AASM_CHILD_CHECK(resolution.refusal->os_errno == EACCES, "");
                  return {};
                }),
            "");
}

TEST_F(ExecTargetTest, ChangedOrReplacedFileIsNoticed) {
  const std::string path = add_elf("program");
  const auto resolution = resolve(path);
  ASSERT_TRUE(resolution.target.has_value());
  const ExecImage& image = resolution.target->program();
  EXPECT_TRUE(unchanged(image));
  ASSERT_EQ(::chmod(path.c_str(), 0700), 0);  // moves ctime alone
  EXPECT_FALSE(unchanged(image));
  const auto again = resolve(path);
  ASSERT_EQ(::rename(add_elf("other").c_str(), path.c_str()), 0);
  EXPECT_FALSE(unchanged(again.target->program()));
  const auto third = resolve(path);
  ASSERT_EQ(::unlink(path.c_str()), 0);
  EXPECT_FALSE(unchanged(third.target->program()));
}

}  // namespace
}  // namespace aasm::process
