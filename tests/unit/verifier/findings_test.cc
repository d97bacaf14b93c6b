#include "aasm/verifier/findings.h"

#include <cstdlib>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "aasm/claims/claims.h"
#include "aasm/claims/contradictions.h"
#include "aasm/schema/utf8.h"

#include "finding_log.h"
#include "verdict.h"
#include "writer_home.h"

namespace aasm::verifier::test {
namespace {

constexpr const char* kDocument = AASM_SOURCE_DIR "/docs/spec/verify-findings.md";

TEST(FindingTableTest, RowsStandInTheOrderOfTheEnumWithTokensOfTheirOwn) {
  std::set<std::string_view> tokens;
  for (std::size_t i = 0; i < kFindingSpecs.size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(kFindingSpecs[i].code), i) << kFindingSpecs[i].token;
    EXPECT_TRUE(tokens.insert(kFindingSpecs[i].token).second) << kFindingSpecs[i].token;
    EXPECT_TRUE(kFindingSpecs[i].meaning.ends_with('.')) << kFindingSpecs[i].token;
    EXPECT_EQ(find_code(kFindingSpecs[i].token), kFindingSpecs[i].code);
  }
  EXPECT_EQ(static_cast<std::size_t>(FindingCode::kInternalError), kNumFindingCodes - 1);
  EXPECT_FALSE(find_code("no_such_code").has_value());
}

TEST(FindingTableTest, EveryContradictionFailsAndEveryOpenQuestionIsInconclusive) {
  for (const auto& [code, token] : schema::EnumNames<claims::ContradictionCode>::kTokens) {
    const auto found = find_code(token);
    ASSERT_TRUE(found.has_value()) << token;
    EXPECT_EQ(spec_of(*found).weight, Weight::kFails) << token;
    static_cast<void>(code);
  }
  for (const auto& [question, token] : schema::EnumNames<claims::OpenQuestion>::kTokens) {
    const auto found = find_code(token);
    ASSERT_TRUE(found.has_value()) << token;
    EXPECT_EQ(spec_of(*found).weight, Weight::kInconclusive) << token;
    static_cast<void>(question);
  }
}

std::string document() {
  std::string text =
      "# What `aasm verify` finds\n\n"
      "Made from `verifier/src/findings.cc`; `AASM_TEST_ACCEPT=1 ctest -R FindingTableTest`"
      " writes it anew.\n"
      "The heaviest weight of all findings gives the verdict: `fails` FAILED (1), `unreadable`"
      " UNREADABLE (4),\n`inconclusive` INCONCLUSIVE (3); a `notice` changes nothing. Without any"
      " but notices the verdict is VERIFIED (0).\n\n"
      "Which check finds what, in which order, and what ends the walk is in"
      " [ledger-format.md](ledger-format.md) section 9.1; when a run contradicts itself, in"
      " [product.md](product.md)\nsection 5.2. Two readings of section 6 there: a record that ends "
      "a"
      " run and has no checkpoint of its own is `checkpoint_cadence`\nalso when it is the last"
      " record, because the writer commits both in one transaction; and with `--allow-open` over "
      "the"
      " whole\nledger a tail that holds records of unfinished runs only is excluded with them"
      " (`tail_of_open_runs`).\n\n"
      "| code | weight | meaning |\n|---|---|---|\n";
  for (const FindingSpec& spec : kFindingSpecs) {
    text += "| `" + std::string(spec.token) + "` | " + std::string(to_string(spec.weight)) + " | " +
            std::string(spec.meaning) + " |\n";
  }
  return text;
}

TEST(FindingTableTest, TheDocumentListsTheTable) {
  const char* accept = std::getenv("AASM_TEST_ACCEPT");
  if (accept != nullptr && std::string_view(accept) == "1") {
    spit(kDocument, document());
    GTEST_SKIP() << "written";
  }
  EXPECT_EQ(slurp(kDocument), document());
}

TEST(VerdictTest, TheHeaviestWeightDecides) {
  FindingLog log;
  EXPECT_EQ(verdict_of(log), Verdict::kVerified);
  log.add(FindingCode::kClockStep, 1);
  EXPECT_EQ(verdict_of(log), Verdict::kVerified);
  log.add(FindingCode::kTailUnsigned, 1);
  EXPECT_EQ(verdict_of(log), Verdict::kInconclusive);
  log.add(FindingCode::kBusy, -1);
  EXPECT_EQ(verdict_of(log), Verdict::kUnreadable);
  log.add(FindingCode::kBadSignature, 1);
  EXPECT_EQ(verdict_of(log), Verdict::kFailed);
}

TEST(VerdictTest, StatusesAreThoseOfTheFormat) {
  EXPECT_EQ(exit_status(Verdict::kVerified), 0);
  EXPECT_EQ(exit_status(Verdict::kFailed), 1);
  EXPECT_EQ(exit_status(Verdict::kInconclusive), 3);
  EXPECT_EQ(exit_status(Verdict::kUnreadable), 4);
  EXPECT_EQ(to_string(Verdict::kUnreadable), "UNREADABLE");
}

TEST(FindingLogTest, EverythingIsCountedAndAHundredAreListed) {
  FindingLog log;
  for (int i = 0; i < 1000; ++i) {
    log.add(FindingCode::kBadSignature, i);
    log.add(FindingCode::kPrevMismatch, i);
    log.add(FindingCode::kLeafMismatch, i);
    log.add(FindingCode::kKeyMismatch, i);
    log.add(FindingCode::kSequenceMismatch, i);
  }
  EXPECT_EQ(log.total(), 5000U);
  EXPECT_EQ(log.num_listed(), kMaxListedFindings);
  EXPECT_EQ(log.count(FindingCode::kBadSignature), 1000U);
}

TEST(FindingLogTest, ACodeThatComesLateIsListedAllTheSame) {
  FindingLog log;
  for (int i = 0; i < 1000; ++i) {
    for (const FindingCode code :
         {FindingCode::kBadSignature, FindingCode::kPrevMismatch, FindingCode::kLeafMismatch,
          FindingCode::kKeyMismatch, FindingCode::kSequenceMismatch}) {
      log.add(code, i);
    }
  }
  log.add(FindingCode::kRolledBack, -1, {.detail = "late"});
  EXPECT_EQ(log.num_listed(), kMaxListedFindings);
  bool found = false;
  std::size_t listed = 0;
  for (const FindingLog::Group& group : log.groups()) {
    listed += group.listed.size();
    found = found || (group.code == FindingCode::kRolledBack && group.listed.size() == 1);
  }
  EXPECT_TRUE(found);
  EXPECT_EQ(listed, kMaxListedFindings);
}

TEST(FindingLogTest, TextsAreEscapedAndCut) {
  FindingLog log;
  log.add(FindingCode::kBadSignature, 1,
          {.expected = "a\x1b[31m", .actual = std::string(5000, 'x'), .detail = "\xe2\x80\xae"});
  const Finding finding = log.groups()[0].listed[0];
  EXPECT_EQ(finding.expected.find('\x1b'), std::string::npos);
  EXPECT_LE(finding.actual.size(), kMaxFindingTextBytes);
  EXPECT_EQ(finding.detail, "\\u{202e}");
  EXPECT_EQ(finding.code, "bad_signature");
}

TEST(FindingLogTest, ACutNeverEndsInsideACharacter) {
  for (std::size_t lead = 0; lead < 4; ++lead) {
    std::string text(lead, 'x');
    while (text.size() < 3000) {
      text += "\xe2\x82\xac";
    }
    EXPECT_TRUE(schema::is_valid_utf8(shown(text))) << lead;
    EXPECT_LE(shown(text).size(), kMaxFindingTextBytes);
  }
}

}  // namespace
}  // namespace aasm::verifier::test
