"""The crash walk: supervisor, warden and launch child killed at one system call after the other.

After each kill nobody of the tree is left, the ledger verifies as what it is, never as clean and never
as faulty, with every record that was acknowledged; the next run recovers it and works.
"""

import json
import unittest

import aasm_case
import crash_case

EXECVE, EXECVEAT = 59, 322


class CrashOfARun(crash_case.CrashCase):
    PROGRAM = "echo > started; setsid sleep 600 & cat {secret}; unshare -r true; echo > ended"

    def exec(self, *options):
        self.command = ("run", "exec", "--policy", self.policy, *options, "--", "/bin/sh", "-c", self.PROGRAM.format(secret=self.secret))
        return self.command

    def before(self):
        if self.crashes % self.HOME_LASTS == 0:
            self.ready_home()
        self.crashes += 1
        self.of_probe = False
        self.started = self.work / "started"
        self.ended = self.work / "ended"
        for mark in (self.started, self.ended):
            mark.unlink(missing_ok=True)
        self.verified = self.verified or self.assert_verified()
        self.old = {run["id"] for run in self.verified["runs"]["newest"]}
        self.old_records = self.verified["coverage"]["records"]
        self.old_names = self.names()

    def new_run(self, report):
        """The run of the killed supervisor, if it came as far as run.opened."""
        new = [run for run in report["runs"]["newest"] if run["id"] not in self.old]
        self.assertLessEqual(len(new), 1)
        return new[0] if new else None

    def next_run_works(self):
        self.assertEqual(self.sh("exit 7").returncode, 7)
        self.verified = report = self.assert_verified()
        self.assertGreater(report["coverage"]["records"], self.old_records)
        self.assertEqual(list((self.home / "runs").glob("*.lock")), [])
        self.assertEqual([name for name in self.names() if not crash_case.LEFTOVER.search(name)], self.old_names)
        return {run["id"]: run["state"] for run in report["runs"]["newest"]}

    def after_supervisor(self, seen):
        status, report = self.judge()
        run = self.new_run(report)
        if run is None:
            self.assertFalse(self.started.exists(), "a program without a record")
            self.assertEqual(status, 0)
        elif run["state"] == "unfinished":
            self.assertEqual(status, 3)
            kinds = {record["kind"] for record in self.records(run["id"])}
            if self.started.exists():
                self.assertIn("plan.resolved" if "none" in self.command else "boundary.proved", kinds)
        else:  # the kill came behind the last commit
            self.assertTrue(self.ended.exists(), run["state"])
            self.assertEqual((status, run["state"]), (0, "finished"))
        states = self.next_run_works()
        if run is not None and run["state"] == "unfinished":
            self.assertEqual(states[run["id"]], "interrupted")
            [recovered] = self.bodies("run.recovered", run["id"])
            if self.started.exists():
                self.assertTrue(recovered["program_may_have_run"])
            self.assertEqual(self.judge("--run", run["id"])[0], 3)

    def after_relative(self, seen):
        """The warden or the launch child was killed: the supervisor says so."""
        self.assertNotIn("refused its frame", seen["stderr"])
        _, report = self.judge()
        run = self.new_run(report)
        outcome = (seen["status"], run["state"])
        if self.started.exists():
            self.assertIn(outcome, ((122, "evidence_failure"), (0, "finished")))
            self.assertTrue(outcome[0] == 122 or self.ended.exists())
        elif self.of_probe:
            self.assertIn(outcome, ((125, "refused"), (125, "failed_before_start")))
        elif seen["call"] not in (EXECVE, EXECVEAT):
            self.assertIn(outcome, ((125, "failed_before_start"), (122, "evidence_failure")))
        else:  # with crash_step in its place as the tracer, aasm sees only that the child has closed its descriptors
            self.assertIn(outcome, ((125, "failed_before_start"), (122, "evidence_failure"), (137, "finished")))
        self.assertEqual(self.next_run_works()[run["id"]], run["state"])

    def before_a_first_run(self):
        self.crashes = 0
        self.before()
        for hint in (self.home / "probes").iterdir():
            hint.unlink()
        self.of_probe = True

    def before_a_recovery(self):
        self.before()
        run = self.start("/bin/sleep", "600")
        self.addCleanup(run.kill)
        self.wait_for(lambda: run.poll() is not None or self.verify_json()[1]["coverage"]["records"] > self.old_records, "run.opened", 60.0)
        if run.poll() is not None:
            self.fail(f"the run to be recovered ended by itself: {run.returncode} {run.communicate()}")
        run.kill()
        run.communicate(timeout=20)
        self.dead = self.new_run(self.judge()[1])
        self.assertEqual(self.dead["state"], "unfinished")
        self.old.add(self.dead["id"])

    def after_a_recovery(self, seen):
        status, report = self.judge()
        run = self.new_run(report)
        states = {one["id"]: one["state"] for one in report["runs"]["newest"]}
        self.assertIn(states[self.dead["id"]], ("unfinished", "interrupted"))
        if run is not None:
            self.assertEqual(states[self.dead["id"]], "interrupted")
        states = self.next_run_works()
        self.assertEqual(states[self.dead["id"]], "interrupted")
        self.assertEqual(len(self.bodies("run.recovered", self.dead["id"])), 1)
        self.assertTrue(run is None or states[run["id"]] in ("interrupted", "finished"))

    def test_the_supervisor_of_a_first_run(self):
        self.walk("main", self.exec, 4, self.before_a_first_run, self.after_supervisor)

    def test_the_warden_of_a_probe(self):
        self.walk("warden", self.exec, 2, self.before_a_first_run, self.after_relative)

    def test_the_launch_child_of_a_probe(self):
        self.walk("launch", self.exec, 2, self.before_a_first_run, self.after_relative)

    def test_the_supervisor_while_it_recovers_another_run(self):
        self.walk("main", self.exec, 4, self.before_a_recovery, self.after_a_recovery)

    def test_the_supervisor(self):
        self.walk("main", self.exec, 14, self.before, self.after_supervisor)

    def without_a_boundary(self):
        return self.exec("--isolation", "none")

    def test_the_supervisor_without_a_boundary(self):
        self.walk("main", self.without_a_boundary, 4, self.before, self.after_supervisor)

    def test_the_warden_without_a_boundary(self):
        self.walk("warden", self.without_a_boundary, 4, self.before, self.after_relative)

    def test_the_launch_child_without_a_boundary(self):
        self.walk("launch", self.without_a_boundary, 2, self.before, self.after_relative)

    def test_the_warden(self):
        self.walk("warden", self.exec, 8, self.before, self.after_relative)

    def test_the_launch_child(self):
        self.walk("launch", self.exec, 6, self.before, self.after_relative)


