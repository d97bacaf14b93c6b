"""The payload profile `aasm-json-1` (docs/spec/ledger-format.md section 2)."""

from __future__ import annotations

import json
import re
from typing import Any

MAX_PAYLOAD = 65000
MAX_DEPTH = 32
MAX_MEMBERS = 8192
MAX_INTEGER = 2**53 - 1
KEY = re.compile(r"[A-Za-z0-9_.:/-]+\Z")


class ProfileError(Exception):
    """The bytes are no JSON of the profile."""


def _integer(text: str) -> int:
    if text == "-0" or len(text) > 17 or abs(int(text)) > MAX_INTEGER:
        raise ProfileError(f"integer {text}")
    return int(text)


def _refuse(text: str) -> Any:
    raise ProfileError(f"number {text}")


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ProfileError("duplicate key")
    for key in result:
        if not KEY.match(key):
            raise ProfileError(f"key {key!r}")
    return result


def _measure(value: Any, depth: int) -> int:
    """Number of members in all; refuses depth and lone surrogates."""
    if isinstance(value, str):
        if not value.isascii() and any("\ud800" <= char <= "\udfff" for char in value):
            raise ProfileError("lone surrogate")
        return 0
    if not isinstance(value, (dict, list)):
        return 0
    if depth > MAX_DEPTH:
        raise ProfileError("depth")
    inner = value.values() if isinstance(value, dict) else value
    return len(value) + sum(_measure(item, depth + 1) for item in inner)


def parse(data: bytes) -> dict[str, Any]:
    """The object that `data` is, or ProfileError."""
    try:
        text = data.decode("utf-8")
        value = json.loads(text, object_pairs_hook=_pairs, parse_int=_integer, parse_float=_refuse,
                           parse_constant=_refuse)
        if not isinstance(value, dict):
            raise ProfileError("not an object")
        if _measure(value, 1) > MAX_MEMBERS:
            raise ProfileError("members")
    except RecursionError as error:
        raise ProfileError("depth") from error
    except ValueError as error:
        raise ProfileError(str(error)) from error
    return value


def canonical(value: Any) -> bytes:
    """RFC 8785 for what the profile allows: ASCII keys and integers, so sorting and spelling are plain."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode("utf-8")
