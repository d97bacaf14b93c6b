"""aasm run exec: launches that are refused say so once, with the fix, and stand in the ledger."""

import os
import shutil
import unittest

import aasm_case


class NotInitialised(aasm_case.AasmCase):
    initialise = False

    def test_without_a_ledger_nothing_runs_and_no_key_is_made(self):
        done = self.sh("echo ran")
        self.assertEqual((done.returncode, done.stdout), (125, ""))
        self.assertIn("not_initialised", done.stderr)
        self.assertIn("aasm init", done.stderr)
        self.assertFalse(self.home.exists())

    def test_looking_at_history_says_so_too(self):
        for command in (("runs", "list"), ("ledger", "status"), ("key", "list")):
            done = self.aasm(*command)
            self.assertEqual(done.returncode, 1, command)
            self.assertIn(f"not_initialised: there is no ledger in {self.home}", done.stderr, command)
        self.assertIn("--ledger /no/such", self.aasm("runs", "list", "--ledger", "/no/such").stderr)


class SomebodyElses(aasm_case.AasmCase):
    def test_a_home_that_may_not_be_entered_is_not_called_missing(self):
        if os.geteuid() == 0:
            self.skipTest("root may enter every directory")
        self.home.chmod(0)
        self.addCleanup(self.home.chmod, 0o700)
        for command in (("runs", "list"), ("run", "exec", "--", "/bin/true")):
            done = self.aasm(*command)
            self.assertIn(f"cannot look into {self.home}", done.stderr, command)
            self.assertNotIn("not_initialised", done.stderr, command)

    def test_trust_of_another_user_is_not_said_to_have_a_wrong_mode(self):
        if os.geteuid() != 0:
            self.skipTest("giving a directory away takes root")
        os.chown(self.home, 65534, 65534)
        done = self.aasm("verify")
        self.assertEqual(done.returncode, 2)
        self.assertIn("belongs to user 65534", done.stderr)


class LedgerRefused(aasm_case.AasmCase):
    """The ledger is opened while the launch is planned: its error still comes first and alone."""

    def roll_back(self):
        files = [self.home / name for name in ("ledger.db", "ledger.db-wal", "ledger.db-shm")]
        before = {file: file.read_bytes() for file in files[:1]}
        self.ok("run", "exec", "--policy", self.policy, "--", "/bin/true")
        for file in files:
            file.unlink(missing_ok=True)
        for file, content in before.items():
            file.write_bytes(content)
            file.chmod(0o600)

    def test_a_rolled_back_ledger_ends_a_run_before_anything_is_probed_or_written(self):
        self.roll_back()
        shutil.rmtree(self.home / "probes")
        scratch = self.root / "scratch"
        scratch.mkdir()
        made = scratch.stat().st_mtime_ns
        receipt = self.work / "receipt"
        done = self.sh("echo ran", options=("--receipt", receipt), env={**self.env, "TMPDIR": str(scratch)})
        self.assertEqual((done.returncode, done.stdout), (122, ""), done.stderr)
        self.assertIn("rolled back", done.stderr)
        self.assertEqual(list(self.work.iterdir()), [])
        # Probing makes a directory of its own there.
        self.assertEqual(scratch.stat().st_mtime_ns, made)
        self.assertFalse((self.home / "probes").exists())

    def test_what_is_wrong_with_the_launch_too_is_not_said(self):
        self.roll_back()
        done = self.sh("echo ran", options=("--workdir", "/no/such/directory"))
        self.assertEqual((done.returncode, done.stdout), (122, ""), done.stderr)
        self.assertEqual(done.stderr.count("error:"), 1, done.stderr)
        self.assertIn("rolled back", done.stderr)


