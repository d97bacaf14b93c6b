"""What is compared each time, before any mutation: undamaged ledgers, cut ones, kept ones, every scenario, known differences."""

from __future__ import annotations

import gzip
import pathlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import damage_cases
import file_scenarios
import network_scenarios
import part_scenarios
import promise_scenarios
import reading_cases
import unknown_kinds
import witness_scenarios

if TYPE_CHECKING:
    from compare_readers import Comparison

HERE = pathlib.Path(__file__).resolve().parent
Case = Callable[[], tuple[str, list[str]]]


def _cut(comparison: Comparison, size: int) -> tuple[str, list[str]]:
    """A ledger of which only the beginning is left."""
    target = comparison.place / "cut.db"
    target.write_bytes(comparison.ledgers.short.read_bytes()[:size])
    return f"the first {size} bytes", comparison.compare(target, comparison.ledgers.trust)


def _kept(comparison: Comparison, folder: pathlib.Path, name: str, pinned: bool) -> tuple[str, list[str]]:
    target = comparison.place / "kept.db"
    target.write_bytes(gzip.decompress((folder / "ledger.db.gz").read_bytes()))
    path = target if name == "ledger" else folder / name
    return f"kept {name} {folder.name}, pinned {pinned}", comparison.compare(path, folder / "trust" if pinned else None)


def _scenario(comparison: Comparison, name: str, *options: str) -> tuple[str, list[str]]:
    differences = comparison.scenario(name, *options)
    return f"scenario {name} {options}", [] if comparison.is_known(differences) else differences


def _stated(comparison: Comparison, scenario: Callable[..., None], wanted: list[str]) -> tuple[str, list[str]]:
    """Not only the same by both, but what is to be found."""
    comparison.scenario(scenario.__name__)
    return f"scenario {scenario.__name__}, wanted {wanted}", [] if comparison.found == wanted else comparison.found or ["nothing"]


def _reading(comparison: Comparison, case: Callable[[Comparison], reading_cases.Found]) -> tuple[str, list[str]]:
    differences, wanted = case(comparison)
    wrong = [] if comparison.found == sorted(wanted) else [f"found {comparison.found}, wanted {sorted(wanted)}"]
    return f"reading {case.__name__}", differences + wrong


def _known(comparison: Comparison, known: dict[str, str]) -> tuple[str, list[str]]:
    differences = comparison.scenario(known["scenario"])
    same = {line.split(": ")[0] for line in differences} == set(known["differences"])
    what = f"known disagreement {known['scenario']} is another now, or gone: remove or correct its fixture"
    return what, [] if same else differences or ["none"]


def cases(comparison: Comparison) -> Iterator[Case]:
    ledgers = comparison.ledgers
    whole = len(ledgers.short.read_bytes())
    for size in (0, 15, 16, 17, 99, 100, 101, 512, 4095, 4096, whole // 2, whole - 1):
        yield lambda size=size: _cut(comparison, size)  # type: ignore[misc]
    receipts = [(path, ledgers.receipt_home(index)) for index, path in enumerate(ledgers.receipt_files)]
    for path, home in [*ledgers.whole, *receipts]:
        yield lambda path=path, home=home: (f"untouched {path}", comparison.compare(path, home / "trust"))  # type: ignore[misc]
    for folder in sorted((HERE.parent / "testdata" / "kept_ledgers").glob("[0-9]*")):
        for name, pinned in (("ledger", True), ("ledger", False), ("receipt.txt", True), ("receipt.txt", False)):
            yield lambda folder=folder, name=name, pinned=pinned: _kept(comparison, folder, name, pinned)  # type: ignore[misc]
    for scenario in comparison.scenarios:
        for options in ((), ("--allow-open",)):
            yield lambda name=scenario.__name__, options=options: _scenario(comparison, name, *options)  # type: ignore[misc]
    found = {**promise_scenarios.FOUND, **network_scenarios.FOUND, **file_scenarios.FOUND, **witness_scenarios.FOUND}
    for promise in promise_scenarios.SCENARIOS + network_scenarios.SCENARIOS + file_scenarios.SCENARIOS + witness_scenarios.SCENARIOS:
        wanted = [found[promise]] if found.get(promise) else []
        yield lambda promise=promise, wanted=wanted: _stated(comparison, promise, wanted)  # type: ignore[misc]
    for parts in part_scenarios.SCENARIOS:
        wanted = part_scenarios.FOUND.get(parts, [])
        yield lambda parts=parts, wanted=wanted: _stated(comparison, parts, wanted)  # type: ignore[misc]
    for reading in (*reading_cases.CASES, *unknown_kinds.CASES, *damage_cases.CASES):
        yield lambda reading=reading: _reading(comparison, reading)  # type: ignore[misc]
    for known in comparison.known:
        yield lambda known=known: _known(comparison, known)  # type: ignore[misc]
