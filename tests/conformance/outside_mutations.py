"""Seeded changes of what stands outside a file: heads/, witnesses, trust; and ledgers of several batches."""

from __future__ import annotations

import contextlib
import copy
import os
import pathlib
import random
import shutil
import sqlite3
from collections.abc import Iterator
from typing import TYPE_CHECKING

import key_scenarios
import revocation_scenarios
import scenarios
from file_mutations import RowMutator, flip_text
from forge import Forge, public, seed
from reader import notes
from reader.verify import head_name

if TYPE_CHECKING:
    from compare_readers import Comparison

Result = tuple[str, list[str]]
WITNESSES = ("a.example/w", "b.example/w", "c.example/w")
GROUPS = ("quorum w0\n", "group g any w0 w1\nquorum g\n", "group g 2 w0 w1 w2\nquorum g\n",
          "group i all w1 w2\ngroup g any w0 i\nquorum g\n", "group g all w0 w1 w2\nquorum g\n", "quorum none\n")
OPTIONS = ((), (), (), ("--allow-open",), ("--require-close",))


@contextlib.contextmanager
def at_home(home: pathlib.Path) -> Iterator[None]:
    before = os.environ.get("AASM_HOME", "")
    os.environ["AASM_HOME"] = str(home)
    try:
        yield
    finally:
        os.environ["AASM_HOME"] = before


def _origin(note: bytes) -> str:
    return note.split(b"\n", 1)[0].decode("utf-8")


def _heads(comparison: Comparison, rng: random.Random, home: pathlib.Path, source: pathlib.Path, note: list[str]) -> None:
    """Head files: of the ledger's own origin, newer or older, of another one, damaged, under another's name."""
    ledgers = comparison.ledgers
    own, other = ledgers.notes_of(source), rng.choice((ledgers.notes_of(ledgers.other_home), ledgers.notes_of(ledgers.home)))
    chosen = [rng.choice(own) if rng.random() < 0.5 else own[-1]] if rng.random() < 0.8 else []
    chosen += [rng.choice(other)] if rng.random() < 0.5 else []
    for data in chosen:
        name = head_name(_origin(data if rng.random() < 0.9 else rng.choice(own + other)))
        changed = flip_text(rng, data, note) if rng.random() < 0.3 else data
        (home / "heads" / name).write_bytes(changed)
        note.append(f"head {_origin(data)[-4:]} as {name[:4]}")


def _empty(target: pathlib.Path) -> None:
    connection = sqlite3.connect(target, isolation_level=None)
    connection.execute("DELETE FROM records")
    connection.execute("DELETE FROM checkpoints")
    connection.close()


def heads(comparison: Comparison, rng: random.Random) -> Result:
    """This host's own ledger, or a file from elsewhere, beside what the host has released."""
    ledgers, note = comparison.ledgers, [""]
    home = comparison.place / "this-home"
    shutil.rmtree(home, ignore_errors=True)
    (home / "heads").mkdir(parents=True)
    home.chmod(0o700)
    source, source_home = rng.choice(ledgers.whole)
    for name in ("trust", "trust.keys"):
        shutil.copy(source_home / name, home / name)
        if rng.random() < 0.2:
            (home / name).write_bytes((home / name).read_bytes() + (ledgers.other_home / name).read_bytes().split(b"quorum")[0])
    _heads(comparison, rng, home, source_home, note)
    target = home / "ledger.db" if rng.random() < 0.6 else comparison.place / "elsewhere.db"
    comparison.snapshot(source, target)
    if rng.random() < 0.15:
        _empty(target)
        note.append("emptied")
    elif rng.random() < 0.3:
        mutator = RowMutator(rng, ledgers.other_home / "ledger.db")
        mutator.apply(target)
        note += mutator.note
    trust = None
    if rng.random() < 0.3:
        for name in ("trust", "trust.keys"):
            (home / name).unlink()
        note.append("no trust file")
    elif rng.random() < 0.3:
        trust = source_home / "trust"
    with at_home(home):
        return f"{target.name} {note}", comparison.compare(target, trust, *rng.choice(OPTIONS))


