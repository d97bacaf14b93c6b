"""Runs that a second witness was asked of (product.md section 5.3): what a denial it tells has to answer to."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from scenarios import Run

DEFAULT = {"filesystem_read": "filesystem.read.allow", "filesystem_write": "filesystem.write.allow"}
NAMED = {"path": "/etc/shadow", "inode": "7"}
DIRECTORY = {"path": "/etc", "inode": "3"}
FEW = {"counted": 1}

# Name; what the witness told (blockers, object); the object of the recorded denial, its domain; what else is changed; what is to be found.
CASES: tuple[tuple[str, str, dict[str, str], dict[str, str], str, dict[str, Any], str], ...] = (
    ("same_path", "fs.read_file", NAMED, {"path": "/etc/shadow"}, "filesystem_read", {}, ""),
    ("same_inode", "fs.read_file", NAMED, {"path": "/x", "device": "1", "inode": "7"}, "filesystem_read", {}, ""),
    ("another_file", "fs.read_file", NAMED, {"path": "/etc/passwd", "device": "1", "inode": "8"}, "filesystem_read", {}, "witness_disagrees"),
    ("name_in_directory", "fs.make_reg", DIRECTORY, {"path": "/etc/new"}, "filesystem_write", {}, ""),
    ("moved_into_directory", "fs.make_reg,fs.refer", DIRECTORY, {"path": "/w/x", "new_path": "/etc/new"}, "filesystem_write", {}, ""),
    ("deeper", "fs.make_reg", DIRECTORY, {"path": "/etc/sub/new"}, "filesystem_write", {}, "witness_disagrees"),
    ("in_the_root", "fs.make_dir", {"path": "/", "inode": "2"}, {"path": "/new"}, "filesystem_write", {}, ""),
    ("executed", "fs.execute", NAMED, {"path": "/x"}, "filesystem_read", {}, ""),
    ("executed_and_read", "fs.execute,fs.read_file", NAMED, {"path": "/x"}, "filesystem_read", {}, ""),
    ("bound", "fs.make_sock", DIRECTORY, {"path": "/x"}, "filesystem_write", {}, ""),
    ("odd_list", "fs.read_file,", NAMED, {"path": "/x"}, "filesystem_read", {}, ""),
    ("connected", "net.connect_tcp", {}, {"path": "/x"}, "filesystem_read", {}, ""),
    ("without_a_place", "fs.read_file", {}, {"path": "/x"}, "filesystem_read", {}, "witness_disagrees"),
    ("more_counted", "fs.read_file", NAMED, {"path": "/etc/shadow"}, "filesystem_read", {"counted": 9}, ""),
    ("fewer_counted", "fs.read_file", NAMED, {"path": "/etc/shadow"}, "filesystem_read", FEW, ""),
    ("switched_off", "fs.read_file", NAMED, {"path": "/etc/shadow"}, "filesystem_read", {"enabled_at_end": False}, ""),
    ("unavailable", "", {}, {"path": "/x"}, "filesystem_read",
     {"state": "unavailable", "reason": "not permitted", "denials": [], "heard": 0}, ""),
)


def told(run: Run, blockers: str, place: dict[str, str], target: dict[str, str], domain: str, changed: dict[str, Any]) -> None:
    policy = run.body("policy.resolved")
    policy["witness"] = "listen"
    for requirement in policy["requirements"]:
        if requirement["domain"] in DEFAULT:
            requirement.update(evidence="decisions", default_rule=DEFAULT[requirement["domain"]])
    [control] = [one for one in run.body("control.prepared")["controls"] if one["domain"] == "syscall" and one["purpose"] == "policy"][:1]
    run.body("control.prepared")["controls"].append({**copy.deepcopy(control), "domain": domain, "id": "files", "rules": [DEFAULT[domain]]})
    run.event().update(domain=domain, operation="read", outcome="denied", rule=DEFAULT[domain], errno=13,
                       object={"type": "path", "name": "", "arch": "", **target})
    entry = copy.deepcopy(run.all("decision.batch")[0])
    entry.kind = "witness.reported"
    entry.body = {
        "wish": "listen", "state": "heard", "reason": "", "enabled_by_aasm": False, "enabled_at_end": True, "domains": ["1f"],
        "before_start": 1, "heard": 1, "counted": 2, "lost": 0, "overruns": 0, "unlisted": 0,
        "denials": [{"blockers": blockers, "device": "vda", "detail": "", "count": 1, **place}], **changed}
    run.insert_before("process.exited", entry)


def scenario(name: str, *about: Any) -> Callable[[Run], None]:
    def change(run: Run) -> None:
        told(run, *about)
    change.__name__ = "witness_" + name
    return change


def _explained(run: Run) -> None:
    told(run, *CASES[0][1:6])


def _unexplained(run: Run) -> None:
    told(run, *CASES[2][1:6])


def not_asked_for(run: Run) -> None:
    """A report although policy does not ask: the denials of the run are then not gathered, and nothing explains."""
    _explained(run)
    del run.body("policy.resolved")["witness"]


def not_reported(run: Run) -> None:
    run.body("policy.resolved")["witness"] = "enable"


def beside_unlisted(run: Run) -> None:
    """The object that would have explained may be the one that is not recorded (decision 0028)."""
    _unexplained(run)
    run.event()["object"] = {"type": "unlisted", "name": "", "arch": ""}


def at_setup(run: Run) -> None:
    _unexplained(run)
    for requirement in run.body("policy.resolved")["requirements"]:
        requirement["evidence"] = "setup"


def while_observing(run: Run) -> None:
    _unexplained(run)
    run.body("run.opened")["enforcement_mode"] = "observe"


def told_twice(run: Run) -> None:
    _explained(run)
    run.insert_before("process.exited", copy.deepcopy(run.all("witness.reported")[0]))


def before_the_start(run: Run) -> None:
    _explained(run)
    [entry] = run.all("witness.reported")
    run.forge.entries.remove(entry)
    run.body("run.closed")["records"] -= 1
    run.insert_before("process.started", entry)


FOUND: dict[Callable[[Run], None], str] = {scenario(*case[:6]): case[6] for case in CASES}
FOUND.update({not_asked_for: "witness_disagrees", not_reported: "", at_setup: "", beside_unlisted: "", told_twice: "record_repeated",
              before_the_start: "activity_before_start"})
SCENARIOS = (*FOUND, while_observing)
