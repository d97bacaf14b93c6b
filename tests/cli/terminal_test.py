"""aasm run exec on a terminal: job control works as it does without aasm."""

import contextlib
import fcntl
import os
import pathlib
import pty
import re
import select
import signal
import struct
import termios
import time
import unittest

import aasm_case


class Terminal(aasm_case.AasmCase):
    """Drives an interactive bash on a pseudo-terminal."""

    def setUp(self):
        super().setUp()
        pid, self.master = pty.fork()
        if pid == 0:
            os.chdir(self.work)
            env = {**self.env, "PS1": "shell> ", "TERM": "dumb", "RUN": f"{aasm_case.AASM} run exec --policy {self.policy} --"}
            os.execve("/bin/bash", ["bash", "--norc", "--noprofile", "--noediting", "-i"], env)
        self.shell = pid
        self.seen = ""
        self.addCleanup(self.hang_up)
        self.expect("shell> ")
        self.say("stty -echo")
        self.expect("shell> ")

    def hang_up(self):
        os.close(self.master)
        try:
            os.kill(self.shell, signal.SIGKILL)
        except ProcessLookupError:
            pass
        os.waitpid(self.shell, 0)
        # A supervisor that still ends its run would make files in what is about to be removed.
        self.wait_for(lambda: not self.left(), "the runs to end")

    def left(self):
        """Commands that name our policy."""
        found = []
        for process in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                if str(self.policy).encode() in process.read_bytes():
                    found.append(process)
        return found

    def say(self, text):
        os.write(self.master, (text + "\n").encode())

    def key(self, character):
        os.write(self.master, character.encode())

    def expect(self, pattern, seconds=15):
        """Reads until the pattern shows; returns what stood before it and drops both."""
        end = time.monotonic() + seconds
        while True:
            match = re.search(pattern, self.seen)
            if match:
                before = self.seen[:match.start()]
                self.seen = self.seen[match.end():]
                return before
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.master], [], [], left)[0]:
                self.fail(f"no {pattern!r} in {self.seen!r}")
            self.seen += os.read(self.master, 65536).decode(errors="replace")

    def test_ctrl_c_ends_the_program_and_not_the_shell(self):
        # Not a shell: dash loses a SIGINT that comes while it forks.
        self.say("$RUN /usr/bin/python3 -c 'import signal, time; signal.signal(signal.SIGINT, signal.SIG_DFL); "
                 "print(\"rea\" + \"dy\", flush=True); time.sleep(600)'")
        self.expect("ready")
        self.key("\x03")
        self.expect("shell> ")
        self.say("echo status=$?")
        self.expect("status=130")

    def test_ctrl_c_can_be_caught_by_the_program_once(self):
        self.say("$RUN /bin/sh -c 'n=0; trap \"n=\\$((n+1))\" INT; echo ready; i=0; while [ $i -lt 12 ]; do sleep 0.05; i=$((i+1)); done; echo caught=$n'")
        self.expect("ready")
        self.key("\x03")
        self.expect("caught=1")

    def test_ctrl_z_stops_it_and_fg_goes_on(self):
        self.say("$RUN /bin/sh -c 'echo ready; read line; echo got=$line'")
        self.expect("ready")
        self.key("\x1a")
        self.expect("Stopped")
        self.expect("shell> ")
        self.say("fg")
        self.expect("RUN|sh")
        self.say("word")
        self.expect("got=word")
        self.expect("shell> ")

    def test_a_program_that_stops_itself_is_a_stopped_job_and_fg_continues_it(self):
        for options in ("", "--isolation none"):
            for name in ("STOP", "TSTP"):
                with self.subTest(signal=name, options=options):
                    self.say(f"${{RUN% --}} {options} -- /bin/sh -c 'echo ready; kill -{name} $$; echo resumed; exit 7'")
                    self.expect("ready")
                    self.expect("Stopped")
                    self.expect("shell> ")
                    self.say("fg")
                    self.expect("resumed")
                    self.expect("shell> ")
                    self.say("echo status=$?")
                    self.expect("status=7")
                    self.expect("shell> ")

    def test_a_program_that_ignores_ctrl_z_is_supervised_on(self):
        self.say("$RUN /usr/bin/python3 -c '\n"
                 "import ctypes, signal\n"
                 "signal.signal(signal.SIGTSTP, signal.SIG_IGN)\n"
                 "print(\"rea\" + \"dy\", flush=True)\n"
                 "word = input()\n"
                 "print(\"answer\", ctypes.CDLL(None).unshare(0), word, flush=True)'")
        self.expect("ready")
        self.key("\x1a")
        self.say("word")
        self.expect("answer -1 word")
        self.expect("shell> ")

    def test_reading_in_the_background_stops_the_job_and_fg_lets_it_read(self):
        self.say("$RUN /bin/sh -c 'read line; echo got=$line' &")
        [pid] = self.wait_for(lambda: self.children_of(self.shell), "aasm")
        self.wait_for(lambda: self.state_of(pid) == "T", "its stop")
        self.say("fg")
        self.expect("RUN")
        self.say("word")
        self.expect("got=word")
        self.expect("shell> ")

    @staticmethod
    def children_of(pid):
        return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]

    @staticmethod
    def state_of(pid):
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]

    def test_what_was_decided_before_a_stop_is_durable_while_it_lasts(self):
        self.say("$RUN /usr/bin/python3 -c '\n"
                 "import ctypes, os, signal\n"
                 "ctypes.CDLL(None).unshare(0)\n"
                 "os.kill(os.getpid(), signal.SIGSTOP)\n"
                 "print(\"resu\" + \"med\", flush=True)'")
        self.expect("Stopped")
        [pid] = self.children_of(self.shell)
        self.assertEqual(self.state_of(pid), "T")
        [event] = [event for event in self.events() if event["object"]["name"] == "unshare"]
        self.assertEqual(event["count"], 1)
        self.say("fg")
        self.expect("resumed")

    def test_a_program_that_somebody_else_continues_is_answered(self):
        self.say("$RUN /usr/bin/python3 -c '\n"
                 "import ctypes, os, signal\n"
                 "print(\"pid=%d.\" % os.getpid(), flush=True)\n"
                 "os.kill(os.getpid(), signal.SIGSTOP)\n"
                 "print(\"answer\", ctypes.CDLL(None).unshare(0), flush=True)'")
        self.expect("pid=")
        program = int(self.expect(r"\."))
        self.expect("Stopped")
        os.kill(program, signal.SIGCONT)
        self.expect("answer -1")

    def test_a_resize_reaches_the_program(self):
        self.say("$RUN /usr/bin/python3 -c '"
                 "import os,signal,time\n"
                 "def told(*_): os.write(1, b\"size %d %d\\n\" % tuple(os.get_terminal_size(0)))\n"
                 "signal.signal(signal.SIGWINCH, told)\n"
                 "print(\"ready\", flush=True)\n"
                 "time.sleep(5)'")
        self.expect("ready")
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 101, 0, 0))
        self.expect("size 101 33")
        self.key("\x03")

    def test_the_terminal_is_as_it_was_afterwards(self):
        self.say("stty -g; echo before")
        before = self.expect("before").strip().splitlines()[-1].removeprefix("shell> ")
        self.say("$RUN /bin/sh -c 'stty raw -echo; kill -9 $$'")
        self.expect("Killed|shell> ")
        self.say("stty -g; echo after")
        after = self.expect("after").strip().splitlines()[-1].removeprefix("shell> ")
        self.assertEqual(after, before)

    def test_the_program_may_push_no_input_into_the_terminal(self):
        self.say("$RUN /usr/bin/python3 -c 'import fcntl,termios\n"
                 "try:\n"
                 " [fcntl.ioctl(0, termios.TIOCSTI, c) for c in \"echo pushed\\n\"]\n"
                 " print(\"went\" + \" through\")\n"
                 "except OSError as e: print(\"refu\" + \"sed\", e.errno)'")
        self.expect("refused 1")
        self.expect("shell> ")
        self.say("echo end")
        self.assertNotIn("pushed", self.expect("end"))


if __name__ == "__main__":
    aasm_case.main()
