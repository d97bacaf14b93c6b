"""Killed between a temporary file and its name: the next command takes over or removes what is left, and nothing else.

Small files are written beside their place and renamed over it (docs/spec/ledger-format.md section 4). Each rename of a first
run, and of a change of the log key, is not made once.
"""

import fcntl
import os
import re
import unittest

import aasm_case
import crash_case

TEMPORARY = re.compile(r"\.new(-[0-9a-f]{16})?$|\.[0-9a-f]{16}\.tmp$")
RUN = "0188d3f0-0000-7000-8000-000000000000"  # the id of no run


class Leftovers(crash_case.CrashCase):
    COUNTED = crash_case.RENAMES

    def setUp(self):
        super().setUp()
        self.out = self.root / "out"
        self.out.mkdir(mode=0o700)
        self.foreign = []
        self.held = []
        self.addCleanup(self.let_go)

    @staticmethod
    def points(calls, some):
        return range(1, len(calls) + 1)

    def let_go(self):
        for one in self.held:
            os.close(one)
        self.held.clear()

    def temporaries(self):
        return [path for place in (self.home, self.out) for path in sorted(place.rglob("*"))
                if TEMPORARY.search(path.name) and path not in self.foreign]

    def put_foreign(self):
        """Files that almost have such a name, and two that somebody is writing."""
        for name in ("heads", "runs"):
            (self.home / name).mkdir(mode=0o700, exist_ok=True)
        alive = [self.home / "runs" / f".{RUN}.lock.new-0123456789abcdef", self.out / ".report.0123456789abcdef.tmp"]
        self.foreign = [self.home / "runs/.mine.lock.new-0123456789abcdef", self.home / f"runs/.{RUN}.lock.new-0123",
                        self.home / "heads/notes.newer", self.home / "digests.new.old", self.home / ".trust.0123.tmp",
                        self.out / ".report.0123456789abcdeg.tmp", self.out / ".report.0123456789abcdef.tmp.mine",
                        self.out / ".other.0123456789abcdef.tmp", *alive]
        for path in self.foreign:
            path.write_text("mine")
        for path in alive:
            self.held.append(os.open(path, os.O_RDWR | os.O_CLOEXEC))
            fcntl.flock(self.held[-1], fcntl.LOCK_EX)

    def before(self):
        self.let_go()
        for path in self.out.iterdir():
            path.unlink()
        self.new_home()
        self.ok("init", "--org", "test.example")
        (self.out / "report").write_text("an older one")

    def first_run(self):
        return ("run", "exec", "--policy", self.policy, "--report", self.out / "report", "--", "/bin/true")

    def rotation(self):
        return ("key", "rotate", "log")

    def walk_renames(self, before, command):
        """What was left in turn, without the digits of its names."""
        left = []

        def prepare():
            before()
            self.put_foreign()

        def after(_seen):
            found = self.temporaries()
            self.assertLessEqual(len(found), 1, found)
            left.extend(re.sub("[0-9a-f]{8}[0-9a-f-]*", "*", str(path.relative_to(self.root)).split("/", 1)[1]) for path in found)
            self.ok(*command())
            self.assertEqual(self.temporaries(), [])
            for path in self.foreign:
                self.assertEqual(path.read_text(), "mine", path)
            self.judge()

        self.walk("main", command, 2, prepare, after)
        return left

    def test_a_first_run(self):
        left = self.walk_renames(self.before, self.first_run)
        self.assertEqual(set(left), {"runs/.*.lock.new-*", "probes/*.new", "heads/*.new", "digests.new", ".report.*.tmp"})

    def test_a_change_of_the_log_key(self):
        """log.key.next is no temporary file: whoever comes next goes on with it."""
        left = self.walk_renames(lambda: (self.before(), self.ok(*self.first_run())), self.rotation)
        self.assertEqual(left, ["heads/*.new", ".trust.*.tmp"])


if __name__ == "__main__":
    aasm_case.main()
