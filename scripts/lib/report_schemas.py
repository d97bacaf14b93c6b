"""JSON Schemas (draft 2020-12) of what `aasm run` prints: the report, a dry run, a refusal.

Parts that are records come from the record headers; what the report adds is listed here, and every list
is held against the description in verifier/claims that writes it.
"""

import json
import re

from record_headers import ROOT
from record_schemas import DIALECT, PLAIN, Bodies

CLAIMS = ROOT / "verifier/claims"
REPORT, DRY_RUN, REFUSAL = (f"urn:aasm:schema:{name}:v1" for name in ("report", "dry-run", "refusal"))
MADE_BY = "Made by scripts/gen-record-docs; do not edit."

# Object to its members: JSON name and C++ type, in order. A name in capitals is an object of this table.
OBJECTS = {
    "REPORT": [
        ("schema", '"aasm.isolation.report/1"'), ("stage", "ReportStage"), ("claims_rules", "std::string"),
        ("claims_rules_known", "bool"), ("posture", "ReportedPosture"), ("posture_detail", "std::string"), ("run", "RUN"),
        ("plan", "PLAN"), ("domains", "std::vector<DOMAIN>"), ("authority", "AUTHORITY"), ("policy", "POLICY"),
        ("witness", "std::optional<WITNESS>"), ("contradictions", "std::vector<CONTRADICTION>"),
        ("open_questions", "std::vector<OpenQuestion>")],
    "RUN": [
        ("id", "std::string"), ("state", "RunState"), ("program_started", "bool"), ("program_may_have_run", "bool"),
        ("exit_cause", "std::optional<ExitCause>"), ("exit_status", "std::optional<std::int64_t>"),
        ("exit_signal", "std::optional<std::int64_t>"), ("channel", "CHANNEL"), ("identity", "AgentIdentity"),
        ("session_id", "std::string"), ("trace_id", "std::string"), ("target_program", "PathBytes"),
        ("target_arg_count", "std::int64_t"), ("isolation", "std::string"), ("enforcement_mode", "std::string")],
    "PLAN": [
        ("backend", "std::optional<BackendIdentity>"), ("backend_unavailable", "std::string"), ("experimental", "bool"),
        ("selection", "std::optional<SelectionMode>"), ("candidates", "std::vector<Candidate>"), ("digest", "std::optional<Sha256>"),
        ("refusals", "std::vector<Refusal>")],
    "AUTHORITY": [
        ("least_authority", "bool"), ("reasons", "std::vector<std::string>"), ("credentials", "CREDENTIALS"),
        ("credential_contradictions", "std::vector<std::string>"), ("descriptors", "std::optional<std::vector<std::int64_t>>"),
        ("ambient", "std::optional<AmbientAuthority>")],
    "POLICY": [("source", "PathBytes"), ("gaps", "std::vector<std::string>"), ("unmapped", "std::vector<std::string>")],
    "DOMAIN": [
        ("domain", "Domain"), ("requested", "RequestedControl"), ("requested_detail", "std::string"), ("state", "ControlState"),
        ("state_detail", "std::string"), ("claim", "CLAIM"), ("denied_actions", "std::int64_t"),
        ("denied_by_rule", "std::vector<RULE_COUNT>"), ("evaluated_actions", "std::int64_t"),
        ("uncounted_denials", "std::vector<UNCOUNTED>"), ("decisions", "std::vector<DECISIONS>"), ("denials", "std::vector<DENIAL>"),
        ("denials_ungrouped", "std::int64_t"), ("observations", "std::int64_t"), ("unlisted_actions", "std::optional<std::int64_t>"),
        ("detector", "std::string"), ("basis", "Basis"), ("boundary", "BoundaryState"), ("boundary_reason", "std::string"), ("channel", "CHANNEL"), ("channel_scope", "std::string"),
        ("planned", "std::string"), ("achieved", "std::string"), ("closed_by_self_protection", "std::vector<std::string>"),
        ("policy_gaps", "std::vector<std::string>")],
    "CREDENTIALS": [(name, "std::vector<std::string>") for name in ("removed", "delegated", "ambient_unremoved")],
    "CHANNEL": [("state", "ChannelState"), ("number", "std::int64_t")],
    "RULE_COUNT": [("rule", "std::string"), ("actions", "std::int64_t")],
    "UNCOUNTED": [("failed", "Conjunct"), ("actions", "std::int64_t")],
    "DECISIONS": [("outcome", "DecisionOutcome"), ("cause", "DecisionCause"), ("actions", "std::int64_t")],
    "DENIAL": [
        ("operation", "std::string"), ("cause", "DecisionCause"), ("rule", "std::string"), ("line", "std::optional<std::int64_t>"),
        ("column", "std::optional<std::int64_t>"), ("actions", "std::int64_t"), ("examples", "std::vector<EXAMPLE>")],
    "EXAMPLE": [
        ("object", "EventObject"), ("executable", "PathBytes"), ("pid", "std::int64_t"), ("errno", "std::int64_t"),
        ("actions", "std::int64_t")],
    "WITNESS": [
        ("standing", "WitnessStanding"), ("reason", "std::string"), ("heard", "std::int64_t"), ("account", "WitnessAccount"),
        ("missing", "std::int64_t"), ("compared", "bool"), ("denials", "std::vector<WitnessedDenial>"),
        ("unexplained", "std::vector<WitnessedDenial>")],
    "CONTRADICTION": [("code", "ContradictionCode"), ("count", "std::int64_t"), ("seq", "std::int64_t"), ("detail", "std::string")],
}
# Where the description of each stands.
SOURCES = {
    "REPORT": ("src/report_json.cc", "ReportView"), "RUN": ("src/report_json.cc", "RunView"),
    "PLAN": ("src/report_json.cc", "PlanView"), "AUTHORITY": ("src/report_json.cc", "AuthorityView"),
    "POLICY": ("src/report_json.cc", "PolicyView"), "DOMAIN": ("include/aasm/claims/report.h", "DomainReport"),
    "CREDENTIALS": ("include/aasm/claims/facts.h", "CredentialNames"), "CHANNEL": ("include/aasm/claims/claims.h", "ChannelView"),
    "RULE_COUNT": ("include/aasm/claims/claims.h", "RuleCount"), "UNCOUNTED": ("include/aasm/claims/claims.h", "UncountedDenials"),
    "DECISIONS": ("include/aasm/claims/claims.h", "DecisionCount"), "DENIAL": ("include/aasm/claims/denials.h", "DenialGroup"),
    "EXAMPLE": ("include/aasm/claims/denials.h", "DenialExample"),
    "WITNESS": ("include/aasm/claims/witness.h", "WitnessView"),
    "CONTRADICTION": ("include/aasm/claims/contradictions.h", "Contradiction"),
}
CLAIM_WORDS = ["not_stated", "not_derived"]  # beside the claim terms


