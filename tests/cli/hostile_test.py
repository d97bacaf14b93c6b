"""aasm verify on things that are no ledger, or that change under its eyes: a status, soon, and nothing else."""

import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import threading
import time
import unittest

import aasm_case

SOON = 20.0  # seconds of the wall clock on a loaded machine; what it costs is held to CPU_SECONDS
CPU_SECONDS = 5.0


class HostileTarget(aasm_case.AasmCase):
    def setUp(self):
        super().setUp()
        self.ledger = self.root / "copy.db"
        with sqlite3.connect(self.home / "ledger.db") as source, sqlite3.connect(self.ledger) as copy:
            source.backup(copy)
        source.close()
        copy.close()

    def judge(self, path, *args):
        """Status, codes and report of verify; it ends soon and says one thing, nothing on stderr."""
        before = os.times()
        done = subprocess.run([aasm_case.AASM, "verify", *args, "--", os.fsencode(path)], env=self.env, cwd=self.work,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=SOON, check=False)
        after = os.times()
        cpu = after.children_user + after.children_system - before.children_user - before.children_system
        self.assertLess(cpu, CPU_SECONDS, path)
        self.assertEqual(done.stderr, b"")
        return done.returncode, done.stdout.decode("utf-8")

    def refused(self, path, code):
        status, text = self.judge(path)
        self.assertEqual(status, 4, text)
        self.assertIn("UNREADABLE", text)
        self.assertIn(code, text)
        for other in ("target_not_found", "target_not_regular", "target_unreadable", "target_too_large", "target_not_recognised"):
            self.assertEqual(other in text, other == code, text)

    def test_the_copy_that_nobody_touched_is_verified(self):
        self.assertEqual(self.judge(self.ledger)[0], 0)

    def test_a_sparse_file_of_ten_gigabytes(self):
        os.truncate(self.ledger, 10 << 30)
        self.refused(self.ledger, "target_too_large")
        hole = self.root / "hole"
        hole.touch()
        os.truncate(hole, 10 << 30)
        self.refused(hole, "target_not_recognised")

    def test_what_is_no_regular_file(self):
        fifo = self.root / "fifo"
        os.mkfifo(fifo)
        name = self.root / "socket"
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(name))
        for path in (fifo, name, "/dev/zero", "/dev/full", "/dev/null", "/dev/tty", self.root, "/", "/proc/self/fd", "."):
            with self.subTest(path=path):
                self.refused(path, "target_not_regular")

    def test_a_link_is_not_followed_but_one_in_its_folder_is(self):
        for name, to in (("link", self.ledger), ("dangling", "nowhere"), ("loop", "loop"), ("device", "/dev/zero")):
            (self.root / name).symlink_to(to)
            self.refused(self.root / name, "target_not_regular")
        (self.root / "way").symlink_to(self.root)
        self.assertEqual(self.judge(self.root / "way" / "copy.db")[0], 0)

    def test_empty_short_and_foreign_files(self):
        for content in (b"", b"S", b"SQLite format 3", b"c2sp.org/", b"\0" * 4096, b"\xff" * 100000, b"#!/bin/sh\n"):
            with self.subTest(content=content[:20]):
                path = self.root / "file"
                path.write_bytes(content)
                self.refused(path, "target_not_recognised")
        path.write_bytes(b"SQLite format 3\0")
        self.assertEqual(self.judge(path)[0], 4)

    def test_a_receipt_of_a_gigabyte(self):
        path = self.root / "receipt"
        path.write_bytes(b"c2sp.org/tlog-proof@v1\n")
        os.truncate(path, 1 << 30)
        self.refused(path, "target_too_large")

    def test_a_path_that_is_not_there(self):
        for path in ("", self.root / "missing", self.ledger / "below", self.root / "no" / "where"):
            with self.subTest(path=path):
                if path != "":  # no path at all means the ledger of this host
                    self.refused(path, "target_not_found")

    @unittest.skipIf(os.geteuid() == 0, "root reads every file")
    def test_a_file_that_may_not_be_read(self):
        self.ledger.chmod(0)
        self.refused(self.ledger, "target_unreadable")

    def test_a_file_of_proc_that_gives_no_bytes(self):
        for path in ("/proc/self/mem", "/proc/self/attr/current", "/proc/kmsg", "/proc/self/status"):
            with self.subTest(path=path):
                self.assertEqual(self.judge(path)[0], 4)

    def test_paths_that_are_long_or_no_text(self):
        folder = self.root
        while len(os.fsencode(folder)) < 3780:
            folder = folder / ("d" * 200)
        folder.mkdir(parents=True)
        long = folder / ("l" * (4000 - len(os.fsencode(folder)) - 1))
        self.assertEqual(len(os.fsencode(long)), 4000)
        shutil.copy(self.ledger, long)
        odd = os.fsencode(self.root) + b"/led\xff\xfe\ng\x1b[2Jer.db"
        shutil.copy(self.ledger, odd)
        for path in (long, odd):
            status, text = self.judge(path)
            self.assertEqual(status, 0, text)
            self.assertNotIn("\x1b", text)
        self.assertEqual(self.judge("/" + "n" * 5000)[0], 4)
        self.assertEqual(self.judge("n/" * 4000)[0], 4)

    def test_a_file_that_grows_while_it_is_read(self):
        stop = threading.Event()

        def grow():
            with open(self.ledger, "ab") as file:
                while not stop.is_set():
                    file.write(b"\0" * 4096)
                    file.flush()
                    time.sleep(0.001)

        thread = threading.Thread(target=grow)
        thread.start()
        try:
            for _ in range(3):
                status, text = self.judge(self.ledger)
                self.assertIn(status, (0, 4), text)  # zeros after the last page are none of it; or no two equal looks
        finally:
            stop.set()
            thread.join()

    def test_a_folder_that_takes_no_write(self):
        folder = self.root / "media"
        folder.mkdir()
        shutil.copy(self.ledger, folder / "ledger.db")
        (folder / "ledger.db").chmod(0o400)
        folder.chmod(0o500)
        self.addCleanup(folder.chmod, 0o700)
        self.assertEqual(self.judge(folder / "ledger.db")[0], 0)
        self.assertEqual(os.listdir(folder), ["ledger.db"])

    def test_a_read_only_mount(self):
        """A folder bound read-only in a mount namespace of its own, where such a one can be made."""
        script = ('mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && ! touch "$1/x" 2>/dev/null && '
                  'echo mounted >&2 && exec "$2" verify "$1/ledger.db"')
        folder = self.root / "mount"
        folder.mkdir()
        shutil.copy(self.ledger, folder / "ledger.db")
        done = subprocess.run(["unshare", "-rm", "/bin/sh", "-c", script, "sh", folder, aasm_case.AASM], env=self.env,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SOON, check=False)
        if "mounted" not in done.stderr:
            self.skipTest("no mount namespace can be made here")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_without_any_network(self):
        """Case L43. In an empty network namespace, where one can be made."""
        done = subprocess.run(["unshare", "-rn", "/bin/sh", "-c", 'echo alone >&2; exec "$0" verify "$1"', aasm_case.AASM, self.ledger],
                              env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SOON, check=False)
        if "alone" not in done.stderr:
            self.skipTest("no network namespace can be made here")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_an_answer_that_cannot_be_written_is_no_success(self):
        missing = self.root / "missing"
        for args, wanted in (((self.ledger, "--state", self.root / "state"), 4), ((self.ledger, "--format", "json"), 4), ((missing,), 4)):
            with open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run([aasm_case.AASM, "verify", *args], env=self.env, stdin=subprocess.DEVNULL, text=True,
                                      stdout=full, stderr=subprocess.PIPE, timeout=SOON, check=False)
            self.assertEqual(done.returncode, wanted)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertFalse((self.root / "state").exists())

    def test_a_reader_that_goes_away_changes_no_status(self):
        self.addCleanup(signal.signal, signal.SIGPIPE, signal.signal(signal.SIGPIPE, signal.SIG_IGN))
        left, right = os.pipe()
        os.close(left)
        done = subprocess.run([aasm_case.AASM, "verify", self.ledger], env=self.env, stdin=subprocess.DEVNULL, stdout=right,
                              stderr=subprocess.PIPE, timeout=SOON, check=False, restore_signals=False)
        os.close(right)
        self.assertEqual((done.returncode, done.stderr), (0, b""))


