"""Seeded damage to files: bytes of the database, its WAL, receipts and trust files, and rows by SQL."""

from __future__ import annotations

import pathlib
import random
import sqlite3
from typing import Any

from reader import merkle

TABLES = {"records": ("seq", ("prev", "leaf", "payload", "keyid", "sig")), "checkpoints": ("size", ("note", "frontier")),
          "blobs": ("sha256", ("salt", "data"))}
Rows = list[list[Any]]


def flip(rng: random.Random, data: bytes, note: list[str]) -> bytes:
    """A few bytes changed, a stretch cut out, or the end cut off."""
    changed = bytearray(data)
    action = rng.choice(("bit", "bit", "bit", "byte", "byte", "zero", "cut", "end"))
    if not changed:
        return bytes(changed)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        position = rng.randrange(len(changed))
        if action == "bit":
            changed[position] ^= 1 << rng.randrange(8)
        elif action == "byte":
            changed[position] = rng.randrange(256)
        elif action == "zero":
            changed[position:position + 16] = bytes(len(changed[position:position + 16]))
        elif action == "cut":
            del changed[position:position + rng.choice((1, 2, 16))]
        else:
            del changed[position:]
        note.append(f"{action} at {position}")
        if not changed:
            break
    return bytes(changed)


def flip_text(rng: random.Random, data: bytes, note: list[str]) -> bytes:
    """As `flip`, or a line dropped, doubled or moved."""
    if rng.random() < 0.5:
        return flip(rng, data, note)
    lines = data.split(b"\n")
    index, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    action = rng.choice(("drop", "double", "swap", "space", "case"))
    note.append(f"{action} line {index} {other}")
    if action == "drop":
        del lines[index]
    elif action == "double":
        lines.insert(other, lines[index])
    elif action == "swap":
        lines[index], lines[other] = lines[other], lines[index]
    elif action == "space":
        lines[index] += rng.choice((b" ", b"\t", b" x", b"\r"))
    else:
        lines[index] = lines[index].swapcase()
    return b"\n".join(lines)


class RowMutator:
    """Changes rows of a database in place; `other` is a ledger to take rows from."""

    def __init__(self, rng: random.Random, other: pathlib.Path) -> None:
        self.rng = rng
        self.other = other
        self.note: list[str] = []

    def apply(self, path: pathlib.Path) -> None:
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute("PRAGMA journal_mode=OFF")
        connection.execute("BEGIN")
        for _ in range(self.rng.choice((1, 1, 2, 3))):
            try:
                self.rng.choice((self.edit, self.edit, self.edit, self.drop, self.swap, self.splice, self.renumber,
                                 self.withhold, self.anchor))(connection)
            except sqlite3.IntegrityError as error:
                self.note.append(str(error))
        connection.execute("COMMIT")
        connection.close()

    def pick(self, connection: sqlite3.Connection, table: str) -> Any:
        key = TABLES[table][0]
        keys = [row[0] for row in connection.execute(f"SELECT {key} FROM {table} ORDER BY {key}")]
        return self.rng.choice(keys) if keys else None

    def table(self) -> str:
        return self.rng.choice(("records", "records", "records", "checkpoints", "blobs"))

    def edit(self, connection: sqlite3.Connection) -> None:
        table = self.table()
        key, columns = TABLES[table]
        column, row = self.rng.choice(columns), self.pick(connection, table)
        found = connection.execute(f"SELECT {column} FROM {table} WHERE {key}=?", (row,)).fetchone()
        if found is None or found[0] is None:
            return
        note: list[str] = []
        value = flip(self.rng, found[0], note)
        self.note.append(f"{table}.{column} {row if isinstance(row, int) else ''} {note}")
        connection.execute(f"UPDATE {table} SET {column}=? WHERE {key}=?", (value, row))
        if column == "payload" and self.rng.random() < 0.3:
            self.note.append("leaf made to fit")
            connection.execute("UPDATE records SET leaf=? WHERE seq=?", (merkle.leaf_hash(value), row))

    def drop(self, connection: sqlite3.Connection) -> None:
        table = self.table()
        row, key = self.pick(connection, table), TABLES[table][0]
        relation = self.rng.choice(("=", "=", "=", ">="))
        self.note.append(f"drop {table} {relation} {row if isinstance(row, int) else ''}")
        connection.execute(f"DELETE FROM {table} WHERE {key}{relation}?", (row,))

    def swap(self, connection: sqlite3.Connection) -> None:
        table = self.rng.choice(("records", "checkpoints"))
        key, columns = TABLES[table]
        one, two = self.pick(connection, table), self.pick(connection, table)
        chosen = [column for column in columns if self.rng.random() < 0.6] if self.rng.random() < 0.5 else list(columns)
        self.note.append(f"swap {table} {one} {two} {chosen}")
        if one is None or one == two or not chosen:
            return
        names = ",".join(chosen)
        rows = [connection.execute(f"SELECT {names} FROM {table} WHERE {key}=?", (row,)).fetchone() for row in (one, two)]
        for row, values in ((one, tuple(bytes(len(value)) for value in rows[0])), (two, rows[0]), (one, rows[1])):
            connection.execute(f"UPDATE {table} SET {','.join(f'{name}=?' for name in chosen)} WHERE {key}=?", (*values, row))

    def splice(self, connection: sqlite3.Connection) -> None:
        table = self.table()
        key = TABLES[table][0]
        source = sqlite3.connect(f"file:{self.other}?mode=ro", uri=True)
        row = self.rng.choice(source.execute(f"SELECT * FROM {table} ORDER BY {key}").fetchall())
        source.close()
        self.note.append(f"splice {table} {row[0] if isinstance(row[0], int) else ''}")
        connection.execute(f"INSERT OR REPLACE INTO {table} VALUES({','.join('?' * len(row))})", row)

    def renumber(self, connection: sqlite3.Connection) -> None:
        table = self.rng.choice(("records", "checkpoints"))
        row, key = self.pick(connection, table), TABLES[table][0]
        new = self.rng.choice((-1, 0, 1, 7, 21, 1000, 2**53, 2**63 - 1, -2**63))
        self.note.append(f"renumber {table} {row} {new}")
        connection.execute(f"UPDATE {table} SET {key}=? WHERE {key}=?", (new, row))

    def withhold(self, connection: sqlite3.Connection) -> None:
        self.note.append("withhold a blob")
        values = self.rng.choice(("salt=NULL, data=NULL", "salt=NULL", "data=NULL", "salt=zeroblob(32)", "salt=zeroblob(5)"))
        connection.execute(f"UPDATE blobs SET {values} WHERE sha256=?", (self.pick(connection, "blobs"),))

    def anchor(self, connection: sqlite3.Connection) -> None:
        self.note.append("anchor")
        size = self.pick(connection, "checkpoints") if self.rng.random() < 0.5 else 3
        connection.execute("INSERT OR REPLACE INTO anchors VALUES(?,?,?)", (size, "syslog", b"receipt"))
