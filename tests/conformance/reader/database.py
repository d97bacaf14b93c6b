"""The private copy, and the SQLite file as a hostile one (ledger-format.md sections 3 and 9)."""

from __future__ import annotations

import contextlib
import os
import pathlib
import sqlite3
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from . import profile, spec
from .findings import Findings

APPLICATION_ID = 0x4153414D
USER_VERSION = 1
MAX_FILE = 4 * 2**30
DEADLINE = 60.0
MAGIC = b"SQLite format 3\x00"
Row = tuple[Any, ...]
ALLOWED = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION}


class Stop(Exception):
    """Nothing further can be read; the finding says why."""

    def __init__(self, code: str, detail: str = "") -> None:
        super().__init__(code)
        self.code, self.detail = code, detail


class Text(bytes):
    """A value of the type TEXT, which is none of the type BLOB."""


@dataclass
class Tables:
    """Every row, values as stored: the caller checks types and lengths."""

    records: list[Row]
    checkpoints: list[Row]
    blobs: list[Row]
    anchors: list[Row]


def read_regular(path: pathlib.Path) -> bytes:
    """The bytes of a regular file that is not reached through a link in its last component."""
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            raise Stop("target_not_regular")
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError as error:
        raise Stop("target_not_found") from error
    except OSError as error:
        raise Stop("target_unreadable", str(error)) from error
    with open(fd, "rb") as file:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            raise Stop("target_not_regular")
        if status.st_size > MAX_FILE:
            raise Stop("target_too_large")
        return file.read()


def make_copy(path: pathlib.Path, directory: pathlib.Path) -> pathlib.Path:
    """Copies the database with its -wal and -journal into `directory`."""
    target = directory / "ledger.db"
    for suffix in ("", "-wal", "-journal"):
        try:
            (directory / ("ledger.db" + suffix)).write_bytes(read_regular(path.with_name(path.name + suffix)))
        except Stop as stop:
            if stop.code != "target_not_found" or not suffix:
                raise
    return target


def _authorize(action: int, first: str | None, _second: str | None, _db: str | None, _inner: str | None) -> int:
    if action == sqlite3.SQLITE_READ and first not in {"records", "blobs", "checkpoints", "anchors"}:
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK if action in ALLOWED else sqlite3.SQLITE_DENY


