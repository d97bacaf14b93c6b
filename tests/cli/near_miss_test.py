"""Command lines that nearly say something: the answer is the next command to type, and nothing is run."""

import unittest

import aasm_case

LINES = (
    # words, exit status, what is said
    (("exec", "ls", "-l"), 2, "did you mean `aasm run exec -- ls -l`?"),
    (("exec", "--", "ls"), 2, "did you mean `aasm run exec -- ls`?"),
    (("exec", "--policy", "p.yaml", "--", "ls"), 2, "did you mean `aasm run exec --policy p.yaml -- ls`?"),
    (("exec",), 2, "did you mean `aasm run exec -- PROG ARGS...`?"),
    (("run", "--", "ls"), 125, "did you mean `aasm run exec -- ls`?"),
    (("run", "ls"), 125, "did you mean `aasm run exec -- ls`?"),
    (("run", "exce", "--", "ls"), 125, "did you mean `aasm run exec -- ls`?"),
    (("run", "--dry-run", "--", "ls"), 125, "did you mean `aasm run exec --dry-run -- ls`?"),
    (("run", "--policy", "p.yaml", "ls"), 125, "write: aasm run exec [options] -- PROG [ARGS...]"),
    (("run", "sh", "-c", "echo a; echo b"), 125, "did you mean `aasm run exec -- PROG ARGS...`?"),
    (("run",), 125, "did you mean `aasm run exec -- PROG ARGS...`?"),
    (("run", "exec", "ls"), 125, "did you mean `aasm run exec -- ls`?"),
    (("run", "exec", "--policy", "p.yaml", "ls"), 125, "write: aasm run exec [options] -- PROG [ARGS...]"),
    (("run", "exec", "--policy", "p.yaml"), 125, "'--' is missing before the program; write: aasm run exec [options] -- PROG [ARGS...]"),
    (("run", "exec", "--polcy", "x", "--", "ls"), 125, "did you mean `--policy`?"),
    (("verfy",), 2, "`verfy` is no command of aasm; did you mean `verify`?"),
    (("frobnicate",), 2, "`frobnicate` is no command of aasm; it goes on with one of backends, init"),
    (("",), 2, "`` is no command of aasm"),
    (("timeline", "x"), 2, "`aasm timeline` is not built in this version; `aasm runs show RUN`"),
    (("ledger", "export", "x"), 2, "`aasm ledger export` is not built in this version"),
    (("check", "p.yaml"), 2, "did you mean `aasm policy check p.yaml`?"),
    (("explain", "/etc/passwd"), 2, "did you mean `aasm policy explain /etc/passwd`?"),
    (("list",), 2, "did you mean `aasm runs list`?"),
    (("policy", "chek"), 2, "did you mean `check`?"),
    (("policy",), 2, "it goes on with one of check, explain, init"),
    (("runs", "--lmit", "3"), 2, "it goes on with one of list, show"),
    (("verify", "--expct-head=x"), 2, "did you mean `--expect-head`?"),
)


class NearMisses(aasm_case.AasmCase):
    initialise = False

    def test_each_is_answered_with_what_was_meant(self):
        for words, status, said in LINES:
            done = self.aasm(*words)
            self.assertEqual((done.returncode, done.stdout), (status, ""), words)
            self.assertIn(said, done.stderr, words)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_what_is_typed_again_is_safe_for_a_terminal(self):
        done = self.aasm("exec", "\x1b[2J", "a\nb")
        self.assertNotIn("\x1b", done.stderr)
        self.assertIn("`aasm run exec -- PROG ARGS...`", done.stderr)

    def test_without_a_home_or_a_policy_it_is_said_how_to_get_one(self):
        done = self.aasm("run", "exec", "--", "/bin/ls")
        self.assertEqual(done.returncode, 125)
        self.assertIn("aasm init", done.stderr)
        self.ok("init", "--org", "test.example")
        (self.home / "policy.yaml").unlink()
        done = self.aasm("run", "exec", "--", "/bin/ls")
        self.assertEqual(done.returncode, 125)
        self.assertIn("policy_unconfigured", done.stderr)
        self.assertIn("write one with `aasm init`, or name one with --policy FILE", done.stderr)


if __name__ == "__main__":
    unittest.main()
