#include "aasm/claims/witness.h"

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "aasm/claims/report.h"

#include "sample_run.h"

namespace aasm::claims::test {
namespace {

using schema::Domain;
using schema::EvidenceWish;
using schema::WitnessedDenial;
using schema::WitnessReported;

WitnessedDenial told(const std::string& blockers, const std::string& path, std::uint64_t inode) {
  WitnessedDenial denial;
  denial.blockers = blockers;
  denial.path = schema::PathBytes(path);
  denial.device = "vda";
  denial.inode = inode;
  return denial;
}

WitnessReported heard(std::vector<WitnessedDenial> denials) {
  WitnessReported body;
  body.state = schema::WitnessState::kHeard;
  body.domains = {"1f"};
  body.before_start = 1;
  body.enabled_at_end = true;
  for (const WitnessedDenial& denial : denials) {
    body.heard += denial.count;
  }
  body.counted = body.before_start + body.heard;
  body.denials = std::move(denials);
  return body;
}

schema::Event denied(Domain domain, const std::string& path, std::uint64_t inode = 0) {
  schema::Event event = denied_ptrace();
  event.domain = domain;
  event.operation = domain == Domain::kFilesystemRead ? "read" : "create";
  event.rule =
      domain == Domain::kFilesystemRead ? "filesystem.read.allow" : "filesystem.write.allow";
  event.object = {};
  event.object.type = schema::ObjectType::kPath;
  event.object.path = schema::PathBytes(path);
  if (inode != 0) {
    event.object.device = 1;
    event.object.inode = inode;
  }
  return event;
}

// A run whose policy asks for decisions on files and for the witness, and what became of it.
Records witnessed(WitnessReported body, std::vector<schema::Event> events = {denied_ptrace()}) {
  Records run = sample_run();
  auto& policy = body_of<schema::PolicyResolved>(run);
  policy.witness = schema::WitnessWish::kListen;
  for (schema::Requirement& requirement : policy.requirements) {
    requirement.evidence = requirement.domain == Domain::kFilesystemRead ||
                                   requirement.domain == Domain::kFilesystemWrite
                               ? EvidenceWish::kDecisions
                               : EvidenceWish::kSetup;
  }
  set_events(run, std::move(events));
  for (auto at = run.begin(); at != run.end(); ++at) {
    if (std::holds_alternative<schema::ProcessExited>(at->body)) {
      Step step;
      step.body = std::move(body);
      run.insert(at, std::move(step));
      break;
    }
  }
  body_of<schema::RunClosed>(run).records += 1;
  renumber(run);
  return run;
}

bool disagrees(const RunClaims& claims) {
  return claims.open_questions == std::vector<OpenQuestion>{OpenQuestion::kWitnessDisagrees};
}

TEST(WitnessTest, ARunThatAskedForNoneHasNone) {
  EXPECT_FALSE(claims_of(sample_run()).witness);
}

TEST(WitnessTest, ARunThatAskedAndHasNoReportSaysSo) {
  Records run = witnessed(heard({}));
  remove_kind<WitnessReported>(run);
  const RunClaims claims = claims_of(run);
  ASSERT_TRUE(claims.witness);
  EXPECT_EQ(claims.witness->standing, WitnessStanding::kNotReported);
}

TEST(WitnessTest, OneThatIsUnavailableSaysWhyAndCountsForNothing) {
  WitnessReported body;
  body.reason = "not permitted";
  const RunClaims claims = claims_of(witnessed(body));
  ASSERT_TRUE(claims.witness);
  EXPECT_EQ(claims.witness->standing, WitnessStanding::kUnavailable);
  EXPECT_EQ(claims.witness->reason, "not permitted");
  EXPECT_TRUE(claims.open_questions.empty());
}

TEST(WitnessTest, ADenialThatNoDecisionExplainsIsADisagreement) {
  const RunClaims claims =
      claims_of(witnessed(heard({told("fs.read_file", "/etc/shadow", 7)}),
                          {denied(Domain::kFilesystemRead, "/etc/passwd", 8)}));
  ASSERT_TRUE(claims.witness);
  EXPECT_TRUE(disagrees(claims));
  ASSERT_EQ(claims.witness->unexplained.size(), 1U);
  EXPECT_EQ(claims.witness->unexplained[0].path, schema::PathBytes("/etc/shadow"));
}

TEST(WitnessTest, ADecisionOnTheFileTheInodeOrANameInTheDirectoryExplains) {
  const WitnessedDenial read = told("fs.read_file", "/etc/shadow", 7);
  const WitnessedDenial make = told("fs.make_reg", "/etc", 3);
  const auto claims = [&](const WitnessedDenial& denial, const schema::Event& event) {
    return claims_of(witnessed(heard({denial}), {event}));
  };
  for (const RunClaims& one : {claims(read, denied(Domain::kFilesystemRead, "/etc/shadow")),
                               claims(read, denied(Domain::kFilesystemRead, "/other/name", 7)),
                               claims(make, denied(Domain::kFilesystemWrite, "/etc/new"))}) {
    EXPECT_TRUE(one.witness->compared);
    EXPECT_TRUE(one.witness->unexplained.empty());
    EXPECT_TRUE(one.open_questions.empty());
  }
  EXPECT_TRUE(disagrees(claims(make, denied(Domain::kFilesystemWrite, "/etc/sub/new"))));
  schema::Event moved = denied(Domain::kFilesystemWrite, "/srv/x");
  moved.object.new_path = schema::PathBytes("/etc/x");
  EXPECT_FALSE(disagrees(claims(make, moved)));
}

TEST(WitnessTest, WhereNoDecisionWasToBeTakenNothingIsCompared) {
  Records run =
      witnessed(heard({told("fs.read_file", "/etc/shadow", 7), told("fs.make_reg", "/etc", 3)}));
  for (schema::Requirement& requirement : body_of<schema::PolicyResolved>(run).requirements) {
    requirement.evidence = EvidenceWish::kSetup;
  }
  const RunClaims at_setup = claims_of(run);
  EXPECT_FALSE(at_setup.witness->compared);
  EXPECT_EQ(at_setup.witness->heard, 2);
  EXPECT_TRUE(at_setup.open_questions.empty());
  // Of the two, writing is decided at write-decisions.
  for (schema::Requirement& requirement : body_of<schema::PolicyResolved>(run).requirements) {
    requirement.evidence = requirement.domain == Domain::kFilesystemWrite
                               ? EvidenceWish::kWriteDecisions
                               : EvidenceWish::kSetup;
  }
  const RunClaims writes = claims_of(run);
  ASSERT_EQ(writes.witness->unexplained.size(), 1U);
  EXPECT_EQ(writes.witness->unexplained[0].blockers, "fs.make_reg");
  body_of<schema::RunOpened>(run).enforcement_mode = "observe";
  EXPECT_FALSE(claims_of(run).witness->compared);
}

TEST(WitnessTest, WhatNoDecisionIsTakenOnNeedsNone) {
  for (const char* blockers : {"fs.execute", "fs.execute,fs.read_file", "fs.ioctl_dev",
                               "fs.make_sock", "net.connect_tcp", "scope.signal", "ptrace"}) {
    const RunClaims claims = claims_of(witnessed(heard({told(blockers, "/etc/shadow", 7)})));
    EXPECT_FALSE(claims.witness->compared) << blockers;
    EXPECT_TRUE(claims.open_questions.empty()) << blockers;
  }
}

TEST(WitnessTest, AReportThatIsNoEvidenceIsNotRead) {
  Records run = witnessed(heard({told("fs.read_file", "/etc/shadow", 7)}));
  step_of<WitnessReported>(run).signer_ok = false;
  EXPECT_EQ(claims_of(run).witness->standing, WitnessStanding::kNotReported);
  step_of<WitnessReported>(run).signer_ok = true;
  step_of<WitnessReported>(run).boot = kOtherBoot;
  EXPECT_EQ(claims_of(run).witness->standing, WitnessStanding::kNotReported);
}

TEST(WitnessTest, TheAccountAgreesOnlyWhenNothingCanBeMissing) {
  const auto account = [](const std::function<void(WitnessReported&)>& change) {
    WitnessReported body = heard({told("ptrace", "/x", 1)});
    change(body);
    return *claims_of(witnessed(body)).witness;
  };
  EXPECT_EQ(account([](auto&) {}).account, WitnessAccount::kAgrees);
  const WitnessView more = account([](auto& body) { body.counted = 12; });
  EXPECT_EQ(more.account, WitnessAccount::kMissing);
  EXPECT_EQ(more.missing, 10);
  for (const auto& change : std::vector<std::function<void(WitnessReported&)>>{
           [](auto& body) { body.counted = std::nullopt; },
           [](auto& body) { body.counted = 1; },
           [](auto& body) { body.lost = 1; },
           [](auto& body) { body.overruns = 1; },
           [](auto& body) { body.enabled_at_end = false; },
       }) {
    EXPECT_EQ(account(change).account, WitnessAccount::kUnknown);
  }
}

TEST(WitnessTest, ASecondReportAndOneBeforeTheStartAreContradictions) {
  Records run = witnessed(heard({}));
  Step again = step_of<WitnessReported>(run);
  run.insert(run.end() - 1, again);
  renumber(run);
  EXPECT_TRUE(facts_of(run).log().has(ContradictionCode::kRecordRepeated));
  Records early = sample_preview();
  append(early, heard({}));
  EXPECT_TRUE(facts_of(early).log().has(ContradictionCode::kActivityBeforeStart));
}

TEST(WitnessTest, MoreFilesThanAreKeptAreNotComparedAtAll) {
  DeniedFiles files;
  schema::Event event;
  for (int i = 0; files.are_all() && i < 10000; ++i) {
    event.object.path = schema::PathBytes("/" + std::string(4000, 'x') + "/" + std::to_string(i));
    files.add(event);
  }
  EXPECT_FALSE(files.are_all());
  EXPECT_TRUE(files.explain(told("fs.read_file", "/" + std::string(4000, 'x') + "/0", 0)));
  EXPECT_FALSE(files.explain(told("fs.read_file", "/" + std::string(4000, 'x') + "/9999", 0)));
}

// Decision 0028: of some refusals it is not recorded which files they were about.
TEST(WitnessTest, WhereObjectsOfRefusedFilesAreUnlistedNothingIsCompared) {
  const auto claims = [](Domain domain) {
    schema::Event event = denied(domain, "/etc/passwd", 8);
    event.object = {};
    event.object.type = schema::ObjectType::kUnlisted;
    return claims_of(witnessed(heard({told("fs.read_file", "/etc/shadow", 7)}), {event}));
  };
  for (const Domain domain : {Domain::kFilesystemRead, Domain::kFilesystemWrite}) {
    EXPECT_FALSE(claims(domain).witness->compared);
    EXPECT_TRUE(claims(domain).open_questions.empty());
  }
  schema::Event elsewhere = denied_ptrace();
  elsewhere.object = {};
  elsewhere.object.type = schema::ObjectType::kUnlisted;
  EXPECT_TRUE(disagrees(
      claims_of(witnessed(heard({told("fs.read_file", "/etc/shadow", 7)}), {elsewhere}))));
}

TEST(WitnessTest, TheReportSaysThatEachIsExplainedOnlyOfThoseOnRecord) {
  const auto text = [](std::int64_t unlisted) {
    WitnessReported body = heard({told("fs.read_file", "/etc/shadow", 7)});
    body.unlisted = unlisted;
    body.heard += unlisted;
    const RunFacts facts =
        facts_of(witnessed(body, {denied(Domain::kFilesystemRead, "/etc/shadow")}));
    return render_human(build_report(facts, derive(facts), "r"));
  };
  EXPECT_NE(text(0).find("\n  each that a decision has to explain is explained by one.\n"),
            std::string::npos);
  EXPECT_NE(text(3).find("\n  of those on record, each that a decision has to explain is"),
            std::string::npos);
}

TEST(WitnessTest, TheReportSaysWhatWasHeardAndThatNoClaimRestsOnIt) {
  Records run = witnessed(heard({told("fs.read_file", "/etc/sha\ndow", 7)}));
  const RunFacts facts = facts_of(run);
  const IsolationReport report = build_report(facts, derive(facts), "r");
  const std::string text = render_human(report);
  EXPECT_NE(text.find("second witness, the kernel's audit (best effort; no claim rests on it):\n"
                      "  1 refused action of the program heard; as many as the kernel counted.\n"
                      "  fs.read_file /etc/sha\\ndow\n"
                      "  NO DECISION EXPLAINS fs.read_file /etc/sha\\ndow\n"),
            std::string::npos)
      << text;
  EXPECT_NE(render_machine(report).find("witness.standing=heard\n"), std::string::npos);
  const RunClaims without = claims_of(sample_run());
  for (std::size_t i = 0; i < kNumDomains; ++i) {
    EXPECT_EQ(report.claims.domains.at(i).claim, without.domains.at(i).claim);
  }
}

}  // namespace
}  // namespace aasm::claims::test
