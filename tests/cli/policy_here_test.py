"""What `aasm policy check` says of this host: which stated domains nothing carries out here."""

import errno
import json
import os
import subprocess

import jsonschema

import aasm_case
import host_case

GOLDEN = aasm_case.SOURCE / "tests/testdata/cli"
ACCEPT = os.environ.get("AASM_TEST_ACCEPT") == "1"
CHECK_SCHEMA = jsonschema.Draft202012Validator(
    json.loads((aasm_case.SOURCE / "schema/json/policy-check.schema.json").read_text(encoding="utf-8")))
FILES = """filesystem:
  read: { allow: [/usr, /lib, /lib64, /bin] }
  write: { allow: [] }
"""
SYSCALLS = 'syscalls: { allow: ["@default"] }\n'


class Here(host_case.HostCase):
    initialise = False  # neither ledger nor key

    def check(self, text, *host, status=0):
        self.policy.write_text(text)
        done = subprocess.run([*host, aasm_case.AASM, "policy", "check", self.policy, "--format", "json"], env=self.env,
                              cwd=self.work, capture_output=True, text=True, timeout=60, check=False)
        answer = json.loads(done.stdout)
        CHECK_SCHEMA.validate(answer)
        self.assertEqual((done.returncode, done.stderr), (status, ""), answer)
        return [one for one in answer["findings"] if one["code"].endswith("_here")]

    def test_what_this_host_carries_out_is_not_mentioned_and_nothing_is_left_behind(self):
        self.assertEqual(self.check(FILES + SYSCALLS), [])
        self.assertFalse(self.home.exists())
        self.assertEqual(os.listdir(self.work), [])

    def test_without_landlock_each_domain_is_an_error_at_its_statement(self):
        host = self.strange("--no-landlock", errno.EOPNOTSUPP)
        found = self.check(FILES + SYSCALLS + "posture: { default: degrade_if_unavailable }\n", *host, status=1)
        self.assertEqual([(one["severity"], one["code"], one["line"], one["column"]) for one in found],
                         [("error", "not_enforced_here", 2, 18), ("error", "not_enforced_here", 3, 19),
                          ("error", "not_enforced_here", 4, 20)], found)
        self.assertIn("lsm=", found[0]["text"])

    def test_the_answer_in_full(self):
        """As text and as JSON, on a host that is the same everywhere."""
        self.policy.write_text(FILES + SYSCALLS)
        for options, name in (((), "policy-check-here.txt"), (("--format", "json"), "policy-check-here.json")):
            done = subprocess.run([*self.strange("--no-landlock", errno.EOPNOTSUPP), aasm_case.AASM, "policy", "check", self.policy,
                                   *options], env=self.env, cwd=self.work, capture_output=True, text=True, timeout=60, check=False)
            text = done.stdout.replace(str(self.root), "ROOT")
            if ACCEPT:
                (GOLDEN / name).write_text(text)
            else:
                self.assertEqual(text, (GOLDEN / name).read_text())
        if ACCEPT:
            self.skipTest("the golden files were written, nothing was compared")

    def test_check_and_dry_run_agree(self):
        """Whether a run would be refused, for domains of which this version may carry out some and not others."""
        self.ok("init", "--org", "test.example")
        for name, statement in (("network", "network: { allowlist: [example.com] }\n"), ("ipc", "ipc: { unix_sockets: { allow: [] } }\n"),
                                ("processes", "processes: { max: 64 }\n"), ("syscalls", SYSCALLS)):
            for posture in ("required", "degrade_if_unavailable"):
                with self.subTest(statement=name, posture=posture):
                    text = FILES + statement + f"posture: {{ default: {posture} }}\n"
                    self.policy.write_text(text)
                    dry = self.aasm("run", "exec", "--dry-run", "--format", "json", "--policy", self.policy, "--", "/bin/true")
                    if "load_failed" in dry.stdout + dry.stderr:
                        self.fail(dry.stdout)
                    refused = bool(json.loads(dry.stdout)["warnings"])
                    found = self.check(text, status=1 if refused else 0)
                    self.assertEqual(refused, any(one["severity"] == "error" for one in found), found)

    def test_inside_a_run_nothing_is_measured(self):
        self.ok("init", "--org", "test.example")
        binaries = os.path.dirname(aasm_case.AASM)
        inner = self.work / "inner.yaml"
        inner.write_text(FILES)
        self.write_policy(read=[binaries])
        # A leak sanitizer cannot work inside a boundary.
        done = self.run_exec("/usr/bin/env", "ASAN_OPTIONS=detect_leaks=0", aasm_case.AASM, "policy", "check", str(inner))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertNotIn("_here", done.stdout)


if __name__ == "__main__":
    aasm_case.main()
