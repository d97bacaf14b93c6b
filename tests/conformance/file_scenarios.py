"""Runs that decided about files: which rules an event has to answer to (product.md section 5.2)."""

from __future__ import annotations

import copy
from collections.abc import Callable

from scenarios import Run

GRANT, DENY, DEFAULT = "filesystem.write.allow[0]", "filesystem.deny[0]", "filesystem.write.allow"

# Name, operation, path, new path, outcome, rule, and what is to be found, if anything.
CASES = (
    ("beside", "create", "/w/a", "", "allowed", GRANT, ""),
    ("inside", "create", "/w/.git/hooks/x", "", "allowed", GRANT, "allowed_by_deny_rule"),
    ("the_place", "remove", "/w/.git/hooks", "", "allowed", GRANT, "allowed_by_deny_rule"),
    ("a_sibling", "write", "/w/.git/hooks2", "", "allowed", GRANT, ""),
    ("renamed_beside", "rename", "/w/a", "/w/b", "allowed", GRANT, ""),
    ("renamed_into", "rename", "/w/a", "/w/.git/hooks/x", "allowed", GRANT, "allowed_by_deny_rule"),
    ("linked_into", "link", "/w/a", "/w/.git/hooks/x", "allowed", GRANT, "allowed_by_deny_rule"),
    ("outside", "create", "/etc/x", "", "allowed", GRANT, "allowed_outside_rule"),
    ("allowed_by_the_list", "create", "/w/a", "", "allowed", DEFAULT, "allowed_by_deny_rule"),
    ("denied_inside", "create", "/w/.git/hooks/x", "", "denied", DENY, ""),
    ("denied_outside", "create", "/etc/x", "", "denied", DEFAULT, ""),
)


def decided(run: Run, operation: str, path: str, new_path: str, outcome: str, rule: str) -> None:
    [requirement] = [one for one in run.body("policy.resolved")["requirements"] if one["domain"] == "filesystem_write"]
    requirement["default_rule"] = DEFAULT
    requirement["rules"] = [
        {"effect": effect, "id": rule_id, "operation": "write", "selector": {"type": "path_prefix", "value": path}}
        for effect, rule_id, path in (("allow", GRANT, "/w"), ("deny", DENY, "/w/.git/hooks"))]
    [control] = [one for one in run.body("control.prepared")["controls"] if one["domain"] == "syscall" and
                 one["purpose"] == "policy"][:1]
    run.body("control.prepared")["controls"].append({
        **copy.deepcopy(control), "domain": "filesystem_write", "id": "files", "rules": [DENY, DEFAULT]})
    run.event().update(domain="filesystem_write", operation=operation, outcome=outcome, rule=rule,
                       errno=0 if outcome == "allowed" else 13, object={
                           "type": "path", "name": "", "arch": "", "path": path, **({"new_path": new_path} if new_path else {})})


def scenario(name: str, *about: str) -> Callable[[Run], None]:
    def change(run: Run) -> None:
        decided(run, *about)
    change.__name__ = "file_" + name
    return change


EXECUTE, READ, EXECUTE_DENY, READ_DEFAULT = ("filesystem.execute.allow[0]", "filesystem.read.allow[0]", "filesystem.deny[1]",
                                            "filesystem.read.allow")

# Of executions: name, path (none: a memory file), outcome, rule, and what is to be found, if anything.
EXECUTIONS = (
    ("covered", "/usr/bin/true", "allowed", EXECUTE, ""),
    ("by_the_grant_to_read", "/usr/bin/true", "allowed", READ, ""),
    ("outside", "/w/tool", "allowed", EXECUTE, "allowed_outside_rule"),
    ("in_a_denied_place", "/usr/denied/x", "allowed", EXECUTE, "allowed_by_deny_rule"),
    ("allowed_by_the_list", "/usr/bin/true", "allowed", READ_DEFAULT, "allowed_by_deny_rule"),
    ("refused", "/w/tool", "denied", READ_DEFAULT, ""),
    ("of_memory_refused", "", "denied", READ_DEFAULT, ""),
    ("of_memory_allowed", "", "allowed", EXECUTE, "allowed_outside_rule"),
)


def executed(run: Run, path: str, outcome: str, rule: str) -> None:
    [requirement] = [one for one in run.body("policy.resolved")["requirements"] if one["domain"] == "filesystem_read"]
    requirement["default_rule"] = READ_DEFAULT
    requirement["rules"] = [
        {"effect": effect, "id": rule_id, "operation": operation, "selector": {"type": "path_prefix", "value": place}}
        for effect, rule_id, operation, place in (("allow", READ, "read", "/usr"), ("allow", EXECUTE, "execute", "/usr"),
                                                  ("deny", EXECUTE_DENY, "execute", "/usr/denied"))]
    [control] = [one for one in run.body("control.prepared")["controls"] if one["domain"] == "syscall" and
                 one["purpose"] == "policy"][:1]
    run.body("control.prepared")["controls"].append({
        **copy.deepcopy(control), "domain": "filesystem_read", "id": "files", "rules": [READ_DEFAULT]})
    made = {"type": "path", "name": "", "path": path} if path else {"type": "name", "name": "memfd:copy"}
    run.event().update(domain="filesystem_read", operation="execute", outcome=outcome, rule=rule,
                       errno=0 if outcome == "allowed" else 13, object={"arch": "", **made})


def execution(name: str, *about: str) -> Callable[[Run], None]:
    def change(run: Run) -> None:
        executed(run, *about)
    change.__name__ = "execution_" + name
    return change


FOUND: dict[Callable[[Run], None], str] = {scenario(*case[:6]): case[6] for case in CASES}
FOUND.update({execution(*case[:4]): case[4] for case in EXECUTIONS})
SCENARIOS = tuple(FOUND)
