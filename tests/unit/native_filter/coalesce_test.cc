#include "coalesce.h"

#include <functional>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "aasm/schema/json_write.h"
#include "aasm/schema/record.h"

namespace aasm::backend_native {
namespace {

using schema::Event;
using std::chrono::milliseconds;

constexpr auto kDecision = EventKind::kDecision;

Event sample() {
  Event event;
  event.operation = "call";
  event.object.type = schema::ObjectType::kSyscall;
  event.object.name = "shmget";
  event.object.number = 29;
  event.object.arch = "x86_64";
  event.os_errno = 1;
  event.rule = "syscalls.allow";
  event.mechanism = "seccomp_user_notification";
  event.pid = 10;
  event.tid = 11;
  event.parents = {5, 1};
  event.executable = schema::PathBytes("/usr/bin/python3.11");
  return event;
}

Event numbered(std::int64_t number) {
  Event event = sample();
  event.object.number = number;
  return event;
}

class CoalesceTest : public ::testing::Test {
 protected:
  Coalescer make(BatchLimits limits = {}) {
    Coalescer coalescer(limits);
    coalescer.set_emitter([this](schema::RecordBody body) { bodies_.push_back(std::move(body)); });
    return coalescer;
  }
  const schema::EventBatch& batch(std::size_t index) const {
    const schema::RecordBody& body = bodies_.at(index);
    if (const auto* decisions = std::get_if<schema::DecisionBatch>(&body)) {
      return *decisions;
    }
    return std::get<schema::ObservationBatch>(body);
  }

