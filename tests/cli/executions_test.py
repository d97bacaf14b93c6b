"""aasm run exec with `evidence.filesystem: decisions`: which files are executed, and which were refused."""

import ctypes
import errno
import json
import os
import pathlib
import shutil
import struct
import textwrap
import unittest

import aasm_case

POLICY = """apiVersion: agent-assembly/v1
kind: Policy
metadata: {{ name: test }}
spec:
  filesystem:
    read: {{ allow: [/usr, /lib, /lib64, /bin, /etc, /dev, /proc, "${{WORKDIR}}", "{outside}"] }}
    write: {{ allow: ["${{WORKDIR}}", /dev/null] }}
    execute: {{ allow: {execute} }}
  evidence: {{ filesystem: {level} }}
"""
PROGRAMS = ["/usr", "/lib", "/lib64", "/bin"]

# run(START): START executes in a child. Prints how that ended: an errno's name, or the status.
CHILD = textwrap.dedent("""
    import ctypes, errno, os, sys
    LIBC = ctypes.CDLL(None, use_errno=True)
    def run(start):
        pid = os.fork()
        if pid == 0:
            try:
                start()
            except OSError as error:
                os._exit(100 + error.errno)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        print(errno.errorcode[status - 100] if status > 100 else status, flush=True)
    def execveat(directory, name, flags):
        words = (ctypes.c_char_p * 2)(b"word", None)
        LIBC.syscall(322 if os.uname().machine == "x86_64" else 281, directory, name, words, None, flags)
        raise OSError(ctypes.get_errno(), "execveat")
    def memory_copy(path, name="copy"):
        memory = os.memfd_create(name, os.MFD_CLOEXEC)
        with open(path, "rb") as file:
            os.write(memory, file.read())
        return memory
    """)


class ExecutionsCase(aasm_case.AasmCase):
    def setUp(self):
        super().setUp()
        shutil.copy("/usr/bin/true", self.outside / "tool")  # read, not executed
        self.use("decisions")

    def use(self, level, execute=None):
        listed = [*PROGRAMS, "${WORKDIR}"] if execute is None else execute
        self.policy.write_text(POLICY.format(level=level, outside=self.outside, execute=json.dumps(listed)))

    def ends(self, script, *args, seconds=60):
        """How each run() of the script ended."""
        done = self.python(CHILD + textwrap.dedent(script), str(self.outside), *args, timeout=seconds)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.split()

    def executions(self, **wanted):
        return [event for event in self.events() if event["operation"] == "execute"
                and all(event[name] == value for name, value in wanted.items())]

    def assert_claimed(self, actions):
        self.assert_verified()
        claim = self.claims()["filesystem_read"]
        self.assertEqual((claim["claim"], claim["denied_actions"]), ("denied_before_execution", actions), claim)


