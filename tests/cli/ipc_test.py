"""aasm run exec with `ipc` stated: which sockets, processes and shared objects outside the tree are out of reach, and what the records say."""

import contextlib
import ctypes
import json
import os
import pathlib
import signal
import socket
import subprocess
import textwrap
import unittest

import aasm_case

TRY = """
import errno, os, signal, socket, subprocess, sys
def attempt(what, call):
    try:
        call(); print(what, "ok", flush=True)
    except OSError as error:
        print(what, errno.errorcode[error.errno], flush=True)
def unix(name, type=socket.SOCK_STREAM):
    with socket.socket(socket.AF_UNIX, type) as s: s.connect(name)
def to(name, message=False):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
        s.sendmsg([b"x"], [], 0, name) if message else s.sendto(b"x", name)
"""

ALL = "  ipc: {{ unix_sockets: {{ allow: [{listed}] }}, abstract_sockets: deny, signals: inside, shared_memory: inside }}\n"


class IpcCase(aasm_case.AasmCase):
    """self.outside has docker.sock, which nobody allowed, and listed.sock; self.abstract is a name that is listened at."""

    def setUp(self):
        super().setUp()
        self.daemon = self.listen(str(self.outside / "docker.sock"))
        self.listed = self.listen(str(self.outside / "listed.sock"))
        self.abstract = f"\0aasm-outside-{os.getpid()}-{id(self)}"
        self.hidden = self.listen(self.abstract)
        self.state(ALL.format(listed=self.outside / "listed.sock"))

    def listen(self, name, kind=socket.SOCK_STREAM):
        one = socket.socket(socket.AF_UNIX, kind)
        self.addCleanup(one.close)
        one.bind(name)
        if kind == socket.SOCK_STREAM:
            one.listen(64)
        one.settimeout(0.05)
        return one

    def state(self, text, read=""):
        policy = aasm_case.POLICY.format(read=read) + text
        self.write_policy(policy.replace('["@default"]', '["@default", "@ipc"]'))

    @staticmethod
    def reached(listener):
        try:
            listener.accept()[0].close()
            return True
        except TimeoutError:
            return False

    def ipc_events(self, outcome="denied"):
        return [e for e in self.events() if e["domain"] == "ipc" and e["outcome"] == outcome]

    def attempts(self, script, *args, **more):
        done = self.python(TRY + textwrap.dedent(script), *map(str, args), **more)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return dict(line.split() for line in done.stdout.splitlines())


