"""The verify algorithm (ledger-format.md section 9): a target to a report."""

from __future__ import annotations

import hashlib
import pathlib
import tempfile
from dataclasses import dataclass, field
from typing import Any

from . import blobs, database, receipts
from .boundary import channel
from .checkpoints import Checkpoints, check_ledger_quorum, compare_reference
from .claims import claims
from .contradictions import RULES, contradictions
from .facts import gather
from .findings import STATUS, Findings
from .keys import check_pins
from .notes import Note, NoteError
from .runs import Run
from .scan import Record, Scan
from .trust import Trust
from .witness import witness


MAX_DISTANCE = 256
COVERAGE = ("records", "signed_up_to", "unsigned_tail", "skipped", "blobs", "blobs_withheld")


def head_name(origin: str) -> str:
    return hashlib.sha256(origin.encode("utf-8", "surrogateescape")).hexdigest()


@dataclass
class Options:
    trust: Trust | None = None
    explicit: bool = False
    run: str = ""
    allow_open: bool = False
    require_close: bool = False
    own: bool = False
    heads: dict[str, bytes] = field(default_factory=dict)
    references: list[bytes] = field(default_factory=list)


    def heads_for(self, origin: str) -> list[bytes]:
        """Notes of heads/ (by SHA-256 of the origin) that this ledger must extend."""
        pinned = {head_name(one) for one in self.trust.roots} if self.trust else set()
        asked = pinned or (set(self.heads) if self.own else set())
        found = {name: self.heads[name] for name in asked if name in self.heads}
        if head_name(origin) in found:
            return [found[head_name(origin)]]
        return list(found.values()) if self.own else []


def verify(path: pathlib.Path, options: Options) -> dict[str, Any]:
    """The report on the ledger or receipt at `path`."""
    findings = Findings()
    report: dict[str, Any] = {"schema": "aasm.verify-report/1", "coverage": dict.fromkeys(COVERAGE, 0), "runs": []}
    try:
        data = database.read_regular(path)
        if data.startswith(database.MAGIC):
            report["target"] = "ledger"
            with tempfile.TemporaryDirectory(prefix="aasm-reader-") as directory:
                tables = database.read(database.make_copy(path, pathlib.Path(directory)), findings)
            if tables is not None:
                _ledger(tables, options, findings, report)
        elif data.startswith(receipts.MAGIC):
            report["target"] = "receipt"
            receipts.check(data, options, findings)
        else:
            findings.add("target_not_recognised")
    except database.Stop as stop:
        findings.add(stop.code, detail=stop.detail)
    verdict = findings.verdict()
    report.update(verdict=verdict, exit_status=STATUS[verdict], findings=findings.groups())
    return report


def _ledger(tables: database.Tables, options: Options, findings: Findings, report: dict[str, Any]) -> None:
    scan = Scan(findings, options.trust)
    marks = Checkpoints(findings, options.trust, scan.revocations)
    _scan(tables, scan, marks)
    report["coverage"].update(records=len(scan.leaves), unsigned_tail=len(scan.leaves), skipped=scan.skipped)
    if not tables.records:
        findings.add("empty_ledger")
    if scan.keys is not None:
        check_pins(scan.keys, options.trust, options.explicit, findings)
    scan.revocations.finish(marks.witnessed())
    marks.cadence(scan.run_ends, scan.key_records, len(scan.leaves), scan.keys.distance if scan.keys else MAX_DISTANCE)
    withheld = blobs.check(tables.blobs, scan.records, findings)
    blobs.anchors(tables.anchors, {row[0] for row in tables.checkpoints}, findings)
    _embedded(scan, marks)
    probes = _probes(scan, options)
    for note in options.heads_for(scan.origin) + options.references:
        compare_reference(note, scan.keys, scan.leaves, options.trust, findings)
    _tail(scan, marks, options)
    report["runs"] = _runs(scan, probes, options)
    if tables.records:
        end = report["runs"][0]["last_seq"] + 1 if options.run and report["runs"] else None
        check_ledger_quorum(marks, end, options.trust, findings)
    report["coverage"] = {"records": len(scan.leaves), "signed_up_to": marks.signed_up_to, "skipped": scan.skipped,
                          "unsigned_tail": len(scan.leaves) - marks.signed_up_to, "blobs": len(tables.blobs),
                          "blobs_withheld": withheld}


