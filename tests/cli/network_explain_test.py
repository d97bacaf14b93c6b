"""aasm policy explain HOST:PORT: what it says is what a connection meets, for every spelling of an address."""

import errno
import itertools
import json
import random
import socket
import unittest

import aasm_case

PAIRS = 300

# What is not loopback is only ever denied here, so that nothing leaves the host.
HOSTS = ("127.0.0.1", "127.0.0.2", "127.1.2.3", "0.0.0.0", "::1", "::", "::ffff:127.0.0.1", "::ffff:127.0.0.2",
         "::ffff:0.0.0.0", "::127.0.0.1", "10.1.2.3", "169.254.169.254", "::ffff:169.254.169.254", "192.0.2.7",
         "fd00:ec2::254", "2001:db8::1", "64:ff9b::7f00:1")
RULES = ("127.0.0.1", "127.0.0.0/8", "127.0.0.2/31", "::1", "::ffff:127.0.0.2", "127.1.0.0/16", "::/128")

AGENT = r"""
import errno, json, socket, sys
results = []
def sent(one, address):
    try: return 0 * one.sendto(b"x", address)
    except OSError as e: return e.errno
for host, port, protocol in json.load(open(sys.argv[1])):
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    kind = socket.SOCK_DGRAM if protocol == "udp" else socket.SOCK_STREAM
    with socket.socket(family, kind) as one:
        result = sent(one, (host, port)) if protocol == "udp" else one.connect_ex((host, port))
        results.append(errno.errorcode.get(result, "0"))
print(json.dumps(results))
"""


def spelled(host, port, protocol="tcp"):
    return (f"[{host}]:{port}" if ":" in host else f"{host}:{port}") + ("/udp" if protocol == "udp" else "")


def has_ipv6():
    try:
        socket.socket(socket.AF_INET6).close()
    except OSError:
        return False
    return True


class NetworkExplain(aasm_case.AasmCase):
    def setUp(self):
        super().setUp()
        self.listening = socket.socket()
        self.addCleanup(self.listening.close)
        self.listening.bind(("0.0.0.0", 0))
        self.listening.listen(256)
        port = self.listening.getsockname()[1]
        self.ports = [port, port + 1 if port < 65535 else port - 1]

    def state(self, rng):
        entries = [{"host": f"[{host}]" if ":" in host and "/" not in host else host,
                    "ports": rng.sample(self.ports, rng.randrange(1, 3)), "protocol": rng.choice(["tcp", "udp"])}
                   for host in rng.sample(RULES, rng.randrange(1, 4))]
        self.write_policy(aasm_case.POLICY.format(read="") + f"  network: {{ egress: {json.dumps(entries)} }}\n")
        return entries

    def explained(self, asked):
        done = self.ok("policy", "explain", "--policy", self.policy, "--format", "json", "--operation", "connect", *asked)
        return [one["answers"][0] for one in json.loads(done.stdout)["objects"]]

    def compare(self, seed):
        """How many of the pairs were allowed."""
        rng = random.Random(seed)
        entries = self.state(rng)
        pairs = [pair for pair in itertools.product(HOSTS, self.ports, ("tcp", "udp")) if ":" not in pair[0] or has_ipv6()]
        job = self.work / "job.json"
        job.write_text(json.dumps(pairs))
        met = json.loads(self.python(AGENT, str(job)).stdout)
        said = self.explained([spelled(*pair) for pair in pairs])
        allowed = 0
        for pair, result, answer in zip(pairs, met, said):
            refused = result == errno.errorcode[errno.EACCES]
            self.assertEqual(answer["verdict"], "denied" if refused else "allowed", (pair, result, entries, answer))
            self.assertEqual(answer["mechanism"], "seccomp_user_notification")
            allowed += not refused
        return allowed

    def test_what_is_said_of_an_address_is_what_happens(self):
        rounds = -(-PAIRS // (len(HOSTS) * len(self.ports) * 2))
        self.assertGreater(sum(self.compare(seed) for seed in range(rounds)), 10)
        self.assert_verified()

    def test_a_datagram_to_a_name_server_reaches_ours(self):
        self.write_policy(aasm_case.POLICY.format(read="") + "  network: { allowlist: [api.example.com] }\n")
        [answer] = self.explained(["192.0.2.53:53/udp"])
        self.assertEqual((answer["mechanism"], answer["record"]), ("resolver", "none"))
        self.assertIn("the supervisor's own resolver, which judges each name", answer["note"])

    def test_what_is_no_datagram_to_one_place_cannot_be_asked(self):
        self.write_policy()
        for asked in ("10.0.0.0/8:53/udp", "*:53/udp", "192.0.2.7:0/udp", "192.0.2.7:53/tcp"):
            done = self.aasm("policy", "explain", "--policy", self.policy, "--operation", "connect", asked)
            self.assertNotIn("seccomp_user_notification", done.stdout, asked)
        self.assertEqual(self.aasm("policy", "explain", "--policy", self.policy, "*:53/udp").returncode, 1)

    def test_names_are_reached_where_every_address_is_and_looked_up_nowhere(self):
        self.write_policy(aasm_case.POLICY.format(read="") +
                          "  network: { allowlist: ['*:8443'] }\n  name_resolution: { allow: [] }\n")
        done = self.ok("policy", "explain", "--policy", self.policy, "--format", "json", "a.example:8443", "a.example:80")
        answers = [(a["operation"], a["verdict"], a["rule"]) for one in json.loads(done.stdout)["objects"] for a in one["answers"]]
        self.assertEqual(answers, [("connect", "allowed", "network.allowlist[0]"), ("resolve", "denied", "name_resolution.allow"),
                                   ("connect", "denied", "network.allowlist"), ("resolve", "denied", "name_resolution.allow")])

    def test_an_address_of_the_allowlist_needs_no_name(self):
        port = self.listening.getsockname()[1]
        self.write_policy(aasm_case.POLICY.format(read="") + f"  network: {{ allowlist: ['127.0.0.1:{port}'] }}\n")
        done = self.python(f"import socket; socket.create_connection(('127.0.0.1', {port})); print('connected')")
        self.assertEqual(done.stdout, "connected\n", done.stderr)
        self.assertEqual(self.explained([f"127.0.0.1:{port}"])[0]["record"][:9], "one event")
        [event] = [event for event in self.events() if event["domain"] == "network_egress"]
        self.assertEqual((event["outcome"], event["rule"]), ("allowed", "network.allowlist[0]"))
        self.assert_verified()

    def test_a_rule_by_name_depends_on_the_answer(self):
        self.write_policy(aasm_case.POLICY.format(read="") + "  network: { allowlist: [api.example.com, '127.0.0.1:8080'] }\n")
        [api, other] = [one["answers"] for one in json.loads(
            self.ok("policy", "explain", "--policy", self.policy, "--format", "json", "api.example.com", "b.example:8080").stdout)["objects"]]
        self.assertEqual([(one["verdict"], one["rule"]) for one in api],
                         [("allowed", "network.allowlist[0]"), ("allowed", "network.allowlist[0]")])
        self.assertIn("it depends on the answer", api[0]["note"])
        self.assertIn("it is the address that is judged", other[0]["note"])

    def test_localhost_is_refused_as_a_name(self):
        self.write_policy(aasm_case.POLICY.format(read="") + "  network: { allowlist: ['localhost:8080'] }\n")
        done = self.python("print('ran')")
        self.assertEqual((done.returncode, done.stdout), (125, ""))
        self.assertIn("stands for loopback, which no name opens; write 127.0.0.1 or [::1]", done.stderr)


if __name__ == "__main__":
    unittest.main()