class Cosigners:
    """Adds cosignatures to notes: of some witnesses, now and then a bad one, a second one, or a stranger's."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.share = rng.choice((0.3, 0.7, 1.0))
        self.spoilt = rng.choice((0.0, 0.0, 0.1, 0.3))

    def __call__(self, note: bytes) -> bytes:
        rng = self.rng
        for name in (*WITNESSES, "stranger.example/w"):
            if rng.random() >= self.share:
                continue
            signed = notes.cosign(note, name, seed(name), rng.choice((1, 7, 2**62, 2**63 - 1)))
            note = self._spoil(signed, len(note)) if rng.random() < self.spoilt else signed
        return note

    def _spoil(self, note: bytes, start: int) -> bytes:
        """Changes the last signature line, which begins at `start`, so that it still is one; or doubles it."""
        line = note[start:]
        action = self.rng.choice(("time", "signature", "double", "log line", "name"))
        if action == "double":
            return note + line
        if action == "log line":  # the log's own line once more
            return note + note[note.rindex(b"\n\n") + 2:].split(b"\n")[0] + b"\n"
        if action == "name":
            return note[:start] + line.replace(b".example", b".example2")
        position = len(line) - (100 if action == "time" else 20)
        other = b"B" if line[position:position + 1] != b"B" else b"C"
        return note[:start] + line[:position] + other + line[position + 1:]


def _witness_lines(rng: random.Random) -> str:
    keys = [notes.VerifierKey(name, notes.WITNESS_TYPE, bytes.fromhex(public(name))).text() for name in WITNESSES]
    return "".join(f"witness w{index} {key}\n" for index, key in enumerate(keys)) + rng.choice(GROUPS)


def witnesses(comparison: Comparison, rng: random.Random) -> Result:
    """Ledgers whose checkpoints carry cosignatures, under trust files that ask for them."""
    if rng.random() < 0.3:
        return _witnessed_receipt(comparison, rng)
    forge = comparison.base.copy()
    run = scenarios.Run(forge, comparison.ledgers.denied)
    scenario = rng.choice((*revocation_scenarios.SCENARIOS, *key_scenarios.SCENARIOS, scenarios.witnessed_but_for_open_run,
                           scenarios.recovered, scenarios.observed))
    scenario(run)
    forge.witnessed = set()
    forge.cosigners, forge.quorum = Cosigners(rng), _witness_lines(rng)
    if rng.random() < 0.4:
        forge.revokes = {rng.choice(("host", "log", "root")): rng.choice((1, 9, 12, 22, 40, 1000))}
    options = rng.choice((*OPTIONS, ("--run", comparison.ledgers.denied)))
    return f"{scenario.__name__} {forge.quorum.split('w2', 1)[1][-40:]!r} {forge.revokes} {options}", comparison.forged(forge, *options)


def _witnessed_receipt(comparison: Comparison, rng: random.Random) -> Result:
    ledgers, chosen = comparison.ledgers, rng.randrange(len(comparison.ledgers.receipts))
    head, note = ledgers.receipts[chosen].split(b"\n\n", 1)
    home, said = ledgers.receipt_home(chosen), [""]
    cosigned = Cosigners(rng)(note)
    target = comparison.place / "receipt"
    target.write_bytes(head + b"\n\n" + (flip_text(rng, cosigned, said) if rng.random() < 0.3 else cosigned))
    log, _quorum = (home / "trust").read_bytes().split(b"quorum", 1)
    (comparison.place / "w").write_bytes(log + _witness_lines(rng).encode("utf-8"))
    keys = (home / "trust.keys").read_bytes() + ledgers.revocation(rng, home, said)
    (comparison.place / "w.keys").write_bytes(keys)
    return f"receipt {chosen} {said}", comparison.compare(target, comparison.place / "w")


def lengthen(forge: Forge, records: int) -> None:
    """Appends copies of the runs, under ids of their own, until there are so many records."""
    runs = [entry for entry in forge.entries if entry.run]
    number = 0
    while len(forge.entries) < records:
        number += 1
        names = {entry.run: f"{entry.run[:-12]}{int(entry.run[-12:], 16) ^ number << 24:012x}" for entry in runs}
        for entry in copy.deepcopy(runs):
            entry.run = names[entry.run]
            forge.entries.append(entry)


def long(comparison: Comparison, rng: random.Random) -> Result:
    """More records than one batch: what is judged after a batch, and limits that come in a later one."""
    forge = comparison.base.copy()
    lengthen(forge, rng.choice((258, 300, 520)))
    run = scenarios.Run(forge, comparison.ledgers.denied)
    chosen = rng.sample(revocation_scenarios.SCENARIOS, 1) + rng.sample(key_scenarios.SCENARIOS, rng.choice((0, 0, 1)))
    note = []
    for scenario in chosen:
        with contextlib.suppress(LookupError, ValueError, StopIteration):
            scenario(run)
            note.append(scenario.__name__)
    moved = [entry for entry in forge.entries if entry.kind.startswith("key.")]
    if moved and rng.random() < 0.5:  # to another batch
        forge.entries.remove(moved[-1])
        forge.entries.insert(rng.randrange(200, len(forge.entries)), moved[-1])
    if rng.random() < 0.4:
        forge.revokes = {rng.choice(("host", "log", "root")): rng.choice((1, 100, 255, 256, 257, 300, 1000))}
    return f"{note} {len(forge.entries)} {forge.revokes}", comparison.forged(forge)


SHAPES = (("heads", heads, 10), ("witnesses", witnesses, 8), ("long", long, 2))
