#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "aasm/schema/json_parse.h"
#include "aasm/schema/json_write.h"
#include "aasm/schema/utf8.h"

#include "report_samples.h"

// What the renderings must and must not say, whatever the golden files hold.
namespace aasm::claims::test {
namespace {

using schema::Domain;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    lines.push_back(line);
  }
  return lines;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// key=value, split at the first '='; fails the test on a second line for one key.
std::map<std::string, std::string> machine_values(const IsolationReport& report) {
  const std::vector<std::string> lines = lines_of(render_machine(report));
  EXPECT_EQ(lines.at(0), "--- execution isolation (machine-readable) ---");
  std::map<std::string, std::string> values;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::size_t split = lines[i].find('=');
    EXPECT_NE(split, std::string::npos) << lines[i];
    EXPECT_TRUE(values.emplace(lines[i].substr(0, split), lines[i].substr(split + 1)).second)
        << lines[i];
  }
  return values;
}

TEST(ReportTextTest, TheKeysOfTheMachineReportAreThere) {
  const auto values = machine_values(report_of(sample_run()));
  for (const char* key : {"schema",
                          "stage",
                          "posture",
                          "posture_detail",
                          "least_authority",
                          "agent_id",
                          "team_id",
                          "lineage_depth",
                          "session_id",
                          "trace_id",
                          "target_program",
                          "target_arg_count",
                          "backend_selected",
                          "backend_id",
                          "backend_version",
                          "backend_source",
                          "backend_license",
                          "backend_modified",
                          "backend_unavailable",
                          "backend_selection_mode",
                          "backend_selection.considered_count",
                          "backend_selection.considered.0.id",
                          "backend_selection.considered.0.verdict",
                          "backend_selection.considered.0.detail",
                          "backend_selection.considered.0.unmet_domain_count",
                          "requested_requirement_count",
                          "domain_count",
                          "refusal_count",
                          "credential.removed_count",
                          "credential.delegated_count",
                          "credential.delegated.0",
                          "credential.ambient_unremoved_count",
                          "credential.contradiction_count",
                          "descriptors_present",
                          "policy.unmapped_count",
                          "policy.unmapped.0"}) {
    EXPECT_EQ(values.count(key), 1U) << key;
  }
  for (const auto& [domain, name] : schema::EnumNames<Domain>::kTokens) {
    for (const char* field :
         {"requested", "requested_detail", "state", "state_detail", "claim", "evidence",
          "policy_gap_count", "boundary", "channel", "basis", "denied_actions"}) {
      EXPECT_EQ(values.count("domain." + std::string(name) + "." + field), 1U) << name << field;
    }
  }
  EXPECT_EQ(values.at("schema"), "aasm.isolation.report/1");
  EXPECT_EQ(values.at("stage"), "post_run");
  EXPECT_EQ(values.at("domain.syscall.claim"), "denied_before_execution");
  EXPECT_EQ(values.at("domain.syscall.denied_actions"), "1");
  EXPECT_EQ(values.at("domain.ipc.claim"), "not_stated");
  EXPECT_EQ(values.at("requested_requirement_count"), "7");
}

TEST(ReportTextTest, TheHumanReportKeepsItsHeadingAndOrder) {
  const std::string text = render_human(report_of(sample_run()));
  EXPECT_EQ(text.rfind("--- execution isolation ---\n", 0), 0U);
  std::size_t last = 0;
  for (const char* part : {"schema:",
                           "stage:",
                           "posture:",
                           "least_authority:",
                           "agent_id:",
                           "team_id:",
                           "lineage:",
                           "session_id:",
                           "trace_id:",
                           "target:",
                           "backend:",
                           "selection:",
                           "requested capability set:",
                           "DOMAIN",
                           "what the claims cover:",
                           "NOT enforced as policy asks:",
                           "policy gaps:",
                           "closed by self-protection",
                           "residual ambient authority",
                           "unmeasured ("}) {
    const std::size_t at = text.find(part);
    ASSERT_NE(at, std::string::npos) << part;
    EXPECT_GT(at, last) << part;
    last = at;
  }
}

TEST(ReportTextTest, APreventionClaimSaysWhatItCovers) {
  Records run = sample_run();
  schema::Event thrice = denied_ptrace();
  thrice.count = 3;
  set_events(run, {thrice});
  const std::string text = render_human(report_of(run));
  EXPECT_TRUE(contains(text, "denied_before_execution (3 actions)"));
  EXPECT_TRUE(contains(text, "A statement about those actions, not about the domain."));
  EXPECT_TRUE(contains(text, "by rule syscalls.deny[0] (3)"));
}

