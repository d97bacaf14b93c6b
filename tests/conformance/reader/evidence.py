"""Which records and events of a run are evidence, and what rule 2 asks of a denial (product.md section 5.1)."""

from __future__ import annotations

from typing import Any

from .facts import Event, Facts


def same_boot(facts: Facts, record: Any) -> bool:
    return bool(record.statement.boot == facts.run.opened.statement.boot)


def usable(facts: Facts, record: Any) -> bool:
    """A set-up record that counts: signed, of the run's boot, and before the start."""
    started = facts.started
    return bool(record.signed and same_boot(facts, record) and (started is None or record.position < started.position))


def accepted(facts: Facts, record: Any) -> bool:
    """Evidence: signed by the run's key, which the host key certified in `run.opened`."""
    return bool(record.signed and facts.run.opened.signed)


def behind_start(facts: Facts, record: Any) -> bool:
    """Workload: after a start, both trustworthy, in a run whose opening is signed."""
    started = facts.started
    return (started is not None and started.signed and same_boot(facts, started) and started.position < record.position
            and accepted(facts, record) and same_boot(facts, record))


def in_workload(facts: Facts, event: Event) -> bool:
    return behind_start(facts, event.record)


def rule_ids(requirement: dict[str, Any]) -> set[str]:
    return {rule["id"] for rule in requirement["rules"]} | {requirement["default_rule"]}


def by_self_protection(facts: Facts, event: Event) -> bool:
    """What self-protection answers is no decision of the policy."""
    rule = event.data["rule"]
    purposes = {control["purpose"] for record, control in facts.controls()
                if rule in control["rules"] and record.position < event.record.position}
    return rule.startswith("self_protection.") or purposes == {"self_protection"}


def counts_as_denied(facts: Facts, requirement: dict[str, Any], event: Event) -> bool:
    """Rule 2, conjunct by conjunct."""
    data, started = event.data, facts.started
    if started is None or not same_boot(facts, started):
        return False
    if (data["outcome"], data["cause"], data["timing"], data["synchrony"]) != ("denied", "policy", "pre", "sync"):
        return False
    policy = facts.policy
    if policy is None or not all(usable(facts, record) for record in policy.records):
        return False
    kills = policy.body["on_denial"] == "kill" or "on_denial" in requirement
    if data["reply"] != "accepted" and not (kills and data["reply"] == "killed_while_blocked"):
        return False
    if data["rule"] not in rule_ids(requirement) or not same_boot(facts, event.record):
        return False
    return any(control["installed"] and control["purpose"] == "policy" and data["rule"] in control["rules"]
               and control["mechanism"] == data["mechanism"]
               and accepted(facts, record) and usable(facts, record) for record, control in facts.controls())
