#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sample_run.h"

// A probe result that was used again: the reference, the record it names, and their conditions.
namespace aasm::claims::test {
namespace {

using Code = ContradictionCode;
using schema::Domain;

std::vector<Code> codes(const RunFacts& facts) {
  std::vector<Code> found;
  for (const Contradiction& one : derive(facts).contradictions) {
    found.push_back(one.code);
  }
  return found;
}

schema::LeafHash leaf_of(std::uint8_t byte) {
  schema::LeafHash leaf;
  leaf.bytes.fill(byte);
  return leaf;
}

// The run's probe refers to record 3 of the ledger; the run itself begins at record 100.
Records run_with_reference() {
  Records run = sample_run();
  for (Step& step : run) {
    step.seq += 100;
  }
  schema::CapabilityProbed& probed = body_of<schema::CapabilityProbed>(run);
  probed.domains.clear();
  probed.reference = schema::ProbeReference{3, leaf_of(0x55)};
  return run;
}

schema::CapabilityProbed referenced_probe() {
  Records run = sample_run();
  return body_of<schema::CapabilityProbed>(run);
}

TEST(ProbeReferenceTest, AnEqualProbeReferenceHoldsAndGivesTheChannel) {
  RunFacts facts = facts_of(run_with_reference());
  facts.add_referenced_probe(3, leaf_of(0x55), referenced_probe());
  EXPECT_EQ(codes(facts), std::vector<Code>{});
  EXPECT_EQ(derive(facts).of(Domain::kSyscall).channel.state, schema::ChannelState::kComplete);
}

TEST(ProbeReferenceTest, TheReferencedProbeMayBeSuppliedFirst) {
  const Records run = run_with_reference();
  RunFacts facts;
  facts.add_referenced_probe(3, leaf_of(0x55), referenced_probe());
  for (const Step& step : run) {
    facts.add(step.seq, step.boot, step.signer_ok, step.body);
  }
  EXPECT_EQ(codes(facts), std::vector<Code>{});
  EXPECT_TRUE(derive(facts).open_questions.empty());
}

TEST(ProbeReferenceTest, AReferenceNobodySuppliesIsAnOpenQuestion) {
  const RunClaims claims = claims_of(run_with_reference());
  EXPECT_TRUE(claims.contradictions.empty());
  EXPECT_EQ(claims.open_questions,
            std::vector<OpenQuestion>{OpenQuestion::kProbeReferenceNotSupplied});
  EXPECT_EQ(claims.of(Domain::kSyscall).channel.state, schema::ChannelState::kUnknownLoss);
}

struct ReferenceRow {
  const char* why;
  std::function<void(schema::CapabilityProbed&)> change;
};

TEST(ProbeReferenceTest, AProbeReferenceUnderOtherConditionsContradicts) {
  using schema::CapabilityProbed;
  const std::vector<ReferenceRow> rows = {
      {"boot", [](CapabilityProbed& one) { one.conditions.boot_id = kOtherBoot; }},
      {"kernel", [](CapabilityProbed& one) { one.conditions.kernel_release = "6.2"; }},
      {"uid", [](CapabilityProbed& one) { one.conditions.uid = 0; }},
      {"gid", [](CapabilityProbed& one) { one.conditions.gid = 0; }},
      {"capabilities", [](CapabilityProbed& one) { one.conditions.cap_effective = "1"; }},
      {"user namespace", [](CapabilityProbed& one) { one.conditions.user_ns = "user:[1]"; }},
      {"network namespace", [](CapabilityProbed& one) { one.conditions.net_ns = "net:[1]"; }},
      {"seccomp mode", [](CapabilityProbed& one) { one.conditions.seccomp_mode = 2; }},
      {"no_new_privs", [](CapabilityProbed& one) { one.conditions.no_new_privs = true; }},
      {"control group", [](CapabilityProbed& one) { one.conditions.cgroup = "/x"; }},
      {"helper digest",
       [](CapabilityProbed& one) { one.conditions.helper_digest = digest_of(0x99); }},
      {"another backend", [](CapabilityProbed& one) { one.backend.id = "sandlock"; }},
      {"another version", [](CapabilityProbed& one) { one.backend.version = "0.0.9"; }},
      {"itself a reference",
       [](CapabilityProbed& one) {
         one.reference = schema::ProbeReference{1, leaf_of(0x54)};
       }},
  };
  for (const ReferenceRow& row : rows) {
    SCOPED_TRACE(row.why);
    RunFacts facts = facts_of(run_with_reference());
    schema::CapabilityProbed probe = referenced_probe();
    row.change(probe);
    facts.add_referenced_probe(3, leaf_of(0x55), probe);
    EXPECT_EQ(codes(facts), std::vector<Code>{Code::kProbeReferenceDiffers});
  }
}

TEST(ProbeReferenceTest, AProbeReferenceToAnotherLeafContradicts) {
  RunFacts facts = facts_of(run_with_reference());
  facts.add_referenced_probe(3, leaf_of(0x56), referenced_probe());
  EXPECT_EQ(codes(facts), std::vector<Code>{Code::kProbeReferenceDiffers});
}

TEST(ProbeReferenceTest, AProbeReferenceThatCopiesOtherConditionsContradicts) {
  Records run = run_with_reference();
  body_of<schema::CapabilityProbed>(run).conditions.uid = 0;
  RunFacts facts = facts_of(run);
  schema::CapabilityProbed probe = referenced_probe();
  probe.conditions.uid = 0;
  facts.add_referenced_probe(3, leaf_of(0x55), probe);
  EXPECT_EQ(codes(facts), std::vector<Code>{Code::kProbeReferenceDiffers});
}

}  // namespace
}  // namespace aasm::claims::test
