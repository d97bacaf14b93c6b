"""Checkpoints, cadence, embedded checkpoints, references to compare with (ledger-format.md sections 6 and 9)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from . import ed25519
from .findings import Findings
from .keys import KeyState
from .merkle import CompactRange
from .notes import Note, NoteError, VerifierKey, signed_by
from .revocations import Revocations
from .trust import Trust


@dataclass
class Checkpoints:
    findings: Findings
    trust: Trust | None
    revocations: Revocations
    keys: KeyState | None = None
    skipped_from: int = 2**64
    sizes: list[int] = field(default_factory=list)
    notes: dict[int, Note] = field(default_factory=dict)
    raw: dict[int, bytes] = field(default_factory=dict)
    good: list[int] = field(default_factory=list)
    cosigned: dict[int, set[str]] = field(default_factory=dict)

    def beyond(self, rows: list[tuple[Any, ...]], records: int) -> None:
        """Rows of sizes that the file does not have."""
        for row in rows:
            if row[0] < 1:
                self.findings.add("checkpoint_malformed", -1)
            else:
                self.findings.add("checkpoint_beyond_records", -1, str(records), f"{row[0]} records")

    def check(self, rows: list[tuple[Any, ...]], trees: dict[int, tuple[bytes, bytes]], keys: KeyState | None,
              skipped_from: int) -> None:
        """Compares rows with the roots and frontiers at their sizes. From `skipped_from` on a log key may be unknown."""
        self.keys, self.skipped_from = keys, skipped_from
        for size, note, frontier in rows:
            seq = size - 1
            if type(size) is not int or size < 1:
                self.findings.add("checkpoint_malformed", -1)
                continue
            if type(note) is not bytes or type(frontier) is not bytes:
                self._keep_text(size, note)
                note, frontier = b"", b""
            self.sizes.append(size)
            self.raw[size] = note
            root, edge = trees[size]
            healthy = self._note(size, note, root, seq)
            if frontier != edge:
                self.findings.add("checkpoint_frontier", seq, frontier.hex(), edge.hex())
            if healthy:
                self.good.append(size)

    def _keep_text(self, size: int, data: Any) -> None:
        """What a row says that is not judged."""
        try:
            self.notes[size] = Note.parse(data if type(data) is bytes else b"")
        except NoteError:
            return

    def _note(self, size: int, data: bytes, root: bytes, seq: int) -> bool:
        try:
            note = Note.parse(data)
        except NoteError as error:
            self.findings.add("checkpoint_malformed", seq, detail=str(error))
            return False
        self.notes[size] = note
        healthy = True
        if self.keys is None:
            self.findings.add("key_unresolved", seq)
            healthy = False
        else:
            if note.origin != self.keys.origin:
                self.findings.add("checkpoint_origin", seq, note.origin)
                healthy = False
            key = self.keys.log_key(size)
            fault = log_fault(note, key)
            if fault == "checkpoint_unsigned" and size > self.skipped_from:
                fault = "signer_after_skipped_key"
            if not fault:
                self.revocations.signed(key.public, seq, seq)
            if fault:
                self.findings.add(fault, seq)
                healthy = False
        self.cosigned[size] = cosigners(note, self.trust, seq, self.findings)
        if note.size != size:
            self.findings.add("checkpoint_size_mismatch", seq, str(note.size), str(size))
            healthy = False
        if note.root != root:
            self.findings.add("checkpoint_root", seq, note.root.hex(), root.hex())
            healthy = False
        return healthy

    def cadence(self, run_ends: list[int], changes: list[int], total: int, distance: int) -> None:
        """`changes` are the positions of key.* records, of which the last in a row has a checkpoint."""
        present = set(self.sizes)
        run_ends = run_ends + [position for position in changes if position + 1 not in changes]
        for position in run_ends:
            if position + 1 not in present:
                self.findings.add("checkpoint_cadence", position)
        last = 0
        for size in self.sizes:
            if size - last > distance:
                self.findings.add("checkpoint_cadence", size - 1)
            last = size
        if total - last > distance:
            self.findings.add("checkpoint_cadence", total - 1)

    def witnessed(self) -> list[int]:
        """Sizes of the checkpoints that are right and that the quorum signed, where the trust file asks for one."""
        if self.trust is None or self.trust.quorum in (None, "none"):
            return []
        return [size for size in self.good if self.trust.met(self.trust.quorum, self.cosigned.get(size, set()))]

    @property
    def signed_up_to(self) -> int:
        return max(self.good, default=0)


def log_fault(note: Note, key: VerifierKey) -> str:
    """What is wrong with the log key's signature, or nothing."""
    if not ed25519.acceptable_key(key.public):
        return "key_unresolved"
    return {None: "checkpoint_unsigned", False: "checkpoint_bad_signature", True: ""}[signed_by(note, key)]


