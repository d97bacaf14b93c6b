"""Shared by the crash walks: kills one process of a command at a stated system call and looks at what is left.

`crash_step` (tests/support/crash_step.cc) does the killing. The long form, AASM_EVERY_CRASH=1, kills
at every call that the process makes (=5: at every fifth); the short form takes some of those around
which files, locks and relatives change.
"""

import json
import os
import re
import subprocess

import aasm_case

CRASH_STEP = os.environ.get("AASM_CRASH_STEP", "")
EVERY = int(os.environ.get("AASM_EVERY_CRASH", "0"))

# Stated: how long somebody of the tree may outlive the process that was killed. The warden needs
# milliseconds; the rest is for busy machines.
GONE_MS = 10_000

ATTEMPTS = 5  # at a point that a run may end before

# System calls of x86_64 that leave a trace on disk or among processes.
CHANGES = {1: "write", 18: "pwrite64", 46: "sendmsg", 44: "sendto", 56: "clone", 59: "execve", 62: "kill", 73: "flock",
           74: "fsync", 75: "fdatasync", 77: "ftruncate", 82: "rename", 83: "mkdir", 87: "unlink", 258: "mkdirat",
           263: "unlinkat", 264: "renameat", 285: "fallocate", 316: "renameat2", 317: "seccomp", 322: "execveat",
           435: "clone3", 438: "pidfd_getfd", 446: "landlock_restrict_self"}
RENAMES = (82, 264, 316)

# A small file that was about to be renamed over another: nothing reads it, and the next one of its name takes it over.
LEFTOVER = re.compile(r"^(digests|(heads|runs|probes)/[^/]*)\.new$")


class CrashCase(aasm_case.AasmCase):
    """step() kills; points() says where. A home serves some crashes, then a new one is made."""

    HOME_LASTS = 20
    COUNTED = ()

    def setUp(self):
        if not CRASH_STEP:
            self.skipTest("crash_step is written for x86_64")
        self.initialise = False
        super().setUp()
        self.scratch = self.root / "tmp"
        self.scratch.mkdir(mode=0o777)
        self.env["TMPDIR"] = str(self.scratch)
        self.homes = 0
        self.new_home()

    def new_home(self):
        self.homes += 1
        self.home = self.root / f"home{self.homes}"
        self.env["AASM_HOME"] = str(self.home)
        self.crashes = 0
        self.verified = None  # what verify said last, while it holds

    def ready_home(self):
        """A home with a run, so that the next one finds its probe."""
        self.new_home()
        self.ok("init", "--org", "test.example")
        self.assertEqual(self.sh("exit 0").returncode, 0)

    def step(self, victim, *command, at=0, helper=1):
        """Runs `aasm command...`; kills the victim at its at-th call, of those in COUNTED if any are, or lists its calls for 0."""
        self.verified = None
        report = self.root / "crash.txt"
        how = ["--list"] if at == 0 else ["--at", str(at)]
        how += [word for call in self.COUNTED for word in ("--only", str(call))]
        done = subprocess.run([CRASH_STEP, "--report", report, "--victim", victim, "--helper", str(helper), *how, "--",
                               aasm_case.AASM, *map(str, command)],
                              env=self.env, cwd=self.work, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        first, calls = report.read_text().splitlines()
        seen = {key: int(value) for key, value in (word.split("=") for word in first.split())}
        seen["list"] = [int(call) for call in calls.split()]
        seen["stderr"] = done.stderr
        return seen

    @staticmethod
    def points(calls, some):
        """Where to kill: before and behind what changes something, `some` of them spread evenly, and behind each
        rename; or everywhere."""
        if aasm_case.SANITIZED:  # several times slower, and the order of calls is that of any other build
            some = max(2, some // 2)
        if EVERY:
            return range(1, len(calls) + 1, EVERY)
        around = sorted({at + more for at, call in enumerate(calls[:-1], 1) if call in CHANGES for more in (0, 1)})
        around = around or list(range(1, len(calls) + 1))
        behind_renames = {at + 1 for at, call in enumerate(calls[:-1], 1) if call in RENAMES}
        return sorted({around[number * (len(around) - 1) // (some - 1)] for number in range(some)} | behind_renames)

    def walk(self, victim, command, some, before, after, helper=1):
        """For each point: before(), the kill, after(seen). Every point is hit."""
        lists = []
        for _ in range(2):
            before()
            lists.append(self.step(victim, *command(), helper=helper)["list"])
        # How often threads wait for each other differs from run to run, and the number of calls with it.
        calls = min(lists, key=len)
        self.assertGreater(len(calls), some)
        points = self.points(calls, some)
        for at in points:
            for _ in range(ATTEMPTS):
                before()
                seen = self.step(victim, *command(), at=at, helper=helper)
                if seen["hit"]:
                    break
                at = max(1, seen["calls"] - (len(calls) - at))  # as far from the end of this shorter run
            where = f"{victim} at {at} of {len(calls)}, call {CHANGES.get(seen['call'], seen['call'])}: {seen['stderr']}"
            with self.subTest(where=where):
                self.assertTrue(seen["hit"], f"not hit: {seen['calls']} calls")
                self.assertEqual(seen["left"], 0, "somebody of the tree was left")
                self.assertLess(seen["gone_ms"], GONE_MS)
                after(seen)
        print(f"{self.id()}: {len(points)} kills of {victim}, {len(calls)} calls", flush=True)

    def acknowledged(self):
        """The size of the newest note that left the process."""
        sizes = [int(path.read_text().splitlines()[1]) for path in (self.home / "heads").glob("*") if len(path.name) == 64]
        return max(sizes, default=0)

    def judge(self, *args):
        """What verify says: never that the ledger is faulty or cannot be read."""
        status, report = self.verify_json(*args)
        self.assertIn((status, report["verdict"]), ((0, "VERIFIED"), (3, "INCONCLUSIVE")), json.dumps(report["findings"]))
        self.assertGreaterEqual(report["coverage"]["records"], self.acknowledged())
        return status, report

    def names(self):
        """What stands in the home, but for SQLite's companions."""
        return sorted(str(path.relative_to(self.home)) for path in self.home.rglob("*") if not path.name.endswith(("-wal", "-shm")))
