#include "aasm/ledger_format/envelope.h"

#include <utility>

#include "aasm/crypto/hash.h"
#include "aasm/ledger_format/origin.h"
#include "aasm/schema/json_check.h"
#include "aasm/schema/json_write.h"
#include "aasm/schema/time.h"

#include "text.h"

namespace aasm::ledger_format {
namespace {

schema::JsonValue envelope_json(const Envelope& envelope) {
  return schema::JsonValue::Object{
      {"v", kEnvelopeVersion},
      {"log", envelope.origin},
      {"seq", static_cast<std::int64_t>(envelope.seq)},
      {"prev", envelope.prev.hex()},
      {"run", envelope.run.text()},
      {"kind", envelope.kind},
      {"wall", schema::format_wall(envelope.wall_ns)},
      {"mono_ns", std::to_string(envelope.mono_ns)},
      {"boot", envelope.boot},
      {"key", envelope.key.hex()},
  };
}

schema::JsonValue subject_json(const Envelope& envelope) {
  const std::string digest = subject_digest(envelope.origin, envelope.run).hex();
  schema::JsonValue::Object entry{{"name", "run"},
                                  {"digest", schema::JsonValue::Object{{"sha256", digest}}}};
  return schema::JsonValue::Array{std::move(entry)};
}

// The statement without its body, in RFC 8785 form: the members in order, each written on its own.
struct Frame {
  std::string before;
  std::string after;
};

// Levels and members of the profile that the frame takes from the body's: statement and predicate,
// and the members of these, of `aasm` and of the subject.
constexpr std::size_t kFrameDepth = 2;
constexpr std::size_t kFrameMembers = 4 + 2 + 10 + 1 + 2 + 1;
constexpr schema::JsonRoom kBodyRoom{schema::kJsonMaxDepth - kFrameDepth,
                                     schema::kJsonMaxMembers - kFrameMembers};

Frame frame_of(const Envelope& envelope) {
  const auto text = [](const schema::JsonValue& value) { return schema::json_write(value); };
  Frame frame;
  frame.before = R"({"_type":)" + text(kStatementType);
  frame.before += R"(,"predicate":{"aasm":)" + text(envelope_json(envelope)) + R"(,"body":)";
  frame.after = R"(},"predicateType":)" + text(predicate_type(envelope.kind));
  frame.after += R"(,"subject":)" + text(subject_json(envelope)) + "}";
  return frame;
}

schema::Result<void> readable(std::string_view payload) {
  const std::variant<Statement, PayloadFault> read = parse_payload(payload);
  if (const auto* fault = std::get_if<PayloadFault>(&read)) {
    const schema::ErrorCode code = fault->fault == EnvelopeFault::kTooLarge
                                       ? schema::ErrorCode::kResourceExhausted
                                       : schema::ErrorCode::kInvalidArgument;
    return schema::Error(code, "payload: " + fault->detail);
  }
  return {};
}

// The writer checks the profile as the verifier will: what we could not read is never signed. The
// frame is read back as it is; of the body, json_check() says what reading its text would say. That
// this comes to the same as reading the whole is what debug builds check for every payload, and
// tests for every kind of record and every limit.
schema::Result<void> check_parts(const Frame& frame, const schema::JsonValue& body) {
  AASM_TRY(readable(frame.before + "{}" + frame.after));
  const schema::Result<void> inside = body.as_object() != nullptr
                                          ? schema::json_check(body, kBodyRoom)
                                          : detail::malformed("body is no object");
  if (!inside) {
    return detail::invalid("payload: " + inside.error().message());
  }
  return {};
}

}  // namespace

schema::Sha256 subject_digest(std::string_view origin, const schema::RunId& run) {
  crypto::Sha256Hasher hasher;
  hasher.update(schema::as_bytes("aasm.subject.v1\n")).update(schema::as_bytes(origin));
  hasher.update(schema::as_bytes("\n"));
  return hasher.update(schema::as_bytes(run.empty() ? "ledger" : run.text())).finish();
}

schema::Result<std::string> build_payload(const Envelope& envelope, const schema::JsonValue& body) {
  // These would not survive the way into JSON, so the reading below could not find them.
  if (envelope.wall_ns < 0 || envelope.seq > static_cast<std::uint64_t>(schema::kJsonMaxInteger)) {
    return detail::invalid("payload: a clock before 1970 or a sequence number past 2^53-1");
  }
  const Frame frame = frame_of(envelope);
  AASM_TRY(check_parts(frame, body));
  std::string payload = frame.before + schema::json_write(body) + frame.after;
  if (payload.size() > schema::kPayloadMaxBytes) {
    return schema::Error(
        schema::ErrorCode::kResourceExhausted,
        "payload: more than " + std::to_string(schema::kPayloadMaxBytes) + " bytes");
  }
#ifndef NDEBUG
  AASM_TRY(readable(payload));
#endif
  return payload;
}

std::string_view to_string(EnvelopeFault fault) {
  switch (fault) {
    case EnvelopeFault::kTooLarge:
      return "too_large";
    case EnvelopeFault::kMalformedJson:
      return "malformed_json";
    case EnvelopeFault::kNotAnObject:
      return "not_an_object";
    case EnvelopeFault::kUnknownMember:
      return "unknown_member";
    case EnvelopeFault::kUnknownMemberInAasm:
      return "unknown_member_in_aasm";
    case EnvelopeFault::kMissingMember:
      return "missing_member";
    case EnvelopeFault::kWrongMemberType:
      return "wrong_member_type";
    case EnvelopeFault::kBadType:
      return "bad_type";
    case EnvelopeFault::kBadVersion:
      return "bad_version";
    case EnvelopeFault::kBadOrigin:
      return "bad_origin";
    case EnvelopeFault::kBadSeq:
      return "bad_seq";
    case EnvelopeFault::kBadPrev:
      return "bad_prev";
    case EnvelopeFault::kBadRun:
      return "bad_run";
    case EnvelopeFault::kBadKind:
      return "bad_kind";
    case EnvelopeFault::kBadWall:
      return "bad_wall";
    case EnvelopeFault::kBadMono:
      return "bad_mono";
    case EnvelopeFault::kBadBoot:
      return "bad_boot";
    case EnvelopeFault::kBadKey:
      return "bad_key";
    case EnvelopeFault::kBadPredicateType:
      return "bad_predicate_type";
    case EnvelopeFault::kBadSubject:
      return "bad_subject";
    case EnvelopeFault::kSubjectMismatch:
      return "subject_mismatch";
    case EnvelopeFault::kNoncanonical:
      return "noncanonical";
  }
  return {};
}

}  // namespace aasm::ledger_format
