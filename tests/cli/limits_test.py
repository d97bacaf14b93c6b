"""aasm run exec: processes.max, and the limits of resources."""

import json
import os
import pathlib
import signal
import subprocess
import time
import unittest

import aasm_case
import control_groups

# As many forks at once as it is told; says how many worked, and ends them.
FORKS = """
import os, sys, time, errno
pids, refused = [], {}
for i in range(int(sys.argv[1])):
    try:
        pid = os.fork()
    except OSError as e:
        name = errno.errorcode[e.errno]
        refused[name] = refused.get(name, 0) + 1
        continue
    if pid == 0:
        time.sleep(60)
    pids.append(pid)
print(len(pids), refused, flush=True)
for pid in pids:
    os.kill(pid, 9)
    os.waitpid(pid, 0)
"""


MEMORY_GROUPS = control_groups.memory_groups()


class LimitsCase(aasm_case.AasmCase):
    def limited(self, nodes):
        self.write_policy()
        self.policy.write_text(self.policy.read_text() + "".join(f"  {line}\n" for line in nodes))


class Processes(LimitsCase):
    def test_no_more_than_the_ceiling_and_each_refusal_is_an_action(self):
        self.limited(["processes: { max: 6 }"])
        done = self.python(FORKS, "9")
        self.assertEqual((done.returncode, done.stdout), (0, "5 {'EAGAIN': 4}\n"), done.stderr)
        [event] = self.events()
        self.assertEqual((event["domain"], event["operation"], event["object"]["type"], event["rule"]),
                         ("process_creation", "create", "process", "processes.max"))
        self.assertEqual((event["outcome"], event["cause"], event["errno"], event["count"]), ("denied", "policy", 11, 4))
        claim = self.claims()["process_creation"]
        self.assertEqual((claim["claim"], claim["denied_actions"], claim["boundary"], claim["basis"]),
                         ("denied_before_execution", 4, "proved", "decision"))
        self.assert_verified()

    # Case 41. A number of a thread taken for that of a process would lose programs or count them twice.
    def test_eight_threads_start_fifty_programs_each(self):
        for nodes in ([], ["processes: { max: 64 }", "ipc: { unix_sockets: { allow: [] }, abstract_sockets: deny, signals: inside, shared_memory: inside }"]):
            self.limited(nodes)
            done = self.python("import subprocess\n"
                               "from concurrent.futures import ThreadPoolExecutor\n"
                               "run = lambda _: sum(subprocess.run(['/bin/true']).returncode == 0 for _ in range(50))\n"
                               "with ThreadPoolExecutor(8) as pool: print(sum(pool.map(run, range(8))))")
            self.assertEqual((done.returncode, done.stdout), (0, "400\n"), done.stderr)
            self.assertEqual([e for e in self.events() if e["cause"] == "policy"], [])
            self.assert_verified()

    def test_processes_that_have_ended_make_room(self):
        # One at a time. No shell: one whose handlers interrupt calls may be told EINTR (decision 0017).
        self.limited(["processes: { max: 2 }"])
        done = self.python("import os, subprocess\n"
                           "for _ in range(50): subprocess.run(['/bin/true'], check=True)\n"
                           "for _ in range(100):\n"
                           "    if (pid := os.fork()) == 0: os._exit(0)\n"
                           "    os.waitpid(pid, 0)\n"
                           "print('all')\n")
        self.assertEqual((done.returncode, done.stdout), (0, "all\n"), done.stderr)
        self.assertEqual(self.events(), [])
        self.assertEqual(self.claims()["process_creation"]["claim"], "unmeasured")

    def test_threads_are_no_processes(self):
        self.limited(["processes: { max: 1 }"])
        done = self.python("import threading, time\n"
                           "ts = [threading.Thread(target=time.sleep, args=(0.1,)) for _ in range(20)]\n"
                           "[t.start() for t in ts]; [t.join() for t in ts]; print('ok')")
        self.assertEqual((done.returncode, done.stdout), (0, "ok\n"), done.stderr)
        self.assertEqual([e for e in self.events() if e["domain"] == "process_creation"], [])

    def test_a_fork_bomb_stays_below_the_ceiling_and_ends(self):
        self.limited(["processes: { max: 12 }", "resources: { wall_clock_seconds: 3 }"])
        # Each that can makes two more and goes on trying; orphans and unreaped ones among them.
        bomb = ("import os, time\n"
                "while True:\n"
                "    try:\n"
                "        if os.fork() == 0 and os.fork() == 0: os._exit(0)\n"
                "    except OSError: time.sleep(0.005)\n")
        started = time.monotonic()
        running = self.start("/usr/bin/python3", "-c", bomb)
        most = 0
        while running.poll() is None:
            most = max(most, self.tree_size(running.pid))
            time.sleep(0.02)
        running.communicate()
        self.assertEqual(running.returncode, 124)
        self.assertLess(time.monotonic() - started, 30)
        self.assertLessEqual(most, 12)
        self.assertGreaterEqual(most, 6)
        self.assertEqual({(e["domain"], e["rule"]) for e in self.events()}, {("process_creation", "processes.max")})
        self.assertEqual(self.claims()["process_creation"]["claim"], "denied_before_execution")

    @staticmethod
    def tree_size(supervisor):
        """Processes below the warden, but for zombies that it is about to reap. As of one reading of /proc."""
        parents, states = {}, {}
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                fields = pathlib.Path(f"/proc/{name}/stat").read_text().rsplit(")", 1)[1].split()
            except (FileNotFoundError, ProcessLookupError):
                continue
            states[int(name)], parents[int(name)] = fields[0], int(fields[1])
        wardens = {pid for pid, parent in parents.items() if parent == supervisor}

        def below(pid):
            while pid in parents and pid not in wardens:
                pid = parents[pid]
            return pid in wardens
        return sum(1 for pid in parents if pid not in wardens and below(pid)
                   and not (states[pid] == "Z" and parents[pid] in wardens))

    def test_without_terminal_exec_no_process_is_created_at_all(self):
        self.limited(["capabilities: { deny: [terminal_exec] }"])
        done = self.python(FORKS, "2")
        self.assertEqual((done.returncode, done.stdout), (0, "0 {'EPERM': 2}\n"), done.stderr)
        [event] = self.events()
        self.assertEqual((event["domain"], event["rule"], event["errno"], event["count"]),
                         ("process_creation", "capabilities.deny[0]", 1, 2))
        self.assertEqual(self.claims()["process_creation"]["denied_actions"], 2)

    def test_explain_knows_the_ceiling(self):
        self.limited(["processes: { max: 6 }"])
        done = self.ok("policy", "explain", "--policy", self.policy, "fork", "clone")
        self.assertEqual(done.stdout.count("makes a process while there are 6: EAGAIN (processes.max)"), 2, done.stdout)


