"""What tests/support/flips changes meets a supervisor and a broker that lose their descriptors meanwhile, and get them back. Case 38."""

import contextlib
import pathlib
import random
import resource
import subprocess
import threading
import time
import unittest

import aasm_case
from flips_case import FLIPS, FlipsCase


@unittest.skipIf(aasm_case.SANITIZED, "a sanitizer looks at objects through a pipe, and takes the want of descriptors for a fault of theirs")
class ShortageTest(FlipsCase):
    """Supervisor and broker lose and get back their descriptors meanwhile, by prlimit(2)."""

    def setUp(self):
        super().setUp()
        self.over = threading.Event()

    def brokers(self, pid):
        below = [int(word) for task in pathlib.Path(f"/proc/{pid}/task").iterdir() for word in (task / "children").read_text().split()]
        return [one for one in below if pathlib.Path(f"/proc/{one}/comm").read_text() == "aasm-broker\n"] + \
               [found for one in below for found in self.brokers(one)]

    def take_and_give(self, supervisor, broker):
        limit = resource.prlimit(supervisor, resource.RLIMIT_NOFILE)
        numbers = random.Random(3)
        with contextlib.suppress(ProcessLookupError):  # the end of the run
            while not self.over.is_set():
                for pid, least, most in ((supervisor, 16, 48), (broker, 1, 12)):
                    resource.prlimit(pid, resource.RLIMIT_NOFILE, (numbers.randrange(least, most), limit[1]))
                time.sleep(0.001)
                for pid in (supervisor, broker):
                    resource.prlimit(pid, resource.RLIMIT_NOFILE, limit)
                time.sleep(0.001)

    def check(self, kind, *arguments, flips=FLIPS):
        before = self.state_of_shut()
        process = self.start(self.tool, kind, str(-flips), *map(str, arguments), stdin=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), "ready\n", process.poll() is not None and process.stderr.read())
        [broker] = self.brokers(process.pid)
        thread = threading.Thread(target=self.take_and_give, args=(process.pid, broker))
        thread.start()
        try:
            process.stdin.write("\n")
            process.stdin.flush()
            out = process.stdout.readline()
        finally:
            self.over.set()
            thread.join()
        self.assertEqual((process.communicate()[1], process.returncode), ("", 0))
        made, refused, other, leaks = map(int, out.split())
        print(f"{kind}, with few descriptors: {flips} flipped: made, refused, other, leaks", [made, refused, other, leaks])
        self.assertEqual((leaks, made + refused + other), (0, flips))
        self.assertEqual(self.state_of_shut(), before)
        self.assertGreater(min(refused, other), 0)  # little is made where hardly a call has room
        self.assertEqual({event["errno"] for event in self.denied() if event["cause"] == "fault"}, {24})
        self.assert_verified()
        return refused, other

    def test_names(self):
        for kind, level in (("links", "write-decisions"), ("exchanges", "decisions"), ("attributes", "decisions")):
            with self.subTest(kind=kind):
                self.over.clear()
                self.lay()
                self.use(level)
                refused, other = self.check(kind)
                counted = self.counted(outcome="denied", cause="policy"), self.counted(outcome="denied", cause="fault")
                if kind == "exchanges":  # the others have answers of the kernel besides
                    self.assertEqual(counted, (refused, other))

    def test_executions(self):
        self.use("decisions", deny="")
        for kind in ("executed_names", "executed_descriptors"):
            with self.subTest(kind=kind):
                self.over.clear()
                self.check(kind, self.tool, self.outside / "denied", flips=max(FLIPS // 10, 1))


if __name__ == "__main__":
    aasm_case.main()
