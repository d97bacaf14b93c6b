"""aasm init, verify, runs, ledger: what an auditor and an operator see."""

import json
import os
import pathlib
import pty
import re
import shutil
import signal
import sqlite3
import stat
import subprocess
import termios
import unittest

import aasm_case


class Init(aasm_case.AasmCase):
    def test_it_is_private_and_idempotent(self):
        before = {path: path.read_bytes() for path in self.home.rglob("*") if path.is_file() and "ledger" not in path.name}
        self.ok("init", "--org", "test.example")
        self.assertEqual({path: path.read_bytes() for path in before}, before)
        self.assertEqual(stat.S_IMODE(self.home.stat().st_mode), 0o700)
        self.assertEqual(stat.S_IMODE((self.home / "keys").stat().st_mode), 0o700)
        for key in (self.home / "keys").iterdir():
            self.assertEqual(stat.S_IMODE(key.stat().st_mode), 0o600)

    def test_the_starter_policy_runs_a_program(self):
        done = self.ok("run", "exec", "--", "/bin/echo", "hello")
        self.assertEqual(done.stdout, "hello\n")

    def test_an_open_key_file_is_refused(self):
        for key in (self.home / "keys").iterdir():
            key.chmod(0o644)
        done = self.sh("echo ran")
        self.assertEqual((done.returncode, done.stdout), (122, ""))


class Receipts(aasm_case.AasmCase):
    def setUp(self):
        super().setUp()
        self.receipt = self.root / "receipt.txt"
        self.assertEqual(self.sh("exit 0", options=("--receipt", self.receipt)).returncode, 0)

    def elsewhere(self):
        """Environment of another machine: no home of ours."""
        return {**self.env, "AASM_HOME": str(self.root / "elsewhere"), "HOME": str(self.root / "nobody")}

    def test_a_receipt_verifies_elsewhere_with_pinned_keys(self):
        for name in ("trust", "trust.keys"):
            shutil.copy(self.home / name, self.root / name)
        status, report = self.verify_json(self.receipt, "--trust", self.root / "trust", env=self.elsewhere())
        self.assertEqual((status, report["verdict"]), (0, "VERIFIED"), report)
        text = self.aasm("verify", self.receipt, "--trust", self.root / "trust", env=self.elsewhere()).stdout
        self.assertIn("VERIFIED", text)
        self.assertIn("recorded, not recomputed", text)

    def test_without_the_keys_it_is_inconclusive_and_says_unpinned(self):
        done = self.aasm("verify", self.receipt, env=self.elsewhere())
        self.assertEqual(done.returncode, 3)
        self.assertIn("INCONCLUSIVE", done.stdout)
        self.assertIn("UNPINNED", done.stdout)

    def test_a_doctored_receipt_fails(self):
        text = self.receipt.read_text()
        index = text.index("extra ") + 40
        self.receipt.write_text(text[:index] + ("A" if text[index] != "A" else "B") + text[index + 1:])
        done = self.aasm("verify", self.receipt)
        self.assertIn(done.returncode, (1, 4))

    def test_a_receipt_is_not_written_through_a_link(self):
        target = self.root / "target"
        target.write_text("keep")
        link = self.root / "link.txt"
        link.symlink_to(target)
        self.assertEqual(self.sh("exit 0", options=("--receipt", link)).returncode, 0)
        self.assertEqual(target.read_text(), "keep")
        self.assertFalse(link.is_symlink())


