"""Readings on which the two readers once differed (decision record 0013): what is to be found, and that both find it."""

from __future__ import annotations

import base64
import json
import pathlib
import shutil
import sqlite3
from collections.abc import Callable
from typing import TYPE_CHECKING

from outside_mutations import at_home
from reader import profile
from reader.verify import head_name

if TYPE_CHECKING:
    from compare_readers import Comparison

Found = tuple[list[str], list[str]]  # the differences, and the codes that were to be found


def _own_home(comparison: Comparison, source: pathlib.Path, head: bytes) -> pathlib.Path:
    """This host's own ledger beside one head file, with nothing pinned."""
    home = comparison.place / "own-home"
    shutil.rmtree(home, ignore_errors=True)
    (home / "heads").mkdir(parents=True)
    home.chmod(0o700)
    (home / "heads" / head_name(head.split(b"\n", 1)[0].decode("utf-8"))).write_bytes(head)
    comparison.snapshot(source, home / "ledger.db")
    return home


def _with_head(comparison: Comparison, head: bytes, *wanted: str) -> Found:
    home = _own_home(comparison, comparison.ledgers.before_revoked, head)
    with at_home(home):
        return comparison.compare(home / "ledger.db", None), ["origin_not_pinned", *wanted]


def head_changed_that_a_later_log_key_signed(comparison: Comparison) -> Found:
    head = bytearray(comparison.ledgers.notes_of(comparison.ledgers.keys_home)[-1])
    head[-20] = ord("B" if head[-20] == ord("A") else "A")  # another letter of base64
    return _with_head(comparison, bytes(head), "reference_bad_signature")


def head_signed_by_one_log_key_and_badly_in_the_name_of_a_later_one(comparison: Comparison) -> Found:
    notes = comparison.ledgers.notes_of(comparison.ledgers.keys_home)
    line = notes[-1][notes[-1].rindex(b"\n\n") + 2:]
    return _with_head(comparison, notes[1] + line, "reference_bad_signature")


def policy_recorded_after_the_denial(comparison: Comparison) -> Found:
    """Records 11, policy.resolved, and 18, process.exited, change places: rule 3 asks for a requirement recorded so far."""
    target = comparison.place / "swapped.db"
    comparison.snapshot(comparison.ledgers.home / "ledger.db", target)
    connection = sqlite3.connect(target, isolation_level=None)
    rows = {seq: connection.execute("SELECT prev,leaf,payload,keyid,sig FROM records WHERE seq=?", (seq,)).fetchone()
            for seq in (11, 18)}
    for seq, values in ((11, tuple(bytes(len(one)) for one in rows[11])), (18, rows[11]), (11, rows[18])):
        connection.execute("UPDATE records SET prev=?,leaf=?,payload=?,keyid=?,sig=? WHERE seq=?", (*values, seq))
    connection.close()
    return comparison.compare(target, comparison.ledgers.trust), [
        "activity_before_start", "checkpoint_frontier", "checkpoint_root", "prev_mismatch", "sequence_mismatch", "setup_after_start"]


def tail_of_records_without_their_opening(comparison: Comparison) -> Found:
    """run.opened moves behind its records: they belong to no run, so a tail of them is none of open runs."""
    target = comparison.place / "moved.db"
    comparison.snapshot(comparison.ledgers.short, target)
    connection = sqlite3.connect(target, isolation_level=None)
    connection.execute("UPDATE records SET seq=1000 WHERE seq=10")
    connection.execute("DELETE FROM checkpoints WHERE size>10")
    connection.close()
    return comparison.compare(target, comparison.ledgers.trust, "--allow-open"), [
        "prev_mismatch", "run_not_opened", "run_unfinished_excluded", "sequence_gap", "sequence_mismatch", "tail_unsigned"]


