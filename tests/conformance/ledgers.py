"""The real ledgers that mutations start from, made with the binary under test."""

from __future__ import annotations

import base64
import hashlib
import json
import pathlib
import random
import sqlite3
import subprocess

from reader import profile

POLICY = """apiVersion: agent-assembly/v1
kind: Policy
metadata: { name: conformance }
spec:
  filesystem:
    read: { allow: [/usr, /lib, /lib64, /bin, /etc, /dev, /proc, "${WORKDIR}"] }
    write: { allow: ["${WORKDIR}", /dev/null] }
  syscalls: { allow: ["@default"] }
  credentials: { environment: { allow: [PATH, LANG] } }
"""
DENIED = "import ctypes; ctypes.CDLL(None).ptrace(0, 0, 0, 0)"


class Ledgers:
    """`home` has a normal, a denied, a refused and an unconfined run; `other_home` another ledger."""

    def __init__(self, binary: str, place: pathlib.Path) -> None:
        self.binary = binary
        self.place = place
        self.work = place / "work"
        self.work.mkdir(parents=True)
        self.home, self.other_home = place / "home", place / "other"
        (place / "policy.yaml").write_text(POLICY)
        (place / "refused.yaml").write_text(POLICY.replace('write: { allow: ["${WORKDIR}"', 'write: { allow: ["/"'))
        self._init(self.home)
        self._run(self.home, "--receipt", str(place / "receipt-0"), program=("/bin/true",))
        self.denied = self._run(self.home, "--receipt", str(place / "receipt-1"), program=("/usr/bin/python3", "-c", DENIED))
        self.short = place / "short.db"
        self._snapshot(self.home / "ledger.db", self.short)
        self._run(self.home, program=("/bin/true",), policy="refused.yaml", status=125)
        self._run(self.home, "--isolation", "none", program=("/bin/true",))
        self._init(self.other_home)
        self._run(self.other_home, program=("/bin/true",))
        self.trust = self.home / "trust"
        self.receipt_file = place / "receipt-0"
        self.receipts = [(place / name).read_bytes() for name in ("receipt-0", "receipt-1")]
        self.with_wal = place / "wal.db"
        self._make_wal()
        self.notes = self._notes(self.home) + self._notes(self.other_home)

    def _command(self, home: pathlib.Path, *arguments: str, status: int = 0) -> None:
        environment = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "AASM_HOME": str(home), "HOME": str(self.place)}
        done = subprocess.run([self.binary, *arguments], env=environment, cwd=self.work, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=60, check=False)
        if done.returncode != status:
            raise RuntimeError(f"aasm {arguments}: status {done.returncode}\n{done.stdout}\n{done.stderr}")

    def _init(self, home: pathlib.Path) -> None:
        self._command(home, "init", "--org", "conformance.example")

    def _run(self, home: pathlib.Path, *options: str, program: tuple[str, ...], policy: str = "policy.yaml",
             status: int = 0) -> str:
        self._command(home, "run", "exec", "--policy", str(self.place / policy), *options, "--", *program, status=status)
        connection = sqlite3.connect(f"file:{home / 'ledger.db'}?mode=ro", uri=True)
        [(payload,)] = connection.execute("SELECT payload FROM records ORDER BY seq DESC LIMIT 1").fetchall()
        connection.close()
        return str(json.loads(payload)["predicate"]["aasm"]["run"])

    @staticmethod
    def _snapshot(source: pathlib.Path, target: pathlib.Path) -> None:
        """A copy without a WAL, by SQLite itself."""
        reading = sqlite3.connect(f"file:{source}?mode=ro", uri=True)
        writing = sqlite3.connect(target)
        reading.backup(writing)
        writing.close()
        reading.close()

    def _make_wal(self) -> None:
        """A ledger whose last rows stand in its -wal: copied while the connection is open."""
        working = self.place / "working.db"
        self._snapshot(self.home / "ledger.db", working)
        connection = sqlite3.connect(working, isolation_level=None)
        tail = connection.execute("SELECT * FROM records WHERE seq>=20 ORDER BY seq").fetchall()
        connection.execute("DELETE FROM records WHERE seq>=20")
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA wal_autocheckpoint=0")
        for row in tail:
            connection.execute("INSERT INTO records VALUES(?,?,?,?,?,?)", row)
        for suffix in ("", "-wal"):
            data = working.with_name(working.name + suffix).read_bytes()
            self.with_wal.with_name(self.with_wal.name + suffix).write_bytes(data)
        connection.close()

    @staticmethod
    def _notes(home: pathlib.Path) -> list[bytes]:
        connection = sqlite3.connect(f"file:{home / 'ledger.db'}?mode=ro", uri=True)
        rows = connection.execute("SELECT note FROM checkpoints ORDER BY size").fetchall()
        connection.close()
        return [note for (note,) in rows]

    def reworked_receipt(self, rng: random.Random, note: list[str]) -> bytes:
        """A receipt whose inner JSON was changed and encoded again."""
        chosen = rng.randrange(2)
        lines = self.receipts[chosen].split(b"\n")
        extra = json.loads(base64.b64decode(lines[1][len(b"extra "):]))
        other = json.loads(base64.b64decode(self.receipts[1 - chosen].split(b"\n")[1][len(b"extra "):]))
        records = extra["records"]
        index = rng.randrange(len(records))
        action = rng.choice(("drop", "double", "swap", "splice", "index", "payload", "sig", "keyid", "path", "member"))
        note.append(f"receipt {chosen} record {index} {action}")
        dsse = records[index]["dsse"]
        if action == "drop":
            del records[index]
        elif action == "double":
            records.insert(index, records[index])
        elif action == "swap":
            records[index], records[0] = records[0], records[index]
        elif action == "splice":
            records[index] = other["records"][index]
        elif action == "index":
            records[index]["index"] += rng.choice((-1, 1))
        elif action == "payload":
            payload = bytearray(base64.b64decode(dsse["payload"]))
            payload[rng.randrange(len(payload))] ^= 1 << rng.randrange(7)
            dsse["payload"] = base64.b64encode(payload).decode()
        elif action == "sig":
            dsse["signatures"][0]["sig"] = other["records"][index]["dsse"]["signatures"][0]["sig"]
        elif action == "keyid":
            dsse["signatures"][0]["keyid"] = "0" * 64
        elif action == "path":
            records[index]["path"] = records[index]["path"][1:] + records[index]["path"][:1]
        else:
            rng.choice((extra, records[index], dsse, dsse["signatures"][0]))["x"] = 1
        lines[1] = b"extra " + base64.b64encode(profile.canonical(extra))
        return b"\n".join(lines)

    def _created(self) -> list[tuple[bytes]]:
        connection = sqlite3.connect(f"file:{self.home / 'ledger.db'}?mode=ro", uri=True)
        rows = connection.execute("SELECT payload FROM records WHERE seq=0").fetchall()
        connection.close()
        return rows

    def revocation(self, rng: random.Random, note: list[str]) -> bytes:
        """A line that revokes a key of the ledger, sometimes."""
        if rng.random() < 0.4:
            return b""
        connection = sqlite3.connect(f"file:{self.home / 'ledger.db'}?mode=ro", uri=True)
        rows = connection.execute("SELECT seq, keyid FROM records ORDER BY seq").fetchall()
        connection.close()
        [(created,)] = self._created()
        body = json.loads(created)["predicate"]["body"]
        rows += [(name, hashlib.sha256(bytes.fromhex(key)).digest()) for name, key in (
            (0, body["root"]), (1, body["log"]["key"]), (9, body["log"]["key"]), (20, body["log"]["key"]))]
        seq, keyid = rng.choice(rows[-4:] if rng.random() < 0.4 else rows)
        limit = rng.choice((0, 1, seq, seq + 1, 10, 1000))
        note.append(f"revoked key of {seq} at {limit}")
        return b"revoked %s %d\n" % (keyid.hex().encode(), limit)


