"""Blobs against the records that name them (ledger-format.md section 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .database import Text
from .findings import Findings
from .merkle import sha256

if TYPE_CHECKING:
    from .scan import Record

MAX_BLOB = 2**20


def named_by(records: list[Record]) -> dict[bytes, list[Record]]:
    """Digest of every blob that a record names, with the records."""
    result: dict[bytes, list[Record]] = {}
    for record in records:
        if record.known and record.statement.kind == "policy.resolved":
            for document in documents_of(record):
                if "blob" in document:
                    result.setdefault(bytes.fromhex(document["blob"]), []).append(record)
    return result


def documents_of(record: Record) -> list[dict[str, Any]]:
    """The objects of the body that state `document` and `blob`: the body itself and those it extends."""
    return [record.statement.body, *record.statement.body.get("extends", [])]


def check(rows: list[tuple[Any, ...]], records: list[Record], findings: Findings) -> int:
    """Reports on every row; returns how many of the blobs that are named are withheld."""
    named, present = named_by(records), set()
    for key, salt, data in rows:
        if type(key) is not bytes:
            findings.add("blob_unnamed", actual=repr(key))
            findings.add("blob_malformed")
            continue
        if salt is not None or data is not None:
            present.add(key)
        if key not in named:
            findings.add("blob_unnamed", actual=repr(key))
        if len(key) != 32 or (salt is None) != (data is None):
            findings.add("blob_malformed")
            continue
        if data is None:
            continue
        if type(salt) is not bytes or len(salt) != 32 or type(data) is not bytes or len(data) > MAX_BLOB:
            findings.add("blob_malformed")
        elif sha256(salt + data) != key:
            findings.add("blob_digest", actual=sha256(salt + data).hex(), expected=key.hex())
        else:
            _documents(key, data, named.get(key, []), findings)
    withheld = len(set(named) - present)
    if withheld:
        findings.add("blob_withheld", actual=f"{withheld} blobs")
    return withheld


def _documents(key: bytes, data: bytes, records: list[Record], findings: Findings) -> None:
    for record in records:
        for one in documents_of(record):
            if one.get("blob") == key.hex() and one.get("document", sha256(data).hex()) != sha256(data).hex():
                findings.add("policy_document_differs", detail=record.statement.run)


def anchors(rows: list[tuple[Any, ...]], sizes: set[int], findings: Findings) -> None:
    for size, sink, receipt in rows:
        if type(size) is not int or type(sink) is not Text or type(receipt) is not bytes or size not in sizes:
            findings.add("anchor_malformed")
    if rows:
        findings.add("anchor_not_evaluated", actual=f"{len(rows)} rows")
