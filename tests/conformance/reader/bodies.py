"""Record bodies against docs/spec/records.md: a missing or mistyped field refuses, an unknown one is ignored."""

from __future__ import annotations

import re
from typing import Any

from . import rules, spec
from .notes import NoteError, decode_base64

HEX32 = re.compile(r"[0-9a-f]{64}\Z")
DECIMAL = re.compile(r"(0|[1-9][0-9]{0,19})\Z")


class BodyError(Exception):
    """The body lacks what its kind demands."""


def is_hex32(value: Any) -> bool:
    return isinstance(value, str) and bool(HEX32.match(value))


def is_decimal(value: Any) -> bool:
    return isinstance(value, str) and bool(DECIMAL.match(value)) and int(value) < 2**64


def is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def bytes_of(value: Any) -> bytes | None:
    """The bytes a `bytes` field stands for, or None when it is spelled wrongly."""
    if isinstance(value, str):
        return value.encode("utf-8")
    if not isinstance(value, dict) or set(value) != {"b64"} or not isinstance(value["b64"], str):
        return None
    try:
        data = decode_base64(value["b64"])
        data.decode("utf-8")
    except NoteError:
        return None
    except UnicodeDecodeError:
        return data
    return None


def check(kind: str, body: Any) -> None:
    """Raises BodyError unless `body` is one of `kind`."""
    _object(kind, spec.records().kinds[kind], body)
    if (rule := rules.broken(kind, body)) is not None:
        raise BodyError(f"{kind}: {rule}")


def known(kind: str, body: dict[str, Any]) -> dict[str, Any]:
    """What is left of a checked body when the members that the document does not name are ignored, at every depth."""
    return _known_object(spec.records().kinds[kind], body)


def _known_object(fields: tuple[spec.Field, ...], value: dict[str, Any]) -> dict[str, Any]:
    return {field.name: _known_value(field.type, value[field.name]) for field in fields if field.name in value}


def _known_value(kind: str, value: Any) -> Any:
    if kind.startswith("list of "):
        return [_known_value(kind[len("list of "):], item) for item in value]
    parts = spec.records().parts
    return _known_object(parts[kind], value) if kind in parts else value


def _object(where: str, fields: tuple[spec.Field, ...], value: Any) -> None:
    if not isinstance(value, dict):
        raise BodyError(f"{where}: not an object")
    for field in fields:
        if field.name in value:
            _value(f"{where}.{field.name}", field.type, value[field.name])
        elif not field.optional:
            raise BodyError(f"{where}.{field.name}: missing")


def _value(where: str, kind: str, value: Any) -> None:
    tables = spec.records()
    if kind.startswith("list of "):
        if not isinstance(value, list):
            raise BodyError(f"{where}: not a list")
        for item in value:
            _value(where, kind[len("list of "):], item)
    elif kind in tables.parts:
        _object(where, tables.parts[kind], value)
    elif kind in tables.words:
        if not isinstance(value, str) or value not in tables.words[kind]:
            raise BodyError(f"{where}: not of the vocabulary")
    elif not _plain(kind, value):
        raise BodyError(f"{where}: not {kind}")


def _plain(kind: str, value: Any) -> bool:
    if kind == "text":
        return isinstance(value, str)
    if kind == "integer":
        return is_integer(value)
    if kind == "decimal":
        return is_decimal(value)
    if kind == "bool":
        return isinstance(value, bool)
    if kind == "hex32":
        return is_hex32(value)
    if kind == "bytes":
        return bytes_of(value) is not None
    raise AssertionError(f"docs/spec/records.md: unknown type {kind}")
