"""aasm run exec with `filesystem.deny`: bind(2) makes no name of a unix socket in a denied place (docs/decisions/0029)."""

import json
import os
import stat
import textwrap
import unittest

import aasm_case

POLICY = """apiVersion: agent-assembly/v1
kind: Policy
metadata: {{ name: test }}
spec:
  filesystem:
    read: {{ allow: [/usr, /lib, /lib64, /bin, /sbin, /etc, /dev, /proc, "${{WORKDIR}}"] }}
    write: {{ allow: ["${{WORKDIR}}", /dev/null] }}
    execute: {{ allow: [/usr, /lib, /lib64, /bin] }}
{deny}{more}  evidence: {{ filesystem: write-decisions }}
"""
MORE = {
    "files": "",
    "ipc": "  ipc: { unix_sockets: { allow: [] }, signals: inside }\n",
    "network": "  network: { egress: [] }\n",
}

# Prints what each name came to.
BIND = textwrap.dedent("""
    import errno, json, os, socket, sys
    os.umask(0o027)
    os.symlink("shut", "way"); os.symlink("open", "on"); os.mkdir("open")
    here = os.getcwd()
    def attempt(name, kind=socket.SOCK_STREAM):
        with socket.socket(socket.AF_UNIX, kind) as made:
            try:
                made.bind(name)
                return os.fsdecode(made.getsockname())
            except OSError as error:
                return errno.errorcode[error.errno]
    shut = ["shut/a", here + "/shut/b", "open/../shut/c", "way/d", here + "/way/e", "/proc/self/cwd/shut/f", "shut/sub/g"]
    found = {name: attempt(name) for name in shut}
    found["shut/h datagram"] = attempt("shut/h", socket.SOCK_DGRAM)
    os.chdir("shut"); found["bare"] = attempt("i"); os.chdir("..")
    for name in ("k", here + "/l", "open/m", "open/../n", "on/o", "k", "none/p", "/tmp/aasm-binds-outside", "open/", "\\0abstract"):
        found[name + (" again" if name in found else "")] = attempt(name)
    with socket.socket() as inet:
        inet.bind(("127.0.0.1", 0)); found["inet"] = inet.getsockname()[1] > 0
    print(json.dumps(found))
    """)

FLIP = textwrap.dedent("""
    import errno, os, socket, sys, threading
    kind, rounds = sys.argv[1], int(sys.argv[2])
    sys.setswitchinterval(1e-5)
    over = False
    os.makedirs("open/sub")
    ends = {"link": ("open", "shut"), "dots": ("open/sub", "shut/sub"), "above": ("open", "shut/sub")}[kind]
    def change(i):
        os.symlink(os.path.abspath(ends[i]), f"next{i}"); os.rename(f"next{i}", "way")
    change(0)
    def flipping():
        while not over:
            change(1); change(0)
    thread = threading.Thread(target=flipping); thread.start()
    seen = {"made": 0, "EACCES": 0}
    for i in range(rounds):
        with socket.socket(socket.AF_UNIX) as made:
            try:
                made.bind(f"way/s{i}" if kind == "link" else f"way/../s{i}")
                seen["made"] += 1
            except OSError as error:
                word = errno.errorcode[error.errno]
                seen[word] = seen.get(word, 0) + 1
    over = True
    thread.join()
    print(seen["made"] > 0, seen["EACCES"] > 0, set(seen) <= {"made", "EACCES", "EAGAIN"}, seen)
    """)