def check_names():
    """Every list has the names, in order, that the program writes."""
    for name, (file, struct) in SOURCES.items():
        body = re.search(r"struct %s \{(.*?)\n\};" % struct, (CLAIMS / file).read_text(), re.S)[1]
        written = re.findall(r'v\.field\("([^"]+)"', body)
        listed = [member for member, _ in OBJECTS[name]]
        if written != listed:
            raise SystemExit(f"scripts/lib/report_schemas.py: {name} lists {listed} and {struct} writes {written}")


def claim_enums():
    found = {}
    for header in sorted((CLAIMS / "include/aasm/claims").glob("*.h")):
        for name, body in re.findall(r"struct aasm::schema::EnumNames<aasm::claims::(\w+)> \{(.*?)\n\};", header.read_text(), re.S):
            found[name] = (name, re.findall(r'::k\w+,\s*"([^"]+)"', body))
    return found


class Report(Bodies):
    """Schemas of what is printed: nothing but the described members."""

    def __init__(self, base):
        super().__init__(base)
        self.vocabulary = {**self.vocabulary, **claim_enums()}

    def type_schema(self, kind):
        if kind.startswith('"'):
            return {"const": kind.strip('"')}
        if kind == "CLAIM":
            return {"enum": self.vocabulary["ClaimTerm"][1] + CLAIM_WORDS}
        return super().type_schema(kind)

    def struct(self, name):
        if name not in OBJECTS:
            return super().struct(name) | {"additionalProperties": False}
        properties, required = {}, []
        for member, kind in OBJECTS[name]:
            optional = re.fullmatch(r"std::optional<(.+)>", kind)
            properties[member] = self.type_schema(optional[1] if optional else kind)
            if not optional:
                required.append(member)
        return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def document(base, title, schema, used):
    head = {"$schema": DIALECT, "$id": base, "title": title, "$comment": MADE_BY}
    return {**head, **schema, **({"$defs": dict(sorted(used.items()))} if used else {})}


def report_schema():
    parts = Report(REPORT)
    schema = parts.struct("REPORT")
    schema["properties"]["domains"] |= {"minItems": 9, "maxItems": 9}
    return document(REPORT, "the isolation report, as JSON", schema, parts.used)


def refusal_schema():
    parts = Report(REFUSAL)
    schema = parts.struct("Refusal")
    return document(REFUSAL, "one reason why a launch is refused", schema, parts.used)


def dry_run_schema():
    parts = Report(DRY_RUN)
    path = parts.type_schema("PathBytes")
    count = PLAIN["std::int64_t"] | {"minimum": 0}
    policy = {"state": parts.type_schema("PolicyState"), "source": path, "digest": PLAIN["Sha256"], "requirements": count}
    launch = {"working_dir": path, "program": path, "arg_count": count}
    texts = {"type": "array", "items": {"type": "string"}}
    properties = {
        "schema": {"const": "aasm.dry-run/1"}, "report": {"$ref": REPORT},
        "policy": closed(policy, [name for name in policy if name != "digest"]), "launch": closed(launch, list(launch)),
        "steps": texts, "warnings": texts}
    return document(DRY_RUN, "what a dry run prints with --format json", closed(properties, list(properties)), parts.used)


def closed(properties, required):
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def render():
    check_names()
    schemas = {"report": report_schema(), "dry-run": dry_run_schema(), "refusal": refusal_schema()}
    return {f"{name}.schema.json": json.dumps(schema, indent=1, ensure_ascii=True) + "\n" for name, schema in schemas.items()}
