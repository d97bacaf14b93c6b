"""Fixed cases of damaged pages (verify-rules.md, Damaged files) and moved or repeated records, each with what both readers have to find."""

from __future__ import annotations

import copy
import json
import pathlib
import sqlite3
from collections.abc import Callable
from typing import TYPE_CHECKING

import page_mutations
import scenarios

if TYPE_CHECKING:
    from compare_readers import Comparison

Found = tuple[list[str], list[str]]


def _root(path: pathlib.Path, name: str) -> int:
    """Where the page at the root of a table begins."""
    connection = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    [(page,)] = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name=?", (name,)).fetchall()
    connection.close()
    return (int(page) - 1) * 4096


def _changed(comparison: Comparison, name: str, change: Callable[[bytearray, int], None]) -> list[str]:
    """The differences once `change` was made to the page at the root of a table."""
    target, source = comparison.place / "page.db", comparison.ledgers.short
    data = bytearray(source.read_bytes())
    change(data, _root(source, name))
    target.write_bytes(data)
    return comparison.compare(target, comparison.ledgers.trust)


def blobs_that_cannot_be_read(comparison: Comparison) -> Found:
    """Everything else is judged, and the runs are listed; the rows that are not given are withheld."""
    def change(data: bytearray, root: int) -> None:
        data[root] = 0
    return _changed(comparison, "blobs", change), ["blob_withheld", "database_corrupt"]


def checkpoints_that_cannot_be_read(comparison: Comparison) -> Found:
    def change(data: bytearray, root: int) -> None:
        data[root] = 0
    return _changed(comparison, "checkpoints", change), [
        "checkpoint_cadence", "database_corrupt", "embedded_checkpoint_unknown", "tail_unsigned"]


def checkpoints_in_another_order(comparison: Comparison) -> Found:
    """They are taken by their keys, and looked up in what was given."""
    def change(data: bytearray, root: int) -> None:
        data[root + 8:root + 12] = data[root + 10:root + 12] + data[root + 8:root + 10]
    return _changed(comparison, "checkpoints", change), ["database_corrupt"]


def checkpoint_that_stands_twice(comparison: Comparison) -> Found:
    """Its first cell leads to the second row, too: the first counts, and the row of the other size is missing."""
    def change(data: bytearray, root: int) -> None:
        data[root + 8:root + 10] = data[root + 10:root + 12]
    return _changed(comparison, "checkpoints", change), [
        "database_corrupt", "embedded_checkpoint_unknown"]


def records_that_break_off(comparison: Comparison) -> Found:
    """The last page of the records: those before are judged, as of a file that has no more."""
    def change(data: bytearray, root: int) -> None:
        data[(int.from_bytes(data[root + 8:root + 12], "big") - 1) * 4096] = 0
    return _changed(comparison, "records", change), [
        "checkpoint_beyond_records", "database_corrupt", "run_unfinished", "tail_unsigned"]


def text_in_place_of_a_blob(comparison: Comparison) -> Found:
    """One bit in the head of a cell makes TEXT of `keyid`: the same bytes, of another type."""
    def change(data: bytearray, root: int) -> None:
        leaf = (int.from_bytes(data[root + 8:root + 12], "big") - 1) * 4096
        at = leaf + int.from_bytes(data[leaf + 8:leaf + 10], "big")
        for _payload_and_rowid in range(2):
            _value, at = page_mutations.varint(data, at)
        place = data.index(bytes((76,)), data.index(bytes((76, 76)), at) + 2)  # two of 32 bytes, the payload, then keyid
        data[place] += 1
    return _changed(comparison, "records", change), ["database_corrupt", "key_mismatch", "row_malformed"]


def record_of_number_minus_one(comparison: Comparison) -> Found:
    """The opening of the recovered run, in front of record 0: its number is a place like any other, and the first."""
    target = comparison.place / "moved.db"
    comparison.snapshot(comparison.ledgers.before_revoked, target)
    connection = sqlite3.connect(target, isolation_level=None)
    rows = [(seq, json.loads(payload)["predicate"]["aasm"]) for seq, payload in connection.execute("SELECT seq, payload FROM records")]
    run = next(aasm["run"] for _seq, aasm in rows if aasm["kind"] == "run.recovered")
    [opened] = [seq for seq, aasm in rows if (aasm["run"], aasm["kind"]) == (run, "run.opened")]
    connection.execute("UPDATE records SET seq=-1 WHERE seq=?", (opened,))
    connection.close()
    return comparison.compare(target, comparison.ledgers.keys_home / "trust"), [
        "checkpoint_cadence", "checkpoint_frontier", "checkpoint_root", "embedded_checkpoint_unknown", "genesis_missing",
        "key_unresolved", "prev_mismatch", "sequence_gap", "sequence_mismatch", "signer_not_accepted"]


def probe_repeated_whose_reference_leads_nowhere(comparison: Comparison) -> Found:
    """It is repeated and otherwise ignored: what the run relies on is at hand."""
    forge = comparison.base.copy()
    run = scenarios.Run(forge, comparison.ledgers.denied)
    again = copy.deepcopy(run.all("capability.probed")[0])
    again.body["reference"]["seq"] = 0
    run.insert_before("plan.resolved", again)
    return comparison.forged(forge), ["probe_reference_dangling", "record_repeated"]


CASES: tuple[Callable[[Comparison], Found], ...] = (
    blobs_that_cannot_be_read, checkpoints_that_cannot_be_read, checkpoints_in_another_order, checkpoint_that_stands_twice,
    records_that_break_off, text_in_place_of_a_blob, record_of_number_minus_one,
    probe_repeated_whose_reference_leads_nowhere)