class RefusedTest(ExecutionsCase):
    def test_a_refused_execution_is_one_record_by_whatever_name_it_was_asked_for(self):
        script = """
            base = sys.argv[1]
            tool = base + "/tool"
            os.symlink(tool, "link")
            folder = os.open(base, os.O_PATH)
            file = os.open(tool, os.O_PATH)
            run(lambda: os.execv(tool, ["tool"]))
            run(lambda: os.execv("../outside/./tool", ["tool"]))
            run(lambda: os.execv("link", ["tool"]))
            run(lambda: execveat(folder, b"tool", 0))
            run(lambda: execveat(file, b"", 0x1000))
            run(lambda: os.execv("/proc/self/fd/%d" % file, ["tool"]))
            """
        self.assertEqual(self.ends(script), ["EACCES"] * 6)
        tool = os.path.realpath(self.outside / "tool")
        facts = os.stat(tool)
        denied = self.executions(outcome="denied")
        self.assertEqual([event["object"].get("given_path", "") for event in denied[:4]],
                         ["", "../outside/./tool", "link", "tool"])
        self.assertEqual(sum(event["count"] for event in denied), 6)
        for event in denied:
            made = event["object"]
            self.assertEqual((made["type"], made["path"], made["device"], made["inode"]),
                             ("path", tool, str(facts.st_dev), str(facts.st_ino)))
            self.assertEqual((event["domain"], event["cause"], event["rule"], event["errno"], event["reply"], event["mechanism"]),
                             ("filesystem_read", "policy", "filesystem.read.allow", errno.EACCES, "accepted", "seccomp_user_notification"))
            self.assertTrue(event["executable"].startswith("/usr/bin/python3"), event)
            self.assertGreater(len(event["parents"]), 1)
        self.assert_claimed(6)

    def test_what_is_written_and_not_listed_is_not_executed(self):
        self.use("decisions", execute=PROGRAMS)
        (self.work / "copy").write_bytes(pathlib.Path("/usr/bin/true").read_bytes())
        (self.work / "copy").chmod(0o755)
        self.assertEqual(self.ends('run(lambda: os.execv("copy", ["copy"]))'), ["EACCES"])
        self.assert_claimed(1)

    def test_what_a_mode_refuses_is_not_called_policy(self):
        (self.work / "plain").write_text("no program\n")
        self.assertEqual(self.ends('run(lambda: os.execv("plain", ["plain"])); run(lambda: os.execv(".", ["."]))'),
                         ["EACCES", "EACCES"])
        self.assertEqual([event["cause"] for event in self.executions(outcome="denied")], ["host_permission"] * 2)
        self.assertEqual(self.assert_verified()["verdict"], "VERIFIED")
        self.assertEqual(self.claims()["filesystem_read"]["claim"], "evaluated")

    def test_what_is_not_there_is_no_decision(self):
        script = """
            os.symlink("loop", "loop")
            run(lambda: os.execv("nothing", ["nothing"]))
            run(lambda: os.execv("/usr/bin/true/x", ["x"]))
            run(lambda: os.execv("loop", ["loop"]))
            run(lambda: execveat(-100, b"/bin/sh", 0x4000))
            run(lambda: execveat(77, b"", 0x1000))
            """
        self.assertEqual(self.ends(script), ["ENOENT", "ENOTDIR", "ELOOP", "EINVAL", "EBADF"])
        self.assertEqual(self.executions(outcome="denied"), [])

    def test_asking_the_kernel_is_no_execution(self):
        """AT_EXECVE_CHECK; EINVAL before Linux 6.14."""
        [end] = self.ends('run(lambda: execveat(-100, (sys.argv[1] + "/tool").encode(), 0x10000))')
        self.assertIn(end, ("EACCES", "EINVAL"))
        self.assertEqual(self.executions(outcome="denied"), [])


class OldKernelTest(ExecutionsCase):
    """Before Linux 6.14 the kernel cannot be asked; here a filter around aasm answers as it did then."""

    @staticmethod
    def forget_the_question():
        libc = ctypes.CDLL(None, use_errno=True)
        allow, einval = 0x7FFF0000, 0x00050000 | errno.EINVAL
        number = 322 if os.uname().machine == "x86_64" else 281
        lines = [(0x20, 0, 0, 0), (0x15, 0, 3, number), (0x20, 0, 0, 16 + 4 * 8), (0x54, 0, 0, 0x10000), (0x15, 1, 0, 0x10000),
                 (0x06, 0, 0, allow), (0x06, 0, 0, einval)]
        code = b"".join(struct.pack("HBBI", *line) for line in lines)
        program = struct.pack("HxxxxxxQ", len(lines), ctypes.addressof(buffer := ctypes.create_string_buffer(code)))
        if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, program, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "a filter")
        del buffer

    def test_modes_are_asked_and_grants_say_what_landlock_would(self):
        (self.work / "plain").write_text("no program\n")
        script = """
            run(lambda: execveat(-100, b"/usr/bin/true", 0x10000))
            run(lambda: os.execv(sys.argv[1] + "/tool", ["tool"]))
            run(lambda: os.execv("/usr/bin/true", ["true"]))
            run(lambda: os.execv("plain", ["plain"]))
            run(lambda: os.execv(".", ["."]))
            os.symlink("/usr/bin/true", "link")
            run(lambda: execveat(-100, b"link", 0x100))
            """
        done = self.python(CHILD + textwrap.dedent(script), str(self.outside), preexec_fn=self.forget_the_question)
        self.assertEqual(done.stdout.split(), ["EINVAL", "EACCES", "0", "EACCES", "EACCES", "ELOOP"], done.stderr)
        self.assertEqual([event["cause"] for event in self.executions(outcome="denied")], ["policy", "host_permission", "host_permission"])
        self.assert_claimed(1)