class Paths(IpcCase):
    # Case 44.
    def test_a_daemons_socket_is_refused_by_every_name_it_has_and_recorded_with_its_path(self):
        (self.work / "link.sock").symlink_to(self.outside / "docker.sock")
        (self.work / "up").symlink_to(self.outside)
        readable = f', "{self.outside}"'
        self.state(ALL.format(listed=self.outside / "listed.sock"), read=readable)
        results = self.attempts("""
            path = sys.argv[1] + "/docker.sock"
            attempt("direct", lambda: unix(path))
            attempt("symlink", lambda: unix("link.sock"))
            attempt("directory", lambda: unix("up/docker.sock"))
            attempt("root", lambda: unix("/proc/self/root" + path))
            held = os.open(path, os.O_PATH)
            attempt("reference", lambda: unix(f"/proc/self/fd/{held}"))
            attempt("directory-by-reference", lambda: unix(f"/proc/self/fd/{os.open(sys.argv[1], os.O_PATH)}/docker.sock"))
            os.chdir(sys.argv[1])
            attempt("relative", lambda: unix("docker.sock"))
            attempt("dots", lambda: unix("../outside/./docker.sock"))
            attempt("seqpacket", lambda: unix(path, socket.SOCK_SEQPACKET))
            attempt("datagram", lambda: unix(path, socket.SOCK_DGRAM))
            attempt("sendto", lambda: to(path))
            attempt("sendmsg", lambda: to(path, True))
            attempt("child", lambda: None if subprocess.run([sys.executable, "-c",
                "import socket, sys; sys.exit(socket.socket(socket.AF_UNIX).connect_ex(sys.argv[1]))", path]).returncode == 13 else 1 / 0)
            """, self.outside)
        self.assertEqual(results.pop("child"), "ok")
        self.assertEqual(set(results.values()), {"EACCES"}, results)
        self.assertFalse(self.reached(self.daemon))
        path = str(self.outside / "docker.sock")
        events = self.ipc_events()
        self.assertEqual({e["object"]["name"] for e in events}, {path})
        self.assertEqual(sum(e["count"] for e in events), 13)
        for event in events:
            self.assertEqual((event["object"]["type"], event["operation"], event["rule"], event["cause"], event["errno"]),
                             ("socket", "connect", "ipc.unix_sockets.allow", "policy", 13))
            self.assertGreater(event["pid"], 0)
        claim = self.claims()["ipc"]
        self.assertEqual((claim["claim"], claim["basis"], claim["boundary"], claim["denied_actions"]),
                         ("denied_before_execution", "decision", "proved", 13))
        self.assert_verified()

    def test_a_listed_socket_is_reached_by_every_name_and_recorded_as_allowed(self):
        os.link(self.outside / "listed.sock", self.work / "hard.sock")
        (self.work / "soft.sock").symlink_to(self.outside / "listed.sock")
        results = self.attempts("""
            for name in (sys.argv[1] + "/listed.sock", "hard.sock", "soft.sock"):
                attempt(name.rpartition("/")[2], lambda: unix(name))
            held = os.open("hard.sock", os.O_PATH)
            attempt("reference", lambda: unix(f"/proc/self/fd/{held}"))
            attempt("missing", lambda: unix("nowhere.sock"))
            open("plain", "w").close()
            attempt("file", lambda: unix("plain"))
            """, self.outside)
        self.assertEqual(results, {"listed.sock": "ok", "hard.sock": "ok", "soft.sock": "ok", "reference": "ok", "missing": "ENOENT", "file": "ECONNREFUSED"})
        [allowed] = self.ipc_events("allowed")
        self.assertEqual((allowed["object"]["name"], allowed["rule"], allowed["count"], allowed["mechanism"]),
                         (str(self.outside / "listed.sock"), "ipc.unix_sockets.allow[0]", 4, "broker"))
        self.assertEqual(self.ipc_events(), [])
        self.assert_verified()

    def test_a_socket_that_is_made_later_is_reached_by_its_path(self):
        later = self.outside / "later.sock"
        self.state(ALL.format(listed=later))
        process = self.start("/usr/bin/python3", "-c", TRY + "input()\nattempt('later', lambda: unix(sys.argv[1]))\n", str(later),
                             stdin=subprocess.PIPE)
        listener = self.listen(str(later))
        output, errors = process.communicate("\n", timeout=30)
        self.assertEqual(output, "later ok\n", errors)
        self.assertTrue(self.reached(listener))

    def test_sockets_of_the_tree_pairs_and_inherited_ones_are_free_and_no_decision(self):
        ours, theirs = socket.socketpair()
        self.addCleanup(ours.close)
        self.addCleanup(theirs.close)
        self.state(ALL.format(listed=""))
        results = self.attempts("""
            import multiprocessing.connection, threading
            with multiprocessing.connection.Listener(os.path.abspath("own.sock")) as listener:
                thread = threading.Thread(target=lambda: listener.accept().send("hello")); thread.start()
                attempt("stream", lambda: multiprocessing.connection.Client(os.path.abspath("own.sock")).recv())
                thread.join()
                code = "import socket; socket.socket(socket.AF_UNIX).connect('own.sock')"
                attempt("child", lambda: subprocess.run([sys.executable, "-c", code], check=True))
            server = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); server.bind("datagrams")
            attempt("datagram", lambda: to("datagrams"))
            attempt("message", lambda: to("datagrams", True))
            os.rename("datagrams", "moved")
            attempt("moved", lambda: to("moved"))
            server.close()
            attempt("dead", lambda: to("moved"))
            a, b = socket.socketpair()
            attempt("pair", lambda: a.sendmsg([b"x"]))
            attempt("inherited", lambda: socket.socket(fileno=0).sendmsg([b"hello"]))
            """, stdin=theirs)
        self.assertEqual(ours.recv(9), b"hello")
        self.assertEqual(results.pop("dead"), "ECONNREFUSED")
        self.assertEqual(set(results.values()), {"ok"}, results)
        self.assertEqual(self.ipc_events() + self.ipc_events("allowed"), [])
        self.assert_verified()

    def test_a_strangers_socket_does_not_become_the_trees_by_being_moved_there(self):
        """Beside a bind of its own name a thread puts the daemon's socket, which it may move, in its place."""
        victim = self.listen(str(self.work / "victim.sock"))
        rounds = int(os.environ.get("AASM_FLIP_ROUNDS", "300"))
        results = self.attempts("""
            import threading
            stop = False
            def swap():
                while not stop:
                    try: os.link("victim.sock", "copy"); os.rename("copy", "own")
                    except OSError: pass
            thread = threading.Thread(target=swap); thread.start()
            opened = 0
            for _ in range(int(sys.argv[1])):
                try: os.unlink("own")
                except OSError: pass
                s = socket.socket(socket.AF_UNIX)
                try: s.bind("own"); s.listen(1); opened += 1
                except OSError: continue
                for _ in range(3):
                    with socket.socket(socket.AF_UNIX) as c: c.setblocking(False); c.connect_ex("own")
                s.close()
            stop = True; thread.join()
            attempt("bound", lambda: opened or 1 / 0)
            os.unlink("own") if os.path.lexists("own") else None
            s = socket.socket(socket.AF_UNIX); s.bind("own")
            os.rename("victim.sock", "own")
            attempt("moved", lambda: unix("own"))
            """, rounds)
        self.assertEqual(results, {"bound": "ok", "moved": "EACCES"})
        self.assertFalse(self.reached(victim))

    def test_a_flipped_path_never_leads_to_the_denied_socket(self):
        rounds = int(os.environ.get("AASM_FLIP_ROUNDS", "2000"))
        results = self.attempts("""
            import ctypes, threading
            libc = ctypes.CDLL(None, use_errno=True)
            good, bad = (b"\\1\\0" + (sys.argv[1] + name).encode() + b"\\0" for name in ("/listed.sock", "/docker.sock"))
            assert len(good) == len(bad)
            buffer = ctypes.create_string_buffer(good, len(good))
            stop = False
            def flip():
                while not stop: ctypes.memmove(buffer, bad, len(bad)); ctypes.memmove(buffer, good, len(good))
            sys.setswitchinterval(1e-6)
            thread = threading.Thread(target=flip); thread.start()
            seen = {}
            for _ in range(int(sys.argv[2])):
                with socket.socket(socket.AF_UNIX) as s:
                    s.setblocking(False)
                    error = ctypes.get_errno() if libc.connect(s.fileno(), buffer, len(good)) else 0
                    if not error: assert s.getpeername() == sys.argv[1] + "/listed.sock", s.getpeername()
                seen[error] = seen.get(error, 0) + 1
            stop = True; thread.join()
            # Nobody accepts: a full queue is EAGAIN. A name that is half changed is nobody's.
            expected = {0, errno.EACCES, errno.EAGAIN, errno.ENOENT}
            print("sum", "ok" if set(seen) <= expected and seen.get(0) and seen.get(errno.EACCES) else str(seen).replace(" ", ""))
            """, self.outside, rounds)
        self.assertEqual(results, {"sum": "ok"})
        self.assertFalse(self.reached(self.daemon))

    @unittest.skipIf(os.geteuid() != 0, "drops to nobody, which root alone can")
    def test_a_caller_without_the_rights_is_refused_by_the_file_as_without_a_boundary(self):
        (self.outside / "listed.sock").chmod(0o600)
        results = self.attempts("""
            os.setgroups([]); os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534)
            attempt("closed", lambda: unix(sys.argv[1] + "/listed.sock"))
            """, self.outside)
        self.assertEqual(results, {"closed": "EACCES"})
        self.assertEqual(self.ipc_events(), [])