@contextlib.contextmanager
def open_hostile(path: pathlib.Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(path, isolation_level=None)
    end = time.monotonic() + DEADLINE
    connection.set_progress_handler(lambda: time.monotonic() > end, 10000)
    connection.text_factory = Text
    try:
        for pragma in ("trusted_schema=OFF", "cell_size_check=ON", "mmap_size=0"):
            connection.execute(f"PRAGMA {pragma}").fetchall()
        yield connection
    finally:
        connection.close()


def check_schema(connection: sqlite3.Connection, findings: Findings) -> bool:
    """Ids and the text of the schema, then integrity_check."""
    connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()  # The ids are 0 where the header is cut off.
    [(application,)] = connection.execute("PRAGMA application_id").fetchall()
    [(version,)] = connection.execute("PRAGMA user_version").fetchall()
    if application != APPLICATION_ID:
        raise Stop("target_not_recognised")
    if version > USER_VERSION:
        raise Stop("schema_newer")
    wanted = [(b"table", name.encode(), name.encode(), sql.encode()) for _type, name, sql in spec.schema()]
    wanted.append((b"index", b"sqlite_autoindex_records_1", b"records", None))
    found = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema").fetchall()
    texts = all(value is None or type(value) is Text for row in found for value in row)
    if version != USER_VERSION or not texts or sorted(found, key=repr) != sorted(wanted, key=repr):
        findings.add("schema_different")
        return False
    try:
        rows = connection.execute("PRAGMA integrity_check(20)").fetchall()
    except sqlite3.DatabaseError as error:  # the damage ends the check, too
        if _code(error) != "database_corrupt":
            raise
        rows = []
    if rows != [(b"ok",)]:
        findings.add("database_corrupt")
    return True


BATCH_RECORDS, BATCH_BYTES = 256, 512 * 2**10
QUERIES = ("SELECT seq, prev, leaf, payload, keyid, sig FROM records NOT INDEXED ORDER BY seq",
           "SELECT size, note, frontier FROM checkpoints ORDER BY size",
           "SELECT sha256, salt, data FROM blobs ORDER BY sha256",
           "SELECT size, sink, receipt FROM anchors ORDER BY size, sink")


def batches(records: list[Row]) -> Iterator[list[Row]]:
    """The records as they are placed, a batch at a time (ledger-format.md 9.1, step 3)."""
    batch: list[Row] = []
    size = 0
    for row in records:
        batch.append(row)
        payload = row[3]
        size += len(payload) if type(payload) is bytes and len(payload) <= profile.MAX_PAYLOAD else 0
        if len(batch) == BATCH_RECORDS or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _step(connection: sqlite3.Connection, query: str) -> tuple[list[Row], sqlite3.DatabaseError | None]:
    """A table from its first row as far as SQLite gives rows, and what ended it."""
    rows: list[Row] = []
    try:
        for row in connection.execute(query):
            rows.append(row)
    except sqlite3.DatabaseError as error:
        return rows, error
    return rows, None


def _one_more(path: pathlib.Path, index: int, rows: list[Row]) -> list[Row]:
    """Python's module is a row ahead, and loses the last one with the error. What SQLite finds wrong in a page it says when
    it first reads it, so all that was read before is read again, by another connection."""
    with open_hostile(path) as connection:
        check_schema(connection, Findings())
        for query in QUERIES[:index]:
            _step(connection, query)
        more, _error = _step(connection, f"{QUERIES[index]} LIMIT {len(rows) + 1}")
    return more if len(more) > len(rows) else rows


def _keyed(rows: list[Row], width: int) -> list[Row]:
    """Of several rows with one key the first (verify-rules.md, Damaged files)."""
    kept: dict[Row, Row] = {}
    for row in rows:
        key = tuple(0 if value is None or type(value) is float else value for value in row[:width])
        kept.setdefault(tuple((type(value), value) for value in key), row)
    return list(kept.values())


def _read_tables(path: pathlib.Path, connection: sqlite3.Connection, findings: Findings) -> Tables | None:
    if not check_schema(connection, findings):
        return None
    connection.set_authorizer(_authorize)
    found, room = [], min(MAX_FILE, 2 * sum(one.stat().st_size for one in path.parent.iterdir() if not one.name.endswith("-shm")))
    for index, query in enumerate(QUERIES):
        rows, error = _step(connection, query)
        if error is not None:
            findings.add(_code(error), detail=str(error))
            if _code(error) != "database_corrupt":
                return None
            rows = _one_more(path, index, rows)
        found.append(_keyed(rows, 2 if "FROM anchors" in query else 1))
        room -= sum(len(value) for row in found[-1] for value in row if isinstance(value, bytes))
        if room < 0:
            findings.add("limit_reached")
            return None
    records, checkpoints, blobs, anchors = found
    return Tables(sorted(records, key=_number), sorted(checkpoints, key=_number), blobs, anchors)


def _number(row: Row) -> int:
    return int(row[0])


def _code(error: sqlite3.DatabaseError) -> str:
    if "not a database" in str(error):
        return "target_not_recognised"
    if isinstance(error, sqlite3.DataError):
        return "limit_reached"
    if not isinstance(error, sqlite3.OperationalError):
        return "database_corrupt"
    return "limit_reached" if "interrupted" in str(error) else "database_unreadable"


def read(path: pathlib.Path, findings: Findings) -> Tables | None:
    """All rows of the copy at `path`, or None with a finding that says why not."""
    try:
        with open_hostile(path) as connection:
            return _read_tables(path, connection, findings)
    except sqlite3.DatabaseError as error:
        findings.add(_code(error), detail=str(error))
    return None
