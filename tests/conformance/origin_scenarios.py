"""One record of the run is of another boot, or signed by a stranger: each kind of which evidence is made."""

from __future__ import annotations

from collections.abc import Callable

from scenarios import Run

KINDS = ("run.opened", "policy.resolved", "capability.probed", "plan.resolved", "control.prepared", "boundary.proved",
         "process.started", "decision.batch", "process.exited", "run.closed")


def _changed(kind: str, member: str, value: str) -> Callable[[Run], None]:
    def scenario(run: Run) -> None:
        setattr(run.all(kind)[0], member, value)
    scenario.__name__ = f"{kind.replace('.', '_')}_with_{member}_{value.replace('-', '_')}"
    return scenario


SCENARIOS: tuple[Callable[[Run], None], ...] = tuple(
    _changed(kind, member, value) for kind in KINDS for member, value in (("boot", "another-boot"), ("signer", "stranger")))
