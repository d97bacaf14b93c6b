"""C2SP signed notes, verifier keys and checkpoints (ledger-format.md section 6)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from dataclasses import dataclass

from . import ed25519

LOG_TYPE = 1
WITNESS_TYPE = 4
SIZE = re.compile(r"(0|[1-9][0-9]*)\Z")
MAX_SIZE = 2**53 - 1


class NoteError(Exception):
    """The text is no note or key of the format."""


def decode_base64(text: str) -> bytes:
    """Standard base64 in its one spelling."""
    try:
        data = base64.b64decode(text.encode("ascii"), validate=True)
    except (binascii.Error, UnicodeEncodeError) as error:
        raise NoteError("base64") from error
    if base64.b64encode(data).decode("ascii") != text:
        raise NoteError("base64 in a second spelling")
    return data


def key_id(name: str, kind: int, public: bytes) -> bytes:
    return hashlib.sha256(name.encode("utf-8", "surrogateescape") + b"\n" + bytes([kind]) + public).digest()[:4]


def name_ok(name: str) -> bool:
    """Not empty, of characters, without spaces of Unicode, `+` and control characters."""
    return bool(name) and "+" not in name and not any(
        char.isspace() or char < " " or "\ud800" <= char <= "\udfff" for char in name)


@dataclass(frozen=True)
class VerifierKey:
    """A vkey: `<name>+<8 hex>+<base64 of type and key>`."""

    name: str
    kind: int
    public: bytes

    @property
    def id(self) -> bytes:
        return key_id(self.name, self.kind, self.public)

    def text(self) -> str:
        tail = base64.b64encode(bytes([self.kind]) + self.public).decode("ascii")
        return f"{self.name}+{self.id.hex()}+{tail}"

    @staticmethod
    def parse(text: str) -> VerifierKey:
        parts = text.split("+", 2)
        if len(parts) != 3 or not name_ok(parts[0]) or not re.fullmatch(r"[0-9a-f]{8}", parts[1]):
            raise NoteError("vkey")
        data = decode_base64(parts[2])
        if len(data) != 33:
            raise NoteError("vkey length")
        key = VerifierKey(parts[0], data[0], data[1:])
        if key.id.hex() != parts[1] or not ed25519.acceptable_key(key.public):
            raise NoteError("vkey id or key")
        return key


@dataclass(frozen=True)
class Signature:
    name: str
    id: bytes
    data: bytes


@dataclass(frozen=True)
class Note:
    """A signed note whose text is a checkpoint."""

    text: str
    origin: str
    size: int
    root: bytes
    signatures: tuple[Signature, ...]

    @staticmethod
    def parse(data: bytes) -> Note:
        try:
            whole = data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise NoteError("utf-8") from error
        if any(char < " " and char != "\n" for char in whole) or not whole.endswith("\n"):
            raise NoteError("control characters or no newline at the end")
        split = whole.rfind("\n\n")
        if split < 0:
            raise NoteError("no signatures")
        text, tail = whole[:split + 1], whole[split + 2:]
        signatures = tuple(_signature(line) for line in tail[:-1].split("\n")) if tail else ()
        if not signatures:
            raise NoteError("no signatures")
        return _checkpoint(text, signatures)

    def by(self, key: VerifierKey) -> list[Signature]:
        return [one for one in self.signatures if one.name == key.name and one.id == key.id]


def _signature(line: str) -> Signature:
    parts = line.split(" ")
    if len(parts) != 3 or parts[0] != "\u2014" or not name_ok(parts[1]):
        raise NoteError("signature line")
    data = decode_base64(parts[2])
    if len(data) < 5:
        raise NoteError("signature too short")
    return Signature(parts[1], data[:4], data[4:])


def _checkpoint(text: str, signatures: tuple[Signature, ...]) -> Note:
    lines = text[:-1].split("\n")
    if len(lines) != 3 or not name_ok(lines[0]) or not all(lines) or not SIZE.match(lines[1]):
        raise NoteError("checkpoint text")
    size = int(lines[1])
    root = decode_base64(lines[2])
    if size > MAX_SIZE or len(root) != 32:
        raise NoteError("size or root")
    return Note(text, lines[0], size, root, signatures)


def signed_by(note: Note, key: VerifierKey) -> bool | None:
    """True: a valid signature; False: one in its name that does not verify; None: no signature of it."""
    found = note.by(key)
    if not found:
        return None
    return all(_valid(note, key, one) for one in found)


def _valid(note: Note, key: VerifierKey, signature: Signature) -> bool:
    text = note.text.encode("utf-8")
    if key.kind == LOG_TYPE:
        return ed25519.verify(key.public, text, signature.data)
    if key.kind != WITNESS_TYPE or len(signature.data) != 72:
        return False
    time = int.from_bytes(signature.data[:8], "big")
    message = f"cosignature/v1\ntime {time}\n".encode("ascii") + text
    return time < 2**63 and ed25519.verify(key.public, message, signature.data[8:])


def cosign(note: bytes, name: str, seed: bytes, time: int) -> bytes:
    """`note` with the cosignature of a witness, for the makers of test data."""
    text = note[:note.rindex(b"\n\n") + 1]
    signature = ed25519.sign(seed, f"cosignature/v1\ntime {time}\n".encode("ascii") + text)
    identifier = key_id(name, WITNESS_TYPE, ed25519.public_of(seed))
    encoded = base64.b64encode(identifier + time.to_bytes(8, "big") + signature).decode("ascii")
    return note + f"\u2014 {name} {encoded}\n".encode("utf-8")


def make(origin: str, size: int, root: bytes, seed: bytes) -> bytes:
    """A checkpoint signed with `seed`, for the makers of test data."""
    text = f"{origin}\n{size}\n{base64.b64encode(root).decode('ascii')}\n"
    identifier = key_id(origin, LOG_TYPE, ed25519.public_of(seed))
    signature = base64.b64encode(identifier + ed25519.sign(seed, text.encode("utf-8"))).decode("ascii")
    return f"{text}\n\u2014 {origin} {signature}\n".encode("utf-8")
