"""A copy of a ledger is read and nothing is left beside it; a receipt that is lost is said and is the run's status."""

import os
import pathlib
import shutil
import subprocess
import unittest

import aasm_case


class Copies(aasm_case.AasmCase):
    def setUp(self):
        super().setUp()
        for status in (0, 3):
            self.assertEqual(self.sh(f"exit {status}").returncode, status)
        self.copy = self.root / "copy"
        self.copy.mkdir()

    def take(self, *suffixes):
        for suffix in suffixes:
            shutil.copy(f"{self.home}/ledger.db{suffix}", self.copy)

    def listed(self, **more):
        ledger = self.copy / "ledger.db"
        before = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in self.copy.iterdir()}
        lines = self.ok("runs", "list", "--ledger", ledger, **more).stdout.splitlines()[1:]
        self.ok("ledger", "status", "--ledger", ledger, **more)
        self.ok("runs", "show", lines[0].split()[0], "--ledger", ledger, **more)
        self.ok("verify", ledger, **more)
        self.assertEqual({path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in self.copy.iterdir()}, before)
        return len(lines)

    def test_a_copy_of_both_files_is_read_whole(self):
        self.take("", "-wal")
        self.assertEqual(self.listed(), 2)

    def test_a_copy_that_may_only_be_read(self):
        self.take("", "-wal")
        for path in self.copy.iterdir():
            path.chmod(0o444)
        self.copy.chmod(0o555)
        self.addCleanup(self.copy.chmod, 0o755)
        self.assertEqual(self.listed(), 2)

    @unittest.skipIf(os.geteuid() != 0, "only root makes files that somebody else owns")
    def test_a_copy_that_somebody_else_owns(self):
        self.take("", "-wal")
        self.root.chmod(0o755)
        for path in self.copy.iterdir():
            path.chmod(0o644)
        home = self.root / "other"
        home.mkdir()
        for name in ("trust", "trust.keys"):
            shutil.copy(self.home / name, home)
        for path in (home, *home.iterdir()):
            os.chown(path, 65534, 65534)
        nobody = {"user": 65534, "group": 65534, "extra_groups": [], "env": {**self.env, "AASM_HOME": str(home)}}
        self.assertEqual(self.listed(**nobody), 2)

    def test_the_database_alone_is_what_it_holds(self):
        self.take("", "-wal")
        subprocess.run(["sqlite3", self.copy / "ledger.db", "PRAGMA wal_checkpoint(TRUNCATE)"], check=True, capture_output=True)
        for path in self.copy.glob("ledger.db-*"):
            path.unlink()
        self.assertEqual(self.listed(), 2)

    def test_a_ledger_in_use_is_read_beside_its_writer(self):
        go = self.work / "go"
        os.mkfifo(go)
        process = self.start("/bin/sh", "-c", "read line < go")
        try:
            self.wait_for(lambda: len(self.runs()) == 3, "the run's records")
        finally:
            go.write_text("now\n")
            process.communicate(timeout=30)
        self.assertEqual(len(self.runs()), 3)

    def test_a_receipt_is_a_head_to_expect(self):
        receipt = self.root / "r.txt"
        self.assertEqual(self.sh("exit 0", options=("--receipt", receipt)).returncode, 0)
        self.assertEqual(self.sh("exit 0").returncode, 0)
        self.assertEqual(self.verify_json("--expect-head", receipt)[0], 0)
        text = receipt.read_bytes()
        receipt.write_bytes(text[:-3] + b"x" + text[-2:])
        self.assertNotEqual(self.verify_json("--expect-head", receipt)[0], 0)

    def test_a_ledger_that_lost_what_a_receipt_covers_is_rolled_back(self):
        self.take("", "-wal")
        receipt = self.root / "r.txt"
        self.assertEqual(self.sh("exit 0", options=("--receipt", receipt)).returncode, 0)
        status, report = self.verify_json(self.copy / "ledger.db", "--expect-head", receipt, "--trust", self.home / "trust")
        self.assertEqual((status, [group["code"] for group in report["findings"]["groups"]]), (1, ["rolled_back"]))


class LostProofs(aasm_case.AasmCase):
    def test_a_directory_made_in_its_place_loses_it_and_is_the_status(self):
        for option, name in (("--receipt", "r.txt"), ("--report", "report.txt")):
            path = self.work / name
            with self.subTest(option=option):
                reading, writing = os.pipe()
                done = self.sh(f"mkdir {name}; exit 7", options=(option, path, "--status-fd", writing), pass_fds=(writing,))
                os.close(writing)
                with os.fdopen(reading) as pipe:
                    line = pipe.read()
                self.assertEqual(done.returncode, 122, done.stderr)
                self.assertIn(f"{option} is not written; the run itself is on record", done.stderr)
                self.assertIn(str(path), done.stderr)
                self.assertIn("ending=finished started=true exit=122 status=7 ", line)
                self.assertEqual(self.runs()[0]["ending"], "finished")
                self.assertEqual([one.name for one in self.work.iterdir() if one.name.startswith(".")], [])
        self.assert_verified()

    def test_one_that_is_there_before_is_refused_before_the_start(self):
        path = self.root / "there"
        path.mkdir()
        done = self.sh("echo ran > made", options=("--receipt", path))
        self.assertEqual(done.returncode, 125)
        self.assertIn(f"there is a directory at {path}", done.stderr)
        self.assertFalse(pathlib.Path(self.work / "made").exists())

    def test_a_folder_that_goes_away_loses_it(self):
        done = self.sh("rmdir gone; exit 0", options=("--receipt", self.make("gone") / "r.txt"))
        self.assertEqual(done.returncode, 122, done.stderr)

    def make(self, name):
        path = self.work / name
        path.mkdir()
        return path


if __name__ == "__main__":
    unittest.main()
