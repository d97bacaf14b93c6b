"""Builds whole ledgers with keys of its own from the records of a real one.

What a test changes in a body is then signed, chained and checkpointed rightly, so that only the
meaning is wrong: the claims and the contradictions are reached, not only the hashes.
"""

from __future__ import annotations

import base64
import copy
import hashlib
import pathlib
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from reader import bodies, ed25519, merkle, notes, plan_digest, policy, profile, spec, statement


NAMES = ("host 2", "host 3", "log 2", "host", "log", "root", "stranger")
WITNESS = "witness.example/w"
ENDS = ("ledger.created", "run.closed", "run.recovered")


@dataclass
class Entry:
    """One record to be. `signer` overrides who signs: host, run, or a stranger."""

    kind: str
    run: str
    body: dict[str, Any]
    wall: str
    mono_ns: str
    boot: str
    signer: str = ""
    envelope: dict[str, Any] = field(default_factory=dict)
    respell: tuple[bytes, bytes, int] = (b"", b"", 0)


def seed(text: str) -> bytes:
    return hashlib.sha256(b"aasm conformance\n" + text.encode("utf-8")).digest()


def public(name: str) -> str:
    """The key whose seed has this name, in hex."""
    return ed25519.public_of(seed(name)).hex()


def sign_text(name: str, text: str) -> str:
    return base64.b64encode(ed25519.sign(seed(name), text.encode("utf-8"))).decode("ascii")


def load(path: pathlib.Path) -> list[Entry]:
    """The records of a ledger that is known to be good."""
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    rows = connection.execute("SELECT payload FROM records ORDER BY seq").fetchall()
    connection.close()
    result = []
    for (payload,) in rows:
        predicate = profile.parse(payload)["predicate"]
        aasm = predicate["aasm"]
        result.append(Entry(aasm["kind"], aasm["run"], predicate["body"], aasm["wall"], aasm["mono_ns"], aasm["boot"]))
    return result


def load_blobs(path: pathlib.Path) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    rows = connection.execute("SELECT sha256, salt, data FROM blobs").fetchall()
    connection.close()
    return rows


def respelled(payload: bytes, old: bytes, new: bytes, skip: int) -> bytes:
    """`payload` with one occurrence of `old` replaced, the one that follows `skip` bytes in; it is signed as it then is."""
    at = payload.find(old, skip % len(payload)) if old else -1
    return payload if at < 0 else payload[:at] + new + payload[at + len(old):]


