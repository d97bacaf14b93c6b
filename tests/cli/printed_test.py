"""Whatever names hold (newlines, escapes, bidirectional controls, bytes that are no text, 4,000 of them): what is printed is
text, and no line of it is somebody else's."""

import os
import shutil
import subprocess
import unicodedata
import unittest

import aasm_case

TEXT = "x\nposture=forged\r\nerror: forged\x1b[2J\x1b]0;t\x07\u202e\u2066\x9b\x85"
EVIL = TEXT.encode() + b"\xff\xfe"
LONG = b"y" * 2000 + EVIL + b"z" * 1900
FORGED = ("posture=forged", "error: forged")
PTRACE = "import ctypes; ctypes.CDLL(None).ptrace(0, 0, 0, 0)"


class Printed(aasm_case.AasmCase):
    def call(self, *args, env=None, cwd=None, before=None):
        """Runs aasm with arguments of any bytes; checks all that it prints and returns status and text."""
        full = {os.fsencode(name): os.fsencode(value) for name, value in (env or self.env).items()}
        done = subprocess.run([os.fsencode(aasm_case.AASM), *map(os.fsencode, args)], env=full, cwd=cwd or self.work,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False, preexec_fn=before)
        for stream in (done.stdout, done.stderr):
            self.assert_clean(stream)
        return done.returncode, (done.stdout + done.stderr).decode()

    def assert_clean(self, data):
        text = data.decode("utf-8")  # strict
        for character in set(text) - {"\n"}:
            self.assertNotIn(unicodedata.category(character), ("Cc", "Cf", "Zl", "Zp", "Cs"), ascii(text))
        for line in text.split("\n"):
            self.assertFalse(line.startswith(FORGED), ascii(text))

    def run_evil(self, program, *options, **more):
        return self.call("run", "exec", "--policy", self.policy, *options, "--", program, **more)

    def test_a_program_that_is_not_there(self):
        for name in (b"./" + EVIL, LONG, b"/" + LONG):
            for extra in ((), ("--dry-run",), ("--dry-run", "--format", "json"), ("--report", self.root / "report")):
                status, text = self.run_evil(name, *extra)
                # A name that is too long is one that cannot be executed.
                self.assertIn(status, (0,) if "--dry-run" in extra else (126, 127), text)
                self.assertRegex(text, "program_not_(found|executable)")
        self.assert_clean((self.root / "report").read_bytes())
        for args in (("runs", "list"), ("runs", "show", self.runs()[0]["run"]), ("verify",)):
            self.call(*args)

    def test_a_folder_to_run_in(self):
        folder = os.fsencode(self.root) + b"/" + EVIL
        os.mkdir(folder)
        for extra in ((), ("--dry-run",), ("--dry-run", "--format", "json"), ("--report", self.root / "report")):
            status, text = self.run_evil("/bin/true", "--workdir", folder, *extra)
            self.assertEqual(status, 0, text)
        self.assert_clean((self.root / "report").read_bytes())
        status, _ = self.run_evil("/bin/true", "--workdir", b"/nowhere/" + EVIL)
        self.assertEqual(status, 125)
        self.assertEqual(self.call("verify")[0], 0)

    def test_paths_of_files_that_cannot_be_used(self):
        nowhere = b"/nowhere/" + EVIL
        for option in ("--policy", "--ledger", "--trust", "--receipt", "--report"):
            for value in (nowhere, b"/" + LONG):
                status, text = self.run_evil("/bin/true", option, value)
                # Trust files are not read by a run; that a name is too long shows when the file is made.
                late = option == "--trust" or (option in ("--receipt", "--report") and value != nowhere)
                self.assertIn(status, (0, 122, 125) if late else (122, 125), text)
        for args in (("verify", nowhere), ("verify", "--trust", nowhere), ("runs", "show", EVIL), ("runs", "list", "--ledger", nowhere),
                     ("init",), ("key", "list", "--ledger", nowhere), ("verify", "--report", nowhere), ("verify", "--run", EVIL)):
            self.call(*args)

    def test_a_home_of_any_name(self):
        home = os.fsencode(self.root) + b"/" + EVIL
        env = {**self.env, "AASM_HOME": home}
        for args in (("init", "--org", "test.example"), ("init",), ("verify",), ("runs", "list"), ("ledger", "status"), ("key", "list")):
            self.call(*args, env=env)
        self.run_evil("/bin/true", env=env)
        self.write_policy(f"apiVersion: agent-assembly/v1\nkind: Policy\nspec:\n  filesystem:\n    read: {{allow: [\"{self.root}\"]}}\n"
                          "    write: {allow: []}\n")
        status, text = self.run_evil("/bin/true", env=env)
        self.assertEqual(status, 125)
        self.assertIn("grant_covers_evidence", text)

    def test_a_policy_of_any_name_and_content(self):
        path = os.fsencode(self.root) + b"/" + EVIL
        shutil.copy(self.policy, path)
        self.assertEqual(self.call("run", "exec", "--policy", path, "--", "/bin/true")[0], 0)
        self.call("run", "exec", "--policy", path, "--dry-run", "--", "/bin/true")
        for text in (f"spec:\n  filesystem: {{ {'k' * 4000}: 1 }}\n", 'spec: { "a\\nerror: forged\\u202e\\e[2J": 1 }\n',
                     'spec:\n  filesystem:\n    read: { allow: ["/x\\nerror: forged\\e[2J", "rel\\u202e"] }\n',
                     'spec:\n  syscalls: { allow: ["x\\nerror: forged\\e"] }\n', "spec: \x1b[2J\n", "spec: {\n"):
            with open(path, "w", encoding="utf-8") as policy:
                policy.write("apiVersion: agent-assembly/v1\nkind: Policy\n" + text)
            for extra in ((), ("--dry-run",)):
                status, printed = self.call("run", "exec", "--policy", path, *extra, "--", "/bin/true")
                self.assertEqual(status, 0 if extra else 125, printed)
                self.assertIn("policy_load_failed", printed)

    def test_identity_and_backend(self):
        for option in ("--agent-id", "--team-id", "--root-agent", "--governance-level", "--isolation-backend"):
            for value in (TEXT.encode(), EVIL, LONG):
                for extra in ((), ("--dry-run",), ("--report", self.root / "report")):
                    self.run_evil("/bin/true", option, value, *extra)
        self.assert_clean((self.root / "report").read_bytes())
        self.call("runs", "list")
        self.assertEqual(self.call("verify")[0], 0)

    def test_options_that_do_not_exist(self):
        for args in ((b"--" + EVIL,), (EVIL,), ("run", b"--" + EVIL), ("run", "exec", EVIL), ("verify", b"-" + LONG), ("run", EVIL)):
            self.assertNotEqual(self.call(*args)[0], 0)

    def test_names_of_the_environment(self):
        env = {**self.env, EVIL.replace(b"=", b""): "v", b"A_TOKEN_" + LONG.replace(b"=", b""): "v", "": "v"}
        del env[""]
        for extra in ((), ("--dry-run",), ("--dry-run", "--format", "json"), ("--report", self.root / "report"), ("--isolation", "none")):
            status, text = self.run_evil("/bin/true", *extra, env=env)
            self.assertEqual(status, 0, text)
        self.assert_clean((self.root / "report").read_bytes())
        self.call("runs", "show", self.runs()[0]["run"])
        self.assertEqual(self.call("verify")[0], 0)

    def test_an_environment_with_more_names_than_a_record_holds(self):
        env = {**self.env, **{f"V{i:05}_SECRET_{'x' * 40}": "v" for i in range(3000)}}
        status, text = self.run_evil("/bin/true", "--report", self.root / "report", env=env)
        self.assertEqual(status, 0, text)
        [plan] = self.bodies("plan.resolved")
        ambient = plan["ambient"]
        self.assertGreater(ambient["sensitive_unlisted"], 0)
        self.assertEqual(len(ambient["sensitive"]) + ambient["sensitive_unlisted"], 3000)
        self.assertIn("did not fit into the record", (self.root / "report").read_text())
        self.assert_verified()

    def test_a_program_of_any_name_whose_calls_are_refused(self):
        name = EVIL.replace(b"/", b"")
        program = os.fsencode(self.work) + b"/" + name
        shutil.copy(os.path.realpath("/usr/bin/python3"), program)
        report = self.root / "report"
        status, text = self.call("run", "exec", "--policy", self.policy, "--report", report, "--", program, "-c", PTRACE)
        self.assertEqual(status, 0, text)
        self.assert_clean(report.read_bytes())
        self.assertIn("refused:      1 action", report.read_text())
        for args in (("runs", "show", self.runs()[0]["run"]), ("verify", "--run", self.runs()[0]["run"])):
            self.assertEqual(self.call(*args)[0], 0)


if __name__ == "__main__":
    aasm_case.main()
