#!/usr/bin/env python3
"""Attacks on the evidence from outside the boundary: a doctored ledger, a ledger that cannot be written,
and evidence where the workload could reach it. Numbers are those of field reports; see cases.json."""

import os
import pathlib
import resource
import signal
import sqlite3
import subprocess
import unittest

import aasm_case

LAST = "(SELECT max(seq) FROM records)"
CALLS = "import ctypes,sys\nlibc = ctypes.CDLL(None)\nfor _ in range(int(sys.argv[1])): libc.unshare(0)\n"


class Case60DoctoredChains(aasm_case.AasmCase):
    """Truncated, emptied, cut, reordered and spliced ledgers; each is refused for a reason of its own."""

    def setUp(self):
        super().setUp()
        for count in ("1", "2"):
            self.assertEqual(self.python(CALLS, count).returncode, 0)

    def findings_after(self, *statements, other=None):
        target = self.root / "doctored.db"
        target.unlink(missing_ok=True)
        with sqlite3.connect(self.home / "ledger.db") as source, sqlite3.connect(target) as copy:
            source.backup(copy)
        database = sqlite3.connect(target, isolation_level=None)
        if other:
            database.execute("ATTACH ? AS other", (str(other),))
        for statement in statements:
            database.execute(statement)
        database.close()
        status, report = self.verify_json(target)
        self.assertNotEqual((status, report["verdict"]), (0, "VERIFIED"), statements)
        return {group["code"] for group in report["findings"]["groups"]}

    def test_the_copy_that_nobody_doctored_verifies(self):
        target = self.root / "copy.db"
        with sqlite3.connect(self.home / "ledger.db") as source, sqlite3.connect(target) as copy:
            source.backup(copy)
        status, report = self.verify_json(target)
        self.assertEqual((status, report["verdict"]), (0, "VERIFIED"))

    def test_the_last_records_dropped(self):
        for count in (1, 2, 5):
            with self.subTest(count=count):
                found = self.findings_after(f"DELETE FROM records WHERE seq > {LAST} - {count}")
                self.assertTrue(found & {"rolled_back", "checkpoint_beyond", "checkpoint_size", "checkpoint_beyond_records"}, found)

    def test_all_records_dropped(self):
        # A copy does not say whose it was; that the host's own ledger was emptied is in tests/cli/verify_test.py.
        self.assertEqual(self.findings_after("DELETE FROM records", "DELETE FROM checkpoints", "DELETE FROM blobs"),
                         {"empty_ledger"})

    def test_a_middle_record_dropped(self):
        self.assertIn("sequence_gap", self.findings_after(f"DELETE FROM records WHERE seq = {LAST} - 3"))

    def test_two_records_swapped(self):
        found = self.findings_after(f"UPDATE records SET seq = -1 WHERE seq = {LAST} - 3",
                                    f"UPDATE records SET seq = {LAST} - 3 WHERE seq = {LAST} - 4",
                                    f"UPDATE records SET seq = {LAST} - 4 WHERE seq = -1")
        self.assertIn("sequence_mismatch", found)

    def test_a_record_of_another_ledger_spliced_in(self):
        self.env["AASM_HOME"] = str(self.root / "second")
        self.ok("init", "--org", "test.example")
        for count in ("1", "2"):
            self.assertEqual(self.python(CALLS, count).returncode, 0)
        other = self.root / "second" / "ledger.db"
        self.env["AASM_HOME"] = str(self.home)
        columns = ("payload", "leaf", "keyid", "sig")
        setting = ", ".join(f"{name} = (SELECT {name} FROM other.records o WHERE o.seq = records.seq)" for name in columns)
        found = self.findings_after(f"UPDATE records SET {setting} WHERE seq = {LAST} - 3", other=other)
        self.assertTrue(found & {"origin_mismatch", "subject_mismatch", "prev_mismatch"}, found)

    def test_a_record_of_an_earlier_run_spliced_in(self):
        source = "(SELECT min(seq) FROM records WHERE CAST(payload AS TEXT) LIKE '%decision.batch%')"
        setting = ", ".join(f"{name} = (SELECT {name} FROM records WHERE seq = {source})"
                            for name in ("payload", "leaf", "keyid", "sig"))
        self.assertIn("sequence_mismatch", self.findings_after(f"UPDATE records SET {setting} WHERE seq = {LAST} - 2"))

    def test_a_killed_run_is_unfinished_and_never_clean(self):
        run = self.start("/usr/bin/python3", "-c", "print('up', flush=True)\nimport time\ntime.sleep(600)")
        self.assertEqual(run.stdout.readline(), "up\n")
        run.send_signal(signal.SIGKILL)
        run.wait(timeout=20)
        run.stdout.close()
        run.stderr.close()
        status, report = self.verify_json()
        self.assertEqual((status, report["verdict"]), (3, "INCONCLUSIVE"))


