"""Runs whose plan promises more than the probe of its backend measured, or just as much (product.md section 5.2)."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

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


def _inventory(run: Run) -> dict[str, Any]:
    ambient: dict[str, Any] = run.body("plan.resolved")["ambient"]
    return ambient


def _control(run: Run, name: str) -> dict[str, Any]:
    [control] = [one for one in run.body("control.prepared")["controls"] if one["id"] == name]
    return control


def more_names_than_the_inventory(run: Run) -> None:
    _control(run, "environment")["names"].append("KUBECONFIG")


def fewer_names_than_the_inventory(run: Run) -> None:
    _inventory(run)["delegated"] += 1


def other_names_removed_than_the_inventory(run: Run) -> None:
    _inventory(run)["removed"] += 1


def a_credential_the_controls_do_not_know(run: Run) -> None:
    _inventory(run)["sensitive"].append({"name": "KUBECONFIG", "kind": "credential_file", "fate": "ambient_unremoved"})


def no_inventory(run: Run) -> None:
    del run.body("plan.resolved")["ambient"]


def names_in_two_controls(run: Run) -> None:
    first = _control(run, "environment")
    second = copy.deepcopy(first)
    second["id"] = "environment.2"
    second["names"], first["names"] = first["names"][:1], first["names"][1:] + first["names"][1:]
    run.body("control.prepared")["controls"].append(second)


def passed_on_but_not_inherited(run: Run) -> None:
    _control(run, "descriptors")["descriptors"].append(77)


def passed_on_perhaps_unlisted(run: Run) -> None:
    passed_on_but_not_inherited(run)
    _inventory(run)["descriptors_unlisted"] = 1


def passed_on_but_removed(run: Run) -> None:
    _inventory(run)["descriptors"].append({"number": 77, "kind": "socket", "writable": True, "fate": "removed"})
    passed_on_but_not_inherited(run)


def closed_but_ambient(run: Run) -> None:
    _inventory(run)["descriptors"].append({"number": 77, "kind": "socket", "writable": True, "fate": "ambient_unremoved"})


# What each must be found to be; the others are nothing.
FOUND = {
    enforced_but_unsupported: "outcome_exceeds_probe", enforced_but_not_probed: "outcome_exceeds_probe",
    enforced_but_for_one_process: "outcome_exceeds_probe", decisions_wanted_but_no_channel: "outcome_exceeds_probe",
    observed_but_unsupported: "outcome_exceeds_probe", degraded_above_probe: "degraded_exceeds_probe",
    degraded_above_its_descendants: "degraded_exceeds_probe",
    degraded_to_prevention_above_probe: "degraded_exceeds_probe", degraded_to_a_level_of_its_own: "degraded_exceeds_probe",
    backend_unavailable: "backend_was_unavailable", backend_rejected: "backend_was_unavailable",
    another_class_in_the_plan: "isolation_class_differs", another_boundary: "isolation_class_differs",
    **dict.fromkeys((more_names_than_the_inventory, fewer_names_than_the_inventory, other_names_removed_than_the_inventory,
                     a_credential_the_controls_do_not_know, passed_on_but_not_inherited, passed_on_but_removed,
                     closed_but_ambient), "inventory_differs")}


SCENARIOS: tuple[Callable[[Run], None], ...] = tuple(
    one for name, one in list(globals().items()) if getattr(one, "__module__", "") == __name__ and name[0] != "_")
