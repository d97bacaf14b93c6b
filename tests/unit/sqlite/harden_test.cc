#include "aasm/sqlite/harden.h"

#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "aasm/sqlite/ledger_schema.h"

#include "support/code_of.h"
#include "support/temp_dir.h"

namespace aasm::sqlite {
namespace {

using schema::ErrorCode;
using test::code_of;

class HardenTest : public testing::Test {
 protected:
  // A database made without any hardening, as an attacker would.
  void make(const std::string& sql) {
    Connection connection = Connection::open(path_, OpenMode::kCreateNew).value();
    connection.execute(std::string(kLedgerSql) + sql).value();
  }
  Connection open(const ReadLimits& limits = {}) {
    Connection connection = Connection::open(path_, OpenMode::kReadWrite).value();
    harden(connection, limits).value();
    return connection;
  }

  test::TempDir dir_;
  std::string path_ = dir_.file("ledger.db");
};

TEST_F(HardenTest, TriggersDoNotFire) {
  make(
      "CREATE TRIGGER t AFTER INSERT ON anchors BEGIN DELETE FROM checkpoints; END;"
      "INSERT INTO checkpoints VALUES(1,x'00',x'00');");
  const std::string insert = "INSERT INTO anchors VALUES(1,'a',x'00')";
  Connection connection = open();
  connection.execute(insert).value();
  EXPECT_EQ(connection.query_int("SELECT count(*) FROM checkpoints").value(), 1);
  // The same trigger fires where nothing was hardened.
  Connection plain = Connection::open(path_, OpenMode::kReadWrite).value();
  plain.execute("INSERT INTO anchors VALUES(2,'a',x'00')").value();
  EXPECT_EQ(plain.query_int("SELECT count(*) FROM checkpoints").value(), 0);
}

TEST_F(HardenTest, ViewsAreRefused) {
  make("CREATE VIEW v AS SELECT 1 AS one;");
  Connection connection = open();
  EXPECT_FALSE(connection.query_int("SELECT one FROM v").has_value());
  Connection plain = Connection::open(path_, OpenMode::kReadWrite).value();
  EXPECT_EQ(plain.query_int("SELECT one FROM v").value(), 1);
}

TEST_F(HardenTest, TheSchemaCannotBeWritten) {
  make("");
  Connection connection = open();
  connection.execute("PRAGMA writable_schema=ON").value();
  EXPECT_FALSE(connection.execute("UPDATE sqlite_schema SET sql='x'").has_value());
}

TEST_F(HardenTest, PragmasAreSet) {
  make("");
  Connection connection = open();
  EXPECT_EQ(connection.query_int("PRAGMA cell_size_check").value(), 1);
  EXPECT_EQ(connection.query_int("PRAGMA mmap_size").value(), 0);
  EXPECT_EQ(connection.query_int("PRAGMA temp_store").value(), 2);
  EXPECT_EQ(connection.query_int("PRAGMA trusted_schema").value(), 0);
}

TEST_F(HardenTest, ExtensionsAndAttachAreRefused) {
  make("");
  Connection connection = open();
  EXPECT_FALSE(connection.execute("SELECT load_extension('x')").has_value());
  EXPECT_FALSE(connection.execute("ATTACH ':memory:' AS other").has_value());
}

TEST_F(HardenTest, AValuePastTheLimitIsResourceExhausted) {
  make("INSERT INTO blobs VALUES(zeroblob(32),NULL,zeroblob(100000));");
  Connection small = open({.max_value_bytes = 50000});
  EXPECT_EQ(code_of(small.execute("SELECT data FROM blobs")), ErrorCode::kResourceExhausted);
  Connection large = open({.max_value_bytes = 200000});
  EXPECT_TRUE(large.execute("SELECT data FROM blobs").has_value());
}

TEST_F(HardenTest, TheDeadlineStopsALongStatement) {
  make("");
  const std::string endless =
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT count(*) FROM n";
  Connection connection = open({.deadline = std::chrono::milliseconds(30)});
  EXPECT_FALSE(deadline_passed(connection));
  EXPECT_EQ(code_of(connection.query_int(endless)), ErrorCode::kResourceExhausted);
  EXPECT_TRUE(deadline_passed(connection));
}

TEST_F(HardenTest, WithoutADeadlineNonePasses) {
  make("");
  EXPECT_FALSE(deadline_passed(open()));
}

struct StatementRow {
  const char* sql;
  bool allowed;
};

TEST_F(HardenTest, OnlyTheFourTablesMayBeRead) {
  make("CREATE TABLE other(x); CREATE TEMP TABLE records2(x);");
  Connection connection = open();
  allow_only(connection, ledger_tables()).value();
  const std::vector<StatementRow> rows = {
      {"SELECT seq,prev,leaf,payload,keyid,sig FROM records NOT INDEXED ORDER BY seq", true},
      {"SELECT rowid FROM checkpoints", true},
      {"SELECT sha256,salt,data FROM blobs", true},
      {"SELECT size,sink,receipt FROM anchors", true},
      {"SELECT x FROM other", false},
      {"SELECT sql FROM sqlite_schema", false},
      {"SELECT count(*) FROM records", false},
      {"SELECT load_extension('x')", false},
      {"INSERT INTO checkpoints VALUES(1,x'00',x'00')", false},
      {"UPDATE records SET seq=1", false},
      {"DELETE FROM records", false},
      {"CREATE TABLE t(x)", false},
      {"CREATE TEMP TABLE t(x)", false},
      {"DROP TABLE records", false},
      {"PRAGMA integrity_check", false},
      {"PRAGMA user_version", false},
      {"ATTACH ':memory:' AS a", false},
      {"BEGIN", false},
      {"ANALYZE", false},
      {"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT i FROM n", false},
  };
  for (const StatementRow& row : rows) {
    const auto prepared = connection.prepare(row.sql);
    EXPECT_EQ(prepared.has_value(), row.allowed) << row.sql;
  }
  EXPECT_EQ(code_of(connection.prepare("SELECT x FROM other")), ErrorCode::kPermissionDenied);
}

TEST_F(HardenTest, AnAllowanceNamesFunctionsAndTransactions) {
  make("");
  Connection connection = open();
  Allowance allowance = ledger_tables();
  allowance.functions = {"count"};
  allowance.transactions = true;
  allow_only(connection, std::move(allowance)).value();
  EXPECT_EQ(connection.query_int("SELECT count(*) FROM records").value(), 0);
  EXPECT_TRUE(connection.begin_deferred().has_value());
  EXPECT_FALSE(connection.prepare("SELECT max(seq) FROM records").has_value());
}

TEST_F(HardenTest, TheAllowanceCannotBeWidened) {
  make("");
  Connection connection = open();
  allow_only(connection, ledger_tables()).value();
  EXPECT_EQ(code_of(allow_only(connection, {{"other"}, {}, true})), ErrorCode::kInvalidArgument);
  EXPECT_FALSE(connection.begin_deferred().has_value());
}

TEST_F(HardenTest, IntegrityCheckOfASoundFileFindsNothing) {
  make("INSERT INTO checkpoints VALUES(1,x'00',x'00');");
  Connection connection = open();
  EXPECT_TRUE(integrity_check(connection, 10).value().empty());
  EXPECT_EQ(code_of(integrity_check(connection, 0)), ErrorCode::kInvalidArgument);
}

TEST_F(HardenTest, IntegrityCheckFindsAnIndexThatHidesARow) {
  make("");
  {
    Connection plain = Connection::open(path_, OpenMode::kReadWrite).value();
    plain
        .execute(
            "INSERT INTO records VALUES(0,zeroblob(32),zeroblob(32),x'00',zeroblob(32),"
            "zeroblob(64))")
        .value();
    // Point the index at the empty page of another table: the row is there, its entry is not.
    plain
        .execute(
            "PRAGMA writable_schema=ON; CREATE TABLE spare(x UNIQUE);"
            "UPDATE sqlite_schema SET rootpage=(SELECT rootpage FROM sqlite_schema WHERE "
            "name='sqlite_autoindex_spare_1') WHERE name='sqlite_autoindex_records_1';"
            "DELETE FROM sqlite_schema WHERE tbl_name='spare'")
        .value();
  }
  Connection connection = open();
  EXPECT_FALSE(integrity_check(connection, 10).value().empty());
}

TEST_F(HardenTest, IntegrityCheckReturnsNoMoreThanAsked) {
  make(
      "PRAGMA ignore_check_constraints=ON;"
      "INSERT INTO blobs VALUES(x'01',NULL,NULL),(x'02',NULL,NULL),(x'03',NULL,NULL);");
  Connection connection = open();
  EXPECT_EQ(integrity_check(connection, 2).value().size(), 2U);
}

TEST_F(HardenTest, TheHeapLimitStopsAStatementThatNeedsMore) {
  // The limit is for good and for the whole process, so another process sets it.
  EXPECT_EXIT(
      {
        Connection connection = Connection::open_memory().value();
        set_process_heap_limit(4 * 1024 * 1024);
        const auto failed = connection.query_text("SELECT hex(zeroblob(50000000))");
        const bool refused = code_of(failed) == ErrorCode::kResourceExhausted;
        std::exit(refused ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace aasm::sqlite
