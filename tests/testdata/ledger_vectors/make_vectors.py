#!/usr/bin/env python3
"""Writes vectors.json beside this file: see README.md. Needs the `cryptography` package."""
import base64
import hashlib
import json
import pathlib

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

PTYPE = b"application/vnd.in-toto+json"
ORIGIN = "aasm.example/ledger/0123456789abcdef"
RUN = "0190a6c2-7b3f-7e5d-8a11-2b3c4d5e6f70"


def sha256(data):
    return hashlib.sha256(data).digest()


def b64(data):
    return base64.b64encode(data).decode()


def canonical(value):
    """RFC 8785 for values of integers and ASCII strings, which is all that is used here."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


class Key:
    def __init__(self, byte):
        self.seed = bytes([byte]) * 32
        self.private = Ed25519PrivateKey.from_private_bytes(self.seed)
        self.public = self.private.public_key().public_bytes(
            serialization.Encoding.Raw, serialization.PublicFormat.Raw)
        self.id = sha256(self.public)

    def sign(self, message):
        return self.private.sign(message)

    def vectors(self):
        return {"seed": self.seed.hex(), "public": self.public.hex(), "keyid": self.id.hex()}


LOG, ROOT, HOST, NEW, WITNESS = Key(1), Key(2), Key(3), Key(4), Key(5)


# --- Records, tree and checkpoint -------------------------------------------------------------

def pae(payload):
    return b"DSSEv1 %d %s %d %s" % (len(PTYPE), PTYPE, len(payload), payload)


def leaf(payload):
    return sha256(b"\x00" + pae(payload))


def root(leaves):
    """RFC 6962 section 2.1, as it is written there."""
    if not leaves:
        return sha256(b"")
    if len(leaves) == 1:
        return leaves[0]
    k = 1
    while k * 2 < len(leaves):
        k *= 2
    return sha256(b"\x01" + root(leaves[:k]) + root(leaves[k:]))


def note_key_id(name, kind, public):
    return sha256(name.encode() + b"\n" + bytes([kind]) + public)[:4]


def vkey(name, kind, public):
    return "%s+%s+%s" % (name, note_key_id(name, kind, public).hex(), b64(bytes([kind]) + public))


def signature_line(name, kind, public, signature):
    return "\u2014 %s %s\n" % (name, b64(note_key_id(name, kind, public) + signature))


def checkpoint_text(origin, size, root_hash):
    return "%s\n%d\n%s\n" % (origin, size, b64(root_hash))


def section11():
    origin = "aasm.example/ledger/7b9f"
    prev = bytes(32)
    payloads, leaves = [], []
    for seq in range(3):
        payload = canonical({"prev": prev.hex(), "seq": seq})
        prev = leaf(payload)
        payloads.append(payload.decode())
        leaves.append(prev)
    text = checkpoint_text(origin, 3, root(leaves))
    line = signature_line(origin, 1, LOG.public, LOG.sign(text.encode()))
    return {"origin": origin, "vkey": vkey(origin, 1, LOG.public), "payloads": payloads,
            "leaves": [entry.hex() for entry in leaves], "root": root(leaves).hex(),
            "note": text + "\n" + line}


def cosigned():
    """A checkpoint with the log's signature and a witness's cosignature/v1."""
    text = checkpoint_text(ORIGIN, 1, sha256(b"\x00"))
    name, time = "witness.example/w1", 1679315147
    message = "cosignature/v1\ntime %d\n%s" % (time, text)
    stamped = time.to_bytes(8, "big") + WITNESS.sign(message.encode())
    note = (text + "\n" + signature_line(ORIGIN, 1, LOG.public, LOG.sign(text.encode()))
            + signature_line(name, 4, WITNESS.public, stamped))
    return {"note": note, "time": str(time), "log_vkey": vkey(ORIGIN, 1, LOG.public),
            "witness_vkey": vkey(name, 4, WITNESS.public)}


# --- Keys and statements -----------------------------------------------------------------------

def key_statements():
    def signed(key, message):
        return {"message": message.hex(), "signature": key.sign(message).hex()}

    origin = ORIGIN.encode()
    statements = {}
    for purpose, key in (("host", HOST), ("log", LOG)):
        statements["certificate_" + purpose] = signed(
            ROOT, b"aasm.cert.v1\n" + origin + b"\n" + purpose.encode() + b"\n"
            + key.public.hex().encode())
    statements["rotation"] = signed(
        NEW, b"aasm.rotate.v1\n" + origin + b"\n" + HOST.public.hex().encode() + b"\n"
        + NEW.public.hex().encode())
    statements["revocation"] = signed(
        ROOT, b"aasm.revoke.v1\n" + origin + b"\n" + HOST.id.hex().encode() + b"\n4711")
    return statements


def subject(run):
    return sha256(b"aasm.subject.v1\n" + ORIGIN.encode() + b"\n" + (run or "ledger").encode())


def statement(seq, prev, run, kind, body):
    payload = canonical({
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": "run", "digest": {"sha256": subject(run).hex()}}],
        "predicateType": "urn:aasm:attestation:%s:v1" % kind,
        "predicate": {
            "aasm": {"v": 1, "log": ORIGIN, "seq": seq, "prev": prev.hex(), "run": run,
                     "kind": kind, "wall": "2026-01-02T03:04:05.123456789Z",
                     "mono_ns": "81234567890", "boot": "5c2e0e3a-1f0d-4b55-9a6e-7d7c2f7f0a11",
                     "key": HOST.id.hex()},
            "body": body}})
    return {"payload": payload.decode(), "leaf": leaf(payload).hex(),
            "signature": HOST.sign(pae(payload)).hex()}


def statements():
    genesis = sha256(b"aasm.genesis.v1\n" + ORIGIN.encode())
    first = statement(0, genesis, "", "ledger.created", {"note": "first", "n": 1})
    second = statement(1, bytes.fromhex(first["leaf"]), RUN, "run.opened", {})
    return {"origin": ORIGIN, "run": RUN, "genesis": genesis.hex(),
            "subject_ledger": subject("").hex(), "subject_run": subject(RUN).hex(),
            "ledger_created": first, "run_opened": second}


def receipt():
    """A receipt for record 1 of a ledger of two, carrying both records."""
    made = statements()
    records = [made["ledger_created"], made["run_opened"]]
    leaves = [bytes.fromhex(record["leaf"]) for record in records]
    entries = []
    for index, record in enumerate(records):
        dsse = {"payload": b64(record["payload"].encode()), "payloadType": PTYPE.decode(),
                "signatures": [{"keyid": HOST.id.hex(),
                                "sig": b64(bytes.fromhex(record["signature"]))}]}
        entries.append({"dsse": dsse, "index": index, "path": [b64(leaves[1 - index])]})
    text = checkpoint_text(ORIGIN, 2, root(leaves))
    line = signature_line(ORIGIN, 1, LOG.public, LOG.sign(text.encode()))
    return "c2sp.org/tlog-proof@v1\nextra %s\nindex 1\n%s\n\n%s\n%s" % (
        b64(canonical({"records": entries})), b64(leaves[0]), text, line)


# --- Ed25519: what a verifier must refuse ------------------------------------------------------
# Plain affine arithmetic on the curve of RFC 8032 section 5.1, slow and simple.

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
IDENTITY = (0, 1)


def add(left, right):
    (x1, y1), (x2, y2) = left, right
    product = D * x1 * x2 * y1 * y2 % P
    return ((x1 * y2 + x2 * y1) * pow(1 + product, P - 2, P) % P,
            (y1 * y2 + x1 * x2) * pow(1 - product, P - 2, P) % P)


def multiply(scalar, point):
    result = IDENTITY
    while scalar:
        if scalar & 1:
            result = add(result, point)
        point = add(point, point)
        scalar >>= 1
    return result


def recover_x(y):
    """An x with (x, y) on the curve, or None."""
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    return None if (x * x - square) % P else x


def encode(point):
    return (point[1] | (point[0] & 1) << 255).to_bytes(32, "little")


def small_order_points():
    """The eight points of the torsion subgroup: L times any point is one of them."""
    points, y = set(), 2
    while len(points) < 8:
        x = recover_x(y)
        if x is not None:
            points.update(multiply(i * L, (x, y)) for i in range(8))
        y += 1
    return sorted(encode(point).hex() for point in points)


def noncanonical_encodings():
    """Every 32-byte string that names a point by another y than the one below p, or by a sign bit
    on x = 0."""
    encodings = []
    for y in range(19):
        if recover_x(y) is not None:
            encodings += [(y + P | sign << 255).to_bytes(32, "little") for sign in (0, 1)]
    encodings += [(y | 1 << 255).to_bytes(32, "little") for y in (1, P - 1)]
    return [encoding.hex() for encoding in encodings]


def challenge(r, public, message):
    return int.from_bytes(hashlib.sha512(r + public + message).digest(), "little")


def signature_with_r(key, r, message):
    """S = k * a: the equation S*B = R + k*A holds when R is the identity, however encoded."""
    digest = bytearray(hashlib.sha512(key.seed).digest()[:32])
    digest[0] &= 248
    digest[31] = digest[31] & 127 | 64
    secret = int.from_bytes(digest, "little")
    s = challenge(r, key.public, message) * secret % L
    return r + s.to_bytes(32, "little")


def forgeries():
    message = b"abc"
    good = LOG.sign(message)
    s = int.from_bytes(good[32:], "little")
    base_y = 4 * pow(5, P - 2, P) % P
    base = encode((0, base_y))  # x of the base point is even
    identity = encode(IDENTITY)
    rows = [("S plus L", LOG.public, good[:32] + (s + L).to_bytes(32, "little")),
            ("R of small order", LOG.public, signature_with_r(LOG, identity, message)),
            ("R not canonical", LOG.public,
             signature_with_r(LOG, (1 + P).to_bytes(32, "little"), message)),
            ("key of small order", identity, base + (1).to_bytes(32, "little")),
            ("key not canonical", (1 + P).to_bytes(32, "little"),
             base + (1).to_bytes(32, "little"))]
    return {"message": message.hex(), "public": LOG.public.hex(), "good": good.hex(),
            "rows": [{"why": why, "public": public.hex(), "signature": signature.hex()}
                     for why, public, signature in rows]}


def main():
    vectors = {
        "section11": section11(),
        "cosigned": cosigned(),
        "keys": {"log": LOG.vectors(), "root": ROOT.vectors(), "host": HOST.vectors(),
                 "new": NEW.vectors(), "witness": WITNESS.vectors()},
        "key_statements": key_statements(),
        "statements": statements(),
        "receipt": receipt(),
        "small_order": small_order_points(),
        "noncanonical": noncanonical_encodings(),
        "forgeries": forgeries(),
    }
    target = pathlib.Path(__file__).with_name("vectors.json")
    target.write_text(json.dumps(vectors, indent=1, sort_keys=True) + "\n")


main()
