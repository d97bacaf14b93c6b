#include "aasm/ledger_format/envelope.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "aasm/ledger_format/pae.h"
#include "aasm/schema/json_parse.h"
#include "aasm/schema/json_write.h"

#include "../crypto/vectors.h"
#include "../schema/record_samples.h"

namespace aasm::ledger_format {
namespace {

using schema::ErrorCode;
using schema::JsonValue;

constexpr const char* kOrigin = "aasm.example/ledger/0123456789abcdef";
constexpr const char* kRun = "0190a6c2-7b3f-7e5d-8a11-2b3c4d5e6f70";

Envelope ledger_envelope() {
  Envelope envelope;
  envelope.origin = kOrigin;
  envelope.prev = genesis_prev(kOrigin);
  envelope.kind = "ledger.created";
  envelope.wall_ns = 1767323045123456789;
  envelope.mono_ns = 81234567890;
  envelope.boot = "5c2e0e3a-1f0d-4b55-9a6e-7d7c2f7f0a11";
  envelope.key =
      schema::KeyId::from_hex_text(test::text_at(test::ledger_vectors(), {"keys", "host", "keyid"}))
          .value();
  return envelope;
}

Envelope run_envelope() {
  Envelope envelope = ledger_envelope();
  envelope.seq = 1;
  envelope.kind = "run.opened";
  envelope.run = schema::RunId::parse(kRun).value();
  envelope.prev =
      schema::LeafHash::from_hex_text(
          test::text_at(test::ledger_vectors(), {"statements", "ledger_created", "leaf"}))
          .value();
  return envelope;
}

JsonValue empty_body() {
  return JsonValue::Object{};
}

std::string good_payload() {
  return build_payload(run_envelope(), empty_body()).value();
}

// `text` with the first `from` replaced, which must be there.
std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  if (at == std::string::npos) {
    ADD_FAILURE() << "nothing to replace: " << from;
    return text;
  }
  return text.replace(at, from.size(), to);
}

std::string fault_of(std::string_view payload) {
  const auto parsed = parse_payload(payload);
  const auto* fault = std::get_if<PayloadFault>(&parsed);
  return fault == nullptr ? "none" : std::string(to_string(fault->fault));
}

TEST(EnvelopeTest, BuildsTheBytesOfTheSecondImplementation) {
  const JsonValue vectors = test::ledger_vectors();
  const JsonValue body = JsonValue::Object{{"note", "first"}, {"n", std::int64_t{1}}};
  EXPECT_EQ(build_payload(ledger_envelope(), body).value(),
            test::text_at(vectors, {"statements", "ledger_created", "payload"}));
  EXPECT_EQ(good_payload(), test::text_at(vectors, {"statements", "run_opened", "payload"}));
}

TEST(EnvelopeTest, RecordsOfTheSecondImplementationHashAndVerify) {
  const JsonValue vectors = test::ledger_vectors();
  for (const char* name : {"ledger_created", "run_opened"}) {
    const std::string& payload = test::text_at(vectors, {"statements", name, "payload"});
    const schema::Bytes encoded = pae(schema::as_bytes(payload));
    EXPECT_EQ(leaf_hash(encoded).hex(), test::text_at(vectors, {"statements", name, "leaf"}));
    EXPECT_TRUE(crypto::verify(test::test_key(3).public_key(), encoded,
                               test::bytes_at(vectors, {"statements", name, "signature"})));
  }
}

TEST(EnvelopeTest, SubjectBelongsToOriginAndRun) {
  const JsonValue vectors = test::ledger_vectors();
  EXPECT_EQ(subject_digest(kOrigin, {}).hex(),
            test::text_at(vectors, {"statements", "subject_ledger"}));
  EXPECT_EQ(subject_digest(kOrigin, schema::RunId::parse(kRun).value()).hex(),
            test::text_at(vectors, {"statements", "subject_run"}));
}

TEST(EnvelopeTest, WhatIsBuiltParsesToTheSame) {
  const JsonValue body = JsonValue::Object{{"n", std::int64_t{7}}, {"later", true}};
  const auto parsed = parse_payload(build_payload(run_envelope(), body).value());
  const auto* statement = std::get_if<Statement>(&parsed);
  ASSERT_NE(statement, nullptr);
  EXPECT_EQ(statement->envelope, run_envelope());
  EXPECT_EQ(*statement->body.find("n"), *body.find("n"));
  EXPECT_TRUE(statement->canonical);
}

TEST(EnvelopeTest, ExtremeNumbersRoundTrip) {
  Envelope envelope = run_envelope();
  envelope.seq = 9007199254740991;
  envelope.mono_ns = ~0ULL;
  envelope.wall_ns = 0;
  const auto parsed = parse_payload(build_payload(envelope, empty_body()).value());
  ASSERT_TRUE(std::holds_alternative<Statement>(parsed));
  EXPECT_EQ(std::get<Statement>(parsed).envelope, envelope);
}

TEST(EnvelopeTest, BuildingRefusesFieldsThatBreakTheFormat) {
  struct Row {
    const char* why;
    Envelope envelope;
  };
  std::vector<Row> rows;
  const auto add = [&rows](const char* why, auto change) {
    rows.push_back({why, run_envelope()});
    change(rows.back().envelope);
  };
  add("origin", [](Envelope& e) { e.origin = "aasm.example"; });
  add("seq", [](Envelope& e) { e.seq = 9007199254740992; });
  add("run missing", [](Envelope& e) { e.run = {}; });
  add("run superfluous", [](Envelope& e) { e.kind = "key.rotated"; });
  add("kind", [](Envelope& e) { e.kind = "Run.opened"; });
  add("kind without a dot", [](Envelope& e) { e.kind = "opened"; });
  add("wall", [](Envelope& e) { e.wall_ns = -1; });
  add("boot empty", [](Envelope& e) { e.boot = ""; });
  add("boot with a space", [](Envelope& e) { e.boot = "a b"; });
  add("boot too long", [](Envelope& e) { e.boot = std::string(65, 'a'); });
  for (const Row& row : rows) {
    const schema::Result<std::string> result = build_payload(row.envelope, empty_body());
    ASSERT_FALSE(result) << row.why;
    EXPECT_EQ(result.error().code(), ErrorCode::kInvalidArgument) << row.why;
  }
  EXPECT_FALSE(build_payload(run_envelope(), JsonValue::Array{}));
  EXPECT_FALSE(build_payload(run_envelope(), JsonValue()));
}

// Building checks the envelope's values and not its text: both must say the same of every value.
TEST(EnvelopeTest, AnEnvelopeIsBuiltExactlyWhenItsTextParses) {
  const auto spelled = [](const char* member, const std::string& value) {
    const JsonValue whole = schema::json_parse(good_payload()).value();
    const std::string was = *whole.find("predicate")->find("aasm")->find(member)->as_string();
    const auto quoted = [member](const std::string& text) {
      return "\"" + std::string(member) + "\":" + schema::json_write(text);
    };
    return replaced(good_payload(), quoted(was), quoted(value));
  };
  const auto expect_same = [&](const char* member, const std::string& value, Envelope envelope) {
    const std::string fault = fault_of(spelled(member, value));
    // A changed origin has another subject: that it reads so far is what is compared.
    const bool reads = fault == "none" || fault == "subject_mismatch";
    EXPECT_EQ(build_payload(envelope, empty_body()).has_value(), reads) << member << " " << value;
  };
  std::vector<std::string> texts = {"", "a", "A-9", " ", "a b", "a.b", "A.b", "run.opened.x"};
  for (const std::size_t length : {63U, 64U, 65U, 66U, 255U, 256U, 257U}) {
    texts.push_back(std::string(length, 'a'));
    texts.push_back("aasm.example/ledger/0123456789abcde" + std::string(length, 'f'));
  }
  for (int c = 1; c < 128; ++c) {
    texts.push_back(std::string("x") + static_cast<char>(c) + "y");
    texts.push_back(std::string("aasm.example/ledger/0123456789abcde") + static_cast<char>(c));
  }
  for (const std::string& text : texts) {
    Envelope boot = run_envelope();
    boot.boot = text;
    expect_same("boot", text, boot);
    Envelope origin = run_envelope();
    origin.origin = text;
    expect_same("log", text, origin);
  }
}

TEST(EnvelopeTest, BuildingRefusesABodyOutsideTheProfile) {
  const JsonValue past = JsonValue::Object{{"n", schema::kJsonMaxInteger + 1}};
  EXPECT_EQ(build_payload(run_envelope(), past).error().code(), ErrorCode::kInvalidArgument);
  const JsonValue twice = JsonValue::Object{{"n", true}, {"n", true}};
  EXPECT_EQ(build_payload(run_envelope(), twice).error().code(), ErrorCode::kInvalidArgument);
  const JsonValue key = JsonValue::Object{{"a b", true}};
  EXPECT_EQ(build_payload(run_envelope(), key).error().code(), ErrorCode::kInvalidArgument);
}

TEST(EnvelopeTest, APayloadOfTheGreatestSizeIsBuiltAndOneByteMoreIsNot) {
  const std::size_t frame = build_payload(run_envelope(), JsonValue::Object{{"x", ""}})->size();
  const std::size_t room = schema::kPayloadMaxBytes - frame;
  const JsonValue fits = JsonValue::Object{{"x", std::string(room, 'x')}};
  EXPECT_EQ(build_payload(run_envelope(), fits)->size(), schema::kPayloadMaxBytes);
  const JsonValue past = JsonValue::Object{{"x", std::string(room + 1, 'x')}};
  const schema::Result<std::string> result = build_payload(run_envelope(), past);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), ErrorCode::kResourceExhausted);
}

