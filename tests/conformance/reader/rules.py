"""What a body must satisfy beyond the types of its fields (docs/spec/record-rules.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

Body = dict[str, Any]
Rule = tuple[bool, str]
BEFORE_START = ("refused", "prepare_failed", "canary_failed", "self_protection_failed", "exec_failed")


def broken(kind: str, body: Body) -> str | None:
    """The first rule that `body` breaks, or None. The types have been checked before."""
    rules = RULES.get(kind)
    if rules is None:
        return None
    return next((text for holds, text in rules(body) if not holds), None)


def _distinct(items: list[Body]) -> bool:
    return len({item["domain"] for item in items}) == len(items)


def _created(body: Body) -> Iterator[Rule]:
    yield body["format"] == "ledger/1", "format"
    yield 1 <= body["checkpoint_every"] <= 256, "checkpoint_every"


def _opened(body: Body) -> Iterator[Rule]:
    yield body["identity"]["agent_id"] != "", "agent_id"
    yield body["arg_count"] >= 0, "arg_count"
    yield body["claims_rules"] != "", "claims_rules"


def _policy(body: Body) -> Iterator[Rule]:
    yield ("part" in body) == ("parts" in body), "part without parts"
    if "part" in body:
        yield body["parts"] >= 2, "parts"
        yield from _parts(body)
    yield (body["error"] != "") == (body["state"] == "load_failed"), "error"
    loaded = body["state"] in ("enforced", "permissive")
    yield loaded or not body["requirements"], "requirements without a loaded policy"
    yield not loaded or "document" in body, "document"
    yield ("scope" in body) == ("extends" in body), "scope"
    if "extends" in body:
        scopes = [body["scope"], *(one["scope"] for one in body["extends"])]
        yield loaded and len(scopes) > 1 and len(scopes) == len(set(scopes)), "extends"
    yield body["on_denial"] in ("errno", "kill"), "on_denial"
    yield _distinct(body["requirements"]), "two requirements on one domain"
    for requirement in body["requirements"]:
        yield requirement["default_rule"] != "", "default_rule"
        yield requirement.get("on_denial", "kill") == "kill", "on_denial of a requirement"
        yield "on_denial" not in requirement or requirement["domain"] == "network_egress", "on_denial of another domain"
        for rule in requirement["rules"]:
            yield rule["id"] != "" and rule["operation"] != "", "rule id or operation"
            yield rule.get("line", 1) >= 1 and rule.get("column", 1) >= 1, "line or column"
            yield "column" not in rule or "line" in rule, "column without a line"
            selector = rule["selector"]
            yield (selector["value"] == "") == (selector["type"] == "whole"), "selector value"


def _probed(body: Body) -> Iterator[Rule]:
    yield body["available"] == (body["unavailable_reason"] == ""), "unavailable_reason"
    yield "reference" not in body or not body["domains"], "reference with domains"
    yield _distinct(body["domains"]), "two reports on one domain"
    for domain in body["domains"]:
        support = domain["support"]
        if support == "full":
            yield not domain["limitations"], "limitations of full support"
        elif support == "partial":
            yield bool(domain["limitations"]), "limitations of partial support"
        else:
            nothing = (domain["mediation"], domain["timing"], domain["synchrony"]) == ("none", "none", "none")
            yield domain["reason"] != "" and nothing, "unsupported domain"


def _ambient(body: Body) -> Iterator[Rule]:
    if (ambient := body.get("ambient")) is None:
        return
    counts = ("removed", "delegated", "ambient_unremoved", "sensitive_unlisted", "descriptors_unlisted")
    yield all(ambient[name] >= 0 for name in counts), "a negative count"
    numbers = [one["number"] for one in ambient["descriptors"]]
    yield numbers == sorted(set(numbers)) and min(numbers, default=0) >= 0, "descriptor numbers"
    yield ambient["descriptors_listed"] or (not numbers and ambient["descriptors_unlisted"] == 0), "descriptors not listed"


def _plan(body: Body) -> Iterator[Rule]:
    none = body["requested"] == "none"
    yield ("backend" in body) != none, "backend"
    yield (body["posture"] == "unconfined") == none, "posture"
    yield _distinct(body["outcomes"]), "two outcomes for one domain"
    for outcome in body["outcomes"]:
        yield ("reason" in outcome) == (outcome["kind"] in ("degraded", "unmet")), "reason of an outcome"
        yield outcome["kind"] != "degraded" or body["posture"] != "ready", "degraded and ready"
    yield from _ambient(body)


def _refused(body: Body) -> Iterator[Rule]:
    yield bool(body["refusals"]), "no refusal"
    for refusal in body["refusals"]:
        yield refusal["detail"] != "" and refusal["fix"] != "", "detail and fix"
        unmet = refusal["launch"] == "requirement_unmet"
        yield ("domain" in refusal) == unmet, "domain"
        lacks = (refusal["launch"], refusal.get("reason")) == ("backend_unavailable", "prerequisite_unsatisfied")
        yield ("reason" in refusal) == unmet or lacks, "reason"
    yield from _ambient(body)


def _parts(body: Body) -> Iterator[Rule]:
    yield 1 <= body["part"] <= body["parts"], "part"


def _control(body: Body) -> Iterator[Rule]:
    yield from _parts(body)
    for control in body["controls"]:
        yield not control["installed"] or control["errno"] == 0, "an installed control with an errno"


def _started(body: Body) -> Iterator[Rule]:
    read = body["exe_read"] == "at_exec_stop"
    yield body["pid"] >= 1, "pid"
    yield ("exe_digest" in body, body["exe_not_read_reason"] == "") == (read, read), "digest or reason"


def _batch(body: Body) -> Iterator[Rule]:
    yield body["first"] >= 1 and body["dropped"] >= 0, "first and dropped"
    for index, event in enumerate(body["events"]):
        yield event["number"] == body["first"] + index, "event number"
        yield 1 <= event["pids"] <= event["count"], "count and pids"
        yield event["operation"] != "" and event["mechanism"] != "", "operation and mechanism"
        target = event["object"]
        yield ("number" in target) == (target["type"] == "syscall"), "number of an object"
        yield ("path" in target) == (target["type"] == "path"), "path of an object"
        for member in ("given_path", "new_path", "device", "inode"):
            yield member not in target or target["type"] == "path", member + " of an object"
        yield ("device" in target) == ("inode" in target), "device and inode"
        yield target["type"] != "unlisted" or target["name"] == target["arch"] == "", "unlisted object"
        for member in ("address", "port", "protocol", "address_class"):
            yield (member in target) == (target["type"] == "address"), member + " of an object"
        yield "query" not in target or (target["type"] == "name" and target["query"] != ""), "query of an object"
        yield "answers" not in target or ("query" in target and "" not in target["answers"]), "answers of an object"
        yield target.get("address") != "" and target.get("protocol") != "", "address and protocol"
        yield 0 <= target.get("port", 0) <= 65535, "port"


def _decisions(body: Body) -> Iterator[Rule]:
    yield from _batch(body)
    for event in body["events"]:
        yield event["rule"] != "", "a decision cites a rule"


def _witness(body: Body) -> Iterator[Rule]:
    yield (body["state"] == "unavailable") == (body["reason"] != ""), "reason"
    counts = ("before_start", "heard", "lost", "overruns", "unlisted")
    yield all(body[name] >= 0 for name in counts) and body.get("counted", 0) >= 0, "a negative count"
    yield body["state"] == "unavailable" or (body["before_start"] >= 1 and bool(body["domains"])), "heard without a control"
    for denial in body["denials"]:
        yield denial["blockers"] != "" and denial["count"] >= 1, "blockers and count"
    yield sum(denial["count"] for denial in body["denials"]) + body["unlisted"] == body["heard"], "denials listed and heard"


def _exited(body: Body) -> Iterator[Rule]:
    yield ("status" in body) != ("signal" in body), "one of status and signal"
    yield 0 <= body.get("status", 0) <= 255, "status"
    yield 1 <= body.get("signal", 1) <= 64, "signal"
    yield body["descendants_killed"] >= 0, "descendants_killed"


def _closed(body: Body) -> Iterator[Rule]:
    yield body["records"] >= 1, "records"
    yield not (body["program_started"] and body["ending"] in BEFORE_START), "started and ended before the start"
    yield body["program_started"] or body["ending"] != "finished", "finished and never started"
    channel = body["channel"]
    yield 0 <= channel["events"] <= channel["actions"] and channel["dropped"] >= 0, "channel counts"
    used = channel["opened"] or channel["closed"] or channel["events"]
    yield channel["present"] or not used, "events without a channel"
    yield channel["opened"] or not channel["closed"], "closed and never opened"
    yield 1 <= channel.get("nested_filter_event", 1) <= max(channel["events"], "nested_filter_event" not in channel), "nested filter"


def _rotated(body: Body) -> Iterator[Rule]:
    yield body["purpose"] in ("host", "log"), "purpose"
    yield ("old_signature" in body) == (body["purpose"] == "log"), "old_signature"


def _replaced(body: Body) -> Iterator[Rule]:
    yield body["certificate"]["purpose"] in ("host", "log"), "purpose"


RULES: dict[str, Callable[[Body], Iterator[Rule]]] = {
    "ledger.created": _created, "run.opened": _opened, "policy.resolved": _policy, "capability.probed": _probed,
    "plan.resolved": _plan, "plan.refused": _refused, "control.prepared": _control, "boundary.proved": _parts,
    "process.started": _started, "decision.batch": _decisions, "observation.batch": _batch,
    "witness.reported": _witness,
    "process.exited": _exited, "run.closed": _closed, "key.rotated": _rotated, "key.replaced": _replaced}
