#include "aasm/process/fd.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "temp_dir.h"

namespace aasm::process {
namespace {

bool is_open(int fd) {
  return ::fcntl(fd, F_GETFD) >= 0;
}
bool is_close_on_exec(int fd) {
  return (::fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0;
}

TEST(FdTest, DescriptorIsClosedWithItsOwner) {
  int number = -1;
  {
    const Fd fd = std::move(open_file("/dev/null", O_RDONLY)).value();
    number = fd.get();
    ASSERT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
}

TEST(FdTest, MovedFromOwnerHoldsNothing) {
  Fd first = std::move(open_file("/dev/null", O_RDONLY)).value();
  const int number = first.get();
  Fd second = std::move(first);
  EXPECT_FALSE(first.valid());  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(second.get(), number);
  first.reset();
  EXPECT_TRUE(is_open(number));
}

TEST(FdTest, AssignmentClosesWhatWasHeld) {
  Fd first = std::move(open_file("/dev/null", O_RDONLY)).value();
  const int old = first.get();
  first = std::move(open_file("/dev/zero", O_RDONLY)).value();
  EXPECT_FALSE(is_open(old));
  EXPECT_TRUE(is_open(first.get()));
}

TEST(FdTest, ReleasedDescriptorStaysOpen) {
  int number = -1;
  {
    Fd fd = std::move(open_file("/dev/null", O_RDONLY)).value();
    number = fd.release();
  }
  EXPECT_TRUE(is_open(number));
  ::close(number);
}

TEST(FdTest, EverythingMadeHereIsCloseOnExec) {
  const Pipe pipe = std::move(make_pipe()).value();
  const SocketPair sockets = std::move(make_seqpacket_pair()).value();
  const Fd memfd = std::move(make_memfd("test")).value();
  const Fd file = std::move(open_file("/dev/null", O_RDONLY)).value();
  const Fd copy = std::move(duplicate(file.borrow())).value();
  for (const int fd : {pipe.read_end.get(), pipe.write_end.get(), sockets.ours.get(),
                       sockets.theirs.get(), memfd.get(), file.get(), copy.get()}) {
    EXPECT_TRUE(is_close_on_exec(fd)) << fd;
  }
}

TEST(FdTest, SealedMemfdHoldsItsBytesAndRefusesEveryChange) {
  const std::string text = "plan";
  const Fd fd = std::move(make_sealed_memfd("test", schema::as_bytes(text))).value();
  char buffer[8] = {};
  ASSERT_EQ(::pread(fd.get(), buffer, sizeof(buffer), 0), 4);
  EXPECT_EQ(std::string(buffer, 4), text);
  EXPECT_EQ(::pwrite(fd.get(), "x", 1, 0), -1);
  EXPECT_EQ(errno, EPERM);
  EXPECT_EQ(::ftruncate(fd.get(), 8), -1);
  EXPECT_EQ(errno, EPERM);
  EXPECT_EQ(::ftruncate(fd.get(), 2), -1);
  EXPECT_EQ(errno, EPERM);
  EXPECT_EQ(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0), MAP_FAILED);
  EXPECT_EQ(::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_FUTURE_WRITE), -1);
  EXPECT_EQ(errno, EPERM);
}

TEST(FdTest, ReadAllStopsAtItsLimit) {
  const Fd fd =
      std::move(make_sealed_memfd("test", schema::as_bytes(std::string(100, 'x')))).value();
  ASSERT_EQ(::lseek(fd.get(), 0, SEEK_SET), 0);
  EXPECT_EQ(read_all(fd.borrow(), 100).value().size(), 100U);
  ASSERT_EQ(::lseek(fd.get(), 0, SEEK_SET), 0);
  const auto result = read_all(fd.borrow(), 99);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code(), schema::ErrorCode::kResourceExhausted);
}

TEST(FdTest, ErrorOfAFailedOpenCarriesItsErrno) {
  const test::TempDir dir;
  const auto missing = open_file(dir.file("missing"), O_RDONLY);
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().os_errno(), ENOENT);
  EXPECT_EQ(missing.error().code(), schema::ErrorCode::kNotFound);
}

}  // namespace
}  // namespace aasm::process
