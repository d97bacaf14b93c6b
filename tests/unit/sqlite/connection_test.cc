#include "aasm/sqlite/connection.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <optional>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "support/code_of.h"
#include "support/temp_dir.h"

namespace aasm::sqlite {
namespace {

using schema::ErrorCode;
using test::code_of;

constexpr int kConstraintUnique = 2067;  // SQLITE_CONSTRAINT_UNIQUE

class ConnectionTest : public testing::Test {
 protected:
  Connection make(const std::string& name) {
    auto opened = Connection::open(dir_.file(name), OpenMode::kCreateNew);
    EXPECT_TRUE(opened.has_value());
    return std::move(opened).value();
  }
  std::optional<ErrorCode> code_of_open(const std::string& path, OpenMode mode) {
    auto opened = Connection::open(path, mode);
    if (opened.has_value()) {
      return std::nullopt;
    }
    return opened.error().code();
  }

  test::TempDir dir_;
};

TEST_F(ConnectionTest, CreateNewMakesAPrivateFile) {
  make("a.db");
  struct stat status {};
  ASSERT_EQ(stat(dir_.file("a.db").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600U);
}

TEST_F(ConnectionTest, CreateNewRefusesAnExistingFile) {
  make("a.db");
  EXPECT_EQ(code_of_open(dir_.file("a.db"), OpenMode::kCreateNew), ErrorCode::kConflict);
}

TEST_F(ConnectionTest, CreateNewRefusesADanglingLink) {
  ASSERT_EQ(symlink("nowhere", dir_.file("a.db").c_str()), 0);
  EXPECT_EQ(code_of_open(dir_.file("a.db"), OpenMode::kCreateNew), ErrorCode::kConflict);
  EXPECT_NE(access(dir_.file("nowhere").c_str(), F_OK), 0);
}

TEST_F(ConnectionTest, ExistingModesNeverMakeAFile) {
  for (const OpenMode mode : {OpenMode::kReadWrite, OpenMode::kReadOnly}) {
    EXPECT_EQ(code_of_open(dir_.file("a.db"), mode), ErrorCode::kNotFound);
    EXPECT_NE(access(dir_.file("a.db").c_str(), F_OK), 0);
  }
}

TEST_F(ConnectionTest, AMissingDirectoryIsNotFound) {
  EXPECT_EQ(code_of_open(dir_.file("no/a.db"), OpenMode::kCreateNew), ErrorCode::kNotFound);
}

TEST_F(ConnectionTest, ALinkAsLastComponentIsRefused) {
  make("a.db");
  ASSERT_EQ(symlink("a.db", dir_.file("b.db").c_str()), 0);
  EXPECT_EQ(code_of_open(dir_.file("b.db"), OpenMode::kReadWrite), ErrorCode::kPermissionDenied);
  EXPECT_EQ(code_of_open(dir_.file("b.db"), OpenMode::kReadOnly), ErrorCode::kPermissionDenied);
}

TEST_F(ConnectionTest, ALinkInTheDirectoryPartIsFollowed) {
  ASSERT_EQ(mkdir(dir_.file("real").c_str(), 0700), 0);
  ASSERT_EQ(symlink("real", dir_.file("alias").c_str()), 0);
  make("real/a.db");
  EXPECT_EQ(code_of_open(dir_.file("alias/a.db"), OpenMode::kReadWrite), std::nullopt);
}

TEST_F(ConnectionTest, OnlyRegularFilesAreOpened) {
  ASSERT_EQ(mkfifo(dir_.file("pipe").c_str(), 0600), 0);
  EXPECT_EQ(code_of_open(dir_.file("pipe"), OpenMode::kReadOnly), ErrorCode::kPermissionDenied);
  EXPECT_EQ(code_of_open(dir_.path().string(), OpenMode::kReadOnly), ErrorCode::kPermissionDenied);
}

TEST_F(ConnectionTest, PathsThatNameNoFileAreRefused) {
  for (const std::string& path : {std::string(), std::string("/"), dir_.file("."), dir_.file(".."),
                                  dir_.file(std::string("a\0b", 3))}) {
    EXPECT_EQ(code_of_open(path, OpenMode::kReadOnly), ErrorCode::kInvalidArgument) << path;
  }
}

TEST_F(ConnectionTest, ReadWriteNeverFallsBackToReading) {
  if (geteuid() == 0) {
    GTEST_SKIP() << "root may write any file";
  }
  make("a.db");
  ASSERT_EQ(chmod(dir_.file("a.db").c_str(), 0400), 0);
  EXPECT_EQ(code_of_open(dir_.file("a.db"), OpenMode::kReadWrite), ErrorCode::kPermissionDenied);
  EXPECT_EQ(code_of_open(dir_.file("a.db"), OpenMode::kReadOnly), std::nullopt);
}

TEST_F(ConnectionTest, AReadOnlyConnectionCannotWrite) {
  make("a.db").execute("CREATE TABLE t(x)").value();
  Connection reader = Connection::open(dir_.file("a.db"), OpenMode::kReadOnly).value();
  EXPECT_EQ(code_of(reader.execute("INSERT INTO t VALUES(1)")), ErrorCode::kPermissionDenied);
}

TEST_F(ConnectionTest, AFileThatIsNoDatabaseIsMalformedAtTheFirstStatement) {
  std::ofstream(dir_.file("a.db")) << std::string(4096, 'x');
  Connection connection = Connection::open(dir_.file("a.db"), OpenMode::kReadOnly).value();
  EXPECT_EQ(code_of(connection.query_int("PRAGMA application_id")), ErrorCode::kMalformed);
}

TEST_F(ConnectionTest, AnEmptyFileIsAnEmptyDatabase) {
  std::ofstream(dir_.file("a.db")).close();
  Connection connection = Connection::open(dir_.file("a.db"), OpenMode::kReadOnly).value();
  EXPECT_EQ(connection.query_int("SELECT count(*) FROM sqlite_schema").value(), 0);
}

TEST_F(ConnectionTest, AViolatedConstraintIsAConflictAndKeepsItsExtendedCode) {
  Connection connection = make("a.db");
  connection.execute("CREATE TABLE t(x UNIQUE); INSERT INTO t VALUES(1)").value();
  Statement insert = connection.prepare("INSERT INTO t VALUES(?)").value();
  insert.bind_int(1, 1).value();
  EXPECT_EQ(code_of(insert.step()), ErrorCode::kConflict);
  EXPECT_EQ(connection.extended_code(), kConstraintUnique);
  insert.reset().value();
  insert.bind_int(1, 2).value();
  EXPECT_TRUE(insert.run().has_value());
  EXPECT_EQ(connection.changes(), 1);
}

TEST_F(ConnectionTest, PrepareRefusesASecondStatement) {
  Connection connection = make("a.db");
  EXPECT_TRUE(connection.prepare("SELECT 1;\n ").has_value());
  EXPECT_TRUE(connection.prepare("SELECT ';' ; ;").has_value());
  EXPECT_EQ(code_of(connection.prepare("SELECT 1; SELECT 2")), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of(connection.prepare("SELECT nonsense")), ErrorCode::kInvalidArgument);
}

TEST_F(ConnectionTest, EveryTypeComesBackAsItWasBound) {
  Connection connection = make("a.db");
  connection.execute("CREATE TABLE t(a,b,c,d,e)").value();
  Statement insert = connection.prepare("INSERT INTO t VALUES(?,?,?,?,?)").value();
  const std::string text("a\0b", 3);
  insert.bind_int(1, INT64_MIN).value();
  insert.bind_text(2, text).value();
  insert.bind_blob(3, schema::as_bytes(text)).value();
  insert.bind_blob(4, {}).value();
  insert.bind_null(5).value();
  insert.run().value();

  Statement row = connection.prepare("SELECT a,b,c,d,e FROM t").value();
  ASSERT_TRUE(row.step().value());
  EXPECT_EQ(row.column_int(0).value(), INT64_MIN);
  EXPECT_EQ(row.column_text(1).value(), text);
  EXPECT_EQ(schema::as_text(row.column_blob(2).value()), text);
  EXPECT_EQ(row.column_type(3).value(), ColumnType::kBlob);
  EXPECT_TRUE(row.column_blob(3).value().empty());
  EXPECT_EQ(row.column_type(4).value(), ColumnType::kNull);
  EXPECT_EQ(row.column_name(4), "e");
  EXPECT_FALSE(row.step().value());
}

TEST_F(ConnectionTest, AColumnIsNeverReadAsAnotherType) {
  Connection connection = make("a.db");
  Statement row = connection.prepare("SELECT 1, 'x', x'00', NULL, 1.5").value();
  ASSERT_TRUE(row.step().value());
  for (int column = 0; column < 5; ++column) {
    EXPECT_EQ(row.column_int(column).has_value(), column == 0) << column;
    EXPECT_EQ(row.column_text(column).has_value(), column == 1) << column;
    EXPECT_EQ(row.column_blob(column).has_value(), column == 2) << column;
  }
  EXPECT_EQ(code_of(row.column_text(0)), ErrorCode::kMalformed);
  EXPECT_EQ(row.column_type(4).value(), ColumnType::kReal);
  EXPECT_EQ(code_of(row.column_int(5)), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of(row.column_int(-1)), ErrorCode::kInvalidArgument);
}

TEST_F(ConnectionTest, ColumnsWithoutARowAreAnError) {
  Connection connection = make("a.db");
  Statement row = connection.prepare("SELECT 1").value();
  EXPECT_EQ(code_of(row.column_int(0)), ErrorCode::kInvalidArgument);
  ASSERT_TRUE(row.step().value());
  ASSERT_FALSE(row.step().value());
  EXPECT_EQ(code_of(row.column_int(0)), ErrorCode::kInvalidArgument);
  EXPECT_FALSE(row.step().has_value());
}

TEST_F(ConnectionTest, ATransactionRollsBackUnlessCommitted) {
  Connection connection = make("a.db");
  connection.execute("CREATE TABLE t(x)").value();
  {
    Transaction transaction = connection.begin_immediate().value();
    connection.execute("INSERT INTO t VALUES(1)").value();
  }
  EXPECT_EQ(connection.query_int("SELECT count(*) FROM t").value(), 0);
  {
    Transaction transaction = connection.begin_immediate().value();
    connection.execute("INSERT INTO t VALUES(1)").value();
    transaction.commit().value();
    EXPECT_FALSE(transaction.commit().has_value());
  }
  EXPECT_EQ(connection.query_int("SELECT count(*) FROM t").value(), 1);
}

TEST_F(ConnectionTest, ASecondWriterIsUnavailableAfterItsTimeout) {
  Connection first = make("a.db");
  first.execute("PRAGMA journal_mode=WAL; CREATE TABLE t(x)").value();
  Connection second = Connection::open(dir_.file("a.db"), OpenMode::kReadWrite).value();
  second.set_busy_timeout(std::chrono::milliseconds(30)).value();
  Transaction held = first.begin_immediate().value();
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(code_of(second.begin_immediate()), ErrorCode::kUnavailable);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(20));
}

TEST_F(ConnectionTest, StatementsMayOutliveTheConnectionObject) {
  std::optional<Statement> statement;
  {
    Connection connection = make("a.db");
    statement = connection.prepare("SELECT 7").value();
  }
  ASSERT_TRUE(statement->step().value());
  EXPECT_EQ(statement->column_int(0).value(), 7);
}

TEST_F(ConnectionTest, TheWalStaysOnCloseWhenAsked) {
  for (const bool keep : {false, true}) {
    const std::string name = keep ? "keep.db" : "plain.db";
    {
      Connection connection = make(name);
      connection.execute("PRAGMA journal_mode=WAL; CREATE TABLE t(x)").value();
      if (keep) {
        connection.keep_wal_on_close().value();
      }
    }
    EXPECT_EQ(access(dir_.file(name + "-wal").c_str(), F_OK) == 0, keep);
  }
}

TEST_F(ConnectionTest, QueriesThatFindNothingSaySo) {
  Connection connection = Connection::open_memory().value();
  connection.execute("CREATE TABLE t(x)").value();
  EXPECT_EQ(code_of(connection.query_int("SELECT x FROM t")), ErrorCode::kNotFound);
  EXPECT_EQ(code_of(connection.query_text("SELECT x FROM t")), ErrorCode::kNotFound);
  EXPECT_EQ(connection.query_text("SELECT 'a'").value(), "a");
  EXPECT_EQ(code_of(connection.query_int("SELECT 'a'")), ErrorCode::kMalformed);
}

TEST_F(ConnectionTest, MessagesHoldNoRawBytesOfTheStatement) {
  Connection connection = Connection::open_memory().value();
  const auto failed = connection.execute("SELECT * FROM \"a\x1b[31m\"");
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().message().find('\x1b'), std::string::npos);
  EXPECT_NE(failed.error().message().find("\\x1b"), std::string::npos);
}

}  // namespace
}  // namespace aasm::sqlite
