"""aasm run exec: whoever of supervisor, warden and launch child is killed, nobody of the tree is left and the ledger says what happened."""

import os
import pathlib
import signal
import unittest

import aasm_case

WITH_SLEEPER = """
import os, signal, subprocess, sys, time
sleeper = subprocess.Popen(["/bin/sleep", "600"], start_new_session=True)
print(os.getpid(), sleeper.pid, flush=True)
{then}
"""


class Lifecycle(aasm_case.AasmCase):
    def setUp(self):
        super().setUp()
        self.assertEqual(self.sh("exit 0").returncode, 0)  # so that no later run has the warden of a probe

    def children(self, pid):
        try:
            return [int(word) for word in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
        except (FileNotFoundError, ProcessLookupError):
            return []

    def name(self, pid):
        try:
            return pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
        except (FileNotFoundError, ProcessLookupError):
            return ""

    def warden_of(self, supervisor):
        def found():
            return [pid for pid in self.children(supervisor) if self.name(pid) == "aasm-warden"]
        return self.wait_for(found, "the warden")[0]

    def run_to(self, then, **more):
        """Starts a program that has a sleeper; returns it with supervisor, program and sleeper."""
        process = self.start("/usr/bin/python3", "-c", WITH_SLEEPER.format(then=then), **more)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        program, sleeper = map(int, process.stdout.readline().split())
        return process, program, sleeper

    def assert_gone(self, *pids):
        for pid in pids:
            self.wait_for(lambda pid=pid: not self.alive(pid), f"the end of {pid}")

    def assert_evidence_failure(self, process):
        _, errors = process.communicate(timeout=40)
        self.assertEqual(process.returncode, 122)
        [closed] = self.bodies("run.closed")
        self.assertEqual((closed["ending"], closed["program_started"]), ("evidence_failure", True))
        self.assertIn("the warden failed: ", closed["detail"])
        self.assertIn(closed["detail"], errors)
        self.assertNotIn("make room", errors)
        [exited] = self.bodies("process.exited")
        self.assertEqual(exited["cause"], "evidence_failure")
        status, report = self.verify_json("--run", self.runs()[0]["run"])
        self.assertNotEqual(report["verdict"], "FAILED", report["findings"])

    def test_a_warden_killed_while_the_program_works(self):
        process, program, sleeper = self.run_to("time.sleep(600)")
        os.kill(self.warden_of(process.pid), signal.SIGKILL)
        self.assert_evidence_failure(process)
        self.assert_gone(program, sleeper)

    def test_a_warden_killed_while_the_program_waits_for_an_answer(self):
        process, program, sleeper = self.run_to("sys.stdin.close()\nimport ctypes\nlibc = ctypes.CDLL(None)\nwhile True: libc.unshare(0)")
        warden = self.warden_of(process.pid)
        os.kill(process.pid, signal.SIGSTOP)  # from here on nobody answers
        def waits():
            return pathlib.Path(f"/proc/{program}/wchan").read_text().startswith("seccomp") or \
                pathlib.Path(f"/proc/{program}/syscall").read_text().startswith("272 ")
        if os.geteuid() == 0:
            self.wait_for(waits, "the program to wait for its answer")
        os.kill(warden, signal.SIGKILL)
        os.kill(process.pid, signal.SIGCONT)
        self.assert_evidence_failure(process)
        self.assert_gone(program, sleeper)

    def test_a_warden_killed_as_soon_as_there_is_one(self):
        process = self.start("/bin/sleep", "600")
        warden = self.warden_of(process.pid)
        tree = self.children(warden)
        os.kill(warden, signal.SIGKILL)
        process.communicate(timeout=60)
        self.assertIn(process.returncode, (122, 125))
        self.assert_gone(warden, *tree)
        [closed] = self.bodies("run.closed")
        self.assertIn((process.returncode, closed["ending"], closed["program_started"]),
                      ((122, "evidence_failure", True), (125, "prepare_failed", False), (125, "canary_failed", False), (125, "exec_failed", False)))

    def test_a_launch_child_killed_before_it_is_the_program(self):
        process = self.start("/bin/sleep", "600")
        warden = self.warden_of(process.pid)
        [child] = self.wait_for(lambda: self.children(warden), "the launch child")
        os.kill(child, signal.SIGKILL)
        process.communicate(timeout=60)
        [closed] = self.bodies("run.closed")
        if closed["program_started"]:  # it was quicker
            self.assertEqual((process.returncode, closed["ending"]), (137, "finished"))
        else:
            self.assertEqual(process.returncode, 125)
            self.assertIn(closed["ending"], ("prepare_failed", "canary_failed", "exec_failed"))
        self.assert_gone(warden, child)

    def test_a_supervisor_killed_at_every_stage_leaves_nobody(self):
        def tree(pid):
            return [pid] + [below for child in self.children(pid) for below in tree(child)]
        stages = {
            "the warden is there": lambda pid: [c for c in self.children(pid) if self.name(c) == "aasm-warden"],
            "the launch child is there": lambda pid: [g for c in self.children(pid) for g in self.children(c)],
            "the program is there": lambda pid: [g for c in self.children(pid) for g in self.children(c) if self.name(g) == "sleep"],
        }
        for what, reached in stages.items():
            with self.subTest(stage=what):
                process = self.start("/bin/sleep", "600")
                self.wait_for(lambda: reached(process.pid), what)
                os.kill(process.pid, signal.SIGSTOP)  # so that the tree stands still to be listed
                pids = tree(process.pid)
                self.assertGreater(len(pids), 1)
                os.kill(process.pid, signal.SIGKILL)
                process.communicate(timeout=20)
                self.assert_gone(*pids)
                _, report = self.verify_json()
                self.assertNotEqual(report["verdict"], "FAILED", report["findings"])

    def test_a_supervisor_killed_while_the_program_works_leaves_nobody_and_an_interrupted_run(self):
        process, program, sleeper = self.run_to("time.sleep(600)")
        process.kill()
        process.communicate(timeout=20)
        self.assert_gone(program, sleeper)
        status, report = self.verify_json()
        self.assertEqual((status, report["verdict"]), (3, "INCONCLUSIVE"), report["findings"])

    def test_without_a_boundary_a_killed_supervisor_leaves_nobody_either(self):
        process, program, sleeper = self.run_to("time.sleep(600)", options=("--isolation", "none"))
        process.kill()
        process.communicate(timeout=20)
        self.assert_gone(program, sleeper)
        status, report = self.verify_json()
        self.assertEqual((status, report["verdict"]), (3, "INCONCLUSIVE"), report["findings"])

    def test_without_a_boundary_a_killed_warden_is_an_evidence_failure_too(self):
        process, program, sleeper = self.run_to("time.sleep(600)", options=("--isolation", "none"))
        os.kill(self.warden_of(process.pid), signal.SIGKILL)
        self.assert_evidence_failure(process)
        self.assert_gone(program, sleeper)


if __name__ == "__main__":
    aasm_case.main()
