"""aasm run exec: the program's own behaviour is what it would be without aasm."""

import errno
import os
import resource
import signal
import subprocess
import time
import unittest

import aasm_case


class ExitStatus(aasm_case.AasmCase):
    def test_the_programs_status_passes_through(self):
        for status in (0, 1, 2, 3, 126, 127, 255):
            with self.subTest(status=status):
                self.assertEqual(self.sh(f"exit {status}").returncode, status)
                self.assertEqual(self.bodies("process.exited")[0]["status"], status)

    def test_a_signal_becomes_128_plus_its_number_and_is_recorded(self):
        for number in (signal.SIGSEGV, signal.SIGKILL, signal.SIGTERM):
            with self.subTest(signal=number):
                self.assertEqual(self.sh(f"kill -{int(number)} $$").returncode, 128 + number)
                body = self.bodies("process.exited")[0]
                self.assertEqual((body["signal"], body["cause"]), (number, "signalled"))

    def test_the_status_line_tells_our_endings_from_the_programs(self):
        read_end, write_end = os.pipe()
        done = self.run_exec("/bin/sh", "-c", "exit 125", options=("--status-fd", write_end), pass_fds=(write_end,))
        os.close(write_end)
        with os.fdopen(read_end) as stream:
            line = stream.read()
        self.assertEqual(done.returncode, 125)
        self.assertIn(" ending=finished started=true exit=125 status=125 ", line)
        self.assertEqual(line.count("\n"), 1)

    def test_a_program_that_cannot_be_watched_is_not_started(self):
        epoll_create1 = 291 if os.uname().machine == "x86_64" else 20
        for options in ((), ("--isolation", "none")):
            done = self.sh("echo > mark; exec sleep 60", options=options, preexec_fn=lambda: aasm_case.refuse_call(epoll_create1, errno.EMFILE))
            self.assertEqual(done.returncode, 125)
            self.assertIn("watching the program: Too many open files; no program ran", done.stderr)
            [closed] = self.bodies("run.closed")
            self.assertEqual((closed["ending"], closed["program_started"]), ("exec_failed", False))
            self.assertFalse((self.work / "mark").exists())

    def test_why_a_program_could_not_be_executed_is_said_once(self):
        self.write_policy(aasm_case.POLICY.format(read="").replace("    write:", "    execute: { allow: [/usr/lib] }\n    write:", 1))
        done = self.run_exec("/usr/bin/true")
        self.assertEqual(done.returncode, 126)
        self.assertIn("error: exec_failed: ", done.stderr)
        self.assertEqual(done.stderr.count("Permission denied"), 1, done.stderr)

    def test_the_times_on_the_status_line_add_up_to_the_run(self):
        read_end, write_end = os.pipe()
        begin = time.monotonic_ns()
        self.run_exec("/bin/sleep", "0.3", options=("--status-fd", write_end), pass_fds=(write_end,))
        wall_us = (time.monotonic_ns() - begin) // 1000
        os.close(write_end)
        with os.fdopen(read_end) as stream:
            fields = dict(field.split("=", 1) for field in stream.read().split()[1:])
        times = {key: int(value) for key, value in fields.items() if key.endswith("_us")}
        self.assertEqual(list(times), ["setup_us", "prepare_us", "commit_before_us", "start_us", "program_us", "commit_after_us"])
        self.assertTrue(all(value > 0 for value in times.values()), times)
        self.assertGreater(times["program_us"], 250_000)
        self.assertLess(sum(times.values()), wall_us)


class Reports(aasm_case.AasmCase):
    def test_the_report_of_a_run_that_refers_to_an_earlier_probe_agrees_with_its_records(self):
        report = self.root / "report.txt"
        for _ in range(3):
            self.assertEqual(self.sh("exit 0", options=("--report", report)).returncode, 0)
        self.assertIn("reference", self.bodies("capability.probed")[0])
        self.assertNotIn("CONTRADICTION", report.read_text())
        self.assertIn("contradiction_count=0", report.read_text())


