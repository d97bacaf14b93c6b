"""What revoked keys signed (ledger-format.md section 5, verify-rules.md "Keys")."""

from __future__ import annotations

from dataclasses import dataclass, field

from .findings import Findings
from .merkle import sha256
from .trust import Trust

Place = tuple[int, int]
NEVER = 2**64


@dataclass
class Revocations:
    """Limits of the trust file are known from the start, those of records from their record on.

    `own` are the ids of the root, host and log keys that the ledger has had; of these it is kept how far they signed.
    """

    findings: Findings
    trust: Trust | None
    own: set[bytes] = field(default_factory=set)
    limits: dict[bytes, int] = field(default_factory=dict)
    last: dict[bytes, Place] = field(default_factory=dict)
    before: dict[bytes, Place] = field(default_factory=dict)

    def trusted(self, identifier: bytes) -> int:
        return self.trust.revoked.get(identifier, NEVER) if self.trust else NEVER

    def limit(self, identifier: bytes) -> int:
        """Of several limits the smallest counts."""
        return min(self.trusted(identifier), self.limits.get(identifier, NEVER))

    def signed(self, public: bytes, position: int, seq: int) -> None:
        """The key stands under what is at this place, whether its signature holds or not."""
        identifier = sha256(public)
        if position < self.trusted(identifier) < NEVER:
            self.before[identifier] = max(self.before.get(identifier, (-1, -1)), (position, seq))
        if position >= self.limit(identifier):
            self.findings.add("key_revoked", seq)
        if identifier in self.own:
            self.last[identifier] = max(self.last.get(identifier, (-1, -1)), (position, seq))

    def revoke(self, identifier: bytes, limit: int, seq: int) -> None:
        """A revocation that the root signed, in the record `seq`."""
        if identifier not in self.own:
            self.findings.add("revoked_key_unknown", seq)
        earlier = self.limit(identifier)
        self.limits[identifier] = min(limit, self.limits.get(identifier, limit))
        position, place = self.last.get(identifier, (-1, -1))
        if limit <= position < earlier:
            self.findings.add("key_revoked", place)

    def finish(self, witnessed: list[int]) -> None:
        """After the last checkpoint: once a key, at the last place. `witnessed`: sizes of checkpoints with the quorum."""
        for identifier in {*self.before, *self.limits}:
            limit = self.limit(identifier)
            places = self.before if self.trusted(identifier) == limit else self.last
            position, seq = places.get(identifier, (-1, -1))
            covered = any(position < size <= limit for size in witnessed)
            if 0 <= position < limit and not covered:
                self.findings.add("key_revoked_before_limit", seq)
