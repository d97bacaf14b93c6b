"""aasm run exec with `network` stated: what connects, what is refused, and what the records say of both."""

import contextlib
import errno
import os
import pathlib
import resource
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
import unittest

import aasm_case

NETWORK = "  network: {{ egress: [{{host: 127.0.0.1/32, ports: [{port}], protocol: tcp}}] }}\n"

TRY = """
import errno, socket, sys
def attempt(what, call):
    try:
        call(); print(what, "ok", flush=True)
    except OSError as error:
        print(what, errno.errorcode[error.errno], flush=True)
"""


def free_port(family=socket.AF_INET):
    with socket.socket(family) as one:
        one.bind(("::1" if family == socket.AF_INET6 else "127.0.0.1", 0))
        return one.getsockname()[1]


class NetworkCase(aasm_case.AasmCase):
    """self.port is served (upper case of what comes), self.other is listened to and must stay untouched."""

    def setUp(self):
        super().setUp()
        self.server = self.listen()
        self.port = self.server.getsockname()[1]
        self.untouched = self.listen()
        self.other = self.untouched.getsockname()[1]
        self.served = 0
        threading.Thread(target=self.serve, daemon=True).start()
        self.write_policy(aasm_case.POLICY.format(read="") + NETWORK.format(port=self.port))

    def listen(self):
        one = socket.socket()
        one.bind(("127.0.0.1", 0))
        one.listen(256)
        self.addCleanup(one.close)
        return one

    def serve(self):
        while True:
            try:
                peer, _ = self.server.accept()
            except OSError:
                return
            self.served += 1
            threading.Thread(target=self.echo, args=(peer,), daemon=True).start()

    @staticmethod
    def echo(peer):
        with peer, contextlib.suppress(OSError):
            while data := peer.recv(65536):
                peer.sendall(data.upper())

    @staticmethod
    def answers(port):
        with socket.socket() as one:
            return one.connect_ex(("127.0.0.1", port)) == 0

    def reached(self, listener):
        listener.settimeout(0.05)
        try:
            listener.accept()[0].close()
            return True
        except TimeoutError:
            return False

    def network_events(self):
        return [e for e in self.events() if e["domain"] in ("network_egress", "name_resolution")]

    def attempts(self, script, *args):
        done = self.python(TRY + textwrap.dedent(script), *map(str, args))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return dict(line.split() for line in done.stdout.splitlines())


# sendmmsg(2) of one datagram to each of two ports.
SEND_BOTH = """
import ctypes, socket, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
one = socket.socket(type=socket.SOCK_DGRAM)
kept, headers = [], b""
for port in map(int, sys.argv[1:]):
    name = ctypes.create_string_buffer(struct.pack("=HH4s8x", socket.AF_INET, socket.htons(port), socket.inet_aton("127.0.0.1")))
    data = ctypes.create_string_buffer(b"x", 1)
    vector = ctypes.create_string_buffer(struct.pack("@PN", ctypes.addressof(data), 1))
    kept += [name, data, vector]
    headers += struct.pack("@PIPNPNi4xI4x", ctypes.addressof(name), 16, ctypes.addressof(vector), 1, 0, 0, 0, 0)
print(libc.sendmmsg(one.fileno(), headers, len(headers) // 64, 0), flush=True)
"""