class AllowedTest(ExecutionsCase):
    def test_an_allowed_execution_cites_the_grant_and_names_what_was_asked(self):
        self.assertEqual(self.ends('run(lambda: os.execv("/usr/bin/true", ["true"]))'), ["0"])
        true = os.path.realpath("/usr/bin/true")
        [event] = [event for event in self.executions(outcome="allowed") if event["object"]["path"] == true]
        self.assertEqual((event["rule"], event["errno"], event["reply"]), ("filesystem.execute.allow[0]", 0, "accepted"))
        self.assertTrue(event["executable"].startswith("/usr/bin/python3"), event)  # the caller still is what it was
        self.assert_verified()

    def test_below_decisions_no_execution_is_recorded(self):
        self.use("write-decisions")
        self.assertEqual(self.ends('run(lambda: os.execv(sys.argv[1] + "/tool", ["tool"]))'), ["EACCES"])
        self.assertEqual(self.executions(), [])

    def test_a_file_that_was_removed_is_executed_as_what_it_was(self):
        script = """
            import shutil
            shutil.copy("/usr/bin/true", "gone")
            file = os.open("gone", os.O_RDONLY)
            os.unlink("gone")
            run(lambda: os.execv("/proc/self/fd/%d" % file, ["gone"]))
            """
        self.assertEqual(self.ends(script), ["0"])
        asked = [event["object"]["path"] for event in self.executions(outcome="allowed")]
        self.assertIn(os.path.realpath(self.work) + "/gone", asked)
        self.assert_verified()

    def test_a_lease_holds_up_its_own_execution_and_no_other_call(self):
        script = """
            import fcntl, shutil, signal, threading
            shutil.copy("/usr/bin/true", "leased")
            file = os.open("leased", os.O_RDONLY)
            broken = threading.Event()
            signal.signal(signal.SIGIO, lambda *_: broken.set())
            fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
            pid = os.fork()
            if pid == 0:
                os.execv("leased", ["leased"])
            while not broken.is_set():
                signal.sigtimedwait([], 0.01)
            print(sum(1 for _ in range(200) if os.close(os.open("/etc/passwd", os.O_RDONLY)) is None))
            print(os.waitpid(pid, os.WNOHANG)[0])
            fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK)
            print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
            """
        self.assertEqual(self.ends(script), ["200", "0", "0"])
        self.assert_verified()

    def test_case_41_children_of_many_threads_lose_no_execution(self):
        """Case 41: 8 threads that start 25 programs each (a number of a thread is not one of a process)."""
        script = """
            import subprocess, threading
            failed = []
            def start():
                for _ in range(25):
                    failed.append(subprocess.run(["/usr/bin/true"]).returncode)
            threads = [threading.Thread(target=start) for _ in range(8)]
            [thread.start() for thread in threads]; [thread.join() for thread in threads]
            print(failed.count(0))
            """
        self.assertEqual(self.ends(script), ["200"])
        true = os.path.realpath("/usr/bin/true")
        asked = [event for event in self.executions(outcome="allowed") if event["object"]["path"] == true]
        self.assertEqual(sum(event["count"] for event in asked), 200)
        self.assert_verified()


class JustWrittenTest(aasm_case.AasmCase):
    def test_a_file_is_executed_as_soon_as_its_writer_has_closed_it(self):
        """ETXTBSY is for those who write: neither the broker nor the supervisor may hold what they opened for somebody."""
        script = "i=0; while [ $i -lt 150 ]; do cp /bin/true tool && ./tool || exit 1; i=$((i+1)); done"
        for level in ("setup", "write-decisions", "decisions"):
            with self.subTest(level=level):
                self.write_policy(aasm_case.POLICY.format(read="").replace("spec:\n", f"spec:\n  evidence: {{ filesystem: {level} }}\n"))
                done = self.sh(script)
                self.assertEqual((done.returncode, done.stderr), (0, ""))


