"""A program that would keep the broker busy, or its supervisor full: others are served, what has no place is refused and recorded, memory is bounded."""

import errno
import os
import resource
import subprocess
import textwrap
import unittest

import aasm_case
import denials_test
import files_test

WAITING = 192  # calls that the broker lets wait at a time (kMaxBrokerWaiting)
CALLERS = 220
BLOCK = textwrap.dedent(f"""
    import errno, os, signal, sys, time
    CALLERS, WAITING, outside = {CALLERS}, {WAITING}, sys.argv[1]
    for i in range(CALLERS): os.mkfifo(f"pipe{{i}}")
    def caller(i, said):
        try: os.open(f"pipe{{i}}", os.O_WRONLY)
        except OSError as error:
            os.write(said, b"r" if error.errno == errno.ENOBUFS else b"?"); os._exit(0)
        os.write(said, b"o"); os._exit(0)
    def serves():
        # While they wait: what is allowed, what is not.
        for i in range(100): os.close(os.open("other", os.O_WRONLY | os.O_CREAT, 0o600))
        try: os.open(outside + "/x", os.O_WRONLY | os.O_CREAT); return "leak"
        except OSError as error: return errno.errorcode[error.errno]
    def crowd():
        hear, say = os.pipe()
        pids = [os.fork() or caller(i, say) for i in range(CALLERS)]
        os.close(say)
        said = b""
        while len(said) < CALLERS - WAITING: said += os.read(hear, CALLERS)
        return pids, hear, said
    def ends(pids):
        return sorted({{os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids}})
    pids, hear, said = crowd()
    print(said == b"r" * (CALLERS - WAITING), serves(), flush=True)
    for pid in pids: os.kill(pid, signal.SIGKILL)
    print(set(ends(pids)) <= {{0, -9}}, flush=True)
    deadline = time.monotonic() + 30
    while True:  # until the broker has let go of those that were killed
        pids, hear, said = crowd()
        if said == b"r" * (CALLERS - WAITING) or time.monotonic() > deadline: break
        for pid in pids: os.kill(pid, signal.SIGKILL)
        ends(pids); os.close(hear)
    # One side reads: they are all opened, the calls answered and not repeated.
    readers = [os.open(f"pipe{{i}}", os.O_RDONLY | os.O_NONBLOCK) for i in range(CALLERS)]
    while len(said) < CALLERS: said += os.read(hear, CALLERS)
    print(said.count(b"o"), said.count(b"r"), serves(), ends(pids), flush=True)
    print("done", flush=True)
    sys.stdin.read()
    """)


class Starving(files_test.FilesCase, denials_test.Peaks):
    @unittest.skipIf(aasm_case.SANITIZED, "a sanitizer's own memory is more than the bound")
    def test_openers_of_pipes_that_nobody_reads_hold_up_nobody(self):
        self.use("write-decisions")
        process = self.start("/usr/bin/python3", "-c", BLOCK, str(self.outside), stdin=subprocess.PIPE)
        said = [process.stdout.readline() for _ in range(3)]
        self.assertEqual(said, ["True EACCES\n", "True\n", f"{WAITING} {CALLERS - WAITING} EACCES [0]\n"], process.poll() is not None and process.stderr.read())
        self.assert_small(process)
        refused = self.of_files(cause="fault")
        self.assertEqual({(e["outcome"], e["errno"], e["operation"]) for e in refused}, {("denied", errno.ENOBUFS, "write")})
        self.assertGreaterEqual(sum(event["count"] for event in refused), 2 * (CALLERS - WAITING))
        [outside] = {self.path(event) for event in self.of_files(outcome="denied", cause="policy")}
        self.assertEqual(outside, os.path.realpath(self.outside) + "/x")
        self.assert_verified()

    @unittest.skipIf(aasm_case.SANITIZED, "a sanitizer's own memory is more than the bound")
    def test_200_processes_with_paths_as_long_as_there_are_stay_bounded_and_counted(self):
        self.use("decisions", deny=["${WORKDIR}/shut"])
        (self.work / "shut").mkdir()
        calls = 3
        process = self.start("/usr/bin/python3", "-c", textwrap.dedent(f"""
            import errno, os, sys
            os.mkdir("a"); open("a/name", "w").close()
            def long(end, lead):
                return lead + "./" * ((4095 - len(lead) - len(end)) // 2) + end
            def work():
                for _ in range({calls}):
                    os.close(os.open(long("name", "a/" + "../a/" * 400), os.O_RDONLY))
                    for path, wanted in ((long("shut/name", "a/" + "../a/" * 400 + "../"), errno.EACCES), (long("x", sys.argv[1] + "/"), errno.EACCES),
                                         ("a/" * 2048, errno.ENAMETOOLONG)):
                        try: os.open(path, os.O_RDWR | os.O_CREAT); os._exit(1)
                        except OSError as error:
                            if error.errno != wanted: os._exit(error.errno)
                os._exit(0)
            pids = [os.fork() or work() for _ in range(200)]
            print({{os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids}}, flush=True)
            print("done", flush=True)
            sys.stdin.read()
            """), str(self.outside), stdin=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), "{0}\n", process.poll() is not None and process.stderr.read())
        self.assert_small(process)
        real = os.path.realpath
        for path in (real(self.work) + "/shut/name", real(self.outside) + "/x"):
            counts = [e["count"] for e in self.of_files(outcome="denied", cause="policy") if self.path(e) == path and e["operation"] == "create"]
            self.assertEqual(sum(counts), 200 * calls, path)
        self.assert_verified()

    @unittest.skipIf(aasm_case.SANITIZED, "a sanitizer's own memory is more than the bound")
    def test_callers_that_hold_as_many_descriptors_as_they_may_are_served_as_others(self):
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        each = min(100_000, most) - 50
        self.use("decisions", deny=["${WORKDIR}/shut"])
        (self.work / "shut").mkdir()
        (self.work / "shut/name").write_text("kept")
        process = self.start("/usr/bin/python3", "-c", textwrap.dedent(f"""
            import errno, os, resource, sys
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(100_000, {most}), {most}))
            os.mkdir("open"); open("open/name", "w").close()
            here, shut = os.open("open", os.O_PATH), os.open("shut", os.O_PATH)
            last = here
            for _ in range({each}): last = os.dup(here)
            top = os.dup2(shut, last)
            for i in range(2000):
                os.close(os.open("name", os.O_RDWR, dir_fd=last - 1))
                for name, at in (("name", top), (f"/proc/self/fd/{{top}}/name", None)):
                    try: os.open(name, os.O_RDWR, dir_fd=at); sys.exit("leak")
                    except OSError as error:
                        if error.errno != errno.EACCES: raise
            print("done", flush=True)
            sys.stdin.read()
            """), stdin=subprocess.PIPE)
        self.assert_small(process)
        shut = os.path.realpath(self.work) + "/shut/name"
        denied = [e for e in self.of_files(outcome="denied", cause="policy") if self.path(e) == shut]
        self.assertEqual({e["operation"]: sum(o["count"] for o in denied if o["operation"] == e["operation"]) for e in denied},
                         {"write": 4000})
        self.assert_verified()


if __name__ == "__main__":
    aasm_case.main()
