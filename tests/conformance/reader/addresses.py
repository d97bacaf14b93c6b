"""Whether a rule of the network covers the address of an event (docs/spec/product.md section 5.2)."""

from __future__ import annotations

import ipaddress
from typing import Any, Optional, Set, Tuple

UNDECIDED = None
Bits = Tuple[bool, str]
MOST_ANSWERS = 65536  # of a hostile ledger no more are kept


class Answers(Set[Tuple[str, Bits]]):
    """Names and the addresses given for them; `unlisted` once a lookup is recorded without its name."""

    unlisted = False


def number(text: str, most: int) -> Optional[int]:
    """A decimal in its one spelling."""
    if not text.isascii() or not text.isdigit() or len(text) > 5 or str(int(text)) != text or int(text) > most:
        return None
    return int(text)


def bits_of(text: str) -> Optional[Bits]:
    """(IPv6?, the bits that count) of an address, or of ADDRESS/LENGTH; mapped IPv4 is IPv4."""
    address, slash, length = text.partition("/")
    if "%" in address:
        return None
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return None
    width = parsed.max_prefixlen
    kept = number(length, width) if slash else width
    if kept is None:
        return None
    mapped = parsed.ipv4_mapped if isinstance(parsed, ipaddress.IPv6Address) else None
    if mapped is not None and kept >= 96:
        parsed, kept, width = mapped, kept - 96, 32
    return width == 128, format(int(parsed), f"0{width}b")[:kept]


def matches(pattern: bytes, name: bytes) -> bool:
    """Exact, `*`, or `*.suffix` with at least one label before it (policy.md); a name has no port and no case."""
    pattern, name = (one.lower().removesuffix(b".") for one in (pattern.split(b":")[0], name))
    if not name or pattern == b"*":
        return bool(name)
    if pattern.startswith(b"*."):
        return name.endswith(pattern[1:]) and len(name) > len(pattern) - 1 and not name.startswith(b".")
    return name == pattern


def note_answers(lookup: dict[str, Any], answers: Answers) -> None:
    """What an allowed lookup gave, as long as there is room."""
    answers.unlisted = answers.unlisted or lookup["type"] == "unlisted"
    for text in lookup.get("answers", []):
        own = None if "/" in text else bits_of(text)
        if own is not None and len(answers) < MOST_ANSWERS:
            answers.add((lookup["name"], own))


def was_given(name: str, own: Bits, answers: Answers) -> Optional[bool]:
    if (name, own) in answers:
        return True
    return False if len(answers) < MOST_ANSWERS and not answers.unlisted else UNDECIDED


def covers_address(kind: str, value: str, target: dict[str, Any], answers: Answers) -> Optional[bool]:
    """`kind` is host_pattern (tcp), address_range (it says its protocol) or port (any)."""
    own = None if "/" in target["address"] else bits_of(target["address"])
    if own is None:
        return False
    protocol: Optional[str] = "tcp" if kind == "host_pattern" else None
    if kind == "address_range":
        value, slash, protocol = value.rpartition("/")
        if not slash:
            return UNDECIDED
    host, colon, port = value.rpartition(":")
    if not colon or "]" in port:
        host, port = value, ""
    elif number(port, 65535) is None:
        return UNDECIDED
    if (port and int(port) != target["port"]) or protocol not in (None, target["protocol"]):
        return False
    if host == "*":
        return True
    if len(host) > 2 and host[0] == "[" and host[-1] == "]":
        host = host[1:-1]
    stated = bits_of(host)
    if stated is None and "/" in host:
        return UNDECIDED
    if stated is None:
        return matches(host.encode("latin-1"), str(target["name"]).encode("utf-8")) and was_given(str(target["name"]), own, answers)
    return stated[0] == own[0] and own[1].startswith(stated[1])
