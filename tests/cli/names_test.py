"""aasm run exec with `name_resolution` stated and nothing to look up: where lookups go is closed, and nothing else."""

import json
import socket
import unittest

import aasm_case

AGENT = r"""
import errno, json, socket, sys
def said(host, port, kind):
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, kind) as one:
        one.settimeout(5)
        try:
            if kind == socket.SOCK_DGRAM: one.sendto(b"query", (host, port))
            else: one.connect((host, port))
        except OSError as error:
            return errno.errorcode[error.errno]
    return "ok"
print(json.dumps([said(host, port, kind) for host, port, kind in json.loads(sys.argv[1])]))
"""


class Names(aasm_case.AasmCase):
    def setUp(self):
        super().setUp()
        self.server = socket.socket()
        self.addCleanup(self.server.close)
        self.server.bind(("127.0.0.1", 0))
        self.server.listen(8)
        self.port = self.server.getsockname()[1]

    def state(self, text):
        self.write_policy(aasm_case.POLICY.format(read="") + text)

    def tried(self, attempts):
        done = self.python(AGENT, json.dumps(attempts))
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def network_events(self):
        return [event for event in self.events() if event["domain"] in ("name_resolution", "network_egress")]

    def test_ports_of_resolvers_are_closed_and_recorded_and_no_other(self):
        self.state("  name_resolution: { allow: [] }\n")
        datagram, stream = int(socket.SOCK_DGRAM), int(socket.SOCK_STREAM)
        closed = [("127.0.0.1", 53, datagram), ("127.0.0.1", 53, stream), ("::ffff:127.0.0.53", 53, datagram),
                  ("127.0.0.1", 853, stream), ("127.0.0.1", 5353, datagram), ("127.0.0.1", 5355, datagram),
                  ("127.0.0.1", 137, datagram)]
        self.assertEqual(self.tried([*closed, ("127.0.0.1", self.port, stream), ("127.0.0.1", 54, datagram)]),
                         ["EACCES"] * len(closed) + ["ok", "ok"])
        events = self.network_events()
        self.assertEqual({(event["domain"], event["operation"], event["outcome"], event["rule"]) for event in events},
                         {("name_resolution", "resolve", "denied", "name_resolution.allow")})
        self.assertEqual({(event["object"]["address"], event["object"]["port"], event["object"]["protocol"]) for event in events},
                         {(host.replace("::ffff:", ""), port, "udp" if kind == datagram else "tcp") for host, port, kind in closed})
        claim = self.claims()["name_resolution"]
        self.assertEqual((claim["claim"], claim["denied_actions"], claim["boundary"]),
                         ("denied_before_execution", len(closed), "proved"))
        self.assert_verified()

    def test_a_rule_that_names_the_port_opens_it_and_leaves_the_others_closed(self):
        self.state("  network: { egress: [{host: 127.0.0.1, ports: [53], protocol: udp}] }\n  name_resolution: { allow: [] }\n")
        datagram, stream = int(socket.SOCK_DGRAM), int(socket.SOCK_STREAM)
        self.assertEqual(self.tried([("127.0.0.1", 53, datagram), ("127.0.0.1", 53, stream), ("127.0.0.2", 53, datagram)]),
                         ["ok", "EACCES", "EACCES"])
        self.assertEqual({(event["domain"], event["outcome"]) for event in self.network_events()},
                         {("network_egress", "allowed"), ("network_egress", "denied")})

    def test_a_resolver_on_loopback_gets_no_question(self):
        """Half of the field report 50: also where the program may bind what it likes."""
        resolver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(resolver.close)
        try:
            resolver.bind(("127.0.0.77", 53))
        except PermissionError:
            self.skipTest("port 53 takes root")
        resolver.settimeout(0.2)
        self.state("  network: { bind: { allow: ['127.0.0.1:8080'] } }\n  name_resolution: { allow: [] }\n")
        self.assertEqual(self.tried([("127.0.0.77", 53, int(socket.SOCK_DGRAM))]), ["EACCES"])
        with self.assertRaises(TimeoutError):
            resolver.recv(512)


if __name__ == "__main__":
    unittest.main()
