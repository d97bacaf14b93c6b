"""Many refused actions at once, over every domain that records its decisions: each is counted, none is lost, and it costs a bounded amount of memory."""

import os
import pathlib
import shutil
import socket
import subprocess
import unittest

import aasm_case

ACTIONS = int(os.environ.get("AASM_DENIALS", "100000"))
PROCESSES = 200
THREADS = 8
CREATIONS = 20  # each is looked at for some milliseconds while the ceiling is reached
MEMORY_KIB = 32 << 10

POLICY = """  network: {{ bind: {{ allow: [] }} }}
  name_resolution: {{ allow: [] }}
  evidence: {{ filesystem: decisions }}
  processes: {{ max: {processes} }}
  ipc: {{ unix_sockets: {{ allow: [] }}, abstract_sockets: deny, signals: inside, shared_memory: inside }}
"""

WORK = """
import ctypes, errno, os, socket, struct, sys, threading
each_process, each_thread, processes, threads, creations = (int(a) for a in sys.argv[2:7])
libc = ctypes.CDLL(None, use_errno=True)
def refused(expected, result):
    if result != -1 or ctypes.get_errno() != expected: raise SystemExit(f"{result} {ctypes.get_errno()} for {expected}")
path = b"\\1\\0" + sys.argv[1].encode() + b"\\0"
tool = sys.argv[7].encode()
words = (ctypes.c_char_p * 2)(tool, None)
nobody = struct.pack("=H", socket.AF_INET) + struct.pack("!H", 0) + bytes([127, 0, 0, 1]) + bytes(8)
names = struct.pack("=H", socket.AF_INET) + struct.pack("!H", 53) + bytes([127, 0, 0, 1]) + bytes(8)
def work(count):
    unix, udp = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    calls = (lambda: refused(errno.EPERM, libc.unshare(0)),
             lambda: refused(errno.EACCES, libc.bind(udp.fileno(), nobody, 16)),
             lambda: refused(errno.EACCES, libc.connect(udp.fileno(), names, 16)),
             lambda: refused(errno.EACCES, libc.connect(unix.fileno(), path, len(path))),
             lambda: refused(errno.EPERM, libc.kill(1, 0)),
             lambda: refused(errno.EACCES, libc.open(tool, os.O_RDONLY)),
             lambda: refused(errno.EACCES, libc.open(tool, os.O_WRONLY)),
             lambda: refused(errno.EACCES, libc.execve(tool, words, None)))
    for i in range(count): calls[i % len(calls)]()
done, go, end = os.pipe(), os.pipe(), os.pipe()
for number in range(processes):
    if os.fork() == 0:
        os.close(end[1])
        work(each_process)
        os.write(done[1], b"x")
        os.read(go[0], 1)  # until all others have come so far
        if number < creations: refused(errno.EAGAIN, libc.fork())
        os.write(done[1], b"x")
        os.read(end[0], 1)
        os._exit(0)
pool = [threading.Thread(target=work, args=(each_thread,)) for _ in range(threads)]
for one in pool: one.start()
for one in pool: one.join()
def all_have():
    left = processes
    while left: left -= len(os.read(done[0], left))
all_have(); os.write(go[1], bytes(processes)); all_have()
print("done", flush=True)
sys.stdin.read()
os.close(end[1])
for _ in range(processes):
    if os.wait()[1]: raise SystemExit("a process failed")
"""


# More different objects than a run keeps apart (docs/decisions/0028), and then one refusal of another kind.
TOLD_APART = 16384
MANY = max(TOLD_APART + 4000, int(os.environ.get("AASM_DENIALS", "0")))
FLOOD = """
import ctypes, errno, sys
libc = ctypes.CDLL(None, use_errno=True)
for i in range(int(sys.argv[2])):
    if libc.open(b"%s/%07d" % (sys.argv[1].encode(), i), 0o101, 0o600) != -1 or ctypes.get_errno() != errno.EACCES: raise SystemExit(f"number {i}")
if libc.unshare(0) != -1: raise SystemExit("unshare")
print("done", flush=True)
sys.stdin.read()
"""


class Peaks(aasm_case.AasmCase):
    @staticmethod
    def peak(pid):
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        [line] = [line for line in status.splitlines() if line.startswith("VmHWM:")]
        return int(line.split()[1])

    def own_processes(self, pid):
        """The supervisor and, below its warden, the broker."""
        found = {"supervisor": pid}
        for task in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                name, rest = task.read_text().split("(", 1)[1].rsplit(") ", 1)
                parent = int(rest.split()[1])
                above = int(pathlib.Path(f"/proc/{parent}/stat").read_text().rsplit(") ", 1)[1].split()[1])
            except (OSError, IndexError, ValueError):
                continue
            if name == "aasm-broker" and above == pid:
                found["broker"] = int(task.parent.name)
        return found

    def assert_small(self, process):
        self.assertEqual(process.stdout.readline(), "done\n", process.poll() is not None and process.stderr.read())
        peaks = {name: self.peak(pid) for name, pid in self.own_processes(process.pid).items()}
        _, errors = process.communicate("", timeout=120)
        self.assertEqual(process.returncode, 0, errors)
        self.assertEqual(set(peaks), {"supervisor", "broker"})
        self.assertLess(max(peaks.values()), MEMORY_KIB, peaks)


