"""aasm run exec with places denied inside grants: what is kept, what goes on, and what the records say of both."""

import os
import shutil
import subprocess
import textwrap
import unittest

import aasm_case

# Executing is not granted where something is denied: it cannot be taken out of a grant.
POLICY = """apiVersion: agent-assembly/v1
kind: Policy
spec:
  filesystem:
    read: {{ allow: [/usr, /lib, /lib64, /bin, /sbin, /etc, /dev, /proc, "${{WORKDIR}}"{read}]{read_deny} }}
    write: {{ allow: ["${{WORKDIR}}", /dev/null, /dev/tty{write}]{write_deny} }}
    execute: {{ allow: [/usr, /lib, /lib64, /bin, /sbin] }}
    deny: [{deny}]
  syscalls: {{ allow: ["@default"] }}
{more}"""

TRY = """
import ctypes, errno, os, sys
libc = ctypes.CDLL(None, use_errno=True)
def exchange(one, other):
    if libc.renameat2(-100, one.encode(), -100, other.encode(), 2) != 0:
        raise OSError(ctypes.get_errno(), "renameat2")
def attempt(what, call, *args):
    try:
        call(*args); print(what, "ok", flush=True)
    except OSError as error:
        print(what, errno.errorcode[error.errno], flush=True)
def append(path): open(path, "a").close()
def read(path): open(path).close()
"""


class DenialCase(aasm_case.AasmCase):
    def deny(self, *paths, read=(), write=(), read_deny=(), write_deny=(), more=""):
        def listed(values):
            return ", ".join(f'"{value}"' for value in values)

        def part(values, template):
            return template.format(listed(values)) if values else ""
        self.write_policy(POLICY.format(
            deny=listed(paths), read=part(read, ", {}"), write=part(write, ", {}"), more=more,
            read_deny=part(read_deny, ", deny: [{}]"), write_deny=part(write_deny, ", deny: [{}]")))

    def attempts(self, script, *args, cwd=None):
        done = self.python(TRY + textwrap.dedent(script), *map(str, args), **({"cwd": cwd} if cwd else {}))
        self.assertEqual(done.returncode, 0, done.stderr)
        return dict(line.rsplit(" ", 1) for line in done.stdout.splitlines())

    def file_events(self, outcome="denied"):
        return [event for event in self.events() if event["domain"].startswith("filesystem") and event["outcome"] == outcome]

    def tree(self, place):
        return {str(path.relative_to(place)): (path.lstat().st_ino, path.read_bytes() if path.is_file() else b"")
                for path in sorted(place.rglob("*"))}


