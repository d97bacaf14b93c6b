"""Real tools behave the same, to the byte, inside the boundary and outside it."""

import pathlib
import subprocess
import sys
import unittest

import aasm_case

SESSIONS = aasm_case.SOURCE / "tests/sandbox/sessions"


class Sessions(aasm_case.AasmCase):
    def test_ordinary_tools_show_the_same_inside(self):
        self.compare("setup")

    def test_they_do_with_every_open_decided_by_the_broker(self):
        self.compare("decisions")

    def compare(self, level):
        self.write_policy("""apiVersion: agent-assembly/v1
kind: Policy
spec:
  filesystem:
    read: { allow: [/usr, /lib, /lib64, /bin, /sbin, /etc, /dev, /proc, "${WORKDIR}", "%s"] }
    write: { allow: ["${WORKDIR}", /dev/null, /dev/tty, /dev/shm] }
  syscalls: { allow: ["@default"] }
  evidence: { filesystem: %s }
""" % (SESSIONS, level))
        wrapper = f"/usr/bin/env AASM_HOME={self.home} {aasm_case.AASM} run exec --policy {self.policy} --"
        # Some tools want a directory for temporary files: they get the session's own.
        done = subprocess.run([sys.executable, "-B", str(SESSIONS / "run_sessions"), "--wrapper",
                               f"/usr/bin/env TMPDIR={{workdir}} {wrapper}"], env=self.env, capture_output=True,
                              text=True, check=False, timeout=600)
        print(done.stdout)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assert_verified()


if __name__ == "__main__":
    aasm_case.main()
