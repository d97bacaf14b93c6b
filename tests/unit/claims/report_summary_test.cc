#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "report_samples.h"

// The screen that a reader sees who knows nothing of aasm.
namespace aasm::claims::test {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(ReportSummaryTest, EachSampleFitsOnAScreenAndAnswersTheQuestions) {
  for (const NamedReport& sample : report_samples()) {
    SCOPED_TRACE(sample.name);
    const std::string text = render_summary(sample.report);
    EXPECT_EQ(text.rfind("--- summary ---\nprogram:", 0), 0U) << text;
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 24) << text;
    for (const char* part : {"\nboundary:", "\ncheck:"}) {
      EXPECT_TRUE(contains(text, part)) << part << "\n" << text;
    }
    const bool started = sample.report.claims.started;
    EXPECT_EQ(contains(text, "\nrefused:"), started) << text;
  }
}

TEST(ReportSummaryTest, ARefusedActionIsNamedWithRuleObjectAndProcess) {
  Records run = sample_run();
  schema::Event event = denied_ptrace();
  event.executable = schema::PathBytes("/usr/bin/python3");
  event.pid = 4711;
  event.count = 2;
  set_events(run, {event});
  const std::string text = render_summary(report_of(run));
  EXPECT_TRUE(contains(text, "refused:      2 actions\n")) << text;
  EXPECT_TRUE(contains(text, "syscall call, rule syscalls.deny[0]")) << text;
  EXPECT_TRUE(contains(text, "first ptrace by /usr/bin/python3 (pid 4711)")) << text;
}

TEST(ReportSummaryTest, ARefusedAddressIsShownWithItsPortAndProtocol) {
  for (const auto& [address, shown] : {std::pair{"10.0.0.1", "first 10.0.0.1:443/udp by"},
                                       {"fe80::1", "first [fe80::1]:443/udp by"}}) {
    Records run = sample_run();
    schema::Event event = denied_ptrace();
    event.operation = "connect";
    event.object = address_object(address, 443, "udp");
    set_events(run, {event});
    EXPECT_TRUE(contains(render_summary(report_of(run)), shown)) << address;
  }
}

TEST(ReportSummaryTest, ACallOfAnotherAbiIsNotNamedLikeANativeOne) {
  Records run = sample_run();
  schema::Event other = denied_ptrace();
  other.object.name = "getpid";
  other.object.arch = "x32";
  set_events(run, {other});
  const std::string text = render_summary(report_of(run));
  EXPECT_TRUE(contains(text, "first getpid (x32) by ")) << text;
}

TEST(ReportSummaryTest, NoBoundaryIsSaidInCapitalsAndNothingIsClaimedOfIt) {
  for (const NamedReport& sample : report_samples()) {
    if (sample.name != "unconfined") {
      continue;
    }
    const std::string text = render_summary(sample.report);
    EXPECT_TRUE(contains(text, "boundary:     NONE, as asked for")) << text;
    EXPECT_TRUE(contains(text, "refused:      nothing was watched")) << text;
    EXPECT_FALSE(contains(text, "no denial")) << text;
  }
}

TEST(ReportSummaryTest, AnAbsenceIsStatedOnlyWithAChannelThatLostNothing) {
  Records run = sample_run();
  set_events(run, {});
  EXPECT_TRUE(contains(render_summary(report_of(run)),
                       "no denial was recorded on syscall, of what their channels see"));
  body_of<schema::RunClosed>(run).channel.dropped = 1;
  body_of<schema::DecisionBatch>(run).dropped = 1;
  const std::string text = render_summary(report_of(run));
  EXPECT_TRUE(contains(text, "no refused action is recorded, and that says nothing")) << text;
  EXPECT_TRUE(contains(text, "events are missing")) << text;
}

TEST(ReportSummaryTest, ManyKindsOfActionsStayOnTheScreen) {
  Records run = sample_run();
  std::vector<schema::Event> events;
  for (int i = 0; i < 40; ++i) {
    schema::Event event = denied_ptrace();
    event.operation += std::to_string(i);
    event.executable = schema::PathBytes(std::string(4000, 'x'));
    events.push_back(event);
  }
  set_events(run, events);
  const std::string text = render_summary(report_of(run));
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 24) << text;
  EXPECT_TRUE(contains(text, "and 34 further groups")) << text;
}

}  // namespace
}  // namespace aasm::claims::test
