"""Runs whose plan promises more than the probe of its backend measured, or just as much (product.md section 5.2)."""

from __future__ import annotations

from collections.abc import Callable

from scenarios import Run, degraded

UNSUPPORTED = {"support": "unsupported", "reason": "not here", "limitations": [], "mediation": "none", "timing": "none",
               "synchrony": "none"}


def enforced_but_unsupported(run: Run) -> None:
    run.measured("syscall").update(UNSUPPORTED)


def enforced_but_not_probed(run: Run) -> None:
    run.probe()["domains"].remove(run.measured("syscall"))


def enforced_but_for_one_process(run: Run) -> None:
    run.measured("syscall")["descendants"] = "target_process_only"


def decisions_wanted_but_no_channel(run: Run) -> None:
    [asked] = [one for one in run.body("policy.resolved")["requirements"] if one["domain"] == "syscall"]
    asked["evidence"] = "decisions"
    run.measured("syscall")["channel"]["mechanism"] = "none"


def observed_but_unsupported(run: Run) -> None:
    run.require("ipc", "ipc.signals", "observed", posture="optional")
    run.measured("ipc").update(UNSUPPORTED)


def degraded_above_probe(run: Run) -> None:
    degraded(run)
    run.measured("ipc")["channel"]["mechanism"] = "none"


def degraded_above_its_descendants(run: Run) -> None:
    degraded(run)
    run.measured("ipc")["descendants"] = "target_process_only"


def degraded_to_one_process(run: Run) -> None:
    degraded_above_its_descendants(run)
    run.body("plan.resolved")["outcomes"][-1]["achieved"] = "observe, descendants target_process_only"


def degraded_to_prevention(run: Run) -> None:
    degraded(run)
    run.body("plan.resolved")["outcomes"][-1]["achieved"] = "prevent_before_effect, evidence setup"


def degraded_to_prevention_above_probe(run: Run) -> None:
    degraded_to_prevention(run)
    run.measured("ipc")["synchrony"] = "best_effort"


def degraded_to_a_level_of_its_own(run: Run) -> None:
    degraded(run)
    run.body("plan.resolved")["outcomes"][-1]["achieved"] = "nearly prevented"


def backend_unavailable(run: Run) -> None:
    run.probe().update(available=False, unavailable_reason="no Landlock")


def backend_rejected(run: Run) -> None:
    run.body("plan.resolved")["candidates"][0]["verdict"] = "rejected_unavailable"


def another_class_in_the_plan(run: Run) -> None:
    run.body("plan.resolved")["requested"] = "process"


def another_boundary(run: Run) -> None:
    for kind, name in (("run.opened", "isolation"), ("plan.resolved", "requested")):
        run.body(kind)[name] = "microvm"


def the_backends_class(run: Run) -> None:
    for kind, name in (("run.opened", "isolation"), ("plan.resolved", "requested")):
        run.body(kind)[name] = "process"


# What each must be found to be; the others are nothing.
FOUND = {
    enforced_but_unsupported: "outcome_exceeds_probe", enforced_but_not_probed: "outcome_exceeds_probe",
    enforced_but_for_one_process: "outcome_exceeds_probe", decisions_wanted_but_no_channel: "outcome_exceeds_probe",
    observed_but_unsupported: "outcome_exceeds_probe", degraded_above_probe: "degraded_exceeds_probe",
    degraded_above_its_descendants: "degraded_exceeds_probe",
    degraded_to_prevention_above_probe: "degraded_exceeds_probe", degraded_to_a_level_of_its_own: "degraded_exceeds_probe",
    backend_unavailable: "backend_was_unavailable", backend_rejected: "backend_was_unavailable",
    another_class_in_the_plan: "isolation_class_differs", another_boundary: "isolation_class_differs"}


SCENARIOS: tuple[Callable[[Run], None], ...] = tuple(
    one for name, one in list(globals().items()) if getattr(one, "__module__", "") == __name__)
