"""What a scenario expects, and in which of it a trial falls short. Every function returns complaints."""

# Claims of a domain in which nothing was denied by policy.
QUIET = ("unmeasured", "not_stated")


def declared(scenario, capabilities):
    """True when the backend says, before the launch, that it does not cover this."""
    wanted = scenario.get("declared")
    if wanted is None:
        return False
    domain = capabilities.get(wanted["domain"], {})
    if domain.get("support") == "unsupported":
        return wanted["says"] in domain.get("reason", "")
    return any(wanted["says"] in limitation for limitation in domain.get("limitations", []))


def may_be_refused(scenario):
    """What the boundary does not cover, the kernel may refuse some users all the same."""
    return "may_be_refused" in scenario.get("declared", {})


def judge_control(scenario, seen):
    if seen.timed_out:
        return ["control: it did not end"]
    if not seen.outcome and "dead:" not in scenario.get("effect", ""):
        return [f"control: the attempt was not made (status {seen.status}): {seen.output[-300:]} {seen.errors[-300:]}"]
    if not seen.happened:
        return [f"control: without the boundary it had no effect (outcome {seen.outcome}): it proves nothing. {seen.output[-300:]}"]
    return []


def judge_inside(scenario, seen, depth):
    if seen.timed_out:
        return ["the run did not end"]
    if not seen.records:
        return judge_effect(scenario, seen, False) + [f"no run was recorded: {seen.errors[-500:]}"]
    open_to_it = scenario.get("allowed", False) or declared(scenario, seen.capabilities)
    complaints = judge_outcome(scenario, seen, open_to_it)
    complaints += judge_effect(scenario, seen, open_to_it)
    complaints += judge_run(scenario, seen)
    complaints += judge_events(scenario, seen, depth)
    complaints += judge_claims(scenario, seen)
    return [f"{complaint} [{seen.output[-200:]}]" for complaint in complaints]


def judge_outcome(scenario, seen, open_to_it):
    if "ends_with" in scenario:
        return []
    wanted = ["0"] if open_to_it else scenario["errno"]
    if may_be_refused(scenario):
        wanted = wanted + scenario["errno"]
    if seen.outcome not in wanted:
        return [f"the outcome is {seen.outcome or 'none'}, expected {'/'.join(wanted)}"
                f"{' (declared)' if open_to_it else ''}: {seen.errors[-300:]}"]
    return []


def judge_effect(scenario, seen, open_to_it):
    if seen.happened and not open_to_it:
        return [f"FINDING: it had its effect inside the boundary ({scenario.get('effect', 'result')})"]
    if open_to_it and not seen.happened and not (may_be_refused(scenario) and seen.outcome != "0"):
        return ["declared as not covered, yet it had no effect: the declaration or the scenario is wrong"]
    if seen.disturbed and not (open_to_it and scenario.get("declared", {}).get("disturbs")):
        return [f"FINDING: it changed {', '.join(seen.disturbed)}"]
    return []


def judge_run(scenario, seen):
    [closed], exited = seen.bodies("run.closed") or [{}], seen.bodies("process.exited")
    complaints = []
    if closed.get("ending") != "finished" or not closed.get("program_started"):
        complaints.append(f"the run ended {closed.get('ending')}, not finished: {closed.get('detail')}")
    status = scenario.get("ends_with", 0 if seen.outcome == "0" else 40)
    if seen.status != status:
        complaints.append(f"aasm ended {seen.status}, expected {status}")
    recorded = exited[0].get("status", 128 + exited[0].get("signal", 0)) if exited else None
    if recorded != status:
        complaints.append(f"the record says status {recorded}, expected {status}")
    if closed.get("channel", {}).get("dropped") != 0:
        complaints.append("the channel dropped events")
    if seen.verified != "VERIFIED":
        complaints.append(f"verify says {seen.verified}")
    return complaints


def wanted_events(scenario, places):
    """As the data writes it: [call, rule, errno] with what else the scenario says of it."""
    return [{"cause": "policy", "outcome": "denied", "count": 1, **event, "call": event["call"].format(**places)}
            for event in scenario.get("events", [])]


def called(event):
    """The system call, or what was done with which socket or address."""
    found = event["object"]
    if found["type"] == "syscall":
        return found["name"]
    if found["type"] == "path":
        return f"{event['operation']} {found['path']}" + (f" to {found['new_path']}" if "new_path" in found else "")
    if found["type"] == "address":
        return f"{event['operation']} {found['address']}:{found['port']}/{found['protocol']}"
    return f"{event['operation']} {found['name']}"


def opened(event):
    """What a program and its libraries may open and did: of no attempt's making."""
    return event["outcome"] == "allowed" and event["domain"] in ("filesystem_read", "filesystem_write")


def judge_events(scenario, seen, depth):
    wanted = wanted_events(scenario, seen.places)
    found = [{"call": called(event), "rule": event["rule"], "errno": event["errno"], "cause": event["cause"],
              "outcome": event["outcome"], "count": event["count"]} for event in seen.events() if not opened(event)]
    compared = [{key: one[key] for key in ("call", "rule", "errno", "cause", "outcome", "count")} for one in wanted]

    def order(event):
        return sorted(map(str, event.items()))

    found, compared = without_open_counts(wanted, found, compared)
    if found is None:
        return ["more events than there were actions, or none at all"]
    if merged(found) != merged(compared):
        return [f"events {sorted(found, key=order)}, expected {sorted(compared, key=order)}"]
    complaints = []
    for event in seen.events():
        if opened(event):
            continue
        complaints += judge_event(scenario, seen, depth, event)
    return complaints


