"""aasm run exec on a terminal: job control works as it does without aasm."""

import fcntl
import os
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
        self.say("$RUN /bin/sh -c 'echo ready; sleep 600'")
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
