"""aasm run exec on kernels that have less, and under guards that permit less."""

import errno
import subprocess
import unittest

import aasm_case
import host_case
from host_case import KCMP, UNSHARE

LANDLOCK_CREATE_RULESET = 444
LANDLOCK_RESTRICT_SELF = 446
PIDFD_GETFD = 438
PTRACE = 101
PTRACE_SEIZE = 0x4206
PTRACE_ATTACH = 16
PROCESS_VM_READV = 310
SECCOMP = 317
WAIT_KILLABLE_RECV = 1 << 5
CLONE = 56
CLONE3 = 435
CLONE_NEWUSER = 0x10000000
DEGRADE = "  posture: { %s: degrade_if_unavailable }\n"


class Landlock(host_case.HostCase):
    """Capped at each ABI, as an older kernel is; ABI 6 brought the scope that self-protection needs."""

    def capped(self, abi):
        return self.strange("--landlock", abi)

    def test_the_cap_is_one(self):
        """What the other tests rest on: the version, and nothing newer accepted, as that kernel says."""
        script = ("import ctypes, struct, sys\n"
                  "c = ctypes.CDLL(None, use_errno=True).syscall\n"
                  "def make(fs, net, scoped):\n"
                  "    fd = c(444, struct.pack('QQQ', fs, net, scoped), 24, 0)\n"
                  "    return 'fd' if fd >= 0 else ctypes.get_errno()\n"
                  "print(c(444, 0, 0, 1), make(1 << 13, 0, 0), make(1 << 14, 0, 0), make(1, 1, 0), make(1 << 15, 0, 0),"
                  " make(1, 0, 1))\n")
        fd, bit, size = "fd", str(errno.EINVAL), str(errno.E2BIG)
        rows = {1: [bit, bit, size, bit, size], 2: [fd, bit, size, bit, size], 3: [fd, fd, size, bit, size],
                4: [fd, fd, fd, bit, size], 5: [fd, fd, fd, fd, size], 6: [fd] * 5, 7: [fd] * 5}
        for abi, expected in rows.items():
            with self.subTest(abi=abi):
                done = subprocess.run([*self.capped(abi), "/usr/bin/python3", "-c", script], capture_output=True,
                                      text=True, check=True)
                self.assertEqual(done.stdout.split(), [str(abi), *expected])

    def test_from_abi_6_on_everything_is_enforced(self):
        for abi in (6, 7):
            with self.subTest(abi=abi):
                self.assert_enforced(self.attempt(self.capped(abi)))

    def test_below_abi_6_the_launch_is_refused_naming_the_signal_scope(self):
        # Case 18: never weaker in silence. What a posture may give up is named in the record, as
        # below; the signal scope is not among it.
        for abi in (1, 2, 3, 4, 5):
            with self.subTest(abi=abi):
                self.assert_refused(self.attempt(self.capped(abi)), "prerequisite_unsatisfied",
                                    "signal scope (Landlock ABI 6, Linux 6.12)", f"ABI {abi}:")

    def test_no_posture_replaces_the_signal_scope(self):
        self.write_policy(self.policy.read_text() + DEGRADE % "default")
        done = self.attempt(self.capped(5))
        self.assert_refused(done, "prerequisite_unsatisfied", "signal scope (Landlock ABI 6", "no posture")
        self.assertNotIn("degrade_if_unavailable", done.stderr)

    def test_what_the_probe_saw_is_recorded_although_the_backend_is_refused(self):
        self.attempt(self.capped(3))
        [probe] = self.bodies("capability.probed")
        self.assertFalse(probe["available"])
        reads = next(d for d in probe["domains"] if d["domain"] == "filesystem_read")
        self.assertEqual(reads["attempts"][0]["inside"]["outcome"], "refused")

    def test_without_landlock_the_launch_is_refused(self):
        rows = {errno.ENOSYS: "no Landlock", errno.EOPNOTSUPP: "lsm=", errno.EPERM: "seccomp filter around aasm"}
        for os_errno, words in rows.items():
            with self.subTest(errno=errno.errorcode[os_errno]):
                self.assert_refused(self.attempt(self.strange("--no-landlock", os_errno)), "backend_unavailable", words)


# One refused action by way of what agents start programs with.
ROUTES = """
deny() { /usr/bin/python3 attempt.py "$@"; }
deny %(args)s
printf '%%s\\n' %(args)s | xargs /usr/bin/python3 attempt.py
find . -maxdepth 0 -exec /usr/bin/python3 attempt.py %(args)s \\;
/usr/bin/python3 -c 'import subprocess, sys; subprocess.run(["/usr/bin/python3", "attempt.py", *sys.argv[1:]])' %(args)s
/usr/bin/python3 -c 'import os, sys
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execv("/usr/bin/python3", ["python3", "attempt.py", *sys.argv[1:]])
    os._exit(0)
os.wait()' %(args)s >left 2>&1
for i in $(seq 200); do test -s left && break; sleep 0.05; done; cat left
"""


