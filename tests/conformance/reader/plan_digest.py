"""The plan's text and digest (docs/spec/product.md section 5.2)."""

from __future__ import annotations

import hashlib
from typing import Any

from .profile import canonical

SUBJECT = ("identity", "program", "arg_count", "working_dir")
REQUIREMENT = ("domain", "intent", "posture", "descendants", "evidence", "on_denial")
PLAN = ("requested", "selection", "experimental", "posture", "outcomes", "steps", "backend")


def _distinct(items: list[Any]) -> list[Any]:
    """Sorted by the bytes of their JCS, without repeats."""
    return [item for _key, item in sorted({canonical(item): item for item in items}.items())]


def digest(opened: dict[str, Any], policy: dict[str, Any], plan: dict[str, Any]) -> str:
    requirements = [{**{name: requirement[name] for name in REQUIREMENT if name in requirement},
                     "rules": _distinct([{name: rule[name] for name in ("effect", "operation", "selector")}
                                         for rule in requirement["rules"]])} for requirement in policy["requirements"]]
    text = {name: plan[name] for name in PLAN if name in plan}
    text["outcomes"] = [{**outcome, "detail": ""} for outcome in plan["outcomes"]]
    text["format"] = "aasm-plan/2"
    text["subject"] = {**{name: opened[name] for name in SUBJECT}, "on_denial": policy["on_denial"],
                       "requirements": _distinct(requirements)}
    return hashlib.sha256(canonical(text)).hexdigest()
