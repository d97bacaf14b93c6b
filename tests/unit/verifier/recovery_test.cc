#include <gtest/gtest.h>

#include "aasm/verifier/verifier.h"

#include "forge.h"
#include "judge.h"
#include "writer_home.h"

// A run whose supervisor died: unfinished until the next writer, interrupted from then on, and
// never clean.
namespace aasm::verifier::test {
namespace {

TEST(RecoveryVerdictTest, TheWritersRecoveryMakesAnUnfinishedRunAnInterruptedOne) {
  WriterHome home;
  const std::string run = home.add_unfinished_run();
  EXPECT_EQ(verify(home.request()).verdict, Verdict::kInconclusive);
  EXPECT_TRUE(codes(verify(home.request())).count("run_unfinished"));

  home.add_short_run();
  const VerifyReport whole = verify(home.request());
  EXPECT_EQ(whole.verdict, Verdict::kVerified) << whole.text;
  EXPECT_NE(whole.text.find("interrupted"), std::string::npos) << whole.text;

  VerifyRequest one = home.request();
  one.run = run;
  EXPECT_EQ(verify(one).verdict, Verdict::kInconclusive);
  EXPECT_TRUE(codes(verify(one)).count("run_interrupted"));
  VerifyRequest close = home.request();
  close.require_close = true;
  EXPECT_EQ(verify(close).verdict, Verdict::kInconclusive);
}

// An unconfined run proves no boundary: after its plan the program may have run all the same.
TEST(RecoveryVerdictTest, ARecoveryMayNotSayThatAnUnconfinedProgramCannotHaveRun) {
  for (const bool says : {true, false}) {
    Forge forge;
    forge.add_opened(1);
    schema::PlanResolved plan;
    plan.requested = schema::IsolationClass::kNone;
    plan.posture = schema::LaunchPosture::kUnconfined;
    forge.add(1, plan);
    forge.add_recovered(1, "plan.resolved", says);
    EXPECT_EQ(codes(verify_forged(forge)).count("recovery_differs"), says ? 0U : 1U);
  }
}

}  // namespace
}  // namespace aasm::verifier::test
