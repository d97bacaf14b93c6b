#include "aasm/claims/denials.h"

#include <string>

#include <gtest/gtest.h>

#include "report_samples.h"

namespace aasm::claims::test {
namespace {

schema::Event denied(const std::string& name, const std::string& executable,
                     std::int64_t count = 1) {
  schema::Event event = denied_ptrace();
  event.object.name = name;
  event.executable = schema::PathBytes(executable);
  event.count = count;
  return event;
}

TEST(DenialsTest, EventsOfOneRuleAreOneGroupWithTheFirstExamples) {
  Denials denials;
  denials.add(denied("ptrace", "/bin/a", 2));
  denials.add(denied("ptrace", "/bin/a"));
  denials.add(denied("mount", "/bin/b"));
  denials.add(denied("bpf", "/bin/c"));
  denials.add(denied("kexec_load", "/bin/d", 4));
  ASSERT_EQ(denials.groups().size(), 1U);
  const DenialGroup& group = denials.groups().front();
  EXPECT_EQ(group.actions, 9);
  ASSERT_EQ(group.examples.size(), kMaxDenialExamples);
  EXPECT_EQ(group.examples[0].actions, 3);
  EXPECT_EQ(group.examples[1].object.name, "mount");
  EXPECT_EQ(group.examples[2].executable.bytes(), "/bin/c");
}

TEST(DenialsTest, OperationCauseAndRuleTellGroupsApart) {
  Denials denials;
  const schema::Event first = denied("ptrace", "/bin/a");
  denials.add(first);
  for (int part = 0; part < 3; ++part) {
    schema::Event other = first;
    (part == 0 ? other.rule : other.operation) += part < 2 ? "x" : "";
    other.cause = part == 2 ? schema::DecisionCause::kHostPermission : other.cause;
    denials.add(other);
  }
  EXPECT_EQ(denials.groups().size(), 4U);
}

// Records of a hostile ledger may name any number of rules.
TEST(DenialsTest, MemoryIsBoundedAndTheRestIsCounted) {
  Denials denials;
  for (std::size_t i = 0; i < kMaxDenialGroups + 10; ++i) {
    schema::Event event = denied("ptrace", "/bin/a", 2);
    event.rule = "rule" + std::to_string(i);
    denials.add(event);
  }
  EXPECT_EQ(denials.groups().size(), kMaxDenialGroups);
  EXPECT_EQ(denials.ungrouped(), 20);
}

TEST(DenialsTest, AReportNamesThePlaceOfTheRuleAndNoAnswerForCompatibility) {
  Records run = sample_run();
  schema::PolicyRule& rule = [&]() -> schema::PolicyRule& {
    for (schema::Requirement& one : body_of<schema::PolicyResolved>(run).requirements) {
      for (schema::PolicyRule& each : one.rules) {
        if (each.id == "syscalls.deny[0]") {
          return each;
        }
      }
    }
    std::abort();
  }();
  rule.line = 12;
  rule.column = 30;
  set_events(run, {denied_ptrace(), compat_clone3()});
  const RunClaims claims = claims_of(run);
  const DomainClaim& claim = claims.of(schema::Domain::kSyscall);
  ASSERT_EQ(claim.denials.size(), 1U);
  EXPECT_EQ(claim.denials[0].line, 12);
  EXPECT_EQ(claim.denials[0].column, 30);
}

TEST(DenialsTest, WhatIsNotTheWorkloadsOrNotTrustworthyIsNoDenialOfIt) {
  Records run = sample_run();
  set_events(run, {denied_ptrace()});
  step_of<schema::DecisionBatch>(run).signer_ok = false;
  EXPECT_TRUE(claims_of(run).of(schema::Domain::kSyscall).denials.empty());
}

}  // namespace
}  // namespace aasm::claims::test
