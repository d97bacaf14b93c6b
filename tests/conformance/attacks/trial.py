"""One attempt, made once: without the boundary, or inside it. Both end in what was seen of it."""

import contextlib
import dataclasses
import json
import os
import re
import subprocess
import time

import effects
import stage as stages
import world

ATTEMPT = re.compile(r"^attempt (\S+) (ok|refused) (\S+) pid (\d+) parents (\S+)$", re.MULTILINE)


@dataclasses.dataclass
class Seen:
    status: int = 0
    errors: str = ""
    output: str = ""
    outcome: str = ""          # "0" or the name of an errno; empty when the attempt said nothing
    pid: int = 0               # of the process that made the attempt
    parents: tuple = ()
    warden: int = 0
    places: dict = dataclasses.field(default_factory=dict)
    happened: bool = False
    timed_out: bool = False
    disturbed: tuple = ()      # what changed outside
    records: list = dataclasses.field(default_factory=list)
    report: dict = dataclasses.field(default_factory=dict)
    verified: str = ""
    capabilities: dict = dataclasses.field(default_factory=dict)

    def bodies(self, kind):
        return [record["body"] for record in self.records if record["kind"] == kind]

    def events(self):
        return [event for batch in self.bodies("decision.batch") for event in batch["events"]]


def watch(stage, command, supervised, patience=0.0):
    """Starts the command, looks at the effect while everybody lives, and lets it end."""
    effect = effects.Effect(stage.scenario.get("effect", "result"))
    effect.before(stage.places)
    process = stage.world.start(command, **stage.options())
    process.read_until("held\n")
    if supervised:
        stage.know(process.pid)
    lines = ATTEMPT.findall(process.output)
    seen = Seen(warden=int(stage.places.get("warden", 0)), places=stage.places)
    if lines:
        # An attempt may start a program that tells of an attempt too; the last line is its own.
        seen.outcome = lines[-1][2]
        seen.pid = int(lines[-1][3])
        seen.parents = tuple(int(pid) for pid in lines[-1][4].split(","))
    # A signal that was sent needs a moment; one that was refused never comes.
    end = time.monotonic() + patience
    while not seen.happened and effect.kind not in ("none", "outlives"):
        seen.happened = effect.happened(stage.places, process.output, seen.outcome == "0")
        if seen.happened or time.monotonic() > end:
            break
        time.sleep(0.01)
    seen.status = process.end()
    if effect.kind == "outlives":
        seen.happened = bool(effects.left_behind(process.output))
    seen.output, seen.errors, seen.timed_out = process.output, process.errors, process.timed_out
    return seen


def run_control(shared, scenario):
    """The same attempt with the boundary removed. With "control": "unconfined_run" aasm runs it with
    --isolation none; else the probe runs by itself, as the same user, against the same things. Where
    these are of a run, a confined one is waiting beside it."""
    stage = stages.Stage(shared, scenario)
    try:
        if scenario.get("control") == "unconfined_run":
            command = stage.world.command(stage.words(inside=True), options=("--isolation", "none"), hold=True)
            return watch(stage, command, supervised=True, patience=15.0)
        if stage.names("supervisor", "warden") or scenario.get("control") == "beside_a_run":
            stage.target_idle()
        return watch(stage, stage.world.probe_command(stage.words(inside=False), hold=True), supervised=False, patience=15.0)
    finally:
        stage.close()


def protected(stage):
    """What no attempt may change: everything outside the workspace but what aasm itself writes."""
    home = stage.world.home
    found = {**effects.of_tree(stage.world.outside), **effects.of_tree(stage.world.ro),
             **effects.of_tree(home / "keys"), "policy": effects.of_file(stage.world.policy)}
    for name in ("trust", "trust.keys", "canary"):
        found[name] = effects.of_file(home / name) if name != "canary" else effects.identity(home / name)
    for name in ("", "ledger.db", "heads"):
        found[name or "home"] = effects.identity(home / name)
    return found


def run_inside(shared, scenario, depth):
    stage = stages.Stage(shared, scenario)
    try:
        words = [str(shared.probe) if word == "probe" else word for word in stage.words(inside=True)]
        command = stage.world.command(words, depth, tuple(scenario.get("options", ())), hold=True)
        before = protected(stage)
        seen = watch(stage, command, supervised=True)
        after = protected(stage)
        seen.disturbed = tuple(sorted(key for key in before.keys() | after.keys() if before.get(key) != after.get(key)))
        make_readable(stage)
        read_evidence(stage, seen)
        return seen
    finally:
        stage.close()


def make_readable(stage):
    """An attempt that took the modes of aasm's files away is judged by them; the verifier has to read them."""
    for path, mode in ((stage.world.home, 0o700), (stage.world.home / "ledger.db", 0o600),
                       (stage.world.home / "keys", 0o700)):
        with contextlib.suppress(FileNotFoundError):
            os.chmod(path, mode)


def ask(stage, *words):
    done = subprocess.run([world.AASM, *words, "--format", "json"], env=stage.world.env, capture_output=True, text=True,
                          check=False, timeout=world.PATIENCE_S)
    try:
        return json.loads(done.stdout)
    except json.JSONDecodeError:
        return {"error": done.stdout + done.stderr}


def read_evidence(stage, seen):
    listed = ask(stage, "runs", "list").get("runs", [])
    program = [run for run in listed if run["ending"] != "finished" or run["opened_seq"] > 1]
    if not program:
        return
    newest = max(program, key=lambda run: run["opened_seq"])
    seen.records = ask(stage, "runs", "show", newest["run"]).get("records", [])
    verified = ask(stage, "verify", "--run", newest["run"])
    seen.verified = verified.get("verdict", str(verified)[:500])
    for run in verified.get("runs", {}).get("newest", []):
        seen.report = run.get("report", {})
    seen.capabilities = capabilities_of(stage, seen, listed)


def capabilities_of(stage, seen, listed):
    """The measured capabilities that this run's own records name, by domain."""
    [probed] = seen.bodies("capability.probed") or [{}]
    wanted = probed.get("reference", {}).get("seq")
    for run in listed if wanted is not None else []:
        for record in ask(stage, "runs", "show", run["run"]).get("records", []):
            probed = record["body"] if record["seq"] == wanted else probed
    return {domain["domain"]: domain for domain in probed.get("domains", [])}
