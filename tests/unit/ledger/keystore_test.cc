#include "aasm/ledger/keystore.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "aasm/schema/hex.h"

#include "key_file.h"
#include "support/code_of.h"
#include "support/temp_dir.h"

namespace aasm::ledger {
namespace {

using schema::ErrorCode;
using test::code_of;

constexpr const char* kOrigin = "test.example/ledger/0123456789abcdef";

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

class KeystoreTest : public testing::Test {
 protected:
  mode_t mode_of(const std::string& path) const {
    struct stat status {};
    EXPECT_EQ(lstat(path.c_str(), &status), 0) << path;
    return status.st_mode & 07777;
  }

  test::TempDir dir_;
  std::string keys_ = dir_.file("keys");
};

TEST_F(KeystoreTest, WhatIsCreatedLoadsAgain) {
  const NewKeys made = create_keys(keys_, kOrigin).value();
  const KeySet loaded = load_keys(keys_).value();
  EXPECT_EQ(loaded.origin, kOrigin);
  EXPECT_EQ(loaded.host.public_key(), made.keys.host.public_key());
  EXPECT_EQ(loaded.log.public_key(), made.keys.log.public_key());
  EXPECT_EQ(load_root_key(keys_).value().key.public_key(), made.root.key.public_key());
  EXPECT_NE(made.keys.host.public_key(), made.keys.log.public_key());
}

TEST_F(KeystoreTest, FilesAndDirectoryArePrivateWhateverTheUmask) {
  for (const mode_t mask : {mode_t{0}, mode_t{0777}}) {
    const std::string keys = dir_.file("keys" + std::to_string(mask));
    const mode_t before = umask(mask);
    EXPECT_TRUE(create_keys(keys, kOrigin).has_value());
    umask(before);
    EXPECT_EQ(mode_of(keys), 0700U);
    for (const char* name : {"root.key", "host.key", "log.key"}) {
      EXPECT_EQ(mode_of(keys + "/" + name), 0600U) << name;
    }
  }
}

TEST_F(KeystoreTest, KeysAreCreatedOnce) {
  const NewKeys made = create_keys(keys_, kOrigin).value();
  EXPECT_EQ(code_of(create_keys(keys_, kOrigin)), ErrorCode::kConflict);
  EXPECT_EQ(load_keys(keys_).value().host.public_key(), made.keys.host.public_key());
}

TEST_F(KeystoreTest, AnythingUnderTheNameIsAConflict) {
  ASSERT_EQ(symlink("elsewhere", keys_.c_str()), 0);
  EXPECT_EQ(code_of(create_keys(keys_, kOrigin)), ErrorCode::kConflict);
}

TEST_F(KeystoreTest, CreatingLeavesNoTemporaryDirectory) {
  create_keys(keys_, kOrigin).value();
  std::size_t entries = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(dir_.path())) {
    ++entries;
  }
  EXPECT_EQ(entries, 1U);
}

TEST_F(KeystoreTest, ABadOriginMakesNothing) {
  EXPECT_EQ(code_of(create_keys(keys_, "no origin")), ErrorCode::kMalformed);
  EXPECT_NE(access(keys_.c_str(), F_OK), 0);
}

TEST_F(KeystoreTest, AnAbsentDirectoryIsNotFound) {
  EXPECT_EQ(code_of(load_keys(keys_)), ErrorCode::kNotFound);
}

struct Damage {
  const char* why;
  std::function<void(const std::string& keys)> apply;
  ErrorCode code;
};

TEST_F(KeystoreTest, WrongModesAndKindsAreRefused) {
  const auto with_mode = [](const char* name, mode_t mode) {
    return [=](const std::string& keys) { EXPECT_EQ(chmod((keys + name).c_str(), mode), 0); };
  };
  const std::vector<Damage> rows = {
      {"directory readable by the group", with_mode("", 0750), ErrorCode::kPermissionDenied},
      {"directory searchable by others", with_mode("", 0701), ErrorCode::kPermissionDenied},
      {"file readable by the group", with_mode("/host.key", 0640), ErrorCode::kPermissionDenied},
      {"file readable by others", with_mode("/log.key", 0604), ErrorCode::kPermissionDenied},
      {"executable file", with_mode("/host.key", 0700), ErrorCode::kPermissionDenied},
      {"file is a link",
       [](const std::string& keys) {
         std::filesystem::rename(keys + "/host.key", keys + "/real");
         std::filesystem::create_symlink("real", keys + "/host.key");
       },
       ErrorCode::kPermissionDenied},
      {"file is a directory",
       [](const std::string& keys) {
         std::filesystem::remove(keys + "/host.key");
         std::filesystem::create_directory(keys + "/host.key");
       },
       ErrorCode::kPermissionDenied},
      {"file is missing",
       [](const std::string& keys) { std::filesystem::remove(keys + "/log.key"); },
       ErrorCode::kNotFound},
      {"files swapped",
       [](const std::string& keys) {
         std::filesystem::rename(keys + "/host.key", keys + "/x");
         std::filesystem::rename(keys + "/log.key", keys + "/host.key");
         std::filesystem::rename(keys + "/x", keys + "/log.key");
       },
       ErrorCode::kMalformed},
  };
  for (const Damage& row : rows) {
    const std::string keys = dir_.file(row.why);
    create_keys(keys, kOrigin).value();
    ASSERT_TRUE(load_keys(keys).has_value());
    row.apply(keys);
    EXPECT_EQ(code_of(load_keys(keys)), row.code) << row.why;
  }
}

TEST_F(KeystoreTest, ADirectoryThatIsALinkIsRefused) {
  create_keys(keys_, kOrigin).value();
  ASSERT_EQ(symlink("keys", dir_.file("alias").c_str()), 0);
  EXPECT_FALSE(load_keys(dir_.file("alias")).has_value());
}

TEST_F(KeystoreTest, FilesOfAnotherOwnerAreRefused) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "only root can give files away";
  }
  create_keys(keys_, kOrigin).value();
  ASSERT_EQ(chown((keys_ + "/host.key").c_str(), 65534, 65534), 0);
  EXPECT_EQ(code_of(load_keys(keys_)), ErrorCode::kPermissionDenied);
  ASSERT_EQ(chown((keys_ + "/host.key").c_str(), 0, 0), 0);
  ASSERT_EQ(chown(keys_.c_str(), 65534, 65534), 0);
  EXPECT_EQ(code_of(load_keys(keys_)), ErrorCode::kPermissionDenied);
}

