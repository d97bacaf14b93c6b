#!/usr/bin/env python3
"""The JSON Schemas of the records and the readers of the library say the same.

Real records validate. Then one field at a time is spoiled: what the schema refuses the reader
refuses too, and what only the reader refuses is one of the rules that the schemas name as theirs not
to express. READ_LINES names the program that puts a line to the reader.
"""

import copy
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import unittest

import jsonschema

SOURCE = pathlib.Path(os.environ["AASM_SOURCE_DIR"])
sys.path[:0] = [str(SOURCE / "tests/cli"), str(SOURCE / "scripts/lib")]

from aasm_case import POLICY, AasmCase  # noqa: E402
from record_headers import KINDS  # noqa: E402
from record_rules import BYTES_COMMENT, COMMENTS  # noqa: E402

SCHEMAS = SOURCE / "schema/json/records"
PTRACE = "import ctypes; ctypes.CDLL(None).ptrace(0, 0, 0, 0)"
LAST = 2**53 - 1
VALUES = [None, True, False, -1, 0, 1, 2, 5, 64, 65, 255, 256, 257, LAST, LAST + 1, -LAST, "", "x", "0", "01", "7\n", "kill",
          "18446744073709551615", "18446744073709551616", "a" * 64, "A" * 64, "a" * 63, "a" * 64 + "\n",
          [], {}, [0], ["x"], {"b64": "/w=="}, {"b64": "YQ=="}, {"b64": "/x=="}, {"b64": ""}, {"b64": "/w==", "x": 1}]
WORDS = ["host", "log"]  # that no vocabulary holds
RUN = "01890000-0000-7000-8000-000000000000"
ENVELOPE_VALUES = [RUN, RUN.upper(), RUN.replace("-7", "-4"), "a.example/ledger/0123456789abcdef", "-a/ledger/0123456789abcdef",
                   "a/ledger/0123", "2026-01-02T03:04:05.123456789Z", "2026-13-02T03:04:05.123456789Z", "2026-01-02T24:04:05.123456789Z",
                   "2026-01-02T03:04:05Z", "2026-02-30T03:04:05.123456789Z", "run.opened", "ledger.created", "a..b", "abc", "b" * 65]
# Of a payload: what the comment of the envelope's schema leaves to the reader.
READER_ONLY = {"subject_mismatch", "bad_wall"}


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def shortened(value):
    """Of each list only the first of each shape, so that there is less to go through."""
    if isinstance(value, dict):
        return {name: shortened(member) for name, member in value.items()}
    if not isinstance(value, list):
        return value
    shapes = {}
    for item in value:
        shapes.setdefault(json.dumps(sorted(item)) if isinstance(item, dict) else type(item), item)
    return [shortened(item) for item in shapes.values()]


def places(value, path=()):
    """Every (path, name or index) under a value, parents first."""
    for key in value if isinstance(value, dict) else range(len(value) if isinstance(value, list) else 0):
        yield path + (key,)
        yield from places(value[key], path + (key,))


def at(value, path):
    for key in path:
        value = value[key]
    return value


def optional_names(schema):
    """Of every object that a schema describes the members that may be absent."""
    if isinstance(schema, dict):
        yield from set(schema.get("properties", ())) - set(schema.get("required", ()))
        for member in schema.values():
            yield from optional_names(member)
    elif isinstance(schema, list):
        for item in schema:
            yield from optional_names(item)


def with_one_more(body, names):
    for path in [(), *places(body)]:
        for name in names if isinstance(at(body, path), dict) else ():
            for value in (0, 5, True, "syscall", "a" * 64, {}, {"seq": 1, "leaf": "a" * 64}):
                changed = copy.deepcopy(body)
                if at(changed, path).setdefault(name, value) is value:
                    yield f"{path} + {name} = {value!r}", changed


def spoiled(body, values):
    """(what was done, the body with one thing changed)"""
    for path in list(places(body)):
        for value in [*values, "drop", "twice"]:
            changed = copy.deepcopy(body)
            parent = at(changed, path[:-1])
            if value == "drop":
                del parent[path[-1]]
            elif value == "twice":
                if not isinstance(parent, list):
                    continue
                parent.append(copy.deepcopy(parent[path[-1]]))
            else:
                parent[path[-1]] = value
            yield f"{path} = {value!r}", changed