def without_open_counts(wanted, found, compared):
    """Takes out what may be counted between 1 and `at_most`; None where it is not."""
    for one, expected in zip(wanted, list(compared)):
        if "at_most" in one:
            alike = [event for event in found if {**event, "count": 1} == {**expected, "count": 1}]
            if not 1 <= sum(event["count"] for event in alike) <= one["at_most"]:
                return None, None
            found = [event for event in found if event not in alike]
            compared = [event for event in compared if event is not expected]
    return found, compared


def merged(events):
    """Equal events in one or in several batches are the same number of actions."""
    total = {}
    for event in events:
        key = tuple(sorted((name, str(value)) for name, value in event.items() if name != "count"))
        total[key] = total.get(key, 0) + event["count"]
    return total


def judge_event(scenario, seen, depth, event):
    about = (event["operation"], event["object"]["type"], event["domain"])
    known = {"network_egress": {(word, kind) for word in ("connect", "bind", "socket") for kind in ("address", "socket")},
             "process_creation": {("create", "process")},
             "ipc": {("connect", "socket"), ("signals", "process"), ("shared_memory", "name")}, "syscall": {("call", "syscall")}}
    on_file = about[2] in ("filesystem_read", "filesystem_write") and (about[1] == "path" or about[:2] == ("execute", "name"))
    if about[:2] not in known.get(about[2], ()) and not on_file:
        return [f"event {event['number']} is of nothing that is known here: {event}"]
    if event["reply"] == "caller_gone":
        # Who was killed while asking has no lineage left, and its call never ran: it counts for no claim.
        expected = any("at_most" in one for one in scenario.get("events", []))
        return [] if expected else [f"event {event['number']} says that its caller is gone"]
    if (event["timing"], event["synchrony"]) != ("pre", "sync"):
        return [f"event {event['number']} was not decided before the call"]
    executable = scenario.get("executable")
    if executable and event["executable"] != executable.format(**seen.places):
        return [f"the record names {event['executable']!r}, expected {executable!r}"]
    if "ends_with" in scenario and not seen.pid:
        return []
    chain = (event["pid"], *event["parents"])
    expected = (seen.pid, *seen.parents) if depth == "grandchild" else (seen.pid, seen.warden)
    if scenario.get("caller") == "child":
        chain = chain[1:]
    elif scenario.get("caller") == "sibling":
        chain, expected = chain[1:], expected[1:]
    elif scenario.get("caller") == "many":
        return [] if event["parents"] and seen.pid in (*event["parents"], event["pid"]) else [f"lineage {chain} without {seen.pid}"]
    elif scenario.get("caller") == "deep":
        return [] if event["pid"] == seen.pid and len(event["parents"]) == 64 else [f"lineage {len(chain)} of {seen.pid}"]
    if depth == "grandchild":
        expected += (seen.warden,)
    return [] if chain == expected else [f"{event['object']['name']} says lineage {chain}, expected {expected}"]


def judge_claims(scenario, seen):
    claims = {domain["domain"]: domain for domain in seen.report.get("domains", [])}
    complaints = []
    for name, claim in claims.items():
        complaints += judge_claim(scenario, seen, name, claim)
    return complaints or ([] if claims else ["verify recomputed no claim"])


def judge_claim(scenario, seen, name, claim):
    by_policy = sum(event["count"] for event in seen.events()
                    if event["domain"] == name and event["cause"] == "policy" and event["outcome"] == "denied"
                    and event["reply"] != "caller_gone" and not event["rule"].startswith("self_protection."))
    # Of files single calls are decided where policy asks for it.
    has_channel = (seen.capabilities.get(name, {}).get("channel", {}).get("mechanism", "none") != "none"
                   and claim["channel"]["state"] != "none")
    if by_policy:
        good = claim["claim"] == "denied_before_execution" and claim["denied_actions"] == by_policy
    elif name == scenario.get("domain") and "claim" in scenario:
        good = claim["claim"] == scenario["claim"]
    elif name == scenario.get("domain") and has_channel and not declared(scenario, seen.capabilities) and name != "syscall":
        good = claim["claim"] == "denied_before_execution"
    else:
        quiet = (*QUIET, "evaluated") if any(opened(event) and event["domain"] == name for event in seen.events()) else QUIET
        good = claim["claim"] in quiet and claim["denied_actions"] == 0
    if not good:
        return [f"claim of {name} is {claim['claim']} ({claim['denied_actions']}) with {by_policy} denied by policy"]
    if claim["claim"] != "not_stated" and claim["boundary"] not in ("proved", "installed"):
        return [f"boundary of {name} is {claim['boundary']}"]
    wanted = scenario.get("channel", "complete")
    if name == "syscall" and claim["claim"] != "not_stated" and claim["channel"]["state"] != wanted:
        return [f"channel is {claim['channel']['state']}, expected {wanted}"]
    return []
