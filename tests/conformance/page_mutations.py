"""Damage to the structure of a database file: what is no content of a row, byte by byte (SQLite's file format, section 1)."""

from __future__ import annotations

import functools
import pathlib
import random
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from compare_readers import Comparison

INTERIOR = {2: "index", 5: "table"}
LEAF = {10: "index", 13: "table"}
VALUES = ("^1", "^80", "0", "ff", "any")  # one bit, another, and three bytes in its place
KEYS = 4  # bytes of the content of an index cell: its order is structure too


def varint(data: bytes | bytearray, at: int) -> tuple[int, int]:
    """A value and where it ends."""
    value = 0
    for end in range(at, at + 8):
        value = value << 7 | data[end] & 0x7F
        if data[end] < 0x80:
            return value, end + 1
    return value << 8 | data[at + 8], at + 9


@dataclass
class Pages:
    """Of a sound database: every byte that leads to a row, says how long it is or of what type, with what it is."""

    data: bytes
    found: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.size = int.from_bytes(self.data[16:18], "big")
        self.size = 65536 if self.size == 1 else self.size
        self.usable = self.size - self.data[20]
        self.mark(0, 100, "file header")
        self.tree(1)
        self.freelist(self.number(32))

    def number(self, at: int, length: int = 4) -> int:
        return int.from_bytes(self.data[at:at + length], "big")

    def mark(self, at: int, length: int, what: str) -> None:
        self.found.update(dict.fromkeys(range(at, at + length), what))

    def tree(self, page: int) -> None:
        """A b-tree from the page at its root; the schema's names the other roots."""
        start = (page - 1) * self.size
        header = start + (100 if page == 1 else 0)
        kind = self.data[header]
        inner, name = kind in INTERIOR, {**INTERIOR, **LEAF}[kind]
        length, cells = 12 if inner else 8, self.number(header + 3, 2)
        self.mark(header, length, f"{name} page header")
        self.mark(header + length, 2 * cells, f"{name} cell pointer")
        free = self.number(header + 1, 2)
        while free:
            self.mark(start + free, 4, f"{name} free block")
            free = self.number(start + free, 2)
        for cell in range(cells):
            at = start + self.number(header + length + 2 * cell, 2)
            if inner:
                self.mark(at, 4, f"{name} child")
                self.tree(self.number(at))
            self.cell(at + 4 * inner, name, inner)
        if inner:
            self.tree(self.number(header + 8))

    def cell(self, at: int, name: str, inner: bool) -> None:
        begin = at
        if name == "table" and inner:
            _rowid, end = varint(self.data, at)
            self.mark(begin, end - begin, "table rowid")
            return
        payload, at = varint(self.data, at)
        if name == "table":
            _rowid, at = varint(self.data, at)
        header, _end = varint(self.data, at)
        self.mark(begin, at + header - begin, f"{name} cell header")
        if name == "index":
            self.mark(at + header, KEYS, "index key")
        local = self.local(payload, name == "table")
        if local < payload:
            self.mark(at + local, 4, f"{name} overflow")
            self.chain(self.number(at + local))

    def local(self, payload: int, table: bool) -> int:
        """How much of a payload stands in the cell itself."""
        most = self.usable - 35 if table else (self.usable - 12) * 64 // 255 - 23
        least = (self.usable - 12) * 32 // 255 - 23
        if payload <= most:
            return payload
        kept = least + (payload - least) % (self.usable - 4)
        return kept if kept <= most else least

    def chain(self, page: int) -> None:
        while page:
            self.mark((page - 1) * self.size, 4, "overflow page")
            page = self.number((page - 1) * self.size)

    def freelist(self, page: int) -> None:
        while page:
            start = (page - 1) * self.size
            self.mark(start, 8 + 4 * self.number(start + 4), "freelist")
            page = self.number(start)


def pages_of(path: pathlib.Path) -> Pages:
    pages = Pages(path.read_bytes())
    connection = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    roots = connection.execute("SELECT rootpage FROM sqlite_schema").fetchall()
    connection.close()
    for (root,) in roots:
        pages.tree(root)
    return pages


def with_free_pages(path: pathlib.Path) -> None:
    """Makes room in the file that is free again, and an anchor and a withheld blob."""
    connection = sqlite3.connect(path, isolation_level=None)
    size, = connection.execute("SELECT max(size) FROM checkpoints").fetchone()
    for number in range(3):
        connection.execute("INSERT INTO anchors VALUES(?, ?, x'00')", (size, f"sink {number}"))
    connection.execute("INSERT INTO blobs VALUES(zeroblob(32), zeroblob(32), zeroblob(30000))")
    connection.execute("DELETE FROM blobs WHERE sha256=zeroblob(32)")
    connection.close()


def changed(data: bytes, at: int, value: str, rng: random.Random) -> bytes:
    old = data[at]
    new = {"^1": old ^ 1, "^80": old ^ 0x80, "0": 0, "ff": 0xFF}.get(value)
    return data[:at] + bytes([rng.randrange(256) if new is None else new]) + data[at + 1:]


def one_byte(comparison: Comparison, at: int, value: str, rng: random.Random) -> tuple[str, list[str]]:
    target = comparison.place / "page.db"
    target.write_bytes(changed(comparison.pages.data, at, value, rng))
    what = f"{comparison.pages.found[at]} at {at} {value} {target.read_bytes()[at]}"
    return what, comparison.compare(target, comparison.ledgers.trust)


def page(comparison: Comparison, rng: random.Random) -> tuple[str, list[str]]:
    """A byte of the structure of a small ledger."""
    return one_byte(comparison, rng.choice(sorted(comparison.pages.found)), rng.choice(VALUES), rng)


def every_byte(comparison: Comparison, stride: int) -> Iterator[Callable[[], tuple[str, list[str]]]]:
    """Each byte of structure with each value it is given, or each `stride`-th of them."""
    def one(at: int, value: str) -> tuple[str, list[str]]:
        what, differences = one_byte(comparison, at, value, random.Random(at))
        return f"byte {what}", differences
    everything = [(at, value) for at in sorted(comparison.pages.found) for value in VALUES]
    for at, value in everything[::stride]:
        yield functools.partial(one, at, value)


SHAPES = (("page", page, 8),)
