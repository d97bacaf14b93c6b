"""Calls that change attributes with `evidence.filesystem`: judged as writing what they change, which Landlock does not."""

import contextlib
import errno
import os
import textwrap
import unittest

import files_test

# Changes of /outside/secret.txt, which may be read. Each prints its name and answer.
CHANGES = textwrap.dedent("""
    import ctypes, errno, os, struct, sys
    LIBC = ctypes.CDLL(None, use_errno=True)
    place = sys.argv[1]
    def attempt(name, call):
        try:
            call()
            answer = "done"
        except OSError as error:
            answer = errno.errorcode[error.errno]
        print(name, answer, flush=True)
    def flags(fd):
        if LIBC.ioctl(fd, ctypes.c_ulong(0x40086602), ctypes.byref(ctypes.c_int(0x40))) < 0:
            raise OSError(ctypes.get_errno(), "ioctl")
    by_name = os.open(place, os.O_PATH)
    opened = os.open(place, os.O_RDONLY)
    changes = {
        "chmod": lambda: os.chmod(place, 0o666),
        "chmod by reference": lambda: os.chmod(f"/proc/self/fd/{by_name}", 0o666),
        "chmod by link": lambda: os.chmod("way", 0o666),
        "chmod by descriptor of its directory": lambda: os.chmod(
            os.path.basename(place), 0o666, dir_fd=os.open(os.path.dirname(place), os.O_PATH)),
        "fchmod": lambda: os.fchmod(opened, 0o666),
        "chown": lambda: os.chown(place, os.getuid(), os.getgid()),
        "lchown": lambda: os.lchown(place, os.getuid(), os.getgid()),
        "fchown": lambda: os.fchown(opened, os.getuid(), os.getgid()),
        "utime": lambda: os.utime(place, (1000, 2000)),
        "futimens": lambda: os.utime(opened, (1000, 2000)),
        "setxattr": lambda: os.setxattr(place, "user.a", b"v"),
        "fsetxattr": lambda: os.setxattr(opened, "user.a", b"v"),
        "removexattr": lambda: os.removexattr(place, "user.kept"),
        "fremovexattr": lambda: os.removexattr(opened, "user.kept"),
        "ioctl": lambda: flags(opened),
    }
    os.symlink(place, "way")
    for name, call in changes.items():
        attempt(name, call)
    """)
OPERATIONS = 15


