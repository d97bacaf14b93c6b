#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "aasm/sqlite/connection.h"
#include "aasm/sqlite/ledger_schema.h"

#include "judge.h"
#include "support/temp_dir.h"
#include "writer_home.h"

// The records are sound; the database around them, or the files beside it, are not the writer's.
namespace aasm::verifier::test {
namespace {

using Codes = std::set<std::string>;
namespace fs = std::filesystem;

class LayoutTest : public testing::Test {
 protected:
  LayoutTest() {
    forge_.add_short_run(1);
    forge_.add_short_run(2);
    forge_.write(path_);
  }
  VerifyReport now() const { return verify(request_for(path_, trust_in(forge_.keys()))); }
  VerifyReport after(const std::string& sql) const {
    doctor(path_, sql);
    return now();
  }
  void expect_sound(const VerifyReport& report) const {
    EXPECT_EQ(report.verdict, Verdict::kVerified) << report.text;
    EXPECT_EQ(number_at(report, "coverage/records"), 5);
    EXPECT_EQ(report.new_state, forge_.note(5));
  }

  Forge forge_;
  aasm::test::TempDir dir_;
  std::string path_ = dir_.file("ledger.db");
};

TEST_F(LayoutTest, AnotherPageSizeChangesNothing) {
  expect_sound(after("PRAGMA journal_mode=DELETE; PRAGMA page_size=1024; VACUUM"));
  EXPECT_EQ(sqlite::Connection::open(path_, sqlite::OpenMode::kReadOnly)
                .value()
                .query_int("PRAGMA page_size")
                .value(),
            1024);
}

TEST_F(LayoutTest, OldRecordsOnFreePagesAreHarmless) {
  doctor(path_,
         "PRAGMA secure_delete=OFF; CREATE TABLE old AS SELECT * FROM records; DROP TABLE old");
  ASSERT_GT(sqlite::Connection::open(path_, sqlite::OpenMode::kReadOnly)
                .value()
                .query_int("PRAGMA freelist_count")
                .value(),
            0);
  expect_sound(now());
}

// Text is stored in another encoding; what the format signs are blobs.
TEST_F(LayoutTest, ADatabaseInUtf16ChangesNoVerdict) {
  const std::string other = dir_.file("utf16.db");
  {
    sqlite::Connection from = sqlite::Connection::open(path_, sqlite::OpenMode::kReadOnly).value();
    sqlite::Connection to = sqlite::Connection::open(other, sqlite::OpenMode::kCreateNew).value();
    to.execute("PRAGMA encoding='UTF-16le'").value();
    to.execute(std::string(sqlite::kLedgerSql)).value();
    for (const auto& [select, insert] :
         {std::pair("SELECT * FROM records", "INSERT INTO records VALUES(?1,?2,?3,?4,?5,?6)"),
          std::pair("SELECT * FROM checkpoints", "INSERT INTO checkpoints VALUES(?1,?2,?3)")}) {
      sqlite::Statement row = from.prepare(select).value();
      sqlite::Statement put = to.prepare(insert).value();
      const int columns = std::string(insert).find("?6") == std::string::npos ? 3 : 6;
      while (row.step().value()) {
        put.bind_int(1, row.column_int(0).value()).value();
        for (int i = 1; i < columns; ++i) {
          put.bind_blob(i + 1, row.column_blob(i).value()).value();
        }
        put.run().value();
      }
    }
    ASSERT_EQ(to.query_text("PRAGMA encoding").value(), "UTF-16le");
  }
  expect_sound(verify(request_for(other, trust_in(forge_.keys()))));
}

TEST_F(LayoutTest, TablesOfAnotherMakeAreFailed) {
  const std::string rebuilt =
      "CREATE TABLE copy AS SELECT * FROM records; DROP TABLE records;"
      "CREATE TABLE records(seq INTEGER PRIMARY KEY, prev BLOB NOT NULL UNIQUE "
      "CHECK(length(prev)=32), leaf BLOB NOT NULL CHECK(length(leaf)=32), payload BLOB NOT NULL "
      "CHECK(length(payload)<=65000), keyid BLOB NOT NULL CHECK(length(keyid)=32), sig BLOB NOT "
      "NULL CHECK(length(sig)=64)) ";
  const std::string filled = "; INSERT INTO records SELECT * FROM copy; DROP TABLE copy";
  const std::vector<std::string> changes = {
      rebuilt + "STRICT, WITHOUT ROWID" + filled,
      rebuilt + "STRICT" + filled,  // the same but for its line breaks
      "CREATE TABLE \"other.records\"(x)",
      "CREATE TABLE main.\"main.records\"(x)",
      "CREATE TABLE \"temp\"(x)",
      "CREATE INDEX hiding ON records(leaf) WHERE seq<>2",
      "CREATE INDEX computed ON records(length(payload))",
      "ANALYZE",
      "CREATE TABLE counted(x INTEGER PRIMARY KEY AUTOINCREMENT); DROP TABLE counted",
      "CREATE VIRTUAL TABLE found USING fts5(x)",
      "CREATE TRIGGER late AFTER DELETE ON anchors BEGIN SELECT 1; END",
  };
  const std::string sound = slurp(path_);
  for (const std::string& sql : changes) {
    spit(path_, sound);
    const VerifyReport report = after(sql);
    EXPECT_EQ(report.verdict, Verdict::kFailed) << sql << report.text;
    EXPECT_EQ(codes(report), Codes{"schema_different"}) << sql;
  }
}

// Cells past every limit of the format, and past what the verifier lets SQLite read.
TEST_F(LayoutTest, HugeCellsAreRefusedAndNotRead) {
  const std::string lax = "PRAGMA ignore_check_constraints=ON;";
  struct Case {
    std::string sql;
    Codes any_of;
  };
  const std::vector<Case> cases = {
      {lax + "UPDATE records SET payload=zeroblob(3000000) WHERE seq=2", {"row_malformed"}},
      {lax + "UPDATE records SET payload=zeroblob(50000000) WHERE seq=2", {"limit_reached"}},
      {lax + "UPDATE records SET sig=zeroblob(50000000) WHERE seq=4", {"limit_reached"}},
      {"UPDATE checkpoints SET note=zeroblob(3000000)", {"checkpoint_malformed"}},
      {"UPDATE checkpoints SET frontier=zeroblob(50000000)", {"limit_reached"}},
      {"INSERT INTO blobs VALUES(zeroblob(32),zeroblob(32),zeroblob(2000000))", {"blob_malformed"}},
      {"INSERT INTO blobs VALUES(zeroblob(32),zeroblob(50000000),x'00')", {"limit_reached"}},
      {"INSERT INTO anchors VALUES(5,'sink',zeroblob(50000000))",
       {"limit_reached", "anchor_malformed"}},
  };
  const std::string sound = slurp(path_);
  for (const Case& one : cases) {
    spit(path_, sound);
    const VerifyReport report = after(one.sql);
    EXPECT_TRUE(report.verdict == Verdict::kFailed || report.verdict == Verdict::kUnreadable)
        << one.sql << report.text;
    bool named = false;
    for (const std::string& code : one.any_of) {
      named = named || codes(report).count(code) != 0;
    }
    EXPECT_TRUE(named) << one.sql << report.text;
  }
}

// What somebody lays beside the ledger is copied with it only where SQLite would use it.
TEST_F(LayoutTest, PlantedFilesBesideTheLedgerAreHarmlessOrReported) {
  for (const char* suffix : {"-shm", "-wal2", ".bak", "-wal.old"}) {
    spit(path_ + suffix, std::string(40000, '\x5a'));
    expect_sound(now());
    fs::remove(path_ + suffix);
  }
  for (const std::string& wal :
       {std::string(40000, '\0'), std::string(40000, '\x5a'), std::string("\x37\x7f\x06\x82"),
        std::string("\x37\x7f\x06\x82") + std::string(60000, '\x01')}) {
    spit(path_ + "-wal", wal);
    expect_sound(now());
    fs::remove(path_ + "-wal");
  }
  for (const std::string& journal :
       {std::string(4096, '\0'), std::string(4096, '\x5a'), std::string(3, '\x5a')}) {
    spit(path_ + "-journal", journal);
    expect_sound(now());
    fs::remove(path_ + "-journal");
  }
}

// A rollback journal that takes the database back to its first page: SQLite obeys it, and what is
// left is no ledger. The original stays as it was.
TEST_F(LayoutTest, APlantedJournalThatCutsTheDatabaseIsNotVerified) {
  std::string journal("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8);
  const auto number = [&journal](std::uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) {
      journal.push_back(static_cast<char>(value >> static_cast<unsigned>(shift)));
    }
  };
  number(0);     // pages in the journal
  number(7);     // nonce of the checksums
  number(1);     // pages of the database before
  number(512);   // sector
  number(4096);  // page
  journal.resize(512, '\0');
  const std::string sound = slurp(path_);
  spit(path_ + "-journal", journal);
  const VerifyReport report = now();
  EXPECT_NE(report.verdict, Verdict::kVerified) << report.text;
  EXPECT_NE(report.verdict, Verdict::kInconclusive) << report.text;
  EXPECT_EQ(slurp(path_), sound);
  EXPECT_EQ(slurp(path_ + "-journal"), journal);
}

// Case L11: no check may depend on a number that nobody signed.
TEST_F(LayoutTest, AZeroedHeaderFieldNeverTurnsACheckOff) {
  const std::string sound = slurp(path_);
  Forge forged;
  forged.add_short_run(1);
  forged.at(2).signer = &forged.keys().log;  // a fault that every walk must find
  forged.write(dir_.file("faulty.db"));
  const std::string faulty = slurp(dir_.file("faulty.db"));
  for (std::size_t at = 16; at < 100; at += at < 24 ? 2 : 4) {
    const std::size_t width = at < 24 ? 2 : 4;
    std::string changed = sound;
    changed.replace(at, width, width, '\0');
    spit(path_, changed);
    const VerifyReport report = now();
    if (report.verdict == Verdict::kVerified) {
      expect_sound(report);
    } else {
      EXPECT_NE(report.verdict, Verdict::kInconclusive) << at << report.text;
    }
    changed = faulty;
    changed.replace(at, width, width, '\0');
    spit(path_, changed);
    const VerifyReport bad = verify(request_for(path_, trust_in(forged.keys())));
    EXPECT_TRUE(bad.verdict == Verdict::kFailed || bad.verdict == Verdict::kUnreadable)
        << at << bad.text;
  }
}

}  // namespace
}  // namespace aasm::verifier::test
