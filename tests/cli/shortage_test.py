"""Supervisor and broker with less than they need, taken from outside while they work: descriptors, processors. What is denied stays so. Case 38."""

import json
import os
import pathlib
import resource
import shutil
import socket
import subprocess
import textwrap
import threading
import time
import unittest

import aasm_case

POLICY = """apiVersion: agent-assembly/v1
kind: Policy
metadata: {{ name: test }}
spec:
  filesystem:
    read: {{ allow: [/usr, /lib, /lib64, /bin, /etc, /dev, /proc, "${{WORKDIR}}"], deny: ["${{WORKDIR}}/shut", "${{WORKDIR}}/gone"] }}
    write: {{ allow: ["${{WORKDIR}}", /dev/null], deny: ["${{WORKDIR}}/shut", "${{WORKDIR}}/gone"] }}
    execute: {{ allow: [/usr, /lib, /lib64, /bin, "${{WORKDIR}}/open"] }}
{more}  evidence: {{ filesystem: decisions }}
"""
SOCKETS = "  ipc: { unix_sockets: { allow: [] }, abstract_sockets: deny, signals: inside }\n  network: { egress: [], bind: { allow: [] } }\n"

# Does everything once for each line that it reads; prints how each call ended.
PROGRAM = textwrap.dedent("""
    import errno, json, os, socket, sys
    def run(path):
        pid = os.fork()
        if pid == 0:
            try: os.execv(path, ["tool"])
            except OSError as error: os._exit(100 + error.errno)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if status > 100: raise OSError(status - 100, "execv")
        if status != 0: raise OSError(errno.EIO, status)
    def bind(name):
        with socket.socket(socket.AF_UNIX) as made: made.bind(name)
    def opened(*arguments): os.close(os.open(*arguments))
    DENIED = {
        "read": lambda: opened("shut/name", os.O_RDONLY),
        "write": lambda: opened("shut/name", os.O_WRONLY | os.O_TRUNC),
        "create": lambda: opened("shut/new", os.O_WRONLY | os.O_CREAT, 0o600),
        "read moved": lambda: opened("moved/sub/deep/name", os.O_RDONLY),
        "create moved": lambda: opened("moved/sub/deep/new", os.O_WRONLY | os.O_CREAT, 0o600),
        "rename into": lambda: os.rename("open/name", "shut/into"),
        "rename into moved": lambda: os.rename("open/name", "moved/sub/deep/into"),
        "rename out": lambda: os.rename("shut/name", "open/out"),
        "rename out of moved": lambda: os.rename("moved/sub/deep/name", "open/out"),
        "link": lambda: os.link("shut/name", "open/linked"),
        "link moved": lambda: os.link("moved/sub/deep/name", "open/linked"),
        "link into moved": lambda: os.link("open/name", "moved/sub/deep/linked"),
        "mode": lambda: os.chmod("moved/sub/deep/name", 0o777),
        "remove": lambda: os.unlink("moved/sub/deep/name"),
        "execute": lambda: run("shut/tool"),
        "bind": lambda: bind("moved/sub/deep/socket"),
    }
    if sys.argv[1]:
        def reach(family, kind, name):
            with socket.socket(family, kind) as made: made.connect(name)
        DENIED |= {
            "abstract": lambda: reach(socket.AF_UNIX, socket.SOCK_DGRAM, "\\0" + sys.argv[2]),
            "connect": lambda: reach(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 9)),
            "send": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", 9)),
        }
    ALLOWED = {
        "read": lambda: opened("open/name", os.O_RDONLY),
        "write": lambda: opened("open/name", os.O_WRONLY),
        "rename": lambda: os.rename("open/a", "open/b") or os.rename("open/b", "open/a"),
        "execute": lambda: run("open/tool"),
    }
    def attempt(call):
        try: call()
        except OSError as error: return errno.errorcode[error.errno]
        return "ok"
    print("ready", flush=True)
    for line in sys.stdin:
        print(json.dumps([{name: attempt(call) for name, call in calls.items()} for calls in (DENIED, ALLOWED)]), flush=True)
    """)


