#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "aasm/sqlite/connection.h"

#include "judge.h"
#include "support/byte_stride.h"
#include "support/temp_dir.h"

// A sound ledger on disk, doctored afterwards by somebody without any key.
namespace aasm::verifier::test {
namespace {

using Codes = std::set<std::string>;

class RowsTest : public testing::Test {
 protected:
  RowsTest() {
    forge_.add_sample_run(1);  // records 1 to 10
    forge_.add_short_run(2);   // records 11 and 12
    forge_.write(sound_);
  }

  // What verify says of the sound ledger after `sql` was done to it.
  VerifyReport after(const std::string& sql) const {
    std::filesystem::copy_file(sound_, changed_, std::filesystem::copy_options::overwrite_existing);
    if (!sql.empty()) {
      doctor(changed_, sql);
    }
    return verify(request_for(changed_, trust_in(forge_.keys())));
  }

  Forge forge_;
  aasm::test::TempDir dir_;
  std::string sound_ = dir_.file("sound.db");
  std::string changed_ = dir_.file("ledger.db");
};

TEST_F(RowsTest, WithoutAnyChangeItIsVerified) {
  EXPECT_EQ(after("").verdict, Verdict::kVerified);
}

struct RowCase {
  const char* what;
  const char* sql;
  Codes codes;
};

// Each change breaks one thing; what follows from it is listed with it.
// Case L9.
TEST_F(RowsTest, EveryChangeOfARecordIsFailed) {
  const std::vector<RowCase> cases = {
      {"prev",
       "UPDATE records SET prev=zeroblob(32) WHERE seq=5",
       {"prev_mismatch", "envelope_prev_mismatch"}},
      {"leaf", "UPDATE records SET leaf=zeroblob(32) WHERE seq=5", {"leaf_mismatch"}},
      {"keyid", "UPDATE records SET keyid=zeroblob(32) WHERE seq=5", {"key_mismatch"}},
      {"sig",
       "UPDATE records SET sig=zeroblob(64) WHERE seq=5",
       {"bad_signature", "signer_not_accepted"}},
      {"sig of another record",
       "UPDATE records SET sig=(SELECT sig FROM records WHERE seq=6) WHERE seq=5",
       {"bad_signature", "signer_not_accepted"}},
      {"payload of another record",
       "UPDATE records SET payload=(SELECT payload FROM records WHERE seq=11) WHERE seq=12",
       {"sequence_mismatch", "envelope_prev_mismatch", "key_mismatch", "leaf_mismatch",
        "run_reopened", "bad_signature", "checkpoint_root", "checkpoint_frontier",
        "run_unfinished"}},
      {"first record dropped",
       "DELETE FROM records WHERE seq=0",
       {"sequence_gap", "genesis_missing", "prev_mismatch", "key_unresolved", "checkpoint_root",
        "checkpoint_frontier", "checkpoint_cadence", "checkpoint_beyond_records",
        "signer_not_accepted", "tail_unsigned"}},
      {"record of a run dropped",
       "DELETE FROM records WHERE seq=9",
       {"sequence_gap", "prev_mismatch", "records_count_mismatch", "closing_differs",
        "checkpoint_cadence", "checkpoint_root", "checkpoint_frontier", "checkpoint_beyond_records",
        "tail_unsigned"}},
      {"last record dropped",
       "DELETE FROM records WHERE seq=12",
       {"checkpoint_beyond_records", "run_unfinished", "tail_unsigned"}},
      {"last run dropped", "DELETE FROM records WHERE seq>10", {"checkpoint_beyond_records"}},
  };
  for (const RowCase& one : cases) {
    const VerifyReport report = after(one.sql);
    EXPECT_EQ(report.verdict, Verdict::kFailed) << one.what;
    EXPECT_EQ(codes(report), one.codes) << one.what << "\n" << report.text;
  }
}

TEST_F(RowsTest, SwappedRecordsAreFailed) {
  const VerifyReport report = after(
      "CREATE TEMP TABLE a AS SELECT * FROM records WHERE seq IN (5,6);"
      "DELETE FROM records WHERE seq IN (5,6);"
      "INSERT INTO records SELECT 11-seq,prev,leaf,payload,keyid,sig FROM a");
  EXPECT_EQ(report.verdict, Verdict::kFailed);
  EXPECT_EQ(count_of(report, "sequence_mismatch"), 2);
  EXPECT_GE(count_of(report, "prev_mismatch"), 2);
}

// Case L13.
TEST_F(RowsTest, EndsAfterAnEarlierCheckpointLookSoundAndSaySo) {
  const VerifyReport report =
      after("DELETE FROM records WHERE seq>10; DELETE FROM checkpoints WHERE size>11");
  EXPECT_EQ(report.verdict, Verdict::kVerified);
  EXPECT_NE(report.text.find("whose last records were cut off, would look the same"),
            std::string::npos);
}

// Cases L10 and L16.
TEST_F(RowsTest, AnEmptiedLedgerIsInconclusive) {
  const VerifyReport report = after("DELETE FROM records; DELETE FROM checkpoints");
  EXPECT_EQ(report.verdict, Verdict::kInconclusive);
  EXPECT_EQ(codes(report), Codes{"empty_ledger"});
  EXPECT_FALSE(report.new_state.has_value());
}

TEST_F(RowsTest, AnEmptiedLedgerThatLeftItsCheckpointsIsFailed) {
  EXPECT_EQ(codes(after("DELETE FROM records")),
            (Codes{"empty_ledger", "checkpoint_beyond_records"}));
}

// CHECK constraints are off for whoever edits; integrity_check looks at them again.
TEST_F(RowsTest, WrongTypesAndLengthsAreFailed) {
  const std::vector<RowCase> cases = {
      {"short prev", "UPDATE records SET prev=x'00' WHERE seq=5", {}},
      {"short leaf", "UPDATE records SET leaf=x'00' WHERE seq=5", {}},
      {"short keyid", "UPDATE records SET keyid=x'00' WHERE seq=5", {}},
      {"long sig", "UPDATE records SET sig=zeroblob(65) WHERE seq=5", {}},
      {"long payload", "UPDATE records SET payload=zeroblob(65001) WHERE seq=5", {}},
  };
  for (const RowCase& one : cases) {
    const VerifyReport report = after("PRAGMA ignore_check_constraints=ON;" + std::string(one.sql));
    EXPECT_EQ(report.verdict, Verdict::kFailed) << one.what;
    EXPECT_EQ(count_of(report, "row_malformed"), 1) << one.what << report.text;
    EXPECT_EQ(count_of(report, "database_corrupt"), 1) << one.what;
  }
}

// A STRICT table refuses these; one that was made without STRICT does not have the format's schema.
TEST_F(RowsTest, ATableThatTakesOtherTypesIsFailed) {
  const VerifyReport report = after(
      "PRAGMA writable_schema=ON;"
      "UPDATE sqlite_schema SET sql=replace(sql,'STRICT','') WHERE name='records';"
      "PRAGMA writable_schema=RESET;"
      "PRAGMA ignore_check_constraints=ON;"
      "UPDATE records SET payload='text' WHERE seq=5");
  EXPECT_EQ(codes(report), Codes{"schema_different"});
}

TEST_F(RowsTest, AnythingBesideTheFourTablesIsFailed) {
  const std::vector<RowCase> cases = {
      {"view", "CREATE VIEW v AS SELECT 1", {}},
      {"trigger", "CREATE TRIGGER t AFTER INSERT ON records BEGIN SELECT 1; END", {}},
      {"table", "CREATE TABLE extra(x)", {}},
      {"index", "CREATE INDEX i ON records(leaf)", {}},
      {"a view in place of a table",
       "ALTER TABLE records RENAME TO hidden; CREATE VIEW records AS SELECT * FROM hidden",
       {}},
      {"no table", "DROP TABLE anchors", {}},
      {"another column", "ALTER TABLE blobs ADD COLUMN more BLOB", {}},
  };
  for (const RowCase& one : cases) {
    const VerifyReport report = after(one.sql);
    EXPECT_EQ(report.verdict, Verdict::kFailed) << one.what;
    EXPECT_EQ(codes(report), Codes{"schema_different"}) << one.what;
  }
}

TEST_F(RowsTest, OtherIdsAreNoLedgerAndANewerSchemaIsNotRead) {
  EXPECT_EQ(codes(after("PRAGMA application_id=1")), Codes{"target_not_recognised"});
  EXPECT_EQ(codes(after("PRAGMA user_version=2")), Codes{"schema_newer"});
  EXPECT_EQ(codes(after("PRAGMA user_version=0")), Codes{"schema_different"});
}

// An index that leaves a row out would hide it from a query that uses the index.
TEST_F(RowsTest, AnIndexThatHidesARowIsFailed) {
  const VerifyReport report = after(
      "PRAGMA writable_schema=ON;"
      "CREATE TABLE other(p BLOB NOT NULL UNIQUE CHECK(length(p)=32));"
      "UPDATE sqlite_schema SET rootpage=(SELECT rootpage FROM sqlite_schema WHERE"
      " name='sqlite_autoindex_other_1') WHERE name='sqlite_autoindex_records_1';"
      "DELETE FROM sqlite_schema WHERE tbl_name='other';"
      "PRAGMA writable_schema=RESET");
  EXPECT_EQ(report.verdict, Verdict::kFailed);
  EXPECT_GE(count_of(report, "database_corrupt"), 1) << report.text;
}

TEST_F(RowsTest, BlobRowsThatNoRecordNamesAreFailed) {
  EXPECT_EQ(codes(after("INSERT INTO blobs VALUES(zeroblob(32),zeroblob(32),x'00')")),
            (Codes{"blob_unnamed", "blob_digest"}));
  EXPECT_EQ(codes(after("INSERT INTO blobs VALUES(zeroblob(32),NULL,NULL)")),
            Codes{"blob_unnamed"});
}

TEST_F(RowsTest, AnchorRowsAreCountedAndNotTrusted) {
  const VerifyReport sound = after("INSERT INTO anchors VALUES(11,'witness',x'00')");
  EXPECT_EQ(sound.verdict, Verdict::kVerified);
  EXPECT_EQ(notices(sound), Codes{"anchor_not_evaluated"});
  EXPECT_EQ(codes(after("INSERT INTO anchors VALUES(7,'witness',x'00')")),
            Codes{"anchor_malformed"});
}

// Every byte of what is stored for one record, each changed alone (by default each seventh).
// Case L9.
TEST_F(RowsTest, EveryByteOfAPayloadIsBound) {
  Forge small;
  small.add_short_run(1);
  small.write(changed_);
  sqlite::Connection db = sqlite::Connection::open(changed_, sqlite::OpenMode::kReadWrite).value();
  db.execute("PRAGMA synchronous=OFF").value();
  schema::Bytes payload;
  {
    sqlite::Statement row = db.prepare("SELECT payload FROM records WHERE seq=2").value();
    ASSERT_TRUE(row.step().value());
    const schema::ByteView bytes = row.column_blob(0).value();
    payload.assign(bytes.begin(), bytes.end());
  }
  sqlite::Statement update = db.prepare("UPDATE records SET payload=?1 WHERE seq=2").value();
  VerifyRequest request = request_for(changed_, trust_in(small.keys()));
  request.threads = 1;
  for (std::size_t i = 0; i < payload.size(); i += aasm::test::byte_stride(7)) {
    payload[i] ^= static_cast<std::uint8_t>(1U << (i % 8));
    update.bind_blob(1, payload).value();
    update.run().value();
    const VerifyReport report = verify(request);
    ASSERT_EQ(report.verdict, Verdict::kFailed) << "byte " << i;
    ASSERT_EQ(count_of(report, "leaf_mismatch"), 1) << "byte " << i;
    payload[i] ^= static_cast<std::uint8_t>(1U << (i % 8));
  }
}

}  // namespace
}  // namespace aasm::verifier::test
