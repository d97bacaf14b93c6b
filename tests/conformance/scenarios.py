"""Changes that make a good run into another good run: the kinds of ledger that the host here does not produce.

Each takes a forge and the range of entries of one confined run that had a denial.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from forge import Entry, Forge


AT_START = ("boundary.proved", "process.started", "decision.batch", "process.exited")


class Run:
    """The entries of one run in a forge."""

    def __init__(self, forge: Forge, identifier: str) -> None:
        self.forge = forge
        self.id = identifier

    def all(self, kind: str) -> list[Entry]:
        return [entry for entry in self.forge.entries if entry.run == self.id and entry.kind == kind]

    def body(self, kind: str) -> dict[str, Any]:
        return self.all(kind)[0].body

    def event(self) -> dict[str, Any]:
        event: dict[str, Any] = self.body("decision.batch")["events"][0]
        return event

    def insert_before(self, kind: str, entry: Entry) -> None:
        position = next(i for i, one in enumerate(self.forge.entries) if one.run == self.id and one.kind == kind)
        self.forge.entries.insert(position, entry)
        self.body("run.closed")["records"] += 1

    def probe(self) -> dict[str, Any]:
        """The body that holds what was measured for this run."""
        body = self.body("capability.probed")
        return self.forge.entries[body["reference"]["seq"]].body if "reference" in body else body

    def measured(self, domain: str, like: str = "syscall") -> dict[str, Any]:
        """The probe's entry for `domain`; made to be one that prevents and reports, as that of `like`."""
        entries: list[dict[str, Any]] = self.probe()["domains"]
        entry = copy.deepcopy(next(one for one in entries if one["domain"] == like))
        entry["domain"] = domain
        entries[:] = [one for one in entries if one["domain"] != domain] + [entry]
        return entry

    def require(self, domain: str, rule: str, kind: str, reason: str = "", posture: str = "required") -> None:
        self.body("policy.resolved")["requirements"].append({
            "default_rule": f"{domain}.default", "descendants": "process_tree", "domain": domain, "evidence": "setup",
            "intent": "prevent_before_effect", "posture": posture, "rules": [{
                "effect": "allow", "id": rule, "operation": rule.rpartition("resources.")[2] if "resources." in rule else "use", "selector": {"type": "limit", "value": "5"}}]})
        outcome = {"achieved": "prevent_before_effect", "descendants": "process_tree", "detail": "", "domain": domain,
                   "kind": kind, "planned": "prevent_before_effect", "posture": posture, "timing": "pre"}
        self.measured(domain)
        if reason:
            outcome.update(reason=reason, achieved="observe" if kind == "degraded" else "none")
            self.body("plan.resolved")["posture"] = "degraded"
        self.body("plan.resolved")["outcomes"].append(outcome)


def closed_unreadably(run: Run) -> None:
    run.body("run.closed").clear()


def recovered_unreadably(run: Run) -> None:
    recovered(run)
    run.all("run.recovered")[0].body = {}


def observed(run: Run, domain: str = "syscall") -> None:
    batch = copy.deepcopy(run.all("decision.batch")[0])
    batch.kind = "observation.batch"
    batch.body["first"] = 2
    batch.body["events"][0].update(number=2, domain=domain, outcome="allowed", cause="fault")
    run.insert_before("process.exited", batch)
    channel = run.body("run.closed")["channel"]
    channel["events"] += 1
    channel["actions"] += batch.body["events"][0]["count"]


def observed_elsewhere(run: Run) -> None:
    observed(run, "credential")


def kill(run: Run) -> None:
    run.body("policy.resolved")["on_denial"] = "kill"
    run.event()["reply"] = "killed_while_blocked"


def kill_but_answered(run: Run) -> None:
    run.body("policy.resolved")["on_denial"] = "kill"


def experimental(run: Run) -> None:
    run.body("plan.resolved")["experimental"] = True


def degraded(run: Run) -> None:
    run.require("ipc", "ipc.signals", "degraded", "decision_too_late", "degrade_if_unavailable")


def unsupported(run: Run) -> None:
    run.require("network_egress", "network.allowlist[0]", "unmet", "domain_unsupported", "optional")


def unmet(run: Run) -> None:
    run.require("network_egress", "network.allowlist[0]", "unmet", "no_capability_reported", "optional")


def unmet_required(run: Run) -> None:
    run.require("network_egress", "network.allowlist[0]", "unmet", "domain_unsupported")


def wall_clock(run: Run) -> None:
    run.require("resource", "resources.wall_clock_seconds", "enforced")
    run.body("process.exited")["cause"] = "wall_clock"
    run.body("process.exited")["use"]["wall_us"] = 5_000_000


