"""Records of kinds that no reader knows, in ledgers and receipts: who may have signed them, and what they count for."""

from __future__ import annotations

import base64
import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from forge import Entry, Forge, load, load_blobs
from reader import merkle, profile
from reading_cases import Found

if TYPE_CHECKING:
    from compare_readers import Comparison

KINDS = ("ledger.created", "run.opened", "run.closed")


def _forge(comparison: Comparison) -> Forge:
    """With the first run alone."""
    path = comparison.ledgers.home / "ledger.db"
    entries = load(path)
    first = next(one.run for one in entries if one.run)
    entries = [one for one in entries if one.run in ("", first)]
    named = str([one.body for one in entries if one.kind == "policy.resolved"])
    return Forge(entries, [one for one in load_blobs(path) if one[0].hex() in named])


def _put(forge: Forge, kind: str, *signers: str, run: bool = True) -> list[int]:
    """Within the run, one signed by each; where they stand."""
    started = next(one for one in forge.entries if one.kind == "process.started")
    at = forge.entries.index(started)
    more = [dataclasses.replace(started, kind=kind, body={}, signer=one, run=started.run if run else "")
            for one in signers]
    forge.entries[at:at] = more
    closed = next(one for one in forge.entries if one.kind == "run.closed")
    closed.body["records"] += len(more) if run else 0
    return list(range(at, at + len(more)))


def of_a_run(comparison: Comparison) -> Found:
    """By the run's key, the host's, and a stranger's, which alone is a wrong signer."""
    forge = _forge(comparison)
    _put(forge, "agent.thought", "", "host", "stranger")
    return comparison.forged(forge), ["record_skipped", "wrong_signer"]


def of_a_run_by_the_run_or_the_host(comparison: Comparison) -> Found:
    forge = _forge(comparison)
    _put(forge, "agent.thought", "", "host")
    return comparison.forged(forge), ["record_skipped"]


def of_a_run_behind_a_skipped_key_record(comparison: Comparison) -> Found:
    """The stranger's may be of a host key that no reader was told of."""
    forge = _forge(comparison)
    _put(forge, "key.renamed", "host", run=False)
    _put(forge, "agent.thought", "", "host", "stranger")
    return comparison.forged(forge), ["record_skipped", "signer_after_skipped_key"]


def of_no_run(comparison: Comparison) -> Found:
    forge = _forge(comparison)
    _put(forge, "agent.thought", "host", "stranger", run=False)
    return comparison.forged(forge), ["record_skipped", "wrong_signer"]


def of_the_ledger_within_a_run(comparison: Comparison) -> Found:
    """Kinds of the ledger have no run, also those that nobody knows: such a record counts for nothing."""
    forge = _forge(comparison)
    _put(forge, "key.renamed", "")
    _put(forge, "ledger.sealed", "")
    return comparison.forged(forge), ["payload_malformed", "records_count_mismatch"]


def _entry(forge: Forge, index: int) -> dict[str, Any]:
    _seq, _prev, _leaf, payload, key, signature = forge.rows[index]
    text = {"payload": payload, "sig": signature}
    encoded = {name: base64.b64encode(value).decode("ascii") for name, value in text.items()}
    path = [base64.b64encode(one).decode("ascii") for one in merkle.inclusion_path(forge.leaves, index)]
    return {"dsse": {"payload": encoded["payload"], "payloadType": merkle.PAYLOAD_TYPE.decode("ascii"),
                     "signatures": [{"keyid": key.hex(), "sig": encoded["sig"]}]}, "index": index, "path": path}


def _receipt(comparison: Comparison, forge: Forge, more: list[int]) -> list[str]:
    """The differences on a receipt of the forged run with these records too."""
    comparison.forged(forge)
    kinds: list[Entry] = forge.entries
    indexes = sorted([*(index for index, one in enumerate(kinds) if one.kind in KINDS), *more])
    entries = [_entry(forge, index) for index in indexes]
    note = max(forge.checkpoints)[1].decode("utf-8")
    extra = base64.b64encode(profile.canonical({"records": entries})).decode("ascii")
    lines = ["c2sp.org/tlog-proof@v1", f"extra {extra}", f"index {indexes[-1]}", *entries[-1]["path"]]
    target = comparison.place / "reworked"
    target.write_text("\n".join(lines) + "\n\n" + note, encoding="utf-8")
    return comparison.compare(target, comparison.place / "trust")


def of_no_receipt(comparison: Comparison) -> Found:
    """So that what follows is about the records, not about how the receipt was put together."""
    return _receipt(comparison, _forge(comparison), []), []


def of_a_receipt(comparison: Comparison) -> Found:
    forge = _forge(comparison)
    more = _put(forge, "agent.thought", "", "host", "stranger")
    return _receipt(comparison, forge, more), ["receipt_record_unexpected", "wrong_signer"]


def of_a_receipt_by_the_run_or_the_host(comparison: Comparison) -> Found:
    forge = _forge(comparison)
    more = _put(forge, "agent.thought", "", "host")
    return _receipt(comparison, forge, more), ["receipt_record_unexpected"]


def of_a_receipt_behind_a_skipped_key_record(comparison: Comparison) -> Found:
    """What signs the note may be a log key that no reader was told of, too."""
    forge = _forge(comparison)
    more = [*_put(forge, "key.renamed", "host", run=False), *_put(forge, "agent.thought", "stranger")]
    forge.log_after = (0, "stranger")
    return _receipt(comparison, forge, more), ["receipt_record_unexpected", "record_skipped", "signer_after_skipped_key"]


CASES: tuple[Callable[[Comparison], Found], ...] = (
    of_a_run, of_a_run_by_the_run_or_the_host, of_a_run_behind_a_skipped_key_record, of_no_run, of_the_ledger_within_a_run,
    of_no_receipt, of_a_receipt, of_a_receipt_by_the_run_or_the_host, of_a_receipt_behind_a_skipped_key_record)
