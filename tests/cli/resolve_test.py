"""Names: asked of the supervisor's resolver, reached by what it gave out, refused and recorded else."""

import errno
import json
import os
import shutil
import subprocess
import textwrap
import time
import unittest

import name_world

if __name__ == "__main__":
    name_world.enter()

import aasm_case  # noqa: E402
from name_world import HERE, NAMES, NAMES6, WEB, WEB6  # noqa: E402

LISTED = "  network: { allowlist: ['api.example.test:80', 'alias.example.test:80', 'chase.example.test:80', '*.wild.test:80', " \
         "'loop.example.test:80', 'big.example.test:80', 'filed.example.test:80', 'dead.example.test:80', '*.bad.test:80'] }\n"

# How resolvers ask. Each prints what it learned.
ASK = """
import errno, socket, struct, sys, time
def question(name, kind=1, number=7, more=b"", count=0):
    labels = b"".join(bytes([len(l)]) + l.encode("latin-1") for l in name.split(".")) + b"\\0"
    return struct.pack(">HHHHHH", number, 0x0100, 1, 0, 0, count) + labels + struct.pack(">HH", kind, 1) + more
def reading(reply):
    flags, _, answers = struct.unpack(">HHH", reply[2:8])
    return {"rcode": flags & 15, "truncated": bool(flags & 0x200), "answers": answers, "id": struct.unpack(">H", reply[:2])[0]}
def datagram(name, server, kind=1, **more):
    s = socket.socket(socket.AF_INET6 if ":" in server else socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(5)
    s.sendto(question(name, kind, **more), (server, 53))
    reply, peer = s.recvfrom(4096)
    assert peer[:2] == (server, 53), peer
    return reply
"""


def setUpModule():
    global WORLD
    WORLD = name_world.World()


def tearDownModule():
    WORLD.close()


class ResolveCase(aasm_case.AasmCase):
    def setUp(self):
        super().setUp()
        self.state(LISTED)
        WORLD.questions()

    def state(self, statements):
        self.write_policy(aasm_case.POLICY.format(read="") + statements)

    def says(self, script, *args):
        done = self.python(ASK + textwrap.dedent(script), *map(str, args))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout.splitlines()

    def lookups(self):
        return [e for e in self.events() if e["domain"] == "name_resolution"]

    def connects(self):
        return [e for e in self.events() if e["domain"] == "network_egress"]


