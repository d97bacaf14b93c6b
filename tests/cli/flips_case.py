"""Shared by the tests that run tests/support/flips: inside a run, and without a boundary as the control."""

import os
import shutil
import stat
import subprocess

import aasm_case

FLIPS = int(os.environ.get("AASM_FLIPS", "3000"))
CONTROL_FLIPS = 20000
TOOL = os.environ["AASM_FLIPS_TOOL"]

POLICY = """apiVersion: agent-assembly/v1
kind: Policy
metadata: {{ name: test }}
spec:
  filesystem:
    read: {{ allow: [/usr, /lib, /lib64, /bin, /etc, /dev, /proc, "${{WORKDIR}}", "{outside}"] }}
    write: {{ allow: ["${{WORKDIR}}", /dev/null]{deny} }}
    execute: {{ allow: [/usr, /lib, /lib64, /bin, "${{WORKDIR}}"] }}
{more}  evidence: {{ filesystem: {level} }}
"""
DENY = ', deny: ["${WORKDIR}/shut"]'


class FlipsCase(aasm_case.AasmCase):
    def setUp(self):
        super().setUp()
        self.tool = self.work / "allowed"
        shutil.copy(TOOL, self.tool)
        shutil.copy(TOOL, self.outside / "denied")
        self.lay()

    def lay(self):
        """What the calls are about, as it is before them."""
        for place in ("open", "shut"):
            shutil.rmtree(self.work / place, ignore_errors=True)
            (self.work / place).mkdir()
            for name in ("name", "more"):
                (self.work / place / name).write_text(place)

    def use(self, level="write-decisions", deny=DENY, more=""):
        self.write_policy(POLICY.format(outside=self.outside, deny=deny, more=more, level=level))

    def flip(self, kind, *arguments, flips=FLIPS):
        """Inside: made, refused, other, leaks."""
        process = self.start(self.tool, kind, str(flips), *map(str, arguments))
        out, err = process.communicate()  # as long as it takes
        self.assertEqual(process.returncode, 0, err)
        found = [int(word) for word in out.split()]
        print(f"{kind}: {flips} flipped: made, refused, other, leaks {found}")
        return found

    def leaks_without(self, kind, *arguments, flips=CONTROL_FLIPS):
        """The negative control: the same without a boundary, until it is met or for long enough."""
        for _ in range(20):
            done = subprocess.run([self.tool, kind, str(flips), *map(str, arguments)], cwd=self.work, capture_output=True, text=True, check=True)
            self.lay()
            if int(done.stdout.split()[3]) > 0:
                return
        self.fail(f"{kind}: no leak without a boundary")

    def state_of_shut(self):
        return [(path.name, (status := path.stat()).st_ino, status.st_ctime_ns, stat.S_IMODE(status.st_mode), status.st_nlink,
                 path.read_text(), os.listxattr(path)) for path in sorted((self.work / "shut").iterdir())]

    def denied(self):
        return [event for event in self.events() if event["outcome"] == "denied"]

    def counted(self, **wanted):
        return sum(event["count"] for event in self.events() if all(event[name] == value for name, value in wanted.items()))
