#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "aasm/ledger_format/kind.h"
#include "aasm/schema/digest.h"
#include "aasm/schema/json_value.h"
#include "aasm/schema/result.h"
#include "aasm/schema/uuid.h"

// The payload of a record: an in-toto Statement v1 whose predicate has the members `aasm` (the
// envelope, the same for every kind) and `body`. docs/spec/ledger-format.md section 2. Pure.
namespace aasm::ledger_format {

inline constexpr std::string_view kStatementType = "https://in-toto.io/Statement/v1";
inline constexpr std::int64_t kEnvelopeVersion = 1;

struct Envelope {
  std::string origin;  // "log" in the JSON
  std::uint64_t seq = 0;
  schema::LeafHash prev;
  schema::RunId run;          // empty for ledger kinds
  std::string kind;           // a token; parse_record_kind() tells whether it is known
  std::int64_t wall_ns = 0;   // UTC, nanoseconds since the epoch; orders nothing
  std::uint64_t mono_ns = 0;  // the monotonic clock of that boot; orders nothing
  std::string boot;           // the kernel's boot id, 1 to 64 bytes of [A-Za-z0-9-]
  schema::KeyId key;

  bool operator==(const Envelope&) const = default;
};

struct Statement {
  Envelope envelope;
  schema::JsonValue body;  // an object
  // False when re-emission differs from the stored bytes. parse_payload() lets that through for
  // unknown kinds only.
  bool canonical = true;
};

// The subject's digest: SHA-256("aasm.subject.v1\n" || origin || "\n" || run id or "ledger").
schema::Sha256 subject_digest(std::string_view origin, const schema::RunId& run);

// The payload bytes to sign and store. kInvalidArgument when a field breaks the format (bad origin,
// seq past 2^53-1, run missing or superfluous for the kind, body no object),
// kResourceExhausted past schema::kPayloadMaxBytes. What it returns parses back to an equal
// statement. Precondition (of json_write): strings in `body` are valid UTF-8.
schema::Result<std::string> build_payload(const Envelope& envelope, const schema::JsonValue& body);

// Why stored bytes are no payload of ours. Only the first thing found is reported: size, JSON, the
// members of statement, predicate and `aasm`, the values in `aasm`, then types, subject and form.
enum class EnvelopeFault : std::uint8_t {
  kTooLarge,             // more than schema::kPayloadMaxBytes
  kMalformedJson,        // not profile aasm-json-1
  kNotAnObject,          // the top value, the predicate, `aasm`, `body` or a subject entry
  kUnknownMember,        // in the statement, the subject or the predicate
  kUnknownMemberInAasm,  // in the envelope
  kMissingMember,
  kWrongMemberType,  // a member of another JSON type than the format says
  kBadType,          // `_type`
  kBadVersion,       // `v`
  kBadOrigin,        // `log` fails check_origin()
  kBadSeq,
  kBadPrev,
  kBadRun,  // neither empty nor a UUIDv7, or not what the kind demands
  kBadKind,
  kBadWall,  // the spelling; the value never fails a record
  kBadMono,
  kBadBoot,
  kBadKey,
  kBadPredicateType,
  kBadSubject,  // not one entry named "run" with one sha256 digest
  kSubjectMismatch,
  kNoncanonical,  // known kinds only
};
std::string_view to_string(EnvelopeFault fault);  // "malformed_json", "subject_mismatch", ...

struct PayloadFault {
  EnvelopeFault fault;
  std::string detail;  // for a person; holds no raw bytes of the payload
};

// Parses stored payload bytes. A verdict, not an Error: bad bytes are a finding about the ledger.
std::variant<Statement, PayloadFault> parse_payload(std::string_view payload);

}  // namespace aasm::ledger_format
