"""Claims by the rules `claims/1` (docs/spec/product.md section 5): a function of the records of one run."""

from __future__ import annotations

from typing import Any

from .facts import DOMAINS, Event, Facts

EVALUATED = ("policy", "host_permission", "ambiguous")
LIMITS = {"wall_clock": "resources.wall_clock_seconds", "memory_limit": "resources.memory_bytes"}


def claims(facts: Facts) -> list[dict[str, Any]]:
    """One entry per domain, in the order of section 1."""
    return [_domain(facts, domain) for domain in DOMAINS]


def _domain(facts: Facts, domain: str) -> dict[str, Any]:
    requirement, outcome = facts.requirement(domain), facts.outcome(domain)
    mine = [event for event in facts.events if event.data["domain"] == domain]
    workload = [event for event in mine if not event.observation and after_start(facts, event)]
    denied = [event for event in workload if requirement and counts_as_denied(facts, requirement, event)]
    evaluated = [event for event in workload if event not in denied and event.data["cause"] in EVALUATED]
    observed = [event for event in mine if event.observation]
    boundary, reason = _boundary(facts, domain)
    result: dict[str, Any] = {
        "domain": domain, "requested": "stated" if requirement else "not_stated",
        "planned": "", "achieved": "", "detector": "", "boundary": "absent", "boundary_reason": "not stated",
        "channel": {"number": 0, "state": "none"}, "basis": "none", "claim": "not_stated",
        "denied_actions": total(denied), "evaluated_actions": total(evaluated), "observations": total(observed),
        "denied_by_rule": by_rule(denied)}
    if requirement is None:
        return result
    result["boundary"], result["boundary_reason"] = boundary, reason
    result["channel"] = channel(facts) if _has_channel(facts, domain) else result["channel"]
    if outcome and outcome["kind"] == "degraded":
        result["planned"], result["achieved"] = outcome["planned"], outcome["achieved"]
    result["basis"] = _basis(facts, domain, bool(denied or evaluated), bool(observed), boundary)
    result["claim"], result["detector"] = _term(facts, domain, outcome, bool(denied), bool(evaluated), bool(observed))
    return result


def total(events: list[Event]) -> int:
    return sum(event.data["count"] for event in events)


def by_rule(events: list[Event]) -> list[dict[str, Any]]:
    rules = sorted({event.data["rule"] for event in events})
    return [{"actions": total([event for event in events if event.data["rule"] == rule]), "rule": rule} for rule in rules]


def after_start(facts: Facts, event: Event) -> bool:
    return facts.started is not None and facts.started.position < event.record.position


def counts_as_denied(facts: Facts, requirement: dict[str, Any], event: Event) -> bool:
    """Rule 2, conjunct by conjunct."""
    data, started = event.data, facts.started
    if started is None or not event.record.signed or not started.signed:
        return False
    if (data["outcome"], data["cause"], data["timing"], data["synchrony"]) != ("denied", "policy", "pre", "sync"):
        return False
    on_denial = (facts.body("policy.resolved") or {})["on_denial"]
    if data["reply"] != ("killed_while_blocked" if on_denial == "kill" else "accepted"):
        return False
    rules = {rule["id"] for rule in requirement["rules"]} | {requirement["default_rule"]}
    if data["rule"] not in rules or not same_boot(facts, event.record):
        return False
    return any(control["installed"] and control["purpose"] == "policy" and data["rule"] in control["rules"]
               and control["domain"] == data["domain"] and control["mechanism"] == data["mechanism"]
               and record.signed and record.position < started.position for record, control in facts.controls())


def same_boot(facts: Facts, record: Any) -> bool:
    return bool(record.statement.boot == facts.run.opened.statement.boot)


def _boundary(facts: Facts, domain: str) -> tuple[str, str]:
    for _record, canary in facts.canaries():
        if (canary["domain"] == domain and canary["purpose"] == "policy" and canary["inside"]["outcome"] == "refused"
                and canary["control"]["outcome"] == "succeeded"):
            return "proved", f"canary {canary['id']}"
    installed = any(control["domain"] == domain and control["purpose"] == "policy" and control["installed"]
                    for _record, control in facts.controls())
    if not installed:
        return "absent", "no control for policy is installed"
    for record in facts.all("boundary.proved"):
        for one in record.statement.body["no_canary"]:
            if one["domain"] == domain:
                return "installed", f"no_canary: {one['reason']}"
    return "installed", "no canary"


def _has_channel(facts: Facts, domain: str) -> bool:
    if facts.probe is None:
        return False
    return any(one["domain"] == domain and one["channel"]["mechanism"] != "none" for one in facts.probe["domains"])


def contiguous(facts: Facts) -> bool:
    return [event.number for event in facts.events] == list(range(1, len(facts.events) + 1))


def channel(facts: Facts) -> dict[str, Any]:
    """State of the decision channel of the run."""
    closed = facts.body("run.closed")
    if closed is None:
        present = bool(facts.events) or (facts.started is not None and not facts.unconfined)
        return {"number": 0, "state": "unknown_loss" if present else "none"}
    totals = closed["channel"]
    if not totals["present"]:
        return {"number": 0, "state": "none"}
    if totals["dropped"]:
        return {"number": totals["dropped"], "state": "lossy"}
    whole = totals["opened"] and totals["closed"] and contiguous(facts) and totals["events"] == len(facts.events)
    if not whole:
        return {"number": 0, "state": "unknown_loss"}
    if "nested_filter_event" in totals:
        return {"number": totals["nested_filter_event"], "state": "complete_until_nested_filter"}
    return {"number": 0, "state": "complete"}


def _basis(facts: Facts, domain: str, decided: bool, observed: bool, boundary: str) -> str:
    if decided:
        return "decision"
    prepared = any(control["domain"] == domain and control["purpose"] == "policy" and control["installed"]
                   for _record, control in facts.controls())
    if prepared and facts.started is not None and (observed or boundary == "proved"):
        return "runtime_without_decision"
    return "setup_only" if prepared else "none"


def _term(facts: Facts, domain: str, outcome: dict[str, Any] | None, denied: bool, evaluated: bool,
          observed: bool) -> tuple[str, str]:
    """The claim and, for `detected`, the detector."""
    kind = outcome["kind"] if outcome else ""
    unsupported = bool(outcome and kind == "unmet" and outcome.get("reason") == "domain_unsupported")
    if facts.started is None:
        if kind == "degraded":
            return "degraded", ""
        if kind in ("enforced", "observed"):
            return "planned", ""
        return ("unsupported" if unsupported else "unmeasured"), ""
    plan = facts.body("plan.resolved")
    if plan and plan["experimental"]:
        return "experimental", ""
    if kind == "degraded":
        return "degraded", ""
    if denied:
        return "denied_before_execution", ""
    if evaluated:
        return "evaluated", ""
    if domain == "resource" and (cause := _detected(facts)):
        return "detected", cause
    if observed:
        return "observed", ""
    return ("unsupported" if unsupported else "unmeasured"), ""


def _detected(facts: Facts) -> str:
    exited, requirement = facts.body("process.exited"), facts.requirement("resource")
    if exited is None or requirement is None:
        return ""
    limit = LIMITS.get(exited["cause"])
    return exited["cause"] if limit and any(rule["id"] == limit for rule in requirement["rules"]) else ""
