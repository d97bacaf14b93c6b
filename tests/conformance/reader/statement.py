"""One payload as a statement (ledger-format.md section 2): the envelope, its subject, its body."""

from __future__ import annotations

import datetime
import functools
import hashlib
import re
from dataclasses import dataclass
from typing import Any

from . import bodies, profile, spec

RUN = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\Z")
WALL = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{9}Z\Z")
KIND = re.compile(r"(?=.{1,64}\Z)[a-z0-9_]+(?:\.[a-z0-9_]+)+\Z")
BOOT = re.compile(r"[A-Za-z0-9-]{1,64}\Z")
LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
ORIGIN = re.compile(rf"(?=.{{1,253}}/ledger/){LABEL}(?:\.{LABEL})*/ledger/[0-9a-f]{{16}}\Z")
LAST_WALL = "2262-04-11T23:47:16.854775807Z"
STATEMENT = {"_type", "subject", "predicateType", "predicate"}
ENVELOPE = {"v", "log", "seq", "prev", "run", "kind", "wall", "mono_ns", "boot", "key"}
TYPE = "https://in-toto.io/Statement/v1"


class StatementError(Exception):
    """A payload that is no statement of this format; `code` is the finding."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code


@dataclass
class Statement:
    log: str
    seq: int
    prev: bytes
    run: str
    kind: str
    wall: str
    mono_ns: int
    boot: str
    key: bytes
    subject: str
    canonical: bool
    body: dict[str, Any]

    @functools.cached_property
    def body_fault(self) -> str:
        """What a body of a known kind lacks, or nothing."""
        try:
            bodies.check(self.kind, self.body)
        except bodies.BodyError as error:
            return str(error) or "body"
        return ""

    @property
    def known(self) -> bool:
        return self.kind in spec.records().kinds

    @property
    def subject_digest(self) -> str:
        text = f"aasm.subject.v1\n{self.log}\n{self.run or 'ledger'}"
        return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _need(condition: bool, what: str) -> None:
    if not condition:
        raise StatementError("payload_malformed", what)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_wall(text: str) -> bool:
    """A date and time of UTC that exists, from 1970 to what 64 bits of nanoseconds hold."""
    if not WALL.match(text) or not "1970" <= text <= LAST_WALL:
        return False
    try:
        datetime.datetime.strptime(text[:19], "%Y-%m-%dT%H:%M:%S")
    except ValueError:
        return False
    return text[17:19] != "60"


def ledger_kind(kind: str) -> bool:
    return kind.startswith(("ledger.", "key."))


@functools.lru_cache(maxsize=4096)
def parse(payload: bytes) -> Statement:
    """The statement in `payload`, or StatementError. The body is checked by `check_body`."""
    try:
        whole = profile.parse(payload)
    except profile.ProfileError as error:
        raise StatementError("payload_malformed_json", str(error)) from error
    _need(set(whole) == STATEMENT and whole["_type"] == TYPE, "statement members")
    predicate = whole["predicate"]
    _need(isinstance(predicate, dict) and set(predicate) == {"aasm", "body"}, "predicate members")
    aasm, body = predicate["aasm"], predicate["body"]
    _need(isinstance(aasm, dict) and set(aasm) == ENVELOPE, "envelope members")
    _need(isinstance(body, dict), "body")
    _need(bodies.is_integer(aasm["v"]) and aasm["v"] == 1, "version")
    _need(bodies.is_integer(aasm["seq"]) and aasm["seq"] >= 0, "seq")
    for name in ("prev", "key"):
        _need(bodies.is_hex32(aasm[name]), name)
    for name in ("log", "kind", "boot", "run", "wall"):
        _need(_is_text(aasm[name]), name)
    _need(bodies.is_decimal(aasm["mono_ns"]), "mono_ns")
    _need(_is_wall(aasm["wall"]), "wall")
    for name, pattern in (("kind", KIND), ("boot", BOOT), ("log", ORIGIN)):
        _need(bool(pattern.match(aasm[name])), name)
    _need(aasm["run"] == "" or bool(RUN.match(aasm["run"])), "run id")
    if ledger_kind(aasm["kind"]) or aasm["kind"] in spec.records().kinds:
        _need((aasm["run"] == "") == ledger_kind(aasm["kind"]), "run and kind")
    _need(whole["predicateType"] == f"urn:aasm:attestation:{aasm['kind']}:v1", "predicateType")
    subject = _subject(whole["subject"])
    return Statement(aasm["log"], aasm["seq"], bytes.fromhex(aasm["prev"]), aasm["run"], aasm["kind"], aasm["wall"],
                     int(aasm["mono_ns"]), aasm["boot"], bytes.fromhex(aasm["key"]), subject,
                     profile.canonical(whole) == payload, body)


def _subject(value: Any) -> str:
    _need(isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict), "subject")
    [one] = value
    _need(set(one) == {"name", "digest"} and one["name"] == "run", "subject members")
    digest = one["digest"]
    _need(isinstance(digest, dict) and set(digest) == {"sha256"} and _is_text(digest["sha256"]), "digest")
    return str(digest["sha256"])
