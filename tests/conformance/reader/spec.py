"""Tables read from docs/spec at run time: record bodies, vocabulary, weights of findings.

The text itself is the source, so a field or a code that the text does not have is unknown here.
"""

from __future__ import annotations

import functools
import pathlib
import re
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parents[3] / "docs" / "spec"
ROW = re.compile(r"\| `([^`]+)`(\?)? \| ([^|]*) \|")


@dataclass(frozen=True)
class Field:
    name: str
    optional: bool
    type: str


@dataclass(frozen=True)
class Records:
    kinds: dict[str, tuple[Field, ...]]
    parts: dict[str, tuple[Field, ...]]
    words: dict[str, frozenset[str]]


@functools.lru_cache(maxsize=1)
def records() -> Records:
    """docs/spec/records.md."""
    kinds: dict[str, list[Field]] = {}
    parts: dict[str, list[Field]] = {}
    words: dict[str, frozenset[str]] = {}
    current: list[Field] | None = None
    same: dict[str, str] = {}
    heading = ""
    for line in (ROOT / "records.md").read_text("utf-8").splitlines():
        if line.startswith("## "):
            heading = line[3:].strip("`")
            current = (kinds if line[3] == "`" else parts).setdefault(heading, [])
        elif line.startswith("# Vocabulary"):
            current = None
        elif line.startswith("As `"):
            same[heading] = line.split("`")[1]
        elif (row := ROW.match(line)) and current is not None:
            current.append(Field(row[1], bool(row[2]), row[3].strip()))
        elif line.startswith("| ") and current is None and "`" in line:
            name, vocabulary = line.strip("| ").split(" | ")
            words[name] = frozenset(re.findall(r"`([^`]+)`", vocabulary))
    for name, other in same.items():
        kinds[name] = kinds[other]
    return Records({name: tuple(fields) for name, fields in kinds.items()},
                   {name: tuple(fields) for name, fields in parts.items()}, words)


@functools.lru_cache(maxsize=1)
def weights() -> dict[str, str]:
    """docs/spec/verify-findings.md: code to weight."""
    result = {}
    for line in (ROOT / "verify-findings.md").read_text("utf-8").splitlines():
        row = re.match(r"\| `([a-z_]+)` \| ([a-z]+) \|", line)
        if row:
            result[row[1]] = row[2]
    return result


@functools.lru_cache(maxsize=1)
def schema() -> tuple[tuple[str, str, str], ...]:
    """ledger-format.md section 3: (type, name, sql) of every table, its text as the document has it."""
    block, inside = [], False
    for line in (ROOT / "ledger-format.md").read_text("utf-8").splitlines():
        if line.startswith("## 3."):
            inside = True
        elif line.startswith("## 4."):
            break
        elif inside and line.startswith("    "):
            block.append(line[4:])
    text = "\n".join(block)
    statements = [part.strip() for part in text.split(";")]
    creates = [part for part in statements if part.startswith("CREATE TABLE ")]
    return tuple(("table", part[len("CREATE TABLE "):part.index("(")], part) for part in creates)