class InsideAGrant(DenialCase):
    def setUp(self):
        super().setUp()
        self.hooks = self.work / ".git" / "hooks"
        self.hooks.mkdir(parents=True)
        (self.hooks / "pre-commit").write_text("theirs\n")
        self.deny("${WORKDIR}/.git/hooks")

    # Case 23.
    def test_what_is_denied_inside_a_grant_is_kept_and_all_else_of_the_grant_is_not(self):
        before = self.tree(self.hooks)
        tried = self.attempts("""
            attempt("write", append, ".git/hooks/pre-commit")
            attempt("read", read, ".git/hooks/pre-commit")
            attempt("list", os.listdir, ".git/hooks")
            attempt("make", append, ".git/hooks/new")
            attempt("mkdir", os.mkdir, ".git/hooks/new")
            attempt("remove", os.remove, ".git/hooks/pre-commit")
            attempt("truncate", os.truncate, ".git/hooks/pre-commit", 0)
            attempt("beside", append, ".git/config")
            attempt("hooks2", os.mkdir, ".git/hooks2")
            attempt("read beside", read, ".git/config")
        """)
        self.assertEqual({what for what, answer in tried.items() if answer == "ok"}, {"beside", "hooks2", "read beside"}, tried)
        self.assertEqual({answer for answer in tried.values()}, {"ok", "EACCES"}, tried)
        self.assertEqual(self.tree(self.hooks), before)
        denied = self.file_events()
        self.assertEqual({(event["cause"], event["rule"]) for event in denied}, {("policy", "filesystem.deny[0]")}, denied)
        self.assertEqual(sum(event["count"] for event in denied), 7, denied)
        claims = self.claims()
        self.assertEqual(claims["filesystem_read"]["claim"], "denied_before_execution")
        self.assertEqual(claims["filesystem_write"]["claim"], "denied_before_execution")
        self.assertEqual(claims["filesystem_write"]["channel"]["state"], "complete")
        self.assert_verified()

    # Case 22.
    def test_nothing_is_renamed_or_linked_into_a_denied_place_and_both_paths_are_recorded(self):
        (self.work / ".git" / "t").write_text("mine\n")
        before = self.tree(self.hooks)
        tried = self.attempts("""
            hook = ".git/hooks/pre-commit"
            attempt("rename", os.rename, ".git/t", hook)
            attempt("link", os.link, ".git/t", ".git/hooks/new")
            attempt("symlink", os.symlink, "../t", ".git/hooks/new")
            attempt("exchange", exchange, ".git/t", hook)
            attempt("out", os.rename, hook, ".git/mine")
            attempt("link out", os.link, hook, ".git/mine")
            attempt("parent", os.rename, ".git", "git")
            attempt("place", os.rename, ".git/hooks", ".git/old")
            attempt("exchange place", exchange, ".git/hooks", ".git/t")
            attempt("beside", os.rename, ".git/t", ".git/u")
        """)
        self.assertEqual({what for what, answer in tried.items() if answer == "ok"}, {"beside"}, tried)
        self.assertEqual(self.tree(self.hooks), before)
        ends = {(event["operation"], event["object"]["path"], event["object"].get("new_path", ""))
                for event in self.file_events()}
        work = os.path.realpath(self.work)
        self.assertIn(("rename", f"{work}/.git/t", f"{work}/.git/hooks/pre-commit"), ends)
        self.assertIn(("link", f"{work}/.git/t", f"{work}/.git/hooks/new"), ends)
        self.assertIn(("create", f"{work}/.git/hooks/new", ""), ends)
        self.assertIn(("rename", f"{work}/.git", f"{work}/git"), ends)
        self.assertEqual(sum(event["count"] for event in self.file_events()), 9)
        self.assert_verified()

    def test_by_every_other_spelling_it_is_the_same_place(self):
        os.symlink(".git/hooks", self.work / "h")
        (self.work / ".git" / "x").mkdir()
        before = self.tree(self.hooks)
        tried = self.attempts("""
            attempt("link on the way", read, "h/pre-commit")
            attempt("dots", read, ".git/x/../hooks/../hooks/pre-commit")
            attempt("cwd", read, "/proc/self/cwd/.git/hooks/pre-commit")
            attempt("root", read, "/proc/self/root" + os.getcwd() + "/.git/hooks/pre-commit")
            git = os.open(".git", os.O_PATH | os.O_DIRECTORY)
            attempt("directory descriptor", lambda: os.open("hooks/pre-commit", os.O_RDONLY, dir_fd=git))
            seen = os.open(".git/hooks/pre-commit", os.O_PATH)
            attempt("reopened", read, f"/proc/self/fd/{seen}")
            os.chdir(".git")
            attempt("from inside", read, "hooks/pre-commit")
            attempt("own link", os.symlink, "hooks", "mine")
            attempt("by own link", read, "mine/pre-commit")
        """)
        self.assertEqual({what for what, answer in tried.items() if answer != "EACCES"}, {"own link"}, tried)
        self.assertEqual(self.tree(self.hooks), before)
        path = os.path.realpath(self.hooks / "pre-commit")
        self.assertEqual({event["object"]["path"] for event in self.file_events()}, {path})
        self.assertIn("h/pre-commit", {event["object"].get("given_path") for event in self.file_events()})


