"""Secrets go nowhere: canaries in every place that the caller hands over, and a search of everything that aasm makes."""

import os
import pathlib
import secrets
import stat
import subprocess
import unittest

import aasm_case

PLACES = ("removed", "delegated", "unstated", "argument", "file", "output", "comment", "stdin")


class Canaries(aasm_case.AasmCase):
    """self.canary[place] is a random text; what finds one names the place."""

    def setUp(self):
        super().setUp()
        self.canary = {place: "canary" + secrets.token_hex(12) for place in PLACES}
        self.write_policy(aasm_case.POLICY.format(read="") + f"  # {self.canary['comment']}\n")
        (self.work / "data").write_text(self.canary["file"])
        self.env = {**self.env, "GITHUB_TOKEN": self.canary["removed"], "AWS_SECRET_ACCESS_KEY": self.canary["unstated"],
                    "LANG": self.canary["delegated"]}
        self.fifo = self.work / "go"
        os.mkfifo(self.fifo)
        self.script = (f"read -r line; cat data >/dev/null; echo {self.canary['output']} >&1; echo ready >&2; read -r x <go; "
                       "python3 -c 'import ctypes; ctypes.CDLL(None).ptrace(0, 0, 0, 0)'; exit 0")

    def found_in(self, data):
        """Places whose canary stands in the bytes, as it is or in base64 or hex of a piece."""
        return {place for place, text in self.canary.items() if text.encode() in data}

    def found_in_files(self, *folders):
        found = {}
        for folder in folders:
            for path in [folder] if folder.is_file() else sorted(folder.rglob("*")):
                if stat.S_ISREG(path.lstat().st_mode):
                    for place in self.found_in(path.read_bytes()):
                        found.setdefault(place, set()).add(path.name)
        return found

    def command_lines(self, process):
        """Command lines of every process but the one that was asked and the program itself."""
        lines = {}
        for entry in pathlib.Path("/proc").iterdir():
            if entry.name.isdigit() and int(entry.name) not in (process.pid, os.getpid()):
                try:
                    lines[int(entry.name)] = (entry / "cmdline").read_bytes()
                except OSError:
                    continue
        return lines

    def finish(self, process):
        with open(self.fifo, "w", encoding="utf-8") as pipe:
            pipe.write("go\n")
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, err)
        return out, err

    def run_confined(self, *options):
        process = subprocess.Popen(
            [aasm_case.AASM, "run", "exec", "--policy", str(self.policy), *map(str, options), "--", "/bin/sh", "-c", self.script, "sh",
             self.canary["argument"]],
            env=self.env, cwd=self.work, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        process.stdin.write(self.canary["stdin"] + "\n")
        process.stdin.flush()
        self.assertEqual(process.stderr.readline(), "ready\n")
        return process

    # Case 77.
    def test_canaries_stay_where_they_were_put(self):
        report, as_json, receipt = (self.root / name for name in ("report.txt", "report.json", "receipt"))
        process = self.run_confined("--report", report, "--receipt", receipt)
        lines = self.command_lines(process)
        limits = pathlib.Path(f"/proc/{process.pid}/limits").read_text()
        out, err = self.finish(process)
        # The program's own command line is what the caller asked for; no other process repeats it.
        repeated = [pid for pid, line in lines.items() if self.found_in(line) and not line.startswith(b"/bin/sh\0-c\0")]
        self.assertEqual(repeated, [])
        self.assertRegex(limits, r"Max core file size +0 ")
        self.assertEqual(self.found_in(out.encode()), {"output"})
        self.assertEqual(self.found_in(err.encode()), set())
        process = self.run_confined("--report", as_json, "--format", "json")
        self.finish(process)
        # The document of the policy is recorded whole, and only in the ledger: docs/spec/policy.md says so.
        found = self.found_in_files(self.home, report, as_json, receipt)
        self.assertEqual(set(found), {"comment"})
        self.assertLessEqual(found["comment"], {"ledger.db", "ledger.db-wal"})

    def test_what_is_printed_of_a_run_holds_no_canary(self):
        process = self.run_confined()
        self.finish(process)
        run = self.runs()[0]["run"]
        for args in (("runs", "list"), ("runs", "show", run), ("runs", "show", run, "--format", "json"), ("verify",),
                     ("verify", "--run", run, "--format", "json"),
                     ("run", "exec", "--policy", self.policy, "--dry-run", "--", "/bin/echo", self.canary["argument"]),
                     ("run", "exec", "--policy", self.policy, "--dry-run", "--format", "json", "--", "/bin/echo", self.canary["argument"])):
            done = self.ok(*args)
            self.assertEqual(self.found_in((done.stdout + done.stderr).encode()), set(), args)
            if "--dry-run" in args:
                self.assertIn("GITHUB_TOKEN", done.stdout)  # the name is what is told

    def test_a_refused_launch_and_one_without_a_boundary_tell_no_canary_either(self):
        refused = self.run_exec("/no/such/program", self.canary["argument"])
        self.assertEqual(refused.returncode, 127)
        self.assertEqual(self.found_in((refused.stdout + refused.stderr).encode()), set())
        open_run = self.run_exec("/bin/true", self.canary["argument"], options=("--isolation", "none"))
        self.assertEqual(open_run.returncode, 0, open_run.stderr)
        self.assertEqual(set(self.found_in_files(self.home)), {"comment"})

    def test_the_search_finds_a_canary_that_is_there(self):
        (self.home / "planted").write_text("x" + self.canary["removed"])
        self.assertEqual(self.found_in_files(self.home), {"removed": {"planted"}})

    def test_names_and_numbers_are_recorded_with_what_becomes_of_them(self):
        self.ok("run", "exec", "--policy", self.policy, "--", "/bin/true")
        [plan] = self.bodies("plan.resolved")
        fates = {one["name"]: (one["kind"], one["fate"]) for one in plan["ambient"]["sensitive"]}
        self.assertEqual(fates, {"GITHUB_TOKEN": ("service_token", "removed"),
                                 "AWS_SECRET_ACCESS_KEY": ("cloud_credential", "removed")})
        self.assertEqual([(one["number"], one["fate"]) for one in plan["ambient"]["descriptors"]],
                         [(0, "delegated"), (1, "delegated"), (2, "delegated")])


if __name__ == "__main__":
    aasm_case.main()
