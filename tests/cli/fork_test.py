"""Two histories of one ledger, and a ledger that is older than what this host has released."""

import shutil
import sqlite3

import aasm_case


class Forks(aasm_case.AasmCase):
    """The home is copied, keys and all, and each copy goes on by itself."""

    def setUp(self):
        super().setUp()
        self.assertEqual(self.sh("exit 0").returncode, 0)
        self.twin = self.root / "twin"
        shutil.copytree(self.home, self.twin)
        self.twin.chmod(0o700)
        self.assertEqual(self.sh("exit 0").returncode, 0)
        self.assertEqual(self.sh("exit 0", env={**self.env, "AASM_HOME": str(self.twin)}).returncode, 0)
        [self.note] = [path for path in (self.twin / "heads").iterdir() if "." not in path.name]

    # Case L17.
    def test_both_notes_of_a_fork_are_printed_and_kept(self):
        place = self.root / "notes"
        done = self.aasm("verify", "--expect-head", self.note, "--keep-notes", place)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("forked (fails)", done.stdout)
        [own] = [path for path in (self.home / "heads").iterdir() if "." not in path.name]
        kept = {path.name.rsplit("-", 1)[0]: path for path in place.iterdir()}
        self.assertEqual(sorted(kept), ["fork-expect-head", "fork-file", "fork-heads"])
        self.assertEqual(kept["fork-expect-head"].read_bytes(), self.note.read_bytes())
        self.assertEqual(kept["fork-file"].read_bytes(), own.read_bytes())
        roots = [note.read_text().split("\n")[2] for note in (self.note, own)]
        self.assertNotEqual(*roots)
        for root in roots:  # of which the one that was given is the whole note
            self.assertIn(root, done.stdout)
        for path in kept.values():
            self.assertIn(f"kept {path}", done.stderr)
        before = {path: path.read_bytes() for path in place.iterdir()}
        self.aasm("verify", "--expect-head", self.note, "--keep-notes", place)
        self.assertEqual({path: path.read_bytes() for path in place.iterdir()}, before)

    def test_nothing_is_kept_where_nothing_is_forked(self):
        place = self.root / "notes"
        self.ok("verify", "--keep-notes", place)
        self.assertFalse(place.exists())

    def test_a_place_that_takes_no_files_changes_no_verdict(self):
        (self.root / "file").write_text("")
        done = self.aasm("verify", "--expect-head", self.note, "--keep-notes", self.root / "file")
        self.assertEqual(done.returncode, 1)
        self.assertIn("file", done.stderr)


class WithoutTrust(aasm_case.AasmCase):
    """Who takes the trust file away has not taken the heads: docs/decisions/0013."""

    def test_an_older_copy_of_this_hosts_ledger_is_rolled_back(self):
        self.assertEqual(self.sh("exit 0").returncode, 0)
        older = self.root / "older.db"
        with sqlite3.connect(self.home / "ledger.db") as reading, sqlite3.connect(older) as writing:
            reading.backup(writing)
        reading.close()
        writing.close()
        self.assertEqual(self.sh("exit 0").returncode, 0)
        for name in ("trust", "trust.keys"):
            (self.home / name).unlink()
        status, report = self.verify_json()
        self.assertEqual((status, [group["code"] for group in report["findings"]["groups"]]), (3, ["origin_not_pinned"]))
        for suffix in ("-wal", "-shm"):
            (self.home / f"ledger.db{suffix}").unlink(missing_ok=True)
        shutil.copy(older, self.home / "ledger.db")
        status, report = self.verify_json()
        self.assertEqual(status, 1, report)
        self.assertEqual([group["code"] for group in report["findings"]["groups"]], ["rolled_back", "origin_not_pinned"])
        status, _report = self.verify_json(older)  # a file from elsewhere says nothing about this host
        self.assertEqual(status, 3)


if __name__ == "__main__":
    aasm_case.main()
