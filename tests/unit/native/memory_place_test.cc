#include "memory_place.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mountinfo.h"
#include "own_leaf.h"
#include "support/temp_dir.h"

namespace aasm::backend_native {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kMemoryMount =
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n";
constexpr std::string_view kOtherMount =
    "40 31 0:37 / /sys/fs/cgroup/cpu rw shared:4 - cgroup cgroup rw,cpu\n";
constexpr std::string_view kUnified =
    "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup rw\n";

std::string folder(std::string_view groups, std::string_view mounts) {
  const auto shown = shown_group(groups, mounts, kMemoryController);
  return shown ? (shown->version2 ? "2 " : "1 ") + shown->folder : "none";
}

TEST(ShownGroupTest, TheFolderIsThatOfOurOwnGroup) {
  const std::string both = std::string(kOtherMount) + std::string(kMemoryMount);
  EXPECT_EQ(folder("9:cpu:/\n4:memory:/a/b\n0::/\n", both), "1 /sys/fs/cgroup/memory/a/b");
  EXPECT_EQ(folder("4:cpu,memory:/\n", kMemoryMount), "1 /sys/fs/cgroup/memory");
  const std::string part = "35 31 0:32 /a /groups rw master:2 - cgroup cgroup rw,memory,cpu\n";
  EXPECT_EQ(folder("4:memory:/a/b\n", part), "1 /groups/b");
  EXPECT_EQ(folder("4:memory:/a\n", part), "1 /groups");
  EXPECT_EQ(folder("4:memory:/ab\n", part), "none") << "outside of what is mounted";
  EXPECT_EQ(folder("4:memory:/a\n", kOtherMount), "none");
  EXPECT_EQ(folder("", ""), "none") << "no control groups";
}

TEST(ShownGroupTest, Version2HasWhatNoHierarchyOfVersion1Has) {
  const std::string both = std::string(kMemoryMount) + std::string(kUnified);
  EXPECT_EQ(folder("9:cpu:/\n0::/user.slice/a.scope\n", both),
            "2 /sys/fs/cgroup/unified/user.slice/a.scope");
  EXPECT_EQ(folder("0::/x\n4:memory:/a\n", both), "1 /sys/fs/cgroup/memory/a");
  EXPECT_EQ(folder("0::/x\n", kMemoryMount), "none") << "not mounted";
  EXPECT_EQ(folder("0::/../x\n", kUnified), "none") << "above what our namespace shows";
  const auto mounts = [&](std::string_view groups) {
    return mounts_of_groups(groups, both, kMemoryController);
  };
  EXPECT_THAT(mounts("0::/x\n4:memory:/a\n"), ElementsAre("/sys/fs/cgroup/memory"));
  EXPECT_THAT(mounts("0::/x\n4:cpu:/a\n"), ElementsAre("/sys/fs/cgroup/unified"));
  EXPECT_THAT(mounts(""), IsEmpty());
}

// Files as the kernel shows them; without cgroup.procs nobody makes groups there, not even root.
class Version2PlaceTest : public ::testing::Test {
 protected:
  void group(const std::string& path, const std::string& controllers, const std::string& given,
             const std::string& processes) {
    const std::string folder = dir_.file(path);
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/cgroup.controllers") << controllers << '\n';
    std::ofstream(folder + "/cgroup.subtree_control") << given << '\n';
    std::ofstream(folder + "/cgroup.procs") << processes;
    if (path != "top") {
      std::ofstream(folder + "/cgroup.type") << "domain\n";
    }
  }
  void forbid(const std::string& path) {
    std::filesystem::remove(dir_.file(path + "/cgroup.procs"));
  }
  std::string place(const std::string& own) {
    const auto found =
        version2_place({dir_.file(own), dir_.file("top"), true}, kMemoryController, kSelf);
    if (!found) {
      return found.error().message();
    }
    EXPECT_TRUE(found->version2);
    return found->folder.substr(dir_.file("").size()) + (found->has_to_be_left ? ", left" : "");
  }

  static constexpr pid_t kSelf = 77;
  test::TempDir dir_;
};

TEST_F(Version2PlaceTest, TheRootHoldsGroupsBesideProcesses) {
  group("top", "cpu memory", "", "1\n77\n");
  EXPECT_EQ(place("top"), "top");
  forbid("top");
  EXPECT_THAT(place("top"), HasSubstr("cannot be written"));
}

TEST_F(Version2PlaceTest, BesideOurOwnGroupWhereTheOneAboveGivesTheController) {
  group("top", "cpu memory", "cpu memory", "");
  group("top/slice", "cpu memory", "memory", "");
  group("top/slice/scope", "memory", "", "77\n80\n");
  EXPECT_EQ(place("top/slice/scope"), "top/slice") << "others of our group do not matter";
}

TEST_F(Version2PlaceTest, InOurOwnOnceWeHaveLeftItAndOnlyWhereWeAreAlone) {
  group("top", "cpu memory", "cpu memory", "");
  forbid("top");
  group("top/service", "memory", "", "77\n");
  EXPECT_EQ(place("top/service"), "top/service, left");
  group("top/service", "memory", "", "77\n80\n");
  EXPECT_THAT(place("top/service"), HasSubstr("not alone in its control group"));
  EXPECT_THAT(place("top/service"), HasSubstr("systemd-run --user --scope -p Delegate=yes"));
  group("top/service", "memory", "", "0\n77\n");
  EXPECT_THAT(place("top/service"), HasSubstr("not alone")) << "one of another namespace";
}

TEST_F(Version2PlaceTest, WhereNothingIsDelegatedTheReasonIsSaid) {
  group("top", "cpu memory", "cpu", "");
  forbid("top");
  group("top/service", "cpu", "", "77\n");
  EXPECT_THAT(place("top/service"), HasSubstr("has no controller memory"));
  group("top/service", "cpu memory", "", "77\n");
  forbid("top/service");
  EXPECT_THAT(place("top/service"), HasSubstr("ours to write; started by"));
}

// The one controller that the kernel may have left to version 2 beside version 1, without which
// the rules are not the kernel's. In a child, which alone is moved.
class OwnLeafTest : public ::testing::Test {
 protected:
  static constexpr std::string_view kController = "hugetlb";

