"""Every reason for which a launch is refused: what the caller reads, and that the record says the same."""

import os
import pathlib
import re
import sys
import unittest

import aasm_case

sys.path.insert(0, str(aasm_case.SOURCE / "scripts/lib"))
import record_headers  # noqa: E402

HEAD = "apiVersion: agent-assembly/v1\nkind: Policy\nspec:\n"
TOO_FEW = "  resources: { open_files: 8 }\n"  # a limit that no program could start with
FILES = "  filesystem:\n    read: { allow: [/usr] }\n    write: { allow: [] }\n"
NO_FALLBACK = "the program is not run without a boundary"
# Reasons that this version gives only to a backend that the tests make up, or in a place of their own: where they are read.
ELSEWHERE = {
    "no_requirements": "tests/unit/planner/refusal_test.cc", "no_capability_reported": "tests/unit/planner/refusal_test.cc",
    "observe_only_for_prevention_requirement": "tests/unit/planner/refusal_test.cc",
    "decision_too_late": "tests/unit/planner/refusal_test.cc", "decision_not_synchronous": "tests/unit/planner/refusal_test.cc",
    "descendant_coverage_insufficient": "tests/unit/planner/refusal_test.cc",
    "prerequisite_unsatisfied": "tests/cli/host_kernels_test.py", "nested_run_unsupported": "tests/cli/refusal_test.py",
    "requirement_unmet": "tests/cli/catalogue_test.py",
}


class Row:
    """One launch: its policy and options, and what the refusal says was asked, is given, and is to be done."""

    def __init__(self, token, detail, fix, *, policy=None, options=(), program=("/bin/true",), status=125, place=None, prepare=None):
        self.token, self.detail, self.fix = token, detail, fix
        self.policy, self.options, self.program, self.status = policy, options, program, status
        self.place, self.prepare = place, prepare


def rows():
    pinned = ("--isolation-backend",)
    return [
        Row("policy_unconfigured", "states no control", "aasm init", policy=HEAD + "  tools: {}\n"),
        Row("policy_load_failed", "unknown key `filesystm` in spec; did you mean `filesystem`", "correct what is named above",
            policy=HEAD + "  filesystm: {}\n", place="4:3"),
        Row("policy_load_failed", "there is no such file", "correct", place=" there", prepare=lambda test: test.policy.unlink()),
        Row("policy_permissive", "there is no boundary to build", "--isolation none",
            policy=HEAD + "  capabilities: { allow: [file_read, file_write, file_delete, network_outbound, network_inbound, terminal_exec, "
                          "agent_spawn] }\n"),
        Row("filesystem_not_stated", "does not state `filesystem.write`", "add `allow:` lists",
            policy=HEAD + "  filesystem: { read: { allow: [/usr] } }\n"),
        Row("grant_covers_evidence", r"grants to read `.*/home`, which covers", "AASM_HOME",
            policy=HEAD + "  filesystem:\n    read: { allow: [/usr, \"HOME\"] }\n    write: { allow: [] }\n", place="5:27"),
        Row("grant_covers_evidence", "has 2 names", "remove the other names",
            prepare=lambda test: os.link(test.home / "ledger.db", test.root / "other")),
        Row("grant_covers_control", r"grants to write `.*`, which covers `.*policy.yaml`", "--policy FILE",
            policy=HEAD + "  filesystem:\n    read: { allow: [/usr] }\n    write: { allow: [\"POLICY\"] }\n", place="6:22"),
        Row("backend_unavailable", r"there is no backend called `x`; this version knows `aasm-native`", "--isolation-backend", options=(*pinned, "x")),
        Row("backend_unavailable", f"gvisor cannot be used here: not built.*{NO_FALLBACK}", "--isolation none", options=(*pinned, "gvisor")),
        Row("backend_unavailable", f"microvm cannot be used here: not built.*{NO_FALLBACK}", "aasm backends list", options=("--isolation", "microvm")),
        Row("backend_unavailable", "realises the class process and --isolation asks for microvm", "--isolation process",
            options=(*pinned, "aasm-native", "--isolation", "microvm")),
        Row("backend_unavailable", "--isolation none asks for none", "--isolation auto", options=(*pinned, "aasm-native", "--isolation", "none")),
        Row("backend_unavailable", f"not built in this version.*`sandlock`, `gvisor`, `microvm`.*{NO_FALLBACK}", "aasm backends list",
            policy=HEAD + FILES + TOO_FEW),
        Row("domain_unsupported", r"`resources.*` \(.*\) asks aasm-native to refuse .* of resource", "posture.resource",
            policy=HEAD + FILES + TOO_FEW, place="7:"),
        Row("no_evidence_produced", "of credential before they take effect; the policy wants a record of single decisions", "evidence.credential: setup",
            policy=HEAD + FILES + "  credentials: { descriptors: { allow: [0] } }\n  evidence: { credential: decisions }\n", place="7:"),
        Row("program_not_found", "there is no program `nix-da`", "check the spelling", program=("nix-da",), status=127),
        Row("program_not_executable", "cannot be executed", r"chmod \+x", program=("/etc/passwd",), status=126),
    ]


