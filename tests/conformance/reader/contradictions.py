"""Contradictions between the records of one run that do not look at events (docs/spec/product.md section 5.2)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from . import plan_digest
from .bodies import bytes_of
from .evidence import rule_ids, same_boot
from .event_contradictions import event_contradictions
from .facts import BATCHES, SETUP, Facts
from .inventory import inventory
from .promises import promises

if TYPE_CHECKING:
    from .scan import Record

ONCE = ("plan.resolved", "plan.refused", "process.started", "witness.reported", "process.exited")
CONTROL = ("id", "domain", "purpose", "mechanism", "step", "installed", "errno", "names", "removed", "ambient_unremoved",
           "descriptors", "note")
RULES = "claims/1"
NOWHERE = 2**63  # of what is absent; a record can have any number that is smaller
Found = tuple[str, int]


def contradictions(facts: Facts) -> list[Found]:
    """(code, sequence number) of each; one entry a code, at its first place."""
    seen: dict[str, int] = {}
    for code, seq in _all(facts):
        seen[code] = min(seq, seen.get(code, NOWHERE))
    return sorted((code, -1 if seq == NOWHERE else seq) for code, seq in seen.items())


def _all(facts: Facts) -> Iterator[Found]:
    for check in (_signers, _repeated, _start, _order, _policy_and_plan, _probe, promises, inventory, _controls, _end):
        yield from check(facts)
    yield from event_contradictions(facts)


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
    probed: set[str] = set()
    for record in facts.all("capability.probed"):
        backend = record.statement.body["backend"]["id"]
        if backend in probed:
            yield "record_repeated", record.seq
        probed.add(backend)
    yield from _policy_parts(facts)
    yield from _parts(facts, "control.prepared", "control_repeated")
    yield from _parts(facts, "boundary.proved", "canary_repeated")


def _policy_parts(facts: Facts) -> Iterator[Found]:
    policy = facts.policy
    if policy is None:
        return
    first = policy.records[0]
    strays = policy.stray if first.statement.body.get("part", 1) == 1 else [first, *policy.stray]
    yield from (("part_missing", record.seq) for record in strays)
    yield from (("record_repeated", record.seq) for record in policy.behind)
    if not policy.whole():
        yield "part_missing", NOWHERE


def _parts(facts: Facts, kind: str, repeated: str) -> Iterator[Found]:
    part = parts = 0
    for record in facts.all(kind):
        body = record.statement.body
        whole = part == parts
        if whole and parts and body["part"] == 1:
            yield repeated, record.seq
        elif body["part"] != (1 if whole else part + 1) or (not whole and body["parts"] != parts):
            yield "part_missing", record.seq
        part, parts = body["part"], body["parts"]
    if part < parts:
        yield "part_missing", NOWHERE


def _start(facts: Facts) -> Iterator[Found]:
    started, plan = facts.started, facts.body("plan.resolved")
    if started is None:
        return
    none = facts.unconfined and plan is not None and plan["requested"] == "none"
    for requirement in facts.requirements() if plan is not None else []:
        outcome = facts.outcome(requirement["domain"])
        unmet = outcome is None or outcome["kind"] == "unmet" or (outcome["kind"] == "no_boundary" and not none)
        if unmet and requirement["posture"] == "required":
            yield "started_despite_unmet_requirement", started.seq
    if facts.all("plan.refused"):
        yield "started_despite_refusal", started.seq
    prepared = facts.all("control.prepared")
    if any(record.statement.body["failed_step"] for record in prepared):
        yield "started_after_failed_step", started.seq
    needed = ["policy.resolved", "plan.resolved"]
    needed += ["control.prepared", "boundary.proved"] if plan is not None and "backend" in plan else []
    if not all(facts.all(kind) for kind in needed):
        yield "setup_record_missing", NOWHERE
    body = started.statement.body
    images = {image["digest"] for record in prepared for image in record.statement.body["images"]}
    if prepared and body["exe_read"] == "at_exec_stop" and body["exe_digest"] not in images:
        yield "started_digest_not_prepared", started.seq
    for record, canary in facts.canaries():
        if canary["inside"]["outcome"] == "succeeded":
            yield "canary_succeeded_inside", record.seq


def _order(facts: Facts) -> Iterator[Found]:
    started = facts.started
    for kind in (*BATCHES, "witness.reported", "process.exited"):
        for record in facts.all(kind):
            if started is None or record.position < started.position:
                yield "activity_before_start", record.seq
    for kind in (*SETUP, "control.prepared"):
        for record in facts.all(kind):
            if started is not None and record.position > started.position:
                yield ("control_after_start" if kind == "control.prepared" else "setup_after_start"), record.seq


def _policy_and_plan(facts: Facts) -> Iterator[Found]:
    record, policy = facts.first("plan.resolved"), facts.policy.body if facts.policy else None
    if record is None:
        return
    plan = record.statement.body
    if policy is not None and plan["digest"] != plan_digest.digest(facts.opened, policy, plan):
        yield "plan_digest_differs", record.seq
    if facts.started is None or policy is None:
        return
    asked = {one["domain"]: one for one in policy["requirements"]}
    for outcome in plan["outcomes"]:
        requirement = asked.get(outcome["domain"])
        if requirement is None:
            continue
        prevent = requirement["intent"] != "observe" and facts.opened["enforcement_mode"] == "enforce"
        short = outcome["kind"] == "degraded" or (outcome["kind"] == "observed" and prevent)
        if requirement["posture"] != outcome["posture"] or (short and requirement["posture"] == "required"):
            yield "outcome_contradicts_policy", record.seq


def _first_of_each_backend(facts: Facts) -> list[Record]:
    """A further one is repeated, and otherwise ignored (product.md section 5.1)."""
    first: dict[str, Record] = {}
    for record in facts.all("capability.probed"):
        first.setdefault(record.statement.body["backend"]["id"], record)
    return list(first.values())


def _probe(facts: Facts) -> Iterator[Found]:
    plan = facts.first("plan.resolved")
    probed = _first_of_each_backend(facts)
    if plan is not None and "backend" in plan.statement.body:
        backend = plan.statement.body["backend"]["id"]
        if not any(record.statement.body["backend"]["id"] == backend and record.position < plan.position for record in probed):
            yield "probe_missing", plan.seq
    for record in probed:
        body = record.statement.body
        if "reference" not in body:
            continue
        if body["conditions"] != facts.opened["host"]:
            yield "probe_reference_differs", record.seq
        target = facts.probes.get(body["reference"]["seq"])
        if target is None or target.position >= record.position:
            yield "probe_reference_not_supplied", facts.run.last_seq
            continue
        there = target.statement.body
        same = target.leaf.hex() == body["reference"]["leaf"] and "reference" not in there
        same = same and all(there["backend"][name] == body["backend"][name] for name in ("id", "version"))
        if not same or there["conditions"] != body["conditions"]:
            yield "probe_reference_differs", record.seq


def _controls(facts: Facts) -> Iterator[Found]:
    seen: dict[tuple[str, str, str], dict[str, Any]] = {}
    for record, control in facts.controls():
        first = seen.setdefault((control["id"], control["domain"], control["purpose"]), control)
        if first is not control and not _goes_on(first, control):
            yield "control_repeated", record.seq
    canaries: set[tuple[str, str]] = set()
    for record, canary in facts.canaries():
        if (canary["id"], canary["domain"]) in canaries:
            yield "canary_repeated", record.seq
        canaries.add((canary["id"], canary["domain"]))
    yield from _enforced(facts)


def _goes_on(first: dict[str, Any], later: dict[str, Any]) -> bool:
    """A list of grants or of rules that was too long for one control."""
    more = bool(later["rules"]) and not set(first["rules"]) & set(later["rules"])
    return ("landlock" in later or more) and all(first[name] == later[name] for name in CONTROL)


def _enforced(facts: Facts) -> Iterator[Found]:
    plan = facts.first("plan.resolved")
    if facts.started is None or plan is None or facts.policy is None:
        return
    if "backend" in plan.statement.body and not facts.all("control.prepared"):
        return
    for requirement in facts.requirements():
        outcome = facts.outcome(requirement["domain"])
        if outcome is not None and outcome["kind"] == "enforced" and not any(
                control["installed"] and control["purpose"] == "policy" and (
                    control["domain"] == requirement["domain"] or rule_ids(requirement) & set(control["rules"]))
                for _record, control in facts.controls()):
            yield "enforced_without_control", plan.seq


def _limits(facts: Facts, operation: str) -> list[bytes]:
    requirement = facts.requirement("resource")
    return [bytes_of(rule["selector"]["value"]) or b"" for rule in (requirement or {"rules": []})["rules"] if rule["operation"] == operation]


def _too_soon(facts: Facts, exited: dict[str, Any]) -> bool:
    """No rule states the wall clock, or it had not run for as long as one states, by more than a second."""
    limits = [limit for limit in _limits(facts, "wall_clock_seconds")]
    numbers = [int(limit) if re.fullmatch(rb"0|[1-9][0-9]{0,9}", limit) and int(limit) <= 2_000_000_000 else 0 for limit in limits]
    return not any(exited["use"]["wall_us"] + 1_000_000 >= number * 1_000_000 for number in numbers)


def _end(facts: Facts) -> Iterator[Found]:
    exited, policy = facts.first("process.exited"), facts.policy.body if facts.policy else None
    if exited is not None:
        body = exited.statement.body
        asked = policy is not None and (policy["on_denial"] == "kill" or any("on_denial" in one for one in policy["requirements"]))
        kills = asked and body.get("signal") == 9
        wrong = {"exited": "signal" in body, "signalled": "status" in body, "killed_by_denial": not kills,
                 "wall_clock": _too_soon(facts, body), "memory_limit": not _limits(facts, "memory_bytes")}
        if wrong.get(body["cause"], False):
            yield "exit_cause_differs", exited.seq
    closed = facts.first("run.closed")
    if closed is not None:
        body = closed.statement.body
        unfinished = body["ending"] == "finished" and exited is None
        if body["program_started"] != (facts.started is not None) or unfinished:
            yield "closing_differs", closed.seq
