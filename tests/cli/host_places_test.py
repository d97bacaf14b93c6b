"""aasm run exec where file systems, names, modes and clocks are not the usual ones."""

import errno
import json
import os
import shutil
import stat
import subprocess
import tempfile
import unittest
import unittest.mock

import aasm_case
import host_case

CLOCK_STEP = os.environ.get("AASM_CLOCK_STEP", "")
PRELOADABLE = os.environ.get("AASM_PRELOADABLE", aasm_case.AASM)


class Proc(host_case.HostCase):
    """A run without /proc cannot say what it ran on, so there is no record: stderr and the status line say it."""

    def assert_not_begun(self, done, status, *words):
        self.assertEqual((done.returncode, done.stdout), (status, ""), done.stderr)
        self.assertEqual(done.stderr.count("error:"), 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertEqual(self.runs(), [])
        self.assert_verified()

    @unittest.skipIf(aasm_case.SANITIZED, "AddressSanitizer reads its options in /proc")
    def test_without_proc_nothing_begins(self):
        for script in ("mount -t tmpfs none /proc", "mount -t proc -o subset=pid proc /proc"):
            with self.subTest(script):
                if os.geteuid() != 0 and "subset" in script:
                    self.skipTest("mounting proc takes a pid namespace of one's own")
                self.assert_not_begun(self.attempt(self.mounted(script)), 125, "/proc mounted here")

    def test_the_status_line_tells_it(self):
        read, write = os.pipe()
        with os.fdopen(read) as reader:
            subprocess.run([*self.mounted("mount -t tmpfs none /proc"), aasm_case.AASM, "run", "exec", "--status-fd",
                            str(write), "--policy", str(self.policy), "--", "/bin/true"], env=self.env, cwd=self.work,
                           pass_fds=(write,), capture_output=True, timeout=60, check=False)
            os.close(write)
            self.assertRegex(reader.read(), r"\Aaasm.status/1 ending=refused started=false exit=125 status= .* run= .*\n\Z")

    def test_with_other_processes_hidden_everything_is_enforced(self):
        if os.geteuid() != 0:
            self.skipTest("mounting proc takes a pid namespace of one's own")
        self.assert_enforced(self.attempt(self.mounted("mount -t proc -o hidepid=2 proc /proc")))

    def test_with_a_read_only_proc_everything_is_enforced(self):
        self.assert_enforced(self.attempt(self.mounted("mount --rbind /proc /proc; mount -o remount,bind,ro /proc")))


class Folders(host_case.HostCase):
    def test_a_probe_that_may_not_execute_in_tmp_declares_what_it_did_not_try(self):
        tmp = self.root / "tmp"
        tmp.mkdir()
        host = self.mounted(f"mount -t tmpfs -o noexec,mode=1777 none {tmp}")
        self.assert_enforced(self.attempt(host, env={**self.env, "TMPDIR": str(tmp)}))
        [probe] = self.bodies("capability.probed")
        [reads] = [d for d in probe["domains"] if d["domain"] == "filesystem_read"]
        self.assertTrue(any("not probed: filesystem_read.execute" in limit for limit in reads["limitations"]))

    def test_canaries_that_cannot_be_executed_are_named_in_the_record(self):
        self.assert_enforced(self.attempt(
            self.mounted(f"mount --bind {self.home} {self.home}; mount -o remount,bind,noexec {self.home}")))
        [proved] = self.bodies("boundary.proved")
        self.assertTrue(any("filesystem_read.execute" in none["reason"] for none in proved["no_canary"]), proved)

    def test_nowhere_to_probe_in_is_a_refusal_that_names_TMPDIR(self):
        self.assert_refused(self.attempt([], env={**self.env, "TMPDIR": "/no/such"}), "backend_unavailable", "/no/such",
                            "TMPDIR", os.strerror(errno.ENOENT))
        tmp = self.root / "tmp"
        tmp.mkdir()
        self.assert_refused(self.attempt(self.mounted(f"mount -t tmpfs -o ro none {tmp}"),
                                         env={**self.env, "TMPDIR": str(tmp)}), "backend_unavailable", "Read-only file system")

    def read_only(self, path):
        return self.mounted(f"mount --bind {path} {path}; mount -o remount,bind,ro {path}")

    def test_a_read_only_state_runs_nothing_and_still_verifies(self):
        self.attempt([])
        host = self.read_only(self.home)
        done = self.launch(host, "/bin/echo", "ran")
        self.assertEqual((done.returncode, done.stdout), (122, ""), done.stderr)
        for word in ("may only be read", "ledger.db", "AASM_HOME"):
            self.assertIn(word, done.stderr)
        verified = subprocess.run([*host, aasm_case.AASM, "verify", "--format", "json"], env=self.env, capture_output=True,
                                  text=True, timeout=60, check=False)
        self.assertEqual((verified.returncode, json.loads(verified.stdout)["verdict"]), (0, "VERIFIED"), verified.stderr)
        self.assertEqual(len(self.runs()), 1)

    def test_a_read_only_home_directory_is_nothing_to_us_when_the_state_is_elsewhere(self):
        home = self.root / "user"
        home.mkdir()
        self.assert_enforced(self.attempt(self.read_only(home), env={**self.env, "HOME": str(home)}))

    def test_init_in_a_read_only_place_names_the_way_out(self):
        done = subprocess.run([*self.read_only(self.outside), aasm_case.AASM, "init", "--org", "x.example"],
                              env={**self.env, "AASM_HOME": str(self.outside / "h")}, capture_output=True, text=True,
                              timeout=60, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("AASM_HOME", done.stderr)
        self.assertEqual(os.listdir(self.outside), ["secret.txt"])

    def test_without_HOME_the_state_is_where_etc_passwd_says_or_nowhere(self):
        users = self.root / "passwd"
        user = self.root / "user"
        user.mkdir()
        env = {name: value for name, value in self.env.items() if name not in ("HOME", "AASM_HOME")}
        for line, status in ((f"somebody:x:{os.geteuid()}:0::{user}:/bin/sh\n", 0), ("", 1)):
            users.write_text(f"daemon:x:{os.geteuid() + 1}:1::/nowhere:/bin/sh\n{line}")
            done = subprocess.run([*self.mounted(f"mount --bind {users} /etc/passwd"), aasm_case.AASM, "init", "--org", "x.example"],
                                  env=env, capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn("HOME", done.stderr)
        self.assertTrue((user / ".aasm/ledger.db").exists())

    def test_whatever_the_umask_state_is_private_and_usable(self):
        for mask in (0, 0o077, 0o777):
            with self.subTest(umask=oct(mask)):
                self.env["AASM_HOME"] = str(self.root / f"home-{mask}")
                self.home = self.root / f"home-{mask}"
                wrap = ["sh", "-c", f'umask {mask:04o}; exec "$@"', "sh"]
                made = subprocess.run([*wrap, aasm_case.AASM, "init", "--org", "x.example"], env=self.env, timeout=60,
                                      capture_output=True, text=True, check=False)
                self.assertEqual(made.returncode, 0, made.stderr)
                for _ in range(2):
                    done = self.launch(wrap, "/usr/bin/unshare", "--user", "true")
                    self.assertEqual(done.returncode, 1, done.stderr)
                self.assertEqual([e["outcome"] for e in self.events() if e["object"]["name"] == "unshare"], ["denied"])
                self.assert_verified()
                public = {"trust", "trust.keys", "policy.yaml"}
                for folder, _, files in os.walk(self.home):
                    for path in [folder, *(os.path.join(folder, f) for f in files if f not in public)]:
                        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode) & 0o077, 0, path)
                    for path in (os.path.join(folder, f) for f in files if f in public):
                        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode) & 0o022, 0, path)


