#!/usr/bin/python3
"""`aasm verify` and the second reader must agree on every ledger, receipt and trust file, good or damaged.

    AASM=build/release/bin/aasm tests/conformance/compare_readers.py [--mutations N] [--seed S] [--one SEED]

Makes ledgers with the binary, damages them by a seeded generator, and fails on the first difference in verdict,
findings or claims, with the seed that makes it again.
"""

from __future__ import annotations

import argparse
import collections
import functools
import itertools
import json
import os
import pathlib
import random
import shutil
import sys
import tempfile
import traceback
from collections.abc import Iterable, Iterator

import agreement
import fixed_cases
import key_scenarios
import file_scenarios
import network_scenarios
import origin_scenarios
import outside_mutations
import page_mutations
import part_scenarios
import promise_scenarios
import revocation_scenarios
import scenarios
import witness_scenarios
from body_mutations import BodyMutator
from file_mutations import RowMutator, flip, flip_text
from forge import Forge, load, load_blobs
from ledgers import Ledgers

HERE = pathlib.Path(__file__).resolve().parent
SHAPES = (("body", 38), ("rows", 19), ("bytes", 11), ("wal", 4), ("receipt", 7), ("trust", 4), ("head", 3),
          *((name, share) for name, _shape, share in outside_mutations.SHAPES + page_mutations.SHAPES))
SCENARIOS = (scenarios.SCENARIOS + promise_scenarios.SCENARIOS + network_scenarios.SCENARIOS + file_scenarios.SCENARIOS + key_scenarios.SCENARIOS
             + revocation_scenarios.SCENARIOS + part_scenarios.SCENARIOS + origin_scenarios.SCENARIOS + witness_scenarios.SCENARIOS)


