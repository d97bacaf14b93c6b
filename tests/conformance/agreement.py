"""Runs both readers on one target and says where they differ."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
from typing import Any

from reader import cli

DOMAIN = ("claim", "basis", "boundary", "boundary_reason", "channel", "denied_actions", "evaluated_actions", "observations",
          "unlisted_actions", "denied_by_rule", "decisions", "detector", "planned", "achieved", "requested")
COVERAGE = ("records", "signed_up_to", "unsigned_tail", "skipped", "blobs", "blobs_withheld")
Report = dict[str, Any]


def theirs(binary: str, arguments: list[str]) -> Report:
    """What `aasm verify` says, as plain data."""
    done = subprocess.run([binary, "verify", *arguments, "--format", "json"], capture_output=True, timeout=120,
                          check=False, env={**os.environ})
    if done.returncode == 2:
        return {"verdict": "USAGE", "exit_status": 2}
    try:
        report = json.loads(done.stdout)
    except ValueError as error:
        raise RuntimeError(f"status {done.returncode}, no JSON: {done.stdout[:500]!r} {done.stderr[:500]!r}") from error
    if done.returncode != report["exit_status"]:
        raise RuntimeError(f"status {done.returncode}, report says {report['exit_status']}")
    return _plain(report, report["findings"]["groups"], report.get("runs", {}).get("newest", []), "report")


def ours(arguments: list[str]) -> Report:
    status, report = cli.run(arguments)
    if status == 2:
        return {"verdict": "USAGE", "exit_status": 2}
    return _plain(report, report["findings"], report["runs"], "")  # type: ignore[arg-type]


def _plain(report: Report, groups: list[Report], runs: list[Report], inner: str) -> Report:
    result: Report = {"verdict": report["verdict"], "exit_status": report["exit_status"]}
    for group in groups:
        if group["code"] != "clock_step":
            result[f"finding {group['code']}"] = _finding(group)
    for run in runs:
        result[f"run {run['id']}"] = run["state"]
        whole = run.get(inner) if inner else run
        if whole and whole.get("claims_rules_known") is False:
            continue
        if whole and "channel" in (whole.get("run", whole)):
            result[f"run {run['id']} channel"] = whole.get("run", whole)["channel"]
        if whole and (told := whole.get("witness")):
            unexplained = told["unexplained"]
            result[f"run {run['id']} witness"] = {
                **{name: told[name] for name in ("standing", "heard", "account", "missing", "compared")},
                "unexplained": unexplained if isinstance(unexplained, int) else len(unexplained)}
        for domain in (whole or {}).get("domains", []):
            result[f"run {run['id']} {domain['domain']}"] = {name: domain[name] for name in DOMAIN if name in domain}
            for listed in ("decisions", "denied_by_rule"):
                result[f"run {run['id']} {domain['domain']}"][listed] = sorted(domain[listed], key=repr)
            denials = domain["uncounted_denials"]
            if isinstance(denials, list):
                denials = sum(one["actions"] for one in denials)
            result[f"run {run['id']} {domain['domain']}"]["uncounted_denials"] = denials
    kind = report.get("target")
    for name in COVERAGE if "receipt" not in (kind, kind.get("kind") if isinstance(kind, dict) else None) else ():
        if name in report["coverage"]:
            result[f"coverage {name}"] = report["coverage"][name]
    return result


def _finding(group: Report) -> Report:
    """Count and places. Lists are cut at 100 items in all, and how often SQLite says a file is damaged is its own affair."""
    if group["code"].startswith("database_"):
        return {}
    places = sorted(item["seq"] for item in group["items"])
    return {"count": group["count"], "seqs": places if len(places) == group["count"] else "cut"}


def differences(left: Report, right: Report) -> list[str]:
    """Lines `name: aasm says ..., the reader says ...`."""
    result = []
    for name in [*left, *(name for name in right if name not in left)]:
        a, b = left.get(name), right.get(name)
        if isinstance(a, dict) and isinstance(b, dict):
            a, b = ({key: value for key, value in one.items() if value != other.get(key) and "cut" not in (
                value, other.get(key))} for one, other in ((a, b), (b, a)))
        if a != b:
            result.append(f"{name}: aasm {a!r}, reader {b!r}")
    return result


def compare(binary: str, target: pathlib.Path, *arguments: str) -> list[str]:
    everything = [str(target), *arguments]
    return differences(theirs(binary, everything), ours(everything))
