#include "aasm/sqlite/ledger_schema.h"

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/temp_dir.h"

namespace aasm::sqlite {
namespace {

using schema::ErrorCode;

SchemaVerdict verdict_after(const std::string& sql) {
  Connection connection = Connection::open_memory().value();
  connection.execute(sql).value();
  return check_ledger_schema(connection).value().verdict;
}

std::string with_replaced(const std::string& from, const std::string& to) {
  std::string sql(kLedgerSql);
  const std::size_t at = sql.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return sql.replace(at, from.size(), to);
}

TEST(LedgerSchemaTest, TheConstantIsTheFileInTheSourceTree) {
  std::ifstream file(std::string(AASM_SOURCE_DIR) + "/schema/sql/ledger-1.sql");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_EQ(text, kLedgerSql);
}

TEST(LedgerSchemaTest, TheRowsAreWhatTheScriptLeaves) {
  EXPECT_EQ(verdict_after(std::string(kLedgerSql)), SchemaVerdict::kMatches);
  for (const SchemaRow& row : kLedgerSchemaRows) {
    EXPECT_EQ(row.sql.empty(), row.type == "index") << row.name;
  }
}

TEST(LedgerSchemaTest, AnEmptyDatabaseIsNotALedger) {
  EXPECT_EQ(verdict_after("SELECT 1"), SchemaVerdict::kNotALedger);
}

struct Row {
  const char* why;
  std::string sql;
  SchemaVerdict verdict;
};

TEST(LedgerSchemaTest, EveryOtherSchemaIsToldApart) {
  const std::string good(kLedgerSql);
  const std::vector<Row> rows = {
      {"another application", with_replaced("0x4153414D", "1"), SchemaVerdict::kNotALedger},
      {"a later version", with_replaced("user_version=1", "user_version=2"),
       SchemaVerdict::kNewerVersion},
      {"no version", with_replaced("user_version=1", "user_version=0"), SchemaVerdict::kDifferent},
      {"a limit changed", with_replaced("65000", "65001"), SchemaVerdict::kDifferent},
      {"a space added", with_replaced("salt BLOB", "salt  BLOB"), SchemaVerdict::kDifferent},
      {"UNIQUE left out", with_replaced(" UNIQUE", ""), SchemaVerdict::kDifferent},
      {"STRICT left out",
       with_replaced(") STRICT;\nCREATE TABLE anchors",
                     ");\nCREATE TABLE "
                     "anchors"),
       SchemaVerdict::kDifferent},
      {"a table missing", good + "DROP TABLE anchors;", SchemaVerdict::kDifferent},
      {"a table more", good + "CREATE TABLE extra(x);", SchemaVerdict::kDifferent},
      {"an index more", good + "CREATE INDEX i ON records(leaf);", SchemaVerdict::kDifferent},
      {"a view", good + "CREATE VIEW v AS SELECT 1;", SchemaVerdict::kDifferent},
      {"a trigger", good + "CREATE TRIGGER t AFTER INSERT ON records BEGIN DELETE FROM blobs; END;",
       SchemaVerdict::kDifferent},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(verdict_after(row.sql), row.verdict) << row.why;
  }
}

TEST(LedgerSchemaTest, AFileThatIsNoDatabaseIsAnError) {
  const test::TempDir dir;
  std::ofstream(dir.file("x")) << std::string(4096, 'x');
  Connection connection = Connection::open(dir.file("x"), OpenMode::kReadOnly).value();
  const auto checked = check_ledger_schema(connection);
  ASSERT_FALSE(checked.has_value());
  EXPECT_EQ(checked.error().code(), ErrorCode::kMalformed);
}

}  // namespace
}  // namespace aasm::sqlite
