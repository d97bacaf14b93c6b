"""The state machine of the runs (ledger-format.md sections 2 and 5)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from . import ed25519

if TYPE_CHECKING:
    from .scan import Record, Scan

LISTS = ("policy.resolved", "control.prepared", "boundary.proved")
ENDS = ("run.closed", "run.recovered")


@dataclass
class Run:
    id: str
    opened: Record
    key: bytes | None
    records: list[Record] = field(default_factory=list)
    count: int = 0
    started: bool = False
    permitted: bool = False
    end: str = ""
    end_known: bool = False
    last_kind: str = ""
    last_seq: int = -1
    open_list: str = ""
    positions: set[int] = field(default_factory=set)

    def state(self) -> str:
        last = self.records[-1].statement
        if last.kind == "run.recovered":
            return "interrupted"
        if last.kind != "run.closed":
            return "unfinished"
        ending = str(last.body["ending"])
        return "failed_before_start" if ending.endswith("_failed") else ending


def _permits(record: Record) -> bool:
    """Once it stands the program may have run: section 4.6, `program_may_have_run`."""
    kind, body = record.statement.kind, record.statement.body
    return kind in ("boundary.proved", "process.started") or (kind == "plan.resolved" and body["posture"] == "unconfined")


@dataclass
class RunTable:
    runs: dict[str, Run] = field(default_factory=dict)

    def get(self, identifier: str) -> Run | None:
        return self.runs.get(identifier)

    def enter(self, record: Record, scan: Scan) -> None:
        statement, findings = record.statement, scan.findings
        run = self.runs.get(statement.run)
        if statement.kind == "run.opened":
            if run is not None:
                findings.add("run_reopened", record.seq, detail=statement.run)
                return
            if record.known:
                self._open(record, scan)
            return
        if run is None:
            findings.add("run_not_opened", record.seq, statement.kind, detail=statement.run)
            return
        if run.end:
            findings.add("record_after_close", record.seq, statement.kind, detail=statement.run)
            return
        if statement.kind == "process.started":
            if run.started:
                findings.add("start_repeated", record.seq, detail=statement.run)
            run.started = True
        if statement.kind in ENDS:
            self._end(run, record, scan)
        run.permitted = run.permitted or record.known and _permits(record)
        self._count(run, record, scan)

    def _open(self, record: Record, scan: Scan) -> None:
        key = bytes.fromhex(record.statement.body["run_key"])
        if not ed25519.acceptable_key(key):
            scan.findings.add("run_key_unacceptable", record.seq, detail=record.statement.run)
        run = Run(record.statement.run, record, key)
        self.runs[run.id] = run
        self._count(run, record, scan)

    def _list(self, run: Run, record: Record, scan: Scan) -> None:
        """The parts of one list stand together (ledger-format.md section 3)."""
        kind = record.statement.kind
        if run.open_list and kind != run.open_list:
            scan.findings.add("part_missing", record.seq, kind, f"the next part of {run.open_list}", run.id)
        run.open_list = ""
        if record.known and "parts" in record.statement.body and kind in LISTS:
            body = record.statement.body
            run.open_list = kind if body["part"] < body["parts"] else ""

    def _count(self, run: Run, record: Record, scan: Scan) -> None:
        run.count += 1
        self._list(run, record, scan)
        run.last_kind, run.last_seq = record.statement.kind, record.seq
        run.positions.add(record.position)
        if record.known:
            run.records.append(record)

    def _end(self, run: Run, record: Record, scan: Scan) -> None:
        statement = record.statement
        scan.run_ends.append(record.position)
        run.end = statement.kind
        run.end_known = record.known
        if not record.known:
            return
        body = statement.body
        if statement.kind == "run.closed" and body["records"] != run.count:
            scan.findings.add("records_count_mismatch", record.seq, str(body["records"]), str(run.count))
        if statement.kind == "run.recovered" and (body["last_kind"], body["program_may_have_run"]) != (
                run.last_kind, run.permitted):
            scan.findings.add("recovery_differs", record.seq)