class Abstract(IpcCase):
    # Case 47, of sockets.
    def test_names_outside_are_out_of_reach_and_those_inside_are_not(self):
        box = self.listen(self.abstract + "-box", socket.SOCK_DGRAM)
        results = self.attempts("""
            name = "\\0" + sys.argv[1]
            attempt("stream", lambda: unix(name))
            attempt("datagram", lambda: unix(name + "-box", socket.SOCK_DGRAM))
            attempt("sendto", lambda: to(name + "-box"))
            attempt("sendmsg", lambda: to(name + "-box", True))
            with socket.socket(socket.AF_UNIX) as server:
                server.bind("\\0" + sys.argv[1] + "-inside"); server.listen(4)
                attempt("own", lambda: unix("\\0" + sys.argv[1] + "-inside"))
                code = "import socket, sys; socket.socket(socket.AF_UNIX).connect('\\\\0' + sys.argv[1] + '-inside')"
                attempt("child", lambda: subprocess.run([sys.executable, "-c", code, sys.argv[1]], check=True))
            attempt("nobody", lambda: unix("\\0" + sys.argv[1] + "-nobody"))
            # A datagram socket with a peer refuses others by itself, with the same number.
            a = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); a.bind("\\0a" + sys.argv[1])
            b = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); b.bind("\\0b" + sys.argv[1])
            a.connect("\\0b" + sys.argv[1])
            attempt("taken", lambda: to("\\0a" + sys.argv[1]))
            """, self.abstract[1:])
        for what in ("stream", "datagram", "sendto", "sendmsg", "taken"):
            self.assertEqual(results.pop(what), "EPERM", what)
        self.assertEqual(results, {"own": "ok", "child": "ok", "nobody": "ECONNREFUSED"})
        self.assertFalse(self.reached(self.hidden))
        with self.assertRaises(TimeoutError):
            box.recv(9)
        events = {e["object"]["name"]: e for e in self.ipc_events()}
        self.assertEqual({name: e["count"] for name, e in events.items()},
                         {"@" + self.abstract[1:]: 1, "@" + self.abstract[1:] + "-box": 3})
        for event in events.values():
            self.assertEqual((event["rule"], event["mechanism"], event["errno"]), ("ipc.abstract_sockets", "landlock_scope", 1))
        self.assertEqual(self.claims()["ipc"]["denied_actions"], 4)
        self.assert_verified()


