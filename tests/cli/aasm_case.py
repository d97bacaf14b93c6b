"""Shared by the tests of this folder: a fresh home, workspace and policy for each test.

The program under test is named by the environment variable AASM. Nothing outside a temporary
folder is touched, and the folder is gone at the end.
"""

import ctypes
import json
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import tempfile
import time
import unittest

AASM = os.environ["AASM"]
SANITIZED = bool(os.environ.get("AASM_SANITIZE"))  # what is built with, if any
# Of one command, in seconds; long forms take their time.
TIMEOUT = None if {"AASM_FLIPS", "AASM_FLIP_ROUNDS", "AASM_DENIALS"} & set(os.environ) else 60
SOURCE = pathlib.Path(os.environ["AASM_SOURCE_DIR"])

POLICY = """apiVersion: agent-assembly/v1
kind: Policy
metadata: {{ name: test }}
spec:
  filesystem:
    read: {{ allow: [/usr, /lib, /lib64, /bin, /sbin, /etc, /dev, /proc, "${{WORKDIR}}"{read}] }}
    write: {{ allow: ["${{WORKDIR}}", /dev/null, /dev/tty] }}
  syscalls: {{ allow: ["@default"] }}
  credentials: {{ environment: {{ allow: [PATH, HOME, LANG, TERM] }} }}
"""


class AasmCase(unittest.TestCase):
    """One test: self.home (AASM_HOME), self.work (the workspace), self.policy (a usable policy)."""

    initialise = True
    maxDiff = None

    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="aasm-cli-"))
        self.root.chmod(0o755)
        self.addCleanup(shutil.rmtree, self.root, ignore_errors=True)
        self.home = self.root / "home"
        self.work = self.root / "work"
        self.work.mkdir()
        self.outside = self.root / "outside"
        self.outside.mkdir()
        self.secret = self.outside / "secret.txt"
        self.secret.write_text("not for agents\n")
        self.policy = self.root / "policy.yaml"
        self.write_policy()
        self.env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(self.root), "LANG": "C.UTF-8",
                    "AASM_HOME": str(self.home)}
        if "ASAN_OPTIONS" in os.environ:
            self.env["ASAN_OPTIONS"] = os.environ["ASAN_OPTIONS"]
        if self.initialise:
            self.ok("init", "--org", "test.example")

    def write_policy(self, text=None, read=()):
        extra = "".join(f', "{path}"' for path in read)
        self.policy.write_text(text if text is not None else POLICY.format(read=extra))

    def aasm(self, *args, env=None, **options):
        """Runs aasm and returns the CompletedProcess with text output."""
        options.setdefault("stdin", subprocess.DEVNULL if "input" not in options else None)
        if options["stdin"] is None:
            del options["stdin"]
        return subprocess.run([AASM, *map(str, args)], env=env or self.env, cwd=options.pop("cwd", self.work),
                              capture_output=True, text=True, timeout=options.pop("timeout", TIMEOUT), check=False, **options)

    def ok(self, *args, **options):
        done = self.aasm(*args, **options)
        self.assertEqual(done.returncode, 0, f"{args}\nstdout: {done.stdout}\nstderr: {done.stderr}")
        return done

    def run_exec(self, *program, options=(), **more):
        """aasm run exec --policy ... -- program"""
        return self.aasm("run", "exec", "--policy", self.policy, *options, "--", *program, **more)

    def sh(self, script, **more):
        return self.run_exec("/bin/sh", "-c", script, **more)

    def python(self, script, *args, **more):
        return self.run_exec("/usr/bin/python3", "-c", script, *args, **more)

    def runs(self):
        return json.loads(self.ok("runs", "list", "--format", "json").stdout)["runs"]

    def records(self, run=None):
        """The records of a run (the newest by default) as JSON objects {seq, kind, body}."""
        run = run or self.runs()[0]["run"]
        return json.loads(self.ok("runs", "show", run, "--format", "json").stdout)["records"]

    def bodies(self, kind, run=None):
        return [record["body"] for record in self.records(run) if record["kind"] == kind]

    def events(self, run=None):
        return [event for batch in self.bodies("decision.batch", run) for event in batch["events"]]

    def verify_json(self, *args, **more):
        done = self.aasm("verify", *args, "--format", "json", **more)
        return done.returncode, json.loads(done.stdout)

    def assert_verified(self):
        status, report = self.verify_json()
        self.assertEqual((status, report["verdict"]), (0, "VERIFIED"), json.dumps(report, indent=1)[:4000])
        return report

    def claims(self, run=None):
        """Claims of a run by domain, as `verify` recomputes them."""
        run = run or self.runs()[0]["run"]
        status, report = self.verify_json("--run", run)
        self.assertEqual(status, 0, json.dumps(report, indent=1)[:4000])
        [one] = [entry for entry in report["runs"]["newest"] if entry["id"] == run]
        return {domain["domain"]: domain for domain in one["report"]["domains"]}

    def start(self, *program, options=(), **more):
        """As run_exec, but does not wait: returns the Popen."""
        more.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.Popen([AASM, "run", "exec", "--policy", str(self.policy), *options, "--", *program],
                                env=self.env, cwd=self.work,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)

    def wait_for(self, condition, what, seconds=10.0):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            value = condition()
            if value:
                return value
            time.sleep(0.01)
        self.fail(f"waited {seconds} s for {what}")

    @staticmethod
    def alive(pid):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        status = pathlib.Path(f"/proc/{pid}/stat")
        try:
            return status.read_text().rsplit(")", 1)[1].split()[0] != "Z"
        except (FileNotFoundError, ProcessLookupError):  # gone before the open, or between it and the read
            return False


def refuse_call(number, error):
    """For preexec_fn: from now on the kernel answers this call so. A filter, as a container's."""
    libc = ctypes.CDLL(None, use_errno=True)
    lines = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x00050000 | error), (0x06, 0, 0, 0x7FFF0000)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in lines))
    program = struct.pack("HxxxxxxQ", len(lines), ctypes.addressof(code))
    if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, program, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "a filter")


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    unittest.main(verbosity=1)