class Places(DenialCase):
    # Case 6.
    def test_a_place_that_is_not_there_is_denied_by_its_name(self):
        self.deny("${WORKDIR}/.aws/credentials")
        tried = self.attempts("""
            attempt("above", os.mkdir, ".aws")
            attempt("make", append, ".aws/credentials")
            attempt("sibling", append, ".aws/config")
            os.mkdir("d"); append("d/credentials")
            attempt("moved there", os.rename, "d", ".aws")
            attempt("link there", os.symlink, "d", ".aws2")
            attempt("renamed link", os.rename, ".aws2", ".aws/credentials")
        """)
        self.assertEqual(tried, {"above": "ok", "make": "EACCES", "sibling": "ok", "moved there": "EACCES",
                                 "link there": "ok", "renamed link": "EACCES"})
        self.assertEqual([path.name for path in (self.work / ".aws").iterdir()], ["config"])
        shutil.rmtree(self.work / ".aws")
        running = self.start("/usr/bin/python3", "-c", TRY + textwrap.dedent("""
            print("ready", flush=True)
            while not os.path.exists(".aws/credentials"): pass
            attempt("read", read, ".aws/credentials")
        """))
        self.assertEqual(running.stdout.readline(), "ready\n")
        (self.work / ".aws").mkdir()
        (self.work / ".aws" / "credentials").write_text("key\n")
        out, err = running.communicate(timeout=30)
        self.assertEqual((out, running.returncode), ("read EACCES\n", 0), err)
        self.assertEqual([event["rule"] for event in self.file_events()], ["filesystem.deny[0]"])

    # Case 7.
    def test_a_protected_file_that_is_a_link_is_kept_at_both_ends(self):
        store = self.root / "store"
        store.mkdir()
        (store / "rc").write_text("theirs\n")
        os.symlink(store / "rc", self.work / ".bashrc")
        self.deny("${WORKDIR}/.bashrc", read=[store], write=[store])
        (self.work / "new").write_text("mine\n")
        tried = self.attempts("""
            attempt("by link", append, ".bashrc")
            attempt("by target", append, sys.argv[1] + "/rc")
            attempt("replace", os.rename, "new", ".bashrc")
            attempt("remove", os.remove, ".bashrc")
            attempt("exchange", exchange, "new", ".bashrc")
            attempt("beside", append, sys.argv[1] + "/other")
        """, store)
        self.assertEqual({what for what, answer in tried.items() if answer == "ok"}, {"beside"}, tried)
        self.assertEqual(os.readlink(self.work / ".bashrc"), str(store / "rc"))
        self.assertEqual((store / "rc").read_text(), "theirs\n")
        rules = {event["rule"] for event in self.file_events()}
        self.assertEqual(rules, {"filesystem.deny[0]", "filesystem.deny[0].link"})
        self.assert_verified()

    def test_what_may_be_read_and_not_changed(self):
        (self.work / "config").write_text("theirs\n")
        self.deny(write_deny=["${WORKDIR}/config"])
        tried = self.attempts("""
            attempt("read", read, "config")
            attempt("write", append, "config")
            attempt("replace", lambda: (append("new"), os.rename("new", "config")))
        """)
        self.assertEqual(tried, {"read": "ok", "write": "EACCES", "replace": "EACCES"})
        # Of reading no single decision is taken.
        self.assertEqual({event["domain"] for event in self.file_events() + self.file_events("allowed")}, {"filesystem_write"})
        self.assertEqual({event["rule"] for event in self.file_events()}, {"filesystem.write.deny[0]"})
        plan = self.bodies("plan.resolved")[0]
        planned = {outcome["domain"]: outcome["planned"] for outcome in plan["outcomes"]}
        self.assertEqual(planned["filesystem_read"], "prevent_before_effect")
        self.assertEqual(planned["filesystem_write"], "prevent_before_effect, evidence write-decisions")

    # Case 79.
    def test_denying_aasms_own_directory_does_not_keep_the_run_from_starting(self):
        own = os.path.dirname(os.path.realpath(aasm_case.AASM))
        self.deny(own, read=[os.path.dirname(own)])
        tried = self.attempts('attempt("read", read, sys.argv[1])\n', os.path.realpath(aasm_case.AASM))
        self.assertEqual(tried, {"read": "EACCES"})


class Execution(DenialCase):
    def test_a_denied_place_under_a_grant_to_execute_is_refused_at_planning_and_says_what_to_write(self):
        (self.work / "tool").mkdir()
        self.write_policy(aasm_case.POLICY.format(read="").replace("  syscalls:", '    deny: ["${WORKDIR}/tool"]\n  syscalls:'))
        done = self.sh("true")
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertIn("filesystem.deny[0]", done.stderr)
        self.assertIn("filesystem.execute", done.stderr)
        self.assertIn("filesystem.read.deny", done.stderr)