class Signals(IpcCase):
    # Case 47, of signals.
    def test_processes_outside_are_not_signalled_by_any_call_and_those_inside_are(self):
        stranger = subprocess.Popen(["sleep", "60"], start_new_session=True)
        self.addCleanup(stranger.wait)
        self.addCleanup(stranger.kill)
        results = self.attempts("""
            import ctypes
            libc = ctypes.CDLL(None, use_errno=True)
            pid = int(sys.argv[1])
            def call(number, *args):
                if libc.syscall(number, *args) < 0: raise OSError(ctypes.get_errno(), "")
            info = ctypes.create_string_buffer(128); ctypes.memmove(info, b"\\x12\\0\\0\\0\\0\\0\\0\\0\\xff\\xff\\xff\\xff", 12)
            attempt("kill", lambda: os.kill(pid, 0))
            attempt("stop", lambda: os.kill(pid, signal.SIGSTOP))
            attempt("tkill", lambda: call(200, pid, 0))
            attempt("tgkill", lambda: call(234, pid, pid, 0))
            attempt("queue", lambda: call(129, pid, 18, info))
            attempt("tgqueue", lambda: call(297, pid, pid, 18, info))
            attempt("group", lambda: os.kill(-pid, 0))
            attempt("pidfd", lambda: os.pidfd_open(pid))
            proc = os.open(f"/proc/{pid}", os.O_RDONLY | os.O_DIRECTORY)
            attempt("procfd", lambda: signal.pidfd_send_signal(proc, 0))
            attempt("supervisor", lambda: os.kill(os.getppid(), 0))
            attempt("init", lambda: os.kill(1, 0))
            child = subprocess.Popen(["sleep", "60"], start_new_session=True)
            attempt("own", lambda: os.kill(os.getpid(), 0))
            attempt("child", lambda: os.kill(child.pid, 0))
            attempt("childgroup", lambda: os.kill(-child.pid, 0))
            attempt("owngroup", lambda: os.kill(0, 0))
            attempt("all", lambda: os.kill(-1, 0))
            fd = os.pidfd_open(child.pid)
            attempt("childfd", lambda: signal.pidfd_send_signal(fd, signal.SIGKILL))
            child.wait()
            attempt("gone", lambda: os.kill(child.pid, 0))
            """, stranger.pid)
        self.assertEqual(results.pop("gone"), "ESRCH")
        inside = {"own", "child", "childgroup", "owngroup", "all", "childfd"}
        self.assertEqual({what for what, result in results.items() if result == "ok"}, inside, results)
        self.assertEqual({result for what, result in results.items() if what not in inside}, {"EPERM"}, results)
        self.assertNotIn("T (stopped)", pathlib.Path(f"/proc/{stranger.pid}/status").read_text())
        counts = {e["object"]["name"]: e["count"] for e in self.ipc_events()}
        self.assertEqual((counts[str(stranger.pid)], counts[f"-{stranger.pid}"], counts["1"]), (8, 1, 1), counts)
        self.assertEqual(sum(counts.values()), 11)
        for event in self.ipc_events():
            self.assertEqual((event["object"]["type"], event["rule"], event["errno"]), ("process", "ipc.signals", 1))
        self.assertEqual(self.claims()["ipc"]["denied_actions"], 11)
        self.assert_verified()

    def test_what_is_not_stated_stays_open_and_is_no_decision(self):
        self.state("  ipc: { signals: inside }\n")
        results = self.attempts("""
            attempt("path", lambda: unix(sys.argv[1] + "/docker.sock"))
            attempt("abstract", lambda: unix("\\0" + sys.argv[2]))
            attempt("kill", lambda: os.kill(int(sys.argv[3]), 0))
            """, self.outside, self.abstract[1:], os.getpid())
        self.assertEqual(results, {"path": "ok", "abstract": "ok", "kill": "EPERM"})
        [event] = self.ipc_events()
        self.assertEqual(event["object"]["name"], str(os.getpid()))
        self.assert_verified()

    def test_without_the_domain_landlock_refuses_signals_without_a_record(self):
        self.write_policy()
        results = self.attempts("attempt('kill', lambda: os.kill(int(sys.argv[1]), 0))", os.getpid())
        self.assertEqual(results, {"kill": "EPERM"})
        self.assertEqual(self.ipc_events(), [])
        self.assertEqual(self.claims()["ipc"]["claim"], "not_stated")


