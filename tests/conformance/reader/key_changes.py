"""Changes of the host and the log key, and revocations (ledger-format.md section 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import ed25519
from .keys import KeyState, certificate_valid
from .notes import NoteError, decode_base64

if TYPE_CHECKING:
    from .scan import Record, Scan

CHANGES = ("key.rotated", "key.replaced")


def new_host(kind: str, body: dict[str, Any]) -> bytes | None:
    """The key that signs its own coming, or None."""
    if kind == "key.replaced" and body["certificate"]["purpose"] == "host":
        return bytes.fromhex(body["certificate"]["key"])
    return None


def _signed(key: str, text: str, signature: str) -> bool:
    try:
        return ed25519.verify(bytes.fromhex(key), text.encode("utf-8"), decode_base64(signature))
    except NoteError:
        return False


def _rotation_holds(origin: str, body: dict[str, Any]) -> bool:
    text = f"aasm.rotate.v1\n{origin}\n{body['old_key']}\n{body['new_key']}"
    return _signed(body["new_key"], text, body["new_signature"]) and (
        body["purpose"] == "host" or _signed(body["old_key"], text, body["old_signature"]))


def follow(scan: Scan, state: KeyState, record: Record) -> None:
    """Judges a key record that can be read; a change is followed whatever is found in it."""
    kind, body = record.statement.kind, record.statement.body
    if kind == "key.revoked":
        _revoke(scan, state, record)
    if kind not in CHANGES:
        return
    if kind == "key.rotated":
        purpose, new = body["purpose"], bytes.fromhex(body["new_key"])
        if not _rotation_holds(state.origin, body):
            scan.findings.add("key_change_bad", record.seq)
    else:
        purpose, new = body["certificate"]["purpose"], bytes.fromhex(body["certificate"]["key"])
        scan.revocations.signed(state.root, record.position, record.seq)
        if not certificate_valid(state.root, state.origin, purpose, body["certificate"]):
            scan.findings.add("certificate_bad", record.seq)
    if bytes.fromhex(body["old_key"]) != (state.host if purpose == "host" else state.log):
        scan.findings.add("key_change_stale", record.seq)
    if new in state.had:
        scan.findings.add("key_reused", record.seq)
    state.change(purpose, new, record.position + 1)
    scan.revocations.own = state.ids()


def _revoke(scan: Scan, state: KeyState, record: Record) -> None:
    body = record.statement.body
    text = f"aasm.revoke.v1\n{state.origin}\n{body['key']}\n{body['limit']}"
    if not _signed(state.root.hex(), text, body["signature"]):
        scan.findings.add("revocation_bad", record.seq)
        return
    scan.revocations.signed(state.root, record.position, record.seq)
    scan.revocations.revoke(bytes.fromhex(body["key"]), int(body["limit"]), record.seq)
