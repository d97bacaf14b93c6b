"""Claims by the rules `claims/1` (docs/spec/product.md section 5): a function of the records of one run."""

from __future__ import annotations

from typing import Any

from .facts import BATCHES, DOMAINS, Event, Facts

DETECTORS = {"wall_clock": "the supervisor's wall clock", "memory_limit": "the memory limit of the control group"}
EVALUATED = ("policy", "host_permission", "ambiguous")
WISHED = {"filesystem_read": ("decisions",), "filesystem_write": ("decisions", "write-decisions")}
LIMITS = {"wall_clock": "resources.wall_clock_seconds", "memory_limit": "resources.memory_bytes"}


def claims(facts: Facts) -> list[dict[str, Any]]:
    """One entry per domain, in the order of section 1."""
    return [_domain(facts, domain) for domain in DOMAINS]


def _domain(facts: Facts, domain: str) -> dict[str, Any]:
    requirement, outcome = facts.requirement(domain), facts.outcome(domain)
    mine = [event for event in facts.events if event.data["domain"] == domain]
    workload = [event for event in mine if not event.observation and in_workload(facts, event)]
    denied = [event for event in workload if requirement and counts_as_denied(facts, requirement, event)]
    evaluated = [event for event in workload if requirement and event not in denied and event.data["cause"] in EVALUATED
                 and not by_self_protection(facts, event)]
    observed = [event for event in mine if event.observation and in_workload(facts, event)]
    boundary, reason = _boundary(facts, domain)
    result: dict[str, Any] = {
        "domain": domain, "requested": _requested(facts, requirement),
        "planned": "", "achieved": "", "detector": "", "boundary": boundary, "boundary_reason": reason,
        "channel": {"number": 0, "state": "none"}, "basis": "none", "claim": "not_stated",
        "denied_actions": total(denied), "evaluated_actions": total(evaluated), "observations": total(observed),
        "denied_by_rule": by_rule(denied), "decisions": by_outcome(workload),
        "uncounted_denials": uncounted([event for event in mine if not event.observation and event not in denied])}
    result["basis"] = _basis(facts, domain, bool(denied or evaluated), bool(observed), boundary)
    result["channel"] = domain_channel(facts, domain, requirement, bool(workload or observed))
    if requirement is None:
        return result
    if outcome and outcome["kind"] == "degraded":
        result["planned"], result["achieved"] = outcome["planned"], outcome["achieved"]
    result["detector"] = _detected(facts) if domain == "resource" else ""
    result["claim"] = _term(facts, domain, outcome, bool(denied), bool(evaluated), bool(observed))
    return result


def _requested(facts: Facts, requirement: dict[str, Any] | None) -> str:
    if facts.first("policy.resolved") is None:
        return "not_derived"
    return "stated" if requirement else "not_stated"


def total(events: list[Event]) -> int:
    return sum(event.data["count"] for event in events)


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


def in_workload(facts: Facts, event: Event) -> bool:
    return behind_start(facts, event.record)


def behind_start(facts: Facts, record: Any) -> bool:
    """Workload: after a start, both trustworthy, in a run whose opening is signed."""
    started = facts.started
    return (started is not None and started.signed and same_boot(facts, started) and started.position < record.position
            and accepted(facts, record) and same_boot(facts, record))


def counts_as_denied(facts: Facts, requirement: dict[str, Any], event: Event) -> bool:
    """Rule 2, conjunct by conjunct."""
    data, started = event.data, facts.started
    if started is None or not same_boot(facts, started):
        return False
    if (data["outcome"], data["cause"], data["timing"], data["synchrony"]) != ("denied", "policy", "pre", "sync"):
        return False
    policy = facts.first("policy.resolved")
    if policy is None or not usable(facts, policy):
        return False
    kills = policy.statement.body["on_denial"] == "kill"
    if data["reply"] != "accepted" and not (kills and data["reply"] == "killed_while_blocked"):
        return False
    if data["rule"] not in rule_ids(requirement) or not same_boot(facts, event.record):
        return False
    return any(control["installed"] and control["purpose"] == "policy" and data["rule"] in control["rules"]
               and control["mechanism"] == data["mechanism"]
               and accepted(facts, record) and record.position < started.position for record, control in facts.controls())