def receipt_whose_record_0_names_another_origin(comparison: Comparison) -> Found:
    """The origin is the envelope's, so one change is found once and not at everything behind it."""
    lines = comparison.ledgers.receipts[2].split(b"\n")
    extra = json.loads(base64.b64decode(lines[1][len(b"extra "):]))
    dsse = extra["records"][0]["dsse"]
    payload = profile.parse(base64.b64decode(dsse["payload"]))
    payload["predicate"]["body"]["origin"] = "conformance.example/ledger/0123456789abcdef"
    dsse["payload"] = base64.b64encode(profile.canonical(payload)).decode("ascii")
    lines[1] = b"extra " + base64.b64encode(profile.canonical(extra))
    target = comparison.place / "reworked"
    target.write_bytes(b"\n".join(lines))
    return comparison.compare(target, comparison.ledgers.keys_home / "trust"), [
        "bad_signature", "origin_mismatch", "receipt_not_included"]


def checkpoint_row_without_a_frontier(comparison: Comparison) -> Found:
    """A row of its size all the same: it is malformed, and no other is missing for it."""
    target = comparison.place / "no-frontier.db"
    comparison.snapshot(comparison.ledgers.short, target)
    kept = "SELECT sql FROM sqlite_schema WHERE name='checkpoints'"
    connection = sqlite3.connect(target, isolation_level=None)
    [(table,)] = connection.execute(kept).fetchall()
    change = "UPDATE checkpoints SET frontier=NULL WHERE size=(SELECT size FROM checkpoints ORDER BY size LIMIT 1 OFFSET 1)"
    for sql, then in ((table.replace("frontier BLOB NOT NULL", "frontier BLOB"), change), (table, "SELECT 1")):
        connection.execute("PRAGMA writable_schema=ON")
        connection.execute("UPDATE sqlite_schema SET sql=? WHERE name='checkpoints'", (sql,))
        connection.close()
        connection = sqlite3.connect(target, isolation_level=None)
        connection.execute(then)
    connection.close()
    return comparison.compare(target, comparison.ledgers.trust), ["checkpoint_frontier", "checkpoint_malformed", "database_corrupt"]


def receipt_with_another_run_in_front(comparison: Comparison) -> Found:
    """It stays one of the first run, whose key the second run's end was not signed with."""
    ledgers, (first, second) = comparison.ledgers, comparison.ledgers.receipts[:2]
    lines = second.split(b"\n")
    extras = [json.loads(base64.b64decode(one.split(b"\n")[1][len(b"extra "):])) for one in (first, second)]
    opened = next(one for one in extras[0]["records"] if b'"kind":"run.opened"' in base64.b64decode(one["dsse"]["payload"]))
    extras[1]["records"].insert(1, opened)
    lines[1] = b"extra " + base64.b64encode(profile.canonical(extras[1]))
    target = comparison.place / "reworked"
    target.write_bytes(b"\n".join(lines))
    return comparison.compare(target, ledgers.home / "trust"), [
        "receipt_not_included", "receipt_record_unexpected", "wrong_signer"]


def receipt_of_another_first_line(comparison: Comparison) -> Found:
    """Its first 16 bytes are those of a receipt."""
    target = comparison.place / "reworked"
    target.write_bytes(b"c2sp.org/tlog-prAAf@v1" + comparison.ledgers.receipts[0][22:])
    return comparison.compare(target, comparison.ledgers.trust), ["receipt_malformed"]


def file_that_begins_as_a_receipt_for_15_bytes(comparison: Comparison) -> Found:
    target = comparison.place / "reworked"
    target.write_bytes(b"c2sp.org/tlog-pA" + comparison.ledgers.receipts[0][16:])
    return comparison.compare(target, comparison.ledgers.trust), ["target_not_recognised"]


CASES: tuple[Callable[[Comparison], Found], ...] = (
    head_changed_that_a_later_log_key_signed, head_signed_by_one_log_key_and_badly_in_the_name_of_a_later_one,
    policy_recorded_after_the_denial, tail_of_records_without_their_opening, receipt_whose_record_0_names_another_origin,
    checkpoint_row_without_a_frontier, receipt_of_another_first_line, file_that_begins_as_a_receipt_for_15_bytes,
    receipt_with_another_run_in_front)
