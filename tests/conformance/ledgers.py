"""The real ledgers that mutations start from, made with the binary under test."""

from __future__ import annotations

import base64
import hashlib
import json
import pathlib
import random
import sqlite3
import subprocess
import time
from typing import Any

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
    """`home` has a normal, a denied, a refused and an unconfined run; `other_home` another ledger; in `keys_home` every key
    was changed and a run was killed and recovered, `before_revoked` is its ledger without the revocations at its end."""

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
        self.snapshot(self.home / "ledger.db", self.short)
        self.with_pages = place / "pages.db"
        self.snapshot(self.short, self.with_pages)
        self._run(self.home, program=("/bin/true",), policy="refused.yaml", status=125)
        self._run(self.home, "--isolation", "none", program=("/bin/true",))
        self._init(self.other_home)
        self._run(self.other_home, program=("/bin/true",))
        self.trust = self.home / "trust"
        self.keys_home, self.before_revoked = place / "keys", place / "before-revoked.db"
        self._change_keys(self.keys_home)
        self.receipt_files = [place / f"receipt-{index}" for index in range(4)]
        self.receipts = [path.read_bytes() for path in self.receipt_files]
        self.with_wal = place / "wal.db"
        self._make_wal()
        self.notes = self.notes_of(self.home) + self.notes_of(self.other_home)
        self.whole = ((self.home / "ledger.db", self.home), (self.other_home / "ledger.db", self.other_home),
                      (self.short, self.home), (self.before_revoked, self.keys_home),
                      (self.keys_home / "ledger.db", self.keys_home))

    def receipt_home(self, index: int) -> pathlib.Path:
        return self.home if index < 2 else self.keys_home

    def _change_keys(self, home: pathlib.Path) -> None:
        self._init(home)
        self._run(home, program=("/bin/true",))
        self._command(home, "key", "rotate", "host")
        self._command(home, "key", "rotate", "log")
        self._run(home, "--receipt", str(self.place / "receipt-2"), program=("/usr/bin/python3", "-c", DENIED))
        self._command(home, "key", "replace", "both")
        self._kill_run(home)
        self._command(home, "key", "rotate", "log")
        self._run(home, "--receipt", str(self.place / "receipt-3"), program=("/bin/true",))
        self.snapshot(home / "ledger.db", self.before_revoked)
        for body in self._bodies(home, "ledger.created"):
            for purpose in ("host", "log"):
                self._command(home, "key", "revoke", hashlib.sha256(bytes.fromhex(body[purpose]["key"])).hexdigest())

    def _kill_run(self, home: pathlib.Path) -> None:
        """A supervisor is killed while its program runs; the host key is replaced, and the new one's holder recovers the run."""
        before = len(self._bodies(home, "process.started"))
        command = [self.binary, "run", "exec", "--policy", str(self.place / "policy.yaml"), "--", "/bin/sleep", "60"]
        with subprocess.Popen(command, env=self._environment(home), cwd=self.work, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as supervisor:
            end = time.monotonic() + 30
            while len(self._bodies(home, "process.started")) == before and time.monotonic() < end:
                time.sleep(0.02)
            supervisor.kill()
        self._command(home, "key", "replace", "host")
        self._run(home, program=("/bin/true",))
        if len(self._bodies(home, "run.recovered")) != 1:
            raise RuntimeError("the killed run was not recovered")

    @staticmethod
    def _bodies(home: pathlib.Path, kind: str) -> list[dict[str, Any]]:
        connection = sqlite3.connect(f"file:{home / 'ledger.db'}?mode=ro", uri=True)
        rows = connection.execute("SELECT payload FROM records ORDER BY seq").fetchall()
        connection.close()
        predicates = [json.loads(payload)["predicate"] for (payload,) in rows]
        return [one["body"] for one in predicates if one["aasm"]["kind"] == kind]

    def _environment(self, home: pathlib.Path) -> dict[str, str]:
        return {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "AASM_HOME": str(home), "HOME": str(self.place)}

    def _command(self, home: pathlib.Path, *arguments: str, status: int = 0) -> None:
        environment = self._environment(home)
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
    def snapshot(source: pathlib.Path, target: pathlib.Path) -> None:
        """A copy without a WAL, by SQLite itself."""
        reading = sqlite3.connect(f"file:{source}?mode=ro", uri=True)
        writing = sqlite3.connect(target)
        reading.backup(writing)
        writing.close()
        reading.close()

    def _make_wal(self) -> None:
        """A ledger whose last rows stand in its -wal: copied while the connection is open."""
        working = self.place / "working.db"
        self.snapshot(self.home / "ledger.db", working)
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
    def notes_of(home: pathlib.Path) -> list[bytes]:
        connection = sqlite3.connect(f"file:{home / 'ledger.db'}?mode=ro", uri=True)
        rows = connection.execute("SELECT note FROM checkpoints ORDER BY size").fetchall()
        connection.close()
        return [note for (note,) in rows]

    def reworked_receipt(self, rng: random.Random, chosen: int, note: list[str]) -> bytes:
        """A receipt whose inner JSON was changed and encoded again."""
        lines = self.receipts[chosen].split(b"\n")
        extra = json.loads(base64.b64decode(lines[1][len(b"extra "):]))
        other = json.loads(base64.b64decode(self.receipts[chosen ^ 1].split(b"\n")[1][len(b"extra "):]))
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
            records[index] = rng.choice(other["records"])
        elif action == "index":
            records[index]["index"] += rng.choice((-1, 1))
        elif action == "payload":
            payload = bytearray(base64.b64decode(dsse["payload"]))
            payload[rng.randrange(len(payload))] ^= 1 << rng.randrange(7)
            dsse["payload"] = base64.b64encode(payload).decode()
        elif action == "sig":
            dsse["signatures"][0]["sig"] = rng.choice(other["records"])["dsse"]["signatures"][0]["sig"]
        elif action == "keyid":
            dsse["signatures"][0]["keyid"] = "0" * 64
        elif action == "path":
            records[index]["path"] = records[index]["path"][1:] + records[index]["path"][:1]
        else:
            rng.choice((extra, records[index], dsse, dsse["signatures"][0]))["x"] = 1
        lines[1] = b"extra " + base64.b64encode(profile.canonical(extra))
        return b"\n".join(lines)

    def revocation(self, rng: random.Random, home: pathlib.Path, note: list[str]) -> bytes:
        """A line that revokes a key of the ledger, sometimes."""
        if rng.random() < 0.4:
            return b""
        connection = sqlite3.connect(f"file:{home / 'ledger.db'}?mode=ro", uri=True)
        rows = connection.execute("SELECT seq, keyid FROM records ORDER BY seq").fetchall()
        connection.close()
        [body] = self._bodies(home, "ledger.created")
        own = [one["new_key"] for one in self._bodies(home, "key.rotated")]
        own += [one["certificate"]["key"] for one in self._bodies(home, "key.replaced")]
        rows += [(name, hashlib.sha256(bytes.fromhex(key)).digest()) for name, key in (
            (0, body["root"]), (1, body["log"]["key"]), (9, body["log"]["key"]), (20, body["log"]["key"]), *((rng.randrange(50), key) for key in own))]
        seq, keyid = rng.choice(rows[-4 - len(own):] if rng.random() < 0.4 else rows)
        limit = rng.choice((0, 1, seq, seq + 1, 10, 1000))
        note.append(f"revoked key of {seq} at {limit}")
        return b"revoked %s %d\n" % (keyid.hex().encode(), limit)


