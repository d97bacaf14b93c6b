#include "aasm/ledger/reader.h"

#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "aasm/ledger/store.h"
#include "aasm/ledger_format/merkle.h"
#include "aasm/sqlite/connection.h"

#include "support/code_of.h"
#include "support/ledger_home.h"

namespace aasm::ledger {
namespace {

using schema::ErrorCode;
using test::code_of;
using Records = std::vector<PendingRecord>;

// Two runs whose records stand between each other's: the first closed, the second open.
class ReaderTest : public testing::Test {
 protected:
  ReaderTest() {
    Store store = home_.open();
    store.append(Records{first_.opened(store), second_.opened(store)}).value();
    store
        .append(Records{first_.record(test::started_body()), second_.record(test::batch_body()),
                        first_.closed(), second_.record(test::batch_body())})
        .value();
  }
  LedgerReader open() const { return LedgerReader::open(home_.paths().ledger).value(); }
  void sql(const std::string& text) const {
    sqlite::Connection::open(home_.paths().ledger, sqlite::OpenMode::kReadWrite)
        .value()
        .execute(text)
        .value();
  }
  static std::vector<std::uint64_t> seqs_of(LedgerReader& reader, const schema::RunId& run) {
    std::vector<std::uint64_t> seqs;
    reader
        .visit_run(run,
                   [&seqs](const StoredRecord& record) -> schema::Result<void> {
                     seqs.push_back(record.seq);
                     return {};
                   })
        .value();
    return seqs;
  }

  test::LedgerHome home_;
  test::TestRun first_;
  test::TestRun second_;
};

TEST_F(ReaderTest, StatusCounts) {
  const LedgerStatus status = open().status().value();
  EXPECT_EQ(status.origin, home_.keys().origin);
  EXPECT_EQ(status.records, 7U);
  EXPECT_EQ(status.checkpoints, 2U);
  EXPECT_EQ(status.blobs, 0U);
  EXPECT_EQ(status.newest_checkpoint->size, 6U);
  EXPECT_EQ(status.tail, 1U);
}

TEST_F(ReaderTest, RunsAreListedNewestFirst) {
  LedgerReader reader = open();
  const std::vector<RunSummary> runs = reader.runs(10).value();
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0].run, second_.id());
  EXPECT_EQ(runs[0].opened_seq, 2U);
  EXPECT_FALSE(runs[0].end_seq.has_value());
  EXPECT_FALSE(runs[0].ending.has_value());
  EXPECT_EQ(runs[1].run, first_.id());
  EXPECT_EQ(runs[1].end_seq, 5U);
  EXPECT_EQ(runs[1].ending, schema::RunEnding::kRefused);
  EXPECT_FALSE(runs[1].recovered);
  EXPECT_EQ(runs[1].program.bytes(), "/bin/true");
  EXPECT_EQ(runs[1].agent_id, "agent");
  EXPECT_GT(runs[1].opened_wall_ns, 0);
  EXPECT_EQ(reader.runs(1).value().size(), 1U);
}

TEST_F(ReaderTest, TheRecordsOfOneRunComeInOrderAndAlone) {
  LedgerReader reader = open();
  EXPECT_EQ(seqs_of(reader, first_.id()), (std::vector<std::uint64_t>{1, 3, 5}));
  EXPECT_EQ(seqs_of(reader, second_.id()), (std::vector<std::uint64_t>{2, 4, 6}));
}

TEST_F(ReaderTest, AVisitorsErrorEndsTheVisit) {
  LedgerReader reader = open();
  int visits = 0;
  const auto visited =
      reader.visit_run(first_.id(), [&visits](const StoredRecord&) -> schema::Result<void> {
        ++visits;
        return schema::Error(ErrorCode::kUnavailable, "enough");
      });
  EXPECT_EQ(code_of(visited), ErrorCode::kUnavailable);
  EXPECT_EQ(visits, 1);
  EXPECT_EQ(seqs_of(reader, first_.id()).size(), 3U);  // the snapshot was let go
}

TEST_F(ReaderTest, AnUnknownRunIsNotFound) {
  LedgerReader reader = open();
  EXPECT_EQ(code_of(reader.run(test::new_run())), ErrorCode::kNotFound);
  EXPECT_EQ(code_of(reader.run(schema::RunId{})), ErrorCode::kNotFound);
}

TEST_F(ReaderTest, ARunIdInsideABodyIsNoRecordOfThatRun) {
  const test::TestRun third;
  schema::ProcessStarted body = test::started_body();
  body.exe = schema::PathBytes("\"run\":\"" + first_.id().text() + "\"");
  Store store = home_.open();
  store.append(Records{third.opened(store), third.record(body)}).value();
  LedgerReader reader = open();
  EXPECT_EQ(seqs_of(reader, first_.id()).size(), 3U);
}

