#include <algorithm>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "aasm/claims/report.h"
#include "aasm/schema/json_write.h"

#include "sample_run.h"

// A policy that stands in several records of policy.resolved (docs/spec/product.md section 5.1).
namespace aasm::claims::test {
namespace {

using Code = ContradictionCode;
using schema::Domain;

// The sample policy cut in three: in the middle of the system calls, and before the gaps.
std::vector<schema::PolicyResolved> three_parts(const schema::PolicyResolved& whole) {
  schema::PolicyResolved head = whole;
  head.requirements.clear();
  head.gaps.clear();
  head.unmapped.clear();
  head.parts = 3;
  std::vector<schema::PolicyResolved> parts(3, head);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    parts[i].part = static_cast<std::int64_t>(i + 1);
  }
  const auto calls = std::find_if(whole.requirements.begin(), whole.requirements.end(),
                                  [](const auto& one) { return one.domain == Domain::kSyscall; });
  parts[0].requirements.assign(whole.requirements.begin(), std::next(calls));
  parts[1].requirements.assign(calls, whole.requirements.end());
  parts[0].requirements.back().rules.resize(1);
  auto& rest = parts[1].requirements.front().rules;
  rest.erase(rest.begin());
  parts[2].gaps = whole.gaps;
  parts[2].unmapped = whole.unmapped;
  return parts;
}

Records run_in_parts() {
  Records run = sample_run();
  const auto at = std::find_if(run.begin(), run.end(), [](const Step& step) {
    return std::holds_alternative<schema::PolicyResolved>(step.body);
  });
  std::vector<Step> steps;
  for (schema::PolicyResolved& part : three_parts(std::get<schema::PolicyResolved>(at->body))) {
    Step step;
    step.body = std::move(part);
    steps.push_back(std::move(step));
  }
  const auto place = run.erase(at);
  run.insert(place, steps.begin(), steps.end());
  renumber(run);
  body_of<schema::RunClosed>(run).records += 2;
  return run;
}

// Part `number` of the run, counted from 1.
Step& part_of(Records& run, std::size_t number) {
  return run.at(number);
}

schema::PolicyResolved& body_of_part(Records& run, std::size_t number) {
  return std::get<schema::PolicyResolved>(part_of(run, number).body);
}

std::string report_of(const Records& run) {
  const RunFacts facts = facts_of(run);
  return schema::json_write(render_json(build_report(facts, derive(facts), "run")));
}

std::vector<Code> codes_of(const Records& run) {
  std::vector<Code> codes;
  for (const Contradiction& one : claims_of(run).contradictions) {
    codes.push_back(one.code);
  }
  return codes;
}

std::int64_t denied(const Records& run) {
  return facts_of(run).activity(Domain::kSyscall).denied;
}

TEST(PolicyPartsTest, ThePartsAreReportedAsOneRecordWouldBe) {
  EXPECT_EQ(report_of(run_in_parts()), report_of(sample_run()));
  EXPECT_EQ(codes_of(run_in_parts()), std::vector<Code>{});
  EXPECT_GT(denied(run_in_parts()), 0);
}

TEST(PolicyPartsTest, APartThatIsMissingOrOutOfPlaceIsAContradiction) {
  struct Row {
    const char* why;
    std::vector<Code> found;
    std::function<void(Records&)> change;
  };
  const std::vector<Row> rows = {
      {"the first part is missing",
       {Code::kPartMissing},
       [](Records& run) { run.erase(run.begin() + 1); }},
      {"a part in the middle is missing",
       {Code::kPartMissing, Code::kAllowedOutsideRule},
       [](Records& run) { run.erase(run.begin() + 2); }},
      {"the last part is missing",
       {Code::kPartMissing},
       [](Records& run) { run.erase(run.begin() + 3); }},
      {"two parts changed places",
       {Code::kPartMissing},
       [](Records& run) { std::swap(run.at(2).body, run.at(3).body); }},
      {"a part stands twice",
       {Code::kPartMissing},
       [](Records& run) { run.insert(run.begin() + 2, run.at(2)); }},
      {"the last part stands twice",
       {Code::kRecordRepeated},
       [](Records& run) { run.insert(run.begin() + 3, run.at(3)); }},
      {"the policy stands twice",
       {Code::kRecordRepeated},
       [](Records& run) {
         run.insert(run.begin() + 4, {run.at(1), run.at(2), run.at(3)});
       }},
      {"a part is of another policy",
       {Code::kPartMissing, Code::kAllowedOutsideRule},
       [](Records& run) { body_of_part(run, 2).on_denial = "kill"; }},
      {"a requirement goes on otherwise",
       {Code::kPartMissing, Code::kAllowedOutsideRule},
       [](Records& run) {
         body_of_part(run, 2).requirements.front().posture = schema::RequirementPosture::kOptional;
       }},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.why);
    Records run = run_in_parts();
    row.change(run);
    renumber(run);
    EXPECT_EQ(codes_of(run), row.found);
  }
}

TEST(PolicyPartsTest, APartBehindTheStartIsNoPartOfThePolicy) {
  Records run = run_in_parts();
  const Step last = run.at(3);
  run.erase(run.begin() + 3);
  const auto start = std::find_if(run.begin(), run.end(), [](const Step& step) {
    return std::holds_alternative<schema::ProcessStarted>(step.body);
  });
  run.insert(std::next(start), last);
  renumber(run);
  const std::vector<Code> found = codes_of(run);
  EXPECT_EQ(std::count(found.begin(), found.end(), Code::kSetupAfterStart), 1);
  EXPECT_EQ(std::count(found.begin(), found.end(), Code::kPartMissing), 1);
  EXPECT_TRUE(facts_of(run).policy()->body.gaps.empty());
}

// Rule 2 leans on the whole of the policy, so a part that is no evidence spoils it.
TEST(PolicyPartsTest, ADenialIsCountedOnlyWhenEachPartIsEvidence) {
  for (const std::size_t number : {1U, 2U, 3U}) {
    Records unsigned_part = run_in_parts();
    part_of(unsigned_part, number).signer_ok = false;
    EXPECT_EQ(denied(unsigned_part), 0) << number;
    Records other_boot = run_in_parts();
    part_of(other_boot, number).boot = kOtherBoot;
    EXPECT_EQ(denied(other_boot), 0) << number;
  }
}

TEST(PolicyPartsTest, ARuleOfAPartThatWasDroppedIsNoRule) {
  Records run = run_in_parts();
  run.erase(run.begin() + 2);  // holds syscalls.deny[0]
  renumber(run);
  EXPECT_EQ(denied(run), 0);
}

}  // namespace
}  // namespace aasm::claims::test