class Catalogue(aasm_case.AasmCase):
    def launch(self, row):
        self.write_policy()
        if row.policy:
            self.write_policy(row.policy.replace("HOME", str(self.home)).replace("POLICY", str(self.policy)))
        if row.prepare:
            row.prepare(self)
        return self.run_exec(*row.program, options=row.options)

    def test_each_says_what_was_asked_what_is_given_where_and_what_to_do(self):
        for number, row in enumerate(rows()):
            with self.subTest(row.token, number=number):
                (self.root / "other").unlink(missing_ok=True)
                done = self.launch(row)
                self.assertEqual((done.returncode, done.stdout), (row.status, ""), done.stderr)
                self.assertRegex(done.stderr.splitlines()[0], r"^error: refused before the start; no program ran( \(\d+ reasons\))?$")
                told = re.findall(r"^  ([a-z_]+): ((?:.*\n)(?:      .*\n)*)    to do: (.*)$", done.stderr, re.M)
                mine = [one for one in told if one[0] == row.token and re.search(row.detail, one[1].replace("\n", " "))]
                self.assertEqual(len(mine), 1, done.stderr)
                self.assertRegex(mine[0][2], row.fix)
                if row.place:
                    self.assertIn(f"{self.policy}:{row.place}", mine[0][1])
                self.assert_recorded(told)
        self.assertEqual(self.aasm("verify").returncode, 0)

    def assert_recorded(self, told):
        [body] = self.bodies("plan.refused")
        refusals = [(one.get("reason", one["launch"]), one["fix"]) for one in body["refusals"]]
        self.assertEqual([(token, fix) for token, _, fix in told], refusals)
        self.assertEqual(len(set(map(str, body["refusals"]))), len(refusals))

    def test_several_at_once_are_told_together_in_the_order_of_putting_right(self):
        self.write_policy(HEAD + f"  filesystem: {{ read: {{ allow: [\"{self.home}\"] }} }}\n" + TOO_FEW)
        done = self.run_exec("/no/such/program")
        tokens = re.findall(r"^  ([a-z_]+): ", done.stderr, re.M)
        order = ["filesystem_not_stated", "grant_covers_evidence", "domain_unsupported", "backend_unavailable", "program_not_found"]
        self.assertEqual(list(dict.fromkeys(tokens)), order, done.stderr)
        self.assertIn(f"({len(tokens)} reasons)", done.stderr)

    def test_a_new_reason_without_a_row_fails_here(self):
        words = record_headers.enums()
        known = {row.token for row in rows()} | set(ELSEWHERE)
        self.assertEqual(set(words["LaunchRefusal"][1]) | set(words["RefusalReason"][1]), known)
        for token, place in ELSEWHERE.items():
            text = pathlib.Path(aasm_case.SOURCE / place).read_text()
            camel = "k" + "".join(word.capitalize() for word in token.split("_"))
            self.assertTrue(token in text or camel in text or token == "no_requirements" and "refuse_no_requirements" in text, token)

    def test_what_the_documents_name_and_nobody_built_is_refused_in_words_of_its_own(self):
        for args, said in ((("run", "claude", "x"), "aasm run exec -- claude"), (("run", "exec", "--no-proxy", "--", "true"), "there is no proxy"),
                           (("run", "exec", "--enforcement-mode=disabled", "--", "true"), "--isolation none"),
                           (("run", "exec", "--enforcement-mode", "disabled", "--", "true"), "--isolation none"),
                           (("run", "exec", "--bundle", "f", "--", "true"), "--receipt")):
            done = self.aasm(*args)
            self.assertEqual((done.returncode, done.stdout), (125, ""), done.stderr)
            self.assertIn("is not built in this version", done.stderr)
            self.assertIn(said, done.stderr)
        # What stands behind the cut is the program's.
        done = self.run_exec("/bin/echo", "--no-proxy", "claude")
        self.assertEqual((done.returncode, done.stdout), (0, "--no-proxy claude\n"), done.stderr)
        done = self.aasm("run", "exec", "--isolation", "sandbox", "--", "true")
        self.assertIn("one of none, auto, process, userspace-kernel, microvm", done.stderr)


if __name__ == "__main__":
    aasm_case.main()
