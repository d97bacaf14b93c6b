#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "aasm/claims/report.h"
#include "aasm/schema/json_parse.h"
#include "aasm/schema/json_write.h"

#include "report_samples.h"

namespace aasm::claims::test {
namespace {

using schema::ErrorCode;
using schema::JsonValue;

JsonValue sample_json() {
  return render_json(report_of(sample_run()));
}

JsonValue& member(JsonValue& object, const std::string& key) {
  for (JsonValue::Member& one : *object.as_object()) {
    if (one.first == key) {
      return one.second;
    }
  }
  std::abort();
}

JsonValue& row(JsonValue& report, std::size_t index) {
  return member(report, "domains").as_array()->at(index);
}

TEST(CompareTest, AReportAgreesWithItself) {
  const std::string text = schema::json_write(sample_json());
  const auto read_back = schema::json_parse(text);
  ASSERT_TRUE(read_back.has_value());
  const auto differences = compare_claims(*read_back, sample_json());
  ASSERT_TRUE(differences.has_value());
  EXPECT_TRUE(differences->empty());
}

// The whole report is derived, so nothing in it may say something else.
TEST(CompareTest, EveryMemberIsComparedAndTheFirstPlaceNamed) {
  const JsonValue recomputed = sample_json();
  for (const JsonValue::Member& one : *recomputed.as_object()) {
    if (one.first == "schema" || one.first == "domains") {
      continue;
    }
    SCOPED_TRACE(one.first);
    JsonValue given = recomputed;
    member(given, one.first) = JsonValue("something else");
    const auto differences = compare_claims(given, recomputed);
    ASSERT_TRUE(differences.has_value());
    ASSERT_EQ(differences->size(), 1U);
    EXPECT_EQ(differences->at(0).rfind(one.first + ": ", 0), 0U) << differences->at(0);
  }
  for (const JsonValue::Member& one : *row(const_cast<JsonValue&>(recomputed), 4).as_object()) {
    if (one.first == "domain") {
      continue;
    }
    SCOPED_TRACE(one.first);
    JsonValue given = recomputed;
    member(row(given, 4), one.first) = JsonValue("something else");
    const auto differences = compare_claims(given, recomputed);
    ASSERT_TRUE(differences.has_value());
    ASSERT_EQ(differences->size(), 1U);
    EXPECT_EQ(differences->at(0).rfind("syscall." + one.first + ": ", 0), 0U);
  }
}

TEST(CompareTest, AChangeDeepInAListIsNamedByItsPath) {
  JsonValue given = sample_json();
  member(member(row(given, 4), "decisions").as_array()->at(0), "actions") =
      JsonValue(std::int64_t{9});
  member(member(given, "plan"), "digest") = JsonValue("00");
  const auto differences = compare_claims(given, sample_json());
  ASSERT_TRUE(differences.has_value());
  ASSERT_EQ(differences->size(), 2U);
  EXPECT_EQ(differences->at(0).rfind("plan.digest: the report says 00", 0), 0U);
  EXPECT_EQ(differences->at(1).rfind("syscall.decisions[0].actions: the report says 9", 0), 0U);
}

TEST(CompareTest, WhatIsAddedOrLeftOutIsADifference) {
  JsonValue given = sample_json();
  given.as_object()->emplace_back("also", JsonValue("true"));
  row(given, 0).as_object()->emplace_back("also", JsonValue("true"));
  member(given, "run").as_object()->emplace_back("also", JsonValue("true"));
  std::erase_if(*row(given, 1).as_object(), [](const auto& one) { return one.first == "state"; });
  const auto differences = compare_claims(given, sample_json());
  ASSERT_TRUE(differences.has_value());
  EXPECT_EQ(differences->size(), 4U);
}

TEST(CompareTest, ALiveReportDoesNotKnowWhereContradictionsStand) {
  Records run = sample_run();
  body_of<schema::RunClosed>(run).channel.actions += 1;
  const JsonValue recomputed = render_json(report_of(run));
  JsonValue given = recomputed;
  JsonValue& first = member(given, "contradictions").as_array()->at(0);
  member(first, "seq") = JsonValue(std::int64_t{7});
  EXPECT_TRUE(compare_claims(given, recomputed).value().empty());
  member(first, "count") = JsonValue(std::int64_t{7});
  EXPECT_EQ(compare_claims(given, recomputed).value().size(), 1U);
}

TEST(CompareTest, EachChangedClaimMemberIsOneDifference) {
  for (const char* key : {"requested", "claim", "boundary", "basis", "planned", "achieved"}) {
    SCOPED_TRACE(key);
    JsonValue given = sample_json();
    member(row(given, 4), key) = JsonValue("something else");
    const auto differences = compare_claims(given, sample_json());
    ASSERT_TRUE(differences.has_value());
    ASSERT_EQ(differences->size(), 1U);
    EXPECT_EQ(differences->at(0).rfind("syscall." + std::string(key) + ": ", 0), 0U);
  }
}

TEST(CompareTest, ARaisedCountAndAnotherChannelAreDifferences) {
  JsonValue given = sample_json();
  member(row(given, 4), "denied_actions") = JsonValue(std::int64_t{2});
  member(member(row(given, 0), "channel"), "state") = JsonValue("complete");
  const auto differences = compare_claims(given, sample_json());
  ASSERT_TRUE(differences.has_value());
  EXPECT_EQ(differences->size(), 2U);
}

TEST(CompareTest, StagePostureRulesAndRunAreCompared) {
  for (const char* key : {"stage", "posture", "claims_rules"}) {
    SCOPED_TRACE(key);
    JsonValue given = sample_json();
    member(given, key) = JsonValue("another");
    const auto differences = compare_claims(given, sample_json());
    ASSERT_TRUE(differences.has_value());
    EXPECT_EQ(differences->size(), 1U);
  }
  JsonValue given = sample_json();
  member(member(given, "run"), "id") = JsonValue("another run");
  const auto differences = compare_claims(given, sample_json());
  ASSERT_TRUE(differences.has_value());
  EXPECT_EQ(differences->size(), 1U);
}

TEST(CompareTest, AMissingOrDoubledDomainIsADifference) {
  JsonValue given = sample_json();
  member(given, "domains").as_array()->pop_back();
  auto differences = compare_claims(given, sample_json());
  ASSERT_TRUE(differences.has_value());
  EXPECT_EQ(differences->size(), 2U) << "the row, and the number of rows";
  given = sample_json();
  const JsonValue copy = row(given, 0);
  member(given, "domains").as_array()->push_back(copy);
  differences = compare_claims(given, sample_json());
  ASSERT_TRUE(differences.has_value());
  EXPECT_EQ(differences->size(), 1U);
}

TEST(CompareTest, DifferencesQuoteTheGivenReportEscapedAndCut) {
  JsonValue given = sample_json();
  member(row(given, 0), "claim") = JsonValue("a\n" + std::string(5000, 'b'));
  const auto differences = compare_claims(given, sample_json());
  ASSERT_TRUE(differences.has_value());
  ASSERT_EQ(differences->size(), 1U);
  EXPECT_EQ(differences->at(0).find('\n'), std::string::npos);
  EXPECT_LT(differences->at(0).size(), 300U);
}

struct Row {
  const char* why;
  const char* text;
  ErrorCode expected;
};

TEST(CompareTest, WhatIsNoReportIsAnError) {
  const std::vector<Row> rows = {
      {"no object", "[]", ErrorCode::kMalformed},
      {"no schema", R"({"domains":[]})", ErrorCode::kMalformed},
      {"a schema that is no text", R"({"domains":[],"schema":1})", ErrorCode::kMalformed},
      {"another version", R"({"domains":[],"schema":"aasm.isolation.report/2"})",
       ErrorCode::kUnsupported},
      {"no domains", R"({"schema":"aasm.isolation.report/1"})", ErrorCode::kMalformed},
      {"domains that are no list", R"({"domains":{},"schema":"aasm.isolation.report/1"})",
       ErrorCode::kMalformed},
  };
  for (const Row& row_of_table : rows) {
    SCOPED_TRACE(row_of_table.why);
    const auto given = schema::json_parse(row_of_table.text);
    ASSERT_TRUE(given.has_value());
    const auto differences = compare_claims(*given, sample_json());
    ASSERT_FALSE(differences.has_value());
    EXPECT_EQ(differences.error().code(), row_of_table.expected);
  }
}

TEST(CompareTest, RowsThatAreNoObjectsAreDifferencesNotFaults) {
  const auto given = schema::json_parse(
      R"({"domains":[1,"x",null,[],{"domain":4}],"run":7,"schema":"aasm.isolation.report/1"})");
  ASSERT_TRUE(given.has_value());
  const auto differences = compare_claims(*given, sample_json());
  ASSERT_TRUE(differences.has_value());
  EXPECT_GE(differences->size(), 9U);
}

}  // namespace
}  // namespace aasm::claims::test