class Comparison:
    """The files that mutations start from, and one comparison per seed."""

    def __init__(self, binary: str, place: pathlib.Path) -> None:
        self.binary = binary
        self.place = place
        self.ledgers = Ledgers(binary, place / "real")
        home = self.ledgers.home
        self.base = Forge(load(home / "ledger.db"), load_blobs(home / "ledger.db"))
        self.seen: collections.Counter[str] = collections.Counter()
        page_mutations.with_free_pages(self.ledgers.with_pages)
        self.pages = page_mutations.pages_of(self.ledgers.with_pages)
        self.known = [json.loads(path.read_text()) for path in sorted((HERE / "reader" / "fixtures").glob("*.json"))]
        self.scenarios = SCENARIOS
        self.only: str | None = None
        self.found: list[str] = []
        os.environ["AASM_HOME"] = str(place / "no-such-home")

    def scenario(self, name: str, *options: str) -> list[str]:
        """The differences on an undamaged ledger of this kind."""
        forge = self.base.copy()
        scenario = next(one for one in SCENARIOS if one.__name__ == name)
        scenario(scenarios.Run(forge, self.ledgers.denied))
        return self.forged(forge, *options)

    def forged(self, forge: Forge, *arguments: str) -> list[str]:
        forge.build()
        forge.write(self.place / "forged.db")
        for path, data in zip((self.place / "trust", self.place / "trust.keys"), forge.trust()):
            path.write_bytes(data)
        return self.compare(self.place / "forged.db", self.place / "trust", *arguments)

    def compare(self, target: pathlib.Path, trust: pathlib.Path | None, *arguments: str) -> list[str]:
        everything = [str(target), *(["--trust", str(trust)] if trust else []), *arguments]
        left = agreement.theirs(self.binary, everything)
        try:
            right = agreement.ours(everything)
        except Exception:  # pylint: disable=broad-except
            return ["the reader raised: " + traceback.format_exc(limit=-3)]
        self.found = sorted(name.removeprefix("finding ") for name in left if name.startswith("finding "))
        self.seen[left["verdict"]] += 1
        self.seen.update(name for name in left if name.startswith("finding "))
        self.seen.update(f"claim {one['claim']}" for one in left.values() if isinstance(one, dict) and "claim" in one)
        return agreement.differences(left, right)

    def is_known(self, differences: list[str]) -> bool:
        names = {line.split(": ")[0] for line in differences}
        for one in self.known:
            if one["differences"][0] in names:
                names -= {*one["differences"], *one.get("with_other_options", ())}
        return not names

    def one(self, seed: int) -> tuple[str, list[str]]:
        """What was done, and the differences."""
        rng = random.Random(seed)
        names, shares = zip(*SHAPES)
        shape = self.only or rng.choices(names, shares)[0]
        outside = {name: function for name, function, _share in outside_mutations.SHAPES + page_mutations.SHAPES}
        note, differences = outside[shape](self, rng) if shape in outside else getattr(self, shape)(rng)
        return f"{shape} {note}", differences

    def body(self, rng: random.Random) -> tuple[str, list[str]]:
        forge = self.base.copy()
        note = []
        run = scenarios.Run(forge, self.ledgers.denied)
        for scenario in rng.sample(SCENARIOS, rng.choice((0, 0, 1, 1, 1, 2))):
            try:
                scenario(run)
            except (LookupError, ValueError, StopIteration):
                continue  # what it changes is not there after another
            note.append(scenario.__name__)
        mutator = BodyMutator(rng, self.base)
        if rng.random() < 0.93:
            mutator.apply(forge)
        options = rng.choice(((), (), (), (), ("--allow-open",), ("--require-close",), ("--run", self.ledgers.denied)))
        if rng.random() < 0.25:
            self._other_trust(rng, forge, note)
        return f"{note} {mutator.note} {options}", self.forged(forge, *options)

    def _other_trust(self, rng: random.Random, forge: Forge, note: list[str]) -> None:
        """A trust file that pins another log key, revokes keys, or asks for a witness."""
        sizes = range(1, len(forge.entries) + 1)
        forge.witnessed = set(rng.choice(((), (), sizes, sizes[:rng.randrange(len(sizes))])))
        names = rng.sample(("host", "host 2", "log", "log 2", "root", "stranger", self.ledgers.denied), rng.randrange(4))
        forge.revokes = {name: rng.choice((0, 1, 9, 10, 11, 12, 20, 21, 22, 1000)) for name in names}
        forge.pins = rng.choice(("log", "log", "log 2", "host 2"))
        note += [f"pins {forge.pins}, revokes {forge.revokes}, witnessed {max(forge.witnessed, default=0)}"]

    def rows(self, rng: random.Random) -> tuple[str, list[str]]:
        target, trust = self._some_copy(rng)
        mutator = RowMutator(rng, self.ledgers.other_home / "ledger.db")
        mutator.apply(target)
        return f"{trust.parent.name} {mutator.note}", self.compare(target, trust)

    def bytes(self, rng: random.Random) -> tuple[str, list[str]]:
        (target, trust), note = self._some_copy(rng), []
        target.write_bytes(flip(rng, target.read_bytes(), note))
        return f"{trust.parent.name} {note}", self.compare(target, trust)

    def wal(self, rng: random.Random) -> tuple[str, list[str]]:
        target, note = self._copy(self.ledgers.with_wal), []
        wal = target.with_name(target.name + "-wal")
        if rng.random() < 0.8:
            wal.write_bytes(flip(rng, wal.read_bytes(), note))
        else:
            target.write_bytes(flip(rng, target.read_bytes(), note))
        return str(note), self.compare(target, self.ledgers.trust)

    def receipt(self, rng: random.Random) -> tuple[str, list[str]]:
        note: list[str] = []
        target, chosen = self.place / "receipt", rng.randrange(len(self.ledgers.receipts))
        if rng.random() < 0.5:
            target.write_bytes(flip_text(rng, self.ledgers.receipts[chosen], note))
        else:
            target.write_bytes(self.ledgers.reworked_receipt(rng, chosen, note))
        trust = self.ledgers.receipt_home(chosen) / "trust" if rng.random() < 0.9 else None
        return f"{chosen} {note}", self.compare(target, trust)

    def trust(self, rng: random.Random) -> tuple[str, list[str]]:
        target, home = rng.choice((*self.ledgers.whole, *(
            (path, self.ledgers.receipt_home(index)) for index, path in enumerate(self.ledgers.receipt_files))))
        note: list[str] = [target.name]
        for name in ("trust", "trust.keys"):
            data = (home / name).read_bytes()
            if name == "trust.keys":
                data += self.ledgers.revocation(rng, home, note)
            (self.place / f"m-{name}").write_bytes(flip_text(rng, data, note) if rng.random() < 0.5 else data)
        (self.place / "m-trust").rename(self.place / "m")
        (self.place / "m-trust.keys").rename(self.place / "m.keys")
        return str(note), self.compare(target, self.place / "m")

    def head(self, rng: random.Random) -> tuple[str, list[str]]:
        note: list[str] = []
        target, home = rng.choice((*self.ledgers.whole, *(
            (path, self.ledgers.receipt_home(index)) for index, path in enumerate(self.ledgers.receipt_files))))
        head = rng.choice(self.ledgers.notes_of(home) if rng.random() < 0.8 else self.ledgers.notes)
        head = rng.choice(self.ledgers.receipts) if rng.random() < 0.2 else head  # stands for its checkpoint
        (self.place / "head").write_bytes(flip_text(rng, head, note) if rng.random() < 0.7 else head)
        return f"{target.name} {note}", self.compare(target, home / "trust", "--expect-head", str(self.place / "head"))

    @staticmethod
    def snapshot(source: pathlib.Path, target: pathlib.Path) -> None:
        """A copy in one file, in place of whatever was there."""
        for suffix in ("", "-wal", "-shm"):
            target.with_name(target.name + suffix).unlink(missing_ok=True)
        Ledgers.snapshot(source, target)

    def _some_copy(self, rng: random.Random) -> tuple[pathlib.Path, pathlib.Path]:
        """A copy to damage, and its trust file."""
        source, home = rng.choice((self.ledgers.whole[0], *self.ledgers.whole[3:]))
        return self._copy(source), home / "trust"

    def _copy(self, source: pathlib.Path | None = None) -> pathlib.Path:
        source, target = source or self.ledgers.home / "ledger.db", self.place / "damaged.db"
        for suffix in ("", "-wal"):
            target.with_name(target.name + suffix).unlink(missing_ok=True)
            if source.with_name(source.name + suffix).exists():
                shutil.copy(source.with_name(source.name + suffix), target.with_name(target.name + suffix))
        return target


