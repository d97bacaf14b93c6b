#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "aasm/ledger_format/merkle.h"
#include "aasm/ledger_format/note.h"
#include "aasm/sqlite/connection.h"

#include "judge.h"
#include "support/byte_stride.h"
#include "support/temp_dir.h"

namespace aasm::verifier::test {
namespace {

using Codes = std::set<std::string>;

// Records 0 to 4; checkpoints of sizes 3 and 5.
class CheckpointTest : public testing::Test {
 protected:
  CheckpointTest() {
    forge_.add_short_run(1);
    forge_.add_short_run(2);
    forge_.write(path_);
  }
  VerifyReport verify_now() const { return verify(request_for(path_, trust_in(forge_.keys()))); }
  VerifyReport after(const std::string& sql) const {
    doctor(path_, sql);
    return verify_now();
  }
  void set_note(std::int64_t size, const std::string& note) const {
    sqlite::Connection db = sqlite::Connection::open(path_, sqlite::OpenMode::kReadWrite).value();
    db.execute("PRAGMA synchronous=OFF").value();
    sqlite::Statement update = db.prepare("UPDATE checkpoints SET note=?2 WHERE size=?1").value();
    update.bind_int(1, size).value();
    update.bind_blob(2, schema::as_bytes(note)).value();
    update.run().value();
  }
  ledger_format::Checkpoint checkpoint(std::uint64_t size) const {
    return ledger_format::parse_signed_checkpoint(forge_.note(size)).value().checkpoint;
  }
  std::string signed_by(const ledger_format::Checkpoint& said,
                        const crypto::SigningKey& key) const {
    return ledger_format::sign_checkpoint(said, key).value();
  }