class Limits(LimitsCase):
    LIMITS = "resources: { cpu_seconds: 1, file_size_bytes: 8192, open_files: 32, wall_clock_seconds: 60 }"

    def test_limits_hold_and_cannot_be_raised(self):
        self.limited([self.LIMITS])
        done = self.python("import errno, resource\n"
                           "for r in (resource.RLIMIT_CPU, resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE):\n"
                           "    soft, hard = resource.getrlimit(r)\n"
                           "    try: resource.setrlimit(r, (hard + 1, hard + 1)); print('raised')\n"
                           "    except ValueError: print(soft, hard)\n"
                           "try:\n"
                           "    with open('big', 'wb') as f: f.write(bytes(9000))\n"
                           "except OSError as e: print(errno.errorcode[e.errno])\n"
                           "held = []\n"
                           "try:\n"
                           "    while True: held.append(open('/dev/null'))\n"
                           "except OSError as e: print(errno.errorcode[e.errno], held[-1].fileno())\n")
        self.assertEqual((done.returncode, done.stdout), (0, "1 2\n8192 8192\n32 32\nEFBIG\nEMFILE 31\n"), done.stderr)
        self.assertEqual((self.work / "big").stat().st_size, 8192)
        controls = {c["id"]: c for one in self.bodies("control.prepared") for c in one["controls"] if c["domain"] == "resource"}
        self.assertEqual(sorted(controls), ["cpu_seconds", "file_size_bytes", "open_files", "wall_clock_seconds"])
        for name, control in controls.items():
            self.assertEqual((control["purpose"], control["rules"], control["installed"]), ("policy", ["resources." + name], True))
        self.assertEqual(controls["open_files"]["note"], "RLIMIT_NOFILE is 32")
        claim = self.claims()["resource"]
        self.assertEqual((claim["claim"], claim["boundary"], claim["channel"]["state"]), ("unmeasured", "proved", "none"))

    def explained(self, *names, operation=()):
        done = self.ok("policy", "explain", "--policy", self.policy, "--format", "json", *operation, *names)
        return [one["answers"][0] for one in json.loads(done.stdout)["objects"]]

    def test_explain_says_what_comes_beyond_a_limit(self):
        self.limited([self.LIMITS])
        names = ("cpu_seconds", "file_size_bytes", "open_files", "wall_clock_seconds", "memory_bytes")
        *stated, memory = self.explained(*names, operation=("--operation", "exceed"))
        self.assertEqual([(one["verdict"], one["errno"], one["mechanism"], one["rule"]) for one in stated],
                         [("denied", errno, mechanism, "resources." + name) for name, errno, mechanism in
                          zip(names, (None, "EFBIG", "EMFILE", None), ("rlimit", "rlimit", "rlimit", "supervisor_clock"))])
        self.assertEqual((memory["verdict"], memory["policy"]), ("not_stated", "not_stated"))
        text = self.ok("policy", "explain", "--policy", self.policy, "open_files", "memory_bytes").stdout
        self.assertIn("policy does not state resources.memory_bytes", text)
        self.assertIn("RLIMIT_NOFILE is 32 for each process: beyond, a call that would open one more fails", text)
        self.assertEqual(self.aasm("policy", "explain", "--policy", self.policy, "open_files", "--operation", "read").returncode, 1)
        self.limited(["resources: { memory_bytes: 67108864 }"])
        [memory] = self.explained("memory_bytes")
        self.assertEqual(memory["verdict"], "denied" if MEMORY_GROUPS else "not_enforced")

    def test_processor_time_ends_the_program(self):
        self.limited([self.LIMITS])
        done = self.python("while True: pass")
        self.assertEqual(done.returncode, 128 + signal.SIGXCPU)
        [exited] = self.bodies("process.exited")
        self.assertEqual((exited["signal"], exited["cause"]), (signal.SIGXCPU, "signalled"))

    def test_processor_time_ends_a_program_that_does_not_want_to_hear_of_it(self):
        self.limited([self.LIMITS])
        done = self.python("import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass")
        self.assertEqual(done.returncode, 128 + signal.SIGKILL)
        [exited] = self.bodies("process.exited")
        self.assertLess(exited["use"]["user_us"] + exited["use"]["system_us"], 4_000_000)

    def test_each_way_to_end_is_told_apart(self):
        """By cause and signal of process.exited; those of clock, memory and denials have causes of their own (below, network_test)."""
        self.limited(["resources: { cpu_seconds: 1, file_size_bytes: 4096 }", "processes: { max: 8 }"])
        ways = {
            "exit": ("raise SystemExit(3)", ("exited", 3, None)),
            "processor time": ("while True: pass", ("signalled", None, signal.SIGXCPU)),
            "size of a file": ("import signal; signal.signal(signal.SIGXFSZ, signal.SIG_DFL); open('big', 'wb').write(bytes(9000))",
                               ("signalled", None, signal.SIGXFSZ)),
            "its own signal": ("import os; os.kill(os.getpid(), 15)", ("signalled", None, signal.SIGTERM)),
            "too many processes": ("import os, time\nwhile True:\n    if os.fork() == 0: time.sleep(60)", ("exited", 1, None)),
        }
        for name, (program, wanted) in ways.items():
            with self.subTest(name):
                done = self.python(program)
                [exited] = self.bodies("process.exited")
                self.assertEqual((exited["cause"], exited.get("status"), exited.get("signal")), wanted, done.stderr)
                refused = [event for event in self.events() if event["domain"] == "process_creation"]
                self.assertEqual(len(refused), 1 if name == "too many processes" else 0)

    def test_a_kill_from_outside_is_no_limit(self):
        self.limited([self.LIMITS])
        process = self.start("/bin/sh", "-c", "echo $$; exec sleep 60")
        os.kill(int(process.stdout.readline()), signal.SIGKILL)
        process.communicate()
        self.assertEqual(process.returncode, 128 + signal.SIGKILL)
        [exited] = self.bodies("process.exited")
        self.assertEqual((exited["cause"], exited["signal"]), ("signalled", signal.SIGKILL))
        self.assertEqual(self.claims()["resource"]["claim"], "unmeasured")

    def test_a_stricter_host_stays_and_is_said(self):
        self.limited(["resources: { open_files: 300 }"])
        done = subprocess.run(["/bin/sh", "-c", 'ulimit -n 256; exec "$@"', "sh", aasm_case.AASM, "run", "exec", "--policy", str(self.policy),
                               "--", "/bin/sh", "-c", "ulimit -Sn; ulimit -Hn"], env=self.env, cwd=self.work, capture_output=True,
                              text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, "256\n256\n"), done.stderr)
        [note] = [c["note"] for one in self.bodies("control.prepared") for c in one["controls"] if c["id"] == "open_files"]
        self.assertEqual(note, "RLIMIT_NOFILE is 256, the host's own; policy asks for 300")
        self.assertEqual(self.claims()["resource"]["boundary"], "installed")
        self.assert_verified()

    def test_signals_of_our_own_attempt_reach_no_program(self):
        self.limited([self.LIMITS])
        done = self.python("import signal; print(signal.sigpending(), signal.getsignal(signal.SIGCHLD).name)")
        self.assertEqual((done.returncode, done.stdout), (0, "set() SIG_DFL\n"), done.stderr)
        self.assertEqual(self.sh("head -c 9000 /dev/zero > big").returncode, 128 + signal.SIGXFSZ)

    # Case 80: refused up front, where no control group can be had.
    @unittest.skipIf(MEMORY_GROUPS, "this user can make control groups for memory")
    def test_memory_is_refused_in_its_own_words(self):
        self.limited(["resources: { memory_bytes: 67108864, open_files: 32 }"])
        done = self.sh("echo ran")
        self.assertEqual((done.returncode, done.stdout), (125, ""))
        self.assertIn("resources.memory_bytes: memory of a process tree is limited by a control group", done.stderr)
        self.limited(["resources: { memory_bytes: 67108864, open_files: 32 }", "posture: { resource: degrade_if_unavailable }"])
        done = self.sh("ulimit -n")
        self.assertEqual((done.returncode, done.stdout), (0, "32\n"), done.stderr)
        self.assertEqual(self.claims()["resource"]["claim"], "degraded")


