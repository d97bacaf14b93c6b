"""A ledger whose disk fills up while a program works: the run ends as evidence_failure, and nothing is lost or unclear."""

import json
import subprocess
import unittest

import aasm_case
import host_case

# Denied calls of many kinds, so that each commit has something new to write, for as long as it may.
PROGRAM = """
import ctypes, time
libc = ctypes.CDLL(None)
open("fill", "w").write("now\\n")
open("filled").read()
for number in range(100000):
    libc.unshare(number)
    libc.syscall(321, number)  # bpf
    time.sleep(0.001)
"""

# Runs in a mount namespace of its own, with the home on a small file system. Prints words for the test.
SCRIPT = """
aasm() { "$AASM" "$@"; }
run() { status=0; aasm run exec --policy "$POLICY" "$@" || status=$?; }
aasm init --org test.example >/dev/null
run -- /bin/sh -c 'exit 0'
mkfifo fill filled
(read line < fill; BEFORE_FILLING; cat /dev/zero > "$AASM_HOME/filler" || true; echo now > filled) 2>/dev/null &
run -- /usr/bin/python3 program.py 2>run.err
echo "full: $status"
wait
aasm verify --format json > full.json || true
run -- /bin/true 2>refused.err
echo "still full: $status"
rm "$AASM_HOME/filler"
run -- /bin/sh -c 'exit 5'
echo "room: $status"
aasm verify --format json > room.json || true
aasm runs list --format json > runs.json
"""


class FullDisk(host_case.HostCase):
    initialise = False

    def fill_up(self, before_filling=":"):
        self.home.mkdir()
        (self.work / "program.py").write_text(PROGRAM)
        mount = f"mount -t tmpfs -o size=12m,mode=0700 none {self.home}"
        env = {**self.env, "AASM": aasm_case.AASM, "POLICY": str(self.policy)}
        script = SCRIPT.replace("BEFORE_FILLING", before_filling)
        done = subprocess.run([*self.mounted(mount), "sh", "-ec", script], env=env, cwd=self.work, text=True,
                                        stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        words = dict(line.split(": ") for line in done.stdout.splitlines() if ": " in line)
        read = lambda name: json.loads((self.work / name).read_text())
        return words, read("full.json"), read("room.json"), [run["ending"] for run in read("runs.json")["runs"]][::-1]

    def test_the_reserve_holds_the_end_of_the_run(self):
        """Case L2."""
        words, full, room, endings = self.fill_up()
        self.assertEqual(words, {"full": "122", "still full": "122", "room": "5"}, (self.work / "run.err").read_text())
        self.assertIn("disk is full", (self.work / "run.err").read_text())
        self.assertIn("no room", (self.work / "refused.err").read_text())
        self.assertEqual((full["verdict"], full["exit_status"]), ("VERIFIED", 0), full["findings"])
        self.assertEqual((room["verdict"], room["exit_status"]), ("VERIFIED", 0), room["findings"])
        self.assertEqual(endings, ["finished", "evidence_failure", "finished"])

    def test_without_a_reserve_the_next_writer_recovers_the_run(self):
        words, full, room, endings = self.fill_up('rm "$AASM_HOME/ledger.db.reserve"')
        self.assertEqual(words, {"full": "122", "still full": "122", "room": "5"}, (self.work / "run.err").read_text())
        self.assertEqual((full["verdict"], full["exit_status"]), ("INCONCLUSIVE", 3), full["findings"])
        self.assertEqual(full["coverage"]["unfinished"]["count"], 1)
        self.assertEqual((room["verdict"], room["exit_status"]), ("VERIFIED", 0), room["findings"])
        self.assertEqual(endings, ["finished", "interrupted", "finished"])


if __name__ == "__main__":
    aasm_case.main()
