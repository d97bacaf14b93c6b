"""Boundary and decision channel, beside the claim (product.md section 5.1)."""

from __future__ import annotations

from typing import Any

from .evidence import rule_ids, same_boot, usable
from .facts import BATCHES, Facts

WISHED = {"filesystem_read": ("decisions",), "filesystem_write": ("decisions", "write-decisions")}


def canaries_of(facts: Facts, domain: str) -> list[dict[str, Any]]:
    return [canary for record, canary in facts.canaries()
            if usable(facts, record) and canary["domain"] == domain and canary["purpose"] == "policy"]


def boundary(facts: Facts, domain: str) -> tuple[str, str]:
    outcome = facts.outcome(domain)
    if outcome and outcome["kind"] == "observed":
        return "absent", "the domain is observed: policy refuses nothing there"
    canaries = canaries_of(facts, domain)
    outcomes = [(canary["control"]["outcome"], canary["inside"]["outcome"]) for canary in canaries]
    inside = next((canary["id"] for canary in canaries if canary["inside"]["outcome"] == "succeeded"), None)
    if inside is None and ("succeeded", "refused") in outcomes:
        return "proved", f"canary {canaries[outcomes.index(('succeeded', 'refused'))]['id']}"
    if not installed(facts, domain):
        return "absent", "no control for policy is installed" if facts.requirement(domain) else "not stated"
    if inside is not None:
        return "installed", f"canary {inside} succeeded inside"
    if canaries:
        return "installed", f"canary {canaries[0]['id']}: control {outcomes[0][0]}, inside {outcomes[0][1]}"
    for record in [record for record in facts.all("boundary.proved") if usable(facts, record)]:
        for one in record.statement.body["no_canary"]:
            if one["domain"] == domain:
                return "installed", f"no_canary: {one['reason']}"
    return "installed", "no canary is recorded"


def installed(facts: Facts, domain: str) -> bool:
    requirement = facts.requirement(domain)
    ids = rule_ids(requirement) if requirement else set()
    return any(usable(facts, record) and control["purpose"] == "policy" and control["installed"]
               and (control["domain"] == domain or ids & set(control["rules"])) for record, control in facts.controls())


def domain_channel(facts: Facts, domain: str, requirement: dict[str, Any] | None, events: bool) -> dict[str, Any]:
    """State of the run's channel as far as it reports decisions on this domain."""
    whole = channel(facts)
    if whole["state"] == "none":
        return {"number": 0, "state": "unknown_loss"} if events else whole
    silent = requirement is None or requirement["evidence"] not in WISHED.get(domain, (requirement["evidence"],))
    reported = facts.probe is not None and any(
        one["domain"] == domain and one["channel"]["mechanism"] != "none" for one in facts.probe["domains"])
    if reported and not silent:
        missed = any(canary["channel"] == "not_reported" for canary in canaries_of(facts, domain))
        return {"number": 0, "state": "unknown_loss"} if missed else whole
    unknown = events or (facts.probe is None and not silent)
    return {"number": 0, "state": "unknown_loss" if unknown else "none"}


def contiguous(facts: Facts) -> bool:
    return [event.number for event in facts.events] == list(range(1, len(facts.events) + 1))


def channel(facts: Facts) -> dict[str, Any]:
    """State of the decision channel of the run."""
    record = facts.first("run.closed")
    dropped = sum(record.statement.body["dropped"] for kind in BATCHES for record in facts.all(kind))
    counts = record is not None and record.signed and same_boot(facts, record)
    closed = record.statement.body if record is not None and counts else None
    lost = bool(facts.events) or dropped > 0
    if record is None:
        lost = lost or any(canary["channel"] == "reported" for _record, canary in facts.canaries())
    if record is None or not record.statement.body["channel"]["present"] or facts.started is None:
        return {"number": 0, "state": "unknown_loss" if lost else "none"}
    if closed is None:
        return {"number": 0, "state": "unknown_loss"}
    totals = closed["channel"]
    actions = min(sum(event.data["count"] for event in facts.events), 2**53 - 1)
    nested = next((event.number for event in facts.events if event.data["nested_filter"]), None)
    counted = (len(facts.events), actions, nested)
    ended = closed["ending"] == "finished" and facts.first("process.exited") is not None
    whole = ended and totals["opened"] and totals["closed"] and contiguous(facts) and dropped <= totals["dropped"]
    if not whole or (totals["events"], totals["actions"], totals.get("nested_filter_event")) != counted:
        return {"number": 0, "state": "unknown_loss"}
    if totals["dropped"]:
        return {"number": totals["dropped"], "state": "lossy"}
    if "nested_filter_event" in totals:
        return {"number": totals["nested_filter_event"], "state": "complete_until_nested_filter"}
    return {"number": 0, "state": "complete"}
