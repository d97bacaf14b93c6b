#!/usr/bin/env python3
"""The JSON Schema of policies accepts exactly what the loader accepts, but for what it says it cannot.

Both ways: over a corpus with the place and text of every fault, and over sound documents with one
value spoiled at a time. READ_POLICIES names the program that puts a document to the loader.
"""

import copy
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

import jsonschema

SOURCE = pathlib.Path(os.environ["AASM_SOURCE_DIR"])
sys.path[:0] = [str(SOURCE / "tests/schema"), str(SOURCE / "scripts/lib")]

from policy_corpus import BAD, GOOD  # noqa: E402
from policy_schema import CANNOT  # noqa: E402

# The core schema of YAML 1.2, section 10.3.2.
INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
LONG = "x" * 256
VALUES = [None, True, 0, 1, -1, 65, 65536, 2**53 - 1, 2**53, 1.5, "", "x", "/", "/usr", "/a/../b", "usr", "${WORKDIR}", "${WORKDIR}/a",
          "${HOME}a", "/${HOME}", "~/a", "/" + LONG, "a.b", "*", "*.a", "a.b:1", "a.b:0", "*:443", "10.0.0.0/8", "[::1]", "[::1]:80",
          "-a", "A_1", "1", "AASM_TOKEN", "aa_key", "openat", "@default", "@x", "required", "errno", "org", "deny", "inside", "tcp",
          "setup", "file_read", "model:x", "agent-assembly/v1", "Policy", "x\n", "true", "~", [], {}, [0], ["x"], ["/usr"], [[]],
          {"allow": []}, {"allow": None}, {"x": 1}, {"host": "a", "ports": [1]}]


def typed(node):
    """What a reader of YAML sees in a tree of spelled scalars."""
    if isinstance(node, list):
        return [typed(item) for item in node]
    if not isinstance(node, dict):
        return node
    if "map" in node:
        return {key: typed(value) for key, value in node["map"]}
    if "quoted" in node:
        return node["quoted"]
    text = node["plain"]
    if text in ("true", "True", "TRUE", "false", "False", "FALSE"):
        return text.lower() == "true"
    if INT.fullmatch(text):
        return int(text, 0 if text[:2] in ("0x", "0o") else 10)
    return float(text.replace(".inf", "inf").replace(".nan", "nan").replace(".INF", "inf").replace(".NAN", "nan")) \
        if FLOAT.fullmatch(text) else text


def places(value, path=()):
    """Every path to a value, parents first."""
    yield path
    for key in value if isinstance(value, dict) else range(len(value) if isinstance(value, list) else 0):
        yield from places(value[key], (*path, key))


def spoiled(document):
    """The document with one value replaced, or left out, or with one more beside it."""
    for path in places(document):
        for value in [*VALUES, "-", "+"]:
            changed = {"": copy.deepcopy(document)}
            parent, key = changed, ""
            for step in path:
                parent, key = parent[key], step
            if value == "-":
                del parent[key]
            elif value != "+":
                parent[key] = value
            elif isinstance(parent[key], dict):
                parent[key]["unknown"] = 1
            else:
                continue
            if "" in changed:
                yield changed[""]


class PolicySchema(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        schema = json.loads((SOURCE / "schema/json/policy.schema.json").read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator.check_schema(schema)
        cls.validator = jsonschema.Draft202012Validator(schema)

    def answers(self, texts):
        lines = "".join(json.dumps(text) + "\n" for text in texts)
        done = subprocess.run([os.environ["READ_POLICIES"]], input=lines, capture_output=True, text=True, timeout=250, check=True)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(len(answers), len(texts))
        return answers

    def test_the_committed_schema_is_current(self):
        subprocess.run([sys.executable, "-B", SOURCE / "scripts/gen-policy-schema", "--check"], check=True)

    def test_what_loads_is_accepted(self):
        examples = [path.read_text(encoding="utf-8") for path in sorted(SOURCE.glob("examples/policies/*.yaml"))]
        data = [path.read_text(encoding="utf-8") for path in sorted(SOURCE.glob("tests/testdata/policy/*.yaml"))]
        self.assertGreater(len(examples), 0)
        for text, answer in zip([*GOOD, *examples, *data], self.answers([*GOOD, *examples, *data])):
            self.assertEqual(answer["problems"], [], text)
            errors = [error.message for error in self.validator.iter_errors(typed(answer["tree"]))]
            self.assertEqual(errors, [], text)

    def test_what_does_not_load_is_refused_at_its_place_and_by_the_schema_where_it_can(self):
        for (text, expected, cannot), answer in zip(BAD, self.answers([row[0] for row in BAD])):
            with self.subTest(text=text[:120]):
                self.assertEqual(len(answer["problems"]), 1, answer["problems"][:3])
                self.assertEqual(answer["problems"][0][:len(expected)], expected)
                self.assertIn(cannot, [None, *CANNOT])
                if cannot in ("bytes", "yaml"):
                    self.assertFalse(answer["parsed"])
                else:
                    self.assertEqual(self.validator.is_valid(typed(answer["tree"])), cannot is not None)

    def test_every_reason_for_not_seeing_a_fault_has_a_document(self):
        self.assertEqual({row[2] for row in BAD} - {None}, set(CANNOT) - {"host"})

    def test_one_spoiled_value_is_judged_alike(self):
        documents = [text for text in GOOD if len(text) < 500]
        sound = [typed(answer["tree"]) for answer in self.answers(documents)]
        texts = list(dict.fromkeys(json.dumps(one) for document in sound for one in spoiled(document)))
        self.assertGreater(len(texts), 5000)
        verdicts = {True: 0, False: 0}
        for text, answer in zip(texts, self.answers(texts)):
            loads = not answer["problems"]
            verdicts[loads] += 1
            by_schema = self.validator.is_valid(json.loads(text))
            known = by_schema and all("no system call known here" in one for one in answer["problems"])
            self.assertTrue(loads == by_schema or known, f"loader: {answer['problems']}, schema: {by_schema}\n{text}")
        self.assertGreater(min(verdicts.values()), 500, "both verdicts are met")


if __name__ == "__main__":
    unittest.main()