@unittest.skipUnless(shutil.which("git"), "git is not installed")
class Worktrees(DenialCase):
    def setUp(self):
        super().setUp()
        self.main, self.tree_of = self.work / "main", self.work / "wt"
        self.git("init", "-q", str(self.main), cwd=self.work)
        (self.main / "f").write_text("f\n")
        self.git("add", "f")
        self.git("commit", "-qm", "first")
        self.git("worktree", "add", "-q", str(self.tree_of))

    def git(self, *args, cwd=None):
        subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example", *args], cwd=cwd or self.main,
                       env={**self.env, "GIT_CONFIG_GLOBAL": "/dev/null"}, check=True, capture_output=True)

    # Case 1.
    def test_in_a_worktree_the_git_file_and_the_hooks_are_protected(self):
        before = (self.tree_of / ".git").read_text()
        self.deny(write_deny=[self.tree_of / ".git", self.main / ".git" / "hooks"])
        self.assertEqual(self.sh("true", cwd=self.tree_of).returncode, 0)
        done = self.sh("echo gitdir: /tmp > .git", cwd=self.tree_of)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual((self.tree_of / ".git").read_text(), before)
        [event] = self.file_events()
        self.assertEqual((event["operation"], event["object"]["path"], event["rule"]),
                         ("write", os.path.realpath(self.tree_of / ".git"), "filesystem.write.deny[0]"))

    # Case 2.
    def test_a_commit_in_a_worktree_takes_the_directory_of_the_main_one(self):
        commit = "echo more >> f && git -c user.name=t -c user.email=t@example commit -qam more"
        for granted in (False, True):
            grants = [self.main / ".git"] if granted else []
            self.deny(read=[self.main / ".git"], write=grants, more="  evidence: { filesystem: write-decisions }\n")
            done = self.sh(commit, cwd=self.tree_of)
            self.assertEqual(done.returncode == 0, granted, done.stderr)
            names = [event["object"]["path"] for event in self.file_events() if event["operation"] == "create"]
            lock = os.path.realpath(self.main / ".git") + "/worktrees/wt/index.lock"
            self.assertEqual(names.count(lock), 0 if granted else 1, names)


class OddPlaces(DenialCase):
    def test_below_the_longest_path_nothing_is_reached_unjudged(self):
        depth, name = 22, "d" * 200
        (self.work / "shut").mkdir()
        before = os.open(self.work / "shut", os.O_RDONLY)
        for _ in range(depth):
            os.mkdir(name, dir_fd=before)
            before, last = os.open(name, os.O_RDONLY, dir_fd=before), before
            os.close(last)
        self.addCleanup(os.close, before)
        with os.fdopen(os.open("secret", os.O_CREAT | os.O_WRONLY, 0o600, dir_fd=before), "w") as file:
            file.write("kept")
        self.deny("${WORKDIR}/shut")
        seen = self.attempts("""
            os.chdir("shut")
            for i in range(%d): os.chdir("%s")
            attempt("read", read, "secret")
            attempt("write", append, "secret")
            attempt("create", append, "new")
            attempt("mkdir", os.mkdir, "new")
            attempt("rename", os.rename, "secret", "other")
            attempt("unlink", os.unlink, "secret")
            attempt("link", os.link, "secret", sys.argv[1] + "/out")
            """ % (depth, name), self.work)
        self.assertEqual(set(seen.values()), {"ENAMETOOLONG"}, seen)
        self.assertEqual(os.listdir(before), ["secret"])
        self.assertFalse((self.work / "out").exists())
        events = self.file_events()
        self.assertEqual(sum(event["count"] for event in events), len(seen))
        self.assertEqual({event["cause"] for event in events}, {"fault"})

    def test_a_name_that_reads_as_if_it_were_removed_is_denied_like_any_other(self):
        (self.work / "shut").mkdir()
        odd = self.work / "shut/x (deleted)"
        odd.write_text("kept")
        self.deny("${WORKDIR}/shut")
        seen = self.attempts("""
            fd = os.open("shut/x (deleted)", os.O_PATH)
            attempt("read", read, f"/proc/self/fd/{fd}")
            attempt("write", append, f"/proc/self/fd/{fd}")
            """)
        self.assertEqual(set(seen.values()), {"EACCES"}, seen)
        self.assertEqual({event["object"]["path"] for event in self.file_events()}, {str(odd.resolve())})


if __name__ == "__main__":
    aasm_case.main()
