"""The resolvers of the C libraries, Go, Java and c-ares as they are: allowed names lead to connections, others do not exist.

What is not installed is skipped and said; AASM_ALL_SOFTWARE=1 takes Go's, whose library is built first, as well.
"""

import os
import pathlib
import shutil
import subprocess
import unittest

import name_world

if __name__ == "__main__":
    name_world.enter()

import aasm_case  # noqa: E402
from name_world import WEB, WEB6  # noqa: E402

SOURCES = aasm_case.SOURCE / "tests/sandbox/resolvers"
LISTED = "  network: { allowlist: ['api.example.test:80'] }\n"
ALLOWED = ["api.example.test"]
REFUSED = ["x.wild.test", "leaked-by-name.evil.test"]  # the first of them exists
# The links of /etc/alternatives are not in the network that these tests lay.
TOOLS = {name: os.path.realpath(found) for name in ("cc", "musl-gcc", "go", "java") if (found := shutil.which(name))}


def setUpModule():
    global WORLD
    WORLD = name_world.World()


def tearDownModule():
    WORLD.close()


class Resolvers(aasm_case.AasmCase):
    def setUp(self):
        super().setUp()
        self.write_policy(aasm_case.POLICY.format(read="") + LISTED)
        WORLD.questions()

    def build(self, tool, *words, **more):
        if tool not in TOOLS:
            self.skipTest(f"no {tool} here")
        done = subprocess.run([TOOLS[tool], *words], cwd=self.work, capture_output=True, text=True, check=False, **more)
        self.assertEqual(done.returncode, 0, done.stderr)

    def resolves(self, *program, ordered=list):
        plain = subprocess.run([*program, *ALLOWED, REFUSED[0]], env=self.env, cwd=self.work, capture_output=True, text=True, check=False)
        *allowed, other = plain.stdout.splitlines()  # with the order of addresses
        self.assertEqual([len(allowed), other], [2, f"{REFUSED[0]} {WEB} reached"], plain.stdout + plain.stderr)
        WORLD.questions()
        done = self.run_exec(*program, *ALLOWED, *REFUSED)
        self.assertEqual(ordered(done.stdout.splitlines()), ordered([*allowed, *(f"{name} unknown" for name in REFUSED)]), done.stderr)
        self.assertEqual({line.split()[2] for line in WORLD.questions()}, set(ALLOWED))  # and no datagram elsewhere
        events = self.events()
        refused = {e["object"]["name"] for e in events if e["domain"] == "name_resolution" and e["outcome"] == "denied"}
        self.assertEqual({name.removesuffix(".example.test") for name in refused}, set(REFUSED))  # as they are, and in the search domain
        network = [e for e in events if e["domain"] == "network_egress" and e["operation"] == "connect"]
        self.assertEqual({e["object"]["address"] for e in network if e["outcome"] == "allowed"}, {WEB, WEB6})
        self.assertEqual([e for e in network if e["outcome"] == "denied"], [])
        self.assert_verified()

    def test_glibc(self):
        self.build("cc", "-o", "names", SOURCES / "libc.c")
        self.resolves("./names")

    def test_musl(self):
        self.build("musl-gcc", "-static", "-o", "names", SOURCES / "libc.c")
        self.resolves("./names")

    def test_c_ares(self):
        if not pathlib.Path("/usr/include/ares.h").exists():
            self.skipTest("no libc-ares-dev here")
        self.build("cc", "-o", "names", SOURCES / "cares.c", "-lcares")
        self.resolves("./names")

    def test_java(self):
        if "java" not in TOOLS or not (pathlib.Path(TOOLS["java"]).parent / "javac").exists():
            self.skipTest("no JDK here")
        shutil.copy(SOURCES / "Names.java", self.work)
        self.resolves(TOOLS["java"], "-XX:-UsePerfData", "-XX:TieredStopAtLevel=1", "Names.java")

    @unittest.skipUnless(os.environ.get("AASM_ALL_SOFTWARE"), "AASM_ALL_SOFTWARE=1")
    def test_go(self):
        self.build("go", "build", "-o", "names", SOURCES / "names.go",
                   env={**self.env, "CGO_ENABLED": "0", "GOCACHE": str(self.root / "cache"), "GOTOOLCHAIN": "local", "GOFLAGS": "-p=1"})
        self.resolves("./names", ordered=set)  # it asks for its source at port 53, where the resolver answers


if __name__ == "__main__":
    aasm_case.main()
