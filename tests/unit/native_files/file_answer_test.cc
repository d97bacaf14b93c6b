#include "file_answer.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include "temp_dir.h"

namespace aasm::backend_native {
namespace {

// Room for `more` descriptors besides those that are open, while it lives.
class RoomFor {
 public:
  explicit RoomFor(int more) {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    const process::Fd next(::open("/", O_PATH | O_CLOEXEC));
    rlimit now = before_;
    now.rlim_cur = static_cast<rlim_t>(next.get() + more);
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &now), 0);
  }
  ~RoomFor() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  RoomFor(const RoomFor&) = delete;
  RoomFor& operator=(const RoomFor&) = delete;

 private:
  rlimit before_{};
};

FileId id_at(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return {status.st_dev, status.st_ino};
}

TEST(DirectoriesAboveTest, TheNearestIsFirstAndTheRootLast) {
  const test::TempDir dir;
  const process::Fd at(::open(dir.file("").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const std::vector<FileId> above = directories_above(FoundPlace{}, at);
  ASSERT_GE(above.size(), 2U);
  EXPECT_EQ(above.front(), id_at(dir.file("")));
  EXPECT_EQ(above.back(), id_at("/"));
}

// A denied place above is missed by half a way.
TEST(DirectoriesAboveTest, ThereAreNoneWhenTheyCannotAllBeOpened) {
  const test::TempDir dir;
  const process::Fd at(::open(dir.file("").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (const int room : {0, 1}) {
    const RoomFor descriptors(room);
    EXPECT_TRUE(directories_above(FoundPlace{}, at).empty()) << room;
  }
  const RoomFor descriptors(2);
  EXPECT_FALSE(directories_above(FoundPlace{}, at).empty());
}

}  // namespace
}  // namespace aasm::backend_native