class RefusedTest(files_test.FilesCase):
    """Files outside the grants to write."""

    def setUp(self):
        super().setUp()
        self.secret.chmod(0o600)
        with contextlib.suppress(OSError):  # not every filesystem has them
            os.setxattr(self.secret, "user.kept", b"v")
        self.before = self.told()

    def told(self):
        status = self.secret.stat()
        return status.st_mode, status.st_mtime_ns, status.st_ctime_ns

    def change(self, *args):
        done = self.python(CHANGES, os.path.realpath(self.secret))
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stderr)
        answers = dict(line.rsplit(" ", 1) for line in done.stdout.splitlines())
        self.assertEqual(len(answers), OPERATIONS)
        return answers

    def test_without_decisions_they_change_what_may_be_read_at_most(self):
        """The control: Landlock restricts none of them."""
        self.use("setup", read=[self.outside])
        answers = self.change()
        self.assertEqual({answers[name] for name in ("chmod", "chmod by reference", "fchmod", "chown", "utime", "futimens")}, {"done"})
        self.assertNotEqual(self.told(), self.before)
        self.assertEqual(self.of_files(), [])

    def refused(self, level, rule="filesystem.write.allow", **use):
        self.use(level, read=[self.outside], **use)
        self.assertEqual(set(self.change().values()), {"EACCES"})
        self.assertEqual(self.told(), self.before)
        denied = self.of_files(outcome="denied", domain="filesystem_write")
        status = self.secret.stat()
        self.assertEqual(sum(event["count"] for event in denied), OPERATIONS)
        for event in denied:
            self.assertEqual(
                (event["operation"], event["cause"], event["rule"], event["errno"], event["mechanism"], self.path(event)),
                ("write", "policy", rule, errno.EACCES, "seccomp_user_notification", os.path.realpath(self.secret)))
            self.assertEqual((event["object"]["device"], event["object"]["inode"]), (str(status.st_dev), str(status.st_ino)))
        given = {self.path(event, "given_path") for event in denied}
        self.assertTrue({"way", self.secret.name} <= given, given)
        self.assertEqual(self.claims()["filesystem_write"]["denied_actions"], OPERATIONS)
        self.assert_verified()

    def test_each_refusal_is_a_record_and_nothing_has_changed(self):
        self.refused("write-decisions")

    def test_so_it_is_where_reading_is_decided_too(self):
        self.refused("decisions")

    def test_a_descriptor_of_no_file_is_the_callers_own(self):
        self.use("write-decisions")
        done = self.python("import os\nos.fchmod(os.memfd_create('m'), 0o600)\nos.fchmod(os.pipe()[0], 0o600)\nprint('done')\n")
        self.assertEqual(done.stdout, "done\n", done.stderr)
        self.assertEqual(self.of_files(outcome="denied"), [])

    def test_allowed_changes_are_events_too(self):
        self.use("write-decisions")
        self.assertEqual(self.sh("umask 077; : > mine; chmod 644 mine; touch -d @1000 mine; mv mine there").returncode, 0)
        here = os.path.realpath(self.work) + "/mine"
        allowed = [event for event in self.of_files(outcome="allowed", operation="write") if self.path(event) == here]
        self.assertGreaterEqual(sum(event["count"] for event in allowed), 2, self.of_files())
        self.assertEqual({event["rule"] for event in allowed}, {"filesystem.write.allow[0]"})
        self.assertEqual(((self.work / "there").stat().st_mode & 0o777, (self.work / "there").stat().st_mtime), (0o644, 1000))

    @unittest.skipIf(os.geteuid() == 0, "root owns all files")
    def test_what_belongs_to_somebody_else_is_refused_by_the_host(self):
        self.use("write-decisions")
        self.assertNotEqual(self.sh("chmod 600 /dev/null").returncode, 0)
        [event] = self.of_files(outcome="denied")
        self.assertEqual((event["cause"], event["errno"], self.path(event)), ("host_permission", errno.EPERM, "/dev/null"))

    @unittest.skipIf(os.geteuid() != 0, "only root becomes somebody else")
    def test_they_are_made_with_the_rights_of_the_caller(self):
        self.use("write-decisions")
        (self.work / "kept").write_text("x")
        self.work.chmod(0o777)
        program = textwrap.dedent("""
            import errno, os
            os.setgroups([]); os.setgid(65534); os.setuid(65534)
            open("mine", "w").close()
            os.chmod("mine", 0o604)
            for call in (lambda: os.chmod("kept", 0o666), lambda: os.utime("kept", (1, 2)), lambda: os.chown("mine", 0, 0)):
                try:
                    call(); print("done")
                except OSError as error:
                    print(errno.errorcode[error.errno])
            """)
        done = self.python(program)
        self.assertEqual(done.stdout, "EPERM\n" * 3, done.stderr)
        self.assertEqual((self.work / "mine").stat().st_mode & 0o777, 0o604)
        denied = self.of_files(outcome="denied")
        self.assertEqual({event["cause"] for event in denied}, {"host_permission"})
        self.assertEqual(sum(event["count"] for event in denied), 3)


