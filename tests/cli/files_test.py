"""aasm run exec with `evidence.filesystem`: calls on names answered as without it, and recorded one by one."""

import errno
import json
import os
import resource
import shutil
import subprocess
import textwrap
import unittest

import aasm_case

LEVELS = ("write-decisions", "decisions")
FILES = """apiVersion: agent-assembly/v1
kind: Policy
metadata: {{ name: test }}
spec:
  filesystem:
    read: {{ allow: [/usr, /lib, /lib64, /bin, /sbin, /etc, /dev, /proc, "${{WORKDIR}}"{read}] }}
    write: {{ allow: ["${{WORKDIR}}", /dev/null, /dev/tty{write}] }}
{deny}  evidence: {{ filesystem: {level} }}
"""

# What the channel cannot do as the kernel would (docs/decisions/0019).
DIFFERS = {"how, reference": "ENOSYS", "how, reference to a link": "ENOSYS"}
# What Landlock does not restrict, and the channel does.
DIFFERS.update(dict.fromkeys(("outside, chmod", "outside, chmod by a link", "outside, chmod by a link with a slash",
                              "outside, chmod by a reference", "outside, fchmod", "outside, times", "chmod a file of proc"), "EACCES"))
# What is opened by its link of proc lacks the flag, and the root lies above what is denied.
DIFFERS_DENIED = {"rmdir root": "EACCES",
                  "through a link not followed": {"type": 0o100000, "flags": 0o100001, "cloexec": 0, "size": 3}}


class FilesCase(aasm_case.AasmCase):
    """self.use(level) writes a policy that grants the workspace and asks for that evidence."""

    def use(self, level, deny=(), read=(), write=()):
        self.write_policy(FILES.format(
            level=level, read="".join(f', "{path}"' for path in read), write="".join(f', "{path}"' for path in write),
            deny="    execute: { allow: [/usr, /lib, /lib64, /bin] }\n"
                 f"    deny: [{', '.join(json.dumps(path) for path in deny)}]\n" if deny else ""))

    def of_files(self, **wanted):
        """Events of the two filesystem domains with these fields."""
        return [event for event in self.events() if event["domain"].startswith("filesystem_")
                and all(event[name] == value for name, value in wanted.items())]

    @staticmethod
    def path(event, key="path"):
        value = event["object"].get(key)
        return value if value is None or isinstance(value, str) else value


class AnswersTest(FilesCase):
    """Every call of tests/support/file_calls.py, with Landlock alone and with each level above it."""

    def table(self, confined=True):
        calls = self.root / "file_calls.py"
        if not calls.exists():
            shutil.copy(aasm_case.SOURCE / "tests/support/file_calls.py", calls)
        shutil.rmtree(self.outside)
        self.outside.mkdir()
        (self.outside / "f").write_text("outside\n")
        command = ["/usr/bin/python3", "-B", str(calls), str(self.work), str(self.outside)]
        done = self.run_exec(*command)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([entry.name for entry in self.outside.iterdir()], ["f"])
        self.assertEqual((self.outside / "f").read_text(), "outside\n")
        return {name: (answer, tree) for name, answer, tree in map(json.loads, done.stdout.splitlines())}

    EXPECTED = {}

    def expected(self):
        """What Landlock alone comes to: the same in every place, so asked once."""
        if not self.EXPECTED:
            self.use("setup", read=[self.root / "file_calls.py"])
            self.EXPECTED.update(here=str(self.root), table=self.table())
        here = json.dumps(self.EXPECTED["table"]).replace(self.EXPECTED["here"], str(self.root))
        return {name: tuple(told) for name, told in json.loads(here).items()}

    def compare(self, level, deny=()):
        expected = self.expected()
        self.assertGreater(len(expected), 300)
        differs = {**DIFFERS, **(DIFFERS_DENIED if deny else {})}
        self.use(level, deny, read=[self.root / "file_calls.py"])
        got = self.table()
        for name, (answer, tree) in expected.items():
            with self.subTest(name):
                self.assertEqual(got[name], (differs.get(name, answer), tree))
        denied = self.of_files(outcome="denied", cause="policy")
        self.assertTrue(all(event["errno"] in (errno.EACCES, errno.EXDEV) for event in denied), denied)
        self.assertGreaterEqual(len(denied), 10)
        self.assert_verified()

    def test_calls_that_write_are_answered_as_by_the_kernel(self):
        self.compare("write-decisions")

    def test_calls_that_read_are_too(self):
        self.compare("decisions")

    def test_calls_are_too_where_something_else_is_denied(self):
        """Each is then looked up, judged and made in turns."""
        self.compare("decisions", deny=["${WORKDIR}/shut"])


