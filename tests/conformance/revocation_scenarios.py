"""Ledgers whose keys are revoked, by records and by trust files, with and without a witness."""

from __future__ import annotations

from collections.abc import Callable

from key_scenarios import put, replaced, revoked, rotated
from scenarios import Run


def both_replaced_and_revoked(run: Run) -> None:
    position = put(run, "key.replaced", replaced(run, "host", "host 2"))
    put(run, "key.replaced", replaced(run, "log", "log 2"))
    put(run, "key.revoked", revoked(run, "host", position), "end")
    put(run, "key.revoked", revoked(run, "log", position + 1), "end")


def host_revoked(run: Run) -> None:
    put(run, "key.revoked", revoked(run, "host", put(run, "key.rotated", rotated(run, "host", "host 2")) + 1))


def host_revoked_too_early(run: Run) -> None:
    put(run, "key.rotated", rotated(run, "host", "host 2"))
    put(run, "key.revoked", revoked(run, "host", 3), "end")


def host_in_force_revoked(run: Run) -> None:
    put(run, "key.revoked", revoked(run, "host", 1), "first")


def log_in_force_revoked(run: Run) -> None:
    put(run, "key.revoked", revoked(run, "log", 5), "first")


def root_revoked(run: Run) -> None:
    put(run, "key.revoked", revoked(run, "root", 1000), "first")
    put(run, "key.replaced", replaced(run, "host", "host 2"))


def root_revoked_from_start(run: Run) -> None:
    put(run, "key.replaced", replaced(run, "host", "host 2"))
    put(run, "key.revoked", revoked(run, "root", 0), "end")


def root_revoked_before_its_certificate(run: Run) -> None:
    put(run, "key.replaced", replaced(run, "host", "host 2"))
    put(run, "key.revoked", revoked(run, "root", 2), "end")


def revoked_twice(run: Run) -> None:
    put(run, "key.rotated", rotated(run, "host", "host 2"))
    put(run, "key.revoked", revoked(run, "host", 1000), "end")
    put(run, "key.revoked", revoked(run, "host", 2), "end")
    put(run, "key.revoked", revoked(run, "host", 999), "end")


def stranger_revoked(run: Run) -> None:
    put(run, "key.revoked", revoked(run, "stranger", 3))


def run_key_revoked_before(run: Run) -> None:
    put(run, "key.revoked", revoked(run, run.id, 3))


def run_key_revoked_after(run: Run) -> None:
    put(run, "key.revoked", revoked(run, run.id, 3), "end")


def run_key_revoked_within(run: Run) -> None:
    put(run, "key.revoked", revoked(run, run.id, 1000), "within")


def revoked_before_it_came(run: Run) -> None:
    put(run, "key.revoked", revoked(run, "host 2", 3))
    put(run, "key.rotated", rotated(run, "host", "host 2"), "within")


def revocation_not_by_root(run: Run) -> None:
    put(run, "key.revoked", revoked(run, "host", 3, "host"))


def revocation_not_by_host(run: Run) -> None:
    put(run, "key.revoked", revoked(run, "host", 3), signer="stranger")


def host_in_force_revoked_later(run: Run) -> None:
    put(run, "key.revoked", revoked(run, "host", 15), "within")


def host_in_force_revoked_at_the_end(run: Run) -> None:
    put(run, "key.revoked", revoked(run, "host", 3), "end")


def log_in_force_revoked_at_the_end(run: Run) -> None:
    put(run, "key.revoked", revoked(run, "log", 3), "end")


def log_revoked_just_past_the_end(run: Run) -> None:
    put(run, "key.revoked", revoked(run, "log", len(run.forge.entries) + 1), "end")


def revoked_by_no_host(run: Run) -> None:
    put(run, "key.revoked", revoked(run, "host", 3), "end", signer="stranger")


def revoked_earlier_then_later(run: Run) -> None:
    put(run, "key.revoked", revoked(run, "host", 5))
    put(run, "key.revoked", revoked(run, "host", 1000), "within")


def revoked_later_then_earlier(run: Run) -> None:
    put(run, "key.revoked", revoked(run, "host", 1000))
    put(run, "key.revoked", revoked(run, "host", 5), "within")


def revoked_twice_at_one_size(run: Run) -> None:
    put(run, "key.rotated", rotated(run, "host", "host 2"))
    put(run, "key.revoked", revoked(run, "host", 5), "end")
    put(run, "key.revoked", revoked(run, "host", 5), "end")


def revoked_at_the_largest_size(run: Run) -> None:
    put(run, "key.revoked", revoked(run, "host", 2**64 - 1))


def root_revoked_and_goes_on(run: Run) -> None:
    put(run, "key.revoked", revoked(run, "root", 5))
    put(run, "key.replaced", replaced(run, "log", "log 2", root="stranger"), "within")


def run_key_revoked_in_its_middle(run: Run) -> None:
    put(run, "key.revoked", revoked(run, run.id, 18), "within")


def revocation_unreadable(run: Run) -> None:
    put(run, "key.revoked", {})
    run.all("run.opened")[0].signer = "stranger"


def trust_revokes_host(run: Run) -> None:
    put(run, "key.rotated", rotated(run, "host", "host 2"))
    run.forge.revokes = {"host": 3, "host 2": 25}


def trust_revokes_root_that_goes_on(run: Run) -> None:
    put(run, "key.replaced", replaced(run, "host", "host 2"))
    put(run, "key.revoked", revoked(run, "stranger", 5), "end")
    run.forge.revokes = {"root": 8}


def trust_and_record_revoke(run: Run) -> None:
    put(run, "key.revoked", revoked(run, "host", 15), "within")
    run.forge.revokes = {"host": 3}


def trust_revokes_run_key(run: Run) -> None:
    run.forge.revokes = {run.id: 15}


def revoked_and_witnessed(run: Run) -> None:
    both_replaced_and_revoked(run)
    run.forge.witnessed = set(range(100))


def revoked_and_witnessed_too_late(run: Run) -> None:
    host_revoked(run)
    run.forge.witnessed = {len(run.forge.entries)}


def trust_revokes_witnessed(run: Run) -> None:
    run.forge.witnessed = set(range(100))
    run.forge.revokes = {"host": 26, "log": 1000, "root": 9}


def not_witnessed_at_the_end(run: Run) -> None:
    run.forge.witnessed = set(range(1, len(run.forge.entries)))


SCENARIOS: tuple[Callable[[Run], None], ...] = tuple(
    one for name, one in list(globals().items()) if getattr(one, "__module__", "") == __name__ and name != "Run")
