"""Whether a rule covers the object of an allowed action (docs/spec/product.md section 5)."""

from __future__ import annotations

from typing import Any

from .addresses import Answers, covers_address, matches
from .bodies import bytes_of

UNDECIDED = None


def covers(selector: dict[str, Any], target: dict[str, Any], answers: Answers) -> bool | None:
    """True, False, or None where the record does not hold what a decision needs. `answers`: of the lookups so far."""
    if target["type"] == "unlisted":
        return UNDECIDED
    kind = selector["type"]
    value = bytes_of(selector["value"]) or b""
    name = str(target["name"]).encode("utf-8")
    if kind == "whole":
        return True
    if kind == "limit":
        return UNDECIDED
    if kind == "path_prefix":
        return target["type"] == "path" and under(value, bytes_of(target["path"]) or b"")
    if kind == "syscall":
        if target["type"] != "syscall":
            return False
        return UNDECIDED if value.startswith(b"@") else name == value
    if kind == "environment_name":
        return target["type"] == "name" and name == value
    if kind == "descriptor":
        return value in (name, str(target.get("number", "")).encode("ascii"))
    if kind == "socket_path":
        return target["type"] == "socket" and name == value
    if target["type"] == "address":
        return covers_address(kind, value.decode("latin-1"), target, answers)
    return kind == "host_pattern" and target["type"] == "name" and matches(value, name)


def normal(path: bytes) -> bool:
    """Absolute, without empty, `.` or `..` components."""
    return path == b"/" or (path.startswith(b"/") and not {b"", b".", b".."} & set(path[1:].split(b"/")))


def under(prefix: bytes, path: bytes) -> bool:
    """By whole components."""
    if not normal(prefix) or not normal(path):
        return False
    return path == prefix or path.startswith(prefix if prefix == b"/" else prefix + b"/")
