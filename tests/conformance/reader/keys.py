"""Which key signs what, and whether the trust files know it (ledger-format.md section 5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from . import ed25519
from .findings import Findings
from .merkle import sha256
from .notes import LOG_TYPE, NoteError, VerifierKey, decode_base64
from .trust import Trust


def keyid(public: bytes) -> bytes:
    return sha256(public)


@dataclass
class KeyState:
    """The keys in force. `logs` are the log keys in turn, each with the first size that it signs."""

    origin: str
    root: bytes
    host: bytes
    logs: list[tuple[int, bytes]]
    distance: int
    had: set[bytes]

    @property
    def log(self) -> bytes:
        return self.logs[-1][1]

    def log_at(self, size: int) -> bytes:
        """The log key in force after `size` records."""
        return next((key for first, key in reversed(self.logs) if first <= size), self.logs[0][1])

    def log_key(self, size: int) -> VerifierKey:
        return VerifierKey(self.origin, LOG_TYPE, self.log_at(size))

    def log_keys(self) -> list[VerifierKey]:
        """Those that can sign: a key that section 9 refuses cannot."""
        return [VerifierKey(self.origin, LOG_TYPE, key) for _first, key in self.logs if ed25519.acceptable_key(key)]

    def ids(self) -> set[bytes]:
        return {keyid(key) for key in self.had}

    def change(self, purpose: str, new: bytes, size: int) -> None:
        self.had.add(new)
        if purpose == "host":
            self.host = new
        else:
            self.logs.append((size, new))


def certificate_valid(root: bytes, origin: str, purpose: str, certificate: dict[str, Any]) -> bool:
    if certificate["purpose"] != purpose or not ed25519.acceptable_key(bytes.fromhex(certificate["key"])):
        return False
    try:
        signature = decode_base64(certificate["signature"])
    except NoteError:
        return False
    message = f"aasm.cert.v1\n{origin}\n{purpose}\n{certificate['key']}".encode("utf-8")
    return ed25519.verify(root, message, signature)


def establish(origin: str, body: dict[str, Any], findings: Findings) -> KeyState:
    """The key state of a `ledger.created` body that has passed its check, in the ledger that its envelope names."""
    root = bytes.fromhex(body["root"])
    for purpose in ("host", "log"):
        if not certificate_valid(root, origin, purpose, body[purpose]):
            findings.add("certificate_bad", 0, detail=purpose)
    host, log = (bytes.fromhex(body[name]["key"]) for name in ("host", "log"))
    return KeyState(origin, root, host, [(0, log)], body["checkpoint_every"], {root, host, log})


def check_pins(state: KeyState, trust: Trust | None, explicit: bool, findings: Findings) -> bool:
    """Compares with the trust files; True when the origin is pinned."""
    if trust is None or not trust.knows(state.origin):
        findings.add("foreign_ledger" if explicit else "origin_not_pinned", 0, detail=state.origin)
        return False
    logs = trust.logs_of(state.origin)
    if trust.roots[state.origin].public != state.root:
        findings.add("root_mismatch", 0)
    if not logs:
        findings.add("log_not_pinned", 0)
    elif not {key.public for key in logs} & {key for _first, key in state.logs}:
        findings.add("log_key_mismatch", 0)
    return True
