"""Contradictions between the events of one run and its other records (docs/spec/product.md section 5.2)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .evidence import in_workload, rule_ids
from .addresses import Answers, note_answers
from .coverage import covers
from .facts import BATCHES, Event, Facts

LIMIT = 2**53 - 1
EXACT = ("syscall", "environment_name", "descriptor")
OF_ADDRESSES = ("whole", "host_pattern", "address_range", "port")
Found = tuple[str, int]


def event_contradictions(facts: Facts) -> Iterator[Found]:
    answers = Answers()
    for event in facts.events:
        if event.observation or not in_workload(facts, event):
            continue
        if event.data["outcome"] == "allowed":
            if (event.data["domain"], event.data["operation"]) == ("name_resolution", "resolve"):
                note_answers(event.data["object"], answers)
            yield from _allowed(facts, event, answers)
        elif event.data["outcome"] == "denied":
            yield from _denied(facts, event, answers)
    yield from _numbers(facts)
    yield from _totals(facts)


def _allowed(facts: Facts, event: Event, answers: Answers) -> Iterator[Found]:
    data, seq = event.data, event.record.seq
    plan, requirement = facts.before("plan.resolved", event), facts.requirement_before(event)
    outcome = next((one for one in plan["outcomes"] if one["domain"] == data["domain"]), None) if plan else None
    if data["cause"] == "compat" or facts.opened["enforcement_mode"] != "enforce":
        return
    if outcome is None or outcome["kind"] != "enforced":
        return
    rules = requirement["rules"] if requirement else []
    cited = [rule for rule in rules if rule["id"] == data["rule"]]
    if not cited:
        default = requirement is not None and requirement["default_rule"] == data["rule"]
        yield ("allowed_by_deny_rule" if default else "allowed_by_unknown_rule"), seq
        return
    others = [rule for rule in rules if rule["effect"] == "deny" and _governs(rule, data)]
    ends = [data["object"], {**data["object"], "path": data["object"].get("new_path", data["object"].get("path"))}]
    outranked = any(covers(rule["selector"], end, answers) for rule in others for end in ends)
    if any(rule["effect"] == "deny" for rule in cited) or outranked:
        yield "allowed_by_deny_rule", seq
        return
    covered = [covers(rule["selector"], data["object"], answers) for rule in cited]
    if True not in covered:
        yield ("object_coverage_undecided", facts.run.last_seq) if None in covered else ("allowed_outside_rule", seq)


def _governs(rule: dict[str, Any], data: dict[str, Any]) -> bool:
    """Policy calls whatever changes files `write`."""
    return rule["operation"] == data["operation"] or (data["domain"] == "filesystem_write" and rule["operation"] == "write")


def _denied(facts: Facts, event: Event, answers: Answers) -> Iterator[Found]:
    data, seq = event.data, event.record.seq
    if data["reply"] == "accepted" and not 1 <= data["errno"] <= 4095:
        yield "denied_without_errno", seq
    if data["cause"] != "policy":
        return
    plan = facts.body("plan.resolved")
    nothing = facts.unconfined or (plan is not None and "backend" not in plan)
    if nothing or facts.opened["enforcement_mode"] == "disabled":
        yield "denied_without_boundary", facts.started.seq if facts.started else seq
    requirement, plan_so_far = facts.requirement_before(event), facts.before("plan.resolved", event)
    outcome = next((one for one in plan_so_far["outcomes"] if one["domain"] == data["domain"]), None) if plan_so_far else None
    if requirement is not None and data["rule"] in rule_ids(requirement) and outcome and outcome["kind"] == "observed":
        yield "denied_while_observing", seq
    if requirement is not None and data["rule"] in rule_ids(requirement) and _allows(facts, requirement, data, answers):
        yield "denied_against_policy", seq


def _allows(facts: Facts, requirement: dict[str, Any], data: dict[str, Any], answers: Answers) -> bool:
    if data["object"]["arch"] not in ("", facts.opened["host"]["machine"]):
        return False
    deciding = EXACT + (OF_ADDRESSES if data["object"]["type"] == "address" else ())
    effects = {rule["effect"] for rule in requirement["rules"] if rule["selector"]["type"] in deciding
               and rule["operation"] == data["operation"] and covers(rule["selector"], data["object"], answers)}
    return effects == {"allow"}


def _numbers(facts: Facts) -> Iterator[Found]:
    following = 1
    for event in facts.events:
        if event.number != following:
            yield "event_numbers_not_contiguous", event.record.seq
        following = event.number + 1


def _totals(facts: Facts) -> Iterator[Found]:
    batches = sorted((record for kind in BATCHES for record in facts.all(kind)), key=lambda record: record.position)
    actions = dropped = 0
    for record in batches:
        body = record.statement.body
        dropped += body["dropped"]
        actions += sum(event["count"] for event in body["events"])
        if max(actions, dropped, body["first"] + len(body["events"])) >= LIMIT:
            yield "event_count_overflow", record.seq
    closed = facts.first("run.closed")
    if closed is None:
        return
    totals = closed.statement.body["channel"]
    nested = next((event.number for event in facts.events if event.data["nested_filter"]), None)
    counted = (len(facts.events), min(actions, LIMIT), nested)
    if min(dropped, LIMIT) > totals["dropped"] or (
            totals["events"], totals["actions"], totals.get("nested_filter_event")) != counted:
        yield "event_totals_differ", closed.seq
