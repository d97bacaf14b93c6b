"""Receipts: c2sp.org/tlog-proof@v1 with the records of a run (ledger-format.md section 7)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import bodies, merkle, profile
from .checkpoints import check_quorum, compare_reference_by_note, cosigners, log_fault
from .findings import Findings
from .keys import KeyState, check_pins
from .notes import Note, NoteError, decode_base64
from .scan import Scan

if TYPE_CHECKING:
    from .verify import Options

MAGIC = b"c2sp.org/tlog-pr"  # the first 16 bytes
FIRST_LINE = "c2sp.org/tlog-proof@v1"
INDEX = re.compile(r"index (0|[1-9][0-9]{0,15})\Z")
MEMBERS = {"dsse", "index", "path"}
LAST = 2**64  # a size behind every change of keys


class ReceiptError(Exception):
    """The receipt is not of the format."""


@dataclass
class Entry:
    index: int
    payload: bytes
    keyid: bytes
    signature: bytes
    path: list[bytes]


@dataclass
class Receipt:
    entries: list[Entry]
    note: Note


def _need(condition: bool, what: str) -> None:
    if not condition:
        raise ReceiptError(what)


def _hashes(texts: list[Any]) -> list[bytes]:
    _need(len(texts) <= 64 and all(isinstance(text, str) for text in texts), "path")
    result = [decode_base64(text) for text in texts]
    _need(all(len(one) == 32 for one in result), "path hash")
    return result


def _entry(value: Any) -> Entry:
    _need(isinstance(value, dict) and set(value) == MEMBERS, "record members")
    dsse = value["dsse"]
    _need(isinstance(dsse, dict) and set(dsse) == {"payload", "payloadType", "signatures"}, "dsse members")
    _need(dsse["payloadType"] == merkle.PAYLOAD_TYPE.decode("ascii") and isinstance(dsse["payload"], str), "dsse")
    signatures = dsse["signatures"]
    _need(isinstance(signatures, list) and len(signatures) == 1 and isinstance(signatures[0], dict), "signatures")
    one = signatures[0]
    _need(set(one) == {"keyid", "sig"} and all(isinstance(text, str) for text in one.values()), "signature members")
    _need(bool(re.fullmatch(r"[0-9a-f]{64}", one["keyid"])), "keyid")
    index = value["index"]
    _need(isinstance(index, int) and not isinstance(index, bool) and index >= 0, "index")
    _need(isinstance(value["path"], list), "path")
    signature = decode_base64(one["sig"])
    _need(len(signature) == 64, "signature length")
    return Entry(index, decode_base64(dsse["payload"]), bytes.fromhex(one["keyid"]), signature, _hashes(value["path"]))


def parse(data: bytes) -> Receipt:
    """Raises ReceiptError or NoteError or ProfileError."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ReceiptError("utf-8") from error
    head, blank, note = text.partition("\n\n")
    _need(bool(blank), "no blank line")
    lines = head.split("\n")
    _need(lines[0] == FIRST_LINE and len(lines) >= 3 and lines[1].startswith("extra "), "no extra line")
    index = INDEX.match(lines[2])
    _need(index is not None, "no index line")
    assert index is not None
    extra = decode_base64(lines[1][len("extra "):])
    value = profile.parse(extra)
    _need(profile.canonical(value) == extra and set(value) == {"records"}, "extra")
    _need(isinstance(value["records"], list), "records")
    entries = [_entry(one) for one in value["records"]]
    _need(bool(entries), "no records")
    _need(all(one.index < other.index for one, other in zip(entries, entries[1:])), "order of the records")
    _need(entries[-1].index == int(index[1]) and entries[-1].path == _hashes(lines[3:]), "proof is of another record")
    return Receipt(entries, Note.parse(note.encode("utf-8")))


def check(data: bytes, options: Options, findings: Findings) -> None:
    try:
        receipt = parse(data)
    except (ReceiptError, NoteError, profile.ProfileError) as error:
        findings.add("receipt_malformed", detail=str(error))
        return
    scan = Scan(findings, options.trust)
    first = receipt.entries[0]
    if first.index != 0:
        findings.add("receipt_record_missing", detail="ledger.created")
        return
    if not _genesis(scan, first) or scan.keys is None:
        return
    _run(scan, receipt)
    _note(scan, scan.keys, receipt, options)
    for entry in receipt.entries:
        leaf = merkle.leaf_hash(entry.payload)
        if merkle.root_from_path(leaf, entry.index, receipt.note.size, entry.path) != receipt.note.root:
            findings.add("receipt_not_included", entry.index)


def _genesis(scan: Scan, first: Entry) -> bool:
    """Record 0, or the one finding that it is none."""
    statement = scan.statement(first.index, first.payload)
    if statement is None:
        return False
    try:
        bodies.check("ledger.created" if statement.kind == "ledger.created" else "", statement.body)
    except (bodies.BodyError, KeyError):
        scan.findings.add("receipt_record_missing", detail="ledger.created")
        return False
    return scan.single(first.index, first.payload, first.keyid, first.signature, None) is not None


def _note(scan: Scan, keys: KeyState, receipt: Receipt, options: Options) -> None:
    findings, note = scan.findings, receipt.note
    check_pins(keys, options.trust, options.explicit, findings)
    if note.origin != keys.origin:
        findings.add("checkpoint_origin", actual=note.origin)
    fault = log_fault(note, keys.log_key(LAST))
    if fault:
        findings.add("signer_after_skipped_key" if fault == "checkpoint_unsigned" and scan.skipped_key else fault)
    if not fault:
        scan.revocations.signed(keys.log_at(LAST), note.size - 1, note.size - 1)
    cosigned = cosigners(note, options.trust, -1, findings)
    check_quorum(cosigned, options.trust, findings)
    asked = options.trust is not None and options.trust.quorum not in (None, "none")
    scan.revocations.finish([note.size] if asked and options.trust.met(options.trust.quorum, cosigned) else [])
    for reference in options.references:
        compare_reference_by_note(reference, keys, note, options.trust, findings)


def _run(scan: Scan, receipt: Receipt) -> None:
    """After record 0: run.opened, then run.closed of that run as the last record."""
    findings, opened, closed = scan.findings, None, False
    for entry in receipt.entries[1:]:
        record = scan.single(entry.index, entry.payload, entry.keyid, entry.signature, opened)
        if record is None or record.statement.kind.startswith("key."):
            continue
        kind = record.statement.kind
        if kind == "run.opened" and opened is None:
            opened = record
        elif not (kind == "run.closed" and opened and not closed and record.statement.run == opened.statement.run):
            findings.add("receipt_record_unexpected", record.seq, kind)
        elif kind == "run.closed" and entry is not receipt.entries[-1]:
            findings.add("receipt_index_mismatch", record.seq)
        closed = closed or kind == "run.closed"
    for kind, there in (("run.opened", opened is not None), ("run.closed", closed or opened is None)):
        if not there:
            findings.add("receipt_record_missing", detail=kind)