def cosigners(note: Note, trust: Trust | None, seq: int, findings: Findings) -> set[str]:
    """Names of the witnesses whose cosignature holds; nobody is asked where the trust file asks for no quorum."""
    found: set[str] = set()
    if trust is None or trust.quorum == "none":
        return found
    for name, key in trust.witnesses.items():
        signed = signed_by(note, key)
        if signed is False:
            findings.add("witness_bad_signature", seq, name)
        elif signed:
            found.add(name)
    return found


def check_ledger_quorum(marks: Checkpoints, end: int | None, trust: Trust | None, findings: Findings) -> None:
    """Asks the largest checkpoint that is right; with `end`, the records up to the end of one run, any that covers it."""
    if trust is None or trust.quorum is None or trust.quorum == "none":
        return
    needed = min(marks.signed_up_to, marks.signed_up_to if end is None else end)
    if needed == 0 or max(marks.witnessed(), default=0) < needed:
        findings.add("witness_quorum_not_met")


def check_quorum(cosigned: set[str], trust: Trust | None, findings: Findings) -> None:
    if trust is not None and trust.quorum is not None and not trust.met(trust.quorum, cosigned):
        findings.add("witness_quorum_not_met")


def trees_at(sizes: set[int], leaves: list[bytes]) -> dict[int, tuple[bytes, bytes]]:
    """Root and frontier of the tree at each of `sizes`."""
    tree, result = CompactRange(), {0: (CompactRange().root(), b"")}
    for leaf in leaves:
        tree.append(leaf)
        if tree.size in sizes:
            result[tree.size] = (tree.root(), tree.frontier())
    return result


def compare_reference_by_note(data: bytes, keys: KeyState, mine: Note, trust: Trust | None, findings: Findings) -> None:
    """As `compare_reference` for a receipt, of which only one tree head is known."""
    try:
        note = Note.parse(data)
    except NoteError as error:
        findings.add("reference_unreadable", detail=str(error))
        return
    if note.origin != keys.origin:
        findings.add("reference_other_origin", detail=note.origin)
        return
    if not _signed(note, keys, trust, findings):
        return
    if note.size != mine.size:
        findings.add("reference_not_comparable")
    elif note.root != mine.root:
        findings.add("forked")


def _signed(note: Note, keys: KeyState | None, trust: Trust | None, findings: Findings) -> bool:
    """By a pinned log key of its origin or by one that the file has had. What is bad in the name of one of them is found
    whoever else signed."""
    candidates = (trust.logs_of(note.origin) if trust else []) + (keys.log_keys() if keys else [])
    results = [signed_by(note, key) for key in candidates]
    if False in results:
        findings.add("reference_bad_signature")
    elif True not in results:
        findings.add("reference_not_signed")
    return True in results


def compare_reference(data: bytes, keys: KeyState | None, leaves: list[bytes], trust: Trust | None,
                      findings: Findings) -> None:
    """A note kept elsewhere: heads/, --expect-head, --state."""
    try:
        note = Note.parse(data)
    except NoteError as error:
        findings.add("reference_unreadable", detail=str(error))
        return
    if leaves and (keys is None or note.origin != keys.origin):
        findings.add("reference_other_origin", detail=note.origin)
        return
    if not _signed(note, keys, trust, findings):
        return
    if note.size > len(leaves):
        findings.add("rolled_back", -1, str(len(leaves)), str(note.size))
        return
    if trees_at({note.size}, leaves)[note.size][0] != note.root:
        findings.add("forked")