class Channel(host_case.HostCase):
    def by_all_routes(self, before):
        (self.work / "attempt.py").write_text(host_case.ATTEMPTS)
        arguments = f"{self.secret} {self.outside / 'new'} {UNSHARE}"
        return self.launch(before, "/bin/sh", "-c", ROUTES % {"args": arguments})

    # Case 33.
    def test_a_listener_that_is_there_already_is_a_refusal(self):
        self.assert_refused(self.by_all_routes(self.strange("--listener")), "backend_unavailable",
                            "Device or resource busy", "start aasm outside")
        self.write_policy(self.policy.read_text() + DEGRADE % "default")
        self.assert_refused(self.attempt(self.strange("--listener")), "backend_unavailable", "Device or resource busy")

    # Case 33.
    def test_a_refused_action_has_one_verdict_by_whatever_it_was_reached(self):
        done = self.by_all_routes([])
        self.assertEqual((done.returncode, done.stdout.splitlines()), (0, ["EACCES EACCES EPERM"] * 5), done.stderr)
        denied = [e for e in self.events() if (e["object"]["name"], e["outcome"]) == ("unshare", "denied")]
        self.assertEqual(sum(e["count"] for e in denied), 5)
        self.assertEqual({(e["rule"], e["errno"], e["cause"]) for e in denied}, {("syscalls.allow", errno.EPERM, "policy")})
        self.assertFalse((self.outside / "new").exists())
        self.assert_verified()

    # Case 32.
    def test_a_kernel_that_cannot_make_waits_killable_enforces_all_the_same(self):
        host = self.strange(*self.refusing(SECCOMP, errno.EINVAL, f"1&{WAIT_KILLABLE_RECV}"))
        self.assert_enforced(self.attempt(host))
        # A signal then interrupts a call that waits for its answer; it is made again.
        done = self.launch(host, "/usr/bin/python3", "-c", """if True:
            import collections, ctypes, errno, signal, sys
            rang = 0
            def ring(*_):
                global rang; rang += 1
            signal.signal(signal.SIGALRM, ring); signal.siginterrupt(signal.SIGALRM, False); signal.setitimer(signal.ITIMER_REAL, 0.001, 0.0003)
            call = ctypes.CDLL(None, use_errno=True).syscall
            def refused():
                ctypes.set_errno(0); call(int(sys.argv[1]), 0); return errno.errorcode.get(ctypes.get_errno())
            answers = dict(collections.Counter(refused() for _ in range(1000))); signal.setitimer(signal.ITIMER_REAL, 0)
            print(answers, rang > 10)
            """, str(UNSHARE))
        self.assertEqual((done.returncode, done.stdout), (0, "{'EPERM': 1000} True\n"), done.stderr)
        self.assertGreaterEqual(sum(e["count"] for e in self.events() if e["object"]["name"] == "unshare"), 1000)
        self.assert_verified()

    def test_no_seccomp_for_a_container_is_a_refusal(self):
        for os_errno in (errno.EPERM, errno.ENOSYS):
            with self.subTest(errno=errno.errorcode[os_errno]):
                self.assert_refused(self.attempt(self.strange(*self.refusing(SECCOMP, os_errno))), "backend_unavailable",
                                    "step seccomp", "container's profile")


class Yama(host_case.HostCase):
    """What kernel.yama.ptrace_scope 2 (for a user) and 3 refuse; scripts/test-kernels has the real one."""

    def test_scope_2_and_3_are_a_refusal_that_names_the_setting(self):
        host = self.strange(*self.refusing(PIDFD_GETFD, errno.EPERM),
                            *self.refusing(PTRACE, errno.EPERM, f"0={PTRACE_SEIZE}"),
                            *self.refusing(PTRACE, errno.EPERM, f"0={PTRACE_ATTACH}"))
        self.assert_refused(self.attempt(host), "backend_unavailable", "kernel.yama.ptrace_scope")

    def test_a_supervisor_that_may_not_trace_enforces_and_says_what_it_did_not_read(self):
        self.assert_enforced(self.attempt(self.strange(*self.refusing(PTRACE, errno.EPERM))))
        [started] = self.bodies("process.started")
        self.assertEqual(started["exe_read"], "not_read")
        self.assertIn("Operation not permitted", started["exe_not_read_reason"])