class RecordsTest(FilesCase):
    """What stands in the record of a call."""

    def test_case_58_each_denial_is_one_record_with_operation_path_rule_and_parents(self):
        """Case 58, as far as the filesystem goes."""
        self.use("decisions")
        program = textwrap.dedent("""
            import os, sys
            base = sys.argv[1]
            def refused(call, *args):
                try:
                    call(*args)
                except PermissionError:
                    return
                print("not refused", call, args)
            if os.fork() == 0:
                os.chdir(base)
                refused(open, "secret.txt")
                refused(open, "secret.txt", "w")
                refused(os.unlink, "../outside/secret.txt")
                refused(os.mkdir, base + "/made")
                refused(os.truncate, "secret.txt", 0)
                refused(os.rename, "secret.txt", base + "/other")
                refused(os.symlink, "x", "link")
                os._exit(0)
            os.wait()
            """)
        done = self.python(program, str(self.outside))
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        self.assertEqual(self.secret.read_text(), "not for agents\n")
        denied = self.of_files(outcome="denied")
        secret = os.path.realpath(self.secret)
        self.assertEqual(
            [(event["operation"], self.path(event), event["errno"], event["cause"]) for event in denied],
            [("read", secret, 13, "policy"), ("write", secret, 13, "policy"), ("remove", secret, 13, "policy"),
             ("create", os.path.dirname(secret) + "/made", 13, "policy"), ("rename", secret, 13, "policy"), ("create", os.path.dirname(secret) + "/link", 13, "policy")])
        self.assertEqual(self.path(denied[2], "given_path"), "../outside/secret.txt")
        self.assertEqual(self.path(denied[4], "new_path"), os.path.dirname(secret) + "/other")
        for event in denied:
            self.assertEqual(event["rule"], "filesystem.read.allow" if event["operation"] == "read"
                             else "filesystem.write.allow")
            self.assertEqual(event["mechanism"], "landlock")
            self.assertGreater(len(event["parents"]), 1)
        self.assert_verified()

    def test_case_66_recorded_paths_are_those_of_the_kernel(self):
        """Case 66: descriptors, links, dots, a renamed directory, bytes that are no text."""
        self.use("write-decisions")
        program = textwrap.dedent("""
            import os, sys
            base = sys.argv[1].encode()
            def refused(call, *args, **more):
                try:
                    call(*args, **more)
                except PermissionError:
                    return
                print("not refused")
            fd = os.open(base, os.O_PATH)
            refused(os.open, b"by descriptor", os.O_CREAT | os.O_WRONLY, dir_fd=fd)
            os.symlink(base, "way")
            refused(os.open, "way/by link", os.O_CREAT | os.O_WRONLY)
            refused(os.open, base + b"/../outside/./by dots", os.O_CREAT | os.O_WRONLY)
            refused(os.open, base + b"/\\xff\\xfe", os.O_CREAT | os.O_WRONLY)
            refused(os.open, base + b"/two\\nlines", os.O_CREAT | os.O_WRONLY)
            os.mkdir("one"); os.chdir("one"); os.rename("../one", "../two")
            open("inside", "w").close()
            """)
        done = self.python(program, str(self.outside))
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        base = os.path.realpath(self.outside)
        names = [self.path(event) for event in self.of_files(outcome="denied")]
        self.assertEqual(names[:3], [f"{base}/by descriptor", f"{base}/by link", f"{base}/by dots"])
        self.assertEqual(len(names), 5)
        self.assertEqual(names[4], f"{base}/two\nlines")
        made = [self.path(event) for event in self.of_files(operation="create", outcome="allowed")]
        self.assertIn(os.path.realpath(self.work) + "/two/inside", made)

    @unittest.skipIf(os.geteuid() == 0, "modes do not hold root back")
    def test_what_a_mode_refuses_is_not_called_policy(self):
        self.use("write-decisions")
        (self.work / "fixed").write_text("x")
        (self.work / "fixed").chmod(0o444)
        self.assertNotEqual(self.sh("echo y > fixed").returncode, 0)
        [event] = self.of_files(outcome="denied")
        self.assertEqual((event["cause"], event["errno"]), ("host_permission", 13))


