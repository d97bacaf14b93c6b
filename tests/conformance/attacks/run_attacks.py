#!/usr/bin/env python3
"""Makes every attack of scenarios/*.json without the boundary and, at three depths, inside it.

usage: run_attacks.py [--family NAME,...] [--only TEXT] [--jobs N] [--one-depth] [--verbose]
       run_attacks.py --check-names        compares the data with scenario-names.txt and cases.json

Needs AASM and ATTACK_PROBE in the environment. Exit status: 0 as expected, 1 not, 2 usage.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import sys
import threading

HERE = pathlib.Path(__file__).resolve().parent
DEPTHS = ("child", "grandchild", "daemon")


def load(families=()):
    scenarios = {}
    for file in sorted((HERE / "scenarios").glob("*.json")):
        if families and file.stem not in families:
            continue
        for name, scenario in json.loads(file.read_text(encoding="utf-8")).items():
            scenarios[f"{file.stem}.{name}"] = scenario
    return scenarios


def line_of(name, scenario):
    return " ".join([name, *scenario.get("needs", [])])


def check_names():
    wanted = (HERE / "scenario-names.txt").read_text(encoding="utf-8").splitlines()
    measured = sorted(line_of(name, scenario) for name, scenario in load().items())
    for line in sorted(set(wanted) ^ set(measured)):
        print(f"{'only in scenario-names.txt' if line in wanted else 'not in scenario-names.txt'}: {line}")
    if wanted != sorted(wanted):
        print("scenario-names.txt is not sorted")
    unanswered = check_cases()
    print(f"{len(measured)} scenarios")
    return 0 if wanted == measured and not unanswered else 1


def check_cases():
    """Each case of cases.json has a scenario that names it, or a test, and the tests are there."""
    named = {str(case) for scenario in load().values() for case in scenario.get("cases", [])}
    found = []
    for case, tests in json.loads((HERE / "cases.json").read_text(encoding="utf-8")).items():
        if not tests and case not in named:
            found.append(f"case {case} has neither scenario nor test")
        for test in tests:
            path, _, name = test.partition("::")
            file = HERE.parents[2] / path
            if not file.is_file() or name not in file.read_text(encoding="utf-8"):
                found.append(f"case {case}: no {test}")
    for line in found:
        print(line)
    return found


class Runner:
    def __init__(self, options):
        import conditions
        import judge
        import trial
        import world
        self.conditions, self.judge, self.trial = conditions, judge, trial
        self.shared = world.Shared()
        self.options = options
        self.lock = threading.Lock()

    def say(self, text):
        with self.lock:
            print(text, flush=True)

    def complaints(self, name, scenario):
        found = []
        control = scenario.get("control", "")
        if isinstance(control, dict):
            self.say(f"-- no control: {name}: {control['none']}")
        else:
            found += self.judge.judge_control(scenario, self.trial.run_control(self.shared, scenario))
        depths = scenario.get("depths", DEPTHS)
        for depth in depths[-1:] if self.options.one_depth else depths:
            seen = self.trial.run_inside(self.shared, scenario, depth)
            found += [f"{depth}: {text}" for text in self.judge.judge_inside(scenario, seen, depth)]
            if self.options.verbose:
                self.say(f"   {name} {depth}: {seen.outcome} {seen.status} {seen.output[:200]!r}")
        return found

    def run(self, name, scenario):
        """"passed", "impossible" or "failed"."""
        lacking = [reason for reason in map(self.conditions.lacks, scenario.get("needs", [])) if reason]
        if lacking:
            self.say(f"-- impossible on this host: {name}: {'; '.join(lacking)}")
            return "impossible"
        try:
            found = self.complaints(name, scenario)
        except Exception as error:  # a fault of the harness fails the scenario and not the others
            found = [f"the harness: {type(error).__name__}: {error}"]
        self.say(f"{'FAILED' if found else 'ok'} {name}")
        for text in found:
            self.say(f"     {text}")
        return "failed" if found else "passed"


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--family", default="")
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--one-depth", action="store_true", help="only the furthest from the program")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--check-names", action="store_true")
    options = parser.parse_args(arguments)
    if options.check_names:
        return check_names()
    chosen = {name: scenario for name, scenario in load(tuple(filter(None, options.family.split(",")))).items()
              if options.only in name}
    runner = Runner(options)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda item: runner.run(*item), chosen.items()))
    count = {word: results.count(word) for word in ("passed", "impossible", "failed")}
    print(f"{len(results)} scenarios: " + ", ".join(f"{number} {word}" for word, number in count.items()))
    # Who ran none at all must not look like who ran them well.
    return 0 if count["passed"] and not count["failed"] else 1


if __name__ == "__main__":
    os.umask(0o022)
    sys.exit(main(sys.argv[1:]))
