#include "aasm/schema/result.h"

#include <memory>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace aasm::schema {
namespace {

Result<std::unique_ptr<int>> find_number(bool present) {
  if (!present) {
    return Error(ErrorCode::kNotFound, "absent", 2);
  }
  return std::make_unique<int>(7);
}

Result<int> twice(bool present) {
  const std::unique_ptr<int> number = AASM_TRY_CONTEXT(find_number(present), "looking up");
  return *number * 2;
}

Result<void> check(bool good) {
  if (!good) {
    return Error(ErrorCode::kConflict, "moved");
  }
  return {};
}

Result<std::string> after_check(bool good) {
  AASM_TRY(check(good));
  return std::string("done");
}

TEST(ResultTest, TryMovesAMoveOnlyValueOut) {
  const auto result = twice(true);
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(*result, 14);
}

TEST(ResultTest, TryReturnsTheErrorWithItsContextInFront) {
  const auto result = twice(false);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().message(), "looking up: absent");
}

TEST(ResultTest, ContextLeavesCodeAndErrnoAsTheyWere) {
  const auto result = twice(false);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(result.error().os_errno(), 2);
}

TEST(ResultTest, TryOfAVoidResultGoesOnOrReturnsItsError) {
  const auto good = after_check(true);
  ASSERT_TRUE(good.has_value());
  EXPECT_EQ(*good, "done");
  const auto bad = after_check(false);
  ASSERT_FALSE(bad.has_value());
  EXPECT_EQ(bad.error().code(), ErrorCode::kConflict);
}

TEST(ResultTest, ConvertsToTrueOnlyWhenItHoldsAValue) {
  EXPECT_TRUE(static_cast<bool>(twice(true)));
  EXPECT_FALSE(static_cast<bool>(twice(false)));
}

TEST(ResultDeathTest, ReadingTheValueOfAnErrorAborts) {
  auto result = twice(false);
  EXPECT_DEATH(static_cast<void>(result.value()), "");
}

TEST(ResultDeathTest, ReadingTheErrorOfAValueAborts) {
  const auto result = twice(true);
  EXPECT_DEATH(static_cast<void>(result.error()), "");
  const Result<void> nothing = check(true);
  EXPECT_DEATH(static_cast<void>(nothing.error()), "");
}

TEST(ErrorTest, EachCodeHasANameOfItsOwn) {
  std::set<std::string> names;
  constexpr int kNumCodes = static_cast<int>(ErrorCode::kInternal) + 1;
  for (int code = 0; code < kNumCodes; ++code) {
    names.insert(std::string(to_string(static_cast<ErrorCode>(code))));
  }
  EXPECT_EQ(names.size(), 10U);
  EXPECT_EQ(names.count(""), 0U);
}

}  // namespace
}  // namespace aasm::schema
