"""Shared by the tests of strange hosts: how to make one, and the three answers aasm may give.

On every host a run ends in exactly one of: full enforcement, degradation that the policy permits and
that records and report state with both levels, or a refusal that says what is missing.
"""

import os
import shutil
import subprocess
import unittest

import aasm_case

STRANGE_HOST = os.environ.get("AASM_STRANGE_HOST", "")

# Tries what the policy forbids and says what came of it: a file outside, a system call by number.
ATTEMPTS = """
import ctypes, errno, os, sys
def outcome(action):
    try:
        action()
        return "done"
    except OSError as e:
        return errno.errorcode[e.errno]
def call(number):
    if ctypes.CDLL(None, use_errno=True).syscall(number, 0, 0, 0, 0, 0) < 0:
        raise OSError(ctypes.get_errno(), "")
print(outcome(lambda: open(sys.argv[1]).read()),
      outcome(lambda: open(sys.argv[2], "w")), *(outcome(lambda: call(int(n))) for n in sys.argv[3:]))
"""
UNSHARE = 272
KCMP = 312


class HostCase(aasm_case.AasmCase):
    """strange() and mounted() give the words in front of `aasm` that make the host."""

    def strange(self, *options):
        if not STRANGE_HOST:
            self.skipTest("strange_host is written for x86_64")
        return [STRANGE_HOST, *map(str, options), "--"]

    @staticmethod
    def refusing(call, os_errno, test=""):
        return ("--refuse", f"{call}:{os_errno}" + (f":{test}" if test else ""))

    def mounted(self, script):
        """A mount namespace after `script`; for an unprivileged user in a user namespace too."""
        if os.geteuid() == 0:
            enter, leave = ["unshare", "--mount", "--propagation", "private"], "exec"
        else:
            enter = ["unshare", "--user", "--map-current-user", "--keep-caps", "--mount"]
            leave = "exec setpriv --inh-caps=-all --ambient-caps=-all"
        if subprocess.run([*enter, "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("this user may not make a mount namespace here")
        return [*enter, "sh", "-ec", f'{script}\n{leave} "$@"', "sh"]

    def launch(self, before, *program, options=(), env=None, cwd=None):
        """before... aasm run exec ... -- program"""
        words = [*before, aasm_case.AASM, "run", "exec", "--policy", self.policy,
                 "--report", self.root / "report.txt", "--receipt", self.root / "receipt.txt", *options, "--", *program]
        return subprocess.run(list(map(os.fspath, words)), env=env or self.env, cwd=cwd or self.work, text=True,
                              errors="surrogateescape", stdin=subprocess.DEVNULL, capture_output=True, timeout=60,
                              check=False)

    def attempt(self, before, *calls, options=(), env=None, cwd=None):
        return self.launch(before, "/usr/bin/python3", "-c", ATTEMPTS, str(self.secret), str(self.outside / "new"),
                           *map(str, calls or (UNSHARE,)), options=options, env=env, cwd=cwd)

    def assert_enforced(self, done, name="unshare", outcomes="EACCES EACCES EPERM"):
        """Everything the policy states was refused, and recorded as far as a channel exists."""
        self.assertEqual((done.returncode, done.stdout.strip()), (0, outcomes), done.stderr)
        self.assertFalse((self.outside / "new").exists())
        [plan] = self.bodies("plan.resolved")
        self.assertEqual(plan["posture"], "ready", plan)
        self.assertEqual({one["kind"] for one in plan["outcomes"]}, {"enforced"})
        denied = [e for e in self.events() if (e["object"]["name"], e["outcome"], e["cause"]) == (name, "denied", "policy")]
        self.assertEqual([e["count"] for e in denied], [1])
        claims = self.claims()
        for domain in ("filesystem_read", "filesystem_write", "syscall", "credential"):
            self.assertEqual(claims[domain]["boundary"], "proved", claims[domain])
        self.assertEqual(claims["syscall"]["claim"], "denied_before_execution")
        self.assert_verified()
        self.assertEqual(self.aasm("verify", self.root / "receipt.txt").returncode, 0)

    def assert_refused(self, done, token, *words):
        """No program ran; the refusal says what is missing, on stderr and in the ledger, which verifies."""
        self.assertEqual((done.returncode, done.stdout), (125, ""), done.stderr)
        self.assertEqual(done.stderr.count("error:"), 1, done.stderr)
        kinds = [record["kind"] for record in self.records()]
        self.assertNotIn("process.started", kinds)
        self.assertEqual(kinds[-2:], ["plan.refused", "run.closed"])
        [refused] = self.bodies("plan.refused")
        [ours] = [r for r in refused["refusals"] if "aasm-native" in r["detail"]]
        self.assertIn(token, (ours.get("reason"), ours["launch"]))
        for word in (token, *words):
            self.assertIn(word, done.stderr)
        for word in words:
            self.assertIn(word, ours["detail"])
        self.assert_verified()

    def report(self):
        return (self.root / "report.txt").read_text()

    def assert_degraded(self, domain, achieved):
        """The plan, the claim and both halves of the report show what was asked and what there is."""
        [plan] = self.bodies("plan.resolved")
        self.assertEqual(plan["posture"], "degraded")
        [outcome] = [one for one in plan["outcomes"] if one["domain"] == domain]
        self.assertEqual((outcome["kind"], outcome["planned"], outcome["achieved"]),
                         ("degraded", "prevent_before_effect", achieved))
        claim = self.claims()[domain]
        self.assertEqual((claim["claim"], claim["planned"], claim["achieved"]),
                         ("degraded", "prevent_before_effect", achieved))
        self.assertIn(f"planned prevent_before_effect, achieved {achieved}", self.report())
        self.assertIn(f"domain.{domain}.achieved={achieved}\n", self.report())
        self.assert_verified()


def have(program):
    return unittest.skipUnless(shutil.which(program), f"{program} is not installed")
