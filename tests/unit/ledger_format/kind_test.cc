#include "aasm/ledger_format/kind.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

namespace aasm::ledger_format {
namespace {

constexpr std::string_view kTokens[] = {
    "run.opened",     "policy.resolved",   "capability.probed", "plan.resolved",
    "plan.refused",   "control.prepared",  "boundary.proved",   "process.started",
    "decision.batch", "observation.batch", "witness.reported",  "process.exited",
    "run.closed",     "run.recovered",     "ledger.created",    "key.rotated",
    "key.replaced",   "key.revoked"};

TEST(KindTest, EveryTokenOfTheFormatIsKnownAndKeepsItsName) {
  std::set<RecordKind> kinds;
  for (const std::string_view token : kTokens) {
    const std::optional<RecordKind> kind = parse_record_kind(token);
    ASSERT_TRUE(kind) << token;
    EXPECT_EQ(to_string(*kind), token);
    EXPECT_TRUE(is_kind_token(token));
    kinds.insert(*kind);
  }
  EXPECT_EQ(kinds.size(), 18U);
}

TEST(KindTest, OtherTokensAreUnknown) {
  for (const char* token :
       {"", "run", "run.Opened", "run.opened ", "ledger.pruned", "run.closed.x"}) {
    EXPECT_FALSE(parse_record_kind(token)) << token;
  }
}

TEST(KindTest, LedgerAndKeyKindsBelongToNoRun) {
  for (const std::string_view token : kTokens) {
    const bool expected = token.starts_with("ledger.") || token.starts_with("key.");
    EXPECT_EQ(is_ledger_kind(*parse_record_kind(token)), expected) << token;
    const bool by_host = expected || token == "run.opened" || token == "run.recovered";
    EXPECT_EQ(is_signed_by_host(*parse_record_kind(token)), by_host) << token;
  }
}

TEST(KindTest, ATokenIsWordsJoinedByDots) {
  for (const char* token : {"a.b", "ledger.pruned", "x_1.y2.z"}) {
    EXPECT_TRUE(is_kind_token(token)) << token;
  }
  EXPECT_TRUE(is_kind_token("a." + std::string(62, 'b')));
  for (const char* token : {"", ".", "a", "a.", ".a", "a..b", "A.b", "a.b c", "a-b.c", "a.b\n"}) {
    EXPECT_FALSE(is_kind_token(token)) << token;
  }
  EXPECT_FALSE(is_kind_token("a." + std::string(63, 'b')));
}

TEST(KindTest, PredicateTypeNamesTheKind) {
  EXPECT_EQ(predicate_type("run.opened"), "urn:aasm:attestation:run.opened:v1");
}

}  // namespace
}  // namespace aasm::ledger_format
