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
ALLOWED = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION}


class Stop(Exception):
    """Nothing further can be read; the finding says why."""

    def __init__(self, code: str, detail: str = "") -> None:
        super().__init__(code)
        self.code, self.detail = code, detail


@dataclass
class Tables:
    """Every row, values as stored: the caller checks types and lengths."""

    records: list[tuple[Any, ...]]
    blobs: list[tuple[Any, ...]]
    checkpoints: list[tuple[Any, ...]]
    anchors: list[tuple[Any, ...]]
    broken: bool = False


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
    connection.text_factory = bytes
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
    if version != USER_VERSION or sorted(found, key=repr) != sorted(wanted, key=repr):
        findings.add("schema_different")
        return False
    rows = connection.execute("PRAGMA integrity_check").fetchall()
    if rows != [(b"ok",)]:
        findings.add("database_corrupt")
    return True


BATCH_RECORDS, BATCH_BYTES = 256, 512 * 2**10


def batches(records: list[tuple[Any, ...]]) -> Iterator[tuple[list[tuple[Any, ...]], bool]]:
    """The records as they are placed, a batch at a time (ledger-format.md 9.1, step 3), each with whether it is full."""
    batch: list[tuple[Any, ...]] = []
    size = 0
    for row in records:
        batch.append(row)
        payload = row[3]
        size += len(payload) if isinstance(payload, bytes) and len(payload) <= profile.MAX_PAYLOAD else 0
        if len(batch) == BATCH_RECORDS or size >= BATCH_BYTES:
            yield batch, True
            batch, size = [], 0
    if batch:
        yield batch, False


def _read_tables(connection: sqlite3.Connection, findings: Findings) -> Tables | None:
    if not check_schema(connection, findings):
        return None
    connection.set_authorizer(_authorize)
    tables = Tables([], [], [], [])
    for rows, query in ((tables.records, "SELECT seq, prev, leaf, payload, keyid, sig FROM records NOT INDEXED ORDER BY seq"),
                        (tables.checkpoints, "SELECT size, note, frontier FROM checkpoints ORDER BY size"),
                        (tables.blobs, "SELECT sha256, salt, data FROM blobs"),
                        (tables.anchors, "SELECT size, sink, receipt FROM anchors")):
        try:
            for row in connection.execute(query):
                rows.append(row)
        except sqlite3.DatabaseError as error:
            findings.add(_code(error), detail=str(error))
            tables.broken = True
            if rows is tables.records:  # A batch that cannot be read to its end is not placed.
                rows[:] = [row for batch, full in batches(rows) if full for row in batch]
            break
    return tables


def _code(error: sqlite3.DatabaseError) -> str:
    if "not a database" in str(error):
        return "target_not_recognised"
    if not isinstance(error, sqlite3.OperationalError):
        return "database_corrupt"
    return "limit_reached" if "interrupted" in str(error) else "database_unreadable"


def read(path: pathlib.Path, findings: Findings) -> Tables | None:
    """All rows of the copy at `path`, or None with a finding that says why not."""
    try:
        with open_hostile(path) as connection:
            return _read_tables(connection, findings)
    except sqlite3.DatabaseError as error:
        findings.add(_code(error), detail=str(error))
    return None
