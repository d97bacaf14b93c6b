"""A large policy over a large tree: what planning asks of the file system depends on the policy alone."""

import re
import shutil
import subprocess
import unittest

import aasm_case

RULES = 300


@unittest.skipUnless(shutil.which("strace"), "strace is not installed")
class NothingWalksTheTree(aasm_case.AasmCase):
    def setUp(self):
        super().setUp()
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
            for number in range(10):
                (folder / f"f{number}").touch()
        after = self.calls()
        looks = ("newfstatat", "openat", "readlink", "readlinkat", "statx", "lstat", "stat", "getdents64")
        self.assertEqual({name: before.get(name) for name in looks}, {name: after.get(name) for name in looks})
        self.assertGreater(sum(before.get(name, 0) for name in looks), RULES)

    def test_a_grant_costs_a_few_questions(self):
        self.grant(self.folders[:20])
        few = self.calls()
        self.grant(self.folders)
        many = self.calls()
        more = sum(many.values()) - sum(few.values())
        # What it leads to, once to lower it and once to guard what is ours.
        self.assertLess(more, 5 * (RULES - 20))


if __name__ == "__main__":
    aasm_case.main()
