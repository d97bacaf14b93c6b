"""JSON Schemas (draft 2020-12) of the record kinds and of the envelope, from what the headers say."""

import json
import re

from record_headers import KINDS, all_text, described, enums, structs
from record_rules import BYTES_COMMENT, COMMENTS, RULES

DIALECT = "https://json-schema.org/draft/2020-12/schema"
MAX_INTEGER = 2**53 - 1
MADE_BY = "Made by scripts/gen-record-docs; do not edit. Members that are not described are ignored by a reader."


def exactly(pattern):
    """The whole text: in some dialects `$` also stands before a newline at the end."""
    return f"^(?:{pattern})$(?!\\n)"


def up_to(limit):
    """A pattern for the decimal numbers 0..limit without leading zeros."""
    digits = str(limit)
    shorter = f"0|[1-9][0-9]{{0,{len(digits) - 2}}}"
    same = [digits[:i] + (f"[{'1' if i == 0 else '0'}-{int(digit) - 1}]" + f"[0-9]{{{len(digits) - 1 - i}}}")
            for i, digit in enumerate(digits) if int(digit) > (1 if i == 0 else 0)]
    return exactly("|".join([shorter, *same, digits]).replace("[0-9]{0}", ""))


BASE64 = exactly("(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?")
HEX32 = {"type": "string", "pattern": exactly("[0-9a-f]{64}")}
PLAIN = {
    "std::string": {"type": "string"},
    "std::int64_t": {"type": "integer", "minimum": -MAX_INTEGER, "maximum": MAX_INTEGER},
    "std::uint64_t": {"type": "string", "pattern": up_to(2**64 - 1)},
    "bool": {"type": "boolean"},
    **dict.fromkeys(("Sha256", "LeafHash", "PublicKey", "KeyId"), HEX32),
}
BYTES = {
    "$comment": BYTES_COMMENT,
    "oneOf": [{"type": "string"},
              {"type": "object", "properties": {"b64": {"type": "string", "minLength": 4, "pattern": BASE64}},
               "required": ["b64"], "additionalProperties": False}],
}


def identifier(kind):
    return f"urn:aasm:schema:record:{kind}:v1"


class Bodies:
    """Schemas of structs; `used` are the parts that what was asked for refers to.

    References are absolute: not every validator resolves a fragment against a URN.
    """

    def __init__(self, base):
        self.base = base
        self.vocabulary, self.structs, self.text = enums(), structs(), all_text()
        self.used = {}

    def type_schema(self, kind):
        if match := re.fullmatch(r"std::vector<(.+)>", kind):
            return {"type": "array", "items": self.type_schema(match[1])}
        if kind in self.vocabulary:
            return {"enum": self.vocabulary[kind][1]}
        if kind == "PathBytes":
            self.used["bytes"] = BYTES
            return {"$ref": f"{self.base}#/$defs/bytes"}
        if kind in PLAIN:
            return PLAIN[kind]
        if kind not in self.used:
            self.used[kind] = None  # before it is made: a part may hold its like
            self.used[kind] = self.struct(kind)
        return {"$ref": f"{self.base}#/$defs/{kind}"}

    def struct(self, name):
        members = {member: (kind, note) for kind, member, note in self.structs[name][1]}
        properties, required = {}, []
        for json_name, member in described(self.text, name):
            kind, note = members[member]
            optional = re.fullmatch(r"std::optional<(.+)>", kind)
            schema = dict(self.type_schema(optional[1] if optional else kind))
            if note:
                schema["description"] = note
            properties[json_name] = schema
            if not optional:
                required.append(json_name)
        result = {"type": "object", "properties": properties, "required": required}
        if self.structs[name][0]:
            result = {"description": self.structs[name][0], **result}
        if name in COMMENTS:
            result["$comment"] = "Not expressed here: " + "; ".join(COMMENTS[name])
        if name in RULES:
            result["allOf"] = RULES[name]
        return result


def body_schema(kind, name):
    bodies = Bodies(identifier(kind))
    body = bodies.struct(name)
    head = {"$schema": DIALECT, "$id": identifier(kind), "title": f"body of {kind}"}
    head["$comment"] = MADE_BY + (" " + body.pop("$comment") if "$comment" in body else "")
    return {**head, **body, **({"$defs": dict(sorted(bodies.used.items()))} if bodies.used else {})}


def closed(properties):
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def text(pattern, **more):
    return {"type": "string", "pattern": exactly(pattern), **more}


UUIDV7 = "[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
LABEL = "[0-9a-z](?:[0-9a-z-]{0,61}[0-9a-z])?"
ENVELOPE = closed({
    "v": {"const": 1},
    "log": text(rf"{LABEL}(?:\.{LABEL})*/ledger/[0-9a-f]{{16}}", maxLength=255),
    "seq": {"type": "integer", "minimum": 0, "maximum": MAX_INTEGER},
    "prev": HEX32,
    "run": text(f"(?:{UUIDV7})?"),
    "kind": text(r"[a-z0-9_]+(?:\.[a-z0-9_]+)+", maxLength=64),
    "wall": text(r"[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{9}Z"),
    "mono_ns": PLAIN["std::uint64_t"],
    "boot": text("[A-Za-z0-9-]{1,64}"),
    "key": HEX32,
})
ENVELOPE_COMMENT = (
    "Made by scripts/gen-record-docs; do not edit. Not expressed here (ledger-format.md section 2): the bytes are at most 65000, in "
    "RFC 8785 form, keys once each, depth at most 32, members at most 8192, no number with fraction or exponent; the digest of the subject "
    "follows from log and run; wall is a date of the calendar from 1970 to 2262; chain, key and signature.")


def kind_is(kind):
    aasm = {"type": "object", "properties": {"kind": {"const": kind}}, "required": ["kind"]}
    return {"properties": {"predicate": {"properties": {"aasm": aasm}, "required": ["aasm"]}}, "required": ["predicate"]}


def rules_of(kind):
    """The body is that of the kind, predicateType names it, and a ledger kind has no run."""
    run = {"maxLength": 0} if kind.split(".")[0] in ("ledger", "key") else {"minLength": 1}
    then = {"properties": {
        "predicateType": {"const": f"urn:aasm:attestation:{kind}:v1"},
        "predicate": {"properties": {"aasm": {"properties": {"run": run}}, "body": {"$ref": identifier(kind)}}}}}
    return {"if": kind_is(kind), "then": then}


def envelope_schema():
    subject = closed({"name": {"const": "run"}, "digest": closed({"sha256": HEX32})})
    statement = closed({
        "_type": {"const": "https://in-toto.io/Statement/v1"},
        "subject": {"type": "array", "items": subject, "minItems": 1, "maxItems": 1},
        "predicateType": text(r"urn:aasm:attestation:[a-z0-9_.]+:v1"),
        "predicate": closed({"aasm": ENVELOPE, "body": {"type": "object"}}),
    })
    head = {"$schema": DIALECT, "$id": "urn:aasm:schema:envelope:v1", "title": "payload of a record", "$comment": ENVELOPE_COMMENT}
    return {**head, **statement, "allOf": [rules_of(kind) for kind, _ in KINDS]}


def render():
    """File name to text, of every schema."""
    schemas = {f"{kind}.schema.json": body_schema(kind, name) for kind, name in KINDS}
    schemas["envelope.schema.json"] = envelope_schema()
    return {name: json.dumps(schema, indent=1, ensure_ascii=True) + "\n" for name, schema in schemas.items()}
