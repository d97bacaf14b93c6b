"""Long lists: a policy in several records, rules in several controls; whole, and with a part that is not what it should be.

Each takes the entries of one confined run that had a denial (scenarios.py).
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from forge import Entry
from scenarios import Run, recovered

KIND = "policy.resolved"
PARTS = 3


def policy_in_three_parts(run: Run) -> None:
    """Cut in the middle of the first requirement and before the gaps."""
    whole = run.all(KIND)[0]
    requirements: list[dict[str, Any]] = whole.body["requirements"]
    first = requirements[0]
    cut = len(first["rules"]) // 2
    head = {name: value for name, value in whole.body.items() if name not in ("requirements", "gaps", "unmapped")}
    pieces = [
        {"requirements": [{**first, "rules": first["rules"][:cut]}], "gaps": [], "unmapped": []},
        {"requirements": [{**first, "rules": first["rules"][cut:]}, *requirements[1:]], "gaps": [], "unmapped": []},
        {"requirements": [], "gaps": whole.body["gaps"], "unmapped": whole.body["unmapped"]}]
    entries = [copy.deepcopy(whole) for _piece in pieces]
    for number, (entry, piece) in enumerate(zip(entries, pieces, strict=True), 1):
        entry.body = {**copy.deepcopy(head), **copy.deepcopy(piece), "part": number, "parts": PARTS}
    position = run.forge.entries.index(whole)
    run.forge.entries[position:position + 1] = entries
    run.body("run.closed")["records"] += PARTS - 1


def _parts(run: Run) -> list[Entry]:
    policy_in_three_parts(run)
    return run.all(KIND)


def _drop(run: Run, number: int) -> None:
    run.forge.entries.remove(_parts(run)[number - 1])
    run.body("run.closed")["records"] -= 1


def _insert(run: Run, before: Entry, *entries: Entry) -> None:
    position = run.forge.entries.index(before)
    run.forge.entries[position:position] = [copy.deepcopy(entry) for entry in entries]
    run.body("run.closed")["records"] += len(entries)


def first_part_dropped(run: Run) -> None:
    _drop(run, 1)


def part_dropped(run: Run) -> None:
    _drop(run, 2)


def last_part_missing(run: Run) -> None:
    _drop(run, PARTS)


def parts_swapped(run: Run) -> None:
    _one, two, three = _parts(run)
    two.body, three.body = three.body, two.body


def part_repeated(run: Run) -> None:
    _one, two, three = _parts(run)
    _insert(run, three, two)


def parts_repeated(run: Run) -> None:
    parts = _parts(run)
    _insert(run, run.all("capability.probed")[0], *parts)


def whole_policy_behind_the_parts(run: Run) -> None:
    whole = copy.deepcopy(run.all(KIND)[0])
    _parts(run)
    _insert(run, run.all("capability.probed")[0], whole)


def part_of_another_policy(run: Run) -> None:
    _parts(run)[1].body["on_denial"] = "kill"


def part_with_another_posture(run: Run) -> None:
    _parts(run)[1].body["requirements"][0]["posture"] = "optional"


def part_with_a_requirement_that_had_ended(run: Run) -> None:
    _one, two, three = _parts(run)
    three.body["requirements"] = [copy.deepcopy(two.body["requirements"][0])]


def part_behind_the_start(run: Run) -> None:
    last = _parts(run)[-1]
    run.forge.entries.remove(last)
    position = run.forge.entries.index(run.all("process.started")[0])
    run.forge.entries.insert(position + 1, last)


def part_by_a_stranger(run: Run) -> None:
    _parts(run)[1].signer = "stranger"


def killed_between_parts(run: Run) -> None:
    """Writers commit all parts together; who ends between them is told like one that ends between other parts."""
    for entry in _parts(run)[1:]:
        run.forge.entries.remove(entry)
    recovered(run, KIND, False, ("capability.probed", "plan.resolved", "control.prepared", "boundary.proved", "process.started",
                                 "decision.batch", "process.exited"))


def rules_in_two_controls(run: Run) -> None:
    controls = run.body("control.prepared")["controls"]
    first = next(one for one in controls if one["id"] == "seccomp")
    later = {**copy.deepcopy(first), "rules": ["further.rule"]}
    later.pop("seccomp", None)
    controls.append(later)


def rule_in_two_controls(run: Run) -> None:
    rules_in_two_controls(run)
    controls = run.body("control.prepared")["controls"]
    controls[-1]["rules"] += next(one for one in controls if one["id"] == controls[-1]["id"])["rules"]


def further_rules_not_installed(run: Run) -> None:
    rules_in_two_controls(run)
    run.body("control.prepared")["controls"][-1]["installed"] = False


def further_rules_of_more(run: Run) -> None:
    """A member that this version does not know says nothing here either."""
    rules_in_two_controls(run)
    run.body("control.prepared")["controls"][-1]["more"] = 1


def part_that_says_more(run: Run) -> None:
    """A member that this version does not know says nothing, and makes no other policy."""
    _parts(run)[1].body["more"] = 1


def part_without_its_number(run: Run) -> None:
    del _parts(run)[1].body["part"]


def one_part_of_one(run: Run) -> None:
    run.body(KIND).update(part=1, parts=1)


# What each must be found to be; the others are nothing.
FOUND: dict[Callable[[Run], None], list[str]] = {
    killed_between_parts: ["part_missing"], rule_in_two_controls: ["control_repeated"],
    further_rules_not_installed: ["control_repeated"], first_part_dropped: ["part_missing"], part_dropped: ["part_missing"], last_part_missing: ["part_missing"],
    parts_swapped: ["part_missing"], part_repeated: ["part_missing"], parts_repeated: ["record_repeated"],
    whole_policy_behind_the_parts: ["record_repeated"], part_of_another_policy: ["part_missing"],
    part_with_another_posture: ["part_missing"], part_with_a_requirement_that_had_ended: ["part_missing"],
    part_behind_the_start: ["part_missing", "setup_after_start"], part_by_a_stranger: ["signer_not_accepted", "wrong_signer"],
    part_without_its_number: ["body_malformed", "part_missing"], one_part_of_one: ["blob_unnamed", "body_malformed", "setup_record_missing"]}


SCENARIOS: tuple[Callable[[Run], None], ...] = tuple(
    one for name, one in list(globals().items())
    if getattr(one, "__module__", "") == __name__ and not name.startswith("_"))