class CrashOfAChange(crash_case.CrashCase):
    """init and the changes of keys: done, not done, or finished by whoever comes next; never half."""

    def after(self, seen):
        if (self.home / "ledger.db").exists():
            self.judge()
        else:
            self.assertEqual(self.acknowledged(), 0)
        self.ok("init", "--org", "test.example")
        self.assertEqual(self.sh("exit 7").returncode, 7)
        self.assertIn(self.judge()[0], self.verdicts)
        self.assertEqual([name for name in self.names() if name.startswith(("keys.new-", "ledger.db.new-"))], [])

    def before(self):
        if self.crashes % self.HOME_LASTS == 0:
            self.ready_home()
        self.crashes += 1

    def before_a_revocation(self):
        self.ready_home()
        keys = json.loads(self.ok("key", "list", "--format", "json").stdout)["keys"]
        [self.retired] = [key["id"] for key in keys if key["purpose"] == "host"]
        self.ok("key", "rotate", "host")

    def change(self, *command):
        self.verdicts = (0,)
        self.walk("main", lambda: command, 3, self.before, self.after)

    def test_init(self):
        self.verdicts = (0,)
        self.walk("main", lambda: ("init", "--org", "test.example"), 8, self.new_home, self.after)

    def test_rotation_of_the_host_key(self):
        self.change("key", "rotate", "host")

    def test_rotation_of_the_log_key(self):
        self.change("key", "rotate", "log")

    def test_replacement(self):
        self.change("key", "replace", "both")

    def test_revocation(self):
        self.verdicts = (0, 3)  # what a revoked key signed is not VERIFIED any more
        self.walk("main", lambda: ("key", "revoke", self.retired), 3, self.before_a_revocation, self.after)


if __name__ == "__main__":
    aasm_case.main()
