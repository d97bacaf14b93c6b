#include "made_inside.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <ctime>
#include <string>

#include <gtest/gtest.h>

#include "support/temp_dir.h"

namespace aasm::backend_native {
namespace {

process::Fd bound_socket(const std::string& path) {
  process::Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(static_cast<char*>(address.sun_path), path.c_str(), path.size() + 1);
  EXPECT_EQ(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  return fd;
}

FileIdentity identity_of(const std::string& path) {
  const process::Fd fd(::open(path.c_str(), O_PATH | O_CLOEXEC));
  return file_identity(fd).value();
}

TEST(BoundFileTest, IsTheFileThatTheBindMadeWhateverItsPathLeadsTo) {
  const test::TempDir directory;
  const std::string own = directory.file("own");
  const std::string other = directory.file("other");
  const process::Fd stranger = bound_socket(other);
  const std::int64_t now = std::time(nullptr);
  const process::Fd socket = bound_socket(own);
  const BoundFile bound = bound_file(socket).value();
  EXPECT_TRUE(is_bound_file(identity_of(own), bound, now - 1));
  EXPECT_FALSE(is_bound_file(identity_of(other), bound, now - 1));
  ASSERT_EQ(::rename(other.c_str(), own.c_str()), 0);
  EXPECT_FALSE(is_bound_file(identity_of(own), bound, now - 1)) << "another was put in its place";
}

TEST(BoundFileTest, OnAnotherDeviceItHasToBeNew) {
  FileIdentity file;
  file.inode = (1ULL << 32U) | 5;
  file.device = 0x900;
  file.birth_seconds = 100;
  BoundFile bound;
  bound.inode = 5;
  bound.device_major = 8;
  EXPECT_TRUE(is_bound_file(file, bound, 100));
  EXPECT_FALSE(is_bound_file(file, bound, 101));
  bound.inode = 6;
  EXPECT_FALSE(is_bound_file(file, bound, 100));
}

TEST(BoundFileTest, ASocketWithoutAFileHasNone) {
  const process::Fd unbound(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_FALSE(bound_file(unbound));
}

TEST(MadeInsideTest, ForgetsTheOldestSocketFirst) {
  MadeInside made;
  const FileIdentity first{1, 1, 1, 1};
  made.add_socket(first);
  for (std::uint64_t i = 2; i <= MadeInside::kMaxSockets; ++i) {
    made.add_socket({1, i, 1, 1});
  }
  EXPECT_TRUE(made.has_socket(first));
  made.add_socket({2, 1, 1, 1});
  EXPECT_FALSE(made.has_socket(first));
  EXPECT_TRUE(made.has_socket({2, 1, 1, 1}));
  EXPECT_FALSE(made.has_socket({2, 1, 1, 2})) << "a number that was used again";
}

TEST(MadeInsideTest, NumbersOfOneKindAreNotThoseOfAnother) {
  MadeInside made;
  made.add_memory(MemoryKind::kMemory, 0);
  EXPECT_TRUE(made.has_memory(MemoryKind::kMemory, 0));
  EXPECT_FALSE(made.has_memory(MemoryKind::kSemaphores, 0));
  made.remove_memory(MemoryKind::kMemory, 0);
  EXPECT_FALSE(made.has_memory(MemoryKind::kMemory, 0));
}

}  // namespace
}  // namespace aasm::backend_native