TEST(ReportTextTest, DegradedShowsBothLevelsAfterTheRunToo) {
  const std::string text = render_human(report_of(sample_run()));
  EXPECT_TRUE(contains(text, "planned prevent_before_effect, achieved none"));
  const auto values = machine_values(report_of(sample_run()));
  EXPECT_EQ(values.at("domain.network_egress.claim"), "degraded");
  EXPECT_EQ(values.at("domain.network_egress.planned"), "prevent_before_effect");
  EXPECT_EQ(values.at("domain.network_egress.achieved"), "none");
}

TEST(ReportTextTest, AbsenceIsStatedOnlyWithACompleteChannel) {
  const std::string sentence = "no denial was recorded";
  Records run = sample_run();
  EXPECT_FALSE(contains(render_human(report_of(run)), sentence)) << "there is a denial";
  set_events(run, {});
  const std::string quiet = render_human(report_of(run));
  EXPECT_TRUE(contains(quiet,
                       "syscall: no denial was recorded. The channel sees: every system "
                       "call that the filter does not let through"));
  EXPECT_FALSE(contains(quiet, "filesystem_read: no denial")) << "that domain has no channel";
  body_of<schema::RunClosed>(run).channel.dropped = 1;
  EXPECT_FALSE(contains(render_human(report_of(run)), sentence)) << "one event was lost";
  body_of<schema::RunClosed>(run).channel.dropped = 0;
  schema::Event host = denied_ptrace();
  host.cause = schema::DecisionCause::kHostPermission;
  set_events(run, {host});
  EXPECT_FALSE(contains(render_human(report_of(run)), sentence)) << "file modes denied one";
}

TEST(ReportTextTest, OfAThousandGapsAPersonReadsTheFirst) {
  Records run = sample_run();
  auto& policy = body_of<schema::PolicyResolved>(run);
  for (int i = 0; i < 1000; ++i) {
    const std::string node = "filesystem.read.allow[" + std::to_string(i) + "]";
    policy.gaps.push_back({Domain::kFilesystemRead, node, "is not there"});
    policy.gaps.push_back({std::nullopt, node, "is not there either"});
  }
  const IsolationReport report = report_of(run);
  const std::string human = render_human(report);
  EXPECT_LT(lines_of(human).size(), 120U);
  EXPECT_TRUE(contains(human, "filesystem_read: filesystem.read.allow[15]: is not there\n"));
  EXPECT_FALSE(contains(human, "filesystem.read.allow[16]"));
  EXPECT_TRUE(contains(human, "filesystem_read: and 984 more; the machine-readable report has"));
  EXPECT_TRUE(contains(render_machine(report), "filesystem.read.allow[999]"));
}

// A call that was answered for compatibility is no denial, and is not passed over either.
TEST(ReportTextTest, AnAnswerForCompatibilityIsNeitherADenialNorNothing) {
  Records run = sample_run();
  schema::Event compat = denied_ptrace();
  compat.cause = schema::DecisionCause::kCompat;
  compat.rule = "compat.clone3";
  set_events(run, {compat});
  const std::string text = render_human(report_of(run));
  EXPECT_TRUE(contains(text, "1 answered ENOSYS for the caller to fall back (compat)")) << text;
  EXPECT_TRUE(contains(text, "syscall: no denial was recorded")) << text;
  EXPECT_FALSE(contains(text, "nothing of this domain was decided")) << text;
  compat.outcome = schema::DecisionOutcome::kAllowed;
  set_events(run, {compat});
  EXPECT_TRUE(contains(render_human(report_of(run)), "1 allowed (compat)"));
}

TEST(ReportTextTest, LostEventsMakeCountsLowerBounds) {
  Records run = sample_run();
  EXPECT_FALSE(contains(render_human(report_of(run)), "lower bounds"));
  body_of<schema::RunClosed>(run).channel.dropped = 2;
  EXPECT_TRUE(contains(render_human(report_of(run)), "2 events lost; the counts are lower bounds"));
  remove_kind<schema::RunClosed>(run);
  EXPECT_TRUE(contains(render_human(report_of(run)), "how many events are missing is not known"));
}

TEST(ReportTextTest, APreviewClaimsNothingThatWasShown) {
  const std::string text = render_human(report_of(sample_preview()));
  EXPECT_TRUE(contains(text, "pre_launch: no program has started"));
  for (const char* word :
       {"denied_before_execution", "evaluated", "proved", "boundary installed"}) {
    EXPECT_FALSE(contains(text, word)) << word;
  }
}

TEST(ReportTextTest, AnInterruptedRunSaysThatItsEndMayBeMissing) {
  Records run = sample_run();
  remove_kind<schema::RunClosed>(run);
  append(run, schema::RunRecovered{"process.exited", true});
  EXPECT_TRUE(contains(render_human(report_of(run)), "last 250 ms of events may be missing"));
}

TEST(ReportTextTest, AnEmptyRequestIsWarnedAbout) {
  Records run = sample_preview();
  EXPECT_FALSE(contains(render_human(report_of(run)), "WARNING"));
  body_of<schema::PolicyResolved>(run).requirements.clear();
  EXPECT_TRUE(contains(render_human(report_of(run)), "WARNING: policy requests nothing"));
}