TEST_F(ReaderTest, RecordGivesEnvelopeBodyAndLeaf) {
  LedgerReader reader = open();
  const StoredRecord record = reader.record(3).value();
  EXPECT_EQ(record.seq, 3U);
  EXPECT_EQ(record.statement.envelope.kind, "process.started");
  EXPECT_EQ(record.statement.envelope.run, first_.id());
  EXPECT_EQ(record.leaf, reader.leaves(3, 4).value().front());
  EXPECT_EQ(*record.statement.body.find("pid")->as_int(), 7);
  EXPECT_EQ(code_of(reader.record(7)), ErrorCode::kNotFound);
}

TEST_F(ReaderTest, ARowThatDoesNotHashToItsLeafIsIntegrity) {
  sql("UPDATE records SET leaf=zeroblob(32) WHERE seq=3");
  LedgerReader reader = open();
  EXPECT_EQ(code_of(reader.record(3)), ErrorCode::kIntegrity);
  EXPECT_TRUE(reader.record(2).has_value());
}

TEST_F(ReaderTest, LeavesOfARangeAreAllThereOrNotFound) {
  LedgerReader reader = open();
  EXPECT_EQ(reader.leaves(0, 7).value().size(), 7U);
  EXPECT_TRUE(reader.leaves(3, 3).value().empty());
  EXPECT_EQ(code_of(reader.leaves(5, 8)), ErrorCode::kNotFound);
}

TEST_F(ReaderTest, CheckpointsAreFoundBySize) {
  LedgerReader reader = open();
  EXPECT_EQ(reader.checkpoint_covering(1).value()->size, 1U);
  EXPECT_EQ(reader.checkpoint_covering(2).value()->size, 6U);
  EXPECT_FALSE(reader.checkpoint_covering(7).value().has_value());
  EXPECT_EQ(reader.newest_checkpoint().value()->size, 6U);
}

TEST_F(ReaderTest, EveryStoredSubtreeIsTheOneOfItsLeaves) {
  {
    Store store = home_.open();
    store.append(second_.batches(0)).value();
    const test::TestRun third;
    store.append(Records{third.opened(store)}).value();
    store.append(third.batches(2000)).value();
    store.append(Records{third.closed()}).value();
  }
  LedgerReader reader = open();
  const std::uint64_t size = reader.newest_checkpoint().value()->size;
  const std::vector<schema::LeafHash> leaves = reader.leaves(0, size).value();
  std::size_t found = 0;
  for (std::uint64_t width = 1; width <= size; width *= 2) {
    for (std::uint64_t begin = 0; begin + width <= size; begin += width) {
      const auto hash = reader.subtree(begin, begin + width).value();
      const bool right = (begin / width) % 2 != 0;
      EXPECT_FALSE(right && hash.has_value());
      if (hash) {
        ++found;
        const std::span<const schema::LeafHash> range(leaves.data() + begin, width);
        EXPECT_EQ(*hash, ledger_format::merkle_root(range)) << begin << "+" << width;
      }
      // Wide left subtrees are always found: the cadence sees to it.
      EXPECT_TRUE(right || width < 256 || begin + width > size || hash.has_value());
    }
  }
  EXPECT_GT(found, 8U);
  EXPECT_FALSE(reader.subtree(1, 3).value().has_value());
  EXPECT_FALSE(reader.subtree(0, 3).value().has_value());
  EXPECT_FALSE(reader.subtree(4, 4).value().has_value());
}

TEST_F(ReaderTest, ReadsBesideAWriterThatHoldsTheLock) {
  Store store = home_.open();
  auto writer =
      sqlite::Connection::open(home_.paths().ledger, sqlite::OpenMode::kReadWrite).value();
  const sqlite::Transaction held = writer.begin_immediate().value();
  EXPECT_EQ(open().status().value().records, 7U);
}

TEST_F(ReaderTest, OtherFilesAreToldApart) {
  EXPECT_EQ(code_of(LedgerReader::open(home_.file("none"))), ErrorCode::kNotFound);
  std::ofstream(home_.file("text")) << std::string(4096, 'x');
  EXPECT_EQ(code_of(LedgerReader::open(home_.file("text"))), ErrorCode::kMalformed);
  std::ofstream(home_.file("empty")).close();
  EXPECT_EQ(code_of(LedgerReader::open(home_.file("empty"))), ErrorCode::kMalformed);
  sql("PRAGMA user_version=2");
  EXPECT_EQ(code_of(LedgerReader::open(home_.paths().ledger)), ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace aasm::ledger
