"""What revoked keys signed (ledger-format.md section 5, verify-rules.md "Keys")."""

from __future__ import annotations

from dataclasses import dataclass, field

from .findings import Findings
from .merkle import sha256
from .trust import Trust

Place = tuple[int, int]


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

    def signed(self, public: bytes, position: int, seq: int) -> None:
        """The key stands under what is at this place, whether its signature holds or not."""
        identifier = sha256(public)
        limit = self.trust.revoked.get(identifier) if self.trust else None
        if limit is not None and position < limit:
            self.before[identifier] = max(self.before.get(identifier, (-1, -1)), (position, seq))
        elif limit is not None:
            self.findings.add("key_revoked", seq)
        if position >= self.limits.get(identifier, 2**64):
            self.findings.add("key_revoked", seq)
        if identifier in self.own:
            self.last[identifier] = max(self.last.get(identifier, (-1, -1)), (position, seq))

    def revoke(self, identifier: bytes, limit: int, seq: int) -> None:
        """A revocation that the root signed, in the record `seq`."""
        if identifier not in self.own:
            self.findings.add("revoked_key_unknown", seq)
        self.limits[identifier] = min(limit, self.limits.get(identifier, limit))
        position, place = self.last.get(identifier, (-1, -1))
        if position >= limit:
            self.findings.add("key_revoked", place)

    def finish(self, witnessed: list[int]) -> None:
        """After the last checkpoint: once a key, at the last place. `witnessed`: sizes of checkpoints with the quorum."""
        trusted = self.trust.revoked if self.trust else {}
        for limits, places in ((trusted, self.before), (self.limits, self.last)):
            for identifier, limit in limits.items():
                position, seq = places.get(identifier, (-1, -1))
                covered = any(position < size <= limit for size in witnessed)
                if 0 <= position < limit and not covered:
                    self.findings.add("key_revoked_before_limit", seq)
