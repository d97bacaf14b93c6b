#include "private_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "support/code_of.h"
#include "support/temp_dir.h"

namespace aasm::ledger {
namespace {

using schema::ErrorCode;
using test::code_of;

class ReplacePrivateFileTest : public testing::Test {
 protected:
  schema::Result<void> replace(const std::string& bytes) const {
    return replace_private_file(directory_.get(), "file", bytes);
  }
  std::string read() const {
    std::array<char, 4096> buffer{};
    return std::string(
        read_private_file(directory_.get(), "file", buffer.data(), buffer.size()).value());
  }
  bool is_there(const std::string& name) const {
    return faccessat(directory_.get(), name.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
  }

  aasm::test::TempDir dir_;
  Fd directory_ = ensure_private_dir(dir_.file("private")).value();
  const std::string temporary_ = dir_.file("private") + "/file.new";
};

TEST_F(ReplacePrivateFileTest, WhatAKilledWriterLeftIsTakenOverAndEmptied) {
  replace("old").value();
  std::ofstream(temporary_) << std::string(1000, 'x');
  ASSERT_EQ(chmod(temporary_.c_str(), 0640), 0);
  replace("new").value();
  EXPECT_EQ(read(), "new");
  EXPECT_FALSE(is_there("file.new"));
}

TEST_F(ReplacePrivateFileTest, WhatIsNoFileOfOursAloneStays) {
  const std::string other = dir_.file("other");
  std::ofstream(other) << "mine";
  replace("old").value();
  ASSERT_EQ(link(other.c_str(), temporary_.c_str()), 0);
  EXPECT_EQ(code_of(replace("new")), ErrorCode::kPermissionDenied);
  ASSERT_EQ(unlink(temporary_.c_str()), 0);
  ASSERT_EQ(symlink(other.c_str(), temporary_.c_str()), 0);
  EXPECT_EQ(code_of(replace("new")), ErrorCode::kPermissionDenied);  // ELOOP
  ASSERT_EQ(unlink(temporary_.c_str()), 0);
  ASSERT_EQ(mkfifo(temporary_.c_str(), 0600), 0);
  EXPECT_FALSE(replace("new").has_value());  // and does not wait for a reader
  EXPECT_TRUE(is_there("file.new"));
  EXPECT_EQ(read(), "old");
  std::string line;
  std::getline(std::ifstream(other), line);
  EXPECT_EQ(line, "mine");
}

// Each writes a text of its own length: a file that two had written would be of neither.
TEST_F(ReplacePrivateFileTest, WritersAtOnceEachPutAWholeFile) {
  constexpr std::size_t kWriters = 6;
  constexpr int kRounds = 200;
  replace("start").value();
  std::vector<std::thread> writers;
  for (std::size_t writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([this, writer] {
      const std::string text(100 * (writer + 1), static_cast<char>('a' + writer));
      for (int round = 0; round < kRounds; ++round) {
        EXPECT_TRUE(replace(text).has_value());
        const std::string now = read();
        ASSERT_FALSE(now.empty());
        const auto who = static_cast<std::size_t>(now.front() - 'a');
        EXPECT_EQ(now, std::string(100 * (who + 1), now.front()));
      }
    });
  }
  for (std::thread& writer : writers) {
    writer.join();
  }
  EXPECT_FALSE(is_there("file.new"));
}

}  // namespace
}  // namespace aasm::ledger
