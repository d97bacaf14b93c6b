"""The JSON Schema of policy documents (docs/spec/policy.md), as planner/src/decode_*.cc reads them."""

END = r"(?![\s\S])"  # `$` would let a line feed follow
PORT = r"(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])"
LABEL = r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?"
NAME = rf"(?=[^:]{{1,253}}(?::|{END})){LABEL}(?:\.{LABEL})*"
ADDRESS = r"\[(?=[^\]]*:)[0-9a-fA-F:.]{3,}\]"
HOST = rf"(?:\*|{ADDRESS}|(?:\*\.)?{NAME})"
PATH = (rf"^(?![\s\S]*(?:^|/)\.\.(?:/|{END}))(?![\s\S]*[^/]{{256}})"
        rf"(?:\$\{{WORKDIR\}}(?=/|{END})|\$\{{HOME\}}(?=/|{END})|(?=/))(?![\s\S]*\$\{{)[^\u0000]*{END}")
LAST = 2**53 - 1

# What the loader refuses and a schema cannot say. The test names the rows of its corpus after these.
CANNOT = {
    "bytes": "a byte order mark, bytes that are not UTF-8, NUL and control characters, characters that reorder lines, tabs in "
             "indentation, lone carriage returns, more than 1 MiB",
    "yaml": "what is not YAML, a second document, directives, tags, a key twice in a map, keys that are not text, a quote that "
            "is never closed, more than 32 levels, 64 uses of aliases, 20000 values or 4 MiB of text",
    "spelling": "whole numbers that are not plain decimal digits (0x10, 1.0, +1), a list entry that goes on in a further line",
    "length": "a name of more than 255 bytes in fewer characters, and a path that stands for more than 4095 bytes",
    "call": "whether a system call of that name exists",
    "host": "what lies outside the document: paths to write that are missing, links of /proc, documents of metadata.extends",
}


def text(pattern):
    return {"type": "string", "pattern": pattern}


def number(least, most):
    return {"type": "integer", "minimum": least, "maximum": most}


def words(values):
    return {"enum": list(values)}


def a_map(properties, **more):
    return {"type": "object", "properties": properties, "additionalProperties": False, **more}


def a_list(items):
    return {"type": "array", "items": items}


def allow(items):
    return a_map({"allow": a_list(items)})


def allow_and_deny(items):
    return a_map({"allow": a_list(items), "deny": a_list(items)})


def states(name):
    """The list is there: `read: {}` says nothing."""
    return {"properties": {name: {"required": ["allow"]}}, "required": [name]}


def ref(name):
    return {"$ref": f"#/$defs/{name}"}


def supervisor_credential():
    """A name that environment_name() refuses: letters count in either case."""
    either = lambda word: "".join(f"[{c}{c.lower()}]" if c.isalpha() else c for c in word)  # noqa: E731
    prefixes = "|".join(map(either, ["AA_", "AASM_", "AGENT_ASSEMBLY_"]))
    secrets = "|".join(map(either, ["TOKEN", "KEY", "SECRET", "PASS", "CRED", "AUTH"]))
    return rf"^(?:{prefixes})[\s\S]*(?:{secrets})"


