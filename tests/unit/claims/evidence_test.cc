#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sample_run.h"

// Boundary and basis: what stands beside a claim.
namespace aasm::claims::test {
namespace {

using schema::AttemptOutcome;
using schema::Basis;
using schema::BoundaryState;
using schema::Domain;

schema::Canary& read_canary(Records& run) {
  return body_of<schema::BoundaryProved>(run).canaries.at(0);
}

DomainClaim claim_of(const Records& run, Domain domain) {
  return claims_of(run).of(domain);
}

TEST(EvidenceTest, TheSampleRunHasEachBoundaryState) {
  const Records run = sample_run();
  EXPECT_EQ(claim_of(run, Domain::kFilesystemRead).boundary, BoundaryState::kProved);
  EXPECT_EQ(claim_of(run, Domain::kFilesystemRead).boundary_reason, "canary filesystem_read.open");
  EXPECT_EQ(claim_of(run, Domain::kCredential).boundary, BoundaryState::kInstalled);
  EXPECT_EQ(claim_of(run, Domain::kCredential).boundary_reason,
            "no_canary: nothing harmless to try");
  EXPECT_EQ(claim_of(run, Domain::kFilesystemWrite).boundary_reason, "no canary is recorded");
  EXPECT_EQ(claim_of(run, Domain::kNetworkEgress).boundary, BoundaryState::kAbsent);
}

struct CanaryRow {
  const char* why;
  std::function<void(Records&)> change;
  BoundaryState expected;
};

TEST(EvidenceTest, ProvedNeedsARefusedCanaryWhoseControlSucceeded) {
  const std::vector<CanaryRow> rows = {
      {"the control was refused too",
       [](Records& run) { read_canary(run).control.outcome = AttemptOutcome::kRefused; },
       BoundaryState::kInstalled},
      {"the control was not tried",
       [](Records& run) { read_canary(run).control.outcome = AttemptOutcome::kNotAttempted; },
       BoundaryState::kInstalled},
      {"inside failed for another reason",
       [](Records& run) { read_canary(run).inside.outcome = AttemptOutcome::kError; },
       BoundaryState::kInstalled},
      {"inside succeeded",
       [](Records& run) { read_canary(run).inside.outcome = AttemptOutcome::kSucceeded; },
       BoundaryState::kInstalled},
      {"a second canary of the domain succeeded inside",
       [](Records& run) {
         schema::Canary second = read_canary(run);
         second.inside.outcome = AttemptOutcome::kSucceeded;
         body_of<schema::BoundaryProved>(run).canaries.push_back(second);
       },
       BoundaryState::kInstalled},
      {"it was a self-protection canary",
       [](Records& run) { read_canary(run).purpose = schema::Purpose::kSelfProtection; },
       BoundaryState::kInstalled},
      {"it was about another domain",
       [](Records& run) { read_canary(run).domain = Domain::kFilesystemWrite; },
       BoundaryState::kInstalled},
      {"its record has another signer",
       [](Records& run) { step_of<schema::BoundaryProved>(run).signer_ok = false; },
       BoundaryState::kInstalled},
      {"its record is of another boot",
       [](Records& run) { step_of<schema::BoundaryProved>(run).boot = kOtherBoot; },
       BoundaryState::kInstalled},
      {"its record stands after the start",
       [](Records& run) {
         std::swap(step_of<schema::BoundaryProved>(run).body,
                   step_of<schema::ProcessStarted>(run).body);
       },
       BoundaryState::kInstalled},
      {"neither canary nor control",
       [](Records& run) {
         read_canary(run).control.outcome = AttemptOutcome::kRefused;
         body_of<schema::ControlPrepared>(run).controls.at(0).installed = false;
       },
       BoundaryState::kAbsent},
      {"neither canary nor a control for policy",
       [](Records& run) {
         read_canary(run).control.outcome = AttemptOutcome::kRefused;
         body_of<schema::ControlPrepared>(run).controls.at(0).purpose =
             schema::Purpose::kSelfProtection;
       },
       BoundaryState::kAbsent},
  };
  for (const CanaryRow& row : rows) {
    SCOPED_TRACE(row.why);
    Records run = sample_run();
    row.change(run);
    EXPECT_EQ(claim_of(run, Domain::kFilesystemRead).boundary, row.expected);
  }
}

TEST(EvidenceTest, AControlOfAnotherDomainCoversByTheRulesItLists) {
  Records run = sample_run();
  auto& controls = body_of<schema::ControlPrepared>(run).controls;
  EXPECT_EQ(claim_of(run, Domain::kNetworkEgress).boundary, BoundaryState::kAbsent);
  controls.at(2).rules.emplace_back("network.allowlist");
  EXPECT_EQ(claim_of(run, Domain::kNetworkEgress).boundary, BoundaryState::kInstalled);
}

TEST(EvidenceTest, BasisGrowsWithTheEvidence) {
  Records run = sample_run();
  EXPECT_EQ(claim_of(run, Domain::kSyscall).basis, Basis::kDecision);
  EXPECT_EQ(claim_of(run, Domain::kFilesystemRead).basis, Basis::kRuntimeWithoutDecision);
  EXPECT_EQ(claim_of(run, Domain::kFilesystemWrite).basis, Basis::kSetupOnly);
  EXPECT_EQ(claim_of(run, Domain::kCredential).basis, Basis::kSetupOnly);
  EXPECT_EQ(claim_of(run, Domain::kNetworkEgress).basis, Basis::kNone);
  set_events(run, {});
  EXPECT_EQ(claim_of(run, Domain::kSyscall).basis, Basis::kRuntimeWithoutDecision);
}

TEST(EvidenceTest, AProvedBoundaryWithoutAStartIsSetupOnly) {
  Records run = sample_run();
  remove_kind<schema::ProcessStarted>(run);
  remove_kind<schema::DecisionBatch>(run);
  EXPECT_EQ(claim_of(run, Domain::kFilesystemRead).boundary, BoundaryState::kProved);
  EXPECT_EQ(claim_of(run, Domain::kFilesystemRead).basis, Basis::kSetupOnly);
}

TEST(EvidenceTest, ACompatAnswerIsNoBasisForADecision) {
  Records run = sample_run();
  set_events(run, {compat_clone3()});
  EXPECT_EQ(claim_of(run, Domain::kSyscall).basis, Basis::kRuntimeWithoutDecision);
}

TEST(EvidenceTest, CredentialNamesComeFromTheCallerAndTheControl) {
  Records run = sample_run();
  schema::Control& environment = body_of<schema::ControlPrepared>(run).controls.at(3);
  environment.removed = {"KUBECONFIG"};
  body_of<schema::PlanResolved>(run).ambient.reset();
  RunFacts facts = facts_of(run);
  facts.set_credentials({{"AWS_SECRET"}, {"PATH"}, {}});
  const CredentialNames names = facts.credentials();
  EXPECT_EQ(names.removed, (std::vector<std::string>{"AWS_SECRET", "KUBECONFIG"}));
  EXPECT_EQ(names.delegated, (std::vector<std::string>{"LANG", "PATH"}));
  EXPECT_TRUE(names.ambient_unremoved.empty());
  EXPECT_EQ(facts.descriptors(), (std::vector<std::int64_t>{0, 1, 2}));
}

TEST(EvidenceTest, AnEnvironmentLeftOpenDelegatesNothingAndNamesWhatIsInReach) {
  Records run = sample_run();
  schema::Control& environment = body_of<schema::ControlPrepared>(run).controls.at(3);
  environment.installed = false;
  environment.ambient_unremoved = {"KUBECONFIG"};
  body_of<schema::PlanResolved>(run).ambient.reset();
  const CredentialNames names = facts_of(run).credentials();
  EXPECT_EQ(names.ambient_unremoved, std::vector<std::string>{"KUBECONFIG"});
  EXPECT_TRUE(names.delegated.empty());
  EXPECT_TRUE(names.removed.empty());
}

TEST(EvidenceTest, TheInventoryOfThePlanNamesWhatNoControlDoes) {
  Records run = sample_run();
  remove_kind<schema::ControlPrepared>(run);
  schema::AmbientAuthority& held = *body_of<schema::PlanResolved>(run).ambient;
  held.sensitive[0].fate = schema::AuthorityFate::kAmbientUnremoved;
  held.descriptors[3].fate = schema::AuthorityFate::kAmbientUnremoved;
  const RunFacts facts = facts_of(run);
  EXPECT_EQ(facts.credentials().ambient_unremoved, std::vector<std::string>{"GITHUB_TOKEN"});
  EXPECT_EQ(facts.descriptors(), (std::vector<std::int64_t>{0, 1, 2, 7}));
}

TEST(EvidenceTest, SelfProtectionIsListedByDomainWithItsRules) {
  Records run = sample_run();
  schema::Control guard = body_of<schema::ControlPrepared>(run).controls.at(5);
  guard.note.clear();
  guard.domain = Domain::kSyscall;
  guard.rules = {"compat.clone3", "self_protection.bpf", "self_protection.ptrace"};
  body_of<schema::ControlPrepared>(run).controls.push_back(guard);
  guard.installed = false;
  guard.rules = {"self_protection.mount"};
  body_of<schema::ControlPrepared>(run).controls.push_back(guard);
  EXPECT_EQ(claim_of(run, Domain::kSyscall).closed_by_self_protection,
            std::vector<std::string>{"seccomp_guard: bpf, ptrace"});
}

}  // namespace
}  // namespace aasm::claims::test