class Names(host_case.HostCase):
    def deep(self, total):
        """A folder of self.root whose path has `total` bytes, made step by step as its whole cannot be named."""
        path, fd = str(self.root), os.open(self.root, os.O_RDONLY)
        while len(path) < total:
            left = total - len(path) - 1
            name = "d" * (left if left <= 200 else min(200, left - 2))
            os.mkdir(name, dir_fd=fd)
            inner = os.open(name, os.O_RDONLY, dir_fd=fd)
            os.close(fd)
            path, fd = f"{path}/{name}", inner
        self.addCleanup(os.close, fd)
        return path, fd

    def test_a_working_directory_of_4000_bytes_is_confined_to(self):
        path, _ = self.deep(4000)
        self.assert_enforced(self.attempt([], cwd=path))
        self.assertEqual(self.bodies("run.opened")[0]["working_dir"], path)
        done = self.launch([], "/bin/sh", "-c", "echo inside >f && cat f", cwd=path)
        self.assertEqual((done.returncode, done.stdout), (0, "inside\n"), done.stderr)

    def test_a_working_directory_past_the_kernels_limit_is_a_refusal(self):
        _, fd = self.deep(4200)
        done = subprocess.run([aasm_case.AASM, "run", "exec", "--policy", str(self.policy), "--", "/bin/echo", "ran"],
                              env=self.env, cwd=f"/proc/self/fd/{fd}", pass_fds=(fd,), capture_output=True, text=True,
                              timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout), (125, ""), done.stderr)
        self.assertIn("error:", done.stderr)
        self.assert_verified()

    def test_a_state_directory_too_deep_for_the_ledger_leaves_nothing_half_made(self):
        path, _ = self.deep(1000)
        self.env["AASM_HOME"] = path + "/h"
        done = self.aasm("init", "--org", "x.example")
        self.assertEqual(done.returncode, 1)
        self.assertIn("AASM_HOME", done.stderr)
        self.assertEqual(os.listdir(path), [])

    def test_names_and_arguments_of_any_bytes_pass_through_and_stand_in_the_record(self):
        work = os.fsencode(self.root) + b"/w\xff\xfe"
        os.mkdir(work)
        program = work + b"/prog\xe9\n"
        shutil.copy("/bin/echo", program)
        done = self.launch([], program, b"a\xff", b"\xc3\x28", b"", options=("--agent-id", "caf\u00e9"),
                           env={**self.env, "LANG": b"\xff", b"NAME\xff": b"1"}, cwd=work)
        self.assertEqual((done.returncode, os.fsencode(done.stdout)), (0, b"a\xff \xc3\x28 \n"), done.stderr)
        [opened] = self.bodies("run.opened")
        self.assertEqual(list(opened["program"]), ["b64"])
        self.assertEqual(self.bodies("process.started")[0]["exe_read"], "at_exec_stop")
        self.assert_verified()
        self.assertEqual(self.launch([], b"/no\xffsuch", cwd=work).returncode, 127)

    def test_a_name_that_is_recorded_as_text_has_to_be_text(self):
        for option in ("--agent-id", "--team-id", "--root-agent", "--governance-level", "--isolation-backend"):
            for value in (b"\xff", "x" * 1025):
                with self.subTest(option=option, value=value[:1]):
                    done = self.launch([], "/bin/echo", "ran", options=(option, value))
                    self.assertEqual((done.returncode, done.stdout), (125, ""), done.stderr)
                    self.assertIn(f"error: {option} takes", done.stderr)
        self.assertEqual(self.runs(), [])