def nodes(tokens, groups):
    posture = words(tokens["RequirementPosture"])
    limit = number(1, LAST)
    entry = a_map({"host": text(rf"^(?=[\s\S]{{1,253}}{END})[A-Za-z0-9.:_/*\[\]-]+{END}"),
                   "ports": {**a_list(number(1, 65535)), "minItems": 1}, "protocol": words(["tcp", "udp"])},
                  required=["host", "ports"])
    call = {"anyOf": [words(groups), text(rf"^[a-z_][a-z0-9_]*{END}")]}
    variable = {**text(rf"^[A-Za-z_][A-Za-z0-9_]*{END}"), "not": {"pattern": supervisor_credential()}}
    capability = {"anyOf": [words(["file_read", "file_write", "file_delete", "network_outbound", "network_inbound", "terminal_exec",
                                   "agent_spawn"]), text(r"^(?:mcp_tool|model):[\s\S]")]}
    return {
        "filesystem": a_map({"read": allow_and_deny(ref("path")), "write": allow_and_deny(ref("path")), "execute": allow(ref("path")),
                             "deny": a_list(ref("path"))}, anyOf=[{"not": states("execute")}, states("read")]),
        "network": a_map({"allowlist": a_list(text(rf"^{HOST}(?::{PORT})?{END}")), "egress": a_list(entry),
                          "bind": allow(text(rf"^{HOST}:{PORT}{END}")), "on_denial": words(["errno", "kill"])}),
        "name_resolution": allow(text(rf"^(?:\*|(?:\*\.)?{NAME}){END}")),
        "syscalls": a_map({"allow": a_list(call), "deny": a_list(call), "on_denial": words(["errno", "kill"])}),
        "processes": a_map({"max": limit}),
        "ipc": a_map({"unix_sockets": allow(ref("path")), "abstract_sockets": words(["deny"]), "signals": words(["inside"]),
                      "shared_memory": words(["inside"])}),
        "credentials": a_map({"environment": allow(variable), "descriptors": allow(number(0, 1048575))}),
        "resources": a_map({name: limit for name in ("memory_bytes", "cpu_seconds", "wall_clock_seconds", "open_files",
                                                     "file_size_bytes")}),
        "capabilities": a_map({"allow": a_list(capability), "deny": a_list(capability)}),
        "posture": a_map({name: posture for name in ["default", *tokens["Domain"]]}),
        "evidence": a_map({"filesystem": words(tokens["EvidenceWish"]), "witness": words(tokens["WitnessWish"]),
                           **{name: words(["setup", "decisions"]) for name in tokens["Domain"]}}),
        **{name: True for name in ("tools", "budget", "schedule", "data", "approval", "approval_timeout_secs", "scope", "version")},
    }


# Lists that only take away need the other half in the same document, unless a scope says that it is one of several.
WHOLE = {"properties": {
    "filesystem": {"anyOf": [{"properties": {"deny": {"maxItems": 0}}}, states("read"), states("write")],
                   "properties": {verb: {"anyOf": [{"properties": {"deny": {"maxItems": 0}}}, {"required": ["allow"]}]}
                                  for verb in ("read", "write")}},
    "network": {"anyOf": [{"not": {"required": ["on_denial"]}}, *({"required": [name]} for name in ("allowlist", "egress", "bind"))]},
    "syscalls": {"dependentRequired": {"deny": ["allow"], "on_denial": ["allow"]}}}}
HAS_SCOPE = {"properties": {"metadata": {"required": ["scope"]}}, "required": ["metadata"]}


def schema(tokens, groups):
    one_line = {"type": ["string", "number", "boolean"]}
    extended = text(rf"^(?!~)(?:\$\{{HOME\}}/)?(?![\s\S]*\$\{{)[^\u0000]+{END}")
    body = nodes(tokens, groups)
    metadata = a_map({"name": one_line, "version": one_line, "description": one_line, "scope": words(tokens["PolicyScope"]),
                      "extends": a_list(extended)})
    envelope = a_map({"apiVersion": {"const": "agent-assembly/v1"}, "kind": {"const": "Policy"}, "metadata": ref("metadata"),
                      "spec": a_map({name: ref(name) for name in body})},
                     required=["apiVersion", "kind", "spec"], anyOf=[HAS_SCOPE, {"properties": {"spec": ref("whole")}}])
    flat = a_map({**{name: ref(name) for name in body}, "metadata": ref("metadata")}, anyOf=[HAS_SCOPE, ref("whole")])
    enveloped = {"anyOf": [{"required": [name]} for name in ("apiVersion", "kind", "spec")]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:aasm:schema:policy:v1",
        "title": "aasm policy document",
        "$comment": "Made by scripts/gen-policy-schema; do not edit. Refused by the loader and not by this schema: "
                    + "; ".join(CANNOT.values()) + ".",
        "if": enveloped, "then": envelope, "else": flat,
        "$defs": {"path": text(PATH), "metadata": metadata, "whole": WHOLE, **body},
    }
