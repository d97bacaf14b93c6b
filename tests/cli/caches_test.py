"""Tools whose caches are below a home that may not be written: with the cache in the workspace they work, and what they try
in the home stands in the record once each, with a count.

What is not installed is skipped and said; AASM_ALL_SOFTWARE=1 takes those that build for long as well.
"""

import collections
import os
import shutil
import subprocess
import unittest

import aasm_case

PROFILE = aasm_case.SOURCE / "examples/policies/coding-agent.yaml"
LONG = unittest.skipUnless(os.environ.get("AASM_ALL_SOFTWARE"), "AASM_ALL_SOFTWARE=1")


class Caches(aasm_case.AasmCase):
    def setUp(self):
        super().setUp()
        self.policy.write_text(PROFILE.read_text(encoding="utf-8") + "  evidence: { filesystem: write-decisions }\n")
        # The grants go by the toolchains of this user's home; the tools are told another one.
        self.env |= {"HOME": os.path.expanduser("~"), "PATH": os.environ["PATH"]}
        self.away = self.outside / "home"
        self.away.mkdir()

    def tool(self, script, **redirected):
        """The status of a script with the caches in the home, and of the same with them in the workspace."""
        statuses = []
        for more in ({}, {name: str(self.work / place) for name, place in redirected.items()}):
            words = " ".join(f"{name}={value}" for name, value in {"HOME": self.away, **more}.items())
            done = self.sh(f"mkdir -p tmp; export TMPDIR=$PWD/tmp RUSTUP_HOME=$HOME/.rustup {words}; {script}", timeout=300)
            statuses.append(done.returncode)
            if not more:
                batches = self.home_writes()
        self.assertEqual(statuses[1], 0, done.stdout + done.stderr)
        self.assertEqual(os.listdir(self.away), [])
        self.assert_verified()
        return statuses[0], sum(batches, collections.Counter()), len(batches)

    def home_writes(self, run=None):
        """Of each batch of records the writes below the home that were refused: (what, where, who) and how often."""
        batches = []
        for batch in self.bodies("decision.batch", run):
            denied = [e for e in batch["events"] if e["outcome"] == "denied" and e["domain"] == "filesystem_write" and
                      e["object"]["path"].startswith(f"{self.away}/")]
            batches.append(collections.Counter({(e["operation"], e["object"]["path"].removeprefix(str(self.away)), e["executable"]): e["count"] for e in denied}))
            self.assertEqual(len(batches[-1]), len(denied), denied)
        return batches

    # Case 87.
    def test_a_write_that_is_tried_again_and_again_is_one_entry_of_a_batch_with_a_count(self):
        (self.work / "tries.py").write_text("""
import os, sys
place = os.environ.get("CACHE", os.environ["HOME"] + "/.cache")
for _ in range(1000):
    for tried in (lambda: os.makedirs(place, exist_ok=True), lambda: open(place + "-file", "w").close()):
        try:
            tried()
        except PermissionError:
            pass
sys.exit(not os.path.exists(place))
""")
        failed, writes, batches = self.tool("/usr/bin/python3 tries.py", CACHE="cache")
        self.assertEqual(failed, 1)
        self.assertEqual({place: count for (_, place, _), count in writes.items()}, {"/.cache": 1000, "/.cache-file": 1000})
        self.assertLess(batches, 500)

    # Case 87.
    @unittest.skipUnless(shutil.which("npm"), "no npm")
    def test_npm_ci(self):
        dep, app = self.work / "dep", self.work / "app"
        for place, text in ((dep, '{"name":"dep","version":"1.2.3","main":"i.js"}'), (app, '{"name":"app","version":"1.0.0","dependencies":{"dep":"file:dep-1.2.3.tgz"}}')):
            place.mkdir()
            (place / "package.json").write_text(text)
        (dep / "i.js").write_text("module.exports = 42\n")
        prepared = subprocess.run("cd dep && npm pack --silent && mv dep-1.2.3.tgz ../app && cd ../app && npm install --offline --silent --package-lock-only && rm -rf cache",
                                  shell=True, cwd=self.work, env={**self.env, "npm_config_cache": str(self.work / "app/cache")}, capture_output=True, check=False)
        self.assertEqual(prepared.returncode, 0, prepared.stderr)
        _, writes, _ = self.tool("cd app && npm ci --offline --no-audit --no-fund --no-update-notifier && test \"$(node -p 'require(\"dep\")')\" = 42",
                                 npm_config_cache="cache")
        self.assertEqual({place for _, place, _ in writes}, {"/.npm"})

    # Case 87.
    @LONG
    @unittest.skipUnless(shutil.which("cargo"), "no cargo")
    def test_cargo_build(self):
        _, writes, _ = self.tool("mkdir -p one; cd one; cargo init --vcs none --name one -q 2>/dev/null; cargo build --offline -q && target/debug/one", CARGO_HOME="cache")
        self.assertEqual({place for _, place, _ in writes}, {"/.cargo"})

    # Case 87.
    @LONG
    @unittest.skipUnless(shutil.which("go"), "no go")
    def test_go_build(self):
        (self.work / "main.go").write_text("package main\n\nfunc main() { println(42) }\n")
        (self.work / "go.mod").write_text("module example.org/m\n\ngo 1.19\n")
        failed, writes, _ = self.tool("export GOTOOLCHAIN=local GOPROXY=off; go build -o m . && ./m", GOCACHE="cache", GOMODCACHE="mod")
        self.assertNotEqual(failed, 0)
        self.assertTrue(writes)

    # Case 87.
    @unittest.skipUnless(subprocess.run(["/usr/bin/python3", "-c", "import pip"], capture_output=True, check=False).returncode == 0, "no pip")
    def test_pip_install(self):
        (self.work / "sample").mkdir()
        (self.work / "make.py").write_text("""
import zipfile
info = "sample-1.0.dist-info/"
with zipfile.ZipFile("sample-1.0-py3-none-any.whl", "w") as wheel:
    wheel.writestr("sample.py", "answer = 42\\n")
    wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\\nName: sample\\nVersion: 1.0\\n")
    wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(info + "RECORD", "sample.py,,\\n" + info + "METADATA,,\\n" + info + "WHEEL,,\\n" + info + "RECORD,,\\n")
""")
        self.tool("/usr/bin/python3 make.py && /usr/bin/python3 -m pip install -q --no-index --find-links . --target out$PIP_CACHE_DIR sample"
                  .replace("out$PIP_CACHE_DIR", "\"out-$(basename ${PIP_CACHE_DIR:-none})\""), PIP_CACHE_DIR="cache")


if __name__ == "__main__":
    aasm_case.main()
