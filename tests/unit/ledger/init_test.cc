#include "aasm/ledger/init.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "aasm/ledger/keystore.h"
#include "aasm/ledger/reader.h"
#include "aasm/ledger/store.h"
#include "aasm/ledger_format/origin.h"
#include "aasm/schema/base64.h"

#include "support/code_of.h"
#include "support/ledger_check.h"
#include "support/ledger_home.h"

namespace aasm::ledger {
namespace {

using schema::ErrorCode;
using test::code_of;

class InitTest : public testing::Test {
 protected:
  schema::Result<InitReport> init() { return initialise(home_, paths_, {"test.example", "1.2.3"}); }

  test::TempDir dir_;
  std::string home_ = dir_.file("home");
  LedgerPaths paths_ = LedgerPaths::in_home(home_);
};

TEST_F(InitTest, MakesKeysAndALedgerThatChecks) {
  const InitReport report = init().value();
  EXPECT_TRUE(report.keys_created);
  EXPECT_TRUE(report.ledger_created);
  EXPECT_EQ(report.origin.rfind("test.example/ledger/", 0), 0U);
  EXPECT_EQ(report.root, load_root_key(paths_.keys).value().key.public_key());
  EXPECT_EQ(test::LedgerCheck::run(paths_), "");
  EXPECT_EQ(test::LedgerCheck::kinds(paths_), std::vector<std::string>{"ledger.created"});
}

TEST_F(InitTest, ASecondCallChangesNothing) {
  const InitReport first = init().value();
  const InitReport second = init().value();
  EXPECT_FALSE(second.keys_created);
  EXPECT_FALSE(second.ledger_created);
  EXPECT_EQ(second.origin, first.origin);
  EXPECT_EQ(second.root, first.root);
  EXPECT_EQ(second.host, first.host);
  EXPECT_EQ(second.log, first.log);
  EXPECT_EQ(LedgerReader::open(paths_.ledger).value().status().value().records, 1U);
}

TEST_F(InitTest, RecordZeroCarriesGoodCertificates) {
  const InitReport report = init().value();
  LedgerReader reader = LedgerReader::open(paths_.ledger).value();
  const auto body =
      schema::read_fields<schema::LedgerCreated>(reader.record(0).value().statement.body).value();
  EXPECT_EQ(body.aasm_version, "1.2.3");
  EXPECT_EQ(body.checkpoint_every, 256);
  EXPECT_TRUE(ledger_format::verify_certificate(body.root, report.origin,
                                                ledger_format::KeyPurpose::kHost, report.host,
                                                schema::from_base64(body.host.signature).value()));
  EXPECT_TRUE(ledger_format::verify_certificate(body.root, report.origin,
                                                ledger_format::KeyPurpose::kLog, report.log,
                                                schema::from_base64(body.log.signature).value()));
}

TEST_F(InitTest, RemovesWhatAKilledInitLeftAndNothingElse) {
  ASSERT_EQ(mkdir(home_.c_str(), 0700), 0);
  const std::string keys = paths_.keys + ".new-0123456789abcdef";
  const std::vector<std::string> left = {keys + "/root.key",
                                         paths_.ledger + ".new-0123456789abcdef",
                                         paths_.ledger + ".new-0123456789abcdef-journal"};
  const std::vector<std::string> kept = {paths_.ledger + ".new-0123",
                                         paths_.ledger + ".new-0123456789abcdef.bak",
                                         paths_.ledger + ".old-0123456789abcdef"};
  ASSERT_EQ(mkdir(keys.c_str(), 0700), 0);
  for (const auto* list : {&left, &kept}) {
    for (const std::string& path : *list) {
      std::ofstream(path) << "x";
    }
  }
  ASSERT_TRUE(init().has_value());
  for (const std::string& path : left) {
    EXPECT_NE(access(path.c_str(), F_OK), 0) << path;
  }
  EXPECT_NE(access(keys.c_str(), F_OK), 0);
  for (const std::string& path : kept) {
    EXPECT_EQ(access(path.c_str(), F_OK), 0) << path;
  }
}

TEST_F(InitTest, GoesOnAfterACrashBetweenKeysAndLedger) {
  ASSERT_EQ(mkdir(home_.c_str(), 0700), 0);
  create_keys(paths_.keys, "test.example/ledger/0123456789abcdef").value();
  const InitReport report = init().value();
  EXPECT_FALSE(report.keys_created);
  EXPECT_TRUE(report.ledger_created);
  EXPECT_EQ(report.origin, "test.example/ledger/0123456789abcdef");
  EXPECT_EQ(test::LedgerCheck::run(paths_), "");
}

TEST_F(InitTest, AHomeOpenToOthersIsRefused) {
  ASSERT_EQ(mkdir(home_.c_str(), 0755), 0);
  ASSERT_EQ(chmod(home_.c_str(), 0755), 0);
  EXPECT_EQ(code_of(init()), ErrorCode::kPermissionDenied);
  EXPECT_NE(access(paths_.keys.c_str(), F_OK), 0);
}

TEST_F(InitTest, ALedgerThatIsGoneIsNotMadeAgain) {
  init().value();
  std::filesystem::remove(paths_.ledger);
  EXPECT_EQ(code_of(init()), ErrorCode::kIntegrity);
  EXPECT_NE(access(paths_.ledger.c_str(), F_OK), 0);
}

TEST_F(InitTest, ALedgerOfOtherKeysIsRefused) {
  init().value();
  const test::LedgerHome other;
  std::filesystem::remove_all(paths_.keys);
  std::filesystem::copy(other.paths().keys, paths_.keys);
  ASSERT_EQ(chmod(paths_.keys.c_str(), 0700), 0);
  EXPECT_EQ(code_of(init()), ErrorCode::kIntegrity);
}

TEST_F(InitTest, TheRootKeyMayBeAwayOnceTheLedgerExists) {
  const InitReport first = init().value();
  std::filesystem::remove(paths_.keys + "/root.key");
  EXPECT_EQ(init().value().root, first.root);
}

TEST_F(InitTest, WithoutARootKeyNoLedgerIsMade) {
  ASSERT_EQ(mkdir(home_.c_str(), 0700), 0);
  create_keys(paths_.keys, "test.example/ledger/0123456789abcdef").value();
  std::filesystem::remove(paths_.keys + "/root.key");
  EXPECT_EQ(code_of(init()), ErrorCode::kNotFound);
}

TEST_F(InitTest, ABadDomainMakesNothing) {
  EXPECT_EQ(code_of(initialise(home_, paths_, {"no domain", "0"})), ErrorCode::kInvalidArgument);
  EXPECT_NE(access(paths_.keys.c_str(), F_OK), 0);
}

TEST_F(InitTest, TheLedgerAndItsDirectoriesArePrivate) {
  init().value();
  struct stat status {};
  ASSERT_EQ(stat(paths_.ledger.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600U);
  ASSERT_EQ(stat(paths_.heads.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0700U);
}

TEST(DefaultDomainTest, EveryHostNameGivesADomain) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"Build-7.corp.example", "build-7.invalid"},
      {"a_b", "a-b.invalid"},
      {"-x-", "x.invalid"},
      {"", "host.invalid"},
      {"___", "host.invalid"},
      {std::string(100, 'a'), std::string(63, 'a') + ".invalid"},
  };
  const std::array<std::uint8_t, 16> random{};
  for (const auto& [host, domain] : rows) {
    EXPECT_EQ(default_domain(host), domain);
    EXPECT_TRUE(ledger_format::make_origin(default_domain(host), random).has_value()) << host;
  }
}

}  // namespace
}  // namespace aasm::ledger