class DeniedPlaceTest(files_test.FilesCase):
    """A denied place inside a granted one, against threads that change what a call is about while it is judged."""

    FLIPS = int(os.environ.get("AASM_FLIPS", "3000"))
    FLIP = textwrap.dedent("""
        import ctypes, errno, os, sys, threading
        LIBC = ctypes.CDLL(None, use_errno=True)
        kind, rounds = sys.argv[1], int(sys.argv[2])
        sys.setswitchinterval(1e-5)
        over = False
        os.makedirs("open", exist_ok=True)
        open("open/name", "w").close()
        here = os.getcwd()
        allowed, denied = here + "/open/name", here + "/shut/name"
        buffer = ctypes.create_string_buffer(len(allowed) + 64)
        call = lambda mode: LIBC.chmod(buffer, mode)
        if kind == "text":
            texts = [allowed.encode() + b"\\0", denied.encode() + b"\\0"]
            change = lambda i: ctypes.memmove(buffer, texts[i], len(texts[i]))
        elif kind == "link":
            buffer.value = b"way"
            def change(i):
                os.symlink((allowed, denied)[i], f"next{i}"); os.rename(f"next{i}", "way")
        else:
            references = [os.open(place, os.O_PATH) for place in (allowed, denied)]
            flipped = os.dup(references[0])
            change = lambda i: os.dup2(references[i], flipped)
            buffer.value = b"/proc/self/fd/%d" % flipped
            if kind == "descriptor":
                call = lambda mode: LIBC.fchownat(flipped, b"", os.getuid(), os.getgid(), 0x1000)
        change(0)
        def go():
            while not over:
                change(0); change(1)
        thread = threading.Thread(target=go)
        thread.start()
        seen = {"done": 0, "refused": 0}
        for i in range(rounds):
            if call(0o604 if i % 2 else 0o640) == 0:
                seen["done"] += 1
            elif ctypes.get_errno() == errno.EACCES:
                seen["refused"] += 1
        over = True
        thread.join()
        print(seen["done"] > 0, seen["refused"] > 0, flush=True)
        """)

    def setUp(self):
        super().setUp()
        self.use("write-decisions", deny=["${WORKDIR}/shut"])
        (self.work / "shut").mkdir()
        (self.work / "shut/name").write_text("kept")

    def test_every_name_of_a_denied_file_is_refused(self):
        program = textwrap.dedent("""
            import errno, os
            os.symlink("shut/name", "way")
            reference = os.open("shut/name", os.O_PATH)
            os.mkdir("beside")
            for path in ("shut/name", "way", f"/proc/self/fd/{reference}", "/proc/self/cwd/shut/name", "beside/../shut", "shut/", "shut/."):
                for call in (lambda: os.chmod(path, 0o777), lambda: os.utime(path, (1, 2)), lambda: os.setxattr(path, "user.a", b"v")):
                    try:
                        call(); print("done", path)
                    except OSError as error:
                        if error.errno != errno.EACCES: print(path, error)
            """)
        before = [(place.stat().st_mode, place.stat().st_ctime_ns) for place in (self.work / "shut", self.work / "shut/name")]
        done = self.python(program)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        self.assertEqual(before, [(place.stat().st_mode, place.stat().st_ctime_ns) for place in (self.work / "shut", self.work / "shut/name")])
        denied = self.of_files(outcome="denied")
        self.assertEqual(sum(event["count"] for event in denied), 21)
        self.assertEqual({event["rule"] for event in denied}, {"filesystem.deny[0]"})
        shut = os.path.realpath(self.work) + "/shut"
        self.assertEqual({self.path(event) for event in denied}, {shut, shut + "/name"})

    def flip(self, kind):
        before = (self.work / "shut/name").stat()
        process = self.start("/usr/bin/python3", "-c", self.FLIP, kind, str(self.FLIPS))
        out, err = process.communicate()  # as long as it takes
        self.assertEqual((process.returncode, out), (0, "True True\n"), err)
        after = (self.work / "shut/name").stat()
        self.assertEqual((before.st_mode, before.st_ctime_ns), (after.st_mode, after.st_ctime_ns))
        inside = os.path.realpath(self.work) + "/shut"
        for event in self.of_files(outcome="allowed"):
            self.assertFalse(self.path(event).startswith(inside), event)
        denied = [event for event in self.of_files(outcome="denied") if self.path(event).startswith(inside)]
        self.assertTrue(denied and all("deny" in event["rule"] for event in denied), denied)

    def test_a_path_that_flips_changes_no_denied_file(self):
        """AASM_FLIPS=1000000 for the long form."""
        self.flip("text")

    def test_a_link_that_flips_does_not_either(self):
        self.flip("link")

    def test_a_descriptor_that_flips_does_not_either(self):
        self.flip("descriptor")

    def test_a_link_of_proc_that_flips_does_not_either(self):
        self.flip("link of proc")


if __name__ == "__main__":
    unittest.main()