TEST_F(KeystoreTest, KeysOfTwoOriginsAreNoSet) {
  create_keys(keys_, kOrigin).value();
  const std::string other = dir_.file("other");
  create_keys(other, "test.example/ledger/fedcba9876543210").value();
  std::filesystem::rename(other + "/log.key", keys_ + "/log.key");
  EXPECT_EQ(code_of(load_keys(keys_)), ErrorCode::kIntegrity);
}

TEST_F(KeystoreTest, ALongFileIsRefused) {
  create_keys(keys_, kOrigin).value();
  std::ofstream(keys_ + "/host.key", std::ios::app) << std::string(1000, 'x');
  EXPECT_EQ(code_of(load_keys(keys_)), ErrorCode::kMalformed);
}

TEST(KeyFileTest, TheTextIsTheOneOfTheFormat) {
  std::array<std::uint8_t, 32> seed{};
  seed.fill(1);
  const auto key = crypto::SigningKey::from_seed(seed).value();
  std::string text;
  write_key_file(kOrigin, "host", key, text);
  EXPECT_EQ(text, std::string("aasm-key/1\norigin ") + kOrigin + "\npurpose host\npublic " +
                      schema::to_hex(key.public_key().bytes) + "\nseed " + schema::to_hex(seed) +
                      "\n");
  EXPECT_LE(text.size(), kKeyFileMaxBytes);
  EXPECT_EQ(parse_key_file(text, "host").value().key.public_key(), key.public_key());
}

struct TextRow {
  const char* why;
  std::string from;
  std::string to;
  ErrorCode code;
};

TEST(KeyFileTest, EveryOtherTextIsRefused) {
  std::array<std::uint8_t, 32> seed{};
  seed.fill(1);
  const auto key = crypto::SigningKey::from_seed(seed).value();
  std::string good;
  write_key_file(kOrigin, "host", key, good);
  const std::string seed_hex = schema::to_hex(seed);
  const std::vector<TextRow> rows = {
      {"another version", "aasm-key/1", "aasm-key/2", ErrorCode::kMalformed},
      {"another purpose", "purpose host", "purpose log", ErrorCode::kMalformed},
      {"a line left out", "purpose host\n", "", ErrorCode::kMalformed},
      {"a bad origin", "test.example", "Test Example", ErrorCode::kMalformed},
      {"a short seed", seed_hex, seed_hex.substr(2), ErrorCode::kMalformed},
      {"an upper-case digit", seed_hex, "0A" + seed_hex.substr(2), ErrorCode::kMalformed},
      {"no digit", seed_hex, "0g" + seed_hex.substr(2), ErrorCode::kMalformed},
      {"the seed of another key", seed_hex, "02" + seed_hex.substr(2), ErrorCode::kIntegrity},
      {"a carriage return", "purpose host\n", "purpose host\r\n", ErrorCode::kMalformed},
      {"bytes after the end", seed_hex + "\n", seed_hex + "\n\n", ErrorCode::kMalformed},
      {"no final newline", seed_hex + "\n", seed_hex, ErrorCode::kMalformed},
      {"two spaces", "purpose host", "purpose  host", ErrorCode::kMalformed},
      {"no value", "purpose host", "purpose", ErrorCode::kMalformed},
  };
  for (const TextRow& row : rows) {
    std::string text = good;
    const std::size_t at = text.find(row.from);
    ASSERT_NE(at, std::string::npos) << row.why;
    text.replace(at, row.from.size(), row.to);
    EXPECT_EQ(code_of(parse_key_file(text, "host")), row.code) << row.why;
  }
  EXPECT_EQ(code_of(parse_key_file("", "host")), ErrorCode::kMalformed);
}

TEST_F(KeystoreTest, SeedsAreInNoOtherFile) {
  create_keys(keys_, kOrigin).value();
  const std::string host = text_of(keys_ + "/host.key");
  const std::string log = text_of(keys_ + "/log.key");
  const std::string seed = host.substr(host.find("seed ") + 5, 64);
  EXPECT_EQ(log.find(seed), std::string::npos);
}

}  // namespace
}  // namespace aasm::ledger
