#!/usr/bin/env python3
"""What loading and planning a large policy costs: 1,000 grants over a tree of 300,000 files.

`aasm policy explain` loads a policy, resolves each of its paths, guards aasm's own files against each grant, probes
and plans, and starts no program. It is timed with a policy of five grants and with one of 1,000, in turn, over the
same tree; what the large one takes longer is loading and planning 995 grants more. The records that a run with each
policy leaves are counted. --instructions has valgrind count what each step takes of the large one (without a boundary,
which valgrind cannot be put into).

Usage: bench/plan.py [--runs N] [--files N] [--aasm FILE] [--instructions]
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET_MS = 50.0
RULES = 1000
SYSTEM = ["/usr", "/lib", "/lib64", "/bin"]
# What is printed of callgrind's totals: a step, and the function that is all of it.
STEPS = {"the whole command": "(below main)", "load": "aasm::planner::resolve_policy(", "  read YAML": "aasm::planner::parse_yaml(",
         "    yaml-cpp": "YAML::Parser::HandleNextDocument(", "  read the document, YAML included": "aasm::planner::decode_policy(",
         "  resolve and lower": "aasm::planner::lower_policy(", "  is there room in records": "aasm::schema::why_unrecordable",
         "guard and plan": "aasm::planner::select_and_negotiate(", "  guard our files": "aasm::planner::check_grants(",
         "  text and digest of the plan": "aasm::planner::plan_digest("}


def make_tree(root, files):
    folders = [root / f"part{n % 10}" / f"area{n % 100}" / f"item{n}" for n in range(RULES)]
    for number, folder in enumerate(folders):
        folder.mkdir(parents=True)
        for name in range(number * files // RULES, (number + 1) * files // RULES):
            (folder / str(name)).touch()
    return folders


def write_policy(path, folders):
    half = len(folders) // 2
    lists = {"read": SYSTEM + [str(f) for f in folders[:half]], "write": ["/dev/null"] + [str(f) for f in folders[half:]]}
    path.write_text("filesystem:\n" + "".join(
        f"  {name}:\n    allow:\n" + "".join(f"      - {entry}\n" for entry in entries) for name, entries in lists.items()))


def once_ms(aasm, policy, env):
    begin = time.perf_counter_ns()
    done = subprocess.run([aasm, "policy", "explain", "/etc/passwd", "--policy", str(policy)], env=env, check=True,
                          stdout=subprocess.PIPE, text=True)
    took = (time.perf_counter_ns() - begin) / 1e6
    if "a run now would be ready" not in done.stdout:
        sys.exit(done.stdout)
    return took


def records(aasm, policy, env):
    """How many records a run with the policy leaves, and how many of them hold policy and grants."""
    subprocess.run([aasm, "init"], env=env, check=True, stdout=subprocess.DEVNULL)
    subprocess.run([aasm, "run", "exec", "--policy", str(policy), "--", "/bin/true"], env=env, check=True)
    runs = json.loads(subprocess.run([aasm, "runs", "list", "--format", "json"], env=env, check=True, capture_output=True).stdout)
    shown = subprocess.run([aasm, "runs", "show", runs["runs"][0]["run"], "--format", "json"], env=env, check=True, capture_output=True)
    kinds = [record["kind"] for record in json.loads(shown.stdout)["records"]]
    return f"{len(kinds)} records, {kinds.count('policy.resolved')} policy.resolved, {kinds.count('control.prepared')} control.prepared"


def instructions(aasm, policy, env, folder):
    """Millions of instructions by step, of explaining (which guards) and of a dry run without a boundary (which plans)."""
    counted = {}
    for command in (["policy", "explain", "/etc/passwd"], ["run", "exec", "--dry-run", "--isolation", "none"]):
        program = ["--", "/bin/true"] if command[0] == "run" else []
        subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/callgrind", aasm, *command, "--policy",
                        str(policy), *program], env=env, check=True, capture_output=True)
        totals = subprocess.run(["callgrind_annotate", "--inclusive=yes", "--threshold=100", f"{folder}/callgrind"], check=True,
                                capture_output=True, text=True).stdout
        for step, function in STEPS.items():
            found = re.search(r"^ *([\d,]+) \(.*\)  \S*:" + re.escape(function), totals, re.MULTILINE)
            if found:
                counted.setdefault(step, int(found[1].replace(",", "")))
    for step in STEPS:
        print(f"  {step:36} {counted.get(step, 0) / 1e6:8.1f} M instructions")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--runs", type=int, default=25)
    parser.add_argument("--files", type=int, default=300000)
    parser.add_argument("--aasm", default=str(ROOT / "build/release/bin/aasm"))
    parser.add_argument("--instructions", action="store_true", help="count them by step, with valgrind")
    args = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="aasm-bench-", dir=os.environ.get("TMPDIR", "/var/tmp")))
    try:
        env = {"PATH": "/usr/bin:/bin", "AASM_HOME": str(folder / "home"), "LANG": "C"}
        folders = make_tree(folder / "tree", args.files)
        policies = {"5 grants": [], f"{RULES + 5} grants": folders}
        took = {name: [] for name in policies}
        for number, grants in enumerate(policies.values()):
            write_policy(folder / f"{number}.yaml", grants)
        left = {name: records(args.aasm, folder / f"{number}.yaml", env) for number, name in enumerate(policies)}
        for _ in range(args.runs):
            for number, name in enumerate(policies):
                took[name].append(once_ms(args.aasm, folder / f"{number}.yaml", env))
        if args.instructions:
            print(f"loading and planning {RULES + 5} grants:")
            instructions(args.aasm, folder / "1.yaml", env, folder)
    finally:
        shutil.rmtree(folder)
    for name, values in took.items():
        print(f"{name:12} over {args.files} files: median {statistics.median(values):7.2f} ms   min {min(values):7.2f} ms; a run leaves {left[name]}")
    few, many = took.values()
    more = statistics.median(m - f for f, m in zip(few, many, strict=True))
    least = min(many) - min(few)
    print(f"loading and planning {RULES} grants more: {more:.2f} ms at the median, {least:.2f} ms between the quickest of "
          f"both; target {TARGET_MS} ms, {'met' if more <= TARGET_MS else 'MISSED'} at the median")


if __name__ == "__main__":
    main()