class DescriptorsTest(aasm_case.AasmCase):
    """By prlimit(2), with every number of descriptors left, while a program asks for files, names, executions and a socket."""

    ROOM = 14  # from none to as many

    def setUp(self):
        super().setUp()
        for place in ("open", "shut", "gone/sub/deep"):
            (self.work / place).mkdir(parents=True)
            (self.work / place / "name").write_text("kept")
            shutil.copy(os.environ["AASM_FLIPS_TOOL"], self.work / place / "tool")  # for want of a loader, which would open more
        (self.work / "open/a").write_text("")
        outside = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(outside.close)
        self.abstract = f"aasm-shortage-{os.getpid()}"
        outside.bind("\0" + self.abstract)

    def begin(self, more):
        self.write_policy(POLICY.format(more=more))
        process = self.start("/usr/bin/python3", "-c", PROGRAM, "sockets" if more else "", self.abstract, stdin=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), "ready\n", process.poll() is not None and process.stderr.read())
        # What policy denies is elsewhere then: only what it is tells.
        (self.work / "gone").rename(self.work / "moved")
        denied, allowed = self.asked = self.ask(process)
        self.assertLessEqual(set(denied.values()), {"EACCES", "EPERM"}, denied)
        self.assertEqual(set(allowed.values()), {"ok"}, allowed)
        return process

    @staticmethod
    def below(pid):
        pids = [pid]
        for one in pids:
            pids += [int(word) for task in pathlib.Path(f"/proc/{one}/task").iterdir() for word in (task / "children").read_text().split()]
        return pids

    def broker(self, process):
        [pid] = [pid for pid in self.below(process.pid) if pathlib.Path(f"/proc/{pid}/comm").read_text() == "aasm-broker\n"]
        return pid

    def ask(self, process):
        process.stdin.write("\n")
        process.stdin.flush()
        line = process.stdout.readline()
        self.assertTrue(line, process.poll() is not None and process.stderr.read())
        return json.loads(line)

    def state(self):
        return [(str(path.relative_to(self.work)), (status := path.stat()).st_ino, status.st_ctime_ns)
                for place in ("shut", "moved") for path in sorted((self.work / place).rglob("*"))]

    def check(self, more, limited, least):
        """`limited`: who has no room, of the process; `least`: the first number that it has free."""
        process = self.begin(more)
        pid, before, answers = limited(process), self.state(), [self.asked]
        limit = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        for room in range(self.ROOM):
            resource.prlimit(pid, resource.RLIMIT_NOFILE, (least(pid) + room, limit[1]))
            answers.append(self.ask(process))
            resource.prlimit(pid, resource.RLIMIT_NOFILE, limit)
        answers.append(self.ask(process))
        out, err = process.communicate()
        self.assertEqual((process.returncode, out, err), (0, "", ""))
        self.assertEqual(self.state(), before)
        for room, (denied, allowed) in enumerate(answers):
            self.assertLessEqual(set(denied.values()), {"EACCES", "EPERM", "EMFILE"}, (room, denied))
            self.assertLessEqual(set(allowed.values()), {"ok", "EMFILE"}, (room, allowed))
        self.assertIn("EMFILE", {answer for denied, _ in answers for answer in denied.values()})
        self.assertEqual(answers[-1], answers[0])
        self.check_records(answers)

    def check_records(self, answers):
        """Each refusal, and for want of descriptors those that said so."""
        answered = [answer for pair in answers for one in pair for answer in one.values()]
        denied = [event for event in self.events() if event["outcome"] == "denied" and event["cause"] in ("fault", "policy")
                  and "python" in event["executable"]]
        counts = {cause: sum(event["count"] for event in denied if event["cause"] == cause) for cause in ("fault", "policy")}
        self.assertEqual(counts, {"fault": answered.count("EMFILE"), "policy": answered.count("EACCES") + answered.count("EPERM")})
        self.assertEqual({event["errno"] for event in denied if event["cause"] == "fault"}, {24})
        self.assert_verified()

    @staticmethod
    def first_free(pid):
        held = {int(name) for name in os.listdir(f"/proc/{pid}/fd")}
        return next(number for number in range(1024) if number not in held)

    @unittest.skipIf(aasm_case.SANITIZED, "a sanitizer looks at objects through a pipe, and takes the want of descriptors for a fault of theirs")
    def test_a_supervisor_without_room(self):
        for more in ("", SOCKETS):
            with self.subTest(more=more):
                self.check(more, lambda process: process.pid, self.first_free)
                (self.work / "moved").rename(self.work / "gone")

    def test_a_broker_without_room(self):
        """It holds four at most between calls."""
        self.check("", self.broker, lambda pid: 1)


CPUSETS = pathlib.Path("/sys/fs/cgroup/cpuset")


@unittest.skipUnless(os.access(CPUSETS / "cpuset.cpus", os.W_OK) and len(os.sched_getaffinity(0)) > 1,
                     "no cpusets (version 1) to make here, or one processor")
class ProcessorsTest(aasm_case.AasmCase):
    """A cpuset that shrinks, grows and moves while runs start and work in it."""

    STARTS = 12

    def setUp(self):
        super().setUp()
        self.group = CPUSETS / f"aasm-test-{os.getpid()}"
        self.group.mkdir()
        self.addCleanup(self.group.rmdir)
        (self.group / "cpuset.mems").write_text((CPUSETS / "cpuset.mems").read_text())
        self.cpus = sorted(os.sched_getaffinity(0))
        self.set_cpus(self.cpus)
        self.changes, self.over = 0, threading.Event()

    def set_cpus(self, cpus):
        (self.group / "cpuset.cpus").write_text(",".join(map(str, cpus)))

    def change(self):
        while not self.over.is_set():
            for cpus in (self.cpus[:1], self.cpus, self.cpus[1:], self.cpus):
                self.set_cpus(cpus)
                self.changes += 1
                time.sleep(0.002)

    def test_runs_start_and_refuse_in_a_cpuset_that_changes(self):
        self.write_policy(POLICY.format(more=""))
        (self.work / "shut").mkdir()
        (self.work / "shut/name").write_text("kept")
        thread = threading.Thread(target=self.change)
        thread.start()
        try:
            for _ in range(self.STARTS):
                done = self.sh("for i in 1 2 3 4 5 6 7 8 9; do echo x > new; echo x > shut/name; done; cat shut/name new",
                               preexec_fn=lambda: (self.group / "tasks").write_text(str(os.getpid())))
                self.assertEqual((done.stdout, done.stderr.count("Permission denied")), ("x\n", 10), done.stderr)
                denied = [event for event in self.events() if event["outcome"] == "denied"]
                self.assertEqual((sum(event["count"] for event in denied), {event["cause"] for event in denied}), (10, {"policy"}))
        finally:
            self.over.set()
            thread.join()
        self.assertGreater(self.changes, 10 * self.STARTS)
        self.assert_verified()


if __name__ == "__main__":
    aasm_case.main()