def _scan(tables: database.Tables, scan: Scan, marks: Checkpoints) -> None:
    """A batch of records, then the checkpoints that it has passed: what they revoke and sign is known in this order."""
    waiting = list(tables.checkpoints)
    for batch in database.batches(tables.records):
        trees: dict[int, tuple[bytes, bytes]] = {}
        sizes = {row[0] for row in waiting}
        for row in batch:
            scan.row(row)
            if scan.tree.size in sizes:
                trees[scan.tree.size] = (scan.tree.root(), scan.tree.frontier())
        marks.check([row for row in waiting if row[0] <= scan.tree.size], trees, scan.keys, scan.skipped_from)
        waiting = [row for row in waiting if row[0] > scan.tree.size]
    marks.beyond(waiting, len(scan.leaves))


def _embedded(scan: Scan, marks: Checkpoints) -> None:
    for run in scan.runs.runs.values():
        text = run.opened.statement.body.get("checkpoint")
        if text is None:
            continue
        try:
            note = Note.parse(text.encode("utf-8"))
        except NoteError:
            note = None
        stored = marks.notes.get(note.size) if note else None
        if note is None or stored is None or stored.text != note.text or note.size > run.opened.position:
            scan.findings.add("embedded_checkpoint_unknown", run.opened.seq)


def _probes(scan: Scan, options: Options) -> dict[int, Record]:
    """capability.probed records by place; reports references that lead nowhere."""
    found: dict[int, Record] = {}
    for record in scan.records:
        if record.statement.kind != "capability.probed" or not record.known:
            continue
        reference, run = record.statement.body.get("reference"), scan.runs.get(record.statement.run)
        entered = run is not None and run.opened.derivable and any(one is record for one in run.records) and run.id.startswith(options.run)
        if entered and reference is not None and reference["seq"] not in found:
            scan.findings.add("probe_reference_dangling", record.seq)
        found[record.seq] = record
    return found


def _tail(scan: Scan, marks: Checkpoints, options: Options) -> None:
    total, newest = len(scan.leaves), max(marks.sizes, default=0)
    if newest >= total:
        return
    unfinished = [run.positions for run in scan.runs.runs.values() if not run.end]
    excluded = options.allow_open and not options.run and set(range(newest, total)) <= set().union(*unfinished)
    scan.findings.add("tail_of_open_runs" if excluded else "tail_unsigned", newest)


def _runs(scan: Scan, probes: dict[int, Record], options: Options) -> list[dict[str, Any]]:
    runs = list(scan.runs.runs.values())
    if options.run:
        runs = [run for run in runs if run.id.startswith(options.run)]
        if len(runs) != 1:
            scan.findings.add("run_ambiguous" if runs else "run_not_found")
            runs = runs[:1]
    return [_one_run(scan, run, probes, options) for run in runs if run.opened.derivable]


def _one_run(scan: Scan, run: Run, probes: dict[int, Record], options: Options) -> dict[str, Any]:
    state = run.state()
    result: dict[str, Any] = {"id": run.id, "state": state, "opened_seq": run.opened.seq, "last_seq": run.last_seq}
    if not run.end_known:
        excluded = options.allow_open and not options.run and not run.end
        scan.findings.add("run_unfinished_excluded" if excluded else "run_unfinished", run.last_seq, detail=run.id)
        if excluded:
            return result
    elif run.end == "run.recovered" and (options.run or options.require_close):
        scan.findings.add("run_interrupted", run.last_seq, detail=run.id)
    facts = gather(run, probes)
    if facts.opened["claims_rules"] != RULES:
        scan.findings.add("claims_rules_unknown", run.last_seq, detail=run.id)
        return result
    for code, seq in contradictions(facts):
        scan.findings.add(code, seq, detail=run.id)
    if (told := witness(facts)) is not None:
        result["witness"] = told
        if told["unexplained"]:
            scan.findings.add("witness_disagrees", run.last_seq, detail=run.id)
    result["channel"] = channel(facts)
    result["domains"] = claims(facts)
    return result
