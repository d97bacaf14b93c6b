"""aasm run exec with a workspace on other file systems: what is granted works as outside, the rest is refused and recorded."""

import os
import shutil
import subprocess
import unittest

import aasm_case
import host_case

# Reading, writing and renaming in the workspace ($1), and what lies beside it ($2: a file, $3: a new name).
WORK = """
echo one > new && cat new && echo two >> new && mv new renamed && cat renamed && wc -c < renamed
mkdir -p deep/er && mv renamed deep/er/ && mv deep/er deep/moved && cat deep/moved/renamed && ln deep/moved/renamed linked && ls -l linked | cut -c1-10
ln -s deep/moved/renamed by && cat by && cat given && echo changed > given && cat given && rm given by && ls
cp /bin/echo program && ./program executed && : > deep/moved/renamed && test -s linked || echo emptied
cat "$1" 2>&1 | sed 's/.*: //'; { echo x > "$2"; } 2>&1 | sed 's/.*: //'; mv linked "$2" 2>&1 | sed 's/.*: //'
"""
INSIDE = """one
one
two
8
one
two
-rw-r--r--
one
two
given
changed
deep
linked
executed
emptied
"""


class Filesystems(host_case.HostCase):
    def setUp(self):
        super().setUp()
        for name in ("lower", "base"):
            (self.root / name).mkdir()

    # `script` mounts a file system on the workspace.
    def assert_works(self, script, evidence):
        given = f"echo given > {self.work}/given" if "lower" not in script else ":"
        (self.root / "lower/given").write_text("given\n")
        before = self.mounted(f"{script}\ncd {self.work}\n{given}")
        mounts = subprocess.run([*before, "true"], cwd=self.work, capture_output=True, text=True, check=False)
        if mounts.returncode != 0:
            self.skipTest(f"not to be mounted here: {mounts.stderr.strip()}")
        self.write_policy(aasm_case.POLICY.format(read="") + f"  evidence: {{ filesystem: {evidence} }}\n")
        new = str(self.outside / "new")
        done = self.launch(before, "/bin/sh", "-c", WORK, "sh", str(self.secret), new)
        refused, *others = done.stdout.removeprefix(INSIDE).splitlines()
        self.assertTrue(done.stdout.startswith(INSIDE), done.stdout + done.stderr)
        # To another mount: as the kernel says of a rename, or of the copy that mv(1) makes then.
        self.assertEqual((done.returncode, refused, others[0], others[1] in ("Permission denied", "Invalid cross-device link")),
                         (0, "Permission denied", "Permission denied", True), done.stdout + done.stderr)
        self.assertFalse(os.path.exists(new))
        if evidence == "decisions":
            denied = {e["object"]["path"] for e in self.events() if e["outcome"] == "denied" and e["domain"].startswith("filesystem")}
            self.assertEqual(denied, {str(self.secret), new, f"{self.work}/linked"})
        for domain in ("filesystem_read", "filesystem_write"):
            self.assertEqual(self.claims()[domain]["boundary"], "proved")
        self.assert_verified()

    def at_both_levels(self, script):
        for evidence in ("setup", "decisions"):
            with self.subTest(evidence=evidence):
                self.assert_works(script, evidence)
                shutil.rmtree(self.root / "base")
                (self.root / "base").mkdir()

    # Case 27.
    def test_tmpfs(self):
        self.at_both_levels(f"mount -t tmpfs none {self.work}")

    # Case 27.
    def test_ramfs(self):
        self.at_both_levels(f"mount -t ramfs none {self.work}")

    # Case 27.
    def test_overlay(self):
        self.at_both_levels(f"mount -t tmpfs none {self.root}/base; mkdir {self.root}/base/up {self.root}/base/tmp\n"
                            f"mount -t overlay overlay -o lowerdir={self.root}/lower,upperdir={self.root}/base/up,workdir={self.root}/base/tmp {self.work}")

    # Case 27.
    @unittest.skipUnless(shutil.which("bindfs") and os.access("/dev/fuse", os.R_OK | os.W_OK), "no bindfs, or /dev/fuse is not this user's")
    def test_fuse(self):
        self.at_both_levels(f"bindfs --no-allow-other -o attr_timeout=0 {self.root}/base {self.work}")


if __name__ == "__main__":
    aasm_case.main()
