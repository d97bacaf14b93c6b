"""What the launcher says that it held, against what the controls say was passed on (docs/spec/product.md section 5.2)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .facts import Facts

Found = tuple[str, int]
Body = dict[str, Any]


def inventory(facts: Facts) -> Iterator[Found]:
    plan = facts.first("plan.resolved")
    held = plan.statement.body.get("ambient") if plan else None
    if plan is None or held is None:
        return
    controls = [control for _record, control in facts.controls() if control["domain"] == "credential"]
    environment = [one for one in controls if one["id"] == "environment" or one["id"].startswith("environment.")]
    if environment and not _environment_agrees(held, environment):
        yield "inventory_differs", plan.seq
    descriptors = [one for one in controls if one["id"] == "descriptors" and one["installed"]]
    if descriptors and held["descriptors_listed"] and not _descriptors_agree(held, descriptors[0]["descriptors"]):
        yield "inventory_differs", plan.seq


def _environment_agrees(held: Body, controls: list[Body]) -> bool:
    installed = [one for one in controls if one["installed"] and one["purpose"] == "policy"]
    names, removed = ({name for one in installed for name in one[member]} for member in ("names", "removed"))
    fates: dict[str, set[str]] = {"removed": set(), "delegated": set(), "ambient_unremoved": set()}
    for one in held["sensitive"]:
        fates[one["fate"]].add(one["name"])
    if installed and not (len(names) == held["delegated"] + held["ambient_unremoved"] and len(removed) == held["removed"]
                          and fates["removed"] <= removed and fates["delegated"] <= names):
        return False
    ambient = {name for one in controls for name in one["ambient_unremoved"]}
    return fates["ambient_unremoved"] <= ambient and (held["sensitive_unlisted"] > 0 or ambient <= fates["ambient_unremoved"])


def _descriptors_agree(held: Body, passed: list[int]) -> bool:
    numbers = [one["number"] for one in held["descriptors"]]
    if any(one["fate"] != ("delegated" if one["number"] in passed else "removed") for one in held["descriptors"]):
        return False
    end = max(numbers, default=-1)
    return all(number in numbers or (held["descriptors_unlisted"] > 0 and number > end) for number in passed)