@unittest.skipUnless(MEMORY_GROUPS, "this user can make no control group for memory")
class Memory(LimitsCase):
    @staticmethod
    def groups():
        return MEMORY_GROUPS.names()

    # Case 80, where one can be had.
    def test_a_program_beyond_it_is_killed_with_that_cause_and_the_supervisor_writes_the_receipt(self):
        self.limited(["resources: { memory_bytes: 67108864 }"])
        receipt = self.root / "receipt"
        done = self.run_exec("/usr/bin/python3", "-c", "print('begun', flush=True); bytearray(1 << 30)", options=("--receipt", str(receipt)))
        self.assertEqual((done.returncode, done.stdout), (137, "begun\n"), done.stderr)
        [exited] = self.bodies("process.exited")
        self.assertEqual((exited["cause"], exited["signal"]), ("memory_limit", 9))
        claim = self.claims()["resource"]
        self.assertEqual((claim["claim"], claim["detector"], claim["boundary"]),
                         ("detected", "the memory limit of the control group", "installed"))
        [control] = [c for body in self.bodies("control.prepared") for c in body["controls"] if c["id"] == "memory_bytes"]
        self.assertEqual((control["mechanism"], control["installed"], control["rules"]), ("cgroup", True, ["resources.memory_bytes"]))
        self.assert_verified()
        self.assertEqual(self.aasm("verify", receipt).returncode, 0)
        self.assertNotIn(f"aasm-run-{os.getpid()}", self.groups())

    def test_it_is_one_limit_for_the_whole_tree(self):
        self.limited(["resources: { memory_bytes: 67108864 }"])
        done = self.python("import subprocess, sys\n"
                           "hold = 'import sys, time; x = bytearray(40 << 20); print(1, flush=True); sys.stdin.read()'\n"
                           "held = [subprocess.Popen([sys.executable, '-c', hold], stdin=-1, stdout=-1) for _ in range(3)]\n"
                           "print(sum(len(one.stdout.readline()) > 0 for one in held))\n"
                           "for one in held: one.stdin.close()\n"
                           "print(sorted(one.wait() for one in held)[0])")
        if MEMORY_GROUPS.version2:
            self.assertEqual((done.returncode, done.stdout), (137, ""), done.stderr)
            self.assertEqual(self.bodies("process.exited")[0]["cause"], "memory_limit")
            return
        self.assertEqual(done.returncode, 0, done.stderr)
        came, least = done.stdout.split()
        self.assertLess(int(came), 3)
        self.assertEqual(least, "-9")
        [exited] = self.bodies("process.exited")
        self.assertEqual(exited["cause"], "exited", "the program itself was not killed")
        self.assert_verified()

    def test_a_program_within_it_runs_and_no_group_stays(self):
        before = set(self.groups())
        self.limited(["resources: { memory_bytes: 268435456, wall_clock_seconds: 60 }"])
        done = self.python("print(len(bytearray(50 << 20)))")
        self.assertEqual((done.returncode, done.stdout), (0, f"{50 << 20}\n"), done.stderr)
        self.assertLessEqual({name for name in self.groups() if name not in before}, self.groups_of_others())

    def test_a_denial_that_kills_is_no_limit_that_was_met(self):
        """Though the limit has killed a child of the program before."""
        self.limited(["resources: { memory_bytes: 67108864 }"])
        self.policy.write_text(self.policy.read_text().replace('allow: ["@default"]', 'allow: ["@default"], on_denial: kill'))
        done = self.python("import ctypes, os\n"
                           "if os.fork() == 0: bytearray(1 << 30)\n"
                           "print(os.waitstatus_to_exitcode(os.wait()[1]), flush=True)\n"
                           "ctypes.CDLL(None).unshare(0x10000000)")
        [exited] = self.bodies("process.exited")
        if MEMORY_GROUPS.version2:
            self.assertEqual((done.stdout, exited["cause"]), ("", "memory_limit"))
            return
        self.assertEqual((done.returncode, done.stdout), (137, "-9\n"), done.stderr)
        self.assertEqual((exited["cause"], exited["signal"]), ("killed_by_denial", 9))
        self.assert_verified()

    def test_nobody_is_granted_the_groups(self):
        # A policy that grants them is refused where memory is limited, and only there.
        for place in (MEMORY_GROUPS.own, MEMORY_GROUPS.folder.parent):
            for limit, status in (("memory_bytes: 67108864", 125), ("open_files: 64", 0)):
                self.limited([f"resources: {{ {limit} }}"])
                self.policy.write_text(self.policy.read_text().replace("/dev/null,", f'/dev/null, "{place}",'))
                done = self.run_exec("/bin/true")
                self.assertEqual(done.returncode, status, done.stderr)
                if status:
                    self.assertIn("grant_covers_control", done.stderr)
                    self.assertIn("could raise its own limit", done.stderr)
                    self.assertNotIn("confines the next run", done.stderr)

    def test_nothing_enters_another_group_also_while_observing(self):
        self.limited(["resources: { memory_bytes: 67108864 }"])
        for options in ((), ("--observe",)):
            done = self.python("import errno, os, sys\n"
                               "try: open(sys.argv[1], 'w').write(str(os.getpid()))\n"
                               "except OSError as e: print(errno.errorcode[e.errno])", MEMORY_GROUPS.own / "cgroup.procs", options=options)
            self.assertEqual((done.returncode, done.stdout), (0, "EACCES\n"), done.stderr)
            self.assert_verified()

    def groups_of_others(self):
        """Tests run side by side: those of supervisors that live."""
        return {name for name in self.groups() if self.alive(int(name.rpartition("-")[2]))}

    def test_the_group_of_a_killed_supervisor_is_removed_by_the_next_run(self):
        self.limited(["resources: { memory_bytes: 268435456 }"])
        process = self.start("/bin/sh", "-c", "echo up; sleep 60")
        self.assertEqual(process.stdout.readline(), "up\n")
        name = f"aasm-run-{process.pid}"
        self.assertIn(name, self.groups())
        process.kill()
        process.communicate()
        self.wait_for(lambda: not (MEMORY_GROUPS.folder / name / "cgroup.procs").read_text(), "the warden to end the tree")
        self.assertEqual(self.run_exec("/bin/true").returncode, 0)
        self.assertNotIn(name, self.groups())


