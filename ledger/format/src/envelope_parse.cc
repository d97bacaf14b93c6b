#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "aasm/ledger_format/envelope.h"
#include "aasm/ledger_format/origin.h"
#include "aasm/schema/json_parse.h"
#include "aasm/schema/time.h"

#include "envelope_rules.h"
#include "json_shape.h"
#include "text.h"

namespace aasm::ledger_format {
namespace {

using schema::JsonValue;

// nullopt means that the step found nothing wrong.
using Finding = std::optional<PayloadFault>;

constexpr std::array<std::string_view, 4> kStatementMembers = {"_type", "subject", "predicateType",
                                                               "predicate"};
constexpr std::array<std::string_view, 2> kPredicateMembers = {"aasm", "body"};
constexpr std::array<std::string_view, 10> kEnvelopeMembers = {
    "v", "log", "seq", "prev", "run", "kind", "wall", "mono_ns", "boot", "key"};
constexpr std::array<std::string_view, 2> kSubjectMembers = {"name", "digest"};
constexpr std::array<std::string_view, 1> kDigestMembers = {"sha256"};

PayloadFault fault(EnvelopeFault code, std::string detail) {
  return {code, std::move(detail)};
}

Finding check_object(const JsonValue& value, std::span<const std::string_view> names,
                     std::string_view what) {
  const std::optional<detail::ShapeProblem> problem = detail::check_shape(value, names);
  if (!problem) {
    return std::nullopt;
  }
  EnvelopeFault code = EnvelopeFault::kNotAnObject;
  switch (problem->fault) {
    case detail::ShapeFault::kNotAnObject:
      break;
    case detail::ShapeFault::kUnknownMember:
      code = what == "aasm" ? EnvelopeFault::kUnknownMemberInAasm : EnvelopeFault::kUnknownMember;
      break;
    case detail::ShapeFault::kMissingMember:
      code = EnvelopeFault::kMissingMember;
      break;
  }
  return fault(code, detail::describe(*problem, what));
}

// Reads the members of `aasm` one by one into an Envelope; check_object() has found them present.
class EnvelopeReader {
 public:
  explicit EnvelopeReader(const JsonValue& aasm) : aasm_(aasm) {}

  Finding read(Envelope& out);

 private:
  // The string member `name`, or a finding in `finding_`.
  std::string_view text(std::string_view name);
  // The integer member `name`, or a finding in `finding_`.
  std::int64_t integer(std::string_view name);
  // Records `code` for `name` unless `good` or something was found before.
  void require(bool good, EnvelopeFault code, std::string_view name);

  void read_position(Envelope& out);
  void read_run(Envelope& out);
  void read_clocks(Envelope& out);