def variants(bodies):
    """Sound bodies of shapes that the runs here do not make, (kind, body)."""
    plan = copy.deepcopy(next(body for body in bodies["plan.resolved"].values() if "backend" in body))
    plan["outcomes"][0].update(kind="degraded", reason="domain_unsupported", planned="observe", achieved="none")
    plan["posture"] = "degraded"
    yield "plan.resolved", plan
    policy = copy.deepcopy(next(body for body in bodies["policy.resolved"].values() if body["state"] == "enforced"))
    policy.update(scope="team", extends=[{"scope": "org", "source": policy["source"], "document": policy["document"]}])
    yield "policy.resolved", policy
    probed = copy.deepcopy(next(body for body in bodies["capability.probed"].values() if body["domains"]))
    probed.pop("reference", None)
    yield "capability.probed", probed
    yield "capability.probed", {**probed, "domains": [], "reference": {"seq": 1, "leaf": "a" * 64}}
    batch = copy.deepcopy(next(iter(bodies["decision.batch"].values())))
    del batch["events"][0]["object"]["number"]
    batch["events"][0]["object"].update(type="path", path="/x")
    yield "decision.batch", batch
    cut = copy.deepcopy(next(iter(bodies["decision.batch"].values())))
    cut["events"][0].update(parents=[7], parents_truncated=True)
    yield "decision.batch", cut
    yield "decision.batch", {**cut, "events": [{**cut["events"][0], "parents_truncated": False, "parents": []}]}
    keys = {"old_key": "a" * 64, "new_key": "b" * 64, "new_signature": ""}
    yield "key.rotated", {**keys, "purpose": "host"}
    yield "key.rotated", {**keys, "purpose": "log", "old_signature": ""}
    yield "key.replaced", {"certificate": {"purpose": "log", "key": "a" * 64, "signature": ""}, "old_key": "b" * 64}
    yield "key.revoked", {"key": "a" * 64, "limit": "7", "signature": ""}
    denial = {"blockers": "fs.read_file", "path": "/x", "device": "vda", "inode": "2", "detail": "", "count": 1}
    heard = {"wish": "listen", "state": "heard", "reason": "", "enabled_by_aasm": False, "enabled_at_end": True, "domains": ["1148a2ce8"],
             "before_start": 1, "heard": 1, "counted": 2, "lost": 0, "overruns": 0, "denials": [denial], "unlisted": 0}
    yield "witness.reported", heard
    yield "witness.reported", {**heard, "state": "unavailable", "reason": "not permitted", "before_start": 0, "domains": [], "denials": [], "heard": 0}
    yield "run.recovered", {"last_kind": "process.started", "program_may_have_run": True}


class Reader:
    """The library's answers to many lines at once."""

    @staticmethod
    def answers(lines):
        done = subprocess.run([os.environ["READ_LINES"]], input="".join(line + "\n" for line in lines), capture_output=True,
                              text=True, timeout=120, check=True)
        return done.stdout.split("\n")[:-1]


