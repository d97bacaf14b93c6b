"""RFC 6962 / RFC 9162 hashing, the compact range and inclusion proofs (ledger-format.md section 1)."""

from __future__ import annotations

import hashlib

PAYLOAD_TYPE = b"application/vnd.in-toto+json"


def sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def pae(payload: bytes) -> bytes:
    return b"DSSEv1 %d %s %d %s" % (len(PAYLOAD_TYPE), PAYLOAD_TYPE, len(payload), payload)


def leaf_hash(payload: bytes) -> bytes:
    return sha256(b"\x00" + pae(payload))


def node_hash(left: bytes, right: bytes) -> bytes:
    return sha256(b"\x01" + left + right)


def genesis_prev(origin: str) -> bytes:
    return sha256(b"aasm.genesis.v1\n" + origin.encode("utf-8"))


class CompactRange:
    """The right-edge hashes of the tree so far, largest subtree first."""

    def __init__(self) -> None:
        self.size = 0
        self.edge: list[bytes] = []

    def append(self, leaf: bytes) -> None:
        node, size = leaf, self.size
        while size & 1:
            node = node_hash(self.edge.pop(), node)
            size >>= 1
        self.edge.append(node)
        self.size += 1

    def root(self) -> bytes:
        if not self.edge:
            return sha256(b"")
        node = self.edge[-1]
        for left in reversed(self.edge[:-1]):
            node = node_hash(left, node)
        return node

    def frontier(self) -> bytes:
        return b"".join(self.edge)


def root_from_path(leaf: bytes, index: int, size: int, path: list[bytes]) -> bytes | None:
    """The root that an inclusion proof leads to (RFC 9162 2.1.3.2), or None for a path of another shape."""
    if index >= size:
        return None
    node, position, last = leaf, index, size - 1
    for sibling in path:
        if last == 0:
            return None
        if position & 1 or position == last:
            node = node_hash(sibling, node)
            while not position & 1 and position:
                position >>= 1
                last >>= 1
        else:
            node = node_hash(node, sibling)
        position >>= 1
        last >>= 1
    return node if last == 0 else None


def inclusion_path(leaves: list[bytes], index: int) -> list[bytes]:
    """RFC 9162 2.1.3.1, for the makers of test data."""
    if len(leaves) == 1:
        return []
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    left, right = leaves[:split], leaves[split:]
    if index < split:
        return inclusion_path(left, index) + [tree_root(right)]
    return inclusion_path(right, index - split) + [tree_root(left)]


def tree_root(leaves: list[bytes]) -> bytes:
    tree = CompactRange()
    for leaf in leaves:
        tree.append(leaf)
    return tree.root()