SYSV = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
def checked(result):
    if result in (-1, 2**64 - 1): raise OSError(ctypes.get_errno(), "")
    return result
CREAT, EXCL, RMID, STAT = 0o1000, 0o2000, 0, 2
def shmget(key, flags=0o600): return checked(libc.shmget(key, 4096, flags))
def attach(id):
    at = checked(libc.shmat(id, None, 0)); ctypes.memset(at, 65, 4096); libc.shmdt(ctypes.c_void_p(at))
"""


class SharedMemory(IpcCase):
    def setUp(self):
        super().setUp()
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.key = 0x41410000 | (os.getpid() & 0xFFFF)
        self.segment = self.libc.shmget(self.key, 4096, 0o1666)
        self.addCleanup(self.libc.shmctl, self.segment, 0, None)
        self.queue = self.libc.msgget(0, 0o1666)
        self.addCleanup(self.libc.msgctl, self.queue, 0, None)
        self.assertGreaterEqual(min(self.segment, self.queue), 0)

    def test_objects_of_others_are_out_of_reach_by_number_and_key_and_those_of_the_tree_work(self):
        results = self.attempts(SYSV + textwrap.dedent("""
            key, segment, queue = (int(a) for a in sys.argv[1:4])
            buffer = ctypes.create_string_buffer(4096)
            attempt("key", lambda: shmget(key))
            attempt("create", lambda: shmget(key, CREAT | 0o600))
            attempt("attach", lambda: attach(segment))
            attempt("stat", lambda: checked(libc.shmctl(segment, STAT, buffer)))
            attempt("place", lambda: checked(libc.shmctl(0, 13, buffer)))
            attempt("remove", lambda: checked(libc.shmctl(segment, RMID, None)))
            attempt("receive", lambda: checked(libc.msgrcv(queue, buffer, 8, 0, 0o4000)))
            attempt("exclusive", lambda: shmget(key, CREAT | EXCL | 0o600))
            attempt("absent", lambda: shmget(key + 1))
            own = shmget(0, CREAT | 0o600)
            attempt("own", lambda: attach(own))
            attempt("ownstat", lambda: checked(libc.shmctl(own, STAT, buffer)))
            attempt("child", lambda: os.waitpid(os.fork() or os._exit(attach(own) or 0), 0)[1] and 1 / 0)
            attempt("ownremove", lambda: checked(libc.shmctl(own, RMID, None)))
            attempt("again", lambda: attach(own))
            named = shmget(key + 2, CREAT | 0o600)
            attempt("named", lambda: None if shmget(key + 2) == named == shmget(key + 2, CREAT | 0o600) else 1 / 0)
            libc.shmctl(named, RMID, None)
            sem = checked(libc.semget(0, 2, CREAT | 0o600))
            attempt("semaphore", lambda: checked(libc.semop(sem, b"\\0\\0\\1\\0\\0\\0", 1)))
            libc.semctl(sem, 0, RMID)
            """), self.key, self.segment, self.queue)
        refused = {"key", "create", "attach", "stat", "place", "remove", "receive", "again"}
        self.assertEqual({what for what, result in results.items() if result == "EACCES"}, refused, results)
        self.assertEqual((results.pop("exclusive"), results.pop("absent")), ("EEXIST", "ENOENT"))
        self.assertEqual({result for what, result in results.items() if what not in refused}, {"ok"}, results)
        self.assertEqual(self.libc.shmctl(self.segment, 2, ctypes.create_string_buffer(256)), 0, "it is still there")
        names = [e["object"]["name"] for e in self.ipc_events()]
        self.assertIn(f"shmat {self.segment}", names)
        self.assertIn(f"shmget {self.key}", names)
        self.assertEqual({e["rule"] for e in self.ipc_events()}, {"ipc.shared_memory"})
        self.assertEqual(sum(e["count"] for e in self.ipc_events()), 8)
        self.assertEqual(self.claims()["ipc"]["denied_actions"], 8)
        self.assert_verified()

    def test_message_queues_by_name_are_refused_whole(self):
        results = self.attempts("""
            import ctypes
            libc = ctypes.CDLL(None, use_errno=True)
            def call(number, *args):
                if libc.syscall(number, *args) < 0: raise OSError(ctypes.get_errno(), "")
            attempt("open", lambda: call(240, b"aasm-test-queue", os.O_CREAT | os.O_RDWR, 0o600, None))
            attempt("unlink", lambda: call(241, b"aasm-test-queue"))
            """)
        self.assertEqual(results, {"open": "EACCES", "unlink": "EACCES"})
        self.assertEqual({e["object"]["name"] for e in self.ipc_events()}, {"mq_open", "mq_unlink"})

    @unittest.skipIf(os.geteuid() != 0, "drops to nobody, which root alone can")
    def test_what_the_broker_makes_belongs_to_the_caller(self):
        results = self.attempts(SYSV + textwrap.dedent("""
            os.setgroups([]); os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534)
            own = shmget(0, CREAT | 0o600)
            attempt("own", lambda: attach(own))
            buffer = ctypes.create_string_buffer(256)
            checked(libc.shmctl(own, STAT, buffer))
            attempt("uid", lambda: None if int.from_bytes(buffer.raw[4:8], "little") == 65534 else 1 / 0)
            libc.shmctl(own, RMID, None)
            """))
        self.assertEqual(results, {"own": "ok", "uid": "ok"})


class Explain(IpcCase):
    def answer(self, what, *options):
        done = self.ok("policy", "explain", "--policy", self.policy, "--format", "json", *options, what)
        [entry] = json.loads(done.stdout)["objects"]
        [answer] = entry["answers"]
        return answer

    def test_what_is_said_of_a_socket_is_what_happens(self):
        (self.work / "link.sock").symlink_to(self.outside / "listed.sock")
        for path, verdict, rule in ((self.outside / "docker.sock", "denied", "ipc.unix_sockets.allow"),
                                    (self.outside / "listed.sock", "allowed", "ipc.unix_sockets.allow[0]"),
                                    (self.work / "link.sock", "allowed", "ipc.unix_sockets.allow[0]")):
            answer = self.answer(path, "--operation", "connect")
            self.assertEqual((answer["domain"], answer["verdict"], answer["rule"]), ("ipc", verdict, rule), path)
            results = self.attempts("attempt('it', lambda: unix(sys.argv[1]))", path)
            self.assertEqual(results["it"], "ok" if verdict == "allowed" else "EACCES", path)

    def test_calls_are_by_arguments(self):
        for call, rule in (("kill", "ipc.signals"), ("shmat", "ipc.shared_memory")):
            answer = self.answer(call)
            self.assertEqual(answer["verdict"], "by_arguments")
            self.assertIn(rule, answer["note"])


class Proof(IpcCase):
    def test_each_stated_part_is_tried_before_the_start_and_nothing_of_that_stays(self):
        self.assertEqual(self.run_exec("/bin/true").returncode, 0)
        canaries = {c["id"]: c for body in self.bodies("boundary.proved") for c in body["canaries"] if c["domain"] == "ipc"}
        for name, channel in (("unix_socket", "reported"), ("abstract_socket", "reported"), ("abstract_floor", "not_applicable"),
                              ("signal", "reported"), ("shared_memory", "reported")):
            canary = canaries["ipc." + name]
            self.assertEqual((canary["control"]["outcome"], canary["inside"]["outcome"], canary["channel"], canary["purpose"]),
                             ("succeeded", "refused", channel, "policy"), name)
        self.assertEqual([p.name for p in (self.home / "canary").iterdir() if p.name.startswith("socket.")], [])
        controls = {c["id"]: c for body in self.bodies("control.prepared") for c in body["controls"] if c["domain"] == "ipc"}
        self.assertEqual(set(controls), {"signal_scope", "unix_sockets", "signals", "shared_memory", "abstract_scope"})
        self.assertTrue(all(c["installed"] for c in controls.values()))

    def test_a_socket_that_a_killed_supervisor_left_is_removed(self):
        self.run_exec("/bin/true")
        gone = subprocess.run(["true"], check=True) and subprocess.Popen(["true"])
        gone.wait()
        left = self.home / "canary" / f"socket.{gone.pid}"
        with contextlib.closing(socket.socket(socket.AF_UNIX)) as one:
            one.bind(str(left))
        self.assertEqual(self.run_exec("/bin/true").returncode, 0)
        self.assertFalse(left.exists())

    def test_job_control_of_a_shell_works(self):
        done = self.run_exec("/bin/bash", "-mc", "sleep 60 & kill %1; wait %1; echo $?; (sleep 60 & kill -9 $!); trap 'echo caught' USR1; kill -USR1 $$")
        self.assertEqual(done.stdout.split(), ["143", "caught"], done.stderr)
        self.assertEqual(self.ipc_events(), [])


if __name__ == "__main__":
    aasm_case.main()
