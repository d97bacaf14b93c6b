"""A large policy: it is enforced, recorded in parts and reported in few lines; and over a large tree, what planning asks
of the file system depends on the policy alone."""

import json
import re
import resource
import shutil
import subprocess
import unittest

import aasm_case

RULES = 1000
LOOKS = ("newfstatat", "openat", "readlink", "readlinkat", "statx", "lstat", "stat", "getdents64")


@unittest.skipUnless(shutil.which("strace"), "strace is not installed")
class NothingWalksTheTree(aasm_case.AasmCase):
    def setUp(self):
        super().setUp()
        self.assertEqual(self.run_exec("/bin/true").returncode, 0)  # measures the host, which explaining does not
        self.folders = [self.work / f"part{n % 7}" / f"item{n}" for n in range(RULES)]
        for folder in self.folders:
            folder.mkdir(parents=True)

    def grant(self, folders):
        lists = {"read": ["/usr", "/lib", "/lib64", "/bin", *folders[::2]], "write": ["/dev/null", *folders[1::2]]}
        self.write_policy("filesystem:\n" + "".join(
            f"  {name}:\n    allow: [{', '.join(map(str, entries))}]\n" for name, entries in lists.items()))

    def calls(self):
        """How often each system call of aasm's own process was made while it loaded and planned."""
        log = self.root / "calls"
        done = subprocess.run(["strace", "-qq", "-c", "-o", log, aasm_case.AASM, "policy", "explain", "/etc/passwd",
                               "--policy", self.policy], env=self.env, cwd=self.work, capture_output=True, text=True,
                              timeout=60, check=False)
        if "ptrace" in done.stderr:
            self.skipTest("nothing may be traced here")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("a run now would be ready", done.stdout)
        rows = re.findall(r"^ *[\d.]+ +[\d.]+ +\d+ +(\d+) +(?:\d+ +)?(\w+)$", log.read_text(), re.MULTILINE)
        return {name: int(count) for count, name in rows}

    def test_more_files_are_no_more_questions(self):
        self.grant(self.folders)
        before = self.calls()
        for folder in self.folders:
            for number in range(3):
                (folder / f"f{number}").touch()
        after = self.calls()
        for name in LOOKS:  # what a run asks besides differs by a few from run to run
            self.assertAlmostEqual(before.get(name) or 0, after.get(name) or 0, delta=30, msg=name)
        self.assertGreater(sum(before.get(name, 0) for name in LOOKS), RULES)

    def test_a_grant_costs_a_few_questions(self):
        self.grant(self.folders[:20])
        few = self.calls()
        self.grant(self.folders)
        many = self.calls()
        more = sum(many.get(name, 0) - few.get(name, 0) for name in LOOKS)
        # Where it leads, asked once for loading it and for guarding what is ours; and the directories it stands in.
        self.assertGreaterEqual(more, RULES - 60)  # what a run asks besides differs from run to run
        self.assertLess(more, RULES + 60)


class AThousandGrantsAreEnforced(aasm_case.AasmCase):
    """As root and as nobody; fewer files may be open than paths are granted."""

    def setUp(self):
        super().setUp()
        self.folders = [self.outside / f"item{number}" for number in range(RULES)]
        for folder in self.folders:
            folder.mkdir()
            (folder / "in").write_text(f"{folder.name}\n")
        granted = "".join(f', "{folder}"' for folder in self.folders)
        self.write_policy(aasm_case.POLICY.format(read=granted))

    def few_files(self):
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))

    def test_each_is_granted_and_what_lies_beside_is_not(self):
        done = self.run_exec("/usr/bin/python3", "-c", PROBE, self.outside, str(RULES), options=("--report", self.root / "report"),
                             preexec_fn=self.few_files)
        self.assertEqual((done.returncode, done.stdout), (0, f"{RULES} read, PermissionError\n"), done.stderr)
        self.assert_verified()
        parts = self.bodies("policy.resolved")
        self.assertGreater(len(parts), 1)
        self.assertEqual([(one["part"], one["parts"]) for one in parts], [(n + 1, len(parts)) for n in range(len(parts))])
        rules = [rule["id"] for one in parts for requirement in one["requirements"] for rule in requirement["rules"]
                 if requirement["domain"] == "filesystem_read"]
        self.assertEqual(len(rules), len(set(rules)))
        self.assertGreater(len(rules), RULES)
        [plan] = self.bodies("plan.resolved")
        self.assertEqual({one["domain"]: one["kind"] for one in plan["outcomes"]}["filesystem_read"], "enforced")
        grants = [grant for body in self.bodies("control.prepared") for control in body["controls"]
                  if control["domain"] == "filesystem_read" for grant in control.get("landlock", {"grants": []})["grants"]]
        self.assertEqual([grant["rule"] for grant in grants], rules)
        self.assertEqual([grant for grant in grants if grant["skipped"]], [])
        report = (self.root / "report").read_text()
        summary = report.split("--- execution isolation ---")[0]
        self.assertLessEqual(len(summary.splitlines()), 24)
        self.assertLess(max(map(len, report.splitlines())), 2000)
        self.assertLess(len(report.splitlines()), 500)

    def test_a_dry_run_binds_the_plan_of_the_live_one(self):
        done = self.ok("run", "exec", "--policy", self.policy, "--dry-run", "--format", "json", "--", "/bin/true")
        self.assertEqual(self.run_exec("/bin/true").returncode, 0)
        self.assertEqual(json.loads(done.stdout)["report"]["plan"]["digest"], self.bodies("plan.resolved")[0]["digest"])


class TheLimit(aasm_case.AasmCase):
    MOST = 4096  # rules and gaps

    def grant(self, count):
        self.write_policy(aasm_case.POLICY.format(read="".join(f', "{self.outside}/{number:04}"' for number in range(count))))

    def test_the_largest_policy_that_loads_runs_and_one_entry_more_is_refused_by_its_size(self):
        for number in range(self.MOST):
            (self.outside / f"{number:04}").mkdir()
        least, most = self.MOST - 40, self.MOST
        while most - least > 1:
            half = (least + most) // 2
            self.grant(half)
            least, most = (half, most) if self.aasm("policy", "check", self.policy).returncode == 0 else (least, half)
        self.grant(most)
        done = self.run_exec("/bin/true")
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertIn(f"policy.yaml: the policy comes to {self.MOST + 1} rules and gaps, and there is room for {self.MOST}",
                      done.stderr)
        self.assertIn("grant directories in place of what lies in them", done.stderr)
        self.grant(least)
        done = self.run_exec("/bin/true")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_verified()


PROBE = """
import pathlib, sys
outside, count = pathlib.Path(sys.argv[1]), int(sys.argv[2])
good = sum((outside / f"item{n}" / "in").read_text() == f"item{n}\\n" for n in range(count))
try:
    (outside / "secret.txt").read_text()
except OSError as error:
    print(f"{good} read, {type(error).__name__}")
"""


if __name__ == "__main__":
    aasm_case.main()
