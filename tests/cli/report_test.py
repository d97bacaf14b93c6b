"""What a dry run and a report print: bound from the plan a live run uses, as the schemas say, and readable."""

import json
import os
import pathlib
import pty
import re
import select
import socket
import unittest

import jsonschema

import aasm_case

SCHEMAS = aasm_case.SOURCE / "schema/json/printed"
GOLDEN = aasm_case.SOURCE / "tests/testdata/cli"
ACCEPT = os.environ.get("AASM_TEST_ACCEPT") == "1"
PTRACE = "import ctypes; c = ctypes.CDLL(None); [c.ptrace(0, 0, 0, 0) for _ in range(2)]; c.mount(0, 0, 0, 0, 0)"
DENY = '  syscalls: { allow: ["@default"], deny: [ptrace] }\n'


def validator(name):
    """A validator of one schema that knows the others."""
    schemas = {path.name.removesuffix(".schema.json"): json.loads(path.read_text()) for path in SCHEMAS.glob("*.json")}
    kind = jsonschema.validators.validator_for(schemas[name])
    kind.check_schema(schemas[name])
    store = {schema["$id"]: schema for schema in schemas.values()}
    return kind(schemas[name], resolver=jsonschema.RefResolver("", schemas[name], store=store))


class Report(aasm_case.AasmCase):
    def setUp(self):
        super().setUp()
        text = self.policy.read_text().replace('  syscalls: { allow: ["@default"] }\n', DENY)
        self.write_policy(text)

    def dry(self, *options, program=("/bin/true",)):
        done = self.run_exec(*program, options=("--dry-run", *options))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def dry_json(self, *options, **more):
        value = json.loads(self.dry("--format", "json", *options, **more))
        validator("dry-run").validate(value)
        return value

    def live_json(self, *options, program=("/bin/true",)):
        path = self.root / "report.json"
        path.unlink(missing_ok=True)
        done = self.run_exec(*program, options=("--report", path, "--format", "json", *options))
        value = json.loads(path.read_text())
        validator("report").validate(value)
        return done, value


class Bound(Report):
    """Case: the preview is what a live run binds."""

    def test_the_digests_of_a_dry_run_are_those_of_the_records_of_a_live_run(self):
        dry = self.dry_json()
        text = self.dry()
        self.assertEqual(self.run_exec("/bin/true").returncode, 0)
        [plan] = self.bodies("plan.resolved")
        [policy] = self.bodies("policy.resolved")
        self.assertEqual(dry["report"]["plan"]["digest"], plan["digest"])
        self.assertEqual(dry["policy"]["digest"], policy["document"])
        self.assertEqual(dry["steps"], plan["steps"])
        self.assertEqual(dry["report"]["plan"]["candidates"], plan["candidates"])
        self.assertEqual(dry["report"]["authority"]["ambient"], plan["ambient"])
        for digest in (plan["digest"], policy["document"]):
            self.assertIn(digest, text)
        for step in plan["steps"]:
            self.assertIn(step, text)

    def test_the_negative_control_another_policy_has_another_digest(self):
        before = self.dry_json()["report"]["plan"]["digest"]
        self.write_policy(read=["/opt"])
        self.assertNotEqual(self.dry_json()["report"]["plan"]["digest"], before)

    def test_what_is_planned_of_each_domain_is_what_the_live_report_says(self):
        dry = self.dry_json()["report"]
        _, live = self.live_json()
        for planned, shown in zip(dry["domains"], live["domains"]):
            for member in ("domain", "requested", "requested_detail", "state", "state_detail", "policy_gaps"):
                self.assertEqual(planned[member], shown[member])
        self.assertEqual((dry["stage"], live["stage"]), ("pre_launch", "post_run"))

    def test_a_refusal_in_a_dry_run_is_the_refusal_of_the_live_run(self):
        self.write_policy(read=[self.home])
        dry = self.dry_json()
        self.assertEqual(self.run_exec("/bin/true").returncode, 125)
        [refused] = self.bodies("plan.refused")
        self.assertEqual(dry["report"]["plan"]["refusals"], refused["refusals"])
        self.assertEqual(len(dry["warnings"]), len(refused["refusals"]))
        for one in refused["refusals"]:
            validator("refusal").validate(one)


