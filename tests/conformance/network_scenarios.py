"""Runs that decided about an address: what each kind of rule covers (product.md section 5.2)."""

from __future__ import annotations

import copy
from collections.abc import Callable

from scenarios import Run

RULE = "network.egress[0]"
DEFAULT = "network_egress.default"
NAME_RULE = "name_resolution.allow[0]"

# Name, selector, address, port, protocol, outcome, and what is to be found, if anything.
CASES = (
    ("in_range", ("address_range", "10.0.0.0/8:5432/tcp"), "10.1.2.3", 5432, "tcp", "allowed", ""),
    ("in_the_range_of_all", ("address_range", "0.0.0.0/0:53/udp"), "9.9.9.9", 53, "udp", "allowed", ""),
    ("mapped_in_range", ("address_range", "10.0.0.0/8:5432/tcp"), "::ffff:10.1.2.3", 5432, "tcp", "allowed", ""),
    ("range_of_mapped", ("address_range", "::ffff:10.0.0.0/104:5432/tcp"), "10.1.2.3", 5432, "tcp", "allowed", ""),
    ("outside_range", ("address_range", "10.0.0.0/9:5432/tcp"), "10.128.0.1", 5432, "tcp", "allowed", "allowed_outside_rule"),
    ("other_port", ("address_range", "10.0.0.0/8:5432/tcp"), "10.1.2.3", 5433, "tcp", "allowed", "allowed_outside_rule"),
    ("other_protocol", ("address_range", "10.0.0.0/8:5432/tcp"), "10.1.2.3", 5432, "udp", "allowed", "allowed_outside_rule"),
    ("range_of_ipv6_holds_no_ipv4", ("address_range", "::/0:80/tcp"), "10.1.2.3", 80, "tcp", "allowed", "allowed_outside_rule"),
    ("in_range_of_ipv6", ("address_range", "2001:db8::/33:80/tcp"), "2001:db8:7fff::1", 80, "tcp", "allowed", ""),
    ("no_address", ("address_range", "0.0.0.0/0:80/tcp"), "10.1.2", 80, "tcp", "allowed", "allowed_outside_rule"),
    ("a_range_as_address", ("address_range", "0.0.0.0/0:80/tcp"), "10.0.0.0/8", 80, "tcp", "allowed", "allowed_outside_rule"),
    ("bracketed", ("host_pattern", "[::1]:8080"), "::1", 8080, "tcp", "allowed", ""),
    ("any_host", ("host_pattern", "*:443"), "192.0.2.7", 443, "tcp", "allowed", ""),
    ("any_host_by_udp", ("host_pattern", "*:443"), "192.0.2.7", 443, "udp", "allowed", "allowed_outside_rule"),
    ("any_host_at_any_port", ("host_pattern", "*"), "192.0.2.7", 1, "tcp", "allowed", ""),
    ("a_name", ("host_pattern", "api.example.com:443"), "192.0.2.7", 443, "tcp", "allowed", "allowed_outside_rule"),
    ("a_name_at_another_port", ("host_pattern", "api.example.com:443"), "192.0.2.7", 80, "tcp", "allowed",
     "allowed_outside_rule"),
    ("a_port", ("port", "127.0.0.1:8080"), "127.0.0.1", 8080, "udp", "allowed", ""),
    ("a_text_that_is_no_rule", ("port", "127.0.0.1:08080"), "127.0.0.1", 8080, "tcp", "allowed", "object_coverage_undecided"),
    ("a_range_without_protocol", ("address_range", "10.0.0.1:80"), "10.0.0.1", 80, "tcp", "allowed",
     "object_coverage_undecided"),
    ("whole", ("whole", ""), "127.0.0.1", 8080, "udp", "allowed", ""),
    ("denied_outside", ("address_range", "10.0.0.0/8:5432/tcp"), "11.0.0.1", 5432, "tcp", "denied", ""),
    ("denied_in_range", ("address_range", "10.0.0.0/8:5432/tcp"), "10.0.0.1", 5432, "tcp", "denied", "denied_against_policy"),
    ("denied_though_whole", ("whole", ""), "10.0.0.1", 5432, "tcp", "denied", "denied_against_policy"),
    ("denied_though_any_host", ("host_pattern", "*:443"), "10.0.0.1", 443, "tcp", "denied", "denied_against_policy"),
    ("denied_though_a_name", ("host_pattern", "api.example.com:443"), "10.0.0.1", 443, "tcp", "denied", ""),
    ("denied_though_the_port", ("port", "*:80"), "10.0.0.1", 80, "tcp", "denied", "denied_against_policy"),
)


def decided(run: Run, selector: tuple[str, str], target: dict[str, object], outcome: str) -> None:
    run.require("network_egress", RULE, "enforced")
    requirement = run.body("policy.resolved")["requirements"][-1]
    requirement["rules"][0].update(operation="connect", selector={"type": selector[0], "value": selector[1]})
    [control] = [one for one in run.body("control.prepared")["controls"] if one["domain"] == "syscall" and
                 one["purpose"] == "policy"][:1]
    run.body("control.prepared")["controls"].append({
        **copy.deepcopy(control), "domain": "network_egress", "id": "network", "rules": [RULE, DEFAULT]})
    run.event().update(domain="network_egress", operation="connect", outcome=outcome, errno=0 if outcome == "allowed" else 13,
                       rule=RULE if outcome == "allowed" else DEFAULT, object={
                           "type": "address", "name": "", "arch": "", "address_class": "public", **target})