  std::vector<schema::RecordBody> bodies_;
  Coalescer::Clock::time_point now_ = Coalescer::Clock::now();
};

TEST_F(CoalesceTest, IdenticalEventsBecomeOneEntryWithCounts) {
  Coalescer coalescer = make();
  Event event = sample();
  for (const std::int64_t pid : {10, 10, 12}) {
    event.pid = pid;
    event.tid = pid + 100;
    event.parents = {pid};
    coalescer.add(kDecision, event, now_);
  }
  coalescer.flush();
  ASSERT_EQ(bodies_.size(), 1U);
  ASSERT_EQ(batch(0).events.size(), 1U);
  const Event& entry = batch(0).events[0];
  EXPECT_EQ(entry.count, 3);
  EXPECT_EQ(entry.pids, 2);
  EXPECT_EQ(entry.number, 1);
  EXPECT_EQ(entry.pid, 10);
  EXPECT_EQ(entry.tid, 110);
  EXPECT_EQ(entry.parents, std::vector<std::int64_t>{10});
  EXPECT_EQ(coalescer.totals().events, 1);
  EXPECT_EQ(coalescer.totals().actions, 3);
}

TEST_F(CoalesceTest, EventsThatDifferInAnyOtherFieldStayApart) {
  const std::pair<const char*, std::function<void(Event&)>> changes[] = {
      {"domain", [](Event& e) { e.domain = schema::Domain::kIpc; }},
      {"operation", [](Event& e) { e.operation = "open"; }},
      {"object type", [](Event& e) { e.object.type = schema::ObjectType::kName; }},
      {"name", [](Event& e) { e.object.name = "shmgets"; }},
      {"object number", [](Event& e) { e.object.number = 30; }},
      {"no object number", [](Event& e) { e.object.number.reset(); }},
      {"arch", [](Event& e) { e.object.arch = "i386"; }},
      {"path", [](Event& e) { e.object.path = schema::PathBytes("/x"); }},
      {"address", [](Event& e) { e.object.address = "10.0.0.1"; }},
      {"port", [](Event& e) { e.object.port = 0; }},
      {"protocol", [](Event& e) { e.object.protocol = "tcp"; }},
      {"address class",
       [](Event& e) { e.object.address_class = schema::AddressClass::kUnspecified; }},
      {"outcome", [](Event& e) { e.outcome = schema::DecisionOutcome::kAllowed; }},
      {"errno", [](Event& e) { e.os_errno = 38; }},
      {"cause", [](Event& e) { e.cause = schema::DecisionCause::kCompat; }},
      {"rule", [](Event& e) { e.rule = "syscalls.deny[0]"; }},
      {"reply", [](Event& e) { e.reply = schema::ReplyState::kCallerGone; }},
      {"timing", [](Event& e) { e.timing = schema::Timing::kPost; }},
      {"synchrony", [](Event& e) { e.synchrony = schema::Synchrony::kBestEffort; }},
      {"mechanism", [](Event& e) { e.mechanism = "other"; }},
      {"executable", [](Event& e) { e.executable = schema::PathBytes("/usr/bin/node"); }},
      {"nested filter", [](Event& e) { e.nested_filter = true; }},
  };
  for (const auto& [what, change] : changes) {
    Coalescer coalescer = make();
    coalescer.add(kDecision, sample(), now_);
    Event other = sample();
    change(other);
    EXPECT_FALSE(coalescer.holds(kDecision, other, now_)) << what;
    coalescer.add(kDecision, other, now_);
    EXPECT_EQ(coalescer.totals().events, 2) << what;
  }
}

TEST_F(CoalesceTest, HoldsSaysWhetherAnEntryWouldBeMade) {
  Coalescer coalescer = make();
  EXPECT_FALSE(coalescer.holds(kDecision, sample(), now_));
  coalescer.add(kDecision, sample(), now_);
  EXPECT_TRUE(coalescer.holds(kDecision, sample(), now_));
  EXPECT_FALSE(coalescer.holds(EventKind::kObservation, sample(), now_));
  coalescer.flush();
  EXPECT_FALSE(coalescer.holds(kDecision, sample(), now_));
}

TEST_F(CoalesceTest, AnEventOfSeveralActionsCountsAsOften) {
  Coalescer coalescer = make();
  Event several = sample();
  several.count = 7;
  coalescer.add(kDecision, several, now_);
  coalescer.add(kDecision, sample(), now_);
  coalescer.add(kDecision, several, now_);
  coalescer.flush();
  ASSERT_EQ(bodies_.size(), 1U);
  ASSERT_EQ(batch(0).events.size(), 1U);
  EXPECT_EQ(batch(0).events[0].count, 15);
  EXPECT_EQ(coalescer.totals().actions, 15);
  EXPECT_EQ(coalescer.totals().events, 1);
}

TEST_F(CoalesceTest, NumbersAreContiguousOverBatchesAndKinds) {
  Coalescer coalescer = make();
  coalescer.add(kDecision, numbered(1), now_);
  coalescer.add(kDecision, numbered(2), now_);
  coalescer.add(EventKind::kObservation, numbered(3), now_);
  coalescer.add(kDecision, numbered(4), now_);
  coalescer.flush();
  ASSERT_EQ(bodies_.size(), 3U);
  EXPECT_TRUE(std::holds_alternative<schema::DecisionBatch>(bodies_[0]));
  EXPECT_TRUE(std::holds_alternative<schema::ObservationBatch>(bodies_[1]));
  std::int64_t expected = 1;
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    EXPECT_EQ(batch(i).first, expected);
    EXPECT_TRUE(batch(i).check());
    expected += static_cast<std::int64_t>(batch(i).events.size());
  }
  EXPECT_EQ(expected, 5);
}

TEST_F(CoalesceTest, BatchIsCutAtItsNumberOfEvents) {
  BatchLimits limits;
  limits.max_bytes = 100U << 20U;
  Coalescer coalescer = make(limits);
  for (std::int64_t number = 0; number < 513; ++number) {
    coalescer.add(kDecision, numbered(number), now_);
  }
  ASSERT_EQ(bodies_.size(), 1U);
  EXPECT_EQ(batch(0).events.size(), 512U);
  EXPECT_TRUE(batch(0).check());
  coalescer.flush();
  EXPECT_EQ(batch(1).first, 513);
}

TEST_F(CoalesceTest, BatchAsWrittenStaysBelowItsBytes) {
  Coalescer coalescer = make();
  for (std::int64_t number = 0; number < 2000; ++number) {
    Event event = numbered(number);
    event.executable = schema::PathBytes("/opt/" + std::string(200, '\x01') + "\xff\"\\");
    coalescer.add(kDecision, event, now_);
  }
  coalescer.flush();
  std::int64_t events = 0;
  for (const schema::RecordBody& body : bodies_) {
    const std::string text = schema::json_write(schema::write_body(body));
    EXPECT_LE(text.size(), 60U * 1024U);
    events += static_cast<std::int64_t>(std::get<schema::DecisionBatch>(body).events.size());
  }
  EXPECT_EQ(events, 2000);
}

TEST_F(CoalesceTest, SizeBoundIsNeverBelowWhatIsWritten) {
  for (const std::string& text :
       {std::string(), std::string("/usr/bin/x"), std::string(300, '\x1f'),
        std::string(300, '\xff'), std::string("\"\\\"\\\n\t"), std::string("caf\xc3\xa9"),
        std::string(4096, 'a')}) {
    Event event = sample();
    event.executable = schema::PathBytes(text);
    event.object.path = schema::PathBytes(text);
    event.object.given_path = event.object.new_path = event.object.path;
    event.object.device = event.object.inode = UINT64_MAX;
    event.object.name = std::string(text.size(), '\n');
    event.object.address = "1111:2222:3333:4444:5555:6666:255.255.255.255";
    event.object.port = 65535;
    event.object.protocol = "tcp";
    event.object.address_class = schema::AddressClass::kUnspecified;
    event.number = event.pid = event.tid = event.count = event.pids = INT64_MAX >> 11;
    event.os_errno = event.object.number.emplace(-(INT64_MAX >> 11));
    event.parents.assign(64, INT64_MAX >> 11);
    event.cause = schema::DecisionCause::kHostPermission;
    event.reply = schema::ReplyState::kKilledWhileBlocked;
    schema::DecisionBatch one;
    one.events.push_back(event);
    const std::size_t with = schema::json_write(schema::write_body(one)).size();
    EXPECT_LE(with, encoded_size_bound(event)) << text.size();
  }
}

TEST_F(CoalesceTest, AnEventOfTheLongestPathsFitsIntoARecord) {
  Event event = sample();
  const schema::PathBytes longest(std::string(4096, '\x1f'));
  event.object.path = event.object.given_path = event.object.new_path = longest;
  event.executable = longest;
  Coalescer coalescer = make();
  coalescer.add(kDecision, event, now_);
  EXPECT_TRUE(coalescer.holds(kDecision, event, now_));
  coalescer.add(kDecision, event, now_);
  coalescer.flush();
  ASSERT_EQ(bodies_.size(), 1U);
  const auto& batch = std::get<schema::DecisionBatch>(bodies_[0]);
  EXPECT_LT(schema::json_write(schema::write_body(batch)).size(), 65000U);
  ASSERT_EQ(batch.events.size(), 1U);
  EXPECT_EQ(batch.events[0].count, 2);
  EXPECT_EQ(batch.events[0].object.path, longest);
  EXPECT_EQ(batch.events[0].object.new_path, longest);
  EXPECT_FALSE(batch.events[0].object.given_path);
}

TEST_F(CoalesceTest, BatchIsCutWhenItsFirstEventIsOld) {
  Coalescer coalescer = make();
  EXPECT_FALSE(coalescer.deadline().has_value());
  coalescer.add(kDecision, numbered(1), now_);
  coalescer.add(kDecision, numbered(2), now_ + milliseconds(150));
  EXPECT_EQ(coalescer.deadline(), now_ + milliseconds(200));
  coalescer.flush_if_due(now_ + milliseconds(199));
  EXPECT_TRUE(bodies_.empty());
  coalescer.flush_if_due(now_ + milliseconds(200));
  EXPECT_EQ(bodies_.size(), 1U);
  coalescer.add(kDecision, numbered(1), now_ + milliseconds(201));
  coalescer.add(kDecision, numbered(1), now_ + milliseconds(500));
  EXPECT_EQ(bodies_.size(), 2U) << "an old batch must not take a new event";
}

BatchLimits few_events() {
  BatchLimits limits;
  limits.events.denied = 3;
  return limits;
}

TEST_F(CoalesceTest, BeyondTheirBudgetDenialsAreOneEntryWithoutObject) {
  Coalescer coalescer = make(few_events());
  for (std::int64_t number = 1; number <= 10; ++number) {
    Event event = numbered(number);
    event.pid = number;
    event.executable = schema::PathBytes("/bin/" + std::to_string(number));
    EXPECT_EQ(coalescer.holds(kDecision, event, now_), number > 4) << number;
    coalescer.add(kDecision, event, now_);
  }
  coalescer.add(kDecision, numbered(2), now_);
  coalescer.flush();
  ASSERT_EQ(bodies_.size(), 1U);
  ASSERT_EQ(batch(0).events.size(), 4U);
  EXPECT_TRUE(batch(0).check());
  EXPECT_EQ(batch(0).events[1].count, 1) << "of another executable";
  const Event& rest = batch(0).events[3];
  EXPECT_TRUE(rest.check() && rest.object.check());
  EXPECT_EQ(rest.object.type, schema::ObjectType::kUnlisted);
  EXPECT_EQ(rest.count, 8);
  EXPECT_EQ(rest.pids, 7);
  EXPECT_EQ(rest.pid, 4);
  EXPECT_EQ(rest.executable, schema::PathBytes("/bin/4"));
  EXPECT_EQ(rest.rule, sample().rule);
  EXPECT_EQ(coalescer.totals().actions, 11);
  EXPECT_EQ(coalescer.totals().events, 4);
}

TEST_F(CoalesceTest, AnOpenEntryCountsUpWhateverIsLeftOfTheBudget) {
  Coalescer coalescer = make(few_events());
  for (const std::int64_t number : {1, 2, 3, 4, 1, 3}) {
    coalescer.add(kDecision, numbered(number), now_);
  }
  coalescer.flush();
  ASSERT_EQ(batch(0).events.size(), 4U);
  EXPECT_EQ(batch(0).events[0].count, 2);
  EXPECT_EQ(batch(0).events[2].count, 2);
  EXPECT_EQ(batch(0).events[3].count, 1);
}

TEST_F(CoalesceTest, AnotherDomainOutcomeOrRuleIsToldApart) {
  const std::pair<std::function<void(Event&)>, bool> changes[] = {
      {[](Event&) {}, false},
      {[](Event& e) { e.rule = "syscalls.deny[0]"; }, false},
      {[](Event& e) { e.domain = schema::Domain::kIpc; }, true},
      {[](Event& e) { e.outcome = schema::DecisionOutcome::kAllowed; }, true},
  };
  Coalescer coalescer = make(few_events());
  for (std::int64_t number = 1; number <= 4; ++number) {
    coalescer.add(kDecision, numbered(number), now_);
  }
  for (const auto& [change, listed] : changes) {
    Event event = numbered(100);
    change(event);
    coalescer.add(kDecision, event, now_);
  }
  coalescer.flush();
  ASSERT_EQ(batch(0).events.size(), 7U);
  EXPECT_EQ(batch(0).events[3].count, 2);
  EXPECT_EQ(batch(0).events[4].object.type, schema::ObjectType::kUnlisted);
  EXPECT_EQ(batch(0).events[4].rule, "syscalls.deny[0]");
  EXPECT_EQ(batch(0).events[5].object.number, 100);
  EXPECT_EQ(batch(0).events[6].object.number, 100);
}

TEST_F(CoalesceTest, LongEntriesTakeMoreOfTheBudget) {
  BatchLimits limits;
  limits.events.denied = 9;
  Coalescer coalescer = make(limits);
  for (const char name : {'a', 'b', 'c'}) {
    Event event = sample();
    event.object = {};
    event.object.type = schema::ObjectType::kPath;
    event.object.path = schema::PathBytes("/" + std::string(20000, name));
    coalescer.add(kDecision, event, now_);
  }
  coalescer.flush();
  ASSERT_EQ(batch(0).events.size(), 3U);
  EXPECT_EQ(batch(0).events[1].object.type, schema::ObjectType::kPath) << "six of nine were taken";
  EXPECT_EQ(batch(0).events[2].object.type, schema::ObjectType::kUnlisted);
}

TEST_F(CoalesceTest, TheBudgetComesBackInTime) {
  Coalescer coalescer = make(few_events());
  EXPECT_FALSE(coalescer.runs_low(numbered(1), now_));
  for (std::int64_t number = 1; number <= 4; ++number) {
    coalescer.add(kDecision, numbered(number), now_);
  }
  EXPECT_TRUE(coalescer.runs_low(numbered(5), now_));
  coalescer.add(kDecision, numbered(5), now_ + few_events().events.denied_interval);
  coalescer.flush();
  ASSERT_EQ(batch(0).events.size(), 5U);
  EXPECT_EQ(batch(0).events[3].object.type, schema::ObjectType::kUnlisted);
  EXPECT_EQ(batch(0).events[4].object.number, 5);
}

TEST_F(CoalesceTest, NothingIsEmittedWithoutEvents) {
  Coalescer coalescer = make();
  coalescer.flush();
  coalescer.flush_if_due(now_ + milliseconds(1000));
  EXPECT_TRUE(bodies_.empty());
}

TEST_F(CoalesceTest, LostEventsAreCountedInTheNextBatchAndInTheTotals) {
  Coalescer coalescer = make();
  coalescer.count_dropped(now_);
  coalescer.add(kDecision, sample(), now_);
  coalescer.flush();
  EXPECT_EQ(batch(0).dropped, 1);
  coalescer.count_dropped(now_);
  coalescer.flush();
  ASSERT_EQ(bodies_.size(), 2U);
  EXPECT_EQ(batch(1).dropped, 1);
  EXPECT_EQ(batch(1).first, 2);
  EXPECT_TRUE(batch(1).check());
  EXPECT_EQ(coalescer.totals().dropped, 2);
}

TEST_F(CoalesceTest, WithoutAnEmitterEventsAreCountedAsDropped) {
  Coalescer coalescer;
  coalescer.add(kDecision, sample(), now_);
  coalescer.add(kDecision, sample(), now_);
  coalescer.flush();
  EXPECT_EQ(coalescer.totals().dropped, 2);
}

TEST_F(CoalesceTest, TotalsNameTheFirstNestedFilter) {
  Coalescer coalescer = make();
  coalescer.add(kDecision, sample(), now_);
  EXPECT_FALSE(coalescer.totals().nested_filter_event.has_value());
  Event nested = sample();
  nested.nested_filter = true;
  coalescer.add(kDecision, nested, now_);
  nested.object.number = 99;
  coalescer.add(kDecision, nested, now_);
  coalescer.flush();
  EXPECT_EQ(coalescer.totals().nested_filter_event, 2);
}

}  // namespace
}  // namespace aasm::backend_native
