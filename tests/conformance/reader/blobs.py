"""Blobs against the records that name them (ledger-format.md section 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .findings import Findings
from .merkle import sha256

if TYPE_CHECKING:
    from .scan import Record

MAX_BLOB = 2**20


def named_by(records: list[Record]) -> dict[bytes, list[Record]]:
    """Digest of every blob that a record names, with the records."""
    result: dict[bytes, list[Record]] = {}
    for record in records:
        if record.known and record.statement.kind == "policy.resolved" and "blob" in record.statement.body:
            result.setdefault(bytes.fromhex(record.statement.body["blob"]), []).append(record)
    return result


def check(rows: list[tuple[Any, ...]], records: list[Record], findings: Findings) -> int:
    """Reports on every row; returns how many of the blobs that are named are withheld."""
    named, present = named_by(records), set()
    for key, salt, data in rows:
        if salt is not None or data is not None:
            present.add(key)
        if key not in named:
            findings.add("blob_unnamed", actual=repr(key))
        if type(key) is not bytes or len(key) != 32 or (salt is None) != (data is None):
            findings.add("blob_malformed")
            continue
        if data is None:
            continue
        if type(salt) is not bytes or len(salt) != 32 or type(data) is not bytes or len(data) > MAX_BLOB:
            findings.add("blob_malformed")
        elif sha256(salt + data) != key:
            findings.add("blob_digest", actual=sha256(salt + data).hex(), expected=key.hex())
        else:
            _documents(data, named.get(key, []), findings)
    withheld = len(set(named) - present)
    if withheld:
        findings.add("blob_withheld", actual=f"{withheld} blobs")
    return withheld


def _documents(data: bytes, records: list[Record], findings: Findings) -> None:
    for record in records:
        document = record.statement.body.get("document")
        if document is not None and document != sha256(data).hex():
            findings.add("policy_document_differs", detail=record.statement.run)


def anchors(rows: list[tuple[Any, ...]], sizes: set[int], findings: Findings) -> None:
    for size, sink, receipt in rows:
        if type(size) is not int or type(sink) is not bytes or type(receipt) is not bytes or size not in sizes:
            findings.add("anchor_malformed")
    if rows:
        findings.add("anchor_not_evaluated", actual=f"{len(rows)} rows")