class Allowed(ResolveCase):
    def test_an_allowed_name_is_looked_up_and_reached_and_both_are_on_record(self):
        lines = self.says("""
            import urllib.request
            print(sorted(a[4][0] for a in socket.getaddrinfo("api.example.test", 80, proto=6)))
            print(urllib.request.urlopen("http://api.example.test/", timeout=5).read())
            for family in (socket.AF_INET, socket.AF_INET6):
                s = socket.socket(family); s.settimeout(5)
                s.connect(socket.getaddrinfo("api.example.test", 80, family)[0][4])
            """)
        self.assertEqual(lines, [str(sorted([WEB6, WEB])), r"b'served\n'"])
        self.assertTrue(set(WORLD.questions()) <= {"udp 1 api.example.test", "udp 28 api.example.test"})
        given = {(e["object"]["query"], *e["object"]["answers"], e["object"]["name"], e["outcome"], e["rule"])
                 for e in self.lookups()}
        self.assertEqual(given, {("A", WEB, "api.example.test", "allowed", "network.allowlist[0]"),
                                 ("AAAA", WEB6, "api.example.test", "allowed", "network.allowlist[0]")})
        reached = {(e["object"]["address"], e["object"]["name"], e["rule"], e["outcome"]) for e in self.connects()
                   if e["object"]["protocol"] == "tcp"}
        self.assertEqual(reached, {(WEB, "api.example.test", "network.allowlist[0]", "allowed"),
                                   (WEB6, "api.example.test", "network.allowlist[0]", "allowed")})
        self.assertEqual({e["executable"] for e in self.lookups()}, {os.path.realpath("/usr/bin/python3")})
        self.assertEqual(self.claims()["name_resolution"]["boundary"], "proved")
        self.assert_verified()

    def test_aliases_suffixes_the_file_of_hosts_and_search_domains(self):
        lines = self.says("""
            for name in ("alias.example.test", "chase.example.test", "x.wild.test", "filed.example.test", "api", "API.Example.Test"):
                found = socket.getaddrinfo(name, 80, socket.AF_INET, socket.SOCK_STREAM)[0][4]
                with socket.create_connection(found, timeout=5): print(name, found[0])
            """)
        self.assertEqual(lines, [f"{name} {WEB}" for name in ("alias.example.test", "chase.example.test", "x.wild.test",
                                                              "filed.example.test", "api", "API.Example.Test")])
        self.assertNotIn("filed.example.test", " ".join(WORLD.questions()))
        self.assert_verified()

    def test_what_does_not_fit_goes_over_tcp_on_both_sides(self):
        lines = self.says("""
            print(len({a[4][0] for a in socket.getaddrinfo("big.example.test", 80, socket.AF_INET)}))
            print(reading(datagram("big.example.test", "%s")))
            opt = b"\\0" + struct.pack(">HHIH", 41, 4096, 0, 0)
            print(reading(datagram("big.example.test", "%s", more=opt, count=1)))
            """ % (NAMES, NAMES))
        self.assertEqual(lines[0], "59")
        self.assertIn("'truncated': True, 'answers': 0", lines[1])
        self.assertIn("'truncated': False, 'answers': 59", lines[2])
        self.assertIn("tcp 1 big.example.test", WORLD.questions())
        self.assertEqual({len(e["object"]["answers"]) for e in self.lookups() if e["object"]["query"] == "A"}, {59})

    def test_the_c_library_node_and_the_patterns_of_other_resolvers_accept_the_answers(self):
        getent = self.run_exec("getent", "ahostsv4", "api.example.test")
        self.assertIn(WEB, getent.stdout, getent.stderr)
        if shutil.which("node"):
            done = self.run_exec("node", "-e", textwrap.dedent("""
                const dns = require('dns');
                dns.setServers(['%s']);
                dns.lookup('api.example.test', 4, (e, a) => { console.log('lookup', e ? e.code : a);
                dns.resolve4('api.example.test', {ttl: true}, (e, a) => { console.log('resolve4', e ? e.code : JSON.stringify(a));
                dns.resolve6('api.example.test', (e, a) => { console.log('resolve6', e ? e.code : JSON.stringify(a));
                dns.resolve4('evil.example.test', (e, a) => { console.log('evil', e ? e.code : a); }); }); }); });
                """ % NAMES))
            self.assertEqual(done.stdout.splitlines(), [f"lookup {WEB}", 'resolve4 [{"address":"%s","ttl":120}]' % WEB,
                                                        'resolve6 ["%s"]' % WEB6, "evil ENOTFOUND"], done.stderr)
        lines = self.says("""
            import ctypes
            servers = [("%s", 53), ("%s", 53)]
            # musl: one socket of no peer, sendto(2), recvmsg(2), and who answers has to be whom was asked
            s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(("", 0)); s.settimeout(5)
            s.sendto(question("api.example.test"), servers[0])
            reply, _, flags, peer = s.recvmsg(512)
            print("musl", reading(reply)["answers"], flags, peer == servers[0])
            # c-ares, glibc: connected, send(2), recvfrom(2)
            c = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); c.connect(servers[0]); c.setblocking(False)
            c.send(question("api.example.test"))
            import select; select.select([c], [], [], 5)
            reply, peer = c.recvfrom(512); print("c-ares", reading(reply)["answers"], peer == servers[0], c.getpeername() == servers[0])
            # Go: read(2) and write(2); waits in the call
            g = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); g.connect(servers[0])
            import os; os.write(g.fileno(), question("api.example.test")); print("go", reading(os.read(g.fileno(), 512))["answers"])
            # one that waits in recvfrom(2), and one over IPv6
            w = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); w.sendto(question("api.example.test"), servers[0])
            print("waits", w.recvfrom(512)[1] == servers[0])
            print("v6", reading(datagram("api.example.test", servers[1][0], 28))["answers"])
            # a mapped address
            m = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM); m.settimeout(5)
            m.sendto(question("api.example.test"), ("::ffff:%s", 53)); print("mapped", m.recvfrom(512)[1][0])
            # TCP, two questions in one segment
            t = socket.create_connection(servers[0], timeout=5)
            q = question("api.example.test"); t.sendall((struct.pack(">H", len(q)) + q) * 2)
            got = b""
            while len(got) < 2 * (2 + len(q) + 16): got += t.recv(4096)
            print("tcp", reading(got[2:])["answers"], t.getpeername() == servers[0])
            # a receive timeout is the socket's own
            r = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); r.connect(servers[0])
            r.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 0, 200000))
            try: r.recvfrom(9)
            except BlockingIOError: print("timeout")
            """ % (NAMES, NAMES6, NAMES))
        self.assertEqual(lines, ["musl 1 0 True", "c-ares 1 True True", "go 1", "waits True", "v6 1",
                                 f"mapped ::ffff:{NAMES}", "tcp 1 True", "timeout"])

    def test_other_sockets_receive_as_without_a_boundary(self):
        lines = self.says("""
            import os, signal, threading
            a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
            a.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("i", 1))])
            data, control, _, _ = b.recvmsg(9, 64); print(data, len(control))
            class Rang(Exception): pass
            def ring(*_): raise Rang
            signal.signal(signal.SIGALRM, ring)
            for one in (b, None):
                if one is None:
                    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); one.connect(("%s", 53))
                signal.setitimer(signal.ITIMER_REAL, 0.2)
                try: one.recvfrom(9)
                except Rang: print("rang")
            """ % NAMES)
        self.assertEqual(lines, ["b'x' 1", "rang", "rang"])


