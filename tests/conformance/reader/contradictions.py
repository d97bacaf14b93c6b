"""Contradictions between the records of one run (docs/spec/product.md section 5)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .claims import in_workload, same_boot
from .coverage import covers
from .facts import BATCHES, SETUP, Facts

ONCE = ("policy.resolved", "capability.probed", "plan.resolved", "plan.refused", "process.started",
        "process.exited")
CONFINED = ("capability.probed", "control.prepared", "boundary.proved")
RULES = "claims/1"
Found = tuple[str, int]


def contradictions(facts: Facts) -> list[Found]:
    """(code, sequence number) of each; one entry a code, at its first place."""
    seen: dict[str, int] = {}
    for code, seq in _all(facts):
        seen[code] = min(seq, seen[code]) if code in seen and -1 not in (seq, seen[code]) else max(seq, seen.get(code, seq))
    return sorted(seen.items())


def _all(facts: Facts) -> Iterator[Found]:
    yield from _signers(facts)
    yield from _repeated(facts)
    yield from _start(facts)
    yield from _order(facts)
    yield from _policy_and_plan(facts)
    yield from _probe(facts)
    yield from _boundary(facts)
    yield from _events(facts)
    yield from _end(facts)


def _signers(facts: Facts) -> Iterator[Found]:
    for record in facts.unsigned:
        yield "signer_not_accepted", record.seq
    for records in facts.by_kind.values():
        for record in records:
            if record.statement.kind != "run.recovered" and not same_boot(facts, record):
                yield "record_of_another_boot", record.seq


def _repeated(facts: Facts) -> Iterator[Found]:
    for kind in ONCE:
        for record in facts.all(kind)[1:]:
            yield "record_repeated", record.seq
    for kind in ("control.prepared", "boundary.proved"):
        yield from _parts(facts, kind)


def _parts(facts: Facts, kind: str) -> Iterator[Found]:
    part = parts = 0
    for record in facts.all(kind):
        body = record.statement.body
        if body["part"] != (part + 1 if part < parts else 1) or (part < parts and body["parts"] != parts):
            yield "part_missing", record.seq
        part, parts = body["part"], body["parts"]
    if part < parts:
        yield "part_missing", -1


def _start(facts: Facts) -> Iterator[Found]:
    started = facts.started
    if started is None:
        return
    for requirement in facts.requirements() if facts.all("plan.resolved") else []:
        outcome = facts.outcome(requirement["domain"])
        unmet = outcome is None or outcome["kind"] == "unmet" or (
            outcome["kind"] == "no_boundary" and not facts.unconfined)
        if unmet and requirement["posture"] == "required":
            yield "started_despite_unmet_requirement", started.seq
    if facts.all("plan.refused"):
        yield "started_despite_refusal", started.seq
    if any(record.statement.body["failed_step"] for record in facts.all("control.prepared")):
        yield "started_after_failed_step", started.seq
    needed = ("policy.resolved", "plan.resolved") + (() if facts.unconfined else CONFINED)
    if not all(facts.all(kind) for kind in needed):
        yield "setup_record_missing", -1
    yield from _image(facts)


def _image(facts: Facts) -> Iterator[Found]:
    started = facts.started
    assert started is not None
    body = started.statement.body
    prepared = {image["digest"] for record in facts.all("control.prepared") for image in record.statement.body["images"]}
    if facts.all("control.prepared") and body["exe_read"] == "at_exec_stop" and body.get("exe_digest") not in prepared:
        yield "started_digest_not_prepared", started.seq


def _order(facts: Facts) -> Iterator[Found]:
    started = facts.started
    for kind in (*BATCHES, "process.exited"):
        for record in facts.all(kind):
            if started is None or record.position < started.position:
                yield "activity_before_start", record.seq
    if started is None:
        return
    for kind in SETUP:
        for record in facts.all(kind):
            if record.position > started.position:
                yield "setup_after_start", record.seq
    for record in facts.all("control.prepared"):
        if record.position > started.position:
            yield "control_after_start", record.seq


def _policy_and_plan(facts: Facts) -> Iterator[Found]:
    plan = facts.first("plan.resolved")
    if plan is None or facts.first("policy.resolved") is None:
        return
    asked = {one["domain"]: one for one in facts.requirements()}
    for outcome in facts.outcomes():
        requirement = asked.get(outcome["domain"])
        if requirement is None:
            continue
        short = outcome["kind"] == "degraded" or (outcome["kind"] == "observed" and requirement["intent"] != "observe")
        if requirement["posture"] != outcome["posture"] or (short and requirement["posture"] == "required"):
            yield "outcome_contradicts_policy", plan.seq


def _probe(facts: Facts) -> Iterator[Found]:
    for record in facts.all("capability.probed"):
        body = record.statement.body
        if "reference" not in body:
            continue
        target = facts.probes.get(body["reference"]["seq"])
        if body["conditions"] != facts.opened["host"]:
            yield "probe_reference_differs", record.seq
        if target is None or target.position >= record.position:
            yield "probe_reference_not_supplied", facts.run.last_seq
            continue
        there = target.statement.body
        same = target.leaf.hex() == body["reference"]["leaf"] and "reference" not in there
        if not same or any(
                there["backend"][name] != body["backend"][name] for name in ("id", "version")) or (
                there["conditions"] != body["conditions"]):
            yield "probe_reference_differs", record.seq


def _boundary(facts: Facts) -> Iterator[Found]:
    if facts.started is None:
        return
    for record, canary in facts.canaries():
        if canary["inside"]["outcome"] == "succeeded":
            yield "canary_succeeded_inside", record.seq


def _events(facts: Facts) -> Iterator[Found]:
    for event in facts.events:
        data = event.data
        outcome = facts.outcome(data["domain"])
        if event.observation or data["outcome"] != "allowed" or not in_workload(facts, event):
            continue
        if outcome is None or outcome["kind"] != "enforced":
            continue
        requirement = facts.requirement(data["domain"])
        rules = {rule["id"]: rule for rule in requirement["rules"]} if requirement else {}
        if requirement is not None and data["rule"] == requirement["default_rule"]:
            yield "allowed_by_deny_rule", event.record.seq
        elif data["rule"] not in rules:
            yield "allowed_by_unknown_rule", event.record.seq
        elif rules[data["rule"]]["effect"] == "deny":
            yield "allowed_by_deny_rule", event.record.seq
        else:
            covered = covers(rules[data["rule"]]["selector"], data["object"])
            if covered is False:
                yield "allowed_outside_rule", event.record.seq
            elif covered is None:
                yield "object_coverage_undecided", facts.run.last_seq
    yield from _numbers(facts)


def _numbers(facts: Facts) -> Iterator[Found]:
    following = 1
    for record in sorted((record for kind in BATCHES for record in facts.all(kind)), key=lambda one: one.position):
        body = record.statement.body
        numbers = [event["number"] for event in body["events"]]
        if body["first"] != following or numbers != list(range(following, following + len(numbers))):
            yield "event_numbers_not_contiguous", record.seq
        following = numbers[-1] + 1 if numbers else following


def _end(facts: Facts) -> Iterator[Found]:
    closed = facts.first("run.closed")
    if closed is None:
        return
    body = closed.statement.body
    finished = body["ending"] == "finished"
    if body["program_started"] != (facts.started is not None) or (finished and facts.first("process.exited") is None):
        yield "closing_differs", closed.seq
    totals = body["channel"]
    actions = sum(event.data["count"] for event in facts.events)
    nested = next((event.number for event in facts.events if event.data["nested_filter"]), None)
    dropped = sum(record.statement.body["dropped"] for kind in BATCHES for record in facts.all(kind))
    if dropped > totals["dropped"] or (totals["events"], totals["actions"], totals.get("nested_filter_event")) != (len(facts.events), actions, nested):
        yield "event_totals_differ", closed.seq