class Denials(Peaks):

    # Case 88, over all built domains.
    @unittest.skipIf(aasm_case.SANITIZED, "a sanitizer's own memory is more than the bound")
    def test_every_denial_of_every_domain_is_counted_and_none_is_lost(self):
        service = self.outside / "service"
        listener = socket.socket(socket.AF_UNIX)
        self.addCleanup(listener.close)
        listener.bind(str(service))
        self.write_policy(aasm_case.POLICY.format(read="") + POLICY.format(processes=PROCESSES + 1))
        each_process, each_thread = ACTIONS // 2 // PROCESSES, ACTIONS // 2 // THREADS
        tool = pathlib.Path(shutil.copy("/bin/true", os.path.realpath(self.outside)))
        process = self.start("/usr/bin/python3", "-c", WORK, str(service),
                             *map(str, (each_process, each_thread, PROCESSES, THREADS, CREATIONS, tool)), stdin=subprocess.PIPE)
        self.assert_small(process)
        kinds = ("syscall", "network_egress", "name_resolution", "ipc", "ipc", "filesystem_read", "filesystem_write", "filesystem_read")
        expected = dict.fromkeys((*kinds, "process_creation"), 0)
        for count, times in ((each_process, PROCESSES), (each_thread, THREADS)):
            for i, domain in enumerate(kinds):
                expected[domain] += times * len(range(i, count, len(kinds)))
        expected["process_creation"] = CREATIONS
        counted, others = dict.fromkeys(expected, 0), 0  # as clone3, which threads try first
        for event in self.events():
            other_file = event["domain"].startswith("filesystem") and event["object"].get("path") != str(tool)
            if (event["outcome"], event["cause"]) == ("denied", "policy") and not other_file:
                counted[event["domain"]] += event["count"]
            else:
                others += event["count"]
        self.assertEqual(counted, expected)
        [closed] = self.bodies("run.closed")
        self.assertEqual((closed["channel"]["dropped"], closed["channel"]["actions"]), (0, sum(expected.values()) + others))
        claims = self.claims()
        denied = {domain: claims[domain]["denied_actions"] for domain in expected}
        self.assertLess(denied["filesystem_read"], expected["filesystem_read"] + 100, "the interpreter's own")
        self.assertEqual({**denied, "filesystem_read": expected["filesystem_read"]}, expected)
        self.assert_verified()


class Distinct(Peaks):
    @unittest.skipIf(aasm_case.SANITIZED, "a sanitizer's own memory is more than the bound")
    def test_more_different_objects_than_a_run_keeps_apart_are_counted_without_them(self):
        self.write_policy(aasm_case.POLICY.format(read="") + "  evidence: { filesystem: write-decisions }\n")
        process = self.start("/usr/bin/python3", "-c", FLOOD, str(self.outside), str(MANY), stdin=subprocess.PIPE)
        self.assert_small(process)
        written = [event for event in self.events() if event["domain"] == "filesystem_write"]
        self.assertEqual({(e["outcome"], e["cause"], e["rule"]) for e in written}, {("denied", "policy", "filesystem.write.allow")})
        rest = [event for event in written if event["object"]["type"] == "unlisted"]
        told = [event for event in written if event["object"]["type"] == "path"]
        self.assertEqual(sum(event["count"] for event in told + rest), MANY)
        self.assertEqual([event["object"]["path"] for event in told[:TOLD_APART]],
                         [f"{os.path.realpath(self.outside)}/{i:07}" for i in range(TOLD_APART)])
        self.assertLess(len(told), TOLD_APART + 8 * 120)  # eight a second come back
        self.assertEqual({e["object"]["name"] + e["object"]["arch"] for e in rest}, {""})
        self.assertEqual({(e["pid"], e["executable"]) for e in rest}, {(written[0]["pid"], written[0]["executable"])})
        # The flood of one domain hides nothing in another.
        [elsewhere] = [event for event in self.events() if event["object"]["name"] == "unshare"]
        self.assertGreater(elsewhere["number"], rest[0]["number"])
        report = self.ok("verify", "--run", self.runs()[0]["run"]).stdout
        self.assertIn(f"filesystem_write: {sum(event['count'] for event in rest)} actions counted without their objects", report)
        claim = self.claims()["filesystem_write"]
        self.assertEqual((claim["denied_actions"], claim["unlisted_actions"]), (MANY, sum(event["count"] for event in rest)))
        self.assertEqual(self.claims()["syscall"].get("unlisted_actions"), None)
        [closed] = self.bodies("run.closed")
        self.assertEqual(closed["channel"]["dropped"], 0)
        # About a kilobyte each, and the store's own.
        self.assertLess(sum(file.stat().st_size for file in self.home.glob("ledger.db*")), (TOLD_APART << 10) + (8 << 20))
        self.assert_verified()


if __name__ == "__main__":
    aasm_case.main()
