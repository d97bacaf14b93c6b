"""Seeded changes of what records say; the forge signs the result, so that it is the meaning that is wrong."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from typing import Any

from forge import Entry, Forge
from reader import spec

NUMBERS = (0, 1, 2, -1, 3, 5, 13, 255, 4096, 2**31, 2**53 - 1, -2**53 + 1)
SPELLINGS = (
    (b",", b", "), (b":", b":\n"), (b"{", b"{ "), (b"/", b"\\/"), (b"a", b"\\u0061"), (b"\"", b"'"), (b"0", b"00"),
    (b"1", b"1.0"), (b"1", b"1e0"), (b":0", b":-0"), (b":1", b":+1"), (b":1", b":9007199254740992"),
    (b":1", b":-9007199254740991"), (b":true", b":null"), (b":false", b":False"),
    (b":[]", b":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"), (b",", b",\"kind\":\"x\","),
    (b",", b",\"Zz\":1,"), (b",", b",\"\":1,"), (b",\"", b",\"\xc3\xa9"), (b"e", b"\xff"), (b"e", b"\xc0\xaf"),
    (b"e", b"\xed\xa0\x80"), (b"e", b"\\ud800"), (b"e", b"\\ud83d\\ude00"), (b"e", b"\xf0\x9f\x98\x80"),
    (b"e", b"\\u0000"), (b"e", b"\x00"), (b"e", b"\x1f"), (b"e", b"\x7f"), (b"e", b"\t"), (b"e", b"\\t"),
    (b"e", b"\\u0009"), (b"e", b"\\x"), (b"e", b"\xe2\x80\xa8"), (b"}}", b"}"), (b"}", b"},"),
    (b"\"_type\"", b"\"_typf\""), (b"v1\"", b"v2\""), (b"\"name\":\"run\"", b"\"name\":\"ran\""), (b"]", b",]"),
    (b"{", b"\xef\xbb\xbf{"), (b"}]}", b"}]} "))
Path = tuple[dict[str, Any] | list[Any], Any, str]


def places(value: Any, kind: str, found: list[Path]) -> None:
    """Every (container, key, type) under a value of the type `kind`, which an earlier change may have left as something else."""
    tables = spec.records()
    if kind.startswith("list of "):
        if not isinstance(value, list):
            return
        for index, item in enumerate(value):
            found.append((value, index, kind[len("list of "):]))
            places(item, kind[len("list of "):], found)
    elif kind in tables.parts and isinstance(value, dict):
        fields(value, tables.parts[kind], found)


def fields(value: dict[str, Any], described: tuple[spec.Field, ...], found: list[Path]) -> None:
    for field in described:
        if field.name in value:
            found.append((value, field.name, field.type + ("?" if field.optional else "")))
            places(value[field.name], field.type, found)


class BodyMutator:
    """Changes a forge in place; `note` says what was done."""

    def __init__(self, rng: random.Random, base: Forge) -> None:
        self.rng = rng
        self.base = base
        self.note: list[str] = []
        self.texts = self._vocabulary()

    def _vocabulary(self) -> dict[str, list[Any]]:
        """Values that stand at a field of this name somewhere: they make the likeliest confusions."""
        result: dict[str, list[Any]] = {}
        for entry in self.base.entries:
            found: list[Path] = []
            fields(entry.body, spec.records().kinds[entry.kind], found)
            for container, key, _kind in found:
                value = container[key]
                if isinstance(key, str) and isinstance(value, (str, int)) and value not in result.setdefault(key, []):
                    result[key].append(value)
                if isinstance(key, int) and isinstance(value, str):
                    result.setdefault("rule", []).append(value)
        result["rule"] = sorted(set(result.get("rule", []) + result.get("default_rule", []) + result.get("id", [])))
        return result

    def apply(self, forge: Forge) -> None:
        for _ in range(self.rng.choice((1, 1, 1, 2, 3))):
            choice = self.rng.random()
            if choice < 0.75:
                self.change_body(forge)
            elif choice < 0.9:
                self.change_order(forge)
            elif choice < 0.95:
                self.respell(forge)
            else:
                self.change_envelope(forge)
        if self.rng.random() < 0.7:
            self.repair(forge)
        forge.digests = self.rng.random() < 0.9

    def pick(self, forge: Forge) -> Entry:
        kinds = sorted({entry.kind for entry in forge.entries})
        kind = self.rng.choice(kinds)
        return self.rng.choice([entry for entry in forge.entries if entry.kind == kind])

    def change_body(self, forge: Forge) -> None:
        entry = self.pick(forge)
        found: list[Path] = []
        fields(entry.body, spec.records().kinds.get(entry.kind, ()), found)
        if not found:
            return
        names = sorted({(type(key).__name__, key if isinstance(key, str) else "", kind) for _c, key, kind in found})
        name = self.rng.choice(names)
        container, key, kind = self.rng.choice(
            [one for one in found if (type(one[1]).__name__, one[1] if isinstance(one[1], str) else "", one[2]) == name])
        self.note.append(f"{entry.kind} {key}: {str(container[key])[:60]!r} ->")
        if kind.endswith("?") and self.rng.random() < 0.3:
            del container[key]
        elif isinstance(container, list) and self.rng.random() < 0.6:
            self.change_list(container, key)
        else:
            container[key] = self.other(container[key], str(key), kind.rstrip("?"))
        if isinstance(container, dict):
            self.note.append(f"{str(container.get(key, 'gone'))[:60]!r}")

    def change_list(self, container: list[Any], index: int) -> None:
        other = self.rng.randrange(len(container))
        action = self.rng.choice(("drop", "double", "swap", "clear"))
        self.note.append(action)
        if action == "drop":
            del container[index]
        elif action == "double":
            container.insert(index, copy.deepcopy(container[index]))
        elif action == "swap":
            container[index], container[other] = container[other], container[index]
        else:
            container.clear()

    def other(self, value: Any, name: str, kind: str) -> Any:
        """Another value, mostly of the right type."""
        if self.rng.random() < 0.03:
            return self.rng.choice((None, 7, "x", [], {}, True, {"b64": "/w=="}, {"b64": "YQ=="}))
        if kind in spec.records().words:
            return self.rng.choice(sorted(spec.records().words[kind]))
        if kind == "bool":
            return not value
        if kind == "integer":
            return self.rng.choice((value + 1, value - 1, *NUMBERS) if isinstance(value, int) else NUMBERS)
        if kind == "decimal":
            return self.rng.choice(("0", "1", str(2**64 - 1), str(2**64), "01", "-1"))
        if kind in ("hex32", "text", "bytes"):
            known = self.texts.get("rule" if name in ("rule", "id", "default_rule") else name, [])
            return self.rng.choice([*known, "", "x", "f" * 64] if known else ["", "x", "f" * 64, "none"])
        return value

    def change_order(self, forge: Forge) -> None:
        entries, action = forge.entries, self.rng.choice(("drop", "double", "move", "swap run", "cut"))
        if len(entries) < 2:
            return
        index = self.rng.randrange(1, len(entries))
        other = self.rng.randrange(1, len(entries))
        self.note.append(f"{action} {index} {entries[index].kind} {other}")
        if action == "drop":
            del entries[index]
        elif action == "double":
            entries.insert(min(index + self.rng.choice((1, 1, 2, 3)), len(entries)), copy.deepcopy(entries[index]))
        elif action == "move":
            entries.insert(max(1, index + self.rng.choice((-3, -2, -1, 1, 2, 3))), entries.pop(index))
        elif action == "swap run":
            entries[index].run = entries[other].run
        else:
            del entries[index:]

    def respell(self, forge: Forge) -> None:
        entry = self.pick(forge)
        old, new = self.rng.choice(SPELLINGS)
        entry.respell = (old, new, self.rng.randrange(20000))
        self.note.append(f"respell {entry.kind} {entry.respell}")

    def change_envelope(self, forge: Forge) -> None:
        entry = self.pick(forge)
        changes: tuple[Callable[[], None], ...] = (
            lambda: setattr(entry, "boot", "another-boot"), lambda: setattr(entry, "signer", "stranger"),
            lambda: setattr(entry, "signer", "host"), lambda: setattr(entry, "kind", "agent.thought"),
            lambda: setattr(entry, "kind", self.rng.choice(sorted(spec.records().kinds))),
            lambda: setattr(entry, "kind", "key.rotated"), lambda: setattr(entry, "run", ""),
            lambda: setattr(entry, "run", self.rng.choice(forge.entries).run),
            lambda: entry.envelope.update(self.rng.choice((
                {"v": 2}, {"extra": 1}, {"seq": 3}, {"wall": "yesterday"}, {"mono_ns": "1"}, {"boot": ""}, {"log": "x"},
                {"key": "0" * 64}, {"prev": "0" * 64}, {"wall": "2020-01-01T00:00:00.000000000Z"}, {"mono_ns": 5},
                {"run": "not-a-uuid"}, {"kind": "Run.Opened"}))))
        index = self.rng.randrange(len(changes))
        self.note.append(f"envelope {index} of {entry.kind}")
        changes[index]()

    def repair(self, forge: Forge) -> None:
        """Makes the totals of each run right again, so that what is left is the change itself."""
        self.note.append("totals repaired")
        for closing in [entry for entry in forge.entries if entry.kind == "run.closed"]:
            before = forge.entries[:next(i for i, entry in enumerate(forge.entries) if entry is closing)]
            mine = [entry for entry in before if entry.run == closing.run]
            closing.body["records"] = len(mine)
            batches = [entry for entry in mine if entry.kind in ("decision.batch", "observation.batch")]
            try:
                events = [event for batch in batches for event in batch.body["events"]]
                for number, event in enumerate(events, 1):
                    event["number"] = number
                for batch in batches:
                    batch.body["first"] = batch.body["events"][0]["number"]
                closing.body["channel"]["events"] = len(events)
                closing.body["channel"]["actions"] = sum(event["count"] for event in events)
            except (KeyError, TypeError, IndexError):
                continue