// The payload with `body` in it, put together from text.
std::string spliced(const JsonValue& body) {
  return replaced(good_payload(), R"("body":{})", R"("body":)" + schema::json_write(body));
}

// Case L31.
TEST(EnvelopeTest, WhatIsBuiltParsesForEveryKindOfRecord) {
  for (const schema::RecordBody& body : schema::testing::sample_bodies()) {
    Envelope envelope = run_envelope();
    envelope.kind = schema::kind_of(body);
    if (schema::is_ledger_kind(envelope.kind)) {
      envelope.run = {};
    }
    const JsonValue json = schema::write_body(body);
    const std::string payload = build_payload(envelope, json).value();
    const auto parsed = parse_payload(payload);
    const auto* statement = std::get_if<Statement>(&parsed);
    ASSERT_NE(statement, nullptr) << envelope.kind;
    EXPECT_EQ(statement->envelope, envelope) << envelope.kind;
    EXPECT_EQ(schema::json_write(statement->body), schema::json_write(json)) << envelope.kind;
  }
}

TEST(EnvelopeTest, ABodyIsBuiltExactlyWhenItsPayloadParses) {
  // Levels and members at, before and past what the frame leaves of the profile's limits.
  std::vector<JsonValue> bodies;
  JsonValue deep = JsonValue::Object{};
  for (std::size_t level = 1; level <= schema::kJsonMaxDepth; ++level) {
    bodies.push_back(deep);
    deep = JsonValue::Object{{"k", deep}};
  }
  for (std::size_t members = schema::kJsonMaxMembers - 40; members <= schema::kJsonMaxMembers;
       ++members) {
    bodies.push_back(JsonValue::Object{{"k", JsonValue::Array(members, JsonValue(true))}});
  }
  bodies.push_back(JsonValue::Object{{"n", schema::kJsonMaxInteger + 1}});
  bodies.push_back(JsonValue::Object{{"n", true}, {"n", true}});
  bodies.push_back(JsonValue::Object{{"a b", true}});
  std::size_t built = 0;
  for (const JsonValue& body : bodies) {
    const std::string text = spliced(body);
    const schema::Result<std::string> payload = build_payload(run_envelope(), body);
    EXPECT_EQ(payload.has_value(), fault_of(text) == "none");
    if (payload) {
      EXPECT_EQ(*payload, text);
      ++built;
    }
  }
  EXPECT_GT(built, 40U);
  EXPECT_LT(built, bodies.size() - 20);
}

