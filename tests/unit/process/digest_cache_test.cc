#include "aasm/process/digest_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "aasm/crypto/hash.h"

#include "temp_dir.h"

namespace aasm::process {
namespace {

class DigestCacheTest : public testing::Test {
 protected:
  std::string add(const std::string& name, const std::string& content) {
    const std::string path = dir_.file(name);
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  Fd open(const std::string& path) { return std::move(open_file(path, O_RDONLY)).value(); }
  FileDigest digest(DigestCache& cache, const std::string& path) {
    const Fd fd = open(path);
    return std::move(cache.digest_of(fd.borrow())).value();
  }
  std::string entry_for(const std::string& path, const std::string& hex) {
    const FileIdentity file = std::move(identity_of(path)).value();
    std::ostringstream line;
    line << file.device << ' ' << file.inode << ' ' << file.size << ' ' << file.mtime_ns << ' '
         << file.ctime_ns << ' ' << hex << '\n';
    return line.str();
  }
  void write_cache(const std::string& text, unsigned mode = 0600) {
    ::unlink(cache_path_.c_str());
    std::ofstream(cache_path_, std::ios::binary) << text;
    ASSERT_EQ(::chmod(cache_path_.c_str(), mode), 0);
  }

  test::TempDir dir_;
  const std::string cache_path_ = dir_.file("digests");
  const std::string header_ = "aasm-digests/1\n";
  const std::string marker_ = std::string(64, 'a');  // no file here has this digest
};

TEST_F(DigestCacheTest, DigestIsThatOfTheContent) {
  auto cache = DigestCache::load(cache_path_);
  const std::string content(300'000, 'x');
  const FileDigest found = digest(cache, add("file", content));
  EXPECT_EQ(found.digest, crypto::sha256(schema::as_bytes(content)));
  EXPECT_FALSE(found.cached);
}

TEST_F(DigestCacheTest, OldFileIsRememberedAcrossRuns) {
  // Installed longer ago than two seconds.
  const std::string path = "/bin/sh";
  auto first = DigestCache::load(cache_path_);
  const FileDigest hashed = digest(first, path);
  EXPECT_FALSE(hashed.cached);
  EXPECT_TRUE(digest(first, path).cached);
  ASSERT_TRUE(first.save().has_value());
  auto second = DigestCache::load(cache_path_);
  const FileDigest remembered = digest(second, path);
  EXPECT_TRUE(remembered.cached);
  EXPECT_EQ(remembered.digest, hashed.digest);
  struct stat info = {};
  ASSERT_EQ(::stat(cache_path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777U, 0600U);
}

TEST_F(DigestCacheTest, FileThatJustChangedIsNotRemembered) {
  auto cache = DigestCache::load(cache_path_);
  const std::string path = add("file", "new");
  EXPECT_FALSE(digest(cache, path).cached);
  EXPECT_FALSE(digest(cache, path).cached);
}

TEST_F(DigestCacheTest, EntryIsUsedOnlyWhileEveryPartOfTheIdentityIsTheSame) {
  const std::string path = add("file", "content");
  write_cache(header_ + entry_for(path, marker_));
  auto cache = DigestCache::load(cache_path_);
  const FileDigest hit = digest(cache, path);
  EXPECT_TRUE(hit.cached);
  EXPECT_EQ(hit.digest.hex(), marker_);
  ASSERT_EQ(::chmod(path.c_str(), 0640), 0);  // ctime alone
  const FileDigest miss = digest(cache, path);
  EXPECT_FALSE(miss.cached);
  EXPECT_EQ(miss.digest, crypto::sha256(schema::as_bytes(std::string("content"))));
}

TEST_F(DigestCacheTest, CacheFileWithOneFaultIsIgnored) {
  const std::string path = add("file", "content");
  const std::string entry = entry_for(path, marker_);
  const std::string good = header_ + entry;
  std::string many = header_;
  for (int i = 0; i < 513; ++i) {
    many += std::to_string(i) + " 1 1 1 1 " + marker_ + "\n";
  }
  struct Row {
    const char* name;
    std::string text;
  };
  const Row rows[] = {
      {"no header", entry},
      {"other version", "aasm-digests/2\n" + entry},
      {"no end of line", good.substr(0, good.size() - 1)},
      {"line of five fields", good + "1 2 3 4 5\n"},
      {"line of seven fields", good + "1 2 3 4 5 6 " + marker_ + "\n"},
      {"empty line", good + "\n"},
      {"letter in a number", good + "1 2 x 4 5 " + marker_ + "\n"},
      {"negative inode", good + "1 -2 3 4 5 " + marker_ + "\n"},
      {"short digest", good + "1 2 3 4 5 aaaa\n"},
      {"digest that is not hex", good + "1 2 3 4 5 " + std::string(64, 'g') + "\n"},
      {"too many entries", many + entry},
      {"empty file", ""},
  };
  write_cache(good);
  auto sound = DigestCache::load(cache_path_);
  ASSERT_TRUE(digest(sound, path).cached);
  for (const Row& row : rows) {
    write_cache(row.text);
    auto cache = DigestCache::load(cache_path_);
    EXPECT_FALSE(digest(cache, path).cached) << row.name;
  }
}

TEST_F(DigestCacheTest, CacheFileThatOthersCouldWriteIsIgnored) {
  const std::string path = add("file", "content");
  const std::string good = header_ + entry_for(path, marker_);
  write_cache(good, 0620);
  auto writable = DigestCache::load(cache_path_);
  EXPECT_FALSE(digest(writable, path).cached);
  write_cache(good, 0600);
  const std::string link = dir_.file("link");
  ASSERT_EQ(::symlink(cache_path_.c_str(), link.c_str()), 0);
  auto symlinked = DigestCache::load(link);
  EXPECT_FALSE(digest(symlinked, path).cached);
  const std::string second_name = dir_.file("second");
  ASSERT_EQ(::link(cache_path_.c_str(), second_name.c_str()), 0);
  auto linked = DigestCache::load(cache_path_);
  EXPECT_FALSE(digest(linked, path).cached);
}

TEST_F(DigestCacheTest, SaveIntoAMissingDirectorySaysSoAndLeavesNothing) {
  auto cache = DigestCache::load(dir_.file("none/digests"));
  digest(cache, "/bin/sh");
  const auto saved = cache.save();
  ASSERT_FALSE(saved.has_value());
  EXPECT_EQ(saved.error().os_errno(), ENOENT);
}

TEST_F(DigestCacheTest, UnchangedCacheIsNotWritten) {
  auto cache = DigestCache::load(cache_path_);
  ASSERT_TRUE(cache.save().has_value());
  EXPECT_NE(::access(cache_path_.c_str(), F_OK), 0);
}

}  // namespace
}  // namespace aasm::process