@dataclass
class Forge:
    """`write` makes the database; `trust` the two trust files that pin it."""

    entries: list[Entry]
    blobs: list[tuple[Any, ...]]
    origin: str = "forged.example/ledger/0123456789abcdef"
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    checkpoints: list[tuple[Any, ...]] = field(default_factory=list)
    leaves: list[bytes] = field(default_factory=list)
    skip_checkpoints: set[int] = field(default_factory=set)
    digests: bool = True
    host: str = "host"
    log: str = "log"
    log_after: tuple[int, str] | None = None
    given: dict[str, str] = field(default_factory=dict)
    witnessed: set[int] = field(default_factory=set)
    pins: str = "log"
    revokes: dict[str, int] = field(default_factory=dict)
    cosigners: Callable[[bytes], bytes] | None = None
    quorum: str = ""

    def copy(self) -> Forge:
        return Forge(copy.deepcopy(self.entries), list(self.blobs), self.origin)

    def keyid(self, name: str) -> str:
        return merkle.sha256(bytes.fromhex(public(name))).hex()

    def root(self) -> bytes:
        return ed25519.public_of(seed("root"))

    def key_of(self, entry: Entry) -> bytes:
        """The seed that signs this entry."""
        host = statement.ledger_kind(entry.kind) or entry.kind in ("run.opened", "run.recovered")
        who = entry.signer or (self.host if host else "run")
        return seed(entry.run if who == "run" else who)

    def certificate(self, purpose: str, name: str = "", root: str = "root") -> dict[str, str]:
        key = public(name) if name else self.given.get(purpose, public(purpose))
        return {"key": key, "purpose": purpose,
                "signature": sign_text(root, f"aasm.cert.v1\n{self.origin}\n{purpose}\n{key}")}

    def change_keys(self, entry: Entry) -> None:
        """Goes on with the new keys, as a writer does; a key that no name has changes nothing."""
        body = entry.body
        certificate = body.get("certificate") if entry.kind == "key.replaced" else {
            "purpose": body.get("purpose"), "key": body.get("new_key")} if entry.kind == "key.rotated" else None
        if not isinstance(certificate, dict):
            return
        name = next((one for one in NAMES if public(one) == certificate.get("key")), "")
        if name and certificate.get("purpose") == "host":
            self.host = name
        elif name and certificate.get("purpose") == "log":
            self.log = name

    def rekey(self, entry: Entry) -> None:
        """Puts our keys where the real ones stood; leaves alone what a mutation has taken away."""
        body = entry.body
        if entry.kind == "ledger.created":
            body.update(origin=self.origin, root=self.given.get("root", self.root().hex()), host=self.certificate("host"),
                        log=self.certificate("log"))
        if entry.kind == "run.opened":
            body["run_key"] = ed25519.public_of(seed(entry.run)).hex()
            if "checkpoint" in body and self.checkpoints:
                body["checkpoint"] = self.checkpoints[-1][1].decode("utf-8")
        if entry.kind == "plan.resolved" and self.digests:
            self.bind(entry)
        reference = body.get("reference")
        if entry.kind == "capability.probed" and isinstance(reference, dict) and isinstance(reference.get("seq"), int):
            if 0 <= reference["seq"] < len(self.leaves):
                reference["leaf"] = self.leaves[reference["seq"]].hex()

    def bind(self, plan: Entry) -> None:
        """The digest of a plan that was changed, where the records to take it from are whole."""
        mine = {entry.kind: entry.body for entry in reversed(self.entries) if entry.run == plan.run}
        try:
            opened, known = bodies.known("run.opened", mine["run.opened"]), bodies.known("plan.resolved", plan.body)
            parts = [bodies.known(entry.kind, entry.body) for entry in self.entries
                     if entry.run == plan.run and entry.kind == "policy.resolved"]
            whole = policy.Policy(parts[0], [])
            for part in parts[1:]:
                whole.take(None, part)
            plan.body["digest"] = plan_digest.digest(opened, whole.body, known)
        except (KeyError, TypeError, AttributeError, IndexError):
            return

    def payload(self, seq: int, prev: bytes, entry: Entry) -> bytes:
        public = ed25519.public_of(self.key_of(entry))
        aasm = {"v": 1, "log": self.origin, "seq": seq, "prev": prev.hex(), "run": entry.run, "kind": entry.kind,
                "wall": entry.wall, "mono_ns": entry.mono_ns, "boot": entry.boot,
                "key": merkle.sha256(public).hex(), **entry.envelope}
        text = f"aasm.subject.v1\n{self.origin}\n{entry.run or 'ledger'}".encode("utf-8")
        return profile.canonical({
            "_type": statement.TYPE, "predicate": {"aasm": aasm, "body": entry.body},
            "predicateType": f"urn:aasm:attestation:{entry.kind}:v1",
            "subject": [{"digest": {"sha256": merkle.sha256(text).hex()}, "name": "run"}]})

    def build(self, rekey: bool = True) -> None:
        tree, prev = merkle.CompactRange(), merkle.genesis_prev(self.origin)
        for seq, entry in enumerate(self.entries):
            if rekey:
                self.rekey(entry)
            if entry.kind == "key.replaced":
                self.change_keys(entry)
            payload = respelled(self.payload(seq, prev, entry), *entry.respell)
            key = self.key_of(entry)
            leaf = merkle.leaf_hash(payload)
            self.rows.append((seq, prev, leaf, payload, merkle.sha256(ed25519.public_of(key)),
                              ed25519.sign(key, merkle.pae(payload))))
            self.leaves.append(leaf)
            tree.append(leaf)
            prev = leaf
            if entry.kind == "key.rotated":
                self.change_keys(entry)
            if (entry.kind in ENDS or entry.kind.startswith("key.")) and tree.size not in self.skip_checkpoints:
                self.checkpoint(tree)

    def checkpoint(self, tree: merkle.CompactRange) -> None:
        note = notes.make(self.origin, tree.size, tree.root(), seed(self.log if self.log_after is None or tree.size <= self.log_after[0] else self.log_after[1]))
        if tree.size in self.witnessed:
            note = notes.cosign(note, WITNESS, seed(WITNESS), 1)
        if self.cosigners is not None:
            note = self.cosigners(note)
        self.checkpoints.append((tree.size, note, tree.frontier()))

    def write(self, path: pathlib.Path) -> None:
        path.unlink(missing_ok=True)
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute("PRAGMA journal_mode=OFF")
        connection.execute("PRAGMA synchronous=OFF")
        connection.execute("PRAGMA application_id=0x4153414D")
        connection.execute("PRAGMA user_version=1")
        connection.execute("BEGIN")
        for _kind, _name, sql in spec.schema():
            connection.execute(sql)
        connection.executemany("INSERT INTO records VALUES(?,?,?,?,?,?)", self.rows)
        connection.executemany("INSERT INTO blobs VALUES(?,?,?)", self.blobs)
        connection.executemany("INSERT INTO checkpoints VALUES(?,?,?)", self.checkpoints)
        connection.execute("COMMIT")
        connection.close()

    def trust(self) -> tuple[bytes, bytes]:
        """Pins and revokes keys by name; asks for the witness where any checkpoint has its signature."""
        log = notes.VerifierKey(self.origin, notes.LOG_TYPE, bytes.fromhex(public(self.pins))).text()
        root = notes.VerifierKey(self.origin, notes.LOG_TYPE, self.root()).text()
        witness = notes.VerifierKey(WITNESS, notes.WITNESS_TYPE, bytes.fromhex(public(WITNESS))).text()
        default = f"witness w {witness}\nquorum w\n" if self.witnessed else "quorum none\n"
        quorum = self.quorum or default
        revoked = "".join(f"revoked {self.keyid(name)} {limit}\n" for name, limit in self.revokes.items())
        return f"log {log}\n{quorum}".encode(), f"root {self.origin} {root}\n{revoked}".encode()