class Streams(aasm_case.AasmCase):
    def test_the_status_line_takes_no_stream_of_the_program(self):
        for number in (0, 1, 2):
            done = self.run_exec("/bin/echo", "ran", options=("--status-fd", number))
            self.assertEqual((done.returncode, done.stdout), (125, ""))

    def test_a_reader_of_the_status_line_that_left_changes_nothing(self):
        read_end, write_end = os.pipe()
        os.close(read_end)
        done = self.run_exec("/bin/sh", "-c", "exit 7", options=("--status-fd", write_end), pass_fds=(write_end,))
        os.close(write_end)
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assert_verified()

    def test_a_ledger_that_may_not_grow_is_an_evidence_failure_and_not_a_signal(self):
        self.assertEqual(self.run_exec("/bin/true").returncode, 0)
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))
        done = self.run_exec("/bin/echo", "ran", preexec_fn=limit)
        self.assertEqual((done.returncode, done.stdout), (122, ""), done.stderr)

    def test_the_program_has_the_callers_dispositions_of_sigpipe_and_sigxfsz(self):
        self.write_policy(read=("/proc",))
        look = ("/bin/grep", "SigIgn", "/proc/self/status")
        for ignored in (False, True):
            def prepare():
                for number in (signal.SIGPIPE, signal.SIGXFSZ):
                    signal.signal(number, signal.SIG_IGN if ignored else signal.SIG_DFL)
            plain = subprocess.run(look, preexec_fn=prepare, restore_signals=False,
                                   stdout=subprocess.PIPE, text=True, check=True)
            done = self.run_exec(*look, preexec_fn=prepare, restore_signals=False)
            self.assertEqual(done.stdout, plain.stdout, done.stderr)

    def test_stdin_stdout_and_stderr_are_the_programs(self):
        done = self.run_exec("/bin/sh", "-c", "cat; echo err >&2", input="a\nb\n")
        self.assertEqual((done.stdout, done.stderr), ("a\nb\n", "err\n"))

    def test_what_follows_the_two_dashes_is_the_programs(self):
        done = self.run_exec("/bin/echo", "--policy", "x", "--", "--help")
        self.assertEqual(done.stdout, "--policy x -- --help\n")

    def test_arguments_that_are_not_utf8_arrive_unchanged(self):
        done = subprocess.run([aasm_case.AASM, "run", "exec", "--policy", self.policy, "--", "/usr/bin/printf", "%s",
                               b"\xff\xfe x"], env=self.env, cwd=self.work, capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, b"\xff\xfe x"))
        self.assert_verified()

    def test_closed_standard_streams_do_not_hurt(self):
        for closed in ((0,), (0, 1), (0, 1, 2)):
            with self.subTest(closed=closed):
                command = " ".join(f"{fd}<&-" if fd == 0 else f"{fd}>&-" for fd in closed)
                done = subprocess.run(["/bin/sh", "-c", f'"$0" run exec --policy "$1" -- /bin/true {command}',
                                       aasm_case.AASM, str(self.policy)], env=self.env, cwd=self.work, check=False)
                self.assertEqual(done.returncode, 0)