TEST(EnvelopeParseTest, EveryFaultHasItsOwnName) {
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(EnvelopeFault::kNoncanonical); ++i) {
    const std::string_view name = to_string(static_cast<EnvelopeFault>(i));
    EXPECT_FALSE(name.empty());
    names.insert(name);
  }
  EXPECT_EQ(names.size(), 22U);
}

TEST(EnvelopeParseTest, EachRowFailsForItsOneReason) {
  struct Row {
    const char* fault;
    std::string from;
    std::string to;
  };
  const std::string key_id = ledger_envelope().key.hex();
  const std::string subject = R"([{"digest":{"sha256":")" +
                              subject_digest(kOrigin, schema::RunId::parse(kRun).value()).hex() +
                              R"("},"name":"run"}])";
  const Row rows[] = {
      {"malformed_json", R"("body":{}})", R"("body":{})"},
      {"malformed_json", R"("v":1)", R"("v":1,"v":1)"},
      {"malformed_json", R"("seq":1)", R"("seq":1.0)"},
      {"malformed_json", R"("seq":1)", R"("seq":01)"},
      {"malformed_json", R"("seq":1)", R"("seq":9007199254740992)"},
      {"unknown_member", R"({"_type")", R"({"A":1,"_type")"},
      {"unknown_member", R"("body":{})", R"("body":{},"bodz":{})"},
      {"unknown_member", R"("name":"run")", R"("name":"run","name2":"run")"},
      {"unknown_member", R"("digest":{)", R"("digest":{"md5":"",)"},
      {"unknown_member_in_aasm", R"("v":1)", R"("v":1,"w":1)"},
      {"missing_member", R"("_type":"https://in-toto.io/Statement/v1",)", ""},
      {"missing_member", R"("body":{})", ""},
      {"missing_member", R"(,"v":1)", ""},
      {"missing_member", R"(,"name":"run")", ""},
      {"not_an_object", R"("body":{})", R"("body":[])"},
      {"not_an_object", R"("body":{})", R"("body":null)"},
      {"not_an_object", subject, R"(["run"])"},
      {"wrong_member_type", R"("v":1)", R"("v":"1")"},
      {"wrong_member_type", R"("seq":1)", R"("seq":"1")"},
      {"wrong_member_type", R"("mono_ns":"81234567890")", R"("mono_ns":81234567890)"},
      {"wrong_member_type", R"("kind":"run.opened")", R"("kind":["run.opened"])"},
      {"bad_type", "in-toto.io/Statement/v1", "in-toto.io/Statement/v2"},
      {"bad_type", R"("https://in-toto.io/Statement/v1")", "1"},
      {"bad_version", R"("v":1)", R"("v":2)"},
      {"bad_origin", R"("log":"aasm.)", R"("log":"aasm )"},
      {"bad_origin", R"("log":"aasm.)", R"("log":"DSSEv1.)"},
      {"bad_seq", R"("seq":1)", R"("seq":-1)"},
      {"bad_prev", R"("prev":")", R"("prev":"0)"},
      {"bad_run", R"("run":")", R"("run":"x)"},
      {"bad_run", "7b3f-7e5d", "7b3f-4e5d"},
      {"bad_run", R"("run":"0190a6c2-7b3f-7e5d-8a11-2b3c4d5e6f70")", R"("run":"")"},
      {"bad_kind", R"("kind":"run.opened")", R"("kind":"Run.opened")"},
      {"bad_kind", R"("kind":"run.opened")", R"("kind":"")"},
      {"bad_predicate_type", R"("kind":"run.opened")", R"("kind":"run.closed")"},
      {"bad_predicate_type", "run.opened:v1", "run.opened:v2"},
      {"bad_predicate_type", R"("urn:aasm:attestation:run.opened:v1")", "7"},
      {"bad_wall", "05.123456789Z", "05.12345678Z"},
      {"bad_wall", "2026-01-02T", "2026-13-02T"},
      {"bad_mono", R"("mono_ns":"8)", R"("mono_ns":"08)"},
      {"bad_mono", R"("mono_ns":"8)", R"("mono_ns":"-8)"},
      {"bad_mono", R"("81234567890")", R"("18446744073709551616")"},
      {"bad_boot", R"("boot":"5c2e0e3a-)", R"("boot":"5c2e0e3a )"},
      {"bad_key", R"("key":")" + key_id, R"("key":"A)" + key_id.substr(1)},
      {"bad_key", R"("key":")" + key_id, R"("key":")" + key_id.substr(1)},
      {"bad_subject", subject, "[]"},
      {"bad_subject", subject, "{}"},
      {"bad_subject", R"("name":"run")", R"("name":"Run")"},
      {"bad_subject", R"("name":"run")", R"("name":1)"},
      {"bad_subject", subject, R"([{"digest":{"sha256":1},"name":"run"}])"},
      {"subject_mismatch", R"("sha256":")", R"("sha256":"0)"},
      {"subject_mismatch", R"("log":"aasm.example)", R"("log":"basm.example)"},
      {"subject_mismatch", R"(-2b3c4d5e6f70")", R"(-2b3c4d5e6f71")"},
      {"noncanonical", R"("seq":1)", R"("seq": 1)"},
      {"noncanonical", R"("boot":"5c)", R"("boot":"\u0035c)"},
  };
  ASSERT_EQ(fault_of(good_payload()), "none");
  for (const Row& row : rows) {
    std::string payload = replaced(good_payload(), row.from, row.to);
    // Rows that take a member away may leave a comma behind.
    const std::size_t comma = payload.find("},}");
    if (comma != std::string::npos && std::string_view(row.fault) != "malformed_json") {
      payload.erase(comma + 1, 1);
    }
    EXPECT_EQ(fault_of(payload), row.fault) << row.from << " -> " << row.to;
  }
}

TEST(EnvelopeParseTest, OtherTopValuesAreNoStatement) {
  EXPECT_EQ(fault_of(""), "malformed_json");
  EXPECT_EQ(fault_of("[]"), "not_an_object");
  EXPECT_EQ(fault_of("null"), "not_an_object");
  EXPECT_EQ(fault_of("{}"), "missing_member");
  EXPECT_EQ(fault_of(good_payload() + "\n"), "noncanonical");
  EXPECT_EQ(fault_of(good_payload() + "{}"), "malformed_json");
  EXPECT_EQ(fault_of("\xEF\xBB\xBF" + good_payload()), "malformed_json");
  EXPECT_EQ(fault_of(std::string(schema::kPayloadMaxBytes + 1, ' ')), "too_large");
}

TEST(EnvelopeParseTest, TwoSubjectsAreRefused) {
  const std::string entry = R"({"digest":{"sha256":"x"},"name":"run"},)";
  EXPECT_EQ(fault_of(replaced(good_payload(), R"("subject":[)", R"("subject":[)" + entry)),
            "bad_subject");
}

TEST(EnvelopeParseTest, AnUnknownMemberOfTheBodyIsLeftToTheReaderOfTheBody) {
  const std::string payload = replaced(good_payload(), R"("body":{})", R"("body":{"future":1})");
  EXPECT_EQ(fault_of(payload), "none");
}

TEST(EnvelopeParseTest, AnUnknownKindParsesWithOrWithoutARun) {
  Envelope envelope = run_envelope();
  envelope.kind = "future.kind";
  EXPECT_EQ(fault_of(build_payload(envelope, empty_body()).value()), "none");
  envelope.run = {};
  EXPECT_EQ(fault_of(build_payload(envelope, empty_body()).value()), "none");
}

TEST(EnvelopeParseTest, AnUnknownKindOfTheLedgerHasNoRun) {
  Envelope envelope = run_envelope();
  for (const char* kind : {"ledger.pruned", "key.renamed"}) {
    envelope.kind = kind;
    envelope.run = run_envelope().run;
    EXPECT_FALSE(build_payload(envelope, empty_body()));
    envelope.run = {};
    EXPECT_EQ(fault_of(build_payload(envelope, empty_body()).value()), "none");
  }
}

TEST(EnvelopeParseTest, AnUnknownKindMayBeNoncanonicalAndSaysSo) {
  Envelope envelope = run_envelope();
  envelope.kind = "future.kind";
  const std::string spaced =
      replaced(build_payload(envelope, empty_body()).value(), R"("seq":1)", R"("seq": 1)");
  const auto parsed = parse_payload(spaced);
  ASSERT_TRUE(std::holds_alternative<Statement>(parsed));
  EXPECT_FALSE(std::get<Statement>(parsed).canonical);
  // The envelope of an unknown kind is as strict as any.
  EXPECT_EQ(fault_of(replaced(spaced, R"("v":1)", R"("v":1,"w":1)")), "unknown_member_in_aasm");
}

TEST(EnvelopeParseTest, EveryTruncationIsRefused) {
  const std::string payload = good_payload();
  for (std::size_t length = 0; length < payload.size(); ++length) {
    EXPECT_NE(fault_of(std::string_view(payload).substr(0, length)), "none") << length;
  }
}

}  // namespace
}  // namespace aasm::ledger_format