def usable(facts: Facts, record: Any) -> bool:
    """A set-up record that counts: signed, of the run's boot, and before the start."""
    started = facts.started
    return bool(record.signed and same_boot(facts, record) and (started is None or record.position < started.position))


def accepted(facts: Facts, record: Any) -> bool:
    """Evidence: signed by the run's key, which the host key certified in `run.opened`."""
    return bool(record.signed and facts.run.opened.signed)


def same_boot(facts: Facts, record: Any) -> bool:
    return bool(record.statement.boot == facts.run.opened.statement.boot)


def _canaries(facts: Facts, domain: str) -> list[dict[str, Any]]:
    return [canary for record, canary in facts.canaries()
            if usable(facts, record) and canary["domain"] == domain and canary["purpose"] == "policy"]


def _boundary(facts: Facts, domain: str) -> tuple[str, str]:
    canaries = _canaries(facts, domain)
    outcomes = [(canary["control"]["outcome"], canary["inside"]["outcome"]) for canary in canaries]
    inside = next((canary["id"] for canary in canaries if canary["inside"]["outcome"] == "succeeded"), None)
    if inside is None and ("succeeded", "refused") in outcomes:
        return "proved", f"canary {canaries[outcomes.index(('succeeded', 'refused'))]['id']}"
    if not _installed(facts, domain):
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


def _installed(facts: Facts, domain: str) -> bool:
    requirement = facts.requirement(domain)
    ids = rule_ids(requirement) if requirement else set()
    return any(usable(facts, record) and control["purpose"] == "policy" and control["installed"]
               and (control["domain"] == domain or ids & set(control["rules"])) for record, control in facts.controls())


def rule_ids(requirement: dict[str, Any]) -> set[str]:
    return {rule["id"] for rule in requirement["rules"]} | {requirement["default_rule"]}


def by_self_protection(facts: Facts, event: Event) -> bool:
    """What self-protection answers is no decision of the policy."""
    rule = event.data["rule"]
    purposes = {control["purpose"] for _record, control in facts.controls() if rule in control["rules"]}
    return rule.startswith("self_protection.") or purposes == {"self_protection"}


def domain_channel(facts: Facts, domain: str, requirement: dict[str, Any] | None, events: bool) -> dict[str, Any]:
    """State of the run's channel as far as it reports decisions on this domain."""
    whole = channel(facts)
    if whole["state"] == "none":
        return {"number": 0, "state": "unknown_loss"} if events else whole
    silent = requirement is None or requirement["evidence"] not in WISHED.get(domain, (requirement["evidence"],))
    reported = facts.probe is not None and any(
        one["domain"] == domain and one["channel"]["mechanism"] != "none" for one in facts.probe["domains"])
    if reported and not silent:
        missed = any(canary["channel"] == "not_reported" for canary in _canaries(facts, domain))
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
    actions = sum(event.data["count"] for event in facts.events)
    nested = next((event.number for event in facts.events if event.data["nested_filter"]), None)
    whole = closed["ending"] == "finished" and facts.first("process.exited") is not None and dropped <= totals["dropped"] and totals["opened"] and totals["closed"] and contiguous(facts) and (
        totals["events"], totals["actions"], totals.get("nested_filter_event")) == (len(facts.events), actions, nested)
    if not whole:
        return {"number": 0, "state": "unknown_loss"}
    if totals["dropped"]:
        return {"number": totals["dropped"], "state": "lossy"}
    if "nested_filter_event" in totals:
        return {"number": totals["nested_filter_event"], "state": "complete_until_nested_filter"}
    return {"number": 0, "state": "complete"}


def _basis(facts: Facts, domain: str, decided: bool, observed: bool, boundary: str) -> str:
    if decided:
        return "decision"
    prepared = _installed(facts, domain)
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
    return DETECTORS[exited["cause"]] if limit and any(rule["id"] == limit for rule in requirement["rules"]) else ""
