#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "aasm/ledger_format/trust.h"
#include "aasm/sqlite/connection.h"

#include "judge.h"
#include "support/byte_stride.h"
#include "support/temp_dir.h"
#include "writer_home.h"

// One byte of any file changed: it is reported, or every cell and the head are as they were.
// A stride walks through every region of the files; AASM_TEST_EVERY_BYTE=1 takes each byte. (The
// receipt has its walk in receipt_test.cc.)
namespace aasm::verifier::test {
namespace {

namespace fs = std::filesystem;

// Calls `judge` with `sound` changed in one byte, once for each place taken, and gives the place.
void walk(const std::string& sound, std::size_t stride,
          const std::function<void(const std::string&, std::size_t)>& judge) {
  for (std::size_t i = 0; i < sound.size() && !testing::Test::HasFatalFailure();
       i += aasm::test::byte_stride(stride)) {
    std::string changed = sound;
    changed[i] = static_cast<char>(changed[i] ^ (1 << (i % 8)));
    judge(changed, i);
  }
}

// Every cell of the four tables, as SQLite reads it.
std::string cells(const std::string& path) {
  sqlite::Connection db = sqlite::Connection::open(path, sqlite::OpenMode::kReadWrite).value();
  std::string all;
  for (const char* sql :
       {"SELECT seq||quote(prev)||quote(leaf)||quote(payload)||quote(keyid)||quote(sig) FROM "
        "records NOT INDEXED ORDER BY seq",
        "SELECT quote(sha256)||quote(salt)||quote(data) FROM blobs",
        "SELECT size||quote(note)||quote(frontier) FROM checkpoints ORDER BY size",
        "SELECT size||quote(sink)||quote(receipt) FROM anchors"}) {
    sqlite::Statement row = db.prepare(sql).value();
    while (row.step().value()) {
      all += std::string(row.column_text(0).value()) + "\n";
    }
    all += "\n";
  }
  return all;
}

// Case L3.
TEST(FlipTest, OfALedgerWithoutAWalIsReportedOrChangesNoCell) {
  Forge forge;
  forge.add_short_run(1);
  const aasm::test::TempDir dir;
  forge.write(dir.file("sound.db"));
  const std::string wanted = cells(dir.file("sound.db"));
  VerifyRequest request = request_for(dir.file("ledger.db"), trust_in(forge.keys()));
  request.threads = 1;
  std::map<std::string, int> seen;
  const auto judge = [&](const std::string& changed, std::size_t at) {
    spit(dir.file("ledger.db"), changed);
    const VerifyReport report = verify(request);
    ++seen[std::string(to_string(report.verdict))];
    ASSERT_EQ(verdict_from_json(report.json), to_string(report.verdict));
    ASSERT_NE(report.verdict, Verdict::kInconclusive) << "byte " << at << report.text;
    if (report.verdict == Verdict::kVerified) {  // an unused byte of a page
      ASSERT_EQ(report.new_state, forge.note(3)) << "byte " << at;
      ASSERT_EQ(cells(dir.file("ledger.db")), wanted) << "byte " << at;
    }
  };
  const std::string sound = slurp(dir.file("sound.db"));
  walk(sound.substr(0, 100), 3,
       [&](const std::string& head, std::size_t at) { judge(head + sound.substr(100), at); });
  walk(sound, 97, judge);
  EXPECT_GT(seen["FAILED"], 0);
  EXPECT_GT(seen["UNREADABLE"], 0);
  EXPECT_GT(seen["VERIFIED"], 0);
}

// A ledger whose last run stands in the WAL alone, with the head file of its host: SQLite drops a
// damaged transaction without a word, so it is the head that shows it.
class WalFlipTest : public testing::Test {
 protected:
  WalFlipTest() {
    home_.add_short_run();
    const ledger::Store held = home_.home().open();
    home_.add_short_run();
    db_ = slurp(home_.ledger());
    wal_ = slurp(home_.ledger() + "-wal");
    head_ = home_.head_note();
    put(db_, wal_);
    wanted_ = cells(path_);
  }
  void put(const std::string& db, const std::string& wal) const {
    fs::remove(path_ + "-shm");
    spit(path_, db);
    spit(path_ + "-wal", wal);
  }
  void judge(const std::string& db, const std::string& wal, std::size_t at) {
    put(db, wal);
    VerifyRequest request = request_for(path_, home_.trust());
    request.threads = 1;
    request.head_notes = {head_of(head_)};
    const VerifyReport report = verify(request);
    ++seen_[std::string(to_string(report.verdict))];
    ASSERT_NE(report.verdict, Verdict::kInconclusive) << "byte " << at << report.text;
    if (report.verdict == Verdict::kVerified) {
      ASSERT_EQ(report.new_state, head_) << "byte " << at;
      ASSERT_EQ(cells(path_), wanted_) << "byte " << at;
    }
  }

