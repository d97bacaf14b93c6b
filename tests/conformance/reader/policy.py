"""One policy in several records (docs/spec/product.md section 5.1)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Body = dict[str, Any]
SOURCE = ("scope", "source", "document", "blob")
HEAD = ("state", "source_kind", "source", "document", "blob", "scope", "on_denial", "witness", "error", "parts")
REQUIREMENT = ("domain", "intent", "posture", "descendants", "evidence", "default_rule", "on_denial")


@dataclass
class Policy:
    """The first `policy.resolved` of a run, and each that goes on from what was joined before it; `body` is all of them."""

    body: Body
    records: list[Any]
    stray: list[Any] = field(default_factory=list)  # that go on from nothing
    behind: list[Any] = field(default_factory=list)  # that stand behind the whole

    def whole(self) -> bool:
        return bool(self.body.get("part", 1) == self.body.get("parts", 1))

    def take(self, record: Any, body: Body, in_time: bool = True) -> None:
        if in_time and goes_on(self.body, body):
            self.records.append(record)
            self.body = joined(self.body, body)
        elif self.whole():
            self.behind.append(record)
        else:
            self.stray.append(record)


def goes_on(before: Body, after: Body) -> bool:
    if "part" not in before or after.get("part") != before["part"] + 1 or _head(before) != _head(after):
        return False
    stated = {one["domain"] for one in before["requirements"]}
    again = [index for index, one in enumerate(after["requirements"]) if one["domain"] in stated]
    return not again or (again == [0] and _only(before["requirements"][-1], REQUIREMENT) == _only(after["requirements"][0], REQUIREMENT))


def joined(before: Body, after: Body) -> Body:
    requirements, new = list(before["requirements"]), list(after["requirements"])
    if requirements and new and requirements[-1]["domain"] == new[0]["domain"]:
        requirements[-1] = {**requirements[-1], "rules": requirements[-1]["rules"] + new.pop(0)["rules"]}
    lists = {name: before[name] + after[name] for name in ("gaps", "unmapped")}
    return {**before, **lists, "requirements": requirements + new, "part": after["part"]}


def _only(value: Body, names: tuple[str, ...]) -> Body:
    """Members that this version does not know say nothing."""
    return {name: value[name] for name in names if name in value}


def _head(body: Body) -> tuple[Body, list[Body] | None]:
    return _only(body, HEAD), [_only(one, SOURCE) for one in body["extends"]] if "extends" in body else None
