"""Receipts: c2sp.org/tlog-proof@v1 with the records of a run (ledger-format.md section 7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .findings import Findings

if TYPE_CHECKING:
    from .verify import Options

MAGIC = b"c2sp.org/tlog-proof@v1\n"


def check(data: bytes, options: Options, findings: Findings, report: dict[str, Any]) -> None:
    findings.add("receipt_malformed")