class Environment(aasm_case.AasmCase):
    def test_only_the_listed_names_reach_the_program_and_no_value_is_recorded(self):
        self.env["AWS_SECRET_ACCESS_KEY"] = "canary-value-7f3a"
        self.env["LANG"] = "C.UTF-8"
        done = self.run_exec("/usr/bin/env")
        names = {line.split("=", 1)[0] for line in done.stdout.splitlines()}
        self.assertLessEqual(names, {"PATH", "HOME", "LANG", "TERM", "PWD"})
        ledger = b"".join((self.home / name).read_bytes() for name in os.listdir(self.home)
                          if name.startswith("ledger.db"))
        self.assertNotIn(b"canary-value-7f3a", ledger)

    def test_descriptors_that_policy_does_not_list_are_closed(self):
        read_end, write_end = os.pipe()
        os.dup2(read_end, 1900)
        done = self.run_exec("/bin/sh", "-c", "ls -l /proc/self/fd | wc -l", pass_fds=(read_end, write_end, 1900))
        os.close(1900)
        os.close(read_end)
        os.close(write_end)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLessEqual(int(done.stdout), 5)  # the total line, 0, 1, 2 and the one ls opened

    def test_the_working_directory_is_the_one_asked_for(self):
        folder = self.work / "sub"
        folder.mkdir()
        done = self.run_exec("/bin/pwd", options=("--workdir", folder))
        self.assertEqual(done.stdout, f"{folder}\n")

    # Case 9.
    def test_a_symbolic_link_as_working_directory_works(self):
        link = self.root / "link"
        link.symlink_to(self.work)
        done = self.run_exec("/bin/sh", "-c", "pwd -P; echo x > f; cat f", options=("--workdir", link))
        self.assertEqual(done.stdout, f"{self.work.resolve()}\nx\n")


class Lifecycle(aasm_case.AasmCase):
    def test_a_signal_to_aasm_reaches_the_program(self):
        run = self.start("/bin/sh", "-c", "trap 'echo got; exit 7' TERM; echo ready; while :; do sleep 0.05; done")
        self.assertEqual(run.stdout.readline(), "ready\n")
        run.send_signal(signal.SIGTERM)
        out, _ = run.communicate(timeout=20)
        self.assertEqual((run.returncode, out), (7, "got\n"))

    def leave_sleepers(self):
        return ("import os,sys,time\n"
                "for _ in range(3):\n"
                "    if os.fork() == 0:\n"
                "        os.setsid()\n"
                "        if os.fork() == 0:\n"
                "            print(os.getpid(), flush=True)\n"
                "            os.close(1)\n"
                "            time.sleep(600)\n"
                "        os._exit(0)\n")

    def test_no_process_of_the_tree_outlives_the_run(self):
        done = self.python(self.leave_sleepers() + "time.sleep(0.3)\n")
        pids = [int(line) for line in done.stdout.split()]
        self.assertEqual(len(pids), 3)
        self.assertEqual([pid for pid in pids if self.alive(pid)], [])
        self.assertEqual(self.bodies("process.exited")[0]["descendants_killed"], 3)

    def test_the_tree_dies_with_a_supervisor_that_is_killed(self):
        run = self.start("/usr/bin/python3", "-c", self.leave_sleepers() + "time.sleep(600)\n")
        pids = [int(run.stdout.readline()) for _ in range(3)]
        run.kill()
        run.wait(timeout=10)
        self.wait_for(lambda: not any(self.alive(pid) for pid in pids), "the tree to be gone", 5)
        run.stdout.close()
        run.stderr.close()
        status, report = self.verify_json()
        self.assertEqual((status, report["verdict"]), (3, "INCONCLUSIVE"))
        self.assertEqual(self.sh("exit 0").returncode, 0)

    def test_two_runs_at_once_share_one_ledger(self):
        runs = [self.start("/bin/sh", "-c", f"sleep 0.3; exit {number}") for number in range(4)]
        self.assertEqual([run.wait(timeout=30) for run in runs], [0, 1, 2, 3])
        for run in runs:
            run.stdout.close()
            run.stderr.close()
        self.assertEqual(len(self.runs()), 4)
        self.assert_verified()