def looked_up(run: Run, name: str, answers: list[str]) -> None:
    """Puts an allowed lookup before the event that was decided."""
    run.require("name_resolution", NAME_RULE, "enforced")
    requirement = run.body("policy.resolved")["requirements"][-1]
    requirement["rules"][0].update(operation="resolve", selector={"type": "host_pattern", "value": "*"})
    controls = run.body("control.prepared")["controls"]
    controls.append({**copy.deepcopy(controls[-1]), "domain": "name_resolution", "rules": [NAME_RULE]})
    events = run.body("decision.batch")["events"]
    lookup = copy.deepcopy(events[0])
    lookup.update(domain="name_resolution", operation="resolve", outcome="allowed", errno=0, rule=NAME_RULE, mechanism="resolver",
                  object={"type": "name", "name": name, "arch": "", "query": "A", "answers": answers})
    events.insert(0, lookup)
    for number, event in enumerate(events, 1):
        event["number"] = number
    totals = run.body("run.closed")["channel"]
    totals["events"] += 1
    totals["actions"] += lookup["count"]


# Name, the selector, the name in the event of the address, whose lookup gave what, and what is to be found, if anything.
NAMED = (
    ("given", "*.example.com:443", "api.example.com", ("api.example.com", ["192.0.2.7"]), ""),
    ("given_as_mapped", "api.example.com:443", "api.example.com", ("api.example.com", ["::ffff:192.0.2.7"]), ""),
    ("given_another", "api.example.com:443", "api.example.com", ("api.example.com", ["192.0.2.8", "192.0.2.0/24"]), "allowed_outside_rule"),
    ("given_to_another", "*.example.com:443", "api.example.com", ("www.example.com", ["192.0.2.7"]), "allowed_outside_rule"),
    ("given_by_another_rule", "api.example.com:443", "www.example.com", ("www.example.com", ["192.0.2.7"]), "allowed_outside_rule"),
    ("at_another_port", "api.example.com:80", "api.example.com", ("api.example.com", ["192.0.2.7"]), "allowed_outside_rule"),
)


def named_scenario(name: str, selector: str, of_event: str, lookup: tuple[str, list[str]]) -> Callable[[Run], None]:
    def change(run: Run) -> None:
        decided(run, ("host_pattern", selector), {"address": "192.0.2.7", "port": 443, "protocol": "tcp"}, "allowed")
        run.event()["object"]["name"] = of_event
        looked_up(run, *lookup)
    change.__name__ = "address_of_a_name_" + name
    return change


def scenario(name: str, selector: tuple[str, str], address: str, port: int, protocol: str,
             outcome: str) -> Callable[[Run], None]:
    def change(run: Run) -> None:
        decided(run, selector, {"address": address, "port": port, "protocol": protocol}, outcome)
    change.__name__ = "address_" + name
    return change


UNLISTED = {"type": "unlisted", "name": "", "arch": ""}


def allowed_of_many(run: Run) -> None:
    """More allowed addresses than are told apart: whether a rule covers them all is not known, whatever it covers."""
    decided(run, ("whole", ""), {}, "allowed")
    run.event().update(object=dict(UNLISTED), count=5, pids=2)
    run.body("run.closed")["channel"]["actions"] += 4


def denied_of_many(run: Run) -> None:
    allowed_of_many(run)
    run.event().update(outcome="denied", errno=13, rule=DEFAULT)


def looked_up_of_many(run: Run) -> None:
    """The name that the address was given for may be one of those."""
    decided(run, ("host_pattern", "api.example.com:443"), {"address": "192.0.2.7", "port": 443, "protocol": "tcp"}, "allowed")
    run.event()["object"]["name"] = "api.example.com"
    looked_up(run, "", [])
    run.event().update(object=dict(UNLISTED))


FOUND: dict[Callable[[Run], None], str] = {scenario(*case[:6]): case[6] for case in CASES}


def killed_by_a_denial(run: Run) -> None:
    decided(run, ("address_range", "10.0.0.0/8:5432/tcp"), {"address": "11.0.0.1", "port": 5432, "protocol": "tcp"}, "denied")
    run.body("policy.resolved")["requirements"][-1]["on_denial"] = "kill"
    run.event().update(errno=0, reply="killed_while_blocked")
    exited = run.body("process.exited")
    exited.pop("status", None)
    exited.update(cause="killed_by_denial", signal=9)


def killed_where_an_errno_was_stated(run: Run) -> None:
    killed_by_a_denial(run)
    del run.body("policy.resolved")["requirements"][-1]["on_denial"]


FOUND.update({killed_by_a_denial: "", killed_where_an_errno_was_stated: "exit_cause_differs"})
FOUND.update({named_scenario(*case[:4]): case[4] for case in NAMED})
FOUND.update({allowed_of_many: "object_coverage_undecided", denied_of_many: "", looked_up_of_many: "object_coverage_undecided"})
SCENARIOS = tuple(FOUND)