  Forge forge_;
  aasm::test::TempDir dir_;
  std::string path_ = dir_.file("ledger.db");
};

TEST_F(CheckpointTest, AMissingOneIsFailed) {
  EXPECT_EQ(codes(after("DELETE FROM checkpoints WHERE size=3")), Codes{"checkpoint_cadence"});
}

TEST_F(CheckpointTest, AMissingLastOneIsFailedBecauseTheRunEnded) {
  EXPECT_EQ(codes(after("DELETE FROM checkpoints WHERE size=5")),
            (Codes{"checkpoint_cadence", "tail_unsigned"}));
}

TEST_F(CheckpointTest, AnAlteredFrontierIsFailed) {
  EXPECT_EQ(codes(after("UPDATE checkpoints SET frontier=zeroblob(64) WHERE size=3")),
            Codes{"checkpoint_frontier"});
  EXPECT_EQ(codes(after("UPDATE checkpoints SET frontier=x'' WHERE size=3")),
            Codes{"checkpoint_frontier"});
}

TEST_F(CheckpointTest, OneOfANotReachedSizeIsFailed) {
  EXPECT_EQ(codes(after("INSERT INTO checkpoints SELECT 9,note,frontier FROM checkpoints"
                        " WHERE size=5")),
            Codes{"checkpoint_beyond_records"});
}

TEST_F(CheckpointTest, OneOfSizeZeroOrBelowIsFailed) {
  const VerifyReport report = after(
      "INSERT INTO checkpoints SELECT -2,note,frontier FROM checkpoints WHERE size=5;"
      "INSERT INTO checkpoints SELECT 0,note,frontier FROM checkpoints WHERE size=5");
  EXPECT_EQ(codes(report), Codes{"checkpoint_malformed"});
  EXPECT_EQ(count_of(report, "checkpoint_malformed"), 2);
}

TEST_F(CheckpointTest, ANoteThatIsNoneIsFailed) {
  set_note(3, "hello");
  EXPECT_EQ(codes(verify_now()), Codes{"checkpoint_malformed"});
}

TEST_F(CheckpointTest, ASignatureByAnotherKeyIsFailed) {
  set_note(3, signed_by(checkpoint(3), forge_.keys().host));
  EXPECT_EQ(codes(verify_now()), Codes{"checkpoint_unsigned"});
}

TEST_F(CheckpointTest, ADamagedSignatureIsFailed) {
  ledger_format::Note note = ledger_format::parse_note(forge_.note(3)).value();
  note.signatures[0].signature[10] ^= 1U;
  set_note(3, ledger_format::format_note(note));
  EXPECT_EQ(codes(verify_now()), Codes{"checkpoint_bad_signature"});
}

// The log key signed something that the records are not.
TEST_F(CheckpointTest, ASignedNoteThatDisagreesWithTheRecordsIsFailed) {
  ledger_format::Checkpoint said = checkpoint(3);
  said.root.bytes[0] ^= 1U;
  set_note(3, signed_by(said, forge_.keys().log));
  EXPECT_EQ(codes(verify_now()), Codes{"checkpoint_root"});
  set_note(3, forge_.note(5));
  EXPECT_EQ(codes(verify_now()), (Codes{"checkpoint_root", "checkpoint_size_mismatch"}));
  said = checkpoint(3);
  said.origin = kOtherOrigin;
  set_note(3, signed_by(said, forge_.keys().log));
  EXPECT_EQ(codes(verify_now()), (Codes{"checkpoint_origin", "checkpoint_unsigned"}));
}

TEST_F(CheckpointTest, EveryByteOfANoteIsBound) {
  const std::string sound = forge_.note(3);
  for (std::size_t i = 0; i < sound.size(); i += aasm::test::byte_stride(3)) {
    std::string changed = sound;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    set_note(3, changed);
    ASSERT_EQ(verify_now().verdict, Verdict::kFailed) << "byte " << i;
  }
}

// Ends of runs have checkpoints by the other rule, so the long stretch is made of openings.
TEST(CadenceTest, AStretchOfMoreThan256IsFailed) {
  Forge forge;
  for (int run = 0; run < 256; ++run) {
    forge.add_opened(run);
  }
  forge.add_closed(0, 1);  // size 258
  EXPECT_FALSE(codes(verify_forged(forge)).count("checkpoint_cadence"));
  forge.skipped_checkpoints.insert(256);
  EXPECT_TRUE(codes(verify_forged(forge)).count("checkpoint_cadence"));
}

TEST(CadenceTest, TheDistanceIsTheOneThatRecord0States) {
  Forge forge;
  schema::LedgerCreated body = forge.genesis_body();
  body.checkpoint_every = 2;
  forge.at(0).body = write_fields(body);
  forge.add_opened(1);
  forge.add_opened(2);
  forge.add_closed(1, 1);
  forge.add_closed(2, 1);
  const VerifyReport report = verify_forged(forge);
  EXPECT_EQ(codes(report), Codes{"checkpoint_cadence"});
  forge.extra_checkpoints.insert(2);
  EXPECT_EQ(verify_forged(forge).verdict, Verdict::kVerified);
}

TEST(CadenceTest, ALongTailWithoutAnyCheckpointIsFailed) {
  Forge forge;
  for (int run = 0; run < 256; ++run) {
    forge.add_opened(run);
  }
  forge.skipped_checkpoints = {256, 257};
  EXPECT_TRUE(codes(verify_forged(forge)).count("checkpoint_cadence"));
}

TEST(TailTest, RecordsWithoutACheckpointAreInconclusive) {
  Forge forge;
  forge.add_short_run(1);
  forge.add_opened(2);
  forge.checkpoint_at_end = false;
  const VerifyReport report = verify_forged(forge);
  EXPECT_EQ(report.verdict, Verdict::kInconclusive);
  EXPECT_EQ(codes(report), (Codes{"tail_unsigned", "run_unfinished"}));
  EXPECT_EQ(number_at(report, "coverage/unsigned_tail"), 1);
}

TEST(TailTest, ATailOfUnfinishedRunsIsExcludedWithThem) {
  Forge forge;
  forge.add_short_run(1);
  forge.add_opened(2);
  forge.checkpoint_at_end = false;
  VerifyRequest request;
  request.allow_open = true;
  const VerifyReport report = verify_forged(forge, request);
  EXPECT_EQ(report.verdict, Verdict::kVerified) << report.text;
  EXPECT_EQ(notices(report), (Codes{"run_unfinished_excluded", "tail_of_open_runs"}));
}

// Only records that belong to an open run are excluded with it.
TEST(TailTest, ATailThatHoldsAnythingElseIsNotExcluded) {
  const auto with_tail = [](const std::function<void(Forge&)>& add) {
    Forge forge;
    forge.add_short_run(1);
    forge.add_opened(2);
    add(forge);
    forge.checkpoint_at_end = false;
    VerifyRequest request;
    request.allow_open = true;
    const VerifyReport report = verify_forged(forge, request);
    return codes(report).count("tail_unsigned") == 1 &&
           notices(report).count("tail_of_open_runs") == 0;
  };
  EXPECT_FALSE(with_tail([](Forge& /*forge*/) {}));
  EXPECT_TRUE(with_tail([](Forge& forge) {
    forge.at(3).change_payload = [](std::string& payload) { payload.pop_back(); };
  })) << "a payload that cannot be read";
  EXPECT_TRUE(with_tail([](Forge& forge) {
    forge.at(3).body = schema::JsonValue(schema::JsonValue::Object{});
  })) << "an opening that cannot be read";
  EXPECT_TRUE(with_tail([](Forge& forge) { forge.add_opened(2); })) << "a second opening";
  EXPECT_TRUE(with_tail([](Forge& forge) {
    forge.add(3, schema::RunOpened()).kind = "process.started";
  })) << "a record of a run that was never opened";
}

// Numbers are not positions.
TEST(TailTest, ATailIsCountedByPositions) {
  Forge forge;
  forge.add_short_run(1);
  forge.add_opened(2);
  forge.checkpoint_at_end = false;
  const aasm::test::TempDir dir;
  forge.write(dir.file("ledger.db"));
  doctor(dir.file("ledger.db"), "UPDATE records SET seq=1000+seq WHERE seq IN (2, 3)");
  VerifyRequest request = request_for(dir.file("ledger.db"), trust_in(forge.keys()));
  request.allow_open = true;
  EXPECT_TRUE(notices(verify(request)).count("tail_of_open_runs"));
}

TEST(EmbeddedCheckpointTest, WhatARunSawMustBeInTheFile) {
  Forge forge;
  forge.add_short_run(1);
  forge.add_short_run(2);
  schema::RunOpened body = schema::read_fields<schema::RunOpened>(forge.at(3).body).value();
  body.checkpoint = forge.note(3);
  forge.at(3).body = write_fields(body);
  EXPECT_EQ(verify_forged(forge).verdict, Verdict::kVerified);

  // The run saw a longer or another ledger than this one.
  ledger_format::Checkpoint said =
      ledger_format::parse_signed_checkpoint(forge.note(3)).value().checkpoint;
  said.root.bytes[5] ^= 1U;
  body.checkpoint = ledger_format::sign_checkpoint(said, forge.keys().log).value();
  forge.at(3).body = write_fields(body);
  EXPECT_EQ(codes(verify_forged(forge)), Codes{"embedded_checkpoint_unknown"});

  body.checkpoint = "no note";
  forge.at(3).body = write_fields(body);
  EXPECT_EQ(codes(verify_forged(forge)), Codes{"embedded_checkpoint_unknown"});

  said.size = 9;
  body.checkpoint = ledger_format::sign_checkpoint(said, forge.keys().log).value();
  forge.at(3).body = write_fields(body);
  EXPECT_EQ(codes(verify_forged(forge)), Codes{"embedded_checkpoint_unknown"});
}

}  // namespace
}  // namespace aasm::verifier::test
