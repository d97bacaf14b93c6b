#include "aasm/planner/refusal.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "planner_support.h"

namespace aasm::planner {
namespace {

using schema::Domain;
using schema::LaunchRefusal;
using schema::Refusal;
using schema::RefusalReason;

const PolicyView& view() {
  static const PolicyView kView = {"/etc/p.yaml",
                                   {{Domain::kSyscall, "syscalls.allow", Position{12, 3}}}};
  return kView;
}

// A policy of two documents, of which the other one states what is asked.
const PolicyView& view_of_two() {
  static const PolicyView kView = {"/etc/p.yaml",
                                   {{Domain::kSyscall, "org:syscalls.allow", Position{2, 5}}},
                                   {{"agent:", "/etc/p.yaml"}, {"org:", "/etc/org.yaml"}}};
  return kView;
}

Refusal unmet(RefusalReason reason, const PolicyView& policy = view()) {
  schema::Requirement wanted = testing::requirement(Domain::kSyscall);
  wanted.evidence = schema::EvidenceWish::kDecisions;
  schema::DomainCapability given = testing::preventing(Domain::kSyscall);
  given.reason = "the kernel has no filter";
  given.timing = schema::Timing::kPost;
  given.descendants = schema::DescendantCoverage::kTargetProcessOnly;
  given.prerequisites = {
      {"a denied call watched here", schema::PrerequisiteStatus::kUnsatisfied, "it went through"}};
  const std::string backend = "aasm-native";
  return refuse_requirement(reason, {wanted, &given, backend, policy});
}

std::vector<Refusal> launch_refusals() {
  schema::PolicyRule rule;
  rule.id = "filesystem.write.allow[0]";
  rule.operation = "write";
  rule.selector.type = schema::SelectorType::kPathPrefix;
  rule.selector.value = schema::PathBytes("/home/u");
  rule.line = 4;
  rule.column = 9;
  schema::PolicyRule other = rule;
  other.id = "org:filesystem.write.allow[0]";
  return {refuse_backend_unavailable("sandlock", "not built in this version"),
          refuse_unknown_backend("sandlok", {"aasm-native", "sandlock"}),
          refuse_backend_class("gvisor", schema::IsolationClass::kUserspaceKernel,
                               schema::IsolationClass::kProcess),
          refuse_backend_with_none("aasm-native"),
          refuse_policy_unconfigured({}, {"/home/u/.aasm/policy.yaml", "/etc/aasm/policy.yaml"}),
          refuse_policy_unconfigured(view(), {}),
          refuse_policy_load_failed("/etc/p.yaml:3:5: unknown key `raed`"),
          refuse_policy_permissive(view()),
          refuse_no_requirements(view()),
          refuse_filesystem_not_stated(view(), false, true),
          refuse_grant_covers_evidence(rule, {"/home/u/.aasm/ledger.db"}, view()),
          refuse_evidence_hard_linked("/home/u/.aasm/ledger.db", 2),
          refuse_grant_covers_control(rule, {"/home/u/bin/aasm"}, view()),
          refuse_program_not_found("claud"),
          refuse_program_not_executable("./x.sh", "Permission denied"),
          refuse_nested_run(),
          refuse_backends_not_built({"gvisor", "microvm"}),
          refuse_descriptor_of_evidence(7, "/home/u/.aasm/ledger.db"),
          refuse_descriptor_of_control(1, "/etc/p.yaml"),
          refuse_grant_covers_control(other, {"/home/u/bin/aasm"}, view_of_two()),
          refuse_no_requirements(view_of_two()),
          refuse_grant_covers_groups(rule, {"/sys/fs/cgroup"}, view()),
          unmet(RefusalReason::kDomainUnsupported, view_of_two())};
}

TEST(RefusalTest, EachReasonSaysWhatWasAskedWhatIsGivenAndWhatToDo) {
  struct Row {
    RefusalReason reason;
    const char* detail;
    const char* fix;
  };
  const std::vector<Row> rows = {
      {RefusalReason::kNoCapabilityReported, "silence is taken neither for a yes nor for a no",
       "aasm backends probe"},
      {RefusalReason::kDomainUnsupported, "the kernel has no filter", "aasm backends list"},
      {RefusalReason::kObserveOnlyForPreventionRequirement, "an action that was watched has",
       "enforces the domain"},
      {RefusalReason::kDecisionTooLate, "timing post", "before the effect"},
      {RefusalReason::kDecisionNotSynchronous, "can win the race", "synchronous"},
      {RefusalReason::kPrerequisiteUnsatisfied,
       "a denied call watched here (unsatisfied: it went through)", "meet the prerequisite"},
      {RefusalReason::kDescendantCoverageInsufficient, "target_process_only", "process tree"},
      {RefusalReason::kNoEvidenceProduced, "evidence decisions", "evidence.syscall: setup"},
  };
  ASSERT_EQ(rows.size(), schema::EnumNames<RefusalReason>::kTokens.size());
  for (const Row& row : rows) {
    const Refusal refusal = unmet(row.reason);
    EXPECT_EQ(refusal.reason, row.reason);
    EXPECT_TRUE(refusal.check());
    EXPECT_EQ(refusal.detail.find("`syscalls.allow` (/etc/p.yaml:12:3) asks aasm-native"), 0U);
    EXPECT_NE(refusal.detail.find(row.detail), std::string::npos) << refusal.detail;
    EXPECT_NE(refusal.fix.find(row.fix), std::string::npos) << refusal.fix;
    EXPECT_NE(refusal.fix.find("`posture.syscall`"), std::string::npos) << refusal.fix;
  }
}

TEST(RefusalTest, EveryLaunchTokenHasATextThatNamesTheFix) {
  std::set<LaunchRefusal> seen = {LaunchRefusal::kRequirementUnmet};
  for (const Refusal& refusal : launch_refusals()) {
    seen.insert(refusal.launch);
    EXPECT_TRUE(refusal.check()) << schema::token(refusal.launch);
    EXPECT_GT(refusal.detail.size(), 30U);
    EXPECT_GT(refusal.fix.size(), 30U);
  }
  EXPECT_EQ(seen.size(), schema::EnumNames<LaunchRefusal>::kTokens.size());
}

TEST(RefusalTest, LaunchTextsNameTheirParticulars) {
  const std::vector<Refusal> refusals = launch_refusals();
  const auto holds = [&](std::size_t index, const char* part) {
    EXPECT_NE(refusals[index].detail.find(part), std::string::npos) << refusals[index].detail;
  };
  holds(0, "sandlock cannot be used here: not built in this version");
  holds(1, "`aasm-native`, `sandlock`");
  holds(2, "realises the class userspace-kernel and --isolation asks for process");
  holds(3, "--isolation none");
  holds(4, "`/home/u/.aasm/policy.yaml`, `/etc/aasm/policy.yaml`");
  holds(5, "/etc/p.yaml states no control");
  holds(6, "/etc/p.yaml:3:5");
  holds(9, "does not state `filesystem.read`;");
  holds(10, "`filesystem.write.allow[0]` (/etc/p.yaml:4:9) grants to write `/home/u`");
  holds(10, "`/home/u/.aasm/ledger.db`");
  holds(12, "`/home/u/bin/aasm`");
  holds(13, "`claud`");
  holds(16, "`gvisor`, `microvm`");
  holds(17, "descriptor 7, which the program would inherit, refers to `/home/u/.aasm/ledger.db`");
  holds(18, "descriptor 1, which the program would inherit, is open for writing on `/etc/p.yaml`");
  holds(21, "covers the control groups at `/sys/fs/cgroup`");
}

TEST(RefusalTest, NoTextPromisesMoreThanIsShown) {
  std::vector<Refusal> refusals = launch_refusals();
  for (const auto& entry : schema::EnumNames<RefusalReason>::kTokens) {
    refusals.push_back(unmet(entry.first));
  }
  for (const Refusal& refusal : refusals) {
    std::string text = refusal.detail + " " + refusal.fix;
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    for (const char* banned : {"complete", "comprehensive", "bypass", "immutable", "unbypassable",
                               "catch everything", "every action", "universal"}) {
      EXPECT_EQ(text.find(banned), std::string::npos) << banned << " in: " << text;
    }
  }
}

TEST(RefusalTest, EveryEndingWithoutAProgramSaysWhatToDo) {
  for (const auto& entry : schema::EnumNames<schema::RunEnding>::kTokens) {
    const bool finished = entry.first == schema::RunEnding::kFinished;
    EXPECT_EQ(advice_for(entry.first).empty(), finished) << entry.second;
  }
}

// A refusal that nobody can read is none: each text as it stands, for a person to look at.
TEST(RefusalTest, TheCatalogueIsAsStored) {
  std::vector<Refusal> refusals = launch_refusals();
  for (const auto& entry : schema::EnumNames<RefusalReason>::kTokens) {
    refusals.push_back(unmet(entry.first));
  }
  sort_refusals(refusals);
  std::string text;
  for (const Refusal& refusal : refusals) {
    text += std::string(refusal.reason ? schema::token(*refusal.reason)
                                       : schema::token(refusal.launch)) +
            "\n  " + refusal.detail + "\n  to do: " + refusal.fix + "\n\n";
  }
  for (const auto& entry : schema::EnumNames<schema::RunEnding>::kTokens) {
    text += std::string(entry.second) + "\n  to do: " + advice_for(entry.first) + "\n\n";
  }
  const std::string path = std::string(AASM_SOURCE_DIR) + "/tests/testdata/refusals.txt";
  const char* accept = std::getenv("AASM_TEST_ACCEPT");
  if (accept != nullptr && std::string(accept) == "1") {
    std::ofstream(path, std::ios::binary) << text;
    GTEST_SKIP() << "the catalogue was written, nothing was compared";
  }
  std::ifstream in(path, std::ios::binary);
  EXPECT_EQ(text, std::string(std::istreambuf_iterator<char>(in), {}));
}

TEST(RefusalTest, SeveralAreSortedByWhatComesFirstAndEachStandsOnce) {
  std::vector<Refusal> refusals = {
      refuse_program_not_found("x"),  unmet(RefusalReason::kDecisionTooLate),
      refuse_policy_load_failed("e"), unmet(RefusalReason::kDomainUnsupported),
      refuse_program_not_found("x"),  refuse_program_not_found("w")};
  std::vector<Refusal> other(refusals.rbegin(), refusals.rend());
  sort_refusals(refusals);
  sort_refusals(other);
  std::vector<std::string> order;
  for (std::size_t i = 0; i < refusals.size(); ++i) {
    order.emplace_back(refusals[i].reason ? schema::token(*refusals[i].reason)
                                          : schema::token(refusals[i].launch));
    EXPECT_EQ(refusals[i].detail, other.at(i).detail);
  }
  EXPECT_EQ(order, (std::vector<std::string>{"policy_load_failed", "domain_unsupported",
                                             "decision_too_late", "program_not_found",
                                             "program_not_found"}));
}

TEST(RefusalTest, OutsideTextIsEscaped) {
  const Refusal refusal = refuse_program_not_found("a\x1b[31m\nb");
  EXPECT_EQ(refusal.detail.find('\x1b'), std::string::npos);
  EXPECT_EQ(refusal.detail.find('\n'), std::string::npos);
}

TEST(RefusalTest, RequirementWithoutAPlaceIsNamedByItsDefaultRule) {
  schema::Requirement wanted = testing::requirement(Domain::kIpc);
  wanted.default_rule = "ipc";
  EXPECT_EQ(describe_place(wanted, {}), "`ipc`");
}

}  // namespace
}  // namespace aasm::planner
