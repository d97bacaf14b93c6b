"""The scan of the records: numbering, chain, payload, signature, and the state machine of the runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from . import bodies, ed25519, key_changes, keys, merkle, profile
from .findings import Findings
from .keys import KeyState
from .revocations import Revocations
from .runs import RunTable
from .statement import Statement, StatementError, ledger_kind, parse
from .trust import Trust

COLUMNS = ((int, None), (bytes, 32), (bytes, 32), (bytes, None), (bytes, 32), (bytes, 64))


def _readable(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """The row with zeros where a column is of another type or length, so that the scan can go on."""
    if type(row[3]) is bytes and len(row[3]) > profile.MAX_PAYLOAD:
        row = (*row[:3], b"", *row[4:])
    return tuple(value if type(value) is kind and (size is None or len(value) == size) else bytes(size or 0)
                 for value, (kind, size) in zip(row, COLUMNS))


def host_signs(kind: str) -> bool:
    return ledger_kind(kind) or kind in ("run.opened", "run.recovered")


@dataclass
class Record:
    """A row that could be read as a statement."""

    position: int
    seq: int
    leaf: bytes
    statement: Statement
    signed: bool = False
    derivable: bool = True
    known: bool = True
    by_host: bool = False


@dataclass
class Scan:
    findings: Findings
    trust: Trust | None
    origin: str = ""
    keys: KeyState | None = None
    tree: merkle.CompactRange = field(default_factory=merkle.CompactRange)
    leaves: list[bytes] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    run_ends: list[int] = field(default_factory=list)
    key_records: list[int] = field(default_factory=list)
    skipped_from: int = 2**64
    skipped: int = 0
    skipped_key: bool = False
    next_seq: int = 0
    previous: bytes | None = None
    runs: RunTable = field(default_factory=RunTable)

    def __post_init__(self) -> None:
        self.revocations = Revocations(self.findings, self.trust)

    def row(self, row: tuple[Any, ...]) -> None:
        position = self.tree.size
        if not all(type(value) is kind and (size is None or len(value) == size)
                   for value, (kind, size) in zip(row, COLUMNS)) or len(row[3]) > profile.MAX_PAYLOAD:
            self.findings.add("row_malformed", row[0])
            row = _readable(row)
        seq, prev, leaf_column, payload, keyid, signature = row
        if seq != self.next_seq:
            self.findings.add("sequence_gap", seq, str(seq), str(self.next_seq))
        self.next_seq = seq + 1
        leaf = merkle.leaf_hash(payload)
        self._columns(seq, prev, leaf_column, leaf)
        self.tree.append(leaf)
        self.leaves.append(leaf)
        self.previous = leaf
        self._payload(position, seq, prev, leaf, payload, keyid, signature)

    def single(self, seq: int, payload: bytes, keyid: bytes, signature: bytes, opened: Record | None) -> Record | None:
        """One record of a receipt: its neighbours are not at hand. `opened` is the receipt's run.opened, once it was met."""
        statement = self.statement(seq, payload)
        if statement is None:
            return None
        record = Record(seq, seq, merkle.leaf_hash(payload), statement)
        if seq == 0:
            self._genesis(record)
        self._envelope(record, statement.prev, keyid)
        self._body(record, of_receipt=True)
        if statement.known and not record.known:
            self._follow(record)
            return None
        signer = self._signer(record, opened)
        record.signed = self._signature(record, payload, signature, signer)
        self._follow(record)
        return record

    def _columns(self, seq: int, prev: bytes, leaf_column: bytes, leaf: bytes) -> None:
        expected = self.previous
        if expected is not None and prev != expected:
            self.findings.add("prev_mismatch", seq, prev.hex(), expected.hex())
        if leaf_column != leaf:
            self.findings.add("leaf_mismatch", seq, leaf_column.hex(), leaf.hex())

    def _payload(self, position: int, seq: int, prev: bytes, leaf: bytes, payload: bytes, keyid: bytes,
                 signature: bytes) -> None:
        statement = self.statement(seq, payload)
        if statement is not None and position == 0:
            expected = merkle.genesis_prev(statement.log)
            if prev != expected:
                self.findings.add("prev_mismatch", seq, prev.hex(), expected.hex())
        if statement is None:
            if position == 0:
                self.findings.add("genesis_missing", seq)
            return
        record = Record(position, seq, leaf, statement)
        if position == 0:
            self._genesis(record)
        self._envelope(record, prev, keyid)
        self._body(record)
        run = self.runs.get(statement.run)
        if host_signs(statement.kind) or not statement.run or (run is not None and not run.end):
            record.signed = self._signature(record, payload, signature, self._signer(record))
        self._follow(record)
        self._enter(record)

    def statement(self, seq: int, payload: bytes) -> Statement | None:
        """The statement, or None after the one finding that takes the record out of the scan."""
        try:
            statement = parse(payload)
        except StatementError as error:
            self.findings.add(error.code, seq, detail=str(error))
            return None
        if statement.subject != statement.subject_digest:
            self.findings.add("subject_mismatch", seq)
        elif statement.known and not statement.canonical:
            self.findings.add("payload_noncanonical", seq)
        else:
            return statement
        return None

    def _genesis(self, record: Record) -> None:
        statement = record.statement
        try:
            if statement.kind != "ledger.created" or record.seq != 0:
                raise bodies.BodyError("another kind")
            bodies.check(statement.kind, statement.body)
        except bodies.BodyError as error:
            self.findings.add("genesis_missing", record.seq, detail=str(error))
            return
        self.origin = statement.log
        self.keys = keys.establish(statement.log, statement.body, self.findings)
        if statement.body["origin"] != self.origin:
            self.findings.add("origin_mismatch", record.seq)
        self.revocations.own = self.keys.ids()
        self.revocations.signed(self.keys.root, 0, record.seq)

    def _envelope(self, record: Record, prev: bytes, keyid: bytes) -> None:
        statement, seq = record.statement, record.seq
        checks = (("sequence_mismatch", statement.seq == seq),
                  ("origin_mismatch", not self.origin or statement.log == self.origin),
                  ("envelope_prev_mismatch", statement.prev == prev),
                  ("key_mismatch", statement.key == keyid))
        for code, holds in checks:
            if not holds:
                self.findings.add(code, seq)

    def _body(self, record: Record, of_receipt: bool = False) -> None:
        statement = record.statement
        if not statement.known:
            record.known = False
            if of_receipt and not statement.kind.startswith("key."):
                return  # it has no place in a receipt, whatever it is
            self.skipped += 1
            self.findings.add("record_skipped", record.seq, statement.kind)
            return
        if statement.body_fault:
            record.known = False
            self.findings.add("body_malformed", record.seq, detail=statement.body_fault)
            return
        statement.body = bodies.known(statement.kind, statement.body)

    def _run_key(self, statement: Statement, opened: Record | None) -> bytes | None:
        """The key of the record's run; in a receipt of its one run, of which a record of an unknown kind has to be."""
        if opened is None:
            run = self.runs.get(statement.run)
            return run.key if run else None
        other = not statement.known and statement.run != opened.statement.run
        return None if other else bytes.fromhex(opened.statement.body["run_key"])

    def _host_is_asked(self, statement: Statement, run_key: bytes | None) -> bool:
        """Who signs an unknown kind is unknown too: of the two keys it may be, it names one."""
        if statement.known:
            return host_signs(statement.kind)
        return run_key is None or statement.key != keys.keyid(run_key)

    def _signer(self, record: Record, opened: Record | None = None) -> bytes | None:
        statement = record.statement
        run_key = self._run_key(statement, opened)
        record.by_host = self._host_is_asked(statement, run_key)
        if not record.by_host:
            return run_key
        own = key_changes.new_host(statement.kind, statement.body) if record.known else None
        return (own or self.keys.host) if self.keys else None

    def _signature(self, record: Record, payload: bytes, signature: bytes, signer: bytes | None) -> bool:
        statement = record.statement
        if signer is None:
            self.findings.add("key_unresolved", record.seq, statement.kind)
            record.derivable = not self.skipped_key
            return False
        if statement.key != keys.keyid(signer):
            skipped = self.skipped_key and record.by_host
            code = "signer_after_skipped_key" if skipped else "wrong_signer"
            self.findings.add(code, record.seq, statement.key.hex(), keys.keyid(signer).hex())
            record.derivable = not self.skipped_key
            return False
        self.revocations.signed(signer, record.position, record.seq)
        if not ed25519.verify(signer, merkle.pae(payload), signature):
            self.findings.add("bad_signature", record.seq)
            return False
        return True

    def _follow(self, record: Record) -> None:
        """A key record that cannot be followed may have brought in any key."""
        if record.statement.kind.startswith("key."):
            followed = record.known and self.keys is not None
            self.skipped_key = self.skipped_key or not followed
            if not followed:
                self.skipped_from = min(self.skipped_from, record.position)
            if record.statement.known:
                self.key_records.append(record.position)
            if followed:
                key_changes.follow(self, self.keys, record)

    def _enter(self, record: Record) -> None:
        statement = record.statement
        if statement.kind == "ledger.created" and record.seq != 0:
            self.findings.add("genesis_repeated", record.seq)
        self.records.append(record)
        if statement.run:
            self.runs.enter(record, self)
