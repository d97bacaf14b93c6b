// The ledger that a sink opens on its own thread, and the end of that thread.
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <thread>

#include <gtest/gtest.h>

#include "aasm/ledger/ledger_sink.h"
#include "aasm/ledger/reader.h"

#include "support/ledger_check.h"
#include "support/ledger_home.h"

namespace aasm::ledger {
namespace {

using schema::Error;
using schema::ErrorCode;
using schema::Result;
using std::chrono::milliseconds;

std::ptrdiff_t count_threads() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

class SinkOpeningTest : public testing::Test {
 protected:
  std::unique_ptr<LedgerSink> begin_opening(const LedgerSink::Opener& open) const {
    return LedgerSink::begin(open, home_.paths()).value();
  }

  test::LedgerHome home_;
};

TEST_F(SinkOpeningTest, WhatTheThreadOpenedTakesARun) {
  const auto sink =
      begin_opening([this](StoreOptions options) { return home_.try_open(std::move(options)); });
  sink->wait_open().value();
  const std::string newest =
      LedgerReader::open(home_.paths().ledger).value().newest_checkpoint().value()->note;
  EXPECT_EQ(sink->open_run(test::new_run(), test::opened_body()).value().checkpoint, newest);
  sink->close_run(test::closed_body()).value();
  EXPECT_EQ(test::LedgerCheck::run(home_.paths()), "");
}

TEST_F(SinkOpeningTest, AnotherConnectionReadsBeforeTheOpeningIsOver) {
  std::atomic<bool> has_read{false};
  const auto sink = begin_opening([&](StoreOptions options) {
    Result<Store> store = home_.try_open(std::move(options));
    while (!has_read) {
      std::this_thread::sleep_for(milliseconds(1));
    }
    return store;
  });
  sink->wait_readable();
  EXPECT_EQ(LedgerReader::open(home_.paths().ledger).value().record(0).value().seq, 0U);
  has_read = true;
  EXPECT_TRUE(sink->wait_open());
}

TEST_F(SinkOpeningTest, AnOpeningThatFailsEndsBothWaitsAndSaysWhy) {
  const auto sink = begin_opening([](const StoreOptions&) -> Result<Store> {
    return Error(ErrorCode::kIntegrity, "not ours");
  });
  sink->wait_readable();
  const Result<void> opened = sink->wait_open();
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), ErrorCode::kIntegrity);
  EXPECT_EQ(opened.error().message(), "not ours");
  EXPECT_FALSE(sink->open_run(test::new_run(), test::opened_body()));
}

TEST_F(SinkOpeningTest, ASinkThatIsDroppedWaitsForItsOpening) {
  std::atomic<bool> over{false};
  begin_opening([&](StoreOptions options) {
    Result<Store> store = home_.try_open(std::move(options));
    std::this_thread::sleep_for(milliseconds(20));
    over = true;
    return store;
  }).reset();
  EXPECT_TRUE(over);
}

TEST_F(SinkOpeningTest, TheThreadEndsWithTheRunNotWithTheSink) {
  const std::ptrdiff_t before = count_threads();
  const auto sink = LedgerSink::create(home_.open(), home_.paths()).value();
  sink->open_run(test::new_run(), test::opened_body()).value();
  sink->flush().value();
  EXPECT_EQ(count_threads(), before + 1);
  sink->close_run(test::closed_body()).value();
  for (int i = 0; i < 5000 && count_threads() > before; ++i) {
    std::this_thread::sleep_for(milliseconds(1));
  }
  EXPECT_EQ(count_threads(), before);
}

}  // namespace
}  // namespace aasm::ledger
