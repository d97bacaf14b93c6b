"""What a plan promises against what the probe of its backend measured (docs/spec/product.md section 5.2)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .facts import Facts

BOUNDARIES = {"process": "shared_host_kernel", "userspace-kernel": "userspace_kernel", "microvm": "guest_kernel"}
PREVENTS = ("enforce", "pre", "sync")
Found = tuple[str, int]


def promises(facts: Facts) -> Iterator[Found]:
    record = facts.first("plan.resolved")
    if record is None:
        return
    plan = record.statement.body
    if plan["requested"] != facts.opened["isolation"]:
        yield "isolation_class_differs", record.seq
    if "backend" not in plan:
        return
    chosen = plan["backend"]["id"]
    if any((one["verdict"] == "selected") != (one["backend"] == chosen) for one in plan["candidates"]):
        yield "backend_was_unavailable", record.seq
    for probe in _chain(facts, chosen):
        if not probe["available"]:
            yield "backend_was_unavailable", record.seq
        if probe["boundary"] != BOUNDARIES.get(plan["requested"], probe["boundary"]):
            yield "isolation_class_differs", record.seq
    if facts.probe is not None:
        yield from ((code, record.seq) for code in _outcomes(facts, plan, facts.probe))


def _chain(facts: Facts, backend: str) -> list[dict[str, Any]]:
    """The probe of the backend, and the record that it refers to."""
    own = next((one.statement.body for one in facts.all("capability.probed")
                if one.statement.body["backend"]["id"] == backend), None)
    return [one for one in (own, facts.probe) if one is not None]


def _outcomes(facts: Facts, plan: dict[str, Any], probe: dict[str, Any]) -> Iterator[str]:
    entries = {one["domain"]: one for one in probe["domains"]}
    for outcome in plan["outcomes"]:
        requirement, entry = facts.requirement(outcome["domain"]), entries.get(outcome["domain"])
        if requirement is None:
            continue
        if outcome["kind"] in ("enforced", "observed") and not _meets(outcome["kind"], requirement, entry):
            yield "outcome_exceeds_probe"
        if outcome["kind"] == "degraded" and not _reached(outcome["achieved"], requirement, entry):
            yield "degraded_exceeds_probe"


def _mediates(kind: str, entry: dict[str, Any]) -> bool:
    if entry["support"] == "unsupported":
        return False
    if kind == "observed":
        return "none" not in (entry["mediation"], entry["timing"])
    satisfied = all(one["status"] == "satisfied" for one in entry["prerequisites"])
    return satisfied and (entry["mediation"], entry["timing"], entry["synchrony"]) == PREVENTS


def _follows(requirement: dict[str, Any], entry: dict[str, Any]) -> bool:
    return entry["descendants"] == "process_tree" or requirement["descendants"] != "process_tree"


def _reports(entry: dict[str, Any]) -> bool:
    return entry["channel"]["mechanism"] not in ("", "none")


def _meets(kind: str, requirement: dict[str, Any], entry: dict[str, Any] | None) -> bool:
    return entry is not None and _mediates(kind, entry) and _follows(requirement, entry) and (
        requirement["evidence"] == "setup" or _reports(entry))


def _reached(level: str, requirement: dict[str, Any], entry: dict[str, Any] | None) -> bool:
    word, _comma, rest = level.partition(",")
    if word == "none" or entry is None:
        return word == "none"
    if word == "observe":
        covered = _follows(requirement, entry) or rest == f" descendants {entry['descendants']}"
        return _mediates("observed", entry) and _reports(entry) and covered
    return word == "prevent_before_effect" and _mediates("enforced", entry) and _follows(requirement, entry)