  WriterHome home_;
  aasm::test::TempDir dir_;
  std::string path_ = dir_.file("ledger.db");
  std::string db_, wal_, head_, wanted_;
  std::map<std::string, int> seen_;
};

TEST_F(WalFlipTest, OfTheWalIsReportedOrChangesNoCell) {
  ASSERT_GT(wal_.size(), 4096U);
  judge(db_, wal_, 0);
  ASSERT_EQ(seen_["VERIFIED"], 1);
  walk(wal_.substr(0, 56), 5,
       [&](const std::string& head, std::size_t at) { judge(db_, head + wal_.substr(56), at); });
  walk(wal_, wal_.size() / 100 + 1,
       [&](const std::string& changed, std::size_t at) { judge(db_, changed, at); });
  EXPECT_GT(seen_["FAILED"], 0);
}

TEST_F(WalFlipTest, OfTheDatabaseBelowItIsReportedOrChangesNoCell) {
  walk(db_, db_.size() / 100 + 1,
       [&](const std::string& changed, std::size_t at) { judge(changed, wal_, at); });
}

// Without any head the loss of the last transaction looks like an older ledger: the text says so.
TEST_F(WalFlipTest, WithoutAHeadTheReportSaysThatAnEndMayBeCutOff) {
  std::string changed = wal_;
  changed[wal_.size() - 2000] = static_cast<char>(changed[wal_.size() - 2000] ^ 1);
  put(db_, changed);
  const VerifyReport report = verify(request_for(path_, home_.trust()));
  EXPECT_NE(report.text.find("whose last records were cut off, would look the same"),
            std::string::npos)
      << report.text;
}

// An error of usage, or a verdict that is not VERIFIED, or what is trusted is the same.
class TrustFlipTest : public testing::Test {
 protected:
  TrustFlipTest() {
    forge_.add_short_run(1);
    forge_.write(path_);
    trust_ = trust_in(forge_.keys());
  }
  void judge(const ledger_format::TrustSet& trust, bool same, std::size_t at) {
    VerifyRequest request = request_for(path_, trust);
    request.explicit_trust = true;
    request.threads = 1;
    const VerifyReport report = verify(request);
    ASSERT_TRUE(report.verdict != Verdict::kVerified || same) << "byte " << at << report.text;
    ++(report.verdict == Verdict::kVerified ? verified_ : refused_);
  }

  Forge forge_;
  aasm::test::TempDir dir_;
  std::string path_ = dir_.file("ledger.db");
  ledger_format::TrustSet trust_;
  int verified_ = 0;
  int refused_ = 0;
};

TEST_F(TrustFlipTest, OfTheTrustFileIsReportedOrTrustsTheSame) {
  const std::string sound = ledger_format::format_trust_policy(trust_.policy);
  walk(sound, 1, [&](const std::string& changed, std::size_t at) {
    const auto policy = ledger_format::parse_trust_policy(changed);
    if (policy) {
      judge({*policy, trust_.keys}, ledger_format::format_trust_policy(*policy) == sound, at);
    }
  });
  judge(trust_, true, 0);
  EXPECT_GT(verified_, 0);
}

TEST_F(TrustFlipTest, OfTrustKeysIsReportedOrTrustsTheSame) {
  trust_.keys.revoked.push_back({schema::KeyId{}, 7});
  const std::string sound = ledger_format::format_trust_keys(trust_.keys);
  // A revocation that names another key, or another limit, is another statement and no damage that
  // anybody could see: what is asked of it here is only that the root stays bound.
  walk(sound, 1, [&](const std::string& changed, std::size_t at) {
    const auto keys = ledger_format::parse_trust_keys(changed);
    if (keys) {
      const bool same_roots = ledger_format::format_trust_keys({keys->roots, {}}) ==
                              ledger_format::format_trust_keys({trust_.keys.roots, {}});
      judge({trust_.policy, *keys}, same_roots, at);
    }
  });
  judge(trust_, true, 0);
  EXPECT_GT(verified_, 0);
}

TEST_F(TrustFlipTest, OfTheHeadFileOfThisHostIsReported) {
  VerifyRequest request = request_for(path_, trust_);
  request.threads = 1;
  request.own_ledger = true;
  request.head_notes = {head_of(forge_.note(3))};
  ASSERT_EQ(verify(request).verdict, Verdict::kVerified);
  walk(forge_.note(3), 1, [&](const std::string& changed, std::size_t at) {
    request.head_notes.front().note = changed;
    const VerifyReport report = verify(request);
    ASSERT_NE(report.verdict, Verdict::kVerified) << "byte " << at << "\n" << changed;
  });
}

}  // namespace
}  // namespace aasm::verifier::test
