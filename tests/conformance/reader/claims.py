"""Claims by the rules `claims/1` (docs/spec/product.md section 5): a function of the records of one run."""

from __future__ import annotations

from typing import Any

from .boundary import boundary as boundary_of
from .boundary import domain_channel, installed
from .evidence import behind_start, by_self_protection, counts_as_denied, in_workload, same_boot
from .facts import DOMAINS, Event, Facts

DETECTORS = {"wall_clock": "the supervisor's wall clock", "memory_limit": "the memory limit of the control group"}
MAX_COUNT = 2**53 - 1
EVALUATED = ("policy", "host_permission", "ambiguous")
LIMITS = {"wall_clock": "wall_clock_seconds", "memory_limit": "memory_bytes"}


def claims(facts: Facts) -> list[dict[str, Any]]:
    """One entry per domain, in the order of section 1."""
    return [_domain(facts, domain) for domain in DOMAINS]


def _domain(facts: Facts, domain: str) -> dict[str, Any]:
    requirement, outcome = facts.requirement(domain), facts.outcome(domain)
    mine = [event for event in facts.events if event.data["domain"] == domain]
    workload = [event for event in mine if not event.observation and in_workload(facts, event)]
    denied = [event for event in workload if requirement and counts_as_denied(facts, requirement, event)]
    evaluated = [event for event in workload if facts.requirement_before(event) and event not in denied
                 and event.data["cause"] in EVALUATED and not by_self_protection(facts, event)]
    observed = [event for event in mine if event.observation and in_workload(facts, event)]
    boundary, reason = boundary_of(facts, domain)
    result: dict[str, Any] = {
        "domain": domain, "requested": _requested(facts, requirement),
        "planned": "", "achieved": "", "detector": "", "boundary": boundary, "boundary_reason": reason,
        "channel": {"number": 0, "state": "none"}, "basis": "none", "claim": "not_stated",
        "denied_actions": total(denied), "evaluated_actions": total(evaluated), "observations": total(observed),
        "denied_by_rule": by_rule(denied), "decisions": by_outcome(workload),
        "uncounted_denials": uncounted([event for event in mine if not event.observation and event not in denied])}
    result["basis"] = _basis(facts, domain, bool(denied or evaluated), bool(observed), boundary)
    result["channel"] = domain_channel(facts, domain, requirement, bool(workload or observed))
    unlisted = total([event for event in workload + observed if event.data["object"]["type"] == "unlisted"])
    if unlisted:
        result["unlisted_actions"] = unlisted
    if requirement is None:
        return result
    if outcome and outcome["kind"] == "degraded":
        result["planned"], result["achieved"] = outcome["planned"], outcome["achieved"]
    result["detector"] = _detected(facts) if domain == "resource" else ""
    result["claim"] = _term(facts, domain, outcome, bool(denied), bool(evaluated), bool(observed))
    return result


def _requested(facts: Facts, requirement: dict[str, Any] | None) -> str:
    if facts.policy is None:
        return "not_derived"
    return "stated" if requirement else "not_stated"


def total(events: list[Event]) -> int:
    return min(sum(event.data["count"] for event in events), MAX_COUNT)


def by_rule(events: list[Event]) -> list[dict[str, Any]]:
    rules = sorted({event.data["rule"] for event in events})
    return [{"actions": total([event for event in events if event.data["rule"] == rule]), "rule": rule} for rule in rules]


def by_outcome(events: list[Event]) -> list[dict[str, Any]]:
    kinds = sorted({(event.data["cause"], event.data["outcome"]) for event in events})
    return [{"actions": total([event for event in events if (event.data["cause"], event.data["outcome"]) == kind]),
             "cause": kind[0], "outcome": kind[1]} for kind in kinds]


def uncounted(events: list[Event]) -> int:
    """Actions denied by policy that rule 2 does not count."""
    return total([event for event in events if (event.data["cause"], event.data["outcome"]) == ("policy", "denied")])


def _basis(facts: Facts, domain: str, decided: bool, observed: bool, boundary: str) -> str:
    if decided:
        return "decision"
    prepared = installed(facts, domain)
    started = facts.started
    if prepared and started is not None and started.signed and same_boot(facts, started) and (observed or boundary == "proved"):
        return "runtime_without_decision"
    outcome = facts.outcome(domain)
    return "setup_only" if prepared or (outcome and outcome["kind"] in ("enforced", "observed")) else "none"


def _term(facts: Facts, domain: str, outcome: dict[str, Any] | None, denied: bool, evaluated: bool,
          observed: bool) -> str:
    kind = outcome["kind"] if outcome else ""
    unsupported = bool(outcome and kind == "unmet" and outcome.get("reason") == "domain_unsupported")
    if facts.started is None:
        if kind == "degraded":
            return "degraded"
        if kind in ("enforced", "observed"):
            return "planned"
        refusals = (facts.body("plan.refused") or {"refusals": []})["refusals"] if outcome is None else []
        unsupported = unsupported or any((one.get("domain"), one.get("reason")) == (domain, "domain_unsupported") for one in refusals)
        return "unsupported" if unsupported else "unmeasured"
    plan = facts.body("plan.resolved")
    if plan and plan["experimental"]:
        return "experimental"
    if kind == "degraded":
        return "degraded"
    if denied:
        return "denied_before_execution"
    if evaluated:
        return "evaluated"
    if domain == "resource" and _detected(facts):
        return "detected"
    if observed:
        return "observed"
    return "unsupported" if unsupported else "unmeasured"


def _detected(facts: Facts) -> str:
    record, requirement = facts.first("process.exited"), facts.requirement("resource")
    if record is None or requirement is None or facts.started is None:
        return ""
    if not behind_start(facts, record):
        return ""
    exited = record.statement.body
    limit = LIMITS.get(exited["cause"])
    return DETECTORS[exited["cause"]] if limit and any(rule["operation"] == limit for rule in requirement["rules"]) else ""
