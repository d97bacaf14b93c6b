"""Trust files: a C2SP tlog-policy and, beside it, `.keys` with roots and revocations (ledger-format.md section 10)."""

from __future__ import annotations

import pathlib
import re
from dataclasses import dataclass, field

from .bodies import is_decimal
from .notes import LOG_TYPE, WITNESS_TYPE, NoteError, VerifierKey, name_ok


class TrustError(Exception):
    """A trust file that is not of the format: USAGE."""


@dataclass
class Group:
    threshold: int
    members: list[str]


@dataclass
class Trust:
    logs: list[VerifierKey] = field(default_factory=list)
    witnesses: dict[str, VerifierKey] = field(default_factory=dict)
    groups: dict[str, Group] = field(default_factory=dict)
    quorum: str | None = None
    roots: dict[str, VerifierKey] = field(default_factory=dict)
    revoked: dict[bytes, int] = field(default_factory=dict)

    def logs_of(self, origin: str) -> list[VerifierKey]:
        return [key for key in self.logs if key.name == origin]

    def knows(self, origin: str) -> bool:
        return origin in self.roots

    def met(self, name: str, signed: set[str]) -> bool:
        """Whether the witness or group `name` counts as having signed."""
        if name == "none":
            return True
        if name in self.witnesses:
            return name in signed
        group = self.groups[name]
        return sum(self.met(member, signed) for member in group.members) >= group.threshold


def _lines(data: bytes) -> list[list[str]]:
    if any(byte < 0x20 and byte not in (0x09, 0x0A) or byte == 0x7F for byte in data):
        raise TrustError("control character")
    if data and not data.endswith(b"\n"):
        raise TrustError("the last line is not terminated")
    result = []
    for line in data.decode("utf-8", "surrogateescape").split("\n"):
        words = re.split(r"[ \t]+", line.strip(" \t"))
        if words != [""] and not words[0].startswith("#"):
            result.append(words)
    return result


def _key(text: str, kind: int) -> VerifierKey:
    try:
        key = VerifierKey.parse(text)
    except NoteError as error:
        raise TrustError(str(error)) from error
    if key.kind != kind:
        raise TrustError("a key of another type")
    return key


def parse_policy(data: bytes, trust: Trust) -> None:
    used: set[str] = set()
    for words in _lines(data):
        kind = words[0]
        if kind == "log" and len(words) in (2, 3):
            key = _key(words[1], LOG_TYPE)
            if any(other.public == key.public for other in trust.logs):
                raise TrustError("duplicate log")
            trust.logs.append(key)
        elif kind == "witness" and len(words) in (3, 4):
            key = _key(words[2], WITNESS_TYPE)
            if any(other.public == key.public for other in trust.witnesses.values()):
                raise TrustError("duplicate witness")
            _new_name(trust, words[1])
            trust.witnesses[words[1]] = key
        elif kind == "group" and len(words) >= 4:
            _group(trust, words, used)
        elif kind == "quorum" and len(words) == 2 and trust.quorum is None:
            if words[1] != "none" and words[1] not in trust.witnesses and words[1] not in trust.groups:
                raise TrustError("unknown quorum")
            trust.quorum = words[1]
        else:
            raise TrustError(f"line {words[0]}")
    if trust.quorum is None:
        raise TrustError("no quorum line")


def _new_name(trust: Trust, name: str) -> None:
    if name == "none" or name in trust.witnesses or name in trust.groups:
        raise TrustError("name defined twice")


def _group(trust: Trust, words: list[str], used: set[str]) -> None:
    name, threshold, members = words[1], words[2], words[3:]
    _new_name(trust, name)
    for member in members:
        if member in used or (member not in trust.witnesses and member not in trust.groups):
            raise TrustError("group member")
        used.add(member)
    counts = {"any": 1, "all": len(members)}
    if threshold not in counts and not re.fullmatch(r"[1-9][0-9]{0,8}", threshold):
        raise TrustError("threshold")
    count = counts.get(threshold) or int(threshold)
    if not 1 <= count <= len(members):
        raise TrustError("threshold")
    trust.groups[name] = Group(count, members)


def parse_keys(data: bytes, trust: Trust) -> None:
    for words in _lines(data):
        if words[0] == "root" and len(words) == 3:
            key = _key(words[2], LOG_TYPE)
            if words[1] in trust.roots or not name_ok(words[1]):
                raise TrustError("root")
            trust.roots[words[1]] = key
        elif words[0] == "revoked" and len(words) == 3:
            if not re.fullmatch(r"[0-9a-f]{64}", words[1]) or not is_decimal(words[2]):
                raise TrustError("revoked")
            if bytes.fromhex(words[1]) in trust.revoked:
                raise TrustError("revoked twice")
            trust.revoked[bytes.fromhex(words[1])] = int(words[2])
        else:
            raise TrustError(f"line {words[0]}")


def load(path: pathlib.Path) -> Trust:
    """The trust file and the `.keys` file beside it."""
    trust = Trust()
    try:
        parse_policy(path.read_bytes(), trust)
        keys = path.with_name(path.name + ".keys")
        if keys.exists():
            parse_keys(keys.read_bytes(), trust)
    except OSError as error:
        raise TrustError(str(error)) from error
    return trust
