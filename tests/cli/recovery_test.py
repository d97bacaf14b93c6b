"""A supervisor that dies: what the ledger says afterwards, and that the next run goes on."""

import os
import signal
import unittest

import aasm_case


class Recovery(aasm_case.AasmCase):
    def kill_a_run(self, options=()):
        """Starts a program, kills the supervisor with SIGKILL, waits until the tree is gone."""
        mark = self.work / "pid"
        run = self.start("/bin/sh", "-c", 'echo $$ > pid.new; mv pid.new pid; exec sleep 60', options=options)
        self.wait_for(mark.exists, "the program")
        program = int(mark.read_text())
        mark.unlink()
        os.kill(run.pid, signal.SIGKILL)
        run.communicate(timeout=20)
        self.wait_for(lambda: not self.alive(program), "the end of the tree")

    def test_a_killed_run_is_unfinished_then_interrupted_never_clean(self):
        self.kill_a_run()
        status, report = self.verify_json()
        self.assertEqual((status, report["verdict"]), (3, "INCONCLUSIVE"))
        self.assertEqual([run["ending"] for run in self.runs()], ["unfinished"])
        dead = self.runs()[0]["run"]

        self.assertEqual(self.sh("exit 0").returncode, 0)
        self.assertEqual([run["ending"] for run in self.runs()], ["finished", "interrupted"])
        self.assertEqual(self.bodies("run.recovered", dead)[0]["program_may_have_run"], True)
        self.assertEqual(list((self.home / "runs").glob("*.lock")), [])
        self.assert_verified()
        for options in (("--run", dead), ("--require-close",)):
            status, report = self.verify_json(*options)
            self.assertEqual((status, report["verdict"]), (3, "INCONCLUSIVE"), options)

    def test_a_live_run_is_not_recovered_by_another(self):
        fifo = self.work / "go"
        os.mkfifo(fifo)
        run = self.start("/bin/sh", "-c", "read line < go")
        self.wait_for(lambda: self.runs(), "run.opened")
        self.assertEqual(self.sh("exit 0").returncode, 0)
        self.assertEqual([one["ending"] for one in self.runs()], ["finished", "unfinished"])
        with open(fifo, "w", encoding="ascii") as pipe:
            pipe.write("now\n")
        run.communicate(timeout=20)
        self.assertEqual(run.returncode, 0)
        self.assertEqual([one["ending"] for one in self.runs()], ["finished", "finished"])
        self.assert_verified()

    def test_an_unconfined_program_may_have_run(self):
        self.kill_a_run(options=("--isolation", "none"))
        dead = self.runs()[0]["run"]
        self.ok("init")  # opens the ledger for appending, so it recovers too
        self.assertEqual(self.bodies("run.recovered", dead)[0]["program_may_have_run"], True)
        text = self.aasm("verify", "--run", dead).stdout
        self.assertIn("the program may have run", text)


if __name__ == "__main__":
    aasm_case.main()