def wall_clock_of_a_document(run: Run) -> None:
    run.require("resource", "org:resources.wall_clock_seconds", "enforced")
    run.body("process.exited")["cause"] = "wall_clock"
    run.body("process.exited")["use"]["wall_us"] = 4_000_000


def wall_clock_too_soon(run: Run) -> None:
    wall_clock(run)
    run.body("process.exited")["use"]["wall_us"] = 3_999_999


def wall_clock_not_stated(run: Run) -> None:
    run.require("resource", "resources.memory_bytes", "enforced")
    run.body("process.exited")["cause"] = "wall_clock"


def memory(run: Run) -> None:
    run.require("resource", "resources.memory_bytes", "enforced")
    run.body("process.exited")["cause"] = "memory_limit"


def allowed(run: Run) -> None:
    rules = run.body("policy.resolved")["requirements"]
    [syscalls] = [one for one in rules if one["domain"] == "syscall"]
    syscalls["rules"].append({"effect": "allow", "id": "syscalls.allow[1]", "operation": "call",
                              "selector": {"type": "syscall", "value": "ptrace"}})
    run.event().update(outcome="allowed", rule="syscalls.allow[1]", errno=0)


def allowed_another(run: Run) -> None:
    allowed(run)
    run.event()["object"]["name"] = "kcmp"


def allowed_by_group(run: Run) -> None:
    run.event().update(outcome="allowed", rule="syscalls.allow[0]", errno=0)


def nested(run: Run) -> None:
    run.event()["nested_filter"] = True
    run.body("run.closed")["channel"]["nested_filter_event"] = 1


def denied_against_policy(run: Run) -> None:
    allowed(run)
    run.event().update(outcome="denied", errno=1)


def denied_and_denied(run: Run) -> None:
    denied_against_policy(run)
    [syscalls] = [one for one in run.body("policy.resolved")["requirements"] if one["domain"] == "syscall"]
    syscalls["rules"].append({"effect": "deny", "id": "syscalls.deny[0]", "operation": "call",
                              "selector": {"type": "syscall", "value": "ptrace"}})


def allowed_and_denied(run: Run) -> None:
    denied_and_denied(run)
    run.event().update(outcome="allowed", errno=0)


def denied_without_errno(run: Run) -> None:
    run.event()["errno"] = 0


def observe_mode(run: Run) -> None:
    run.body("run.opened")["enforcement_mode"] = "observe"
    run.event().update(outcome="allowed", errno=0)


def denied_while_observing(run: Run) -> None:
    """The plan lets through what policy refuses, and a denial by policy is recorded all the same."""
    run.body("run.opened")["enforcement_mode"] = "observe"
    [outcome] = [one for one in run.body("plan.resolved")["outcomes"] if one["domain"] == "syscall"]
    outcome.update(kind="observed", planned="observe", achieved="observe")


def observed_as_planned(run: Run) -> None:
    denied_while_observing(run)
    run.all("decision.batch")[0].kind = "observation.batch"
    run.all("observation.batch")[0].body["events"][0].update(outcome="allowed", errno=0)


def disabled_mode(run: Run) -> None:
    run.body("run.opened")["enforcement_mode"] = "disabled"


def foreign_machine(run: Run) -> None:
    denied_against_policy(run)
    run.event()["object"]["arch"] = "i386"


def killed(run: Run) -> None:
    kill(run)
    exited = run.body("process.exited")
    exited.pop("status", None)
    exited.update(cause="killed_by_denial", signal=9)


def killed_without_policy(run: Run) -> None:
    killed(run)
    run.body("policy.resolved")["on_denial"] = "errno"


def overflow(run: Run) -> None:
    run.event()["count"] = 2**53 - 1
    run.body("run.closed")["channel"]["actions"] = 2**53 - 1


def members_of_a_later_version(run: Run) -> None:
    """Members that records.md does not name are ignored, also where records are compared and digested."""
    run.body("run.opened")["identity"]["later"] = {"a": [1]}
    run.body("plan.resolved")["outcomes"][0]["later"] = 1
    run.body("policy.resolved")["requirements"][0]["rules"][0]["selector"]["later"] = "x"
    run.body("run.opened")["host"]["later"] = True
    grants = next(one for one in run.body("control.prepared")["controls"] if "landlock" in one)
    again = copy.deepcopy(grants)
    again["later"] = 1
    run.body("control.prepared")["controls"].append(again)


def second_list(run: Run) -> None:
    run.insert_before("boundary.proved", copy.deepcopy(run.all("control.prepared")[0]))


def lossy(run: Run) -> None:
    run.body("run.closed")["channel"]["dropped"] = 4


def host_permission(run: Run) -> None:
    run.event()["cause"] = "host_permission"


def self_protection(run: Run) -> None:
    run.event()["rule"] = "self_protection.ptrace"