class WallClock(LimitsCase):
    def ends_by_the_clock(self, done, started, least):
        self.assertEqual(done.returncode, 124, done.stderr)
        self.assertGreaterEqual(time.monotonic() - started, least)
        [exited] = self.bodies("process.exited")
        self.assertEqual(exited["cause"], "wall_clock")
        self.assertGreaterEqual(exited["use"]["wall_us"], 1000000)
        claim = self.claims()["resource"]
        self.assertEqual((claim["claim"], claim["detector"]), ("detected", "the supervisor's wall clock"))
        return exited

    # Case 74.
    def test_the_tree_ends_and_the_receipt_is_written(self):
        self.limited(["resources: { wall_clock_seconds: 1 }"])
        started, receipt = time.monotonic(), self.root / "receipt"
        done = self.sh("setsid sh -c 'sleep 600 & echo $!; exec sleep 600' & sleep 600", options=("--receipt", receipt))
        exited = self.ends_by_the_clock(done, started, 1)
        self.assertEqual(exited["signal"], signal.SIGTERM)
        self.assertGreaterEqual(exited["descendants_killed"], 2)
        self.assertFalse(self.alive(int(done.stdout)))
        self.assertEqual(self.ok("verify", receipt).returncode, 0)

    def test_a_program_that_cleans_up_has_its_time_and_one_that_does_not_is_killed(self):
        self.limited(["resources: { wall_clock_seconds: 1 }"])
        started = time.monotonic()
        done = self.sh("trap 'echo bye; exit 0' TERM; while :; do sleep 0.05; done")
        self.assertEqual(done.stdout, "bye\n")
        self.assertEqual(self.ends_by_the_clock(done, started, 1)["status"], 0)
        started = time.monotonic()
        done = self.sh("trap '' TERM; while :; do sleep 0.1; done")
        self.assertEqual(self.ends_by_the_clock(done, started, 3)["signal"], signal.SIGKILL)

    def test_a_program_that_stops_itself_buys_no_time(self):
        self.limited(["resources: { wall_clock_seconds: 1 }"])
        started = time.monotonic()
        # In a group of its own, as a shell would have it: the supervisor stops with it.
        done = self.sh("sleep 600 & kill -STOP $$; sleep 600", start_new_session=True)
        self.ends_by_the_clock(done, started, 1)
        self.assertLess(time.monotonic() - started, 20)

    def test_a_program_that_ends_in_time_is_not_touched(self):
        self.limited(["resources: { wall_clock_seconds: 60 }"])
        done = self.sh("exit 3")
        self.assertEqual(done.returncode, 3)
        self.assertEqual(self.bodies("process.exited")[0]["cause"], "exited")
        self.assertEqual(self.claims()["resource"]["boundary"], "installed")


if __name__ == "__main__":
    aasm_case.main()
