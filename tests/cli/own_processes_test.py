"""A grant to write /proc has the processes of aasm in it: what it has of them stays as it is, and who tries is recorded."""

import pathlib
import subprocess
import textwrap
import unittest

import aasm_case
import files_test

PROGRAM = textwrap.dedent("""
    import ctypes, errno, os, pathlib
    LIBC = ctypes.CDLL(None, use_errno=True)
    def own(fd):
        if LIBC.fchownat(fd, b"", os.getuid(), os.getgid(), 0x1000) < 0:
            raise OSError(ctypes.get_errno(), "fchownat")
    def parent(pid):
        return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()[1])
    warden = os.getppid()
    supervisor = parent(warden)
    def attempt(name, call):
        try:
            call()
            print(name, "done")
        except OSError as error:
            print(name, errno.errorcode[error.errno])
    def write(path, base=None):
        fd = os.open(path, os.O_WRONLY, dir_fd=base)
        try:
            os.write(fd, b"500")
        finally:
            os.close(fd)
    score = f"/proc/{supervisor}/oom_score_adj"
    here = os.open(f"/proc/{supervisor}", os.O_PATH)
    reference = os.open(score, os.O_PATH)
    attempt("itself", lambda: write("/proc/self/oom_score_adj"))
    attempt("supervisor", lambda: write(score))
    attempt("by its thread", lambda: write(f"/proc/{supervisor}/task/{supervisor}/oom_score_adj"))
    attempt("by descriptor", lambda: write("oom_score_adj", here))
    attempt("by link of proc", lambda: write(f"/proc/self/fd/{here}/oom_score_adj"))
    attempt("by reference", lambda: write(f"/proc/self/fd/{reference}"))
    attempt("times", lambda: os.utime(score))
    attempt("owner by reference", lambda: own(reference))
    attempt("truncate", lambda: os.truncate(score, 0))
    attempt("warden", lambda: write(f"/proc/{warden}/oom_score_adj"))
    print("read", pathlib.Path(score).read_text().strip())
    """)
REFUSED = ("supervisor", "by its thread", "by descriptor", "by link of proc", "by reference", "times", "owner by reference", "truncate", "warden")


class OwnProcesses(files_test.FilesCase):
    def answers(self, done):
        self.assertEqual(done.returncode, 0, done.stderr)
        return dict(line.rsplit(" ", 1) for line in done.stdout.splitlines())

    def refused(self, level, **use):
        self.use(level, write=["/proc"], **use)
        before = pathlib.Path("/proc/self/oom_score_adj").read_text().strip()
        answers = self.answers(self.python(PROGRAM))
        self.assertEqual(answers, {"itself": "done", **dict.fromkeys(REFUSED, "EACCES"), "read": before})
        denied = self.of_files(outcome="denied")
        self.assertEqual(sum(event["count"] for event in denied), len(REFUSED))
        for event in denied:
            self.assertEqual((event["rule"], event["cause"], event["operation"], event["errno"]),
                             ("self_protection.own_processes", "policy", "write", 13))
        self.assertEqual(self.claims()["filesystem_write"]["denied_actions"], 0)  # no decision of the policy
        self.assert_verified()

    def test_nothing_of_them_is_changed_where_changes_are_decided(self):
        self.refused("write-decisions")

    def test_nor_where_the_policy_wishes_for_less(self):
        self.refused("setup")
        [resolved] = self.bodies("policy.resolved")
        self.assertIn("filesystem.write.allow[3]", [gap["node"] for gap in resolved["gaps"]])

    def test_nor_where_a_part_of_a_grant_is_denied(self):
        self.refused("decisions", deny=["${WORKDIR}/shut"])

    def test_without_the_boundary_it_can_be_done(self):
        """The control."""
        done = subprocess.run(
            [aasm_case.AASM, "run", "exec", "--isolation", "none", "--", "/usr/bin/python3", "-c", PROGRAM],
            env=self.env, cwd=self.work, capture_output=True, text=True, timeout=60, check=False)
        answers = self.answers(done)
        self.assertEqual({answers[name] for name in ("itself", "supervisor", "by descriptor", "by reference")}, {"done"})
        self.assertEqual(answers["read"], "500")

    def test_what_is_said_of_the_broker_is_no_host_permission(self):
        self.use("decisions", write=["/proc"])
        program = textwrap.dedent("""
            import os
            for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
                try:
                    open(f"/proc/{pid}/comm").close()
                except PermissionError:
                    print(pid)
                except OSError:
                    pass
            """)
        done = self.python(program)
        [broker] = done.stdout.split()
        [event] = self.of_files(outcome="denied")
        self.assertEqual((event["rule"], event["cause"], event["operation"], self.path(event)),
                         ("self_protection.own_processes", "policy", "read", f"/proc/{broker}/comm"))


if __name__ == "__main__":
    unittest.main()