class Ledgers(aasm_case.AasmCase):
    def setUp(self):
        super().setUp()
        self.assertEqual(self.python("import ctypes; ctypes.CDLL(None).unshare(0)").returncode, 0)

    def copy(self):
        target = self.root / "copy.db"
        with sqlite3.connect(self.home / "ledger.db") as source, sqlite3.connect(target) as copy:
            source.backup(copy)
        return target

    def doctored(self, *statements):
        target = self.copy()
        with sqlite3.connect(target) as db:
            for statement in statements:
                db.execute(statement)
        db.close()
        return self.verify_json(target)

    def test_the_ledger_of_a_run_is_verified(self):
        report = self.assert_verified()
        self.assertEqual(report["schema"], "aasm.verify-report/1")

    def test_doctored_copies_fail(self):
        for statement in ("UPDATE records SET payload=CAST(replace(CAST(payload AS TEXT),'unshare','unsharf') AS BLOB) WHERE CAST(payload AS TEXT) LIKE '%unshare%'",
                          "UPDATE records SET sig=zeroblob(64) WHERE seq=2",
                          "DELETE FROM records WHERE seq=3",
                          "DELETE FROM records WHERE seq>=(SELECT max(seq)-1 FROM records)",
                          "UPDATE checkpoints SET note=CAST(replace(CAST(note AS TEXT),'1','2') AS BLOB)",
                          "CREATE VIEW v AS SELECT 1",
                          "UPDATE blobs SET data=x'00'"):
            with self.subTest(statement=statement):
                status, report = self.doctored(statement)
                self.assertEqual((status, report["verdict"]), (1, "FAILED"), report.get("findings"))

    def test_a_tail_cut_with_its_checkpoint_is_a_rollback_on_this_host(self):
        size = len(self.records()) + 1
        self.assertGreater(size, 5)
        status, report = self.doctored("DELETE FROM records WHERE seq>0", "DELETE FROM checkpoints WHERE size>1",
                                       "DELETE FROM blobs")
        self.assertEqual((status, report["verdict"]), (1, "FAILED"))
        self.assertIn("rolled_back", str(report["findings"]))

    def test_an_emptied_ledger_of_this_host_is_rolled_back_and_not_merely_empty(self):
        with sqlite3.connect(self.home / "ledger.db") as db:
            for table in ("records", "checkpoints", "blobs"):
                db.execute(f"DELETE FROM {table}")
        db.close()
        status, report = self.verify_json()
        self.assertEqual((status, report["verdict"]), (1, "FAILED"))
        self.assertIn("rolled_back", str(report["findings"]))

    def test_things_that_are_no_ledger_are_unreadable(self):
        fifo = self.root / "fifo"
        os.mkfifo(fifo)
        text = self.root / "text"
        text.write_text("hello\n" * 100)
        for path in (fifo, self.root, text, "/dev/zero", self.root / "missing"):
            with self.subTest(path=path):
                done = self.aasm("verify", path)
                self.assertEqual(done.returncode, 4, done.stdout)
                self.assertIn("UNREADABLE", done.stdout)

    def test_verifying_changes_nothing(self):
        def listing():
            return {path.name: (path.read_bytes() if path.is_file() else None) for path in pathlib.Path(self.home).iterdir()}
        before = listing()
        self.assert_verified()
        self.assertEqual(listing(), before)

    def test_the_verifier_says_how_it_is_confined(self):
        report = self.assert_verified()
        confined = report["confinement"]
        self.assertTrue(confined["filter"], confined)
        self.assertIn(confined["text"], self.aasm("verify").stdout)
        if confined["landlock_abi"] > 0:
            self.assertEqual(confined["text"], f"confined: landlock abi {confined['landlock_abi']}, filter")

    def hold(self, *args):
        """Starts verify with a terminal that takes no output: it stays at its first line of progress. Returns it and its child."""
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        self.addCleanup(os.close, slave)
        termios.tcflow(slave, termios.TCOOFF)
        self.addCleanup(termios.tcflow, slave, termios.TCOON)
        self.temporary = self.root / "temporary"
        self.temporary.mkdir()
        process = subprocess.Popen([aasm_case.AASM, "verify", *map(str, args)], env={**self.env, "TMPDIR": str(self.temporary)},
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=slave, text=True)
        self.addCleanup(process.kill)
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
        [child] = self.wait_for(lambda: children.read_text().split(), "the process that reads")
        return process, int(child)

    def test_progress_goes_to_a_terminal_and_nowhere_else(self):
        subprocess.run([os.environ["AASM_APPEND_RECORDS"], str(self.home), "600", "0"], check=True, stdout=subprocess.DEVNULL)
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        with os.fdopen(slave, "wb") as terminal:
            done = subprocess.run([aasm_case.AASM, "verify", "--format", "json"], env=self.env, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=terminal, check=False, timeout=60)
            records = json.loads(done.stdout)["coverage"]["records"]
            seen = os.read(master, 65536).decode()
        self.assertGreater(records, 600)
        lines = seen.rstrip("\r\n").split("\r")[1:]
        for line in lines:
            self.assertRegex(line, rf"^verifying [0-9]+ of {records}(, [0-9]+ (s|min) left)? *$")
        self.assertGreater(len(lines), 1)
        self.assertRegex(lines[-1], rf"^verifying {records} of {records} *$")
        self.assertTrue(seen.endswith("\n"))
        piped = self.aasm("verify", "--format", "json")
        self.assertEqual(piped.stderr, "")
        self.assertEqual(json.loads(piped.stdout)["coverage"]["records"], records)

    def test_only_the_process_that_reads_the_target_is_confined_and_a_signal_ends_both(self):
        process, child = self.hold()
        self.wait_for(lambda: any(re.search("/temporary/[^/]+/.", link) for link in self.links(child)), "the copy to be open")
        status = pathlib.Path(f"/proc/{child}/status").read_text()
        self.assertIn("NoNewPrivs:\t1", status)
        self.assertIn("Seccomp:\t2", status)
        self.assertRegex(status, "Seccomp_filters:\t[1-9]")
        self.assertIn("NoNewPrivs:\t0", pathlib.Path(f"/proc/{process.pid}/status").read_text())
        self.assertLess(self.data_limit(child), 2**64 - 1)
        self.assertGreaterEqual(self.data_limit(child), min(2**31, self.data_limit(process.pid)))
        self.assertLessEqual(self.data_limit(child), 2**64 if aasm_case.SANITIZED else 2**31 + 2**30)
        expected = re.compile(r"(pipe:\[\d+\]|/dev/pts/\d+|/dev/ptmx|" + re.escape(str(self.temporary)) + "/.*)")
        # The directory of the target is open while its files are being found.
        self.wait_for(lambda: all(expected.fullmatch(link) for link in self.links(child)), "nothing but the copy to be open")
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)
        self.assertEqual(process.returncode, -signal.SIGTERM)
        self.assertFalse(self.alive(child))
        self.assertEqual(os.listdir(self.temporary), [])

    @staticmethod
    def data_limit(pid):
        [text] = re.findall(r"^Max data size +(\S+)", pathlib.Path(f"/proc/{pid}/limits").read_text(), re.MULTILINE)
        return 2**64 - 1 if text == "unlimited" else int(text)

    @staticmethod
    def links(pid):
        found = []
        for name in os.listdir(f"/proc/{pid}/fd"):
            try:
                found.append(os.readlink(f"/proc/{pid}/fd/{name}"))
            except FileNotFoundError:
                pass
        return found

    def test_a_deadline_is_unreadable_and_leaves_nothing_behind(self):
        process, child = self.hold("--deadline", 1, "--format", "json")
        report = json.loads(process.communicate(timeout=20)[0])
        self.assertEqual((process.returncode, report["verdict"]), (4, "UNREADABLE"))
        [group] = report["findings"]["groups"]
        self.assertEqual(group["code"], "limit_reached")
        self.assertIn("deadline", group["items"][0]["detail"])
        self.assertFalse(self.alive(child))
        self.assertEqual(os.listdir(self.temporary), [])

    def test_a_verifier_that_dies_is_unreadable(self):
        process, child = self.hold("--format", "json")
        self.wait_for(lambda: any(re.search("/temporary/[^/]+/.", link) for link in self.links(child)), "the copy to be open")
        os.kill(child, signal.SIGABRT)  # not SIGSEGV: a sanitizer would report it, to the terminal that takes nothing
        report = json.loads(process.communicate(timeout=20)[0])
        self.assertEqual((process.returncode, report["verdict"]), (4, "UNREADABLE"))
        [group] = report["findings"]["groups"]
        self.assertEqual(group["code"], "internal_error")
        self.assertEqual(os.listdir(self.temporary), [])

    def test_a_state_is_kept_and_compared(self):
        state = self.root / "state"
        self.ok("verify", "--state", state)
        self.assertIn("test.example", state.read_text())
        _, report = self.verify_json("--state", state)
        self.assertIn("state", [note["source"] for note in report["coverage"]["compared_with"]])

    # Case L47.
    def test_status_is_the_same_in_text_and_json(self):
        for args in ((), ("--run", self.runs()[0]["run"]), (self.root / "missing",)):
            self.assertEqual(self.aasm("verify", *args).returncode, self.aasm("verify", *args, "--format", "json").returncode)

    def test_a_default_trust_file_that_others_may_change_is_refused(self):
        for path, mode in ((self.home / "trust", 0o646), (self.home / "trust.keys", 0o664), (self.home, 0o770)):
            with self.subTest(path=path.name):
                before = stat.S_IMODE(path.stat().st_mode)
                path.chmod(mode)
                done = self.aasm("verify")
                path.chmod(before)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn("can be changed by others", done.stderr)
                self.assert_verified()

    def test_a_trust_file_given_by_name_is_believed_as_given(self):
        (self.home / "trust").chmod(0o646)
        self.assertEqual(self.aasm("verify", "--trust", self.home / "trust").returncode, 0)

    def test_a_ledger_past_the_size_limit_is_unreadable_and_the_limit_can_be_raised(self):
        done = self.aasm("verify", "--max-size", "64KiB")
        self.assertEqual(done.returncode, 4, done.stdout)
        self.assertIn("target_too_large", done.stdout)
        self.assertEqual(self.aasm("verify", "--max-size", "64MiB").returncode, 0)
        self.assertEqual(self.aasm("verify", "--max-size", "many").returncode, 2)

    def test_the_report_of_a_live_run_agrees_in_every_member(self):
        report = self.root / "report.json"
        for _ in range(2):  # the second refers to the probe of the first
            done = self.python("import ctypes; ctypes.CDLL(None).unshare(0)",
                               options=("--report", report, "--format", "json"))
            self.assertEqual(done.returncode, 0, done.stderr)
            text = report.read_text()
            self.assertEqual(self.aasm("verify", "--report", report).returncode, 0, self.aasm("verify", "--report", report).stdout)
            for old, new in (('"observations":0', '"observations":1'), ('"trace_id":"', '"trace_id":"x'),
                             ('"actions":1', '"actions":2')):
                self.assertIn(old, text)
                changed = self.root / "changed.json"
                changed.write_text(text.replace(old, new, 1))
                done = self.aasm("verify", "--report", changed)
                self.assertEqual(done.returncode, 1, done.stdout)
                self.assertIn("report_differs", done.stdout)

    def test_history_says_that_it_is_not_verified(self):
        self.assertIn("not verified", self.ok("runs", "list").stdout)
        self.assertIn("not verified", self.ok("runs", "show", self.runs()[0]["run"]).stdout)
        self.assertIn("not verified", self.ok("ledger", "status").stdout)


if __name__ == "__main__":
    aasm_case.main()