class InsideARun(aasm_case.AasmCase):
    """aasm run, from inside a run of aasm; `echo $?` tells its status on stdout."""

    def inner(self, script, options=()):
        # What the inner aasm needs to read of itself, a policy, and a home and scratch of its own.
        (self.work / "inner").mkdir(mode=0o700)
        (self.work / "policy.yaml").write_text(self.policy.read_text())
        self.write_policy(read=(os.path.dirname(aasm_case.AASM),))
        inner = f'aasm() {{ {aasm_case.AASM} "$@"; }}; export TMPDIR=$PWD/inner; {script}'
        if aasm_case.SANITIZED:
            inner = "export ASAN_OPTIONS=detect_leaks=0; " + inner  # the boundary refuses the ptrace of LeakSanitizer
        done = self.run_exec("/bin/sh", "-c", inner, options=options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    RUN = "aasm run exec --policy policy.yaml {options} --status-fd 9 9>status -- /bin/echo ran; echo $?; cat status"
    HOME = "export AASM_HOME=$PWD/inner/home; aasm init >/dev/null && "

    def test_a_boundary_inside_a_run_is_refused_as_nested_without_measuring(self):
        done = self.inner(self.RUN.format(options=""))
        self.assertEqual(done.stdout.split()[0], "125", done.stderr)
        self.assertIn("ending=refused", done.stdout)
        self.assertIn("nested_run_unsupported: this is already inside a run of aasm", done.stderr)
        self.assertIn("start the program directly", done.stderr)
        for other in ("not_initialised", "aasm init", "Landlock"):
            self.assertNotIn(other, done.stderr)

    def test_with_a_home_of_its_own_the_refusal_is_recorded_there(self):
        done = self.inner(self.HOME + self.RUN.format(options=""))
        self.assertEqual(done.stdout.split()[0], "125", done.stderr)
        self.assertIn("nested_run_unsupported", done.stderr)
        self.assertNotIn("backend_unavailable", done.stderr)
        self.home = self.work / "inner/home"
        self.env["AASM_HOME"] = str(self.home)
        [refused] = self.bodies("plan.refused")
        self.assertIn("nested_run_unsupported", [one["launch"] for one in refused["refusals"]])

    def test_without_a_boundary_of_its_own_it_starts_and_stays_inside(self):
        read = self.RUN.format(options="--isolation none").replace("/bin/echo ran", f"/bin/cat {self.secret}")
        done = self.inner(self.HOME + read)
        self.assertEqual(done.stdout.split()[0], "1", done.stderr)
        self.assertIn("Permission denied", done.stderr)
        self.assertIn("started=true", done.stdout)

    def test_inside_an_unconfined_run_there_is_nothing_to_be_nested_in(self):
        (self.work / "deeper").mkdir()
        (self.root / "inner.yaml").write_text(self.policy.read_text())
        done = self.inner(f"cd deeper; export AASM_HOME={self.root}/inner-home; aasm init >/dev/null && "
                          f"aasm run exec --policy {self.root}/inner.yaml -- /bin/echo ran; echo $?", options=("--isolation", "none"))
        self.assertEqual(done.stdout.split(), ["ran", "0"], done.stderr)


class Refusals(aasm_case.AasmCase):
    def refused(self, token, status, done):
        self.assertEqual((done.returncode, done.stdout), (status, ""), done.stderr)
        self.assertEqual(done.stderr.count("error:"), 1, done.stderr)
        self.assertIn(token, done.stderr)
        kinds = [record["kind"] for record in self.records()]
        self.assertEqual(kinds, ["run.opened", "policy.resolved", *(["capability.probed"] if "capability.probed" in kinds else []),
                                 "plan.refused", "run.closed"])
        [body] = self.bodies("plan.refused")
        self.assertIn(token, str(body["refusals"]))
        for refusal in body["refusals"]:
            self.assertTrue(refusal["detail"] and refusal["fix"])
        self.assert_verified()

    def test_no_policy(self):
        os.remove(self.home / "policy.yaml")
        self.refused("policy_unconfigured", 125, self.aasm("run", "exec", "--", "/bin/true"))

    def test_a_policy_with_an_unknown_key_names_line_column_and_the_nearest_key(self):
        self.write_policy("apiVersion: agent-assembly/v1\nkind: Policy\nspec:\n  filesystm:\n    read: {allow: [/usr]}\n")
        done = self.sh("echo ran")
        self.refused("policy_load_failed", 125, done)
        self.assertIn("4:3", done.stderr)
        self.assertIn("filesystem", done.stderr)

    def test_a_grant_over_the_ledger(self):
        self.write_policy(read=[self.home])
        self.refused("grant_covers_evidence", 125, self.sh("echo ran"))

    def test_a_program_that_is_not_there(self):
        self.refused("program_not_found", 127, self.run_exec("/no/such/program"))
        self.refused("program_not_found", 127, self.run_exec("no-such-program-on-path"))

    def test_a_program_that_is_not_executable(self):
        plain = self.work / "plain"
        plain.write_text("x")
        self.refused("program_not_executable", 126, self.run_exec(str(plain)))

    def test_a_backend_that_does_not_exist(self):
        done = self.run_exec("/bin/true", options=("--isolation-backend", "nonesuch"))
        self.refused("backend_unavailable", 125, done)
        self.assertIn("aasm-native", done.stderr)

    # Case 86.
    def test_a_backend_that_is_not_built(self):
        done = self.run_exec("/bin/true", options=("--isolation-backend", "gvisor"))
        self.refused("backend_unavailable", 125, done)

    def test_a_limit_that_cannot_be_had_is_unsupported_not_ignored(self):
        self.write_policy(self.policy.read_text() + "  resources: { open_files: 8 }\n")
        self.refused("domain_unsupported", 125, self.sh("echo ran"))

    def test_a_filesystem_domain_that_is_not_stated(self):
        self.write_policy("apiVersion: agent-assembly/v1\nkind: Policy\nspec:\n  filesystem:\n    read: {allow: [/usr]}\n")
        self.refused("filesystem_not_stated", 125, self.sh("echo ran"))

    def test_a_mistyped_option_is_usage_and_never_the_program(self):
        done = self.aasm("run", "exec", "--polcy", "x", "--", "/bin/echo", "ran")
        self.assertEqual((done.returncode, done.stdout), (125, ""))
        self.assertIn("error:", done.stderr)
        done = self.aasm("run", "exec", "/bin/echo", "ran")
        self.assertEqual((done.returncode, done.stdout), (125, ""))


class DryRun(aasm_case.AasmCase):
    def snapshot(self):
        return {str(path): path.read_bytes() for path in sorted(self.home.rglob("*")) if path.is_file()}

    def test_a_dry_run_starts_nothing_records_nothing_and_exits_0(self):
        before = self.snapshot()
        done = self.sh("echo ran > here", options=("--dry-run",))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertFalse((self.work / "here").exists())
        self.assertEqual(self.snapshot(), before)
        for heading in ("--- aasm run dry-run ---", "--- policy ---", "--- execution isolation ---",
                        "--- execution isolation (machine-readable) ---", "--- launch command ---", "--- environment ---"):
            self.assertIn(heading, done.stdout)
        self.assertIn("schema=aasm.isolation.report/1", done.stdout)
        self.assertIn("domain.syscall.claim=planned", done.stdout)

    def test_a_live_run_binds_the_plan_of_the_dry_run(self):
        dry = self.sh("exit 0", options=("--dry-run",))
        self.sh("exit 0")
        digest = self.bodies("plan.resolved")[0]["digest"]
        self.assertIn(digest, dry.stdout)

    def test_a_refusal_is_a_warning_and_the_status_stays_0(self):
        self.write_policy(read=[self.home])
        done = self.sh("echo ran", options=("--dry-run",))
        self.assertEqual(done.returncode, 0)
        self.assertIn("warning:", done.stdout + done.stderr)
        self.assertIn("grant_covers_evidence", done.stdout + done.stderr)


if __name__ == "__main__":
    aasm_case.main()