class RecordSchemas(AasmCase):
    @classmethod
    def setUpClass(cls):
        cls.schemas = {path.name.removesuffix(".schema.json"): json.loads(path.read_text()) for path in SCHEMAS.glob("*.json")}
        store = {schema["$id"]: schema for schema in cls.schemas.values()}
        cls.validators = {}
        for kind, schema in cls.schemas.items():
            jsonschema.Draft202012Validator.check_schema(schema)
            resolver = jsonschema.RefResolver(schema["$id"], schema, store=store)
            cls.validators[kind] = jsonschema.Draft202012Validator(schema, resolver=resolver)

    def valid(self, kind, value):
        return self.validators[kind].is_valid(value)

    def make_runs(self):
        self.ok("run", "exec", "--isolation", "none", "--", "/bin/true")
        self.assertEqual(self.python(PTRACE).returncode, 0)
        self.assertEqual(self.sh("kill -KILL $$").returncode, 137)
        self.write_policy("spec: [")
        self.assertEqual(self.sh("true").returncode, 125)
        self.write_policy(POLICY.format(read="").replace('["${WORKDIR}", /dev/null', '["/", /dev/null'))
        self.assertEqual(self.sh("true").returncode, 125)

    def payloads(self):
        database = sqlite3.connect(f"file:{self.home}/ledger.db?mode=ro", uri=True)
        try:
            return [bytes(row[0]).decode() for row in database.execute("SELECT payload FROM records ORDER BY seq")]
        finally:
            database.close()

    def compare(self, kind, cases, reader_only, line_of):
        """Counts (both accept, both refuse) and what only the reader refused."""
        answers = Reader.answers([line_of(value) for _, value in cases])
        self.assertEqual(len(answers), len(cases))
        counts, left = {True: 0, False: 0}, set()
        for (what, value), answer in zip(cases, answers):
            valid = self.valid(kind, value)
            if valid and answer != "ok":
                known = [rule for rule in reader_only if rule in answer]
                self.assertTrue(known, f"{kind}: {what}: the schema takes what the reader refuses: {answer}")
                left.update(known)
                continue
            self.assertEqual(valid, answer == "ok", f"{kind}: {what}: the reader says {answer}")
            counts[valid] += 1
        return counts, left

    def test_schemas_and_readers_agree(self):
        self.make_runs()
        payloads = [json.loads(text) for text in self.payloads()]
        bodies = {}
        for payload in payloads:
            self.assertEqual(list(self.validators["envelope"].iter_errors(payload)), [])
            kind = payload["predicate"]["aasm"]["kind"]
            self.assertEqual(list(self.validators[kind].iter_errors(payload["predicate"]["body"])), [])
            bodies.setdefault(kind, {})[canonical(shortened(payload["predicate"]["body"]))] = payload["predicate"]["body"]
        for kind, body in variants(bodies):
            self.assertEqual(list(self.validators[kind].iter_errors(body)), [])
            self.assertEqual(Reader.answers([f"{kind} {canonical(body)}"]), ["ok"])
            bodies.setdefault(kind, {})[canonical(body)] = body
        # The native backend observes nothing without deciding it: the body is the same.
        bodies["observation.batch"] = bodies["decision.batch"]
        self.assertEqual(set(bodies), {kind for kind, _ in KINDS})
        left = set()
        for kind, different in bodies.items():
            with self.subTest(kind=kind):
                left |= self.spoil_bodies(kind, list(different.values()))
        self.spoil_payloads(payloads)
        rules = {comment.split(":")[0] for comments in COMMENTS.values() for comment in comments}
        self.assertEqual(left, rules | {BYTES_COMMENT.split(":")[0]}, "every rule that is left to the reader was seen at work")

    def spoil_bodies(self, kind, bodies):
        rules = [comment.split(":")[0] for comments in COMMENTS.values() for comment in comments]
        rules.append(BYTES_COMMENT.split(":")[0])
        words = sorted({word for schema in self.enums(self.schemas[kind]) for word in schema})
        cases = {}
        for body in bodies:
            short = shortened(body)
            names = sorted(set(optional_names(self.schemas[kind])))
            for what, changed in [*spoiled(short, VALUES + WORDS + words), *with_one_more(short, names)]:
                cases.setdefault(canonical(changed), (what, changed))
        counts, left = self.compare(kind, list(cases.values()), rules, lambda value: f"{kind} {canonical(value)}")
        self.assertGreater(counts[False], 20)
        return left

    def enums(self, schema):
        if isinstance(schema, dict):
            if all(isinstance(word, str) for word in schema.get("enum", [0])):
                yield schema["enum"]
            for member in schema.values():
                yield from self.enums(member)
        elif isinstance(schema, list):
            for item in schema:
                yield from self.enums(item)

    def spoil_payloads(self, payloads):
        for payload in (payloads[0], payloads[-1]):
            payload = copy.deepcopy(payload)
            body, payload["predicate"]["body"] = payload["predicate"]["body"], {}
            cases = []
            for what, changed in spoiled(payload, VALUES + ENVELOPE_VALUES):
                if changed.get("predicate") and isinstance(changed["predicate"], dict) and changed["predicate"].get("body") == {}:
                    changed["predicate"]["body"] = body
                    cases.append((what, changed))
            counts, left = self.compare("envelope", cases, READER_ONLY, lambda value: f"payload {canonical(value)}")
            self.assertGreater(counts[False], 200)
            self.assertIn("subject_mismatch", left)

    def test_member_that_no_schema_knows_is_taken_in_a_body_and_refused_in_the_envelope(self):
        payload = json.loads(self.payloads()[0])
        payload["predicate"]["body"]["later"] = 1
        self.assertTrue(self.valid("envelope", payload))
        self.assertEqual(Reader.answers([f"payload {canonical(payload)}"]), ["ok"])
        payload["predicate"]["aasm"]["later"] = 1
        self.assertFalse(self.valid("envelope", payload))
        self.assertEqual(Reader.answers([f"payload {canonical(payload)}"]), ["unknown_member_in_aasm"])


if __name__ == "__main__":
    unittest.main(verbosity=1)
