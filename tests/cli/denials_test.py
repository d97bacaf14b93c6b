"""Many refused actions at once, over every domain that records its decisions: each is counted, none is lost, and it costs a bounded amount of memory."""

import os
import pathlib
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
nobody = struct.pack("=H", socket.AF_INET) + struct.pack("!H", 0) + bytes([127, 0, 0, 1]) + bytes(8)
names = struct.pack("=H", socket.AF_INET) + struct.pack("!H", 53) + bytes([127, 0, 0, 1]) + bytes(8)
def work(count):
    unix, udp = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    calls = (lambda: refused(errno.EPERM, libc.unshare(0)),
             lambda: refused(errno.EACCES, libc.bind(udp.fileno(), nobody, 16)),
             lambda: refused(errno.EACCES, libc.connect(udp.fileno(), names, 16)),
             lambda: refused(errno.EACCES, libc.connect(unix.fileno(), path, len(path))),
             lambda: refused(errno.EPERM, libc.kill(1, 0)))
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


class Denials(aasm_case.AasmCase):
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

    # Case 88, over all built domains.
    @unittest.skipIf(aasm_case.SANITIZED, "a sanitizer's own memory is more than the bound")
    def test_every_denial_of_every_domain_is_counted_and_none_is_lost(self):
        service = self.outside / "service"
        listener = socket.socket(socket.AF_UNIX)
        self.addCleanup(listener.close)
        listener.bind(str(service))
        self.write_policy(aasm_case.POLICY.format(read="") + POLICY.format(processes=PROCESSES + 1))
        each_process, each_thread = ACTIONS // 2 // PROCESSES, ACTIONS // 2 // THREADS
        process = self.start("/usr/bin/python3", "-c", WORK, str(service), *map(str, (each_process, each_thread, PROCESSES, THREADS, CREATIONS)),
                             stdin=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), "done\n", process.poll() is not None and process.stderr.read())
        peaks = {name: self.peak(pid) for name, pid in self.own_processes(process.pid).items()}
        _, errors = process.communicate("", timeout=120)
        self.assertEqual(process.returncode, 0, errors)
        self.assertEqual(set(peaks), {"supervisor", "broker"})
        self.assertLess(max(peaks.values()), MEMORY_KIB, peaks)
        expected = dict.fromkeys(("syscall", "network_egress", "name_resolution", "ipc", "process_creation"), 0)
        for count, times in ((each_process, PROCESSES), (each_thread, THREADS)):
            for i, domain in enumerate(("syscall", "network_egress", "name_resolution", "ipc", "ipc")):
                expected[domain] += times * len(range(i, count, 5))
        expected["process_creation"] = CREATIONS
        counted, others = dict.fromkeys(expected, 0), 0  # as clone3, which threads try first
        for event in self.events():
            if (event["outcome"], event["cause"]) == ("denied", "policy"):
                counted[event["domain"]] += event["count"]
            else:
                others += event["count"]
        self.assertEqual(counted, expected)
        [closed] = self.bodies("run.closed")
        self.assertEqual((closed["channel"]["dropped"], closed["channel"]["actions"]), (0, sum(expected.values()) + others))
        claims = self.claims()
        self.assertEqual({domain: claims[domain]["denied_actions"] for domain in expected}, expected)
        self.assert_verified()


if __name__ == "__main__":
    aasm_case.main()
