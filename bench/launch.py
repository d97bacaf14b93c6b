#!/usr/bin/env python3
"""What a launch costs: `aasm run exec -- PROG` beside a plain exec of PROG, in one run.

Things are timed in turn, again and again, so that a machine whose speed drifts drifts for all: a
plain start of the program, one in bwrap where that runs, two SQLite commits (WAL, synchronous=FULL) of as many bytes as a
short run records, and a whole confined run with every record written. Prints median and p99 of each,
the phases of a run, and how far the target is met:

    plain start + two commits + 3 ms

The phases add up to the run. aasm reports those from `setup` (its options are about to be read) to
`commit_after` (the last commit is durable); `load` is what comes before (exec, dynamic linker) with
the report made in between, and `end` is what comes after the status line (the ledger closed, the
process gone), seen from here. Give --aasm several times to compare builds run by run.

What remains, for /usr/bin/true. Instructions outside the kernel, by callgrind, which cannot follow a
run past the start of the helper:

    start of the process                0.3 M    10,000 relative relocations, static initialisers
    options                             0.3 M    the option library
    opening the ledger                  4.3 M    one Ed25519 verification 1.7 M, two public keys made
                                                 from their seeds 1.0 M, SQLite schema and statements
    beside it, gathering and planning   4.0 M    an earlier probe read back 2.5 M, YAML 0.6 M
    decisions staged                    0.9 M    the run key made, bodies checked
    a record sealed                     0.6 M    for the signature alone, and 30 to 40 a byte

A run seals nine records and a checkpoint: four records while the boundary is prepared, by the store
thread, that of 10 KB which tells what is installed while the canaries run, and that of 10 KB which
tells of the canaries after that, on the way to the exec. Besides aasm the kernel starts two processes
and two threads and loads three programs. About 1,250 system calls, 460 page faults and three syncs
of the ledger a run (six when the WAL is folded, every sixth run or so). bench/README.md has what was
measured.

Usage: bench/launch.py [--runs N] [--aasm FILE]... [-- PROG ARGS...]
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

import boundary

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


def wait_ok(pid, argv):
    _, status = os.waitpid(pid, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"{argv[:3]}: ended with {os.waitstatus_to_exitcode(status)}")


def plain_ms(argv, env):
    begin = time.perf_counter_ns()
    wait_ok(os.posix_spawn(argv[0], argv, env), argv)
    return (time.perf_counter_ns() - begin) / 1e6


def phases_of(line):
    return {key.removesuffix("_us"): int(value) / 1000 for key, value in
            (field.split("=", 1) for field in line.split()[1:]) if key.endswith("_us")}


def confined_ms(aasm, arguments, env):
    """Runs `aasm run exec` and returns (milliseconds, {phase: milliseconds}), which add up."""
    read_end, write_end = os.pipe()
    os.set_inheritable(write_end, True)
    full = [aasm, "run", "exec", "--status-fd", str(write_end), *arguments]
    begin = time.perf_counter_ns()
    pid = os.posix_spawn(full[0], full, env)
    os.close(write_end)
    with os.fdopen(read_end) as stream:
        line = stream.readline()
        reported = time.perf_counter_ns()
    wait_ok(pid, full)
    end = time.perf_counter_ns()
    took = (end - begin) / 1e6
    phases = {"load": 0.0, **phases_of(line), "end": (end - reported) / 1e6}
    phases["load"] = took - sum(phases.values())
    return took, phases


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


def recorded_bytes(ledger):
    with sqlite3.connect(f"file:{ledger}?mode=ro", uri=True) as db:
        return db.execute("SELECT sum(length(payload)+160) FROM records").fetchone()[0]


class Build:
    """One aasm with a home of its own, and what its runs took."""

    def __init__(self, aasm, folder, program):
        self.aasm = aasm
        policy = folder / "policy.yaml"
        policy.write_text(POLICY)
        self.env = {"PATH": "/usr/bin:/bin", "AASM_HOME": str(folder / "home"), "LANG": "C"}
        subprocess.run([aasm, "init"], env=self.env, check=True, stdout=subprocess.DEVNULL)
        self.arguments = ["--policy", str(policy), "--"] + program
        self.ledger = folder / "home/ledger.db"
        self.whole, self.over, self.phases = [], [], {}

    def recorded_by_a_run(self):
        before = recorded_bytes(self.ledger)
        confined_ms(self.aasm, self.arguments, self.env)
        return recorded_bytes(self.ledger) - before

    def once(self, plain, two):
        took, phases = confined_ms(self.aasm, self.arguments, self.env)
        self.whole.append(took)
        self.over.append(took - plain - two)
        for key, value in phases.items():
            self.phases.setdefault(key, []).append(value)

    def report(self):
        row(f"{self.aasm[-18:]} run exec", self.whole)
        for key, values in self.phases.items():
            row("  " + key, values)
        row("over plain + two commits", self.over)
        met = statistics.median(self.over) <= TARGET_EXTRA_MS
        print(f"target: at most {TARGET_EXTRA_MS} ms over; {'met' if met else 'MISSED'} at the median, "
              f"{sum(o <= TARGET_EXTRA_MS for o in self.over)} of {len(self.over)} runs")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--aasm", action="append")
    parser.add_argument("program", nargs="*", default=["/usr/bin/true"])
    args = parser.parse_args()

    folder = pathlib.Path(tempfile.mkdtemp(prefix="aasm-bench-", dir=os.environ.get("TMPDIR", "/var/tmp")))
    try:
        builds = []
        for number, aasm in enumerate(args.aasm or [str(ROOT / "build/release/bin/aasm")]):
            (folder / str(number)).mkdir()
            builds.append(Build(aasm, folder / str(number), args.program))
            # The first run measures the host and hashes the binary; later ones refer to it.
            first = builds[-1].recorded_by_a_run()
            builds[-1].recorded_by_a_run()
            per_run = builds[-1].recorded_by_a_run()
            print(f"{aasm}: a first run recorded {first} bytes, a later one {per_run}")
        commits = Commits(folder, per_run * 4 // 5, per_run // 5)
        beside = boundary.in_bwrap(*args.program)
        plain, two, other = [], [], []
        for number in range(args.runs):
            plain.append(plain_ms(args.program, builds[0].env))
            two.append(commits.once_ms())
            if beside:
                other.append(plain_ms(beside, builds[0].env))
            # Whoever comes first has the best of it: what the one before left to the kernel is done.
            first = number % len(builds)
            for build in builds[first:] + builds[:first]:
                build.once(plain[-1], two[-1])
    finally:
        shutil.rmtree(folder)

    row("plain start", plain)
    row("two commits", two)
    if other:
        row("a start in bwrap", other)
    for build in builds:
        build.report()
    return 0


if __name__ == "__main__":
    sys.exit(main())