class Faults(host_case.HostCase):
    """What fails only in the launch itself: the probe was made before, on the same host, and is referred to."""

    # Case 20.
    def test_a_step_that_fails_in_the_child_is_named_with_its_error_and_what_it_needs(self):
        harmless = self.refusing(UNSHARE, errno.EPERM, f"0&{CLONE_NEWUSER}")
        self.assertEqual(self.launch(self.strange(*harmless), "/bin/true").returncode, 0)
        rows = {(LANDLOCK_RESTRICT_SELF, errno.ENOSYS): ("step landlock", "Function not implemented", "Linux 5.13", "Linux 6.12"),
                (LANDLOCK_RESTRICT_SELF, errno.EPERM): ("step landlock", "Operation not permitted", "container's profile"),
                (LANDLOCK_RESTRICT_SELF, errno.E2BIG): ("step landlock", "Argument list too long", "start aasm outside"),
                (LANDLOCK_RESTRICT_SELF, errno.ENOMEM): ("step landlock", "Cannot allocate memory"),
                (LANDLOCK_CREATE_RULESET, errno.ENOMEM): ("landlock_create_ruleset(2) fails", "Cannot allocate memory"),
                (LANDLOCK_CREATE_RULESET, errno.ENOSYS): ("Linux 5.13", "Function not implemented")}
        for (call, os_errno), words in rows.items():
            with self.subTest(call=call, errno=errno.errorcode[os_errno]):
                done = self.launch(self.strange(*self.refusing(call, os_errno)), "/bin/sh", "-c", "echo ran")
                self.assertEqual((done.returncode, done.stdout), (125, ""), done.stderr)
                self.assertEqual(done.stderr.count("error:"), 1, done.stderr)
                for word in ("prepare_failed", "no program ran", *words):
                    self.assertIn(word, done.stderr)
                [closed] = self.bodies("run.closed")
                self.assertEqual(closed["ending"], "prepare_failed")
                self.assertNotIn("process.started", [r["kind"] for r in self.records()])
                self.assert_verified()


class Containers(host_case.HostCase):
    def all_harmless_calls(self):
        return (*self.refusing(UNSHARE, errno.EPERM), *self.refusing(KCMP, errno.EPERM),
                *self.refusing(PROCESS_VM_READV, errno.EPERM))

    # Case 8.
    def test_without_user_namespaces_everything_is_enforced(self):
        for os_errno in (errno.ENOSPC, errno.EPERM):
            host = self.strange(*self.refusing(UNSHARE, os_errno, f"0&{CLONE_NEWUSER}"),
                                *self.refusing(CLONE, os_errno, f"0&{CLONE_NEWUSER}"))
            self.assert_enforced(self.attempt(host))

    def test_a_profile_that_refuses_a_canarys_call_leaves_the_others(self):
        host = self.strange(*self.refusing(UNSHARE, errno.EPERM), *self.refusing(CLONE3, errno.ENOSYS),
                            *self.refusing(PTRACE, errno.EPERM))
        self.assert_enforced(self.attempt(host, UNSHARE, KCMP), name="kcmp", outcomes="EACCES EACCES EPERM EPERM")
        [proved] = self.bodies("boundary.proved")
        self.assertEqual({c["id"] for c in proved["canaries"] if c["domain"] == "syscall" and c["channel"] == "reported"},
                         {"syscall.kcmp", "syscall.process_vm_readv"})
        self.assertTrue(any("syscall.unshare" in none["reason"] for none in proved["no_canary"]))

    def test_calls_that_the_profile_refuses_first_are_declared_unrecorded(self):
        self.attempt(self.strange(*self.refusing(UNSHARE, errno.EPERM)))
        self.assertEqual([e for e in self.events() if e["object"]["name"] == "unshare"], [])
        [probe] = self.bodies("capability.probed")
        [syscall] = [d for d in probe["domains"] if d["domain"] == "syscall"]
        self.assertEqual(syscall["support"], "partial")
        self.assertTrue(any("before aasm" in limit for limit in syscall["limitations"]), syscall["limitations"])

    def test_a_filter_that_cannot_be_watched_is_a_refusal(self):
        self.assert_refused(self.attempt(self.strange(*self.all_harmless_calls())),
                            "descendant_coverage_insufficient", "syscalls.allow")

    def test_a_filter_that_cannot_be_watched_is_degraded_where_policy_permits_it(self):
        self.write_policy(self.policy.read_text() + DEGRADE % "syscall")
        done = self.attempt(self.strange(*self.all_harmless_calls()))
        self.assertEqual((done.returncode, done.stdout.split()[:2]), (0, ["EACCES", "EACCES"]), done.stderr)
        self.assert_degraded("syscall", "none")
        claim = self.claims()["syscall"]
        self.assertEqual(claim["boundary"], "installed")

    def test_sockets_processes_and_shared_memory_stay_inside_at_the_lowest_abi_too(self):
        self.write_policy(self.policy.read_text() +
                          "  ipc: { unix_sockets: { allow: [] }, abstract_sockets: deny, signals: inside, shared_memory: inside }\n")
        done = self.attempt(self.strange("--landlock", 6))
        self.assertEqual((done.returncode, done.stdout.strip()), (0, "EACCES EACCES EPERM"), done.stderr)
        self.assertEqual(self.claims()["ipc"]["boundary"], "proved")


if __name__ == "__main__":
    aasm_case.main()