  const JsonValue& aasm_;
  Finding finding_;
};

std::string_view EnvelopeReader::text(std::string_view name) {
  const std::string* value = aasm_.find(name)->as_string();
  require(value != nullptr, EnvelopeFault::kWrongMemberType, name);
  return value == nullptr ? std::string_view() : std::string_view(*value);
}

std::int64_t EnvelopeReader::integer(std::string_view name) {
  const std::int64_t* value = aasm_.find(name)->as_int();
  require(value != nullptr, EnvelopeFault::kWrongMemberType, name);
  return value == nullptr ? 0 : *value;
}

void EnvelopeReader::require(bool good, EnvelopeFault code, std::string_view name) {
  if (!good && !finding_) {
    const std::string_view what = code == EnvelopeFault::kWrongMemberType
                                      ? "of the wrong type"
                                      : "not in its one spelling or range";
    finding_ = fault(code, "aasm member " + std::string(name) + " is " + std::string(what));
  }
}

template <class Hash>
bool read_hash(std::string_view text, Hash& out) {
  const schema::Result<Hash> hash = Hash::from_hex_text(text);
  if (hash) {
    out = *hash;
  }
  return hash.has_value();
}

void EnvelopeReader::read_position(Envelope& out) {
  require(integer("v") == kEnvelopeVersion, EnvelopeFault::kBadVersion, "v");
  out.origin = text("log");
  require(check_origin(out.origin).has_value(), EnvelopeFault::kBadOrigin, "log");
  const std::int64_t seq = integer("seq");
  require(seq >= 0, EnvelopeFault::kBadSeq, "seq");
  out.seq = seq < 0 ? 0 : static_cast<std::uint64_t>(seq);
  require(read_hash(text("prev"), out.prev), EnvelopeFault::kBadPrev, "prev");
}

void EnvelopeReader::read_run(Envelope& out) {
  const std::string_view run = text("run");
  if (!run.empty()) {
    const schema::Result<schema::RunId> id = schema::RunId::parse(run);
    require(id.has_value(), EnvelopeFault::kBadRun, "run");
    out.run = id ? *id : schema::RunId();
  }
  out.kind = text("kind");
  require(is_kind_token(out.kind), EnvelopeFault::kBadKind, "kind");
  require(detail::run_fits(out.kind, !run.empty()), EnvelopeFault::kBadRun, "run");
}

void EnvelopeReader::read_clocks(Envelope& out) {
  const schema::Result<std::int64_t> wall = schema::parse_wall(text("wall"));
  require(wall.has_value(), EnvelopeFault::kBadWall, "wall");
  out.wall_ns = wall ? *wall : 0;
  const std::optional<std::uint64_t> mono = detail::parse_decimal(text("mono_ns"));
  require(mono.has_value(), EnvelopeFault::kBadMono, "mono_ns");
  out.mono_ns = mono.value_or(0);
  out.boot = text("boot");
  require(detail::is_boot_id(out.boot), EnvelopeFault::kBadBoot, "boot");
}

Finding EnvelopeReader::read(Envelope& out) {
  read_position(out);
  read_run(out);
  read_clocks(out);
  require(read_hash(text("key"), out.key), EnvelopeFault::kBadKey, "key");
  return finding_;
}

// The statement's `_type` and `predicateType`.
Finding check_types(const JsonValue& statement, const Envelope& envelope) {
  const std::string* type = statement.find("_type")->as_string();
  if (type == nullptr || *type != kStatementType) {
    return fault(EnvelopeFault::kBadType, "_type is not the in-toto Statement v1");
  }
  const std::string* predicate = statement.find("predicateType")->as_string();
  if (predicate == nullptr || *predicate != predicate_type(envelope.kind)) {
    return fault(EnvelopeFault::kBadPredicateType, "predicateType does not belong to the kind");
  }
  return std::nullopt;
}

Finding check_subject(const JsonValue& subject, const Envelope& envelope) {
  const JsonValue::Array* entries = subject.as_array();
  if (entries == nullptr || entries->size() != 1) {
    return fault(EnvelopeFault::kBadSubject, "subject is not a list of one entry");
  }
  const JsonValue& entry = entries->front();
  if (Finding finding = check_object(entry, kSubjectMembers, "the subject")) {
    return finding;
  }
  const std::string* name = entry.find("name")->as_string();
  if (name == nullptr || *name != "run") {
    return fault(EnvelopeFault::kBadSubject, "the subject is not named run");
  }
  const JsonValue& digest = *entry.find("digest");
  if (Finding finding = check_object(digest, kDigestMembers, "the subject's digest")) {
    return finding;
  }
  const std::string* sha256 = digest.find("sha256")->as_string();
  if (sha256 == nullptr) {
    return fault(EnvelopeFault::kBadSubject, "the subject's digest is no string");
  }
  if (*sha256 != subject_digest(envelope.origin, envelope.run).hex()) {
    return fault(EnvelopeFault::kSubjectMismatch,
                 "the subject's digest is not that of log and run");
  }
  return std::nullopt;
}

Finding read_statement(const JsonValue& value, Statement& out) {
  if (Finding finding = check_object(value, kStatementMembers, "the statement")) {
    return finding;
  }
  const JsonValue& predicate = *value.find("predicate");
  if (Finding finding = check_object(predicate, kPredicateMembers, "the predicate")) {
    return finding;
  }
  const JsonValue& aasm = *predicate.find("aasm");
  if (Finding finding = check_object(aasm, kEnvelopeMembers, "aasm")) {
    return finding;
  }
  if (Finding finding = EnvelopeReader(aasm).read(out.envelope)) {
    return finding;
  }
  if (Finding finding = check_types(value, out.envelope)) {
    return finding;
  }
  if (Finding finding = check_subject(*value.find("subject"), out.envelope)) {
    return finding;
  }
  const JsonValue& body = *predicate.find("body");
  if (body.as_object() == nullptr) {
    return fault(EnvelopeFault::kNotAnObject, "body is no object");
  }
  return std::nullopt;
}

// The body of a statement that read_statement() took.
JsonValue take_body(JsonValue& statement) {
  const auto member = [](JsonValue& object, std::string_view name) -> JsonValue& {
    JsonValue::Object& members = *object.as_object();
    return std::find_if(members.begin(), members.end(),
                        [name](const auto& one) { return one.first == name; })
        ->second;
  };
  return std::move(member(member(statement, "predicate"), "body"));
}

}  // namespace

std::variant<Statement, PayloadFault> parse_payload(std::string_view payload) {
  if (payload.size() > schema::kPayloadMaxBytes) {
    return fault(EnvelopeFault::kTooLarge,
                 "more than " + std::to_string(schema::kPayloadMaxBytes) + " bytes");
  }
  std::optional<JsonValue> value = schema::json_parse_canonical(payload);
  Statement statement;
  statement.canonical = value.has_value();
  if (!value) {
    schema::Result<JsonValue> parsed = schema::json_parse(payload);
    if (!parsed) {
      return fault(EnvelopeFault::kMalformedJson, parsed.error().message());
    }
    statement.canonical = schema::json_is_canonical(payload, *parsed);
    value = std::move(*parsed);
  }
  if (Finding finding = read_statement(*value, statement)) {
    return *std::move(finding);
  }
  if (!statement.canonical && parse_record_kind(statement.envelope.kind)) {
    return fault(EnvelopeFault::kNoncanonical, "not in RFC 8785 form");
  }
  statement.body = take_body(*value);
  return statement;
}

}  // namespace aasm::ledger_format
