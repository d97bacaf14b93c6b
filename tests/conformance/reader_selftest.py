#!/usr/bin/python3
"""The reader by itself: published vectors, and that its own arithmetic agrees with the library's."""

from __future__ import annotations

import hashlib
import json
import pathlib
import unittest

from reader import bodies, ed25519, merkle, notes, profile, spec

DATA = pathlib.Path(__file__).resolve().parent.parent / "testdata"
ORIGIN = "aasm.example/ledger/7b9f"


class Format(unittest.TestCase):
    """ledger-format.md section 11."""

    def leaves(self) -> list[bytes]:
        result, prev = [], bytes(32)
        for index in range(3):
            prev = merkle.leaf_hash(profile.canonical({"prev": prev.hex(), "seq": index}))
            result.append(prev)
        return result

    def test_leaves_root_and_checkpoint_are_those_of_the_document(self) -> None:
        text = (spec.ROOT / "ledger-format.md").read_text("utf-8")
        leaves = self.leaves()
        for leaf in leaves:
            self.assertIn(leaf.hex(), text)
        self.assertIn(merkle.tree_root(leaves).hex(), text)
        note = notes.make(ORIGIN, 3, merkle.tree_root(leaves), bytes([1]) * 32).decode("utf-8")
        self.assertIn(note.split("\n")[-2], text)
        key = notes.VerifierKey(ORIGIN, notes.LOG_TYPE, ed25519.public_of(bytes([1]) * 32))
        self.assertIn(key.text(), text)
        self.assertEqual(notes.VerifierKey.parse(key.text()), key)
        self.assertTrue(notes.signed_by(notes.Note.parse(note.encode()), key))

    def test_inclusion_paths_lead_to_the_root_and_no_other_place(self) -> None:
        leaves = [hashlib.sha256(bytes([index])).digest() for index in range(11)]
        for size in range(1, 12):
            root = merkle.tree_root(leaves[:size])
            for index in range(size):
                path = merkle.inclusion_path(leaves[:size], index)
                self.assertEqual(merkle.root_from_path(leaves[index], index, size, path), root)
                self.assertNotEqual(merkle.root_from_path(leaves[index], index, size, path + [root]), root)
                if size > 1:
                    self.assertNotEqual(merkle.root_from_path(leaves[index], (index + 1) % size, size, path), root)

    def test_the_profile_refuses_what_the_document_lists(self) -> None:
        for text in ('{"a":1,"a":2}', '{"a":1.0}', '{"a":1e3}', '{"a":01}', '{"a":-0}', '{"a":NaN}', "[]", '{"\u00e9":1}',
                     '{"a":9007199254740992}', '\ufeff{}', '{"a":"\\ud800"}', "{} x", '{"a":' + "[" * 33 + "]" * 33 + "}"):
            with self.assertRaises(profile.ProfileError, msg=text):
                profile.parse(text.encode("utf-8"))
        self.assertEqual(profile.parse(b'{"a":-9007199254740991}'), {"a": -9007199254740991})

    def test_every_type_of_the_document_is_one_the_reader_knows(self) -> None:
        tables = spec.records()
        for fields in [*tables.kinds.values(), *tables.parts.values()]:
            for field in fields:
                name = field.type.removeprefix("list of ")
                if name not in tables.parts and name not in tables.words:
                    bodies._plain(name, None)  # raises AssertionError for an unknown one
        self.assertEqual(len(spec.schema()), 4)
        self.assertGreater(len(spec.weights()), 100)


class Signatures(unittest.TestCase):
    def test_own_arithmetic_signs_and_verifies_as_the_library(self) -> None:
        for index in range(3):
            seed, message = bytes([index]) * 32, bytes(index)
            public = ed25519.encode_point(ed25519.multiply(ed25519.expand(seed)[0], ed25519.BASE))
            signature = ed25519.sign_here(seed, message)
            self.assertEqual((public, signature), (ed25519.public_of(seed), ed25519.sign(seed, message)))
            self.assertTrue(ed25519.verify_here(public, message, signature))
            self.assertFalse(ed25519.verify_here(public, message + b"x", signature))
            self.assertFalse(ed25519.verify(public, message + b"x", signature))

    def test_small_order_and_non_canonical_keys_are_refused(self) -> None:
        for key in (bytes(32), bytes([1]) + bytes(31), (2**255 - 19).to_bytes(32, "little"), bytes([0xFF]) * 32,
                    (2**255 - 20).to_bytes(32, "little")):
            self.assertFalse(ed25519.acceptable_key(key), key.hex())

    def test_what_is_no_point_is_a_key_of_which_no_signature_holds(self) -> None:
        numbers = (number.to_bytes(32, "little") for number in range(2, 40))
        for key in [one for one in numbers if ed25519.decode_point(one) is None]:
            self.assertTrue(ed25519.acceptable_key(key), key.hex())
            signature = ed25519.sign(bytes(32), b"message")
            self.assertFalse(ed25519.verify(key, b"message", signature))
            self.assertFalse(ed25519.verify_here(key, b"message", signature))

    def test_wycheproof_vectors(self) -> None:
        paths = sorted((DATA / "wycheproof").glob("*.json"))
        self.assertTrue(paths)
        count = 0
        for path in paths:
            for group in json.loads(path.read_text()).get("testGroups", []):
                key = group.get("publicKey", group.get("key", {}))
                public = bytes.fromhex(key["pk"])
                for test in group["tests"]:
                    valid = ed25519.verify(public, bytes.fromhex(test["msg"]), bytes.fromhex(test["sig"]))
                    self.assertEqual(valid, test["result"] == "valid", test)
                    count += 1
        self.assertGreater(count, 100)


if __name__ == "__main__":
    unittest.main()