class LiveLedger(aasm_case.AasmCase):
    def test_verify_beside_a_busy_writer_never_fails(self):
        """Case L1. Two writers append run after run, as fast as they start; AASM_TEST_LIVE_ROUNDS verifications
        meanwhile, at most 60. (How fast records come is the machine's; LiveWriterTest appends without starting programs.)"""
        rounds = min(int(os.environ.get("AASM_TEST_LIVE_ROUNDS", "10" if aasm_case.SANITIZED else "30")), 60)  # the ledger only grows
        stop = threading.Event()
        runs = []

        def write():
            while not stop.is_set():
                runs.append(self.sh("exit 0").returncode)
                if runs[-1] != 0:
                    return

        writers = [threading.Thread(target=write) for _ in range(2)]
        for writer in writers:
            writer.start()
        seen = {}
        try:
            for _ in range(rounds):
                done = self.aasm("verify", "--allow-open")
                seen[done.returncode] = seen.get(done.returncode, 0) + 1
                self.assertNotEqual(done.returncode, 1, done.stdout)
        finally:
            stop.set()
            for writer in writers:
                writer.join()
        self.assertEqual(set(runs), {0})
        self.assertGreaterEqual(len(runs), rounds // 10, "the writers hardly wrote")
        self.assertGreater(seen.get(0, 0), 0, seen)
        self.assert_verified()

    def test_verify_beside_a_thousand_appends_a_second_never_fails(self):
        """Case L1. The real writer commits record by record at that rate, as far as the disk lets it, and verify runs
        beside it AASM_TEST_LIVE_ROUNDS times: VERIFIED or a tail without its checkpoint yet, never FAILED."""
        rounds = int(os.environ.get("AASM_TEST_LIVE_ROUNDS", "3" if aasm_case.SANITIZED else "8"))
        seen = {}
        appended = 0
        took_ms = 0
        sitting = 0
        while sum(seen.values()) < rounds:
            # A ledger a sitting: verifying one that only grows would take longer each time.
            home = self.root / f"home{sitting}"
            sitting += 1
            env = {**self.env, "AASM_HOME": str(home)}
            self.assertEqual(self.aasm("init", "--org", "test.example", env=env).returncode, 0)
            writer = subprocess.Popen([os.environ["AASM_APPEND_RECORDS"], str(home), "2000", "1000"], stdout=subprocess.PIPE, text=True)
            self.addCleanup(writer.kill)
            while writer.poll() is None and sum(seen.values()) < rounds:
                done = self.aasm("verify", "--allow-open", env=env)
                seen[done.returncode] = seen.get(done.returncode, 0) + 1
                self.assertIn(done.returncode, (0, 3), done.stdout)
            said = writer.communicate(timeout=120)[0]
            self.assertEqual(writer.returncode, 0)
            appended += int(said.split()[0])
            took_ms += int(said.split()[3])
            self.assertEqual(self.aasm("verify", env=env).returncode, 0)
        print(f"verdicts {seen} beside {appended} records, {1000 * appended // max(took_ms, 1)} a second")
        self.assertGreater(appended, 0)


if __name__ == "__main__":
    aasm_case.main()
