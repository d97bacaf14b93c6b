#!/usr/bin/env python3
"""What loading and planning a large policy costs: 1,000 grants over a tree of 300,000 files.

`aasm policy explain` loads a policy, resolves each of its paths, guards aasm's own files against each grant, probes
and plans, and starts no program. It is timed with a policy of five grants and with one of 1,000, in turn, over the
same tree; what the large one takes longer is loading and planning 995 grants more. Instructions (callgrind, Debian 12,
1,000 grants of 30 bytes): the YAML library 45 M, reading the document 10 M, resolving and lowering 18 M.

Usage: bench/plan.py [--runs N] [--files N] [--aasm FILE]
"""

import argparse
import os
import pathlib
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


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--runs", type=int, default=25)
    parser.add_argument("--files", type=int, default=300000)
    parser.add_argument("--aasm", default=str(ROOT / "build/release/bin/aasm"))
    args = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="aasm-bench-", dir=os.environ.get("TMPDIR", "/var/tmp")))
    try:
        env = {"PATH": "/usr/bin:/bin", "AASM_HOME": str(folder / "home"), "LANG": "C"}
        folders = make_tree(folder / "tree", args.files)
        policies = {"5 grants": [], f"{RULES + 5} grants": folders}
        took = {name: [] for name in policies}
        for number, grants in enumerate(policies.values()):
            write_policy(folder / f"{number}.yaml", grants)
        for _ in range(args.runs):
            for number, name in enumerate(policies):
                took[name].append(once_ms(args.aasm, folder / f"{number}.yaml", env))
    finally:
        shutil.rmtree(folder)
    for name, values in took.items():
        print(f"{name:12} over {args.files} files: median {statistics.median(values):7.2f} ms   min {min(values):7.2f} ms")
    few, many = took.values()
    more = statistics.median(m - f for f, m in zip(few, many, strict=True))
    least = min(many) - min(few)
    print(f"loading and planning {RULES} grants more: {more:.2f} ms at the median, {least:.2f} ms between the quickest of "
          f"both; target {TARGET_MS} ms, {'met' if more <= TARGET_MS else 'MISSED'} at the median")


if __name__ == "__main__":
    main()
