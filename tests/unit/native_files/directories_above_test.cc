#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <vector>

#include <gtest/gtest.h>

#include "aasm/process/fd.h"

#include "file_answer.h"
#include "support/sanitized.h"
#include "support/temp_dir.h"

namespace aasm::backend_native {
namespace {

// Leaves as many free numbers as are wanted.
class Room {
 public:
  explicit Room(rlim_t room) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const process::Fd lowest(::open("/", O_PATH | O_CLOEXEC));
    const rlimit now = {static_cast<rlim_t>(lowest.get()) + room, before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &now);
  }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  ~Room() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

TEST(DirectoriesAboveTest, AreAllOfThemOrForWantOfDescriptorsNone) {
  const test::TempDir dir;
  std::filesystem::create_directories(dir.path().string() + "/a/b");
  const process::Fd directory(::open((dir.path().string() + "/a/b").c_str(), O_PATH | O_CLOEXEC));
  FoundPlace place;
  place.path = dir.path().string() + "/a/b/name";
  place.last = "name";
  const auto whole = directories_above(place, directory);
  ASSERT_TRUE(whole);
  EXPECT_GE(whole->size(), 4U);
  if (test::kIsSanitized) {
    GTEST_SKIP() << "a sanitizer looks at objects through a pipe, and needs descriptors for that";
  }
  for (const rlim_t room : {rlim_t{0}, rlim_t{1}}) {
    const Room few(room);
    const auto none = directories_above(place, directory);
    ASSERT_FALSE(none) << room;
    EXPECT_EQ(none.error().os_errno(), EMFILE);
  }
  const Room enough(2);
  const auto again = directories_above(place, directory);
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, *whole);
}

}  // namespace
}  // namespace aasm::backend_native
