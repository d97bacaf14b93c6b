"""Ledgers whose keys are changed, rightly and wrongly.

As `scenarios.py`; each puts `key.*` records before or after the run that it is given.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

from forge import Entry, public, seed, sign_text
from reader.ed25519 import decode_point
from scenarios import Run

Body = dict[str, Any]


def rotated(run: Run, purpose: str, new: str, old: str = "", new_signer: str = "", old_signer: str = "") -> Body:
    """`old` is the key that the record names; the signers are those who sign for the two keys."""
    old = old or purpose
    text = f"aasm.rotate.v1\n{run.forge.origin}\n{public(old)}\n{public(new)}"
    body = {"purpose": purpose, "old_key": public(old), "new_key": public(new),
            "new_signature": sign_text(new_signer or new, text)}
    if purpose == "log":
        body["old_signature"] = sign_text(old_signer or old, text)
    return body


def replaced(run: Run, purpose: str, new: str, old: str = "", root: str = "root") -> Body:
    return {"certificate": run.forge.certificate(purpose, new, root), "old_key": public(old or purpose)}


def revoked(run: Run, name: str, limit: int, root: str = "root") -> Body:
    identifier = run.forge.keyid(name)
    text = f"aasm.revoke.v1\n{run.forge.origin}\n{identifier}\n{limit}"
    return {"key": identifier, "limit": str(limit), "signature": sign_text(root, text)}


def put(run: Run, kind: str, body: Body, where: str = "before", signer: str = "") -> int:
    """Inserts the record before or within the run, or at the end; says where it stands."""
    entries = run.forge.entries
    opened = run.all("run.opened")[0]
    position = {"before": entries.index(opened), "within": entries.index(run.all("process.started")[0]),
                "end": len(entries), "first": 1}[where]
    entries.insert(position, Entry(kind, "", body, opened.wall, opened.mono_ns, opened.boot, signer))
    return position


def host_rotated(run: Run) -> None:
    put(run, "key.rotated", rotated(run, "host", "host 2"))


def host_rotated_twice(run: Run) -> None:
    put(run, "key.rotated", rotated(run, "host", "host 2"))
    put(run, "key.rotated", rotated(run, "host", "host 3", "host 2"), "within")


def log_rotated(run: Run) -> None:
    put(run, "key.rotated", rotated(run, "log", "log 2"))


def log_rotated_within(run: Run) -> None:
    put(run, "key.rotated", rotated(run, "log", "log 2"), "within")


def host_replaced(run: Run) -> None:
    put(run, "key.replaced", replaced(run, "host", "host 2"))


def log_replaced(run: Run) -> None:
    put(run, "key.replaced", replaced(run, "log", "log 2"))


def rotated_without_new(run: Run) -> None:
    put(run, "key.rotated", rotated(run, "host", "host 2", new_signer="host"))


def log_rotated_without_old(run: Run) -> None:
    put(run, "key.rotated", rotated(run, "log", "log 2", old_signer="host"))


def log_rotated_with_one_signature(run: Run) -> None:
    body = rotated(run, "log", "log 2")
    del body["old_signature"]
    put(run, "key.rotated", body)


def host_rotated_with_both(run: Run) -> None:
    body = rotated(run, "host", "host 2")
    body["old_signature"] = body["new_signature"]
    put(run, "key.rotated", body)


def rotated_from_stale(run: Run) -> None:
    put(run, "key.rotated", rotated(run, "host", "host 2"))
    put(run, "key.rotated", rotated(run, "host", "host 3"), "within")


def rotated_from_stale_badly(run: Run) -> None:
    put(run, "key.rotated", rotated(run, "host", "host 2", "stranger", new_signer="stranger"))


def rotated_by_stranger(run: Run) -> None:
    put(run, "key.rotated", rotated(run, "host", "host 2"), signer="stranger")


def log_rotated_by_stranger(run: Run) -> None:
    put(run, "key.rotated", rotated(run, "log", "log 2"), signer="stranger")


def rotated_back(run: Run) -> None:
    put(run, "key.rotated", rotated(run, "host", "host 2"))
    put(run, "key.rotated", rotated(run, "host", "host", "host 2"), "within")


def rotated_to_itself(run: Run) -> None:
    put(run, "key.rotated", rotated(run, "host", "host"))


def rotated_to_the_log_key(run: Run) -> None:
    put(run, "key.rotated", rotated(run, "host", "log"))


def rotated_to_the_root(run: Run) -> None:
    put(run, "key.rotated", rotated(run, "log", "root"))


def rotated_to_a_run_key(run: Run) -> None:
    put(run, "key.rotated", rotated(run, "host", run.id), "within")


def rotated_to_small_order(run: Run) -> None:
    body = rotated(run, "host", "host 2")
    body["new_key"] = "01" + "00" * 31
    put(run, "key.rotated", body)


def log_replaced_by_no_point(run: Run) -> None:
    key = next(number.to_bytes(32, "little") for number in range(2, 40) if decode_point(number.to_bytes(32, "little")) is None).hex()
    body = replaced(run, "log", "log 2")
    body["certificate"] = {"key": key, "purpose": "log", "signature": sign_text("root", f"aasm.cert.v1\n{run.forge.origin}\nlog\n{key}")}
    put(run, "key.replaced", body)


def certificate_played_again(run: Run) -> None:
    put(run, "key.rotated", rotated(run, "host", "host 2"))
    put(run, "key.replaced", replaced(run, "host", "host", "host 2"), "within")


def certificate_by_stranger(run: Run) -> None:
    put(run, "key.replaced", replaced(run, "host", "host 2", root="stranger"))


def certificate_of_log_by_stranger(run: Run) -> None:
    put(run, "key.replaced", replaced(run, "log", "log 2", root="stranger"))


def replaced_but_signed_by_old(run: Run) -> None:
    put(run, "key.replaced", replaced(run, "host", "host 2"), signer="host")


def log_replaced_but_signed_by_new(run: Run) -> None:
    put(run, "key.replaced", replaced(run, "log", "log 2"), signer="log 2")


def replaced_from_stale(run: Run) -> None:
    put(run, "key.replaced", replaced(run, "host", "host 2", "stranger"))


def no_purpose(run: Run) -> None:
    body = rotated(run, "host", "host 2")
    body["purpose"] = "run"
    put(run, "key.rotated", body)


def certificate_without_purpose(run: Run) -> None:
    put(run, "key.replaced", replaced(run, "run", "host 2", "host"))


def signature_of_63_bytes(run: Run) -> None:
    body = rotated(run, "host", "host 2")
    body["new_signature"] = base64.b64encode(bytes(63)).decode("ascii")
    put(run, "key.rotated", body)


def signature_not_base64(run: Run) -> None:
    body = revoked(run, "host", 3)
    body["signature"] = "no"
    put(run, "key.revoked", body)


def log_change_from_stale(run: Run) -> None:
    put(run, "key.rotated", rotated(run, "log", "log 2", "stranger"))


def log_change_from_stale_by_the_key_in_force(run: Run) -> None:
    put(run, "key.rotated", rotated(run, "log", "log 2", "stranger", old_signer="log"))


def everything_wrong(run: Run) -> None:
    put(run, "key.rotated", rotated(run, "host", "log", "stranger", new_signer="host"))


def replaced_with_everything_wrong(run: Run) -> None:
    put(run, "key.replaced", replaced(run, "host", "log", "stranger", root="host"))


NO_KEY = "ee" + "ff" * 30 + "7f"


def log_replaced_by_what_is_no_key(run: Run, purpose: str = "log") -> None:
    body = replaced(run, purpose, "stranger")
    body["certificate"].update(key=NO_KEY, signature=sign_text(
        "root", f"aasm.cert.v1\n{run.forge.origin}\n{purpose}\n{NO_KEY}"))
    put(run, "key.replaced", body)


def host_replaced_by_what_is_no_key(run: Run) -> None:
    log_replaced_by_what_is_no_key(run, "host")


def host_is_no_key(run: Run) -> None:
    run.forge.given["host"] = NO_KEY


def log_is_no_key(run: Run) -> None:
    run.forge.given["log"] = NO_KEY


def root_is_no_key(run: Run) -> None:
    run.forge.given["root"] = NO_KEY


def log_and_host_are_one(run: Run) -> None:
    run.forge.given["log"] = public("host")
    run.forge.log = "host"


def change_named_another_key(run: Run) -> None:
    position = put(run, "key.rotated", rotated(run, "host", "host 2"))
    run.forge.entries[position].envelope["key"] = "0" * 64


def change_of_a_run(run: Run) -> None:
    position = put(run, "key.rotated", rotated(run, "host", "host 2"))
    run.forge.entries[position].run = run.id


def unreadable_then_another_host(run: Run) -> None:
    put(run, "key.rotated", {})
    put(run, "key.rotated", rotated(run, "host", "host 2", "stranger"), signer="stranger")


def unreadable_then_known_then_another(run: Run) -> None:
    put(run, "key.rotated", {})
    put(run, "key.replaced", replaced(run, "host", "host 2"))
    run.all("run.opened")[0].signer = "stranger"


def key_rotated(run: Run) -> None:
    """A key record that cannot be read, and what a new host key signed after it."""
    put(run, "key.rotated", {})
    run.all("run.opened")[0].signer = "stranger"


def key_kind_unknown(run: Run) -> None:
    put(run, "key.renamed", {})
    run.all("run.opened")[0].signer = "stranger"


def key_record_unreadable_by_stranger(run: Run) -> None:
    put(run, "key.replaced", {}, signer="stranger")


def rotation_known_then_unreadable(run: Run) -> None:
    put(run, "key.rotated", rotated(run, "log", "log 2"))
    put(run, "key.rotated", {}, "within")
    put(run, "key.rotated", rotated(run, "host", "host 2"), "end", signer="stranger")


def log_key_after_unreadable(run: Run) -> None:
    put(run, "key.rotated", {})
    run.forge.log_after = (0, "stranger")


def old_log_key_goes_on(run: Run) -> None:
    put(run, "key.rotated", rotated(run, "log", "log 2"))
    run.forge.log_after = (0, "log")


def new_log_key_too_early(run: Run) -> None:
    put(run, "key.rotated", rotated(run, "log", "log 2"), "end")
    run.forge.log_after = (0, "log 2")


def change_before_everything(run: Run) -> None:
    put(run, "key.rotated", rotated(run, "host", "host 2"), "first")
    put(run, "key.rotated", rotated(run, "log", "log 2"))


def log_key_after_unknown(run: Run) -> None:
    put(run, "key.renamed", {})
    run.forge.log_after = (0, "stranger")


def log_key_long_after_unknown(run: Run) -> None:
    run.forge.log_after = (put(run, "key.renamed", {}) + 3, "stranger")


def changes_with_one_checkpoint(run: Run) -> None:
    position = put(run, "key.rotated", rotated(run, "log", "log 2"))
    put(run, "key.rotated", rotated(run, "host", "host 2"))
    run.forge.skip_checkpoints.add(position + 1)


def last_change_without_its_checkpoint(run: Run) -> None:
    run.forge.skip_checkpoints.add(put(run, "key.rotated", rotated(run, "host", "host 2"), "end") + 1)


def change_without_its_checkpoint(run: Run) -> None:
    position = put(run, "key.rotated", rotated(run, "log", "log 2"))
    run.forge.skip_checkpoints.add(position + 1)


def trust_pins_new_log_key(run: Run) -> None:
    log_rotated(run)
    run.forge.pins = "log 2"


def trust_pins_no_log_key(run: Run) -> None:
    log_rotated(run)
    run.forge.pins = "stranger"


SCENARIOS: tuple[Callable[[Run], None], ...] = tuple(
    one for name, one in list(globals().items()) if callable(one) and getattr(one, "__module__", "") == __name__
    and getattr(one, "__annotations__", {}).get("return") == "None" and name != "put")
