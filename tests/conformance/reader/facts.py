"""What the records of one run say, sorted by kind, for the claims and the contradictions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .policy import Policy

if TYPE_CHECKING:
    from .runs import Run
    from .scan import Record

DOMAINS = ("filesystem_read", "filesystem_write", "network_egress", "name_resolution", "syscall",
           "process_creation", "ipc", "credential", "resource")
SETUP = ("policy.resolved", "capability.probed", "plan.resolved", "plan.refused", "boundary.proved")
BATCHES = ("decision.batch", "observation.batch")


@dataclass
class Event:
    record: Record
    data: dict[str, Any]
    observation: bool

    @property
    def number(self) -> int:
        return int(self.data["number"])


@dataclass
class Facts:
    """Only records that are signed rightly are evidence; the others are in `unsigned`."""

    run: Run
    by_kind: dict[str, list[Record]] = field(default_factory=dict)
    unsigned: list[Record] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    probe: dict[str, Any] | None = None
    probes: dict[int, Record] = field(default_factory=dict)
    policy: Policy | None = None

    def first(self, kind: str) -> Record | None:
        return next(iter(self.by_kind.get(kind, [])), None)

    def body(self, kind: str) -> dict[str, Any] | None:
        record = self.first(kind)
        return record.statement.body if record else None

    def before(self, kind: str, event: Event) -> dict[str, Any] | None:
        """The body of the first record of this kind, if it stands before the event: an event is judged by what is recorded so far."""
        record = self.first(kind)
        return record.statement.body if record is not None and record.position < event.record.position else None

    def all(self, kind: str) -> list[Record]:
        return self.by_kind.get(kind, [])

    @property
    def opened(self) -> dict[str, Any]:
        return self.run.opened.statement.body

    @property
    def started(self) -> Record | None:
        return self.first("process.started")

    @property
    def unconfined(self) -> bool:
        return bool(self.opened["isolation"] == "none")

    def requirements(self) -> list[dict[str, Any]]:
        return self.policy.body["requirements"] if self.policy else []

    def outcomes(self) -> list[dict[str, Any]]:
        plan = self.body("plan.resolved")
        return plan["outcomes"] if plan else []

    def requirement(self, domain: str) -> dict[str, Any] | None:
        return next((one for one in self.requirements() if one["domain"] == domain), None)

    def requirement_before(self, event: Event) -> dict[str, Any] | None:
        """Of a workload event: the parts of a policy stand before the start, unless there is but one record of it."""
        known = self.policy is not None and self.policy.records[0].position < event.record.position
        return self.requirement(event.data["domain"]) if known else None

    def outcome(self, domain: str) -> dict[str, Any] | None:
        return next((one for one in self.outcomes() if one["domain"] == domain), None)

    def controls(self) -> list[tuple[Record, dict[str, Any]]]:
        return [(record, control) for record in self.all("control.prepared")
                for control in record.statement.body["controls"]]

    def canaries(self) -> list[tuple[Record, dict[str, Any]]]:
        return [(record, canary) for record in self.all("boundary.proved")
                for canary in record.statement.body["canaries"]]


def gather(run: Run, probes: dict[int, Record]) -> Facts:
    """`probes` are the capability.probed records of the ledger by sequence number."""
    facts = Facts(run, probes=probes)
    for record in run.records:
        if not record.signed:
            facts.unsigned.append(record)
        facts.by_kind.setdefault(record.statement.kind, []).append(record)
        if record.statement.kind in BATCHES:
            observation = record.statement.kind == "observation.batch"
            facts.events += [Event(record, event, observation) for event in record.statement.body["events"]]
    facts.probe = _probe(facts, probes)
    facts.policy = _policy(facts)
    return facts


def _policy(facts: Facts) -> Policy | None:
    policy: Policy | None = None
    for record in facts.all("policy.resolved"):
        if policy is None:
            policy = Policy(record.statement.body, [record])
        else:
            policy.take(record, record.statement.body, facts.started is None or record.position < facts.started.position)
    return policy


def _probe(facts: Facts, probes: dict[int, Record]) -> dict[str, Any] | None:
    """The probe of the backend that the plan chose, followed through its reference."""
    plan = facts.body("plan.resolved")
    if plan is None or "backend" not in plan:
        return None
    for record in facts.all("capability.probed"):
        body = record.statement.body
        if body["backend"]["id"] == plan["backend"]["id"]:
            if "reference" not in body:
                return body
            target = probes.get(body["reference"]["seq"])
            return target.statement.body if target and target.position < record.position else None
    return None
