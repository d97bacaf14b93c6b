"""What the types of the fields do not say: the checks of schema/src/record*.cc as JSON Schema.

RULES[struct] has keywords that are added to the struct's schema. COMMENTS[struct] lists the checks
that a schema cannot make. tests/schema holds both against the reader: it must refuse what a schema
refuses, and what only the reader refuses must be one of COMMENTS.
"""


def fields(**schemas):
    return {"properties": schemas}


def when(condition, then, otherwise=None):
    rule = {"if": condition, "then": then}
    if otherwise is not None:
        rule["else"] = otherwise
    return rule


def is_one_of(field, *words):
    """The field is there and is one of the words: `required`, or an absent field would match."""
    return {"properties": {field: {"const": words[0]} if len(words) == 1 else {"enum": list(words)}}, "required": [field]}


def absent(*names):
    return {"not": {"anyOf": [{"required": [name]} for name in names]}}


def present(*names):
    return {"required": list(names)}


FILLED = {"minLength": 1}
EMPTY_TEXT = {"maxLength": 0}
FILLED_LIST = {"minItems": 1}
EMPTY_LIST = {"maxItems": 0}
COUNT = {"minimum": 0}
FROM_ONE = {"minimum": 1}

RULES = {
    "LedgerCreated": [fields(format={"const": "ledger/1"}, checkpoint_every={"minimum": 1, "maximum": 256},
                             host=fields(purpose={"const": "host"}), log=fields(purpose={"const": "log"}))],
    "RunOpened": [fields(arg_count=COUNT, claims_rules=FILLED, identity=fields(agent_id=FILLED))],
    "ProcessStarted": [
        fields(pid=FROM_ONE),
        when(is_one_of("exe_read", "at_exec_stop"),
             {**present("exe_digest"), **fields(exe_not_read_reason=EMPTY_TEXT)},
             {**absent("exe_digest"), **fields(exe_not_read_reason=FILLED)})],
    "ProcessExited": [
        fields(status={"minimum": 0, "maximum": 255}, signal={"minimum": 1, "maximum": 64}, descendants_killed=COUNT),
        {"oneOf": [present("status"), present("signal")]}],
    "ChannelTotals": [
        fields(events=COUNT, actions=COUNT, dropped=COUNT, nested_filter_event=FROM_ONE),
        when(is_one_of("present", False), fields(opened={"const": False}, closed={"const": False}, events={"maximum": 0})),
        when(is_one_of("closed", True), fields(opened={"const": True}))],
    "WitnessedDenial": [fields(blockers=FILLED, count=FROM_ONE)],
    "WitnessReported": [
        fields(before_start=COUNT, heard=COUNT, counted=COUNT, lost=COUNT, overruns=COUNT, unlisted=COUNT),
        when(is_one_of("state", "unavailable"), fields(reason=FILLED),
             fields(reason=EMPTY_TEXT, before_start=FROM_ONE, domains=FILLED_LIST))],
    "RunClosed": [
        fields(records=FROM_ONE),
        when(is_one_of("ending", "refused", "prepare_failed", "canary_failed", "self_protection_failed", "exec_failed"),
             fields(program_started={"const": False})),
        when(is_one_of("ending", "finished"), fields(program_started={"const": True}))],
    "Selector": [when(is_one_of("type", "whole"), fields(value=EMPTY_TEXT | {"type": "string"}),
                      fields(value={"not": {"const": ""}}))],
    "PolicyRule": [fields(id=FILLED, operation=FILLED, line=FROM_ONE, column=FROM_ONE),
                   when(present("column"), present("line"))],
    "Requirement": [fields(default_rule=FILLED, on_denial={"const": "kill"}),
                    when(present("on_denial"), fields(domain={"const": "network_egress"}))],
    "PolicyResolved": [
        fields(on_denial={"enum": ["errno", "kill"]}, part=FROM_ONE, parts={"minimum": 2}),
        when(present("part"), present("parts"), absent("parts")),
        when(is_one_of("state", "load_failed"), fields(error=FILLED), fields(error=EMPTY_TEXT)),
        when(present("scope"), present("extends"), absent("extends")),
        fields(extends={"minItems": 1, "maxItems": 4}),
        when(is_one_of("state", "enforced", "permissive"), present("document"),
             {**fields(requirements=EMPTY_LIST), **absent("extends")})],
    "DomainCapability": [
        when(is_one_of("support", "unsupported"),
             fields(reason=FILLED, mediation={"const": "none"}, timing={"const": "none"}, synchrony={"const": "none"})),
        when(is_one_of("support", "partial"), fields(limitations=FILLED_LIST)),
        when(is_one_of("support", "full"), fields(limitations=EMPTY_LIST))],
    "CapabilityProbed": [
        when(is_one_of("available", True), fields(unavailable_reason=EMPTY_TEXT), fields(unavailable_reason=FILLED)),
        when(present("reference"), fields(domains=EMPTY_LIST))],
    "RequirementOutcome": [
        when(is_one_of("kind", "degraded", "unmet"), present("reason"), absent("reason")),
        when(is_one_of("kind", "degraded"), fields(planned=FILLED, achieved=FILLED))],
    "PlanResolved": [
        when(is_one_of("requested", "none"), {**absent("backend"), **fields(posture={"const": "unconfined"})},
             {**present("backend"), **fields(posture={"not": {"const": "unconfined"}})}),
        when(is_one_of("posture", "ready"), fields(outcomes={"items": fields(kind={"not": {"const": "degraded"}})}))],
    "Refusal": [
        fields(detail=FILLED, fix=FILLED),
        when(is_one_of("launch", "requirement_unmet"), present("domain", "reason"), absent("domain")),
        when(is_one_of("launch", "requirement_unmet", "backend_unavailable"), {}, absent("reason")),
        when(is_one_of("launch", "backend_unavailable"), fields(reason={"const": "prerequisite_unsatisfied"}))],
    "PlanRefused": [fields(refusals=FILLED_LIST)],
    "InheritedDescriptor": [fields(number=COUNT)],
    "AmbientAuthority": [
        fields(removed=COUNT, delegated=COUNT, ambient_unremoved=COUNT, sensitive_unlisted=COUNT, descriptors_unlisted=COUNT),
        when(is_one_of("descriptors_listed", False), fields(descriptors=EMPTY_LIST, descriptors_unlisted={"const": 0}))],
    "Control": [when(is_one_of("installed", True), fields(errno={"const": 0}))],
    "ControlPrepared": [fields(part=FROM_ONE, parts=FROM_ONE)],
    "BoundaryProved": [fields(part=FROM_ONE, parts=FROM_ONE)],
    "EventObject": [
        when(is_one_of("type", "syscall"), present("number"), absent("number")),
        when(is_one_of("type", "path"), present("path"), absent("path", "given_path", "new_path", "device", "inode")),
        when(present("device"), present("inode"), absent("inode")),
        when(is_one_of("type", "unlisted"), fields(name=EMPTY_TEXT, arch=EMPTY_TEXT)),
        when(is_one_of("type", "address"), present("address", "port", "protocol", "address_class"),
             absent("address", "port", "protocol", "address_class")),
        when(present("query"), is_one_of("type", "name"), absent("answers")),
        fields(address=FILLED, protocol=FILLED, port={"minimum": 0, "maximum": 65535}, query=FILLED,
               answers={"items": FILLED})],
    "Event": [
        fields(number=FROM_ONE, count=FROM_ONE, pids=FROM_ONE, operation=FILLED, mechanism=FILLED),
        when({"not": is_one_of("cause", "fault")}, fields(rule=FILLED)),
        when(is_one_of("parents_truncated", True), fields(parents=FILLED_LIST))],
    "EventBatch": [fields(first=FROM_ONE, dropped=COUNT, events={"maxItems": 512})],
    "KeyRotated": [
        fields(purpose={"enum": ["host", "log"]}),
        when(is_one_of("purpose", "log"), present("old_signature"), absent("old_signature"))],
    "KeyReplaced": [fields(certificate=fields(purpose={"enum": ["host", "log"]}))],
}

# The text before the colon is what the reader says when it refuses for this.
COMMENTS = {
    "ChannelTotals": ["fewer actions than events: actions >= events",
                      "a nested filter past the last event: nested_filter_event <= events"],
    "PolicyResolved": ["two requirements on one domain: no domain twice in requirements",
                       "two documents of one scope: no scope twice in scope and extends",
                       "a part past the last: part <= parts"],
    "CapabilityProbed": ["two reports on one domain: no domain twice in domains"],
    "PlanResolved": ["two outcomes for one domain: no domain twice in outcomes"],
    "AmbientAuthority": ["inherited descriptors are not ascending: the numbers of descriptors rise"],
    "ControlPrepared": ["a part past the last: part <= parts"],
    "BoundaryProved": ["a part past the last: part <= parts"],
    "WitnessReported": ["more denials listed than heard: the counts of denials and unlisted are not above heard",
                        "fewer denials listed than heard: nor below"],
    "Event": ["more processes than actions: pids <= count"],
    "EventBatch": ["event numbers are not contiguous: the events count on from first without a gap"],
}
BYTES_COMMENT = "\"b64\" holds UTF-8, which is written plain: b64 never holds bytes that are UTF-8"
