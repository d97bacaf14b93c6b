"""The second witness of a run (docs/spec/product.md section 5.3): what the kernel's audit told, beside the claims."""

from __future__ import annotations

import base64
from typing import Any

from .evidence import in_workload
from .facts import Event, Facts

MAX_BYTES = 4 << 20
MAX_COUNT = 2**53 - 1
READS = ("fs.read_file", "fs.read_dir")
NOT_ASKED = ("fs.execute", "fs.ioctl_dev", "fs.make_sock")
Denial = dict[str, Any]


class _Files:
    """What refused actions were about; nothing is compared once it is more than MAX_BYTES, or some of it is not recorded."""

    def __init__(self) -> None:
        self.known: set[str | int | bytes] = set()
        self.bytes = 0
        self.full = False

    def add(self, item: int | bytes) -> None:
        size = 8 if isinstance(item, int) else len(item)
        if item in self.known or self.full:
            return
        if self.bytes + size > MAX_BYTES:
            self.full = True
            return
        self.known.add(item)
        self.bytes += size


def witness(facts: Facts) -> dict[str, Any] | None:
    record = facts.first("witness.reported")
    asked = facts.policy is not None and "witness" in facts.policy.body and facts.started is not None
    if not asked and record is None:
        return None
    view: dict[str, Any] = {"standing": "not_reported", "heard": 0, "account": "unknown", "missing": 0, "compared": False, "unexplained": 0}
    if record is None or not in_workload(facts, Event(record, {}, False)):
        return view
    body = record.statement.body
    view.update(standing=body["state"], heard=body["heard"])
    if body["state"] == "heard":
        _settle(body, view)
        _compare(facts, body["denials"], view)
    return view


def _settle(body: dict[str, Any], view: dict[str, Any]) -> None:
    heard = min(body["before_start"] + body["heard"], MAX_COUNT)
    if body.get("counted", -1) < heard:
        return
    view["missing"] = body["counted"] - heard
    if view["missing"]:
        view["account"] = "missing"
    elif not body["lost"] and not body["overruns"] and body["enabled_at_end"]:
        view["account"] = "agrees"


def _compare(facts: Facts, denials: list[Denial], view: dict[str, Any]) -> None:
    files = _denied_files(facts)
    if files.full:
        return
    for denial in denials:
        domain = _domain(denial)
        if domain is None or not _decided(facts, domain):
            continue
        view["compared"] = True
        inode = int(denial["inode"]) if "inode" in denial else None
        known = inode in files.known or ("path" in denial and _raw(denial["path"]) in files.known)
        view["unexplained"] += 0 if known else 1


def _domain(denial: Denial) -> str | None:
    rights = denial["blockers"].split(",")
    if any(not right.startswith("fs.") or right in NOT_ASKED for right in rights):
        return None
    return "filesystem_read" if all(right in READS for right in rights) else "filesystem_write"


def _decided(facts: Facts, domain: str) -> bool:
    requirement, outcome = facts.requirement(domain), facts.outcome(domain)
    wishes = ("decisions",) if domain == "filesystem_read" else ("write-decisions", "decisions")
    return bool(requirement and requirement["evidence"] in wishes and outcome and outcome["kind"] == "enforced"
                and facts.opened["enforcement_mode"] == "enforce")


def _denied_files(facts: Facts) -> _Files:
    files = _Files()
    for event in facts.events:
        data = event.data
        if event.observation or data["outcome"] != "denied" or data["cause"] == "compat" or not in_workload(facts, event):
            continue
        if facts.policy is None or "witness" not in facts.policy.body or facts.policy.records[0].position > event.record.position:
            continue
        files.full = files.full or (data["object"]["type"] == "unlisted" and data["domain"].startswith("filesystem_"))
        for member in ("path", "new_path"):
            if member in data["object"]:
                path = _raw(data["object"][member])
                files.add(path)
                files.add(path[:max(path.rfind(b"/"), 0)] or b"/")
        if "inode" in data["object"]:
            files.add(int(data["object"]["inode"]))
    return files


def _raw(path: Any) -> bytes:
    return base64.b64decode(path["b64"]) if isinstance(path, dict) else str(path).encode()
