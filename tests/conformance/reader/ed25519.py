"""Ed25519 (RFC 8032) with the guards of docs/spec/ledger-format.md section 9.

`cryptography` does the arithmetic where it can be imported; otherwise the functions below do. The
guards are ours in both cases: S < L, no small-order and no non-canonical key or R.
"""

from __future__ import annotations

import functools
import hashlib

try:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
    HAVE_LIBRARY = True
except ImportError:
    HAVE_LIBRARY = False

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
SQRT_M1 = pow(2, (P - 1) // 4, P)

Point = tuple[int, int, int, int]
NEUTRAL: Point = (0, 1, 1, 0)


def add(p: Point, q: Point) -> Point:
    a = (p[1] - p[0]) * (q[1] - q[0]) % P
    b = (p[1] + p[0]) * (q[1] + q[0]) % P
    c = 2 * p[3] * q[3] * D % P
    d = 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def multiply(scalar: int, point: Point) -> Point:
    result = NEUTRAL
    while scalar:
        if scalar & 1:
            result = add(result, point)
        point = add(point, point)
        scalar >>= 1
    return result


def recover_x(y: int, sign: int) -> int | None:
    """The x of a point with this y and parity, or None when there is none (RFC 8032 5.1.3)."""
    x2 = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    if x2 == 0:
        return None if sign else 0
    x = pow(x2, (P + 3) // 8, P)
    if (x * x - x2) % P:
        x = x * SQRT_M1 % P
    if (x * x - x2) % P:
        return None
    return P - x if (x & 1) != sign else x


def decode_point(data: bytes) -> Point | None:
    number = int.from_bytes(data, "little")
    y, sign = number & (2**255 - 1), number >> 255
    if y >= P:
        return None
    x = recover_x(y, sign)
    return None if x is None else (x, y, 1, x * y % P)


def encode_point(point: Point) -> bytes:
    inverse = pow(point[2], P - 2, P)
    x, y = point[0] * inverse % P, point[1] * inverse % P
    return (y | (x & 1) << 255).to_bytes(32, "little")


BASE_Y = 4 * pow(5, P - 2, P) % P
BASE: Point = (recover_x(BASE_Y, 0) or 0, BASE_Y, 1, (recover_x(BASE_Y, 0) or 0) * BASE_Y % P)


@functools.lru_cache(maxsize=4096)
def acceptable_point(data: bytes) -> bool:
    """No second spelling of a coordinate and not of small order. What is no point at all is neither: no signature of it holds."""
    if int.from_bytes(data, "little") & (2**255 - 1) >= P:
        return False
    point = decode_point(data[:31] + bytes([data[31] & 127]))  # the sign of x does not change the order
    if point is None:
        return True
    eighth = multiply(8, point)
    return not (eighth[0] % P == 0 and (eighth[1] - eighth[2]) % P == 0)


def acceptable_key(public: bytes) -> bool:
    return len(public) == 32 and acceptable_point(public)


@functools.lru_cache(maxsize=65536)
def verify(public: bytes, message: bytes, signature: bytes) -> bool:
    if len(signature) != 64 or int.from_bytes(signature[32:], "little") >= L:
        return False
    if not acceptable_key(public) or not acceptable_point(signature[:32]):
        return False
    return verify_by_library(public, message, signature) if HAVE_LIBRARY else verify_here(public, message, signature)


def verify_by_library(public: bytes, message: bytes, signature: bytes) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def verify_here(public: bytes, message: bytes, signature: bytes) -> bool:
    key = decode_point(public)
    if key is None:
        return False
    s = int.from_bytes(signature[32:], "little")
    k = int.from_bytes(hashlib.sha512(signature[:32] + public + message).digest(), "little") % L
    minus = (P - key[0], key[1], key[2], P - key[3])
    return encode_point(add(multiply(s, BASE), multiply(k, minus))) == signature[:32]


def expand(seed: bytes) -> tuple[int, bytes]:
    digest = hashlib.sha512(seed).digest()
    scalar = int.from_bytes(digest[:32], "little")
    return (scalar & (2**254 - 8)) | 2**254, digest[32:]


def public_of(seed: bytes) -> bytes:
    if HAVE_LIBRARY:
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
        return Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    return encode_point(multiply(expand(seed)[0], BASE))


def sign(seed: bytes, message: bytes) -> bytes:
    if HAVE_LIBRARY:
        return Ed25519PrivateKey.from_private_bytes(seed).sign(message)
    return sign_here(seed, message)


def sign_here(seed: bytes, message: bytes) -> bytes:
    scalar, prefix = expand(seed)
    public = encode_point(multiply(scalar, BASE))
    r = int.from_bytes(hashlib.sha512(prefix + message).digest(), "little") % L
    point = encode_point(multiply(r, BASE))
    k = int.from_bytes(hashlib.sha512(point + public + message).digest(), "little") % L
    return point + ((r + k * scalar) % L).to_bytes(32, "little")