class BindsTest(aasm_case.AasmCase):
    def setUp(self):
        super().setUp()
        (self.work / "shut/sub").mkdir(parents=True)

    def use(self, more="files", deny=True):
        """`filesystem.deny` or, as a control, nothing of the kind."""
        self.write_policy(POLICY.format(deny='    deny: ["${WORKDIR}/shut"]\n' if deny else "", more=MORE[more]))

    def denied(self):
        return [event for event in self.events() if event["outcome"] == "denied" and event["domain"].startswith("filesystem_")]

    def sockets_below(self, place):
        return sorted(name for folder, _, names in os.walk(self.work / place) for name in names
                      if stat.S_ISSOCK(os.lstat(os.path.join(folder, name)).st_mode))

    def bound(self):
        done = self.python(BIND)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def check_refused(self, more):
        self.use(more)
        found, work = self.bound(), os.path.realpath(self.work)
        self.assertEqual(self.sockets_below("shut"), [])
        self.assertEqual({value for value in list(found.values())[:9]}, {"EACCES"}, found)
        # The socket keeps the name that it was given, but where only another one leads to one place whatever the tree does.
        self.assertEqual([found[name] for name in ("k", work + "/l", "open/m", "open/../n", "on/o")],
                         ["k", work + "/l", "open/m", work + "/n", "on/o"])
        self.assertEqual([found[name] for name in ("k again", "none/p", "/tmp/aasm-binds-outside", "inet")],
                         ["EADDRINUSE", "ENOENT", "EACCES", True])
        self.assertEqual(self.sockets_below("."), ["k", "l", "m", "n", "o"])
        self.assertEqual({stat.S_IMODE(os.lstat(self.work / name).st_mode) for name in ("k", "open/m")}, {0o750})
        inside = [event for event in self.denied() if event["rule"] == "filesystem.deny[0]"]
        self.assertEqual(sorted(event["object"]["path"] for event in inside),
                         sorted(f"{work}/shut/{name}" for name in ("a", "b", "c", "d", "e", "f", "sub/g", "h", "i")))
        self.assertTrue(all((event["operation"], event["cause"], event["errno"]) == ("create", "policy", 13) for event in inside), inside)
        outside = [event for event in self.denied() if event["object"].get("path") == "/tmp/aasm-binds-outside"]
        self.assertEqual([(event["rule"], event["cause"]) for event in outside], [("filesystem.write.allow", "policy")], self.denied())
        made = [event["object"]["path"] for event in self.events() if event["outcome"] == "allowed" and event["operation"] == "create"
                and event["domain"] == "filesystem_write"]
        self.assertLessEqual({f"{work}/{name}" for name in ("k", "l", "open/m", "n", "open/o")}, set(made))
        self.assert_verified()

    def test_no_name_is_made_in_a_denied_place(self):
        self.check_refused("files")

    def test_nor_where_ipc_is_judged_too(self):
        self.check_refused("ipc")

    def test_nor_where_the_network_is(self):
        self.check_refused("network")

    def test_without_the_denial_the_same_names_are_made(self):
        self.use(deny=False)
        self.bound()
        self.assertEqual(self.sockets_below("shut"), list("abcdefghi"))
        self.assertEqual(self.denied(), [])

    def test_links_of_proc_on_the_way_are_the_callers(self):
        """Where a path is too long for an address, programs bind below the descriptor of its directory."""
        long = "open/" + "x" * 120
        for more, deny in ((one, deny) for one in MORE for deny in (True, False)):
            self.use(more, deny)
            done = self.python(textwrap.dedent("""
                import errno, json, os, socket, sys
                os.makedirs(sys.argv[1], exist_ok=True)
                held, deep = os.open("open", os.O_PATH), os.open(sys.argv[1], os.O_RDONLY)
                os.chdir("open")
                os.path.islink("way") or os.symlink("/proc/self/cwd", "way")
                found = []
                names = [f"/proc/self/fd/{held}/a", "/proc/self/cwd/b", f"/proc/{os.getpid()}/cwd/c", "way/d", f"/proc/self/fd/{deep}/e",
                         "/proc/self/../.." + os.getcwd() + "/f"]
                for name in names if sys.argv[2] == "denied" else names[:3] + names[4:]:
                    with socket.socket(socket.AF_UNIX) as made:
                        made.bind(name)
                        found.append(os.fsdecode(made.getsockname()))
                for name in (f"/proc/self/fd/{held}/../shut/no", "/proc/self/cwd/../shut/no"):
                    with socket.socket(socket.AF_UNIX) as made:
                        try: made.bind(name)
                        except OSError as error: found.append("refused" if error.errno == errno.EACCES else "there")
                print(json.dumps(found))
                """), long, "denied" if deny else "control")
            self.assertEqual(done.returncode, 0, (more, deny, done.stderr))
            here = os.path.realpath(self.work) + "/open/"
            self.assertTrue((self.work / long / "e").is_socket())
            self.assertEqual(self.sockets_below("open"), list("abcdef" if deny else "abcef"))
            for name in self.sockets_below("open"):
                (self.work / (long if name == "e" else "open") / name).unlink()
            if not deny:
                (self.work / "shut/no").unlink()
                continue
            self.assertEqual(json.loads(done.stdout), [here + "a", here + "b", here + "c", here + "d", "e", "/proc/self/../.." + here + "f", "refused", "refused"])
            self.assertEqual(self.sockets_below("shut"), [])
            made = [event["object"]["path"] for event in self.events() if event["outcome"] == "allowed" and event["operation"] == "create"
                    and event["domain"] == "filesystem_write"]
            self.assertLessEqual({here + name for name in "abcdf"} | {f"{os.path.realpath(self.work)}/{long}/e"}, set(made))

    def test_who_stands_where_it_may_not_go_binds_by_a_path_from_the_root(self):
        for more, deny in ((one, deny) for one in MORE for deny in (True, False)):
            self.use(more, deny)
            done = self.python(textwrap.dedent("""
                import errno, os, socket
                here = os.getcwd()
                os.makedirs("open", exist_ok=True); os.chmod("open", 0o777)
                os.mkdir("closed"); os.chdir("closed"); os.chmod(".", 0)
                if os.getuid() == 0:
                    os.setgroups([]); os.setgid(65534); os.setuid(65534)
                with socket.socket(socket.AF_UNIX) as made, socket.socket(socket.AF_UNIX) as other:
                    made.bind(here + "/open/s"); made.listen(); other.connect(here + "/open/s")
                    print(made.getsockname() == here + "/open/s")
                with socket.socket(socket.AF_UNIX) as made:
                    try: made.bind("relative")
                    except OSError as error: print(errno.errorcode[error.errno])
                os.unlink(here + "/open/s")
                os.rmdir(here + "/closed") if os.access(here, os.W_OK) else None
                """))
            self.assertEqual((done.returncode, done.stdout), (0, "True\nEACCES\n"), (more, deny, done.stderr))
            if (self.work / "closed").exists():
                (self.work / "closed").rmdir()

    def test_who_is_connected_to_finds_the_socket(self):
        self.use("ipc")
        done = self.python(textwrap.dedent("""
            import socket
            server = socket.socket(socket.AF_UNIX); server.bind("s"); server.listen()
            client = socket.socket(socket.AF_UNIX); client.connect("s")
            peer, _ = server.accept(); client.send(b"hello"); print(peer.recv(5).decode())
            """))
        self.assertEqual(done.stdout, "hello\n", done.stderr)

    def flip(self, kind):
        self.use()
        done = self.python(FLIP, kind, os.environ.get("AASM_FLIPS", "400"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.split()[:3], ["True"] * 3, done.stdout)
        self.assertEqual(self.sockets_below("shut"), [])

    def test_a_link_on_the_way_that_flips_leads_to_no_denied_place(self):
        self.flip("link")

    def test_dots_behind_it_do_not_either(self):
        self.flip("dots")

    def test_nor_where_the_other_way_leads_to_a_directory_above_it(self):
        """Landlock alone cannot tell: the denied place is below the directory that was judged."""
        self.flip("above")


if __name__ == "__main__":
    unittest.main()