class Case63UnusableLedgers(aasm_case.AasmCase):
    """Nothing runs without evidence, and a run whose evidence stops does not end as if nothing was."""

    def assert_nothing_ran(self, done):
        self.assertNotIn("ran", done.stdout)
        self.assertIn(done.returncode, (122, 125), done.stderr)

    def test_a_corrupt_ledger_starts_nothing(self):
        self.assertEqual(self.sh("echo ran").returncode, 0)
        for name in ("ledger.db-wal", "ledger.db-shm"):
            (self.home / name).unlink(missing_ok=True)
        with open(self.home / "ledger.db", "r+b") as ledger:
            ledger.write(b"\xff" * 4096)
        self.assert_nothing_ran(self.sh("echo ran"))

    def test_a_ledger_that_is_gone_starts_nothing(self):
        for path in self.home.glob("ledger.db*"):
            path.unlink()
        self.assert_nothing_ran(self.sh("echo ran"))

    @unittest.skipIf(os.getuid() == 0, "root writes where modes forbid it")
    def test_a_home_that_cannot_be_written_starts_nothing(self):
        (self.home / "ledger.db").chmod(0o400)
        self.addCleanup((self.home / "ledger.db").chmod, 0o600)
        self.assert_nothing_ran(self.sh("echo ran"))

    def limited(self, size, *program):
        """aasm with room for that many bytes in any file, as on a disk that is nearly full."""
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

        return subprocess.run([aasm_case.AASM, "run", "exec", "--policy", str(self.policy), "--", *program], env=self.env,
                              cwd=self.work, capture_output=True, text=True, timeout=60, check=False, preexec_fn=limit)

    # Case L54.
    def test_no_room_before_the_start_starts_nothing(self):
        self.assertEqual(self.sh("exit 0").returncode, 0)
        self.assert_nothing_ran(self.limited(4096, "/bin/sh", "-c", "echo ran"))

    def test_no_room_while_it_runs_is_an_evidence_failure_and_not_the_programs_status(self):
        self.assertEqual(self.sh("exit 0").returncode, 0)
        # Each child is another executable to the record: no two of these denials are one event.
        script = ("import os,shutil,subprocess,sys\n"
                  "for i in range(400):\n"
                  "    name = f'x{i:04}-' + 'y' * 200\n"
                  "    shutil.copy('/usr/bin/unshare', name)\n"
                  "    subprocess.run(['./' + name, 'true'], stderr=subprocess.DEVNULL)\n"
                  "    os.unlink(name)\n"
                  "sys.exit(7)\n")
        size = max((self.home / name).stat().st_size for name in ("ledger.db", "ledger.db-wal"))
        done = self.limited(size + 300000, "/usr/bin/python3", "-c", script)
        self.assertEqual(done.returncode, 122, done.stderr)
        status, report = self.verify_json()
        self.assertNotEqual(report["verdict"], "VERIFIED")


class Case64EvidenceInTheWorkspace(aasm_case.AasmCase):
    def test_a_home_in_the_workspace_is_refused(self):
        self.env["AASM_HOME"] = str(self.work / "home")
        self.ok("init", "--org", "test.example")
        done = self.sh("echo ran")
        self.assertEqual((done.returncode, done.stdout), (125, ""))
        self.assertIn("grant_covers_evidence", done.stderr)

    def test_a_ledger_with_a_second_name_is_refused(self):
        os.link(self.home / "ledger.db", self.work / "ledger.db")
        done = self.sh("echo ran")
        self.assertEqual((done.returncode, done.stdout), (125, ""))
        self.assertIn("grant_covers_evidence", done.stderr)

    def test_a_workspace_reached_by_a_link_into_the_home_is_refused(self):
        link = self.root / "link"
        link.symlink_to(self.home)
        done = self.sh("echo ran", options=("--workdir", link))
        self.assertEqual((done.returncode, done.stdout), (125, ""))


if __name__ == "__main__":
    pathlib.Path(os.environ["AASM"]).stat()
    aasm_case.main()