class Kill(NetworkCase):
    """`network: { on_denial: kill }`: the denied call is the last one, and its record says so."""

    def setUp(self):
        super().setUp()
        self.kill()

    def kill(self, bind=""):
        stated = NETWORK.format(port=self.port).replace(" }\n", f", on_denial: kill{bind} }}\n")
        self.write_policy(aasm_case.POLICY.format(read="") + stated)

    def killed(self, call, operation):
        """The one event of a program that makes this call and would go on."""
        script = f"import socket, sys; port = {self.other}; print('before', flush=True); {call}; print('after', flush=True)"
        done = self.python(script)
        self.assertEqual((done.returncode, done.stdout), (128 + signal.SIGKILL, "before\n"), done.stderr)
        [event] = [event for event in self.network_events() if event["outcome"] == "denied"]
        self.assertEqual((event["domain"], event["operation"], event["cause"], event["errno"], event["reply"]),
                         ("network_egress", operation, "policy", 0, "killed_while_blocked"))
        [exited] = self.bodies("process.exited")
        self.assertEqual((exited["cause"], exited["signal"]), ("killed_by_denial", signal.SIGKILL))
        kinds = [record["kind"] for record in self.records()]
        self.assertLess(kinds.index("decision.batch"), kinds.index("process.exited"))
        self.assert_verified()
        claim = self.claims()["network_egress"]
        self.assertEqual((claim["claim"], claim["denied_actions"]), ("denied_before_execution", 1))
        return event

    def test_a_connection(self):
        event = self.killed("socket.socket().connect(('127.0.0.1', port))", "connect")
        self.assertEqual((event["object"]["address"], event["object"]["port"]), ("127.0.0.1", self.other))
        self.assertFalse(self.reached(self.untouched))

    def test_a_connection_that_would_not_wait(self):
        self.killed("s = socket.socket(); s.setblocking(False); s.connect_ex(('127.0.0.1', port))", "connect")
        self.assertFalse(self.reached(self.untouched))

    def test_a_datagram(self):
        self.killed("socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', port))", "connect")

    def test_an_address_of_its_own(self):
        self.kill(", bind: { allow: [127.0.0.1:1] }")
        self.killed("socket.socket().bind(('127.0.0.1', 0))", "bind")

    def test_a_socket_that_only_registers_tell_of(self):
        self.killed("socket.socket(socket.AF_PACKET, socket.SOCK_RAW)", "socket")

    def test_only_the_process_that_made_the_call_is_killed(self):
        done = self.python(f"""
import os, socket
if os.fork() == 0:
    socket.socket().connect(("127.0.0.1", {self.other}))
    os._exit(1)
print(os.waitstatus_to_exitcode(os.wait()[1]))
with socket.socket() as one:
    one.connect(("127.0.0.1", {self.port})); one.sendall(b"x"); print(one.recv(1))
""")
        self.assertEqual((done.returncode, done.stdout), (0, "-9\nb'X'\n"), done.stderr)
        self.assertEqual(self.bodies("process.exited")[0]["cause"], "exited")
        self.assert_verified()

    def test_other_domains_answer_as_before(self):
        results = self.attempts("""
            import ctypes
            libc = ctypes.CDLL(None, use_errno=True)
            def unlisted():
                if libc.unshare(0x10000000) != 0: raise OSError(ctypes.get_errno(), "unshare")
            attempt("unshare", unlisted)
            """)
        self.assertEqual(results, {"unshare": "EPERM"})

    def test_while_observing_nothing_is_denied_and_nobody_killed(self):
        done = self.python(f"import socket; socket.socket().connect(('127.0.0.1', {self.other})); print('after')", options=("--observe",))
        self.assertEqual((done.returncode, done.stdout), (0, "after\n"), done.stderr)
        self.assertTrue(self.reached(self.untouched))
        self.assertEqual(self.bodies("process.exited")[0]["cause"], "exited")
        self.assert_verified()

    def test_of_several_datagrams_in_one_call_those_before_the_denied_one_are_sent(self):
        receiver = socket.socket(type=socket.SOCK_DGRAM)
        receiver.bind(("127.0.0.1", 0))
        self.addCleanup(receiver.close)
        open_port = receiver.getsockname()[1]
        self.write_policy(aasm_case.POLICY.format(read="") +
                          f"  network: {{ egress: [{{ host: 127.0.0.1, ports: [{open_port}], protocol: udp }}], on_denial: kill }}\n")
        done = self.python(SEND_BOTH, open_port, self.other)
        self.assertEqual((done.returncode, done.stdout), (137, ""), done.stderr)
        receiver.settimeout(5)
        self.assertEqual(receiver.recv(16), b"x")
        events = [(event["outcome"], event["reply"], event["object"]["port"]) for event in self.network_events()]
        self.assertIn(("denied", "killed_while_blocked", self.other), events)
        self.assertEqual(self.bodies("process.exited")[0]["cause"], "killed_by_denial")
        self.assert_verified()

    def test_explain_says_so(self):
        done = self.aasm("policy", "explain", f"127.0.0.1:{self.other}", "--operation", "connect", "--policy", self.policy)
        self.assertIn("the caller is killed", done.stdout)
        self.assertNotIn("EACCES", done.stdout)


