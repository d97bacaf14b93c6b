"""Findings, their weights and the verdict (docs/spec/verify-findings.md, ledger-format.md section 10)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from . import spec

STATUS = {"VERIFIED": 0, "FAILED": 1, "USAGE": 2, "INCONCLUSIVE": 3, "UNREADABLE": 4}
ORDER = (("fails", "FAILED"), ("unreadable", "UNREADABLE"), ("inconclusive", "INCONCLUSIVE"))
MAX_LISTED = 100


@dataclass(frozen=True)
class Finding:
    code: str
    seq: int = -1
    actual: str = ""
    expected: str = ""
    detail: str = ""


@dataclass
class Findings:
    items: list[Finding] = field(default_factory=list)

    def add(self, code: str, seq: int = -1, actual: str = "", expected: str = "", detail: str = "") -> None:
        if code not in spec.weights():
            raise AssertionError(f"docs/spec/verify-findings.md has no {code}")
        self.items.append(Finding(code, seq, actual, expected, detail))

    def verdict(self) -> str:
        found = {spec.weights()[item.code] for item in self.items}
        return next((verdict for weight, verdict in ORDER if weight in found), "VERIFIED")

    def groups(self) -> list[dict[str, Any]]:
        """By code in the order of the document; at most 100 items are listed of all codes together."""
        left, result = MAX_LISTED, []
        for code, weight in spec.weights().items():
            mine = sorted((item for item in self.items if item.code == code), key=lambda item: item.seq)
            if mine:
                listed = [_plain(item) for item in mine[:left]]
                left -= len(listed)
                result.append({"code": code, "count": len(mine), "weight": weight, "items": listed})
        return result


def _plain(item: Finding) -> dict[str, Any]:
    named = {"actual": item.actual, "detail": item.detail, "expected": item.expected}
    return {"seq": item.seq, **{name: value for name, value in named.items() if value}}
