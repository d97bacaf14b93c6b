#include "aasm/ledger_format/envelope.h"

#include <algorithm>
#include <optional>

#include "aasm/crypto/hash.h"
#include "aasm/ledger_format/origin.h"
#include "aasm/schema/json_check.h"
#include "aasm/schema/json_write.h"
#include "aasm/schema/record.h"
#include "aasm/schema/time.h"

#include "envelope_rules.h"
#include "text.h"

namespace aasm::ledger_format {
namespace {

// Levels and members of the profile that the frame takes from the body's: statement and predicate,
// and the members of these, of `aasm` and of the subject.
constexpr std::size_t kFrameDepth = 2;
constexpr std::size_t kFrameMembers = 4 + 2 + 10 + 1 + 2 + 1;
constexpr std::size_t kFrameBytes = 640;  // about what the frame takes beside the origin
constexpr schema::JsonRoom kBodyRoom{schema::kJsonMaxDepth - kFrameDepth,
                                     schema::kJsonMaxMembers - kFrameMembers};

// The statement in RFC 8785 form, its members in order. Written here and not by json_write() is
// only what check_parts() holds to characters that stand in a JSON text as they are, and hex and
// decimal digits.
std::string statement_text(const Envelope& envelope, const schema::JsonValue& body) {
  const std::string body_text = schema::json_write(body);
  std::string text;
  text.reserve(kFrameBytes + envelope.origin.size() + body_text.size());
  const auto put = [&text](std::string_view before, std::string_view value) {
    text += before;
    text += value;
  };
  put(R"({"_type":")", kStatementType);
  put(R"(","predicate":{"aasm":{"boot":")", envelope.boot);
  put(R"(","key":")", envelope.key.hex());
  put(R"(","kind":")", envelope.kind);
  put(R"(","log":")", envelope.origin);
  put(R"(","mono_ns":")", std::to_string(envelope.mono_ns));
  put(R"(","prev":")", envelope.prev.hex());
  put(R"(","run":")", envelope.run.text());
  put(R"(","seq":)", std::to_string(envelope.seq));
  put(R"(,"v":)", std::to_string(kEnvelopeVersion));
  put(R"(,"wall":")", schema::format_wall(envelope.wall_ns));
  put(R"("},"body":)", body_text);
  put(R"(},"predicateType":")", predicate_type(envelope.kind));
  put(R"(","subject":[{"digest":{"sha256":")", subject_digest(envelope.origin, envelope.run).hex());
  text += R"("},"name":"run"}]})";
  return text;
}

#ifndef NDEBUG
schema::Result<void> readable(std::string_view payload) {
  const std::variant<Statement, PayloadFault> read = parse_payload(payload);
  const auto* fault = std::get_if<PayloadFault>(&read);
  return fault == nullptr ? schema::Result<void>() : detail::invalid("payload: " + fault->detail);
}
#endif

// The writer checks the profile as the verifier will: what we could not read is never signed. The
// envelope is held to the rules that reading it has, and of the body, json_check() says what
// reading its text would say. That this comes to the same as reading the whole is what debug builds
// check for every payload, and tests for every kind of record, every rule and every limit.
schema::Result<void> check_parts(const Envelope& envelope, const schema::JsonValue& body) {
  const bool good = check_origin(envelope.origin).has_value() && is_kind_token(envelope.kind) &&
                    detail::run_fits(envelope.kind, !envelope.run.empty()) &&
                    detail::is_boot_id(envelope.boot) && envelope.wall_ns >= 0 &&
                    envelope.seq <= static_cast<std::uint64_t>(schema::kJsonMaxInteger);
  if (!good) {
    return detail::invalid("payload: origin, kind, run, boot, clock or number out of bounds");
  }
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
  const std::string_view whose = run.empty() ? "ledger" : std::string_view(run.text());
  return crypto::sha256_of({schema::as_bytes("aasm.subject.v1\n"), schema::as_bytes(origin),
                            schema::as_bytes("\n"), schema::as_bytes(whose)});
}

namespace detail {

bool is_boot_id(std::string_view text) {
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
  });
}

bool run_fits(std::string_view kind, bool has_run) {
  if (has_run) {
    return !schema::is_ledger_kind(kind);
  }
  return schema::is_ledger_kind(kind) || !parse_record_kind(kind);
}

}  // namespace detail

schema::Result<std::string> build_payload(const Envelope& envelope, const schema::JsonValue& body) {
  AASM_TRY(check_parts(envelope, body));
  std::string payload = statement_text(envelope, body);
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