class Egress(NetworkCase):
    # Cases 49, 53.
    def merged(self, events):
        """The one event that these are, which a busy machine writes as several."""
        first, *others = list(events)
        for event in others:
            self.assertEqual([event[k] for k in ("object", "rule", "errno")], [first[k] for k in ("object", "rule", "errno")])
        return {**first, "count": first["count"] + sum(event["count"] for event in others)}

    def test_only_the_listed_address_and_port_is_reached_by_any_family_and_protocol(self):
        results = self.attempts("""
            P, Q = int(sys.argv[1]), int(sys.argv[2])
            def tcp(host, port, family=socket.AF_INET):
                with socket.socket(family) as s:
                    s.connect((host, port)); s.sendall(b"hi"); assert s.recv(2) == b"HI"
            def udp(host, port, family=socket.AF_INET):
                with socket.socket(family, socket.SOCK_DGRAM) as s: s.connect((host, port))
            def to(host, port, family=socket.AF_INET):
                with socket.socket(family, socket.SOCK_DGRAM) as s: s.sendto(b"x", (host, port))
            def msg(host, port, family=socket.AF_INET):
                with socket.socket(family, socket.SOCK_DGRAM) as s: s.sendmsg([b"x"], [], 0, (host, port))
            def fast(host, port):
                with socket.socket() as s: s.sendto(b"x", 0x20000000, (host, port))
            attempt("allowed", lambda: tcp("127.0.0.1", P))
            attempt("mapped", lambda: tcp("::ffff:127.0.0.1", P, socket.AF_INET6))
            attempt("port", lambda: tcp("127.0.0.1", Q))
            attempt("address", lambda: tcp("127.0.0.2", P))
            attempt("v6", lambda: tcp("::1", P, socket.AF_INET6))
            attempt("udp", lambda: udp("127.0.0.1", P))
            attempt("udp443", lambda: udp("127.0.0.1", 443))
            attempt("sendto", lambda: to("127.0.0.1", P))
            attempt("sendto6", lambda: to("::1", P, socket.AF_INET6))
            attempt("sendmsg", lambda: msg("127.0.0.1", P))
            attempt("fastopen", lambda: fast("127.0.0.1", Q))
            attempt("raw", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))
            attempt("metadata", lambda: tcp("169.254.169.254", 80))
            attempt("options", lambda: socket.socket().setsockopt(0, 4, b"\\x83\\x07\\x04\\x7f\\0\\0\\1"))
            """, self.port, self.other)
        self.assertEqual((results.pop("allowed"), results.pop("mapped")), ("ok", "ok"))
        self.assertEqual((results.pop("raw"), results.pop("options")), ("EPERM", "EPERM"))
        self.assertEqual(set(results.values()), {"EACCES"}, results)
        self.assertFalse(self.reached(self.untouched))
        denied = self.merged(e for e in self.network_events() if e["object"].get("port") == self.other
                             and e["outcome"] == "denied")
        self.assertEqual((denied["object"]["address"], denied["object"]["protocol"], denied["count"]),
                         ("127.0.0.1", "tcp", 2))
        self.assertEqual((denied["rule"], denied["cause"], denied["errno"]), ("network.egress", "policy", 13))
        self.assertGreater(denied["pid"], 0)
        allowed = self.merged(e for e in self.network_events() if e["outcome"] == "allowed" and e["operation"] == "connect")
        self.assertEqual((allowed["mechanism"], allowed["rule"], allowed["count"], allowed["errno"]),
                         ("broker", "network.egress[0].ports[0]", 2, 0))
        claim = self.claims()["network_egress"]
        self.assertEqual((claim["claim"], claim["basis"], claim["boundary"]),
                         ("denied_before_execution", "decision", "proved"))
        self.assertEqual(claim["denied_actions"], sum(e["count"] for e in self.network_events()
                                                      if e["outcome"] == "denied" and e["domain"] == "network_egress"))
        self.assert_verified()

    def test_blocking_and_non_blocking_and_asyncio_connect_as_without_a_boundary(self):
        self.attempts("""
            import asyncio, select
            P = int(sys.argv[1])
            s = socket.socket(); s.setblocking(False)
            assert s.connect_ex(("127.0.0.1", P)) in (0, errno.EINPROGRESS)
            select.select([], [s], [], 5); assert s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0
            s = socket.create_connection(("127.0.0.1", P), timeout=5); s.sendall(b"a"); assert s.recv(1) == b"A"
            async def talk():
                r, w = await asyncio.open_connection("127.0.0.1", P)
                w.write(b"hello"); await w.drain(); assert await r.readexactly(5) == b"HELLO"; w.close()
            async def many(): await asyncio.gather(*(talk() for _ in range(40)))
            asyncio.run(many())
            try: asyncio.run(asyncio.open_connection("127.0.0.1", P + 1))
            except PermissionError: print("denied ok")
            """, self.port)

    def test_a_failure_of_an_allowed_call_is_the_kernels(self):
        gone = free_port()
        self.write_policy(aasm_case.POLICY.format(read="") + NETWORK.format(port=gone))
        results = self.attempts("""
            def connect(s): s.connect(("127.0.0.1", int(sys.argv[1])))
            attempt("refused", lambda: connect(socket.socket()))
            attempt("descriptor", lambda: socket.socket(fileno=99))
            import ctypes
            libc = ctypes.CDLL(None, use_errno=True)
            def raw(fd, address, size):
                if libc.connect(fd, address, size) < 0: raise OSError(ctypes.get_errno(), "")
            s = socket.socket()
            attempt("badf", lambda: raw(999, b"\\0" * 16, 16))
            attempt("notsock", lambda: raw(0, b"\\2\\0" + b"\\0" * 14, 16))
            attempt("fault", lambda: raw(s.fileno(), None, 16))
            attempt("size", lambda: raw(s.fileno(), b"\\0" * 300, 300))
            """, gone)
        self.assertEqual(results, {"refused": "ECONNREFUSED", "descriptor": "EBADF", "badf": "EBADF",
                                   "notsock": "ENOTSOCK", "fault": "EFAULT", "size": "EINVAL"})
        [allowed] = [e for e in self.network_events() if e["outcome"] == "allowed"]
        self.assertEqual(allowed["errno"], 111)

    def test_a_waiting_connect_is_interrupted_by_a_signal_and_holds_nobody_up(self):
        """The listener's backlog is full, so that a connect waits."""
        full = socket.socket()
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        port = full.getsockname()[1]
        fillers = [socket.socket() for _ in range(4)]
        for one in fillers:
            one.setblocking(False)
            one.connect_ex(("127.0.0.1", port))
        self.write_policy(aasm_case.POLICY.format(read="") + NETWORK.format(port=f"{port}, {self.port}"))
        done = self.python(TRY + textwrap.dedent("""
            import ctypes, signal, threading, time
            P, Q = int(sys.argv[1]), int(sys.argv[2])
            class Timeout(Exception): pass
            def handler(*_): raise Timeout
            signal.signal(signal.SIGALRM, handler)
            other = []
            def quick():
                s = socket.create_connection(("127.0.0.1", Q)); s.sendall(b"x"); other.append(s.recv(1))
            signal.setitimer(signal.ITIMER_REAL, 0.3)
            begin = time.monotonic()
            thread = threading.Thread(target=lambda: (time.sleep(0.1), quick())); thread.start()
            try: socket.socket().connect(("127.0.0.1", P)); print("connected")
            except Timeout: print("interrupted", round(time.monotonic() - begin, 1) < 2.0)
            thread.join(); print(other)
            """), str(port), str(self.port))
        self.assertEqual(done.stdout, "interrupted True\n[b'X']\n", done.stderr)
        for one in [full, *fillers]:
            one.close()

    # Case 50.
    def test_with_nothing_listed_nothing_is_reached_or_looked_up(self):
        resolver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        resolver.bind(("127.0.0.1", 0))
        resolver.setblocking(False)
        self.addCleanup(resolver.close)
        self.write_policy(aasm_case.POLICY.format(read="") + "  network: { allowlist: [] }\n")
        begin = time.monotonic()
        results = self.attempts("""
            attempt("connect", lambda: socket.socket().connect(("127.0.0.1", int(sys.argv[1]))))
            try: socket.getaddrinfo("example.org", 80); print("name ok")
            except socket.gaierror: print("name refused")
            mine = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); mine.bind(("127.0.0.1", 0))
            attempt("query", lambda: mine.sendto(b"query", ("127.0.0.1", int(sys.argv[2]))))
            assert any(name == "lo" for _, name in socket.if_nameindex())
            """, self.port, resolver.getsockname()[1])
        self.assertEqual(results, {"connect": "EACCES", "name": "refused", "query": "EACCES"})
        with self.assertRaises(BlockingIOError):
            resolver.recv(9)
        self.assertLess(time.monotonic() - begin, 10)
        self.assertEqual(self.served, 0)
        claims = self.claims()
        self.assertEqual(claims["network_egress"]["claim"], "denied_before_execution")
        self.assertEqual(claims["name_resolution"]["boundary"], "proved")

    def test_a_program_may_call_before_the_broker_has_had_its_first_moment(self):
        """Under load a program was ended, since the broker still had open what tells that it was executed."""
        folder = self.root / "late"
        folder.mkdir()
        shutil.copy(aasm_case.AASM, folder / "aasm")
        shutil.copy(pathlib.Path(aasm_case.AASM).with_name("aasm-launch-helper-late-broker"), folder / "aasm-launch-helper")
        code = f"import socket; s = socket.socket(); print(s.connect_ex(('127.0.0.1', {self.other})))"
        done = subprocess.run([folder / "aasm", "run", "exec", "--policy", self.policy, "--", "/usr/bin/python3", "-S", "-c", code],
                              env=self.env, cwd=self.work, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, f"{errno.EACCES}\n"), done.stderr)
        self.assertEqual([e["count"] for e in self.network_events()], [1])

    # A sibling thread flips the port; what is judged is what is connected to.
    def test_a_flipped_port_never_leads_to_the_denied_one(self):
        rounds = int(os.environ.get("AASM_FLIP_ROUNDS", "3000"))
        results = self.attempts("""
            import ctypes, struct, threading
            P, Q, rounds = (int(a) for a in sys.argv[1:4])
            libc = ctypes.CDLL(None, use_errno=True)
            good = struct.pack("<H", socket.AF_INET) + struct.pack(">H", P) + bytes([127, 0, 0, 1]) + bytes(8)
            buffer = ctypes.create_string_buffer(good, 16)
            stop = False
            def flip():
                words = [struct.pack(">H", P), struct.pack(">H", Q)]
                place = ctypes.addressof(buffer) + 2
                while not stop:
                    ctypes.memmove(place, words[1], 2); ctypes.memmove(place, words[0], 2)
            sys.setswitchinterval(1e-6)
            thread = threading.Thread(target=flip); thread.start()
            done = refused = 0
            for _ in range(rounds):
                s = socket.socket()
                if libc.connect(s.fileno(), buffer, 16) == 0:
                    done += 1
                    assert s.getpeername()[1] == P, s.getpeername()
                    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                else:
                    refused += 1; assert ctypes.get_errno() == errno.EACCES, ctypes.get_errno()
                s.close()
            stop = True; thread.join()
            print("sum", "ok" if done + refused == rounds and done and refused else f"{done}/{refused}")
            """, self.port, self.other, rounds)
        self.assertEqual(results, {"sum": "ok"})
        self.assertFalse(self.reached(self.untouched))
        counted = sum(e["count"] for e in self.network_events())
        self.assertEqual(counted, rounds)

    def test_a_flipped_address_never_leads_to_the_denied_one(self):
        rounds = int(os.environ.get("AASM_FLIP_ROUNDS", "3000"))
        inboxes = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
        for host, one in enumerate(inboxes, 1):
            self.addCleanup(one.close)
            one.bind((f"127.0.0.{host}", self.port))
        self.write_policy(aasm_case.POLICY.format(read="") + NETWORK.format(port=self.port).replace("tcp", "udp"))
        results = self.attempts("""
            import ctypes, struct, threading
            P, rounds = (int(a) for a in sys.argv[1:3])
            libc = ctypes.CDLL(None, use_errno=True)
            buffer = ctypes.create_string_buffer(struct.pack("<H", socket.AF_INET) + struct.pack(">H", P) + bytes([127, 0, 0, 1]) + bytes(8), 16)
            stop = False
            def flip():
                place = ctypes.c_uint8.from_buffer(buffer, 7)
                while not stop: place.value = 2; place.value = 1
            sys.setswitchinterval(1e-6)
            thread = threading.Thread(target=flip); thread.start()
            done = refused = 0
            s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            for i in range(rounds):
                if (libc.sendto(s.fileno(), b"x", 1, 0, buffer, 16) if i % 2 else libc.connect(s.fileno(), buffer, 16)) >= 0:
                    done += 1
                    assert i % 2 or s.getpeername()[0] == "127.0.0.1", s.getpeername()
                else:
                    refused += 1; assert ctypes.get_errno() == errno.EACCES, ctypes.get_errno()
                if not i % 2: libc.connect(s.fileno(), bytes(16), 16)
            stop = True; thread.join()
            print("sum", "ok" if done + refused == rounds and done and refused else f"{done}/{refused}")
            """, self.port, rounds)
        self.assertEqual(results, {"sum": "ok"})
        inboxes[1].setblocking(False)
        with self.assertRaises(BlockingIOError):
            inboxes[1].recv(9)
        self.assertEqual(sum(e["count"] for e in self.network_events()), rounds)

    def test_a_flipped_descriptor_never_connects_the_socket_that_may_not(self):
        """One number stands for a datagram socket, which may, and for a stream socket, which may not, by turns."""
        rounds = int(os.environ.get("AASM_FLIP_ROUNDS", "3000"))
        inbox = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)  # else the kernel says that nobody is there
        self.addCleanup(inbox.close)
        inbox.bind(("127.0.0.1", self.other))
        self.write_policy(aasm_case.POLICY.format(read="") + NETWORK.format(port=self.other).replace("tcp", "udp"))
        results = self.attempts("""
            import ctypes, os, struct, threading
            Q, rounds = (int(a) for a in sys.argv[1:3])
            libc = ctypes.CDLL(None, use_errno=True)
            name = struct.pack("<H", socket.AF_INET) + struct.pack(">H", Q) + bytes([127, 0, 0, 1]) + bytes(8)
            may, may_not = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), socket.socket()
            may_not.setblocking(False)
            flipped = os.dup(may.fileno())
            stop = False
            def flip():
                while not stop: os.dup2(may_not.fileno(), flipped); os.dup2(may.fileno(), flipped)
            sys.setswitchinterval(1e-6)
            thread = threading.Thread(target=flip, daemon=True); thread.start()
            done = refused = 0
            for i in range(rounds):
                # With a name sendto(2) of a stream socket would connect it (MSG_FASTOPEN).
                if (libc.sendto(flipped, b"x", 1, 0x20000000, name, 16) if i % 2 else libc.connect(flipped, name, 16)) >= 0: done += 1
                else: refused += 1; assert ctypes.get_errno() == errno.EACCES, ctypes.get_errno()
            stop = True; thread.join()
            print("sum", "ok" if done + refused == rounds and done and refused else f"{done}/{refused}")
            try: may_not.getpeername(); print("stream", "connected")
            except OSError as error: print("stream", errno.errorcode[error.errno])
            """, self.other, rounds)
        self.assertEqual(results, {"sum": "ok", "stream": "ENOTCONN"})
        self.assertFalse(self.reached(self.untouched))
        outcomes = {(e["object"]["protocol"], e["outcome"]) for e in self.network_events()}
        self.assertEqual(outcomes, {("udp", "allowed"), ("tcp", "denied")})
        self.assertEqual(sum(e["count"] for e in self.network_events()), rounds)

    def test_tools_work_against_what_is_allowed(self):
        root = self.root / "www"
        root.mkdir()
        (root / "file").write_text("served\n")
        env = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
        subprocess.run("git init -q r && cd r && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one && "
                       "git clone -q --bare . ../r.git && cd ../r.git && git update-server-info",
                       shell=True, cwd=root, env=env, check=True)
        port = free_port()
        server = subprocess.Popen([sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1", "--directory",
                                   str(root)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        self.wait_for(lambda: self.answers(port), "the server")
        self.write_policy(aasm_case.POLICY.format(read="") + NETWORK.format(port=port))
        tools = 0
        if shutil.which("curl"):
            tools += 1
            done = self.sh(f"curl -sS http://127.0.0.1:{port}/file; curl -sS http://127.0.0.1:{self.other}/; exit 0")
            self.assertEqual(done.stdout, "served\n", done.stderr)
            self.assertIn("curl:", done.stderr)
        if shutil.which("git") and pathlib.Path("/usr/lib/git-core/git-remote-http").exists():
            tools += 1
            done = self.sh(f"git clone -q http://127.0.0.1:{port}/r.git out && git -C out log --format=%s")
            self.assertEqual(done.stdout, "one\n", done.stderr)
        if not tools:
            self.skipTest("neither curl nor git's http transport is here")


class Files(NetworkCase):
    # The second layer, which is about sockets and signals, would else refuse every move between directories.
    def test_files_are_linked_and_moved_between_directories_as_where_the_network_is_not_stated(self):
        results = self.attempts("""
            import os
            os.makedirs("a/b"); open("a/b/one", "w").close()
            attempt("rename", lambda: os.rename("a/b/one", "two"))
            attempt("link", lambda: os.link("two", "a/three"))
            attempt("folder", lambda: os.rename("a/b", "c"))
            attempt("outside", lambda: os.rename("two", sys.argv[1] + "/two"))
            attempt("gained", lambda: os.link("/usr/bin/env", "env"))
            """, self.outside)
        self.assertEqual((results["rename"], results["link"], results["folder"]), ("ok", "ok", "ok"))
        self.assertNotEqual(results["outside"], "ok")
        self.assertNotEqual(results["gained"], "ok")


class Sends(NetworkCase):
    def test_sendmsg_and_sendmmsg_on_connected_sockets_send_all_of_it(self):
        self.attempts("""
            import array, ctypes, os, threading
            a, b = socket.socketpair()
            r, w = os.pipe()
            socket.send_fds(a, [b"fd"], [w])
            data, fds, _, _ = socket.recv_fds(b, 8, 2); os.write(fds[0], b"!"); assert os.read(r, 1) == b"!"
            big = os.urandom(3 << 20); got = bytearray()
            def drain():
                while len(got) < len(big): got.extend(b.recv(1 << 16))
            thread = threading.Thread(target=drain); thread.start()
            assert a.sendmsg([big[:7], big[7:100000], big[100000:]]) == len(big); thread.join(); assert bytes(got) == big
            u, v = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
            class Iov(ctypes.Structure): _fields_ = [("base", ctypes.c_char_p), ("size", ctypes.c_size_t)]
            class Msg(ctypes.Structure):
                _fields_ = [("name", ctypes.c_void_p), ("namelen", ctypes.c_int), ("iov", ctypes.POINTER(Iov)),
                            ("iovlen", ctypes.c_size_t), ("control", ctypes.c_void_p), ("controllen", ctypes.c_size_t),
                            ("flags", ctypes.c_int), ("pad", ctypes.c_int), ("length", ctypes.c_uint)]
            iovs = [Iov(b"x" * n, n) for n in (1, 20, 300)]
            msgs = (Msg * 3)(*[Msg(None, 0, ctypes.pointer(i), 1) for i in iovs])
            assert ctypes.CDLL(None).sendmmsg(u.fileno(), msgs, 3, 0) == 3
            assert [m.length for m in msgs] == [1, 20, 300]
            assert [len(v.recv(999)) for _ in range(3)] == [1, 20, 300]
            """)
        self.assertEqual(self.network_events(), [])

    def test_sigpipe_comes_as_from_the_kernel(self):
        done = self.python("import signal, socket\nsignal.signal(signal.SIGPIPE, signal.SIG_DFL)\n"
                           "a, b = socket.socketpair(); b.close()\n"
                           "try: a.sendmsg([b'x'], [], socket.MSG_NOSIGNAL)\nexcept BrokenPipeError: print('EPIPE', flush=True)\n"
                           "a.sendmsg([b'x'])\nprint('alive')\n")
        self.assertEqual((done.stdout, done.returncode), ("EPIPE\n", 128 + signal.SIGPIPE), done.stderr)

    # What a name leads to is what is meant, whoever spells it.
    def test_unix_sockets_work_by_every_name_of_the_callers(self):
        results = self.attempts("""
            import os
            os.mkdir("d"); os.umask(0o077)
            s = socket.socket(socket.AF_UNIX); s.bind("d/s"); s.listen(8)
            assert os.stat("d/s").st_mode & 0o777 == 0o700
            os.symlink("d/s", "l")
            def to(name):
                with socket.socket(socket.AF_UNIX) as c: c.connect(name)
            attempt("relative", lambda: to("./d/../d/s"))
            attempt("link", lambda: to("l"))
            attempt("absolute", lambda: to(os.path.abspath("l")))
            attempt("missing", lambda: to("nothing"))
            attempt("proc", lambda: to("/proc/self/cwd/l"))
            os.chdir("d"); attempt("moved", lambda: to("s"))
            x = socket.socket(socket.AF_UNIX); x.bind("\\0aasm-test-%d" % os.getpid()); x.listen(1)
            attempt("abstract", lambda: to(x.getsockname()))
            d = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); d.bind("g")
            e = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); e.sendto(b"abc", "g"); assert d.recv(9) == b"abc"
            """)
        self.assertEqual(results.pop("missing"), "ENOENT")
        self.assertEqual(set(results.values()), {"ok"}, results)


class Hostile(NetworkCase):
    def test_calls_of_random_words_are_answered_and_recorded(self):
        """Pointers, lengths and flags of any kind, while a timer interrupts; the kernel's own answers are the measure."""
        results = self.attempts("""
            import collections, ctypes, os, random, signal, struct
            libc = ctypes.CDLL(None, use_errno=True)
            libc.syscall.restype = ctypes.c_long
            libc.syscall.argtypes = [ctypes.c_long] * 7
            random.seed(int(sys.argv[2]))
            page = ctypes.create_string_buffer(65536); base = ctypes.addressof(page)
            signal.signal(signal.SIGALRM, lambda *_: None); signal.setitimer(signal.ITIMER_REAL, 0.01, 0.003)
            signal.signal(signal.SIGPIPE, signal.SIG_IGN)
            pairs = [socket.socketpair(socket.AF_UNIX, t) for t in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET)]
            socks = [socket.socket(f, t) for f in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX)
                     for t in (socket.SOCK_STREAM, socket.SOCK_DGRAM)] + [socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)]
            fds = [s.fileno() for pair in pairs for s in pair] + [s.fileno() for s in socks] + [0, 99, -1]
            for pair in pairs:
                for s in pair: s.setblocking(False)
            def word(): return random.choice([0, 1, 2, 16, 28, 56, 110, 128, 129, 4096, 1 << 31, -1, 1 << 63 - 1,
                                              base + random.randrange(65536), base + 65530, 0x1000, 0x7FFFFFFFF000])
            def scribble():
                for _ in range(40):
                    at = random.randrange(0, 65528, 8)
                    value = random.choice([word(), struct.unpack("<q", struct.pack("<HHI", random.choice([0, 1, 2, 10, 16]),
                                           random.randrange(65536), random.choice([0, 0x100007F, 0xFFFFFFFF])))[0],
                                           1 | 1 << 32, 1 | 2 << 32, random.choice(fds)])
                    page[at:at + 8] = struct.pack("<q", ctypes.c_long(value).value)
            seen = collections.Counter()
            for i in range(int(sys.argv[3])):
                if i % 8 == 0: scribble()
                nr = random.choice([42, 49, 50, 44, 46, 307])
                args = [random.choice(fds)] + [word() for _ in range(5)]
                if nr == 307: args[2] = random.choice([0, 1, 3, 2000])
                if nr in (46, 307): args[1] = base + 8 * random.randrange(8000)
                if nr == 44: args[3] = random.choice([0x40, 0x4040, 0x20000040])
                if nr == 46: args[2] = random.choice([0x40, 0x4040, 0x20000040, -1])
                if nr == 307: args[3] = 0x40
                result = libc.syscall(nr, *(ctypes.c_long(a).value for a in args))
                seen[ctypes.get_errno() if result < 0 else 0] += 1
                for s in (p for pair in pairs for p in pair):
                    try: s.recv(65536)
                    except OSError: pass
            signal.setitimer(signal.ITIMER_REAL, 0)
            s = socket.create_connection(("127.0.0.1", int(sys.argv[1]))); s.sendall(b"x"); assert s.recv(1) == b"X"
            print("kinds", "ok" if len(seen) > 8 and 512 not in seen else dict(seen))
            """, self.port, os.environ.get("AASM_SEED", "7"), os.environ.get("AASM_RANDOM_CALLS", "3000"))
        self.assertEqual(results, {"kinds": "ok"})
        self.assert_verified()

    def test_a_flipped_name_of_a_message_never_leads_to_the_denied_socket(self):
        rounds = int(os.environ.get("AASM_FLIP_ROUNDS", "3000"))
        inboxes = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
        for one in inboxes:
            one.bind(("127.0.0.1", 0))
            self.addCleanup(one.close)
        allowed, denied = (one.getsockname()[1] for one in inboxes)
        self.write_policy(aasm_case.POLICY.format(read="") + NETWORK.format(port=allowed).replace("tcp", "udp"))
        results = self.attempts("""
            import ctypes, struct, threading
            ports, rounds = [int(a) for a in sys.argv[1:3]], int(sys.argv[3])
            libc = ctypes.CDLL(None, use_errno=True)
            names = [ctypes.create_string_buffer(struct.pack("<H", 2) + struct.pack(">H", p) + bytes([127, 0, 0, 1]) + bytes(8), 16)
                     for p in ports]
            byte = ctypes.create_string_buffer(b"x", 1)
            iov = (ctypes.c_ulong * 2)(ctypes.addressof(byte), 1)
            header = (ctypes.c_ulong * 8)(ctypes.addressof(names[0]), 16, ctypes.addressof(iov), 1)
            stop = False
            def flip():
                good, bad = (ctypes.addressof(n) for n in names)
                while not stop: header[0] = bad; header[0] = good
            sys.setswitchinterval(1e-6)
            thread = threading.Thread(target=flip); thread.start()
            s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            done = refused = 0
            for i in range(rounds):
                result = libc.sendmsg(s.fileno(), header, 0) if i % 2 else libc.sendmmsg(s.fileno(), header, 1, 0)
                if result == 1: done += 1
                else: refused += 1; assert ctypes.get_errno() == errno.EACCES, ctypes.get_errno()
            stop = True; thread.join()
            print("sum", "ok" if done and refused else f"{done}/{refused}")
            """, allowed, denied, rounds)
        self.assertEqual(results, {"sum": "ok"})
        inboxes[1].setblocking(False)
        with self.assertRaises(BlockingIOError):
            inboxes[1].recv(9)
        self.assertEqual(sum(e["count"] for e in self.network_events()), rounds)


class Credentials(NetworkCase):
    @unittest.skipUnless(os.geteuid() == 0, "only root can become somebody else")
    def test_a_call_is_made_with_the_rights_the_caller_has_left(self):
        self.write_policy(aasm_case.POLICY.format(read="") +
                          "  network: { egress: [], bind: { allow: ['127.0.0.1:71', '127.0.0.1:72'] } }\n")
        results = self.attempts("""
            import os, struct
            def bind(port): socket.socket().bind(("127.0.0.1", port))
            def peer(name):
                s = socket.socket(socket.AF_UNIX); s.bind(name); s.listen(1)
                c = socket.socket(socket.AF_UNIX); c.connect(name)
                return struct.unpack("iii", s.accept()[0].getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
            os.chmod(".", 0o777); os.mkdir("closed", 0o700)
            hidden = socket.socket(socket.AF_UNIX); hidden.bind("closed/s"); hidden.listen(1)
            os.chmod("closed/s", 0o777)
            attempt("low", lambda: bind(71))
            assert peer("root")[1:] == (0, 0)
            os.setgroups([]); os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534)
            attempt("dropped", lambda: bind(72))
            assert peer("nobody")[1:] == (65534, 65534)
            attempt("closed", lambda: socket.socket(socket.AF_UNIX).connect("closed/s"))
            attempt("other", lambda: bind(73))
            """)
        self.assertEqual(results, {"low": "ok", "dropped": "EACCES", "closed": "EACCES", "other": "EACCES"})
        outcomes = {e["object"]["port"]: (e["outcome"], e["errno"], e["mechanism"]) for e in self.network_events()}
        self.assertEqual(outcomes, {71: ("allowed", 0, "broker"), 72: ("allowed", 13, "broker"),
                                    73: ("denied", 13, "seccomp_user_notification")})


class Broker(NetworkCase):
    def test_the_program_can_neither_signal_nor_trace_nor_stop_its_broker(self):
        self.attempts("""
            import ctypes, os
            def name(pid):
                try: return open(f"/proc/{pid}/comm").read().strip()
                except OSError: return ""
            [broker] = [int(p) for p in os.listdir("/proc") if p.isdigit() and name(p) == "aasm-broker"
                        and f"PPid:\\t{os.getppid()}\\n" in open(f"/proc/{p}/status").read()]
            for sig in (0, 9, 19):
                try: os.kill(broker, sig); print("signal", sig)
                except PermissionError: pass
            for name in ("mem", "environ", "maps", "fd/0"):
                try: open(f"/proc/{broker}/{name}").read(1); print("read", name)
                except (PermissionError, FileNotFoundError): pass
            s = socket.create_connection(("127.0.0.1", int(sys.argv[1]))); s.sendall(b"x"); assert s.recv(1) == b"X"
            """, self.port)

    def test_the_brokers_death_ends_the_run_as_evidence_failure(self):
        process = self.start("/usr/bin/python3", "-c", "import time; print('up', flush=True); time.sleep(60)")
        self.assertEqual(process.stdout.readline(), "up\n")
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        pids = {pid for child in children
                for pid in pathlib.Path(f"/proc/{child}/task/{child}/children").read_text().split()}
        [broker] = [int(p) for p in pids if pathlib.Path(f"/proc/{p}/comm").read_text() == "aasm-broker\n"]
        os.kill(broker, signal.SIGKILL)
        _, errors = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 122)
        [exited] = self.bodies("process.exited")
        self.assertEqual(exited["cause"], "evidence_failure")
        [closed] = self.bodies("run.closed")
        self.assertEqual(closed["ending"], "evidence_failure")
        self.assertIn("decision channel failed, broker: ", closed["detail"])
        self.assertIn(closed["detail"], errors)
        self.assertNotIn("make room", errors)

    # Case 39.
    def test_descriptors_of_supervisor_and_broker_stay_flat(self):
        process = self.start("/usr/bin/python3", "-c", textwrap.dedent(f"""
            import socket, struct, sys
            for i in range(1500):
                s = socket.socket(); s.connect(("127.0.0.1", {self.port}))
                s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)); s.close()
                t = socket.socket(); t.connect_ex(("127.0.0.1", {self.other})); t.close()
                if i in (99, 1499): print(i, flush=True); sys.stdin.readline()
            """), stdin=subprocess.PIPE)
        counts = []
        for _ in range(2):
            self.assertTrue(process.stdout.readline())
            counts.append(len(os.listdir(f"/proc/{process.pid}/fd")))
            process.stdin.write("\n")
            process.stdin.flush()
        process.communicate(timeout=30)
        self.assertLessEqual(counts[1], counts[0] + 2, counts)

    # Of the field report 38 the calls on sockets: opens are not mediated.
    def test_without_descriptors_calls_are_refused_recorded_and_allowed_again_later(self):
        full = socket.socket()
        full.bind(("127.0.0.1", 0))
        full.listen(1)
        self.addCleanup(full.close)
        port = full.getsockname()[1]
        self.write_policy(aasm_case.POLICY.format(read="") + NETWORK.format(port=f"{port}, {self.port}"))
        done = self.run_exec("/usr/bin/python3", "-c", textwrap.dedent(f"""
            import errno, os, socket, threading, time
            def crowd():
                def one():
                    try: socket.socket().connect(("127.0.0.1", {port}))
                    except OSError as error: seen.add(error.errno)
                seen = set()
                threads = [threading.Thread(target=one, daemon=True) for _ in range(25)]
                for thread in threads: thread.start()
                for thread in threads: thread.join(0.1)
                os._exit(1 if seen - {{errno.EMFILE}} else 2 if seen else 0)
            pids = [os.fork() or crowd() for _ in range(8)]
            print(sorted({{os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids}}))
            time.sleep(0.5)
            print(socket.socket().connect_ex(("127.0.0.1", {self.port})), socket.socket().connect_ex(("127.0.0.1", {self.other})))
            """), preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (60, 60)))
        self.assertEqual(done.returncode, 0, done.stderr)
        crowded, after = done.stdout.splitlines()
        self.assertIn(crowded, ("[2]", "[0, 2]"), "nothing but EMFILE, and some of it")
        self.assertEqual(after, f"0 {errno.EACCES}")
        events = self.network_events()
        faults = [one for one in events if one["cause"] == "fault"]
        self.assertTrue(faults)
        self.assertEqual({one["executable"] for one in events if one["reply"] == "accepted" and one["pid"]}, {os.path.realpath("/usr/bin/python3")})
        self.assert_verified()


if __name__ == "__main__":
    aasm_case.main()