def report(what: str, differences: list[str]) -> None:
    print(f"DIFFERENT: {what}"[:1500])
    for line in differences[:8]:
        print(f"    {line}"[:700])
    sys.stdout.flush()


def mutations(comparison: Comparison, seeds: range) -> Iterator[fixed_cases.Case]:
    def one(seed: int) -> tuple[str, list[str]]:
        try:
            what, differences = comparison.one(seed)
        except Exception as error:
            raise RuntimeError(f"seed {seed}") from error
        return f"seed {seed}: {what}", [] if comparison.is_known(differences) else differences
    for seed in seeds:
        yield functools.partial(one, seed)


def walk(comparison: Comparison, cases: Iterable[fixed_cases.Case], given: argparse.Namespace) -> int:
    """Compares case by case; says what differs."""
    failures = 0
    for case in cases:
        what, differences = case()
        if given.one is not None:
            print(what)
        if not differences:
            continue
        report(what, differences)
        failures += 1
        if given.keep is not None:
            place = given.keep / what.split(":")[0].replace(" ", "-").replace("/", "-")[:60]
            shutil.copytree(comparison.place, place, ignore=shutil.ignore_patterns("work", "probes", "runs", "worker-*"), dirs_exist_ok=True)
        if not given.all:
            break
    return failures


def _work(comparison: Comparison, place: pathlib.Path, cases: Iterable[fixed_cases.Case], given: argparse.Namespace) -> None:
    """In a process of its own, which ends here: the temporary folder is its parent's to remove."""
    try:
        comparison.place = place
        place.mkdir()
        comparison.seen.clear()
        failures = walk(comparison, cases, given)
        (place / "result").write_text(json.dumps({"failures": failures, "seen": comparison.seen}), "utf-8")
        os._exit(0)
    except BaseException:  # pylint: disable=broad-except
        traceback.print_exc()
        os._exit(1)


def side_by_side(comparison: Comparison, everything: Iterable[fixed_cases.Case], given: argparse.Namespace) -> int:
    """The cases shared out among processes, each of which has a folder of its own for what it damages."""
    workers, places = [], [comparison.place / f"worker-{number}" for number in range(given.jobs)]
    for number in range(given.jobs):
        workers.append(os.fork())
        if workers[-1] == 0:
            _work(comparison, places[number], itertools.islice(everything, number, None, given.jobs), given)
    ends = [os.waitpid(worker, 0)[1] for worker in workers]
    if any(ends):
        raise RuntimeError(f"a process that compares ended early: {ends}")
    results = [json.loads((place / "result").read_text("utf-8")) for place in places]
    for one in results:
        comparison.seen.update(one["seen"])
    return sum(one["failures"] for one in results)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mutations", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1, help="the first of the seeds")
    parser.add_argument("--seed-by-user", action="store_true", help="seeds of root's own, and others for everybody else")
    parser.add_argument("--only", choices=[name for name, _share in SHAPES], help="mutations of this shape alone")
    parser.add_argument("--every-byte", type=int, metavar="STRIDE", help="instead: each byte of the structure of a small ledger, or each STRIDE-th")
    parser.add_argument("--one", type=int, help="only this seed, with everything it prints")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for the files of the last difference")
    parser.add_argument("--all", action="store_true", help="go on after a difference")
    parser.add_argument("--jobs", type=int, default=1, help="processes that compare side by side")
    given = parser.parse_args()
    if given.seed_by_user and os.geteuid() != 0:
        given.seed += given.mutations
    with tempfile.TemporaryDirectory(prefix="aasm-conformance-") as place:
        comparison = Comparison(os.environ["AASM"], pathlib.Path(place))
        comparison.only = given.only
        seeds = range(given.one, given.one + 1) if given.one is not None else range(given.seed, given.seed + given.mutations)
        first = () if given.one is not None or given.only else fixed_cases.cases(comparison)
        everything: Iterable[fixed_cases.Case] = itertools.chain(first, mutations(comparison, seeds))
        if given.every_byte is not None:
            everything = page_mutations.every_byte(comparison, given.every_byte)
        failures = (side_by_side if given.jobs > 1 else walk)(comparison, everything, given)
        print(", ".join(f"{name} {count}" for name, count in sorted(comparison.seen.items())))
    print(f"{failures} disagreements")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