def recovered(run: Run, last: str = "process.exited", permitted: bool = True, without: tuple[str, ...] = ()) -> None:
    closing = run.all("run.closed")[0]
    closing.kind, closing.boot = "run.recovered", "another-boot"
    closing.body = {"last_kind": last, "program_may_have_run": permitted}
    run.forge.entries[:] = [one for one in run.forge.entries if one.run != run.id or one.kind not in without]


def recovered_before_start(run: Run) -> None:
    recovered(run, "control.prepared", False, AT_START)


def recovered_before_start_said_started(run: Run) -> None:
    recovered(run, "control.prepared", True, AT_START)


def recovered_unproved(run: Run) -> None:
    recovered(run, "process.started", True, ("boundary.proved", *AT_START[2:]))


def recovered_unproved_said_not_started(run: Run) -> None:
    recovered(run, "process.started", False, ("boundary.proved", *AT_START[2:]))


def recovered_unconfined(run: Run, permitted: bool = True) -> None:
    recovered(run, "plan.resolved", permitted, ("control.prepared", *AT_START))
    run.body("run.opened")["isolation"] = "none"
    plan = run.body("plan.resolved")
    plan.pop("backend")
    plan.update(requested="none", posture="unconfined")


def recovered_unconfined_said_not_started(run: Run) -> None:
    recovered_unconfined(run, False)


def recovered_after_unreadable_plan(run: Run) -> None:
    recovered_unconfined(run, False)
    run.body("plan.resolved").clear()


def recovered_after_unreadable_proof(run: Run) -> None:
    recovered(run, "boundary.proved", False, AT_START[1:])
    run.body("boundary.proved").clear()


def recovered_after_unreadable_proof_said_started(run: Run) -> None:
    recovered(run, "boundary.proved", True, AT_START[1:])
    run.body("boundary.proved").clear()


def recovered_by_its_run_key(run: Run) -> None:
    recovered(run)
    run.all("run.recovered")[0].signer = "run"


def recovered_after_stranger(run: Run) -> None:
    recovered_unproved(run)
    run.all("process.started")[0].signer = "stranger"


def recovered_and_closed(run: Run) -> None:
    closed = copy.deepcopy(run.all("run.closed")[0])
    run.forge.entries.append(closed)
    recovered(run)
    closed.kind, closed.signer = "run.closed", "run"


def recovered_twice(run: Run) -> None:
    recovered(run)
    run.forge.entries.append(copy.deepcopy(run.all("run.recovered")[0]))


def witnessed_but_for_open_run(run: Run) -> None:
    """Every checkpoint is witnessed; the last run has no end yet."""
    del run.forge.entries[-2:]
    run.forge.witnessed = set(range(100))


def two_parts(run: Run) -> None:
    first = run.all("control.prepared")[0]
    second = copy.deepcopy(first)
    run.insert_before("boundary.proved", second)
    first.body["controls"], second.body["controls"] = first.body["controls"][:5], first.body["controls"][5:]
    first.body["parts"] = second.body["parts"] = second.body["part"] = 2


def without_probe(run: Run) -> None:
    run.forge.entries.remove(run.all("capability.probed")[0])
    run.body("run.closed")["records"] -= 1


def two_denials(run: Run) -> None:
    batch = run.body("decision.batch")
    second = copy.deepcopy(batch["events"][0])
    second.update(number=2, count=3, pids=2)
    batch["events"].append(second)
    channel = run.body("run.closed")["channel"]
    channel["events"], channel["actions"] = 2, channel["actions"] + 3


SCENARIOS: tuple[Callable[[Run], None], ...] = (
    observed, observed_elsewhere, kill, kill_but_answered, experimental, degraded, unsupported, unmet, unmet_required,
    wall_clock, wall_clock_of_a_document, wall_clock_too_soon, wall_clock_not_stated, memory, allowed, allowed_another, allowed_by_group, nested, lossy,
    host_permission, self_protection, recovered, recovered_before_start,
    recovered_before_start_said_started, recovered_unproved, recovered_unproved_said_not_started, recovered_unconfined,
    recovered_unconfined_said_not_started, recovered_after_unreadable_plan, recovered_after_unreadable_proof,
    recovered_after_unreadable_proof_said_started, recovered_by_its_run_key, recovered_after_stranger, recovered_and_closed,
    recovered_twice, witnessed_but_for_open_run, two_parts, two_denials, denied_against_policy, denied_and_denied,
    allowed_and_denied, denied_without_errno, observe_mode, denied_while_observing, observed_as_planned,
    disabled_mode, foreign_machine, killed, killed_without_policy,
    overflow, second_list, members_of_a_later_version, closed_unreadably, recovered_unreadably)