class BrokerTest(FilesCase):
    """What the broker's own place outside the program's domain must not open."""

    def test_the_broker_cannot_be_had_to_open_itself(self):
        self.use("decisions", write=["/proc"])
        program = textwrap.dedent("""
            import errno, os
            def name(pid):
                try:
                    with open(f"/proc/{pid}/comm") as file:
                        return file.read().strip()
                except OSError:
                    return ""
            # What it is called the broker refuses to say, as all about itself; its number is near ours.
            near = [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc")))
                    if os.getppid() < pid < os.getpid() + 64 and pid != os.getpid()]
            tried = 0
            for pid in near:
                if name(pid):
                    continue
                try:
                    here = os.open(f"/proc/{pid}", os.O_PATH)
                    link = os.open(f"/proc/{pid}/mem", os.O_PATH)
                except FileNotFoundError:
                    continue  # somebody else's, which has ended
                for path, base in ((f"/proc/{pid}/mem", None), ("mem", here), (f"/proc/self/fd/{here}/mem", None),
                                   (f"/proc/self/fd/{link}", None), (f"/proc/{pid}/task/{pid}/mem", None),
                                   (f"/proc/{pid}/fd/0", None), (f"/proc/{pid}/fd/3", None),
                                   (f"/proc/{pid}/environ", None), (f"/proc/{pid}/root/etc/passwd", None)):
                    for flags in (os.O_RDWR, os.O_RDONLY):
                        try:
                            os.close(os.open(path, flags, dir_fd=base))
                            print("opened", path)
                        except OSError as error:
                            if error.errno not in (errno.EACCES, errno.EPERM, errno.ENOENT):
                                print(path, error)
                        tried += 1
            print("tried", tried > 0)
            os.close(os.open("/proc/self/mem", os.O_RDWR))
            """)
        done = self.python(program)
        self.assertEqual((done.returncode, done.stdout), (0, "tried True\n"), done.stderr)

    def test_case_39_descriptors_stay_flat_over_20000_opens(self):
        """Case 39."""
        self.use("decisions")
        program = textwrap.dedent("""
            import os
            print("begins", flush=True)
            for i in range(20000):
                os.close(os.open("one", os.O_RDWR | os.O_CREAT, 0o600))
            """)
        process = self.start("/usr/bin/python3", "-c", program)
        self.assertEqual(process.stdout.readline(), "begins\n")
        counts = []
        while process.poll() is None:
            try:
                counts.append(len(os.listdir(f"/proc/{process.pid}/fd")))
            except OSError:
                break
        self.assertEqual(process.communicate()[1], "")
        self.assertEqual(process.returncode, 0)
        counts = counts[len(counts) // 4:len(counts) * 3 // 4]  # it takes some at its start
        self.assertGreater(len(counts), 10)
        self.assertLess(max(counts), min(counts) + 12)
        created = self.of_files(operation="create")
        self.assertEqual(sum(event["count"] for event in created), 1)
        opened = [event for event in self.of_files(operation="write") if self.path(event).endswith("/one")]
        self.assertEqual(sum(event["count"] for event in opened), 19999)

    def test_a_full_table_of_the_caller_is_its_own(self):
        self.use("write-decisions")
        program = textwrap.dedent("""
            import errno, os, resource
            resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16))
            try:
                while True:
                    os.open("f", os.O_WRONLY | os.O_CREAT, 0o600)
            except OSError as error:
                print(errno.errorcode[error.errno])
            """)
        self.assertEqual(self.python(program).stdout, "EMFILE\n")

    def test_case_38_without_room_for_descriptors_the_supervisor_refuses_and_says_so(self):
        """Case 38, as far as descriptors go."""
        self.use("decisions")
        (self.work / "f").write_text("content")
        program = textwrap.dedent("""
            import errno, os
            def attempt():
                for flags in (os.O_RDONLY, os.O_WRONLY):
                    try:
                        os.close(os.open("f", flags)); print("opened")
                    except OSError as error:
                        print(errno.errorcode[error.errno])
                print("end", flush=True)
            attempt(); input(); attempt(); input(); attempt()
            """)
        process = self.start("/usr/bin/python3", "-c", program, stdin=subprocess.PIPE)
        answers = []
        limit = resource.prlimit(process.pid, resource.RLIMIT_NOFILE)
        for round_ in range(3):
            answers.append(list(iter(process.stdout.readline, "end\n")))
            held = {int(name) for name in os.listdir(f"/proc/{process.pid}/fd")}
            least = next(number for number in range(1024) if number not in held)
            resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (least, limit[1]) if round_ == 0 else limit)
            if round_ < 2:
                process.stdin.write("\n")
                process.stdin.flush()
        self.assertEqual(process.communicate()[1], "")
        self.assertEqual(answers, [["opened\n"] * 2, ["EMFILE\n"] * 2, ["opened\n"] * 2])
        faults = self.of_files(outcome="denied")
        self.assertEqual([(event["cause"], event["errno"], event["operation"]) for event in faults],
                         [("fault", errno.EMFILE, "read"), ("fault", errno.EMFILE, "write")])
        self.assert_verified()

    def test_a_pipe_that_nobody_reads_holds_up_no_other_call(self):
        self.use("write-decisions")
        os.mkfifo(self.work / "pipe")
        done = self.sh("echo waits > pipe & echo here > other; cat other; cat pipe; wait")
        self.assertEqual((done.returncode, done.stdout), (0, "here\nwaits\n"), done.stderr)

    def test_a_signal_ends_a_wait(self):
        self.use("write-decisions")
        os.mkfifo(self.work / "pipe")
        program = textwrap.dedent("""
            import os, signal
            def ring(number, frame):
                raise TimeoutError
            signal.signal(signal.SIGALRM, ring)
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            try:
                os.open("pipe", os.O_WRONLY)
            except TimeoutError:
                print("rang")
            """)
        self.assertEqual(self.python(program).stdout, "rang\n")

    def test_the_limit_on_sizes_holds_for_truncate(self):
        self.use("write-decisions")
        program = textwrap.dedent("""
            import errno, os, resource, signal
            signal.signal(signal.SIGXFSZ, lambda *_: print("signal"))
            open("f", "w").close()
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
            os.truncate("f", 1000)
            try:
                os.truncate("f", 1001)
            except OSError as error:
                print(errno.errorcode[error.errno], os.stat("f").st_size)
            """)
        self.assertEqual(self.python(program).stdout, "signal\nEFBIG 1000\n")


