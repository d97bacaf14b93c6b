#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "aasm/ledger_format/keys.h"
#include "aasm/sqlite/connection.h"

#include "judge.h"
#include "support/temp_dir.h"

// Field reports about other ledgers (tests/case-numbers.txt) that no other file of this folder
// answers.
namespace aasm::verifier::test {
namespace {

using Codes = std::set<std::string>;

constexpr std::int64_t kDecadeNs = std::int64_t{10} * 365 * 24 * 3600 * 1000000000;

// Case L8: rows appended after a changed one do not make it an honest fork.
TEST(ForkTest, AContinuationOfAChangedRowStaysFailed) {
  const aasm::test::TempDir dir;
  const std::string path = dir.file("ledger.db");
  Forge forge;
  forge.add_short_run(1);
  forge.add_short_run(2);
  // Record 2 is another than the signed one, and what follows is linked to it and well signed.
  forge.write(path);
  doctor(path, "UPDATE records SET sig=zeroblob(64) WHERE seq=2");
  const VerifyReport report = verify(request_for(path, trust_in(forge.keys())));
  EXPECT_EQ(report.verdict, Verdict::kFailed);
  EXPECT_EQ(count_of(report, "bad_signature"), 1);

  Forge linked;
  linked.add_short_run(1);
  linked.add_short_run(2);
  linked.at(2).change_payload = [](std::string& text) {
    text.replace(text.find("\"records\":1"), 11, "\"records\":9");
  };
  linked.at(2).signer = &linked.keys().log;  // whoever changed it has no key of the run
  const VerifyReport forked = verify_forged(linked);
  EXPECT_EQ(forked.verdict, Verdict::kFailed);
  EXPECT_EQ(count_of(forked, "wrong_signer"), 1) << forked.text;
  EXPECT_EQ(count_of(forked, "prev_mismatch"), 0) << "only the changed record is at fault";
}

// Case L12: without signatures there is something to check, and it fails.
TEST(StrippedTest, ALedgerWithoutItsSignaturesIsFailed) {
  Forge forge;
  forge.add_short_run(1);
  struct Case {
    const char* sql;
    const char* code;
    std::int64_t count;
  };
  const std::vector<Case> cases = {
      {"UPDATE records SET sig=zeroblob(64)", "bad_signature", 3},
      {"UPDATE records SET keyid=zeroblob(32)", "key_mismatch", 3},
      {"PRAGMA ignore_check_constraints=ON; UPDATE records SET sig=x''", "row_malformed", 3},
      {"DELETE FROM checkpoints", "checkpoint_cadence", 1},
      {"UPDATE checkpoints SET note=CAST(substr(CAST(note AS TEXT),1,instr(CAST(note AS TEXT),"
       "char(10)||char(10))+1) AS BLOB)",
       "checkpoint_malformed", 1},
  };
  for (const Case& one : cases) {
    const aasm::test::TempDir dir;
    forge.write(dir.file("ledger.db"));
    doctor(dir.file("ledger.db"), one.sql);
    const VerifyReport report = verify(request_for(dir.file("ledger.db"), trust_in(forge.keys())));
    EXPECT_EQ(report.verdict, Verdict::kFailed) << one.sql << report.text;
    EXPECT_EQ(count_of(report, one.code), one.count) << one.sql << report.text;
  }
}

// Case L23: a signature does not age. No clock of the machine is asked.
TEST(AgeTest, RecordsOfTenYearsAgoAreVerified) {
  Forge forge;
  forge.add_short_run(1);
  for (ForgedRecord& record : forge.records()) {
    record.change_envelope = [](ledger_format::Envelope& e) { e.wall_ns -= kDecadeNs; };
  }
  EXPECT_EQ(verify_forged(forge).verdict, Verdict::kVerified);
}

// Case L24: a time written by the signer takes no signature back before the end of its key.
TEST(BackdatingTest, AnOldTimeDoesNotSaveARecordPastTheLimitOfItsKey) {
  Forge forge;
  forge.add_short_run(1);
  forge.add_short_run(2);
  forge.at(3).change_envelope = [](ledger_format::Envelope& e) { e.wall_ns -= kDecadeNs; };
  const aasm::test::TempDir dir;
  forge.write(dir.file("ledger.db"));
  VerifyRequest request = request_for(dir.file("ledger.db"), trust_in(forge.keys()));
  EXPECT_EQ(verify(request).verdict, Verdict::kVerified);
  request.trust.keys.revoked.push_back({ledger_format::key_id(forge.keys().host.public_key()), 3});
  const VerifyReport report = verify(request);
  EXPECT_EQ(report.verdict, Verdict::kFailed);
  EXPECT_EQ(count_of(report, "key_revoked"), 1) << report.text;
}

// Case L27: the records of a run, signed again with the key of a later run.
TEST(ResignedTest, ARunSignedAgainByALaterRunsKeyIsFailed) {
  Forge forge;
  forge.add_sample_run(1);
  forge.add_short_run(2);
  for (std::size_t seq = 2; seq <= 10; ++seq) {
    forge.at(seq).signer = &forge.run_key(2);
  }
  const VerifyReport report = verify_forged(forge);
  EXPECT_EQ(report.verdict, Verdict::kFailed);
  EXPECT_EQ(count_of(report, "wrong_signer"), 9) << report.text;
}

// Case L14: every record and checkpoint made anew under the pinned name.
TEST(ResignedTest, ARewriteFromTheFirstRecordIsFailedWhenPinned) {
  Forge honest;
  honest.add_short_run(1);
  Forge rewritten;
  rewritten.add_short_run(1);
  const aasm::test::TempDir dir;
  rewritten.write(dir.file("ledger.db"));
  const VerifyReport pinned = verify(request_for(dir.file("ledger.db"), trust_in(honest.keys())));
  EXPECT_EQ(codes(pinned), (Codes{"root_mismatch", "log_key_mismatch"}));
  EXPECT_EQ(verify(request_for(dir.file("ledger.db"), {})).verdict, Verdict::kInconclusive);
}

}  // namespace
}  // namespace aasm::verifier::test
