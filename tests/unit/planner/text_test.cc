#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "aasm/planner/path_walk.h"
#include "aasm/planner/paths.h"
#include "aasm/planner/suggest.h"

#include "temp_dir.h"

namespace aasm::planner {
namespace {

TEST(SuggestTest, DistanceCountsInsertionDeletionChangeAndSwapAsOne) {
  EXPECT_EQ(edit_distance("allow", "allow"), 0U);
  EXPECT_EQ(edit_distance("alow", "allow"), 1U);
  EXPECT_EQ(edit_distance("alllow", "allow"), 1U);
  EXPECT_EQ(edit_distance("allew", "allow"), 1U);
  EXPECT_EQ(edit_distance("lalow", "allow"), 1U);
  EXPECT_EQ(edit_distance("ALLOW", "allow"), 0U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(SuggestTest, OnlyANearWordIsSuggested) {
  const std::vector<std::string> known = {"filesystem", "network", "syscalls"};
  EXPECT_EQ(nearest("filesytem", known), "filesystem");
  EXPECT_EQ(nearest("syscall", known), "syscalls");
  EXPECT_EQ(nearest("banana", known), std::nullopt);
  EXPECT_EQ(suggestion_text("netwrok", known), "; did you mean `network`?");
  EXPECT_EQ(suggestion_text("banana", known), "; known here: `filesystem`, `network`, `syscalls`");
  EXPECT_EQ(suggestion_text("x", {}), "");
}

TEST(SuggestTest, AVeryLongWordIsCutAndNotSlow) {
  EXPECT_EQ(edit_distance(std::string(1000000, 'a'), std::string(1000000, 'b')), 64U);
}

struct PathRow {
  const char* text;
  const char* expected;  // the path, or a part of the message after "!"
};

TEST(PathsTest, PolicyPathsAreExpandedNormalisedOrRefused) {
  const PathContext context{"/work/dir", "/home/u"};
  const std::vector<PathRow> rows = {
      {"/usr", "/usr"},
      {"/usr/", "/usr"},
      {"//usr//lib/./x", "/usr/lib/x"},
      {"/", "/"},
      {"/.", "/"},
      {"${WORKDIR}", "/work/dir"},
      {"${WORKDIR}/a b", "/work/dir/a b"},
      {"${HOME}/.cache/", "/home/u/.cache"},
      {"/a/..b/c..", "/a/..b/c.."},
      {"/cost$5", "/cost$5"},
      {"", "!empty"},
      {"usr", "!is not absolute"},
      {"./usr", "!is not absolute"},
      {"~/x", "!write `${HOME}`"},
      {"$HOME/x", "!write `${HOME}`"},
      {"/a/../b", "!goes up with `..`"},
      {"..", "!is not absolute"},
      {"${WORKDIR}/..", "!goes up with `..`"},
      {"${WORKDIR}x", "!a `/` belongs between"},
      {"${TMPDIR}/x", "!uses a variable where none is read"},
      {"/a/${HOME}", "!uses a variable where none is read"},
      {"${workdir}/x", "!uses a variable where none is read"},
  };
  for (const PathRow& row : rows) {
    const schema::Result<std::string> path = policy_path(row.text, context);
    const std::string expected = row.expected;
    if (expected.front() == '!') {
      ASSERT_FALSE(path) << row.text;
      EXPECT_NE(path.error().message().find(expected.substr(1)), std::string::npos)
          << row.text << ": " << path.error().message();
    } else {
      ASSERT_TRUE(path) << row.text << ": " << path.error().message();
      EXPECT_EQ(*path, expected) << row.text;
    }
  }
}

TEST(PathsTest, NulByteAndMissingHomeAreRefused) {
  EXPECT_FALSE(policy_path(std::string("/a\0b", 4), {"/w", "/h"}));
  const schema::Result<std::string> path = policy_path("${HOME}/x", {"/w", std::nullopt});
  ASSERT_FALSE(path);
  EXPECT_NE(path.error().message().find("needs a home directory"), std::string::npos);
}

TEST(PathsTest, WorkdirThatClimbsIsRefused) {
  EXPECT_FALSE(policy_path("${WORKDIR}", {"/a/../b", std::nullopt}));
}

TEST(PathsTest, CoveringGoesByWholeComponents) {
  EXPECT_TRUE(path_covers("/usr", "/usr"));
  EXPECT_TRUE(path_covers("/usr", "/usr/lib"));
  EXPECT_TRUE(path_covers("/", "/usr"));
  EXPECT_FALSE(path_covers("/usr", "/usr2"));
  EXPECT_FALSE(path_covers("/usr/lib", "/usr"));
}

TEST(PathWalkTest, LinksAreFollowedAndRemembered) {
  const testing::TempDir dir;
  std::filesystem::create_directory(dir.path() + "/real");
  std::ofstream(dir.path() + "/real/file") << "x";
  std::filesystem::create_symlink("real", dir.path() + "/link");
  std::filesystem::create_symlink("../real/file", dir.path() + "/real/up");

  const schema::Result<WalkedPath> direct = walk_path(dir.path() + "/real/file");
  const schema::Result<WalkedPath> linked = walk_path(dir.path() + "/link/up");
  ASSERT_TRUE(direct);
  ASSERT_TRUE(linked);
  EXPECT_TRUE(linked->exists);
  EXPECT_EQ(linked->end, direct->end);
  EXPECT_EQ(linked->resolved, direct->resolved);
  EXPECT_GT(linked->visited.size(), direct->visited.size());
  EXPECT_EQ(direct->hard_links, 1U);
}

TEST(PathWalkTest, MissingTailStaysAsWrittenBehindWhatExists) {
  const testing::TempDir dir;
  std::filesystem::create_directory(dir.path() + "/real");
  std::filesystem::create_symlink("real", dir.path() + "/link");
  const schema::Result<WalkedPath> walked = walk_path(dir.path() + "/link/no/such");
  ASSERT_TRUE(walked);
  EXPECT_FALSE(walked->exists);
  EXPECT_EQ(walked->os_errno, ENOENT);
  EXPECT_EQ(walked->resolved, walk_path(dir.path() + "/real")->resolved + "/no/such");
  EXPECT_FALSE(walked->end);
}

TEST(PathWalkTest, FileInTheMiddleEndsTheWalk) {
  const testing::TempDir dir;
  std::ofstream(dir.path() + "/file") << "x";
  const schema::Result<WalkedPath> walked = walk_path(dir.path() + "/file/x");
  ASSERT_TRUE(walked);
  EXPECT_FALSE(walked->exists);
  EXPECT_EQ(walked->os_errno, ENOTDIR);
}

TEST(PathWalkTest, LinksInACircleAreRefused) {
  const testing::TempDir dir;
  std::filesystem::create_symlink("b", dir.path() + "/a");
  std::filesystem::create_symlink("a", dir.path() + "/b");
  const schema::Result<WalkedPath> walked = walk_path(dir.path() + "/a");
  ASSERT_FALSE(walked);
  EXPECT_EQ(walked.error().code(), schema::ErrorCode::kMalformed);
}

TEST(PathWalkTest, LinksOfProcfsAreRefused) {
  for (const char* path :
       {"/proc/self", "/proc/self/root", "/proc/thread-self", "/dev/stdin", "/dev/fd"}) {
    if (::access(path, F_OK) != 0) {
      continue;
    }
    const schema::Result<WalkedPath> walked = walk_path(path);
    ASSERT_FALSE(walked) << path << " resolved to " << walked->resolved;
    EXPECT_EQ(walked.error().code(), schema::ErrorCode::kUnsupported);
  }
  ASSERT_TRUE(walk_path("/proc"));
}

TEST(PathWalkTest, RootIsItself) {
  const schema::Result<WalkedPath> walked = walk_path("/");
  ASSERT_TRUE(walked);
  EXPECT_TRUE(walked->exists);
  EXPECT_EQ(walked->resolved, "/");
  EXPECT_TRUE(walked->is_directory);
}

TEST(WalkPathTest, TwoDotsGoUpFromWhereALinkHasLed) {
  const testing::TempDir dir;
  std::filesystem::create_directories(dir.path() + "/real/inner");
  std::filesystem::create_symlink("real/inner", dir.path() + "/link");
  const auto walked = walk_path(dir.path() + "/link/../x");
  ASSERT_TRUE(walked);
  EXPECT_EQ(walked->resolved, walk_path(dir.path() + "/real")->resolved + "/x");
  ASSERT_EQ(walked->links.size(), 1U);
  EXPECT_EQ(walked->links[0].second, "real/inner");
  EXPECT_EQ(walk_path("/../..")->resolved, "/");
  EXPECT_FALSE(walk_path(dir.path() + "/none/../real")->exists);
}

TEST(PathWalkerTest, FindsWhatTheSingleWalkFinds) {
  const testing::TempDir dir;
  const std::string& top = dir.path();
  std::filesystem::create_directories(top + "/a/b");
  std::ofstream(top + "/a/b/file") << "x";
  std::filesystem::create_symlink("a/b", top + "/link");
  std::filesystem::create_symlink("loop", top + "/loop");
  const PathWalker walker;
  for (const std::string& path :
       {std::string("/"), top + "/a/b/file", top + "/link/file", top + "/link/none/x",
        top + "/a/b/file/below", top + "/loop", top + "/a/b/file"}) {
    const auto one = walk_path(path);
    const auto many = walker(path);
    ASSERT_EQ(many.has_value(), one.has_value()) << path;
    if (one) {
      EXPECT_EQ(many->resolved, one->resolved);
      EXPECT_EQ(many->exists, one->exists);
      EXPECT_EQ(many->os_errno, one->os_errno);
      EXPECT_EQ(many->end, one->end);
      EXPECT_EQ(many->visited, one->visited);
      EXPECT_EQ(many->hard_links, one->hard_links);
      EXPECT_EQ(many->is_directory, one->is_directory);
    }
  }
}

TEST(PathWalkerTest, LooksAtAPlaceOnceAndSoDoItsCopies) {
  const testing::TempDir dir;
  const std::string& top = dir.path();
  const PathWalker walker;
  EXPECT_FALSE(walker(top + "/later")->exists);
  std::ofstream(top + "/later") << "x";
  const PathWalker copy = walker;
  EXPECT_FALSE(copy(top + "/later")->exists);
  EXPECT_TRUE(PathWalker()(top + "/later")->exists);
}

}  // namespace
}  // namespace aasm::planner
