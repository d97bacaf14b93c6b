"""aasm key: changes of keys as an operator makes them, and what verify says afterwards."""

import json
import os
import shutil
import unittest

import aasm_case


class Keys(aasm_case.AasmCase):
    def keys(self):
        return json.loads(self.ok("key", "list", "--format", "json").stdout)["keys"]

    def in_force(self, purpose):
        [one] = [key for key in self.keys() if key["purpose"] == purpose and "until" not in key]
        return one

    def a_run(self):
        self.assertEqual(self.sh("exit 0").returncode, 0)

    def refused(self, *args, says):
        done = self.aasm(*args)
        self.assertEqual((done.returncode, done.stdout), (1, ""), done)
        self.assertIn(says, done.stderr)

    def test_rotations_verify_and_runs_go_on(self):
        self.a_run()
        first = {key["purpose"]: key["id"] for key in self.keys()}
        for which in ("host", "log", "host"):
            done = self.ok("key", "rotate", which, "--format", "json")
            self.assertEqual(json.loads(done.stdout)["keys"][0]["purpose"], which)
            self.a_run()
            self.assert_verified()
        self.assertNotIn(self.in_force("host")["id"], first.values())
        self.assertNotIn(self.in_force("log")["id"], first.values())
        self.assertEqual(sorted(path.name for path in (self.home / "keys").iterdir()),
                         ["host.key", "log.key", "root.key"])
        self.assertEqual([key["purpose"] for key in self.keys()], ["host", "log", "host", "log", "host"])

    def test_a_receipt_over_rotations_verifies_with_the_old_and_the_new_trust_file(self):
        shutil.copy(self.home / "trust", self.root / "old")
        shutil.copy(self.home / "trust.keys", self.root / "old.keys")
        self.ok("key", "rotate", "host")
        self.ok("key", "rotate", "log")
        receipt = self.root / "receipt.txt"
        self.assertEqual(self.sh("exit 0", options=("--receipt", receipt)).returncode, 0)
        shutil.copy(self.home / "trust", self.root / "new")
        shutil.copy(self.home / "trust.keys", self.root / "new.keys")
        self.assertNotEqual((self.root / "old").read_text(), (self.root / "new").read_text())
        for trust in ("old", "new"):
            for target in (receipt, self.home / "ledger.db"):
                status, report = self.verify_json(target, "--trust", self.root / trust)
                self.assertEqual((status, report["verdict"]), (0, "VERIFIED"), report)

    def test_a_run_that_is_going_on_survives_rotations_of_both_keys(self):
        fifo = self.work / "go"
        os.mkfifo(fifo)
        run = self.start("/bin/sh", "-c", "read line < go")
        self.wait_for(lambda: self.runs(), "run.opened")
        self.ok("key", "rotate", "host")
        self.ok("key", "rotate", "log")
        self.ok("key", "replace", "both")
        with open(fifo, "w", encoding="ascii") as pipe:
            pipe.write("now\n")
        # The run cannot know that the operator did it, so it says that the keys were not left alone.
        [said] = run.communicate(timeout=20)[1].splitlines()
        self.assertRegex(said, f"^warning: attributes of aasm's own files changed during the run: {self.home}/keys: ")
        self.assertEqual(run.returncode, 0)
        self.assertEqual([one["ending"] for one in self.runs()], ["finished"])
        self.assert_verified()

    def test_lost_keys_are_replaced_by_the_root(self):
        self.a_run()
        offline = self.root / "offline"
        offline.mkdir(mode=0o700)
        shutil.move(self.home / "keys" / "root.key", offline / "root.key")
        for name in ("host.key", "log.key"):
            (self.home / "keys" / name).unlink()
        self.assertEqual(self.sh("exit 0").returncode, 122)
        self.refused("key", "rotate", "host", says="aasm key replace host")
        self.refused("key", "replace", "both", says="--root")
        self.ok("key", "replace", "both", "--root", offline)
        self.a_run()
        self.assert_verified()

    def test_keys_from_an_old_backup_are_refused_and_nothing_is_written(self):
        shutil.copytree(self.home / "keys", self.root / "backup")
        self.ok("key", "rotate", "host")
        shutil.rmtree(self.home / "keys")
        shutil.copytree(self.root / "backup", self.home / "keys")
        before = len(self.keys())
        done = self.sh("echo ran")
        self.assertEqual((done.returncode, done.stdout), (122, ""))
        self.assertIn("aasm key replace host", done.stderr)
        self.assertEqual(len(self.keys()), before)
        self.assert_verified()

    def test_a_change_that_was_cut_off_after_its_commit_is_finished_by_the_next_run(self):
        old = (self.home / "keys" / "log.key").read_bytes()
        self.ok("key", "rotate", "log")
        (self.home / "keys" / "log.key").rename(self.home / "keys" / "log.key.next")
        (self.home / "keys" / "log.key").write_bytes(old)
        (self.home / "keys" / "log.key").chmod(0o600)
        self.a_run()
        self.assert_verified()
        self.assertFalse((self.home / "keys" / "log.key.next").exists())

    def test_a_key_that_never_came_into_force_is_no_matter(self):
        other = self.root / "other"
        self.ok("init", env={**self.env, "AASM_HOME": str(other)})
        shutil.copy(other / "keys" / "host.key", self.home / "keys" / "host.key.next")
        self.a_run()
        self.ok("key", "rotate", "host")
        self.a_run()
        self.assert_verified()

    def test_another_ledgers_root_replaces_nothing(self):
        other = self.root / "other"
        self.ok("init", env={**self.env, "AASM_HOME": str(other)})
        self.refused("key", "replace", "host", "--root", other / "keys", says="not the root of this ledger")
        self.assertEqual(len(self.keys()), 2)

    def test_a_revoked_key_is_inconclusive_before_its_limit(self):
        self.a_run()
        stolen = self.in_force("host")["id"]
        self.refused("key", "revoke", stolen, says="aasm key replace host")
        self.ok("key", "replace", "host")
        self.a_run()
        done = json.loads(self.ok("key", "revoke", stolen[:16], "--format", "json").stdout)
        self.assertEqual(done["trust_line"], f"revoked {stolen} {done['limit']}")
        self.assertEqual(done["limit"], [key["until"] for key in self.keys() if key["id"] == stolen][0])
        status, report = self.verify_json()
        self.assertEqual((status, report["verdict"]), (3, "INCONCLUSIVE"))
        self.assertIn("key_revoked_before_limit", json.dumps(report))
        self.a_run()

    def test_a_limit_below_what_the_key_signed_closes_the_ledger_only_when_asked(self):
        self.a_run()
        stolen = self.in_force("host")["id"]
        self.ok("key", "rotate", "host")
        retired = self.in_force("host")["since"]
        self.refused("key", "revoke", stolen, "--at", "1", says="--close-ledger")
        self.refused("key", "revoke", stolen, "--at", str(retired + 5), says="at most")
        self.ok("key", "revoke", stolen, "--at", "1", "--close-ledger")
        status, report = self.verify_json()
        self.assertEqual((status, report["verdict"]), (1, "FAILED"))
        self.assertIn("key_revoked", json.dumps(report))
        before = (self.home / "ledger.db").read_bytes()
        done = self.sh("echo ran")
        self.assertEqual((done.returncode, done.stdout), (122, ""), done.stderr)
        for words in ("the ledger is closed", stolen, "aasm init"):
            self.assertIn(words, done.stderr)
        self.refused("key", "rotate", "host", says="the ledger is closed")
        self.refused("init", says="the ledger is closed")
        self.assertEqual((self.home / "ledger.db").read_bytes(), before)
        self.assertEqual(len(self.keys()), 3)

    def test_a_run_that_is_going_on_ends_in_the_ledger_that_is_closed_under_it(self):
        self.a_run()
        stolen = self.in_force("host")["id"]
        fifo = self.work / "go"
        os.mkfifo(fifo)
        run = self.start("/bin/sh", "-c", "read line < go")
        self.wait_for(lambda: self.runs()[0]["ending"] == "unfinished", "run.opened")
        self.ok("key", "rotate", "host")
        self.ok("key", "revoke", stolen, "--at", "1", "--close-ledger")
        fifo.write_text("now\n")
        run.communicate(timeout=20)
        self.assertEqual((run.returncode, self.runs()[0]["ending"]), (0, "finished"))

    def test_changes_of_keys_end_dead_runs_too(self):
        self.a_run()
        for command in (("rotate", "host"), ("rotate", "log"), ("replace", "both"), ("revoke", self.in_force("host")["id"])):
            with self.subTest(command=command):
                run = self.start("/bin/sleep", "600")
                self.wait_for(lambda: self.runs()[0]["ending"] == "unfinished", "run.opened")
                run.kill()
                run.communicate(timeout=20)
                dead = self.runs()[0]["run"]
                self.ok("key", *command)
                self.assertEqual(self.runs()[0]["ending"], "interrupted")
                kinds = [record["kind"] for record in self.records(dead)]
                self.assertEqual(kinds[-1], "run.recovered")
                self.assertEqual(list((self.home / "runs").glob("*.lock")), [])
                self.assertNotEqual(self.verify_json()[1]["verdict"], "FAILED")

    def test_a_home_without_one_of_its_keys_is_not_one_that_was_never_initialised(self):
        for name in ("host.key", "log.key"):
            with self.subTest(name=name):
                kept = (self.home / "keys" / name).read_bytes()
                (self.home / "keys" / name).unlink()
                done = self.sh("echo ran")
                self.assertEqual((done.returncode, done.stdout), (122, ""), done.stderr)
                self.assertIn(name, done.stderr)
                self.assertIn("aasm key replace", done.stderr)
                (self.home / "keys" / name).write_bytes(kept)
                (self.home / "keys" / name).chmod(0o600)
        self.a_run()

    def test_a_revoked_log_key_is_judged_by_its_checkpoints(self):
        self.a_run()
        old = self.in_force("log")["id"]
        self.ok("key", "rotate", "log")
        self.refused("key", "revoke", old, "--at", "1", says="--close-ledger")
        self.ok("key", "revoke", old)
        self.assertEqual(self.verify_json()[0], 3)

    def test_list_says_what_is_in_force_and_help_names_the_fix(self):
        self.ok("key", "rotate", "host")
        text = self.ok("key", "list").stdout
        self.assertIn("not verified", text)
        self.assertEqual(text.count("in force"), 2)
        self.assertIn("until record 1", text)
        self.assertIn("lost or stolen", self.ok("key", "--help").stdout)
        self.assertEqual(self.aasm("key", "rotate", "root").returncode, 2)
        self.refused("key", "revoke", "ffffffffffffffff", says="aasm key list")

    def test_without_a_home_it_says_init(self):
        env = {**self.env, "AASM_HOME": str(self.root / "none")}
        done = self.aasm("key", "list", env=env)
        self.assertEqual(done.returncode, 1)
        self.assertIn("aasm init", done.stderr)


if __name__ == "__main__":
    aasm_case.main()