class ManyNames(aasm_case.AasmCase):
    """The environment a caller happens to have is no reason not to start."""

    def removed(self, more):
        done = self.sh("env | wc -l; exit 3", env={**self.env, **more})
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertLess(int(done.stdout), 7)
        self.assert_verified()
        controls = [control for body in self.bodies("control.prepared") for control in body["controls"]]
        _, report = self.verify_json("--run", self.runs()[0]["run"])
        reported = report["runs"]["newest"][0]["report"]["authority"]["credentials"]["removed"]
        recorded = [name for control in controls if control["id"].startswith("environment") for name in control["removed"]]
        self.assertEqual(recorded, reported)
        return recorded

    def test_many_names_are_all_recorded(self):
        more = {f"V{number}": "1" for number in range(9000)}
        self.assertEqual(set(more) - set(self.removed(more)), set())

    def test_long_names_are_all_recorded(self):
        more = {f"LONG_{'X' * 800}_{number}": "1" for number in range(100)}
        self.assertEqual(set(more) - set(self.removed(more)), set())

    def test_of_a_name_that_fits_no_record_its_beginning_and_length_are(self):
        [long] = [name for name in self.removed({"N" * 70_000: "1"}) if name.startswith("NNN")]
        self.assertEqual(long, "N" * 256 + "... (a name of 70000 bytes)")

    def test_many_names_that_look_like_credentials_where_none_is_removed(self):
        self.write_policy(aasm_case.POLICY.format(read="").replace("  credentials:", "  #"))
        more = {f"SERVICE_{number}_TOKEN": "1" for number in range(5000)}
        done = self.sh("exit 3", env={**self.env, **more})
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assert_verified()


class Unconfined(aasm_case.AasmCase):
    def test_isolation_none_runs_and_says_that_nothing_was_enforced(self):
        done = self.run_exec("/bin/cat", str(self.secret), options=("--isolation", "none"))
        self.assertEqual((done.returncode, done.stdout), (0, "not for agents\n"))
        plan = self.bodies("plan.resolved")[0]
        self.assertEqual(plan["posture"], "unconfined")
        self.assertEqual({outcome["kind"] for outcome in plan["outcomes"]}, {"no_boundary"})
        for domain in self.claims().values():
            self.assertIn(domain.get("claim"), ("unmeasured", "not_stated", None))

    def test_isolation_none_passes_what_a_shell_would(self):
        """A descriptor beyond 2, ignored signals, the end by a signal; and takes no privilege."""
        script = "import os, signal\nos.write(9, b'nine')\n" \
            "print(open('/proc/self/status').read().split('NoNewPrivs:')[1].split()[0],\n" \
            "      signal.getsignal(signal.SIGUSR1) == signal.SIG_IGN, flush=True)\nos.kill(os.getpid(), signal.SIGTERM)"
        begin = 'trap "" USR1; exec 9>nine; exec "$@"'
        before = subprocess.run(["/bin/sh", "-c", begin, "sh", "/usr/bin/python3", "-c", script], cwd=self.work,
                                capture_output=True, text=True, timeout=60, check=False)
        done = subprocess.run(["/bin/sh", "-c", begin, "sh", aasm_case.AASM, "run", "exec", "--policy", self.policy,
                               "--isolation", "none", "--", "/usr/bin/python3", "-c", script], env=self.env, cwd=self.work,
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((before.returncode, done.returncode), (-signal.SIGTERM, 128 + signal.SIGTERM), done.stderr)
        self.assertEqual(done.stdout, before.stdout)
        self.assertIn("True", done.stdout)
        self.assertEqual((self.work / "nine").read_text(), "nine")

    def test_isolation_none_says_what_cannot_be_executed(self):
        self.assertEqual(self.run_exec("/etc/passwd", options=("--isolation", "none")).returncode, 126)
        self.assertEqual(self.run_exec("/no/such", options=("--isolation", "none")).returncode, 127)
        broken = self.work / "broken"
        broken.write_text("#!/no/such/interpreter\n")
        broken.chmod(0o755)
        self.assertEqual(self.run_exec(str(broken), options=("--isolation", "none")).returncode, 126)

    def test_isolation_none_leaves_no_process_behind(self):
        done = self.run_exec("/bin/sh", "-c", "setsid sleep 600 >/dev/null 2>&1 & echo $!", options=("--isolation", "none"))
        self.assertFalse(self.alive(int(done.stdout)))


if __name__ == "__main__":
    aasm_case.main()