  void SetUp() override {
    for (const Mount& mount : read_mounts(read_mountinfo().value())) {
      top_ = mount.type == "cgroup2" && mount.root == "/" ? mount.place : top_;
    }
    const std::vector<std::string> here = words_of_file(top_ + "/cgroup.controllers");
    if (::geteuid() != 0 || top_.empty() ||
        std::find(here.begin(), here.end(), kController) == here.end()) {
      GTEST_SKIP() << "needs root and version 2 of control groups with " << kController;
    }
    lock_ = ::open(top_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ASSERT_EQ(::flock(lock_, LOCK_EX), 0);  // against this test in another tree
    given_before_ = gives_children(top_, kController);
    ASSERT_TRUE(write_to_group(top_ + "/cgroup.subtree_control", "+hugetlb"));
    group_ = top_ + "/aasm-test-" + std::to_string(::getpid());
    ASSERT_EQ(::mkdir(group_.c_str(), 0700), 0);
  }
  void TearDown() override {
    if (lock_ >= 0) {
      EXPECT_EQ(::rmdir(group_.c_str()), 0) << "something was left in it";
      if (!given_before_) {
        EXPECT_TRUE(write_to_group(top_ + "/cgroup.subtree_control", "-hugetlb"));
      }
      ::close(lock_);
    }
  }
  // The status of a child that stands in the group and returns what `body` does.
  template <class Body>
  int in_child(Body body) {
    const pid_t child = ::fork();
    if (child == 0) {
      const bool moved{write_to_group(group_ + "/cgroup.procs", std::to_string(::getpid()))};
      ::_exit(moved ? body() : 100);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WEXITSTATUS(status);
  }

  std::string top_;
  std::string group_;
  int lock_ = -1;
  bool given_before_ = false;
};

bool alone_in(const std::string& group) {
  return words_of_file(group + "/cgroup.procs") ==
         std::vector<std::string>{std::to_string(::getpid())};
}

TEST_F(OwnLeafTest, ALimitedGroupStandsBesideItAndNothingStays) {
  EXPECT_EQ(in_child([this] {
              const auto place = version2_place({group_, group_, true}, kController, ::getpid());
              if (!place || !place->has_to_be_left) {
                return 1;
              }
              const std::string run = group_ + "/run";
              {
                const auto leaf = OwnLeaf::enter(place->folder, kController);
                const std::string name = group_ + "/aasm-supervisor-" + std::to_string(::getpid());
                if (!leaf || !alone_in(name) || ::mkdir(run.c_str(), 0700) != 0) {
                  return 2;
                }
                if (::access((run + "/hugetlb.2MB.max").c_str(), F_OK) != 0) {
                  return 3;
                }
                ::rmdir(run.c_str());
              }
              return alone_in(group_) && !gives_children(group_, kController) ? 0 : 4;
            }),
            0);
}

TEST_F(OwnLeafTest, BesideAnotherItFailsAndTheOtherIsWhereItWas) {
  const int other = ::fork();
  if (other == 0) {
    ::pause();
  }
  ASSERT_TRUE(write_to_group(group_ + "/cgroup.procs", std::to_string(other)));
  EXPECT_EQ(in_child([this] {
              if (version2_place({group_, group_, true}, kController, ::getpid())) {
                return 1;
              }
              if (OwnLeaf::enter(group_, kController)) {
                return 2;  // the kernel refuses, too
              }
              return words_of_file(group_ + "/cgroup.procs").size() == 2 ? 0 : 3;
            }),
            0);
  ::kill(other, SIGKILL);
  ::waitpid(other, nullptr, 0);
}

TEST_F(OwnLeafTest, AGroupThatSomebodyMadeMeanwhileKeepsItsController) {
  EXPECT_EQ(in_child([this] {
              const std::string theirs = group_ + "/theirs";
              const std::string leaf = group_ + "/aasm-supervisor-" + std::to_string(::getpid());
              {
                const auto own = OwnLeaf::enter(group_, kController);
                ::mkdir(theirs.c_str(), 0700);
              }
              const bool stays = alone_in(leaf) && gives_children(group_, kController);
              ::rmdir(theirs.c_str());
              return stays && write_to_group(top_ + "/cgroup.procs", std::to_string(::getpid())) &&
                             ::rmdir(leaf.c_str()) == 0
                         ? 0
                         : 1;
            }),
            0);
}

}  // namespace
}  // namespace aasm::backend_native