class Schema(Report):
    def test_every_kind_of_report_is_as_its_schema_says(self):
        self.live_json(program=("/usr/bin/python3", "-c", PTRACE))
        self.live_json("--isolation", "none")
        done, refused = self.live_json(program=("/no/such/program",))
        self.assertEqual((done.returncode, refused["posture"]), (127, "refused"))
        self.dry_json("--isolation", "none")
        self.dry_json(program=("/no/such/program",))

    def test_a_spoiled_report_is_refused_by_the_schema(self):
        good = self.dry_json()
        check = validator("dry-run")
        for path in (("report", "plan", "refusals"), ("report", "domains"), ("report", "authority", "ambient", "removed"),
                     ("policy", "state"), ("steps",)):
            spoiled = json.loads(json.dumps(good))
            place = spoiled
            for name in path[:-1]:
                place = place[name]
            place["unknown"] = place.pop(path[-1])
            self.assertFalse(check.is_valid(spoiled), path)

    def test_the_report_of_a_live_run_is_the_one_that_verify_recomputes(self):
        self.live_json(program=("/usr/bin/python3", "-c", PTRACE))
        done = self.aasm("verify", "--report", self.root / "report.json")
        self.assertEqual(done.returncode, 0, done.stdout)


class Readable(Report):
    """A reader who never saw aasm."""

    def test_refused_actions_are_grouped_with_count_rule_place_object_and_process(self):
        path = self.root / "report.txt"
        self.run_exec("/usr/bin/python3", "-c", PTRACE, options=("--report", path))
        text = path.read_text()
        line = next(i for i, one in enumerate(self.policy.read_text().splitlines(), 1) if "ptrace" in one)
        self.assertRegex(text, r"refused: +3 actions\n")
        self.assertRegex(text, rf"syscall call, rule syscalls\.deny\[0\] \(policy line {line}\): 2 actions; "
                               r"first ptrace by /usr/bin/python3[.0-9]* \(pid \d+\)")
        self.assertRegex(text, r"mount by /usr/bin/python3")
        _, report = self.live_json(program=("/usr/bin/python3", "-c", PTRACE))
        [row] = [row for row in report["domains"] if row["domain"] == "syscall"]
        [group] = [group for group in row["denials"] if group["rule"] == "syscalls.deny[0]"]
        self.assertEqual((group["actions"], group["line"], group["examples"][0]["object"]["name"]), (2, line, "ptrace"))

    def on_terminal(self, columns, *program):
        pid, master = pty.fork()
        if pid == 0:
            os.chdir(self.work)
            env = {**self.env, "COLUMNS": str(columns), "TERM": "dumb"}
            os.execve(aasm_case.AASM, [aasm_case.AASM, "run", "exec", "--policy", str(self.policy), "--", *program], env)
        seen = b""
        while select.select([master], [], [], 60)[0]:
            try:
                data = os.read(master, 65536)
            except OSError:
                break
            if not data:
                break
            seen += data
        os.waitpid(pid, 0)
        os.close(master)
        return seen.decode()

    def test_on_a_terminal_one_screen_is_printed_whatever_its_width(self):
        texts = [self.on_terminal(columns, "/bin/true") for columns in (20, 80, 200)]
        for text in texts:
            lines = text.replace("\r\n", "\n").strip().split("\n")
            self.assertLessEqual(len(lines), 24)
            self.assertEqual(lines[0], "--- summary ---")
            for label in ("program:", "boundary:", "refused:", "not measured:", "check:"):
                self.assertTrue(any(one.startswith(label) for one in lines), text)
            self.assertNotIn("\x1b", text)
        uuid = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
        self.assertEqual(len({re.sub(uuid, "RUN", text) for text in texts}), 1)

    def test_the_command_that_the_summary_names_judges_the_run(self):
        path = self.root / "report.txt"
        self.run_exec("/bin/true", options=("--report", path))
        command = re.search(r"check: +(aasm verify --run \S+)", path.read_text())[1].split()[1:]
        self.ok(*command)

    def test_a_run_without_a_boundary_says_so_first(self):
        path = self.root / "report.txt"
        self.run_exec("/bin/true", options=("--isolation", "none", "--report", path))
        self.assertRegex(path.read_text(), r"boundary: +NONE, as asked for")


