#include "witness_tally.h"

#include <string>

#include <gtest/gtest.h>

namespace aasm::backend_native {
namespace {

constexpr pid_t kChild = 70;
constexpr std::int64_t kStart = 1000;

class WitnessTallyTest : public ::testing::Test {
 protected:
  void denial(std::uint64_t domain, std::int64_t ms, const std::string& path = "/x") {
    audit::Denial said;
    said.domain = domain;
    said.blockers = "fs.read_file";
    said.path = path;
    tally_.add({ms, ++serial_, said});
  }
  void made(std::uint64_t domain, std::int64_t pid) {
    tally_.add({0, serial_, audit::DomainMade{domain, pid}});
  }
  void ended(std::uint64_t domain, std::int64_t denials) {
    tally_.add({0, ++serial_, audit::DomainEnded{domain, denials}});
  }
  // As a launch is told: a canary's refusal, then who made the domain.
  void launch() {
    denial(0xa, kStart - 5, "/canary");
    made(0xa, kChild);
    tally_.start_after(kStart);
  }

  WitnessTally tally_{kChild};
  std::uint64_t serial_ = 0;
};

TEST_F(WitnessTallyTest, ADenialIsClaimedOnceItsDomainIsKnown) {
  denial(0xa, kStart - 5, "/canary");
  EXPECT_EQ(tally_.before_start(), 0);
  made(0xa, kChild);
  EXPECT_EQ(tally_.before_start(), 1);
  EXPECT_EQ(tally_.report().domains, std::vector<std::string>{"a"});
}

TEST_F(WitnessTallyTest, WhatOthersDoIsNotTheRuns) {
  launch();
  denial(0xb, kStart + 1);
  made(0xb, kChild + 1);
  denial(0xb, kStart + 2);
  ended(0xb, 2);
  const schema::WitnessReported report = tally_.report();
  EXPECT_EQ(report.heard, 0);
  EXPECT_EQ(report.before_start, 1);
  EXPECT_EQ(report.domains.size(), 1U);
  EXPECT_FALSE(report.counted);
}

TEST_F(WitnessTallyTest, TheTimeOfTheStartPartsCanariesFromTheProgram) {
  launch();
  denial(0xa, kStart);
  denial(0xa, kStart + 1);
  EXPECT_EQ(tally_.before_start(), 2);
  EXPECT_EQ(tally_.report().heard, 1);
}

TEST_F(WitnessTallyTest, EqualDenialsAreOneEntry) {
  launch();
  denial(0xa, kStart + 1, "/x");
  denial(0xa, kStart + 2, "/y");
  denial(0xa, kStart + 3, "/x");
  const schema::WitnessReported report = tally_.report();
  ASSERT_EQ(report.denials.size(), 2U);
  EXPECT_EQ(report.denials[0].count, 2);
  EXPECT_EQ(report.denials[1].path, schema::PathBytes("/y"));
}

TEST_F(WitnessTallyTest, TheCountIsToldOnlyWhenEachDomainHasEnded) {
  launch();
  denial(0xc, kStart + 1);
  made(0xc, kChild);
  EXPECT_FALSE(tally_.all_ended());
  ended(0xa, 5);
  EXPECT_FALSE(tally_.report().counted);
  ended(0xc, 2);
  EXPECT_TRUE(tally_.all_ended());
  EXPECT_EQ(tally_.report().counted, 7);
}

TEST_F(WitnessTallyTest, MoreThanThereIsRoomForIsCountedAndNotListed) {
  launch();
  for (int i = 0; i < 100; ++i) {
    denial(0xa, kStart + 1, "/" + std::to_string(i));
  }
  schema::WitnessReported report = tally_.report();
  EXPECT_EQ(report.heard, 100);
  EXPECT_EQ(report.denials.size(), 64U);
  EXPECT_EQ(report.unlisted, 36);
  report.state = schema::WitnessState::kHeard;
  EXPECT_TRUE(report.check());
}

TEST_F(WitnessTallyTest, LongPathsTakeTheRoomOfMany) {
  launch();
  for (int i = 0; i < 10; ++i) {
    denial(0xa, kStart + 1, "/" + std::string(4000, 'x') + std::to_string(i));
  }
  EXPECT_EQ(tally_.report().denials.size(), 4U);
  EXPECT_EQ(tally_.report().unlisted, 6);
}

TEST_F(WitnessTallyTest, UnclaimedDenialsAreForgottenInTheEnd) {
  for (int i = 0; i < 65; ++i) {
    denial(0xa, kStart - 5);
  }
  made(0xa, kChild);
  EXPECT_EQ(tally_.before_start(), 64);
}

}  // namespace
}  // namespace aasm::backend_native
