#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "aasm/ledger/store.h"
#include "aasm/ledger_format/note.h"
#include "aasm/sqlite/connection.h"

#include "head_file.h"
#include "support/code_of.h"
#include "support/ledger_check.h"
#include "support/ledger_home.h"

// docs/spec/ledger-format.md rule 4.5: a ledger behind what was released, or that does not fit its
// own newest checkpoint, is not appended to.
namespace aasm::ledger {
namespace {

using schema::ErrorCode;
using test::code_of;
using Records = std::vector<PendingRecord>;

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The database and its log as they are now. A kept log belongs to the copy: played into an older
// database alone it would bring the newer records back.
class Copy {
 public:
  explicit Copy(const test::LedgerHome& home)
      : path_(home.paths().ledger), database_(bytes_of(path_)), log_(bytes_of(path_ + "-wal")) {}

  void restore() const {
    std::filesystem::remove(path_ + "-shm");
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << database_;
    std::ofstream(path_ + "-wal", std::ios::binary | std::ios::trunc) << log_;
  }
  const std::string& database() const { return database_; }

 private:
  std::string path_;
  std::string database_;
  std::string log_;
};

// A ledger of seven records: 0, a closed run of 1 to 3, and an open run of 4 to 6 as a tail.
class StoreRollbackTest : public testing::Test {
 protected:
  void fill(const test::LedgerHome& home) const {
    Store store = home.open();
    const test::TestRun closed;
    const test::TestRun open;
    store.append(Records{closed.opened(store), closed.record(test::batch_body()), closed.closed()})
        .value();
    store
        .append(Records{open.opened(store), open.record(test::batch_body()),
                        open.record(test::batch_body())})
        .value();
  }
  static void sql(const test::LedgerHome& home, const std::string& text) {
    sqlite::Connection::open(home.paths().ledger, sqlite::OpenMode::kReadWrite)
        .value()
        .execute("PRAGMA ignore_check_constraints=ON;" + text)
        .value();
  }
  static std::string head_path(const test::LedgerHome& home) {
    return home.paths().heads + "/" + head_file_name(home.keys().origin);
  }
};

// Case L15.
TEST_F(StoreRollbackTest, AnOlderCopyOfTheFileIsRefusedAndUntouched) {
  const test::LedgerHome home;
  const Copy copy(home);
  fill(home);
  copy.restore();
  EXPECT_EQ(code_of(home.try_open()), ErrorCode::kIntegrity);
  EXPECT_EQ(bytes_of(home.paths().ledger), copy.database());
}

TEST_F(StoreRollbackTest, AnOlderCopyIsAcceptedOnceItsHeadFileIsGone) {
  // The control: it is the head file that told, nothing else.
  const test::LedgerHome home;
  const Copy copy(home);
  fill(home);
  copy.restore();
  std::filesystem::remove(head_path(home));
  EXPECT_EQ(code_of(home.try_open()), std::nullopt);
}

TEST_F(StoreRollbackTest, ARollbackUnderARunningStoreIsRefused) {
  const test::LedgerHome home;
  Store store = home.open();
  const test::TestRun run;
  store.append(Records{run.opened(store), run.record(test::batch_body())}).value();
  sql(home, "DELETE FROM records WHERE seq=2");
  EXPECT_EQ(code_of(store.append(run.batches(1))), ErrorCode::kIntegrity);
}

struct Damage {
  const char* why;
  std::string sql;
};

TEST_F(StoreRollbackTest, ADamagedEndIsRefused) {
  const std::vector<Damage> rows = {
      {"no checkpoint", "DELETE FROM checkpoints"},
      {"newest checkpoint missing", "DELETE FROM checkpoints WHERE size=4"},
      {"note is no note", "UPDATE checkpoints SET note=x'00' WHERE size=4"},
      {"note of another size",
       "UPDATE checkpoints SET note=(SELECT note FROM checkpoints WHERE size=1) WHERE size=4"},
      {"frontier altered", "UPDATE checkpoints SET frontier=zeroblob(32) WHERE size=4"},
      {"frontier too short", "UPDATE checkpoints SET frontier=x'00' WHERE size=4"},
      {"checkpoint ahead of the records", "DELETE FROM records WHERE seq>=3"},
      {"gap in the tail", "DELETE FROM records WHERE seq=5"},
      {"leaf of the tail altered", "UPDATE records SET leaf=zeroblob(32) WHERE seq=5"},
      {"leaf column too short", "UPDATE records SET leaf=x'00' WHERE seq=5"},
      {"prev of the tail altered", "UPDATE records SET prev=zeroblob(32) WHERE seq=5"},
      {"payload of the tail altered", "UPDATE records SET payload=x'7b7d' WHERE seq=5"},
      {"last covered payload altered", "UPDATE records SET payload=x'7b7d' WHERE seq=3"},
      {"record 0 missing", "DELETE FROM records WHERE seq=0"},
      {"record 0 is another",
       "UPDATE records SET payload=(SELECT payload FROM records WHERE seq=1) WHERE seq=0"},
  };
  for (const Damage& row : rows) {
    const test::LedgerHome home;
    fill(home);
    sql(home, row.sql);
    EXPECT_EQ(code_of(home.try_open()), ErrorCode::kIntegrity) << row.why;
  }
  const test::LedgerHome home;
  fill(home);
  sql(home, "SELECT 1");
  EXPECT_EQ(code_of(home.try_open()), std::nullopt);
}

TEST_F(StoreRollbackTest, ATailLongerThanTheCadenceIsRefused) {
  const test::LedgerHome home;
  {
    Store store = home.open();
    const test::TestRun run;
    store.append(Records{run.opened(store)}).value();
    store.append(run.batches(300)).value();
  }
  std::filesystem::remove(head_path(home));
  sql(home, "DELETE FROM checkpoints WHERE size>1");
  EXPECT_EQ(code_of(home.try_open()), ErrorCode::kIntegrity);
}

TEST_F(StoreRollbackTest, ACheckpointSignedByAnotherKeyIsRefused) {
  const test::LedgerHome home;
  fill(home);
  const auto other = crypto::SigningKey::generate().value();
  auto connection =
      sqlite::Connection::open(home.paths().ledger, sqlite::OpenMode::kReadWrite).value();
  std::string note;
  {
    auto row = connection.prepare("SELECT note FROM checkpoints WHERE size=4").value();
    ASSERT_TRUE(row.step().value());
    const auto standing =
        ledger_format::parse_signed_checkpoint(schema::as_text(row.column_blob(0).value())).value();
    note = ledger_format::sign_checkpoint(standing.checkpoint, other).value();
  }
  auto update = connection.prepare("UPDATE checkpoints SET note=? WHERE size=4").value();
  update.bind_blob(1, schema::as_bytes(note)).value();
  update.run().value();
  EXPECT_EQ(code_of(home.try_open()), ErrorCode::kIntegrity);
}

TEST_F(StoreRollbackTest, ANoteExchangedUnderARunningStoreIsNotTakenOver) {
  const test::LedgerHome home;
  Store store = home.open();
  const std::string note = store.newest_checkpoint();
  sql(home, "UPDATE checkpoints SET note=note||x'00'");
  const test::TestRun run;
  store.append(Records{run.opened(store)}).value();
  EXPECT_EQ(store.newest_checkpoint(), note);
}

TEST_F(StoreRollbackTest, AHeadFileForgedUnderARunningStoreIsReported) {
  const test::LedgerHome home;
  const KeySet keys = home.keys();
  Store store = home.open();
  const test::TestRun run;
  const std::string forged =
      ledger_format::sign_checkpoint({keys.origin, 900, {}}, keys.host).value();
  std::ofstream(head_path(home), std::ios::binary | std::ios::trunc) << forged;
  const Appended done = store.append(Records{run.opened(store), run.closed()}).value();
  ASSERT_TRUE(done.head_lag.has_value());
  EXPECT_EQ(done.head_lag->code(), ErrorCode::kIntegrity);
  EXPECT_EQ(bytes_of(head_path(home)), forged);
}

struct HeadRow {
  const char* why;
  std::function<std::string(const KeySet&, const std::string& standing)> content;
  std::optional<ErrorCode> code;
};

TEST_F(StoreRollbackTest, TheHeadFileIsTakenSeriously) {
  const std::vector<HeadRow> rows = {
      {"as it is", [](const KeySet&, const std::string& s) { return s; }, std::nullopt},
      {"empty after a power cut", [](const KeySet&, const std::string&) { return ""; },
       std::nullopt},
      {"another root at the same size",
       [](const KeySet& keys, const std::string&) {
         return ledger_format::sign_checkpoint({keys.origin, 4, {}}, keys.log).value();
       },
       ErrorCode::kIntegrity},
      {"a size that has no checkpoint",
       [](const KeySet& keys, const std::string&) {
         return ledger_format::sign_checkpoint({keys.origin, 3, {}}, keys.log).value();
       },
       ErrorCode::kIntegrity},
      {"ahead of the ledger",
       [](const KeySet& keys, const std::string&) {
         return ledger_format::sign_checkpoint({keys.origin, 8, {}}, keys.log).value();
       },
       ErrorCode::kIntegrity},
      {"signed by another key",
       [](const KeySet& keys, const std::string& s) {
         const auto standing = ledger_format::parse_signed_checkpoint(s).value();
         return ledger_format::sign_checkpoint(standing.checkpoint, keys.host).value();
       },
       ErrorCode::kIntegrity},
      {"of another origin",
       [](const KeySet& keys, const std::string&) {
         return ledger_format::sign_checkpoint({"other.example/ledger/0123456789abcdef", 4, {}},
                                               keys.log)
             .value();
       },
       ErrorCode::kIntegrity},
      {"no note", [](const KeySet&, const std::string&) { return "x"; }, ErrorCode::kMalformed},
      {"cut short", [](const KeySet&, const std::string& s) { return s.substr(0, s.size() - 10); },
       ErrorCode::kMalformed},
      {"too long", [](const KeySet&, const std::string& s) { return s + std::string(9000, 'x'); },
       ErrorCode::kMalformed},
  };
  for (const HeadRow& row : rows) {
    const test::LedgerHome home;
    fill(home);
    const std::string content = row.content(home.keys(), bytes_of(head_path(home)));
    std::ofstream(head_path(home), std::ios::binary | std::ios::trunc) << content;
    EXPECT_EQ(code_of(home.try_open()), row.code) << row.why;
  }
}

TEST_F(StoreRollbackTest, AHeadFileOpenToOthersIsRefused) {
  const test::LedgerHome home;
  ASSERT_EQ(chmod(head_path(home).c_str(), 0644), 0);
  EXPECT_EQ(code_of(home.try_open()), ErrorCode::kPermissionDenied);
}

}  // namespace
}  // namespace aasm::ledger
