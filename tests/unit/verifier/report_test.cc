#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "aasm/ledger_format/note.h"
#include "aasm/schema/json_parse.h"
#include "aasm/schema/json_write.h"
#include "aasm/schema/utf8.h"

#include "judge.h"
#include "support/temp_dir.h"

namespace aasm::verifier::test {
namespace {

// One report of every verdict.
std::vector<VerifyReport> one_of_each() {
  Forge forge;
  forge.add_short_run(1);
  std::vector<VerifyReport> reports = {verify_forged(forge)};
  Forge failed;
  failed.add_short_run(1);
  failed.at(2).signer = &failed.keys().log;
  reports.push_back(verify_forged(failed));
  Forge open;
  open.add_opened(1);
  reports.push_back(verify_forged(open));
  reports.push_back(verify(request_for("/dev/null", {})));
  return reports;
}

// Case L46.
TEST(JsonReportTest, ItIsWrittenForEveryVerdictAndGivesTheVerdictAlone) {
  const std::vector<VerifyReport> reports = one_of_each();
  const Verdict wanted[] = {Verdict::kVerified, Verdict::kFailed, Verdict::kInconclusive,
                            Verdict::kUnreadable};
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const VerifyReport& report = reports[i];
    EXPECT_EQ(report.verdict, wanted[i]);
    EXPECT_EQ(*value_at(report.json, "verdict")->as_string(), to_string(wanted[i]));
    EXPECT_EQ(number_at(report, "exit_status"), exit_status(wanted[i]));
    EXPECT_EQ(verdict_from_json(report.json), to_string(wanted[i]));
    const std::string text = schema::json_write(report.json);
    EXPECT_TRUE(schema::is_valid_utf8(text));
    const auto parsed = schema::json_parse(text);
    ASSERT_TRUE(parsed.has_value()) << parsed.error().message();
    for (const char* member : {"schema", "verdict", "exit_status", "target", "trust", "scope",
                               "coverage", "findings", "runs"}) {
      EXPECT_NE(parsed->find(member), nullptr) << member;
    }
  }
}

// Case L45.
TEST(TextReportTest, AFailureNamesCheckRecordExpectedActualAndMeaning) {
  Forge forge;
  forge.add_short_run(1);
  const aasm::test::TempDir dir;
  forge.write(dir.file("ledger.db"));
  doctor(dir.file("ledger.db"), "UPDATE records SET leaf=zeroblob(32) WHERE seq=2");
  const std::string text = verify(request_for(dir.file("ledger.db"), trust_in(forge.keys()))).text;
  const std::size_t check = text.find("leaf_mismatch (fails), 1 time");
  const std::size_t record = text.find("record 2", check);
  const std::size_t expected = text.find("expected ", record);
  const std::size_t actual = text.find("actual   00000000", expected);
  const std::size_t meaning = text.find("means: The stored hash is not that of", actual);
  EXPECT_NE(check, std::string::npos);
  EXPECT_NE(meaning, std::string::npos) << text;
}

// A file is not blamed for what was given beside it.
TEST(TextReportTest, TheLastSentenceSaysWhatFailed) {
  Forge forge;
  forge.add_short_run(1);
  const aasm::test::TempDir dir;
  forge.write(dir.file("ledger.db"));
  const VerifyRequest good = request_for(dir.file("ledger.db"), trust_in(forge.keys()));
  const auto last_line = [](const VerifyRequest& request) {
    const std::string text = verify(request).text;
    return text.substr(text.rfind('\n', text.size() - 2) + 1);
  };
  VerifyRequest foreign = good;
  foreign.trust = {};
  foreign.explicit_trust = true;
  EXPECT_EQ(last_line(foreign).find("This is another ledger"), 0U) << last_line(foreign);
  VerifyRequest compared = good;
  ledger_format::Note note = ledger_format::parse_note(forge.note(1)).value();
  note.signatures.front().signature[9] ^= 1U;
  compared.expect_head = ledger_format::format_note(note);
  EXPECT_EQ(last_line(compared).find("The file does not go with the note"), 0U)
      << last_line(compared);
  compared.expect_head = "no note";
  EXPECT_EQ(last_line(compared).find("What was given to compare with"), 0U) << last_line(compared);
  doctor(dir.file("ledger.db"), "UPDATE records SET leaf=zeroblob(32) WHERE seq=2");
  EXPECT_EQ(last_line(foreign).find("Do not rely on this file"), 0U) << last_line(foreign);
  EXPECT_EQ(last_line(good).find("Do not rely on this file"), 0U) << last_line(good);
}

TEST(TextReportTest, AnEndThatIsMissingPointsToTheSecondFile) {
  Forge forge;
  forge.add_opened(1);
  const aasm::test::TempDir dir;
  forge.write(dir.file("ledger.db"));
  const VerifyRequest request = request_for(dir.file("ledger.db"), trust_in(forge.keys()));
  const std::string note = "no ledger.db-wal is beside this file";
  EXPECT_NE(verify(request).text.find(note), std::string::npos);
  Forge closed;
  closed.add_short_run(1);
  const VerifyReport whole = verify_forged(closed);
  EXPECT_EQ(whole.verdict, Verdict::kVerified) << whole.text;
  EXPECT_EQ(whole.text.find(note), std::string::npos);
}

// Whatever the file or its path hold, a terminal gets no control character from it.
TEST(TextReportTest, ForeignTextIsEscaped) {
  Forge forge;
  schema::RunOpened body;
  body.identity.agent_id = "a\x1b]0;owned\x07\n--- fake ---\xe2\x80\xae";
  body.program = schema::PathBytes(std::string("/bin/\x1b[2J\xff"));
  body.run_key = forge.run_key(1).public_key();
  forge.add(1, body);
  forge.add_closed(1, 1);
  const aasm::test::TempDir dir;
  const std::string path = dir.file("led\x1b[31mger\xff.db");
  forge.write(path);
  VerifyRequest request = request_for(path, trust_in(forge.keys()));
  request.run = run_id(1).text();
  request.trust_source = "trust\x1b";
  const VerifyReport report = verify(request);
  EXPECT_EQ(report.verdict, Verdict::kVerified) << report.text;
  EXPECT_TRUE(schema::is_valid_utf8(report.text));
  for (const char c : report.text) {
    EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20U);
  }
  EXPECT_EQ(report.text.find("\n--- fake"), std::string::npos);
  EXPECT_EQ(report.text.find("\xe2\x80\xae"), std::string::npos);
  EXPECT_TRUE(schema::is_valid_utf8(schema::json_write(report.json)));
}

}  // namespace
}  // namespace aasm::verifier::test