class Golden(Report):
    """Whole texts. What must vary is replaced: ids, digests, the temporary folder, our version, capabilities of the user."""

    def normalised(self, text):
        for pattern, word in ((re.escape(str(self.root)), "ROOT"), (r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "ID"),
                              (r"\b[0-9a-f]{64}\b", "DIGEST"), (r"aasm-native \d+\.\d+\.\d+", "aasm-native VERSION"),
                              (r"(backend_version=).*", r"\1VERSION"), (r"allow read /(bin|lib|lib64|sbin)(, )?", "")):
            text = re.sub(pattern, word, text)
        return text

    def compare(self, name, text):
        path = GOLDEN / name
        if ACCEPT:
            path.parent.mkdir(exist_ok=True)
            path.write_text(self.normalised(text))
            self.skipTest("the golden file was written, nothing was compared")
        self.assertEqual(self.normalised(text), path.read_text())

    def test_a_dry_run(self):
        self.compare("dry-run.txt", self.dry(program=("/bin/sh", "-c", "exit 0")))

    def test_a_dry_run_of_a_launch_that_would_be_refused(self):
        self.write_policy(read=[self.home])
        self.compare("dry-run-refused.txt", self.dry(program=("/no/such/program",)))

    def test_a_refusal(self):
        self.write_policy(read=[self.home])
        self.compare("refusal.txt", self.run_exec("/no/such/program").stderr)

    def test_a_policy_that_does_not_load(self):
        self.write_policy("apiVersion: agent-assembly/v1\nkind: Policy\nspec:\n  filesystm:\n    read: {allow: [/usr]}\n  ipx: 1\n")
        self.compare("policy-error.txt", self.run_exec("/bin/true").stderr)


class Inherited(Report):
    """Descriptors that whoever starts aasm left open."""

    def plan(self):
        [body] = self.bodies("plan.resolved")
        return {one["number"]: (one["kind"], one["writable"], one["fate"]) for one in body["ambient"]["descriptors"]}

    def test_each_is_named_by_kind_and_by_what_becomes_of_it(self):
        here, there = socket.socketpair()
        reading, writing = os.pipe()
        memory = os.memfd_create("m", 0)
        folder = os.open("/", os.O_RDONLY)
        file = os.open(self.secret, os.O_RDONLY)
        extra = (here.fileno(), reading, writing, memory, folder, file)
        try:
            done = self.sh("ls /proc/self/fd | wc -l", pass_fds=extra)
            self.assertEqual(done.returncode, 0, done.stderr)
            found = self.plan()
            self.assertEqual(found, {
                0: ("device", True, "delegated"), 1: ("pipe", True, "delegated"), 2: ("pipe", True, "delegated"),
                here.fileno(): ("socket", True, "removed"), reading: ("pipe", False, "removed"), writing: ("pipe", True, "removed"),
                memory: ("memfd", True, "removed"), folder: ("directory", False, "removed"), file: ("file", False, "removed")})
            self.assertEqual(self.run_exec("/bin/true", options=("--isolation", "none"), pass_fds=(file,)).returncode, 0)
            self.assertEqual(self.plan()[file], ("file", False, "ambient_unremoved"))
        finally:
            here.close()
            there.close()
            for number in extra[1:]:
                os.close(number)
        self.assert_verified()

    def test_a_descriptor_that_is_left_open_is_no_least_authority(self):
        with open(self.secret, encoding="utf-8") as file:
            _, report = self.live_json_with("--isolation", "none", pass_fds=(file.fileno(),))
        self.assertFalse(report["authority"]["least_authority"])
        self.assertIn("inherited descriptor passed on that policy does not name", str(report["authority"]["reasons"]))

    def live_json_with(self, *options, **more):
        path = self.root / "report.json"
        done = self.run_exec("/bin/true", options=("--report", path, "--format", "json", *options), **more)
        return done, json.loads(path.read_text())

    def test_one_that_would_pass_and_refers_to_our_own_files_is_refused(self):
        ledger = self.home / "ledger.db"
        with open(ledger, "rb") as file:
            done = self.run_exec("/bin/cat", stdin=file)
            self.assertEqual((done.returncode, done.stdout), (125, ""), done.stderr)
            self.assertIn("grant_covers_evidence: descriptor 0", done.stderr)
            # Not passed on, so not refused.
            self.assertEqual(self.run_exec("/bin/true", pass_fds=(file.fileno(),)).returncode, 0)
        for folder in (self.home, self.home / "keys"):
            opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            done = self.run_exec("/bin/ls", "/proc/self/fd/0/", stdin=opened)
            os.close(opened)
            self.assertEqual((done.returncode, done.stdout), (125, ""), done.stderr)
            self.assertIn("grant_covers_evidence: descriptor 0", done.stderr)
        with open(self.policy, "rb") as file:
            self.assertEqual(self.run_exec("/bin/cat", stdin=file).returncode, 0)
        with open(self.policy, "ab") as file:
            done = self.run_exec("/bin/true", stdin=file)
            self.assertEqual(done.returncode, 125)
            self.assertIn("grant_covers_control: descriptor 0", done.stderr)
        with open(next(pathlib.Path(self.home / "keys").iterdir()), "rb") as file:
            self.assertEqual(self.run_exec("/bin/cat", stdin=file).returncode, 125)


if __name__ == "__main__":
    aasm_case.main()
