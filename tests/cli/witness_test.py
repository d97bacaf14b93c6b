"""evidence.witness: what the kernel's audit tells of a run is recorded beside its decisions, or why it was not heard."""

import json
import os
import pathlib
import socket
import struct
import unittest

import aasm_case

AUDIT_GET, AUDIT_SET, NETLINK_AUDIT, NLM_F_REQUEST_ACK = 1000, 1001, 9, 5
STATE = pathlib.Path("/run/aasm-audit")


def ask(kind, content):
    """The answer of the host's audit; OSError where it gives none to us."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_AUDIT) as link:
        link.settimeout(5)
        link.bind((0, 0))
        link.send(struct.pack("=IHHII", 16 + len(content), kind, NLM_F_REQUEST_ACK, 1, 0) + content)
        while True:
            answer = link.recv(8192)
            what = struct.unpack("=IHHII", answer[:16])[1]
            if what == 2 and (number := struct.unpack("=i", answer[16:20])[0]) != 0:
                raise OSError(-number, os.strerror(-number))
            if what == AUDIT_GET or kind == AUDIT_SET:
                return answer[16:]


def enabled():
    return struct.unpack("=2I", ask(AUDIT_GET, b"")[:8])[1]


def why_not():
    """Why nothing can be heard here, or an empty text."""
    try:
        ask(AUDIT_GET, b"")
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_AUDIT) as link:
            link.bind((0, 1))
    except OSError as error:
        return f"the host's audit is out of reach: {error}"
    release = tuple(int(part) for part in os.uname().release.split(".")[:2])
    return "" if release >= (6, 15) else "this kernel's Landlock tells audit nothing"


WHY_NOT = why_not()


class WitnessCase(aasm_case.AasmCase):
    def ask_for(self, wish, evidence="setup"):
        self.write_policy(aasm_case.POLICY.format(read="").replace(
            "spec:\n", f"spec:\n  evidence: {{ filesystem: {evidence}, witness: {wish} }}\n"))

    def told(self):
        [body] = self.bodies("witness.reported")
        return body

    def witness(self, *args):
        status, report = self.verify_json("--run", self.runs()[0]["run"], *args)
        [one] = [entry for entry in report["runs"]["newest"] if entry["id"] == self.runs()[0]["run"]]
        return status, one["report"]["witness"]


class AnyHost(WitnessCase):
    def test_not_asked_for_there_is_none(self):
        self.assertEqual(self.sh("true").returncode, 0)
        self.assertEqual(self.bodies("witness.reported"), [])
        self.assertNotIn("witness", self.bodies("policy.resolved")[0])

    def test_another_word_is_an_error(self):
        self.ask_for("required")
        done = self.sh("true")
        self.assertEqual(done.returncode, 125)
        self.assertIn("evidence.witness", done.stderr)

    @unittest.skipIf(os.geteuid() == 0, "root is permitted to listen; this is about others")
    def test_who_is_not_permitted_is_told_so_and_the_run_goes_on(self):
        self.ask_for("enable")
        self.assertEqual(self.sh("exit 3").returncode, 3)
        self.assertEqual((self.told()["state"], self.told()["wish"], self.told()["heard"]), ("unavailable", "enable", 0))
        self.assertIn("CAP_AUDIT_READ", self.told()["reason"])
        self.assert_verified()
        self.assertIn("CAP_AUDIT_READ", self.witness()[1]["reason"])
        self.assertFalse(STATE.exists())


@unittest.skipIf(WHY_NOT, WHY_NOT or "-")
class WhereAuditIsHeard(WitnessCase):
    def setUp(self):
        super().setUp()
        self.before = enabled()
        self.assertFalse(STATE.exists() and not self.before, "a switch that nobody holds")

    def tearDown(self):
        if not STATE.exists():  # else a run beside us has it on
            self.assertEqual(enabled(), self.before, "the host's audit is as it was")

    def until_nothing_is_lost(self, action):
        """The kernel loses records of a busy host, by a backlog of 64 for all of it; the run says so, and here another is made."""
        for _ in range(10):
            done = action()
            if self.told()["state"] == "heard" and self.told()["lost"] == 0:
                return done
            self.assertNotEqual(self.witness()[1]["account"], "agrees")
        self.skipTest("the kernel's audit lost records in each of ten runs")

    def places(self, denials):
        return {(denial["blockers"], denial.get("path")) for denial in denials}

    def test_a_refusal_that_nothing_else_records_is_heard_and_claims_nothing(self):
        self.ask_for("enable")
        done = self.until_nothing_is_lost(lambda: self.sh(f"for i in 1 2 3; do read x < {self.secret}; done"))
        self.assertIn("Permission denied", done.stderr)
        told = self.told()
        self.assertEqual(told["state"], "heard", told)
        [denial] = [one for one in told["denials"] if one.get("path") == str(self.secret)]
        self.assertEqual((denial["blockers"], denial["count"], int(denial["inode"])),
                         ("fs.read_file", 3, self.secret.stat().st_ino))
        self.assertGreaterEqual(told["before_start"], 1)
        self.assertEqual(told["counted"], told["before_start"] + told["heard"])
        self.assert_verified()
        status, view = self.witness()
        self.assertEqual((status, view["standing"], view["account"], view["compared"]), (0, "heard", "agrees", False))
        claim = self.claims()["filesystem_read"]
        self.assertEqual((claim["claim"], claim["denied_actions"], claim["observations"]), ("unmeasured", 0, 0))
        text = self.aasm("verify", "--run", self.runs()[0]["run"]).stdout
        self.assertIn("second witness, the kernel's audit (best effort; no claim rests on it)", text)
        self.assertIn(f"fs.read_file {self.secret}, 3 times", text)

    def test_names_of_the_workload_are_what_they_were(self):
        self.ask_for("enable")
        odd = self.outside / 'a b" ino=1 domain=0'
        odd.write_text("x")
        self.until_nothing_is_lost(lambda: self.run_exec("/bin/cat", odd))
        self.assertIn(("fs.read_file", str(odd)), self.places(self.told()["denials"]))

    def test_what_is_decided_is_explained(self):
        self.ask_for("enable", "decisions")
        done = self.until_nothing_is_lost(lambda: self.python("""
            import os, sys
            def refused(action, *arguments):
                try:
                    action(*arguments)
                except OSError:
                    return
                raise SystemExit(1)
            secret, outside = sys.argv[1:]
            refused(open, secret)
            refused(open, outside + "/new", "w")
            refused(os.mkdir, outside + "/folder")
            refused(os.unlink, secret)
            refused(os.rename, secret, outside + "/moved")
            refused(os.listdir, outside)
            refused(os.truncate, secret, 1)
            os.chdir("/usr")
            refused(os.symlink, "x", "../etc/x")
        """.replace("\n            ", "\n"), self.secret, self.outside))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.told()["state"], "heard", self.told())
        self.assertIn(("fs.read_file", str(self.secret)), self.places(self.told()["denials"]))
        status, view = self.witness()
        self.assertEqual((status, view["standing"], view["account"], view["compared"], view["unexplained"]),
                         (0, "heard", "agrees", True, []), view)

    def test_a_name_of_a_socket_that_landlock_alone_judges_needs_no_decision(self):
        self.ask_for("enable", "decisions")
        done = self.until_nothing_is_lost(lambda: self.python(
            "import socket, sys\ntry: socket.socket(socket.AF_UNIX).bind(sys.argv[1])\n"
            "except PermissionError: print('refused')", self.outside / "socket"))
        self.assertEqual(done.stdout, "refused\n", done.stderr)
        self.assertEqual(self.places(self.told()["denials"]), {("fs.make_sock", str(self.outside))})
        status, view = self.witness()
        self.assertEqual((status, view["compared"], view["unexplained"]), (0, False, []))

    def test_what_a_flood_takes_away_is_said(self):
        self.ask_for("enable")
        done = self.python("import sys\nfor _ in range(5000):\n    try: open(sys.argv[1])\n    except PermissionError: pass", self.secret)
        self.assertEqual(done.returncode, 0, done.stderr)
        told, (status, view) = self.told(), self.witness()
        if "counted" not in told:
            self.skipTest("the end of the domain was lost, too")
        self.assertEqual((status, told["state"]), (0, "heard"))
        self.assertGreaterEqual(told["counted"], 5000)
        missing = told["counted"] - told["before_start"] - told["heard"]
        self.assertEqual((view["missing"], view["account"] == "missing", view["unexplained"]), (missing, missing > 0, []))
        self.assertEqual(sum(one["count"] for one in told["denials"]) + told["unlisted"], told["heard"])

    def test_the_report_of_the_run_says_what_verify_recomputes(self):
        self.ask_for("enable", "decisions")
        report = self.root / "report.json"
        self.run_exec("/bin/cat", self.secret, options=("--report", report, "--format", "json"))
        self.assertEqual(json.loads(report.read_text())["witness"]["standing"], "heard")
        self.ok("verify", "--run", self.runs()[0]["run"], "--report", report)

    def test_what_others_are_refused_meanwhile_is_not_the_runs(self):
        self.ask_for("enable")
        beside = self.start("/bin/sh", "-c", "while [ ! -e go ]; do sleep 0.1; done")
        self.wait_for(lambda: self.runs() and self.bodies("process.started"), "the first run")
        first = self.runs()[0]["run"]
        self.until_nothing_is_lost(lambda: self.sh(f"read x < {self.secret}"))
        own = self.runs()[0]["run"]
        (self.work / "go").touch()
        beside.communicate(timeout=30)
        [told], [other] = self.bodies("witness.reported", own), self.bodies("witness.reported", first)
        self.assertIn(("fs.read_file", str(self.secret)), self.places(told["denials"]))
        self.assertNotIn(("fs.read_file", str(self.secret)), self.places(other["denials"]))
        self.assertFalse(set(told["domains"]) & set(other["domains"]))

    def test_without_leave_to_switch_it_on_it_stays_off(self):
        if self.before:
            self.skipTest("the host's audit is on")
        self.ask_for("listen")
        self.assertEqual(self.sh("true").returncode, 0)
        if STATE.exists():
            self.skipTest("a run beside this one has switched the host's audit on")
        self.assertEqual(self.told()["state"], "unavailable")
        self.assertIn("is off", self.told()["reason"])
        self.assert_verified()

    def test_switched_off_meanwhile_it_says_that_it_does_not_know(self):
        if self.before:
            self.skipTest("the host's audit is on, and is not ours to switch off")
        self.ask_for("enable")
        running = self.start("/bin/sh", "-c", f"while [ ! -e go ]; do sleep 0.1; done; cat {self.secret}")
        self.wait_for(lambda: self.runs() and self.bodies("process.started"), "the start")
        ask(AUDIT_SET, struct.pack("=11I", 1, 0, *([0] * 9)))
        (self.work / "go").touch()
        running.communicate(timeout=30)
        told = self.told()
        self.assertEqual((told["state"], told["enabled_at_end"]), ("heard", False))
        self.assertNotIn(("fs.read_file", str(self.secret)), self.places(told["denials"]))
        self.assertEqual(self.witness()[1]["account"], "unknown")

    def test_one_that_was_killed_leaves_the_switch_to_the_next(self):
        if self.before:
            self.skipTest("the host's audit is on")
        self.ask_for("enable")
        running = self.start("/bin/sleep", "60")
        self.wait_for(lambda: self.runs() and self.bodies("process.started"), "the start")
        running.kill()
        running.communicate(timeout=30)
        self.assertEqual(enabled(), 1)
        self.assertEqual(self.sh("true").returncode, 0)
        self.assertEqual((self.told()["state"], self.told()["enabled_by_aasm"]), ("heard", False))


if __name__ == "__main__":
    aasm_case.main()