class Clock(host_case.HostCase):
    """With a clock that is preloaded, hence with the aasm that something can be preloaded into."""

    def setUp(self):
        chosen = unittest.mock.patch.object(aasm_case, "AASM", PRELOADABLE)
        chosen.start()
        self.addCleanup(chosen.stop)
        super().setUp()

    def stepping(self, seconds, flag):
        env = {**self.env, "LD_PRELOAD": CLOCK_STEP, "AASM_TEST_CLOCK_STEP": str(seconds), "AASM_TEST_CLOCK_FLAG": str(flag)}
        if not CLOCK_STEP or self.aasm("--version", env=env).returncode != 0:
            self.skipTest("nothing can be preloaded into this build")
        return env

    def test_a_step_while_a_run_is_open_is_shown_and_changes_no_verdict(self):
        for seconds in (-3600, 3600, -10 * 365 * 86400):
            with self.subTest(seconds=seconds):
                flag = self.work / f"step{seconds}"
                done = self.launch([], "/bin/sh", "-c", f": >{flag}; unshare --user true", env=self.stepping(seconds, flag))
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertEqual([e["outcome"] for e in self.events() if e["object"]["name"] == "unshare"], ["denied"])
                report = self.assert_verified()
                self.assertGreater(report["coverage"]["clock_steps"], 0, report["coverage"])

    def test_a_limit_on_wall_clock_time_follows_no_step(self):
        """Neither is a program ended when the clock is set forward, nor does one go on when it is set back."""
        self.write_policy(self.policy.read_text() + "  resources: { wall_clock_seconds: 2 }\n")
        for seconds, sleep, status in ((3600, "0.5", 0), (-3600, "30", 124)):
            with self.subTest(seconds=seconds):
                flag = self.work / f"limit{seconds}"
                done = self.launch([], "/bin/sh", "-c", f": >{flag}; exec sleep {sleep}", env=self.stepping(seconds, flag))
                self.assertEqual(done.returncode, status, done.stderr)
                [exited] = self.bodies("process.exited")
                self.assertEqual(exited["cause"], "wall_clock" if status else "exited")
        self.assert_verified()

    def test_a_clock_behind_the_ledgers_newest_record_still_runs_and_verifies(self):
        self.attempt([])
        self.attempt([], env=self.stepping(-86400, "/"))
        self.assertEqual(len(self.runs()), 2)
        self.assert_verified()


if __name__ == "__main__":
    aasm_case.main()
