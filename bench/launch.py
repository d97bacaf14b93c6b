#!/usr/bin/env python3
"""What a launch costs: `aasm run exec -- PROG` beside a plain exec of PROG, in one run.

Three things are timed in turn, again and again, so that a machine whose speed drifts drifts for
all: a plain start of the program, two SQLite commits (WAL, synchronous=FULL) of as many bytes as a
short run records, and a whole confined run with every record written. Prints median and p99 of each,
the phases that aasm itself reports, and how far the target is met:

    plain start + two commits + 3 ms

Usage: bench/launch.py [--runs N] [--aasm FILE] [-- PROG ARGS...]
"""

import argparse
import os
import pathlib
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET_EXTRA_MS = 3.0
POLICY = """apiVersion: agent-assembly/v1
kind: Policy
spec:
  filesystem:
    read: { allow: [/usr, /lib, /lib64, /bin, /etc] }
    write: { allow: [/dev/null] }
  syscalls: { allow: ["@default"] }
  credentials: { environment: { allow: [PATH, LANG] } }
"""


def spawn_ms(argv, env, status_pipe=False):
    """Starts argv, waits for it, and returns (milliseconds, text of the status pipe)."""
    text = ""
    begin = time.perf_counter_ns()
    if status_pipe:
        read_end, write_end = os.pipe()
        os.set_inheritable(write_end, True)
        full = [argv[0], "run", "exec", "--status-fd", str(write_end)] + argv[1:]
        pid = os.posix_spawn(full[0], full, env)
        os.close(write_end)
        with os.fdopen(read_end) as stream:
            text = stream.read()
    else:
        pid = os.posix_spawn(argv[0], argv, env)
    _, status = os.waitpid(pid, 0)
    took = (time.perf_counter_ns() - begin) / 1e6
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"{argv[:3]}: ended with {os.waitstatus_to_exitcode(status)}")
    return took, text


class Commits:
    """Two commits of the bytes of a short run, on the file system that holds the ledger."""

    def __init__(self, folder, before_bytes, after_bytes):
        self.db = sqlite3.connect(folder / "commits.db", isolation_level=None)
        self.db.execute("PRAGMA journal_mode=WAL")
        self.db.execute("PRAGMA synchronous=FULL")
        self.db.execute("CREATE TABLE rows(data BLOB)")
        self.rows = (os.urandom(before_bytes), os.urandom(after_bytes))

    def once_ms(self):
        begin = time.perf_counter_ns()
        for row in self.rows:
            self.db.execute("BEGIN IMMEDIATE")
            self.db.execute("INSERT INTO rows VALUES(?)", (row,))
            self.db.execute("COMMIT")
        return (time.perf_counter_ns() - begin) / 1e6


def quantile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def row(name, values):
    print(f"{name:26} median {statistics.median(values):8.3f} ms   p99 {quantile(values, 0.99):8.3f} ms"
          f"   min {min(values):8.3f} ms")


def phases_of(line):
    return {key: int(value) for key, value in
            (field.split("=", 1) for field in line.split()[1:]) if key.endswith("_us")}


def recorded_bytes(ledger):
    with sqlite3.connect(f"file:{ledger}?mode=ro", uri=True) as db:
        return db.execute("SELECT sum(length(payload)+160) FROM records").fetchone()[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--aasm", default=str(ROOT / "build/release/bin/aasm"))
    parser.add_argument("program", nargs="*", default=["/usr/bin/true"])
    args = parser.parse_args()

    folder = pathlib.Path(tempfile.mkdtemp(prefix="aasm-bench-", dir=os.environ.get("TMPDIR", "/var/tmp")))
    try:
        policy = folder / "policy.yaml"
        policy.write_text(POLICY)
        env = {"PATH": "/usr/bin:/bin", "AASM_HOME": str(folder / "home"), "LANG": "C"}
        subprocess.run([args.aasm, "init"], env=env, check=True, stdout=subprocess.DEVNULL)
        confined = [args.aasm, "--policy", str(policy), "--"] + args.program
        before = recorded_bytes(folder / "home/ledger.db")
        spawn_ms(confined, env, True)  # the first run measures the host; later ones refer to it
        size = recorded_bytes(folder / "home/ledger.db")
        spawn_ms(confined, env, True)
        per_run = recorded_bytes(folder / "home/ledger.db") - size
        print(f"a first run recorded {size - before} bytes, a later one {per_run}")
        commits = Commits(folder, per_run * 4 // 5, per_run // 5)

        plain, two, whole, phases = [], [], [], {}
        for _ in range(args.runs):
            plain.append(spawn_ms(args.program, env)[0])
            two.append(commits.once_ms())
            took, line = spawn_ms(confined, env, True)
            whole.append(took)
            for key, value in phases_of(line).items():
                phases.setdefault(key, []).append(value / 1000)
    finally:
        shutil.rmtree(folder)

    row("plain start", plain)
    row("two commits", two)
    row("aasm run exec", whole)
    for key, values in phases.items():
        row("  " + key.removesuffix("_us"), values)
    over = [w - p - t for w, p, t in zip(whole, plain, two)]
    row("over plain + two commits", over)
    met = statistics.median(over) <= TARGET_EXTRA_MS
    print(f"target: at most {TARGET_EXTRA_MS} ms over; {'met' if met else 'MISSED'} at the median, "
          f"{sum(o <= TARGET_EXTRA_MS for o in over)} of {len(over)} runs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