class DenialsTest(FilesCase):
    """A denied place inside a granted one, against threads that change what a call is about while it is judged."""

    FLIPS = int(os.environ.get("AASM_FLIPS", "3000"))
    FLIP = textwrap.dedent("""
        import ctypes, errno, os, struct, sys, threading
        LIBC = ctypes.CDLL(None, use_errno=True)
        kind, rounds = sys.argv[1], int(sys.argv[2])
        sys.setswitchinterval(1e-5)
        over = False
        os.makedirs("open", exist_ok=True)
        open("open/name", "w").close()
        def flipping(change):
            def go():
                while not over:
                    change(0); change(1)
            thread = threading.Thread(target=go)
            thread.start()
            return thread
        allowed, denied = os.getcwd() + "/open/name", os.getcwd() + "/shut/name"
        buffer = ctypes.create_string_buffer(len(allowed) + 64)
        buffer.value = allowed.encode()
        base = -100
        if kind == "text":
            texts = [allowed.encode() + b"\\0", denied.encode() + b"\\0"]
            change = lambda i: ctypes.memmove(buffer, texts[i], len(texts[i]))
        elif kind == "link" or kind == "link beneath":
            buffer.value = b"way"
            ends = (allowed, denied) if kind == "link" else ("open/name", "shut/name")
            def change(i):
                os.symlink(ends[i], f"next{i}"); os.rename(f"next{i}", "way")
            change(0)
        elif kind == "directory link":
            buffer.value = b"way/name"
            def change(i):
                os.symlink(os.getcwd() + ("/open", "/shut")[i], f"next{i}"); os.rename(f"next{i}", "way")
            change(0)
        else:
            buffer.value = b"name"
            ends = [os.open(place, os.O_PATH) for place in ("open", "shut")]
            base = os.dup(ends[0])
            change = lambda i: os.dup2(ends[i], base)
        if "link of proc" in kind:
            rest = "/name" if kind == "directory by its link of proc" else ""
            ends = [os.open(place + ("" if rest else "/name"), os.O_PATH) for place in ("open", "shut")]
            flipped = os.dup(ends[0])
            buffer.value = b"/proc/self/fd/%d%s" % (flipped, rest.encode())
            change = lambda i: os.dup2(ends[i], flipped)
        def opened(i):
            flags = os.O_RDWR | (os.O_CREAT if i % 2 else 0)
            if "beneath" not in kind:
                return LIBC.openat(base, buffer, flags, 0o600)
            how = struct.pack("QQQ", flags, 0o600 if i % 2 else 0, 8)
            return LIBC.syscall(437, base, buffer, how, 24)
        thread = flipping(change)
        seen = {"allowed": 0, "refused": 0, "other": 0}
        for i in range(rounds):
            fd = opened(i)
            if fd >= 0:
                status = os.fstat(fd)
                if os.path.exists("open/name") and status.st_ino == os.stat("open/name").st_ino:
                    seen["allowed"] += 1
                else:
                    os.write(fd, b"leak")
                os.close(fd)
            else:
                seen["refused" if ctypes.get_errno() == errno.EACCES else "other"] += 1
        over = True
        thread.join()
        print(seen["allowed"] > 0, seen["refused"] > 0, flush=True)
        """)

    def setUp(self):
        super().setUp()
        self.use("decisions", deny=["${WORKDIR}/shut"])
        (self.work / "shut").mkdir()
        (self.work / "shut/name").write_text("kept")

    def test_ways_to_resolve_a_name_lead_to_no_denied_file_either(self):
        """openat2(2): what it finds below a directory, or a root of its own, is judged as any other."""
        program = textwrap.dedent("""
            import ctypes, errno, os, struct
            LIBC = ctypes.CDLL(None, use_errno=True)
            BENEATH, IN_ROOT, NO_XDEV, NO_SYMLINKS = 8, 16, 1, 4
            def attempt(name, flags, resolve, base="."):
                block = ctypes.create_string_buffer(struct.pack("QQQ", flags, 0o600 if flags & os.O_CREAT else 0, resolve), 24)
                fd = LIBC.syscall(437, os.open(base, os.O_PATH), name.encode(), ctypes.byref(block), 24)
                print("opened" if fd >= 0 else errno.errorcode[ctypes.get_errno()], name)
            os.mkdir("open"); os.symlink("../shut/name", "open/way"); os.symlink("/shut/name", "root"); os.symlink("shut/new", "made")
            open("open/name", "w").close()
            attempt("open/name", os.O_RDWR, BENEATH)
            for name, flags, resolve, base in (
                    ("shut/name", os.O_RDONLY, BENEATH, "."), ("shut/name", os.O_RDWR, IN_ROOT, "."), ("open/way", os.O_RDONLY, BENEATH, "."),
                    ("root", os.O_RDONLY, IN_ROOT, "."), ("name", os.O_RDONLY, BENEATH, "shut"), ("/../name", os.O_RDONLY, IN_ROOT, "shut"),
                    ("shut/name", os.O_RDONLY, NO_SYMLINKS, "."), ("open/../shut/name", os.O_RDONLY, NO_XDEV, "."),
                    ("shut/new", os.O_WRONLY | os.O_CREAT, BENEATH, "."), ("made", os.O_WRONLY | os.O_CREAT, IN_ROOT, "."),
                    ("new", os.O_WRONLY | os.O_CREAT | os.O_EXCL, BENEATH, "shut")):
                attempt(name, flags, resolve, base)
            """)
        done = self.python(program)
        answers = [line.split()[0] for line in done.stdout.splitlines()]
        self.assertEqual(answers, ["opened"] + ["EACCES"] * 11, done.stdout + done.stderr)
        self.assertEqual([path.name for path in (self.work / "shut").iterdir()], ["name"])
        shut = os.path.realpath(self.work) + "/shut/"
        denied = self.of_files(outcome="denied", rule="filesystem.deny[0]")
        self.assertEqual(sum(event["count"] for event in denied), 11, denied)
        self.assertEqual({self.path(event) for event in denied}, {shut + "name", shut + "new"})

    def test_dots_and_slashes_behind_a_name_are_what_they_lead_to_also_without_following(self):
        (self.work / "shut/sub").mkdir()
        program = textwrap.dedent("""
            import errno, os
            os.symlink("shut", "way")
            for name in ("shut/..", "shut/sub/..", "shut/sub/.", "way/", "way/sub/"):
                try:
                    os.close(os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)); print("opened", name)
                except OSError as error:
                    print(errno.errorcode[error.errno], name)
            """)
        done = self.python(program)
        self.assertEqual([line.split()[0] for line in done.stdout.splitlines()], ["opened"] + ["EACCES"] * 4, done.stdout + done.stderr)
        shut = os.path.realpath(self.work) + "/shut"
        self.assertEqual([self.path(event) for event in self.of_files(outcome="denied", rule="filesystem.deny[0]")],
                         [shut, shut + "/sub", shut, shut + "/sub"])

    def flip(self, kind):
        process = self.start("/usr/bin/python3", "-c", self.FLIP, kind, str(self.FLIPS))
        out, err = process.communicate()  # as long as it takes
        self.assertEqual((process.returncode, out), (0, "True True\n"), err)
        self.assertEqual((self.work / "shut/name").read_text(), "kept")
        inside = os.path.realpath(self.work) + "/shut"
        for event in self.of_files(outcome="allowed"):
            self.assertFalse(self.path(event).startswith(inside), event)
        denied = [event for event in self.of_files(outcome="denied") if self.path(event).startswith(inside)]
        self.assertGreater(sum(event["count"] for event in denied), 0)
        self.assertTrue(all("deny" in event["rule"] for event in denied), denied)

    def test_case_34_a_path_that_flips_opens_no_denied_file(self):
        """Case 34. AASM_FLIPS=1000000 for the long form."""
        self.flip("text")

    def test_a_link_that_flips_leads_to_no_denied_file(self):
        self.flip("link")

    def test_a_link_that_flips_below_a_directory_does_not_either(self):
        """By openat2(2) with RESOLVE_BENEATH."""
        self.flip("link beneath")

    def test_a_link_to_a_directory_that_flips_does_not_either(self):
        self.flip("directory link")

    def test_a_descriptor_that_flips_does_not_either(self):
        self.flip("descriptor")

    def test_a_descriptor_reached_by_its_link_of_proc_that_flips_does_not_either(self):
        self.flip("link of proc")

    def test_a_directory_reached_by_its_link_of_proc_that_flips_does_not_either(self):
        self.flip("directory by its link of proc")


if __name__ == "__main__":
    unittest.main()