class Refused(ResolveCase):
    # Case 50.
    def test_a_name_that_is_not_allowed_costs_no_packet_and_no_time(self):
        begin = time.monotonic()
        lines = self.says("""
            begin = time.monotonic()
            for name in ("evil.example.test", "api.example.test.evil.test", "wild.test", "x" * 60 + ".evil.test"):
                try: print(socket.getaddrinfo(name, 80))
                except socket.gaierror as error: print(error.errno == socket.EAI_NONAME)
            print(reading(datagram("data.evil.test", "%s", 16)))
            print(reading(datagram("data.evil.test", "9.9.9.9"))["rcode"], reading(datagram("data.evil.test", "127.0.0.1"))["rcode"])
            t = socket.create_connection(("8.8.8.8", 53), timeout=5); q = question("tcp.evil.test")
            t.sendall(struct.pack(">H", len(q)) + q); print(reading(t.recv(4096)[2:])["rcode"])
            print(time.monotonic() - begin < 3)
            """ % NAMES)
        self.assertEqual(lines, ["True"] * 4 + ["{'rcode': 3, 'truncated': False, 'answers': 0, 'id': 7}", "3 3", "3", "True"])
        self.assertEqual(WORLD.questions(), [])
        denied = [e for e in self.lookups() if e["outcome"] == "denied"]
        self.assertEqual({(e["operation"], e["cause"], e["rule"], e["errno"], e["mechanism"]) for e in denied},
                         {("resolve", "policy", "network.allowlist", 13, "resolver")})
        self.assertTrue({"evil.example.test", "data.evil.test", "tcp.evil.test"} <= {e["object"]["name"] for e in denied})
        claim = self.claims()["name_resolution"]
        self.assertEqual((claim["claim"], claim["basis"]), ("denied_before_execution", "decision"))
        self.assertEqual(claim["denied_actions"], sum(e["count"] for e in denied))
        self.assert_verified()
        self.assertLess(time.monotonic() - begin, 20)

    # Case 51.
    def test_a_name_leads_to_no_address_but_public_ones_of_others(self):
        names = [name for name in name_world.ZONE if name.endswith(".bad.test")]
        lines = self.says("""
            for name in sys.argv[1:] + ["evil.localhost", "localhost"]:
                for family in (socket.AF_INET, socket.AF_INET6):
                    try: found = socket.getaddrinfo(name, 80, family, socket.SOCK_STREAM)
                    except socket.gaierror: continue
                    for _, _, _, _, address in found:
                        with socket.socket(family) as s:
                            s.settimeout(3)
                            try: s.connect(address); print(name, address[0], "reached")
                            except PermissionError: print(name, address[0])
            """, *names)
        self.assertEqual([line for line in lines if "reached" in line], [])
        self.assertGreater(len(lines), 10)
        classes = {e["object"]["address_class"] for e in self.connects() if e["outcome"] == "denied"}
        self.assertTrue({"loopback", "metadata", "private", "link_local", "public"} <= classes, classes)
        self.assertEqual({e["rule"] for e in self.connects() if e["outcome"] == "denied"}, {"network.allowlist"})
        self.assert_verified()

    def test_an_address_is_reached_by_a_name_only_after_it_was_given_and_only_at_its_port(self):
        lines = self.says("""
            def reach(port):
                with socket.socket() as s:
                    s.settimeout(3)
                    try: s.connect(("%s", port)); return "reached"
                    except OSError as error: return error.errno
            print(reach(80)); socket.getaddrinfo("api.example.test", 80); print(reach(80), reach(81))
            u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            try: u.sendto(b"x", ("%s", 80)); print("udp")
            except PermissionError: print("no udp")
            u.connect(("%s", 80)); print(u.getsockname()[0])
            try: print(u.getpeername())
            except OSError as error: print(error.errno == errno.ENOTCONN)
            try: u.send(b"x"); u.send(b"x")
            except OSError as error: print(type(error).__name__)
            """ % (WEB, WEB, WEB))
        self.assertEqual(lines[:5], ["13", "reached 13", "no udp", HERE, "True"])
        self.assertNotIn("datagram", WORLD.questions())
        self.assertIn(("emulated", "compat.source_address"), {(e["outcome"], e["rule"]) for e in self.connects()})

    def test_the_c_library_puts_addresses_in_order_without_a_denial(self):
        lines = self.says("""
            socket.getaddrinfo("api.example.test", 80)
            print([a[4][0] for a in socket.getaddrinfo("api.example.test", 80, proto=6)])
            """)
        self.assertEqual(lines, [str([WEB6, WEB])])
        self.assertEqual([e for e in self.connects() if e["outcome"] == "denied"], [])

    def test_an_address_that_egress_allows_is_reached_whatever_name_led_there(self):
        self.state("  network: { egress: [{host: 10.1.2.0/24, ports: [80]}] }\n  name_resolution: { allow: ['*.bad.test'] }\n")
        lines = self.says("""
            s = socket.socket(); s.settimeout(1)
            try: s.connect((socket.gethostbyname("private.bad.test"), 80))
            except OSError as error: print(type(error).__name__)
            """)
        self.assertNotEqual(lines, ["PermissionError"])
        [event] = [e for e in self.connects() if e["object"].get("address") == "10.1.2.3"]
        self.assertEqual((event["outcome"], event["rule"]), ("allowed", "network.egress[0].ports[0]"))

    # Case 54.
    def test_a_dead_name_server_is_known_to_be_inside_two_seconds(self):
        lines = self.says("""
            begin = time.monotonic()
            try: print(socket.getaddrinfo("dead.example.test", 80))
            except socket.gaierror: print("failed")
            took = time.monotonic() - begin
            print(1 < took < 4 or took)
            print(socket.gethostbyname("api.example.test"))
            """)
        self.assertEqual(lines, ["failed", "True", WEB])
        self.assertEqual({e["errno"] for e in self.lookups() if e["object"]["name"] == "dead.example.test"}, {110})

    def test_what_is_no_question_for_an_address_stays_here(self):
        lines = self.says("""
            print(reading(datagram("api.example.test", "%s", 16)), reading(datagram("loop.example.test", "%s"))["rcode"])
            opt = lambda version: b"\\0" + struct.pack(">HHIH", 41, 1232, version << 16, 0)
            print(reading(datagram("api.example.test", "%s", more=opt(1), count=1))["rcode"])
            blocked = datagram("evil.test", "%s", more=opt(0), count=1)
            print(blocked[-6:])
            for message in (b"x" * 40, question("api.example.test") + b"secret", question("api.example.test", more=opt(0)),
                            question("api.example.test")[:20], b"\\0" * 12):
                s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(1); s.sendto(message, ("%s", 53))
                try: print(reading(s.recvfrom(512)[0])["rcode"])
                except TimeoutError: print("none")
            t = socket.create_connection(("%s", 53)); t.sendall(struct.pack(">H", 1025)); assert t.recv(9) == b""
            """ % ((NAMES,) * 6))
        self.assertEqual(lines[:3], ["{'rcode': 0, 'truncated': False, 'answers': 0, 'id': 7} 2", "0", str(b"\0\x0f\0\2\0\x0f")])
        self.assertEqual(set(lines[3:]) - {"none"}, {"1"})
        self.assertTrue({line.split()[2] for line in WORLD.questions()} <= {"loop.example.test"})
        rules = {(e["cause"], e["rule"], e["outcome"]) for e in self.lookups()}
        self.assertIn(("compat", "compat.query_type", "emulated"), rules)
        self.assertIn(("fault", "network.allowlist", "denied"), rules)
        # Another version of EDNS, five that are malformed, and one too long for anybody.
        self.assertEqual(sum(e["count"] for e in self.lookups() if e["cause"] == "fault"), 7)
        self.assert_verified()

    def test_what_a_program_asks_before_it_ends_is_on_record(self):
        for name, outcome in (("evil.test", "denied"), ("dead.example.test", "allowed"), ("api.example.test", "allowed")):
            for _ in range(5):
                self.says("""
                    import os
                    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.connect(("%s", 53))
                    s.send(question(sys.argv[1])); s.send(question(sys.argv[1])); os._exit(0)
                    """ % NAMES, name)
                asked = [(e["object"]["name"], e["outcome"], e["count"]) for e in self.lookups()]
                self.assertEqual(sum(count for *_, count in asked), 2, asked)
                self.assertEqual({one[:2] for one in asked}, {(name, outcome)})
        self.assert_verified()

    def test_questions_that_find_no_room_are_counted(self):
        """`send` on a connected socket is nobody's to hold up."""
        self.says("""
            s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.connect(("%s", 53))
            for i in range(20000): s.send(question("evil.test" if i %% 2 else "filed.example.test"))
            """ % NAMES)
        counts = {}
        for event in self.lookups():
            key = (event["object"]["type"], event["outcome"], event["cause"])
            counts[key] = counts.get(key, 0) + event["count"]
        self.assertEqual(set(counts), {("name", "allowed", "policy"), ("name", "denied", "policy"), ("socket", "denied", "fault")})
        self.assertEqual(sum(counts.values()), 20000, counts)
        [lost] = {(e["object"]["name"], e["errno"], e["pid"]) for e in self.lookups() if e["cause"] == "fault"}
        self.assertEqual(lost, ("questions that came faster than they were read", errno.ENOBUFS, 0))
        self.assert_verified()

    def test_a_question_by_a_socket_that_is_not_known_any_more_is_counted(self):
        self.says("""
            import resource
            resource.setrlimit(resource.RLIMIT_NOFILE, (2000, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
            sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(1030)]
            for s in sockets: s.connect(("%s", 53))
            for s in sockets[:3] + sockets[-1:]: s.send(question("evil.test"))
            """ % NAMES)
        counts = {}
        for event in self.lookups():
            counts[event["object"]["name"]] = counts.get(event["object"]["name"], 0) + event["count"]
        self.assertEqual(counts, {"evil.test": 1, "a question by a socket that newer ones took the place of": 3})

    # A sibling thread writes another name over the question while it is sent.
    def test_a_flipped_question_never_asks_for_the_other_name(self):
        rounds = int(os.environ.get("AASM_FLIP_ROUNDS", "3000"))
        lines = self.says("""
            import ctypes, threading
            libc = ctypes.CDLL(None, use_errno=True)
            good, bad = question("aaa.wild.test"), question("aaa.evil.test")
            buffer = ctypes.create_string_buffer(good, len(good)); stop = False
            def flip():
                place = ctypes.addressof(buffer)
                while not stop: ctypes.memmove(place, bad, len(bad)); ctypes.memmove(place, good, len(good))
            sys.setswitchinterval(1e-6)
            thread = threading.Thread(target=flip); thread.start()
            name = struct.pack("<H", 2) + struct.pack(">H", 53) + socket.inet_aton("%s") + bytes(8)
            s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            sent = 0
            for i in range(int(sys.argv[1])):
                sent += libc.sendto(s.fileno(), buffer, len(good), 0, name, 16) == len(good)
                if i %% 16 == 0:
                    s.settimeout(0.05)
                    try: s.recv(512)
                    except TimeoutError: pass
            stop = True; thread.join()
            print(sent)
            """ % NAMES, rounds)
        self.assertEqual(lines, [str(rounds)])
        asked = {line.split()[2] for line in WORLD.questions()}
        self.assertTrue(asked <= {"aaa.wild.test"}, asked)
        counts = {}
        for event in self.lookups():
            key = event["object"]["name"] if event["object"]["type"] == "name" else event["cause"]
            counts[key] = counts.get(key, 0) + event["count"]
        print(rounds, "questions:", counts)  # of a text that was read half written, the one or the other
        self.assertEqual(sum(counts.values()), rounds, counts)
        self.assertGreater(min(counts.get("aaa.wild.test", 0), counts.get("aaa.evil.test", 0)), 0, counts)
        self.assertEqual({e["outcome"] for e in self.lookups() if e["object"]["name"] != "aaa.wild.test"}, {"denied"})