struct AuthorityRow {
  const char* why;
  CredentialNames names;
  bool credential_stated;
  bool environment_installed;
  bool least;
};

TEST(ReportTextTest, LeastAuthorityNeedsAStatedAndInstalledEnvironment) {
  const std::vector<AuthorityRow> rows = {
      {"as it should be", {{"B"}, {"PATH"}, {}}, true, true, true},
      {"a name no policy names", {{}, {}, {"KUBECONFIG"}}, true, true, false},
      {"removed and delegated at once", {{"PATH"}, {"PATH"}, {}}, true, true, false},
      {"not stated", {}, false, true, false},
      {"not installed", {}, true, false, false},
  };
  for (const AuthorityRow& row : rows) {
    SCOPED_TRACE(row.why);
    Records run = sample_run();
    if (!row.credential_stated) {
      std::erase_if(body_of<schema::PolicyResolved>(run).requirements,
                    [](const auto& one) { return one.domain == Domain::kCredential; });
    }
    body_of<schema::ControlPrepared>(run).controls.at(3).installed = row.environment_installed;
    RunFacts facts = facts_of(run);
    facts.set_credentials(row.names);
    const IsolationReport report = build_report(facts, derive(facts), "");
    EXPECT_EQ(report.least_authority, row.least);
    EXPECT_EQ(report.least_authority_reasons.empty(), row.least);
  }
}

TEST(ReportTextTest, NoTextFromOutsideMakesALineOfItsOwn) {
  const IsolationReport hostile = report_of(hostile_run());
  const auto values = machine_values(hostile);  // fails on a forged or doubled key
  EXPECT_EQ(values.at("posture"), "degraded");
  const std::string human = render_human(hostile);
  const std::vector<std::string> lines = lines_of(human);
  EXPECT_EQ(std::count(lines.begin(), lines.end(), "--- execution isolation ---"), 1);
  const std::string summary = render_summary(hostile);
  const std::vector<std::string> screen = lines_of(summary);
  EXPECT_LE(screen.size(), 24U) << summary;
  EXPECT_EQ(std::count_if(screen.begin(), screen.end(),
                          [](const std::string& one) { return one.rfind("---", 0) == 0; }),
            1);
  for (const std::string& text : {human, render_machine(hostile), summary}) {
    EXPECT_TRUE(schema::is_valid_utf8(text));
    EXPECT_FALSE(contains(text, "\x1b"));
    EXPECT_FALSE(contains(text, "\r"));
    EXPECT_FALSE(contains(text, "\u202e"));
    for (const std::string& line : lines_of(text)) {
      EXPECT_NE(line.rfind("posture=ready", 0), 0U);
    }
  }
}

TEST(ReportTextTest, EveryJsonReportParsesAndIsCanonical) {
  for (const NamedReport& sample : report_samples()) {
    SCOPED_TRACE(sample.name);
    const std::string text = schema::json_write(render_json(sample.report));
    const auto parsed = schema::json_parse(text);
    ASSERT_TRUE(parsed.has_value()) << parsed.error().message();
    EXPECT_TRUE(schema::json_is_canonical(text, *parsed));
  }
}

TEST(ReportTextTest, TheSameRecordsGiveTheSameBytes) {
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(render_human(report_of(sample_run())), render_human(report_of(sample_run())));
    EXPECT_EQ(render_machine(report_of(hostile_run())), render_machine(report_of(hostile_run())));
  }
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return text;
}

TEST(ReportTextTest, NoRenderingPromisesAbsolutes) {
  const std::vector<std::string> banned = {
      "catch everything", "catch-all",    "cannot be bypassed", "unbypassable",
      "nowhere to hide",  "every action", "every tool call",    "immutable",
      "full fleet",       "whole fleet",  "universal",          "comprehensive",
      "fully protected",  "guaranteed",   "completely"};
  for (const NamedReport& sample : report_samples()) {
    SCOPED_TRACE(sample.name);
    for (const std::string& text :
         {render_summary(sample.report), render_human(sample.report), render_machine(sample.report),
          schema::json_write(render_json(sample.report))}) {
      for (const std::string& phrase : banned) {
        EXPECT_FALSE(contains(lower(text), phrase)) << phrase;
      }
    }
  }
}

TEST(ReportTextTest, TheWordCompleteStandsOnlyAsAChannelState) {
  const std::string text = lower(render_human(report_of(sample_run())));
  std::size_t at = 0;
  std::size_t found = 0;
  while ((at = text.find("complete", at)) != std::string::npos) {
    const std::string rest = text.substr(at, std::string("complete\n").size());
    EXPECT_EQ(rest, "complete\n") << "the last column of the table";
    ++found;
    at += rest.size();
  }
  EXPECT_EQ(found, 1U);
}

}  // namespace
}  // namespace aasm::claims::test
