#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

#include "aasm/sqlite/connection.h"

#include "finding_log.h"
#include "judge.h"
#include "salvage.h"
#include "support/temp_dir.h"

// Pages of a sound ledger, damaged by hand (SQLite's file format, section 1.6): which rows it has
// is then for four statements to say (docs/spec/verify-rules.md, Damaged files).
namespace aasm::verifier::test {
namespace {

using Codes = std::set<std::string>;

constexpr std::size_t kInteriorHeader = 12;
constexpr std::size_t kLeafHeader = 8;

class DamagedTest : public testing::Test {
 protected:
  DamagedTest() {
    forge_.add_sample_run(1);  // records 1 to 10
    forge_.add_short_run(2);   // records 11 and 12
    forge_.write(path_);
    std::ifstream file(path_, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
  }

  std::size_t number(std::size_t at, std::size_t length) const {
    std::size_t value = 0;
    for (std::size_t i = 0; i < length; ++i) {
      value = value << 8U | static_cast<unsigned char>(bytes_.at(at + i));
    }
    return value;
  }
  std::size_t start_of(std::size_t page) const { return (page - 1) * number(16, 2); }
  // Where the page at the root of a table or index begins.
  std::size_t root_of(const std::string& name) const {
    sqlite::Connection db = sqlite::Connection::open(path_, sqlite::OpenMode::kReadOnly).value();
    return start_of(static_cast<std::size_t>(
        db.query_int("SELECT rootpage FROM sqlite_schema WHERE name='" + name + "'").value()));
  }
  void swap_words(std::size_t one, std::size_t other) {
    std::swap_ranges(bytes_.begin() + static_cast<std::ptrdiff_t>(one),
                     bytes_.begin() + static_cast<std::ptrdiff_t>(one) + 2,
                     bytes_.begin() + static_cast<std::ptrdiff_t>(other));
  }
  VerifyReport verdict() const {
    std::ofstream(path_, std::ios::binary) << bytes_;
    return verify(request_for(path_, trust_in(forge_.keys())));
  }
  static std::size_t runs_listed(const VerifyReport& report) {
    return value_at(report.json, "runs/newest")->as_array()->size();
  }

  Forge forge_;
  aasm::test::TempDir dir_;
  std::string path_ = dir_.file("ledger.db");
  std::string bytes_;
};

TEST_F(DamagedTest, WithoutDamageItIsVerified) {
  const VerifyReport report = verdict();
  EXPECT_EQ(report.verdict, Verdict::kVerified);
  EXPECT_EQ(runs_listed(report), 2U);
}

// The table breaks off at its first row, as though it had none.
TEST_F(DamagedTest, WhereATableCannotBeReadTheOthersAreJudged) {
  for (const char* table : {"blobs", "anchors"}) {
    const std::string sound = bytes_;
    bytes_.at(root_of(table)) = 0;
    const VerifyReport report = verdict();
    EXPECT_EQ(codes(report), Codes{"database_corrupt"}) << table << report.text;
    EXPECT_EQ(number_at(report, "coverage/records"), 13) << table;
    EXPECT_EQ(runs_listed(report), 2U) << table;
    bytes_ = sound;
    std::ofstream(path_, std::ios::binary) << bytes_;
  }
}

// Case L9.
TEST_F(DamagedTest, RecordsBeforeAPageThatCannotBeReadAreJudged) {
  const std::size_t root = root_of("records");
  ASSERT_EQ(bytes_.at(root), 5) << "the records need more than one page";
  bytes_.at(start_of(number(root + 8, 4))) = 0;  // the last leaf
  const VerifyReport report = verdict();
  EXPECT_EQ(report.verdict, Verdict::kFailed);
  const std::int64_t left = number_at(report, "coverage/records");
  EXPECT_GT(left, 1);
  EXPECT_LT(left, 13);
  EXPECT_EQ(runs_listed(report), left > 11 ? 2U : 1U);
  EXPECT_GE(count_of(report, "checkpoint_beyond_records"), 1) << report.text;
  EXPECT_EQ(count_of(report, "bad_signature"), 0) << report.text;
}

TEST_F(DamagedTest, RowsInAnotherOrderAreTakenByTheirKeys) {
  const std::size_t leaf = root_of("checkpoints");
  ASSERT_GE(number(leaf + 3, 2), 2U);
  swap_words(leaf + kLeafHeader, leaf + kLeafHeader + 2);
  const VerifyReport report = verdict();
  EXPECT_EQ(codes(report), Codes{"database_corrupt"}) << report.text;
  EXPECT_EQ(number_at(report, "coverage/signed_up_to"), 13);
}

// The first leaf stands in place of the second, too.
TEST_F(DamagedTest, OfSeveralRowsWithOneKeyTheFirstCounts) {
  const std::size_t root = root_of("records");
  ASSERT_EQ(bytes_.at(root), 5);
  ASSERT_GE(number(root + 3, 2), 2U) << "three leaves are needed";
  const std::size_t first = root + number(root + kInteriorHeader, 2);
  const std::size_t second = root + number(root + kInteriorHeader + 2, 2);
  const std::size_t lost = number(start_of(number(second, 4)) + 3, 2);  // its rows
  std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(first), 4,
              bytes_.begin() + static_cast<std::ptrdiff_t>(second));
  const VerifyReport report = verdict();
  EXPECT_EQ(count_of(report, "sequence_gap"), 1) << report.text;
  EXPECT_EQ(number_at(report, "coverage/records"), 13 - static_cast<std::int64_t>(lost));
}

// Many rows of a hostile file can share one chain of pages.
TEST_F(DamagedTest, NoMoreIsKeptThanWasAllowed) {
  for (const std::uint64_t max_bytes : {std::uint64_t{1} << 20U, std::uint64_t{4096}}) {
    sqlite::Connection ledger =
        sqlite::Connection::open(path_, sqlite::OpenMode::kReadOnly).value();
    sqlite::Connection kept = sqlite::Connection::open_memory().value();
    FindingLog findings;
    const bool enough = max_bytes > bytes_.size();
    EXPECT_EQ(salvage(ledger, kept, max_bytes, findings), enough);
    EXPECT_EQ(findings.count(FindingCode::kLimitReached), enough ? 0U : 1U);
    const std::int64_t rows = kept.query_int("SELECT count(*) FROM records").value();
    EXPECT_EQ(rows == 13, enough) << rows;
  }
}

}  // namespace
}  // namespace aasm::verifier::test