class Planned(ResolveCase):
    def test_what_explain_says_of_names(self):
        self.state("  network: { allowlist: ['api.example.test:80', '*.wild.test'] }\n  name_resolution: { allow: [api.example.test] }\n")
        done = self.ok("policy", "explain", "--policy", self.policy, "--format", "json", "api.example.test:80", "x.wild.test",
                       "evil.test")
        answers = [(a["operation"], a["verdict"], a["rule"]) for one in json.loads(done.stdout)["objects"] for a in one["answers"]]
        self.assertEqual(answers, [("connect", "allowed", "network.allowlist[0]"), ("resolve", "allowed", "name_resolution.allow[0]"),
                                   ("connect", "denied", "name_resolution.allow"), ("resolve", "denied", "name_resolution.allow"),
                                   ("connect", "denied", "network.allowlist"), ("resolve", "denied", "name_resolution.allow")])

    def test_with_names_alone_stated_every_connection_is_open_and_lookups_are_decided(self):
        self.state("  name_resolution: { allow: ['*.wild.test'] }\n")
        lines = self.says("""
            print(socket.gethostbyname("x.wild.test"))
            try: socket.gethostbyname("api.example.test")
            except socket.gaierror: print("no")
            socket.create_connection(("%s", 80), timeout=5); print("open")
            try: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(("%s", 5353))
            except PermissionError: print("closed")
            """ % (WEB, NAMES))
        self.assertEqual(lines, [WEB, "no", "open", "closed"])
        self.assertEqual(WORLD.questions(), ["udp 1 x.wild.test"])
        self.assert_verified()


if __name__ == "__main__":
    aasm_case.main()