class AdvisoryTest(ExecutionsCase):
    """What the list of what may be executed does not reach, and that the report says so."""

    MEMORY = """
        memory = memory_copy(sys.argv[1] + "/tool")
        run(lambda: os.execve(memory, ["copy"], {}))
        run(lambda: os.execv("/proc/self/fd/%d" % memory, ["copy"]))
        """

    def assert_declared(self):
        [probed] = [domain for body in self.bodies("capability.probed") for domain in body["domains"]
                    if domain["domain"] == "filesystem_read"]
        self.assertIn("control of execution is advisory", " ".join(probed["limitations"]))

    def test_case_25_a_copy_in_memory_is_refused_where_it_is_judged_and_declared_advisory(self):
        """Case 25, with decisions."""
        self.assertEqual(self.ends(self.MEMORY), ["EACCES", "EACCES"])
        denied = self.executions(outcome="denied")
        self.assertEqual([(event["object"]["type"], event["object"]["name"], event["cause"]) for event in denied],
                         [("name", "memfd:copy", "policy")] * len(denied))
        self.assertEqual(sum(event["count"] for event in denied), 2)
        self.assert_claimed(2)
        self.assert_declared()

    def test_case_25_without_decisions_a_copy_in_memory_runs_and_the_report_says_that_it_may(self):
        self.use("setup")
        self.assertEqual(self.ends(self.MEMORY), ["0", "0"])
        self.assert_declared()

    def test_what_a_loader_or_an_interpreter_reads_is_not_an_execution(self):
        (self.outside / "script").write_text("exit 7\n")
        [loader] = [path for path in ("/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1") if os.path.exists(path)]
        script = f"""
            run(lambda: os.execv("{loader}", ["ld", sys.argv[1] + "/tool"]))
            run(lambda: os.execv("/bin/sh", ["sh", sys.argv[1] + "/script"]))
            """
        self.assertEqual(self.ends(script), ["0", "7"])
        self.assertEqual(self.executions(outcome="denied"), [])
        self.assert_declared()

    def test_a_script_is_asked_for_and_its_interpreter_is_the_kernels_matter(self):
        tool = self.work / "script"
        tool.write_text(f"#!{self.outside}/tool\n")
        tool.chmod(0o755)
        self.assertEqual(self.ends('run(lambda: os.execv("script", ["script"]))'), ["EACCES"])
        self.assertEqual(self.executions(outcome="denied"), [])
        self.assertIn(os.path.realpath(tool), [event["object"]["path"] for event in self.executions(outcome="allowed")])
        self.assert_declared()


class FlipTest(ExecutionsCase):
    ROUNDS = int(os.environ.get("AASM_FLIPS", "150"))

    def test_case_34_a_name_that_flips_executes_no_file_without_a_grant(self):
        """Case 34, of execution: whatever is judged, Landlock judges what is executed. AASM_FLIPS=1000000 for the long form."""
        mark = self.work / "mark"
        (self.outside / "tool").write_text(f"#!/bin/sh\necho leak >> {mark}\n")
        script = """
            import threading
            texts = [b"/usr/bin/true\\0", (sys.argv[1] + "/tool").encode() + b"\\0"]
            buffer = ctypes.create_string_buffer(texts[0], 4096)
            words = (ctypes.c_char_p * 2)(b"word", None)
            sys.setswitchinterval(1e-5)
            seen = {0: 0, errno.EACCES: 0}
            def flip():
                while True:
                    ctypes.memmove(buffer, texts[1], len(texts[1])); ctypes.memmove(buffer, texts[0], len(texts[0]))
            rounds = 0
            # Without a processor of its own the thread comes late: then there is more of it.
            while rounds < int(sys.argv[2]) or (min(seen.values()) == 0 and rounds < 20 * int(sys.argv[2])):
                rounds += 1
                pid = os.fork()
                if pid == 0:
                    change = threading.Thread(target=flip, daemon=True); change.start()
                    LIBC.execve(buffer, words, None)
                    os._exit(ctypes.get_errno())
                end = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
                seen[end] = seen.get(end, 0) + 1
            # A name that is half changed when it is read is nobody's.
            print(set(seen) <= {0, errno.EACCES, errno.ENOENT} and min(seen.values()) > 0, seen)
            """
        ended = self.ends(script, str(self.ROUNDS), seconds=None)
        self.assertEqual(ended[0], "True", ended)
        self.assertFalse(mark.exists())
        self.assert_verified()


if __name__ == "__main__":
    aasm_case.main()
