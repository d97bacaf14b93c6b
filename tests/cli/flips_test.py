"""Two threads: one makes calls, another changes what they are about, in memory, by links and by dup2(2) (tests/support/flips).

Whatever is denied has no effect and each refusal is counted; without the boundary the same program has it. Case 34.
AASM_FLIPS=1000000 for the long form.
"""

import socket
import subprocess
import unittest

import aasm_case
from flips_case import FLIPS, FlipsCase


class NamesTest(FlipsCase):
    def check(self, kind, level="write-decisions"):
        self.leaks_without(kind)
        self.use(level)
        before = self.state_of_shut()
        made, refused, other, leaks = self.flip(kind)
        self.assertEqual((leaks, made + refused + other), (0, FLIPS))
        self.assertGreater(min(made, refused), 0)
        self.assertEqual(self.state_of_shut(), before)
        # Each refusal by policy is counted, and so are those of this side of the kernel.
        self.assertEqual(self.counted(outcome="denied", errno=13), refused)
        self.assertEqual({event["rule"] for event in self.denied() if event["cause"] == "policy"}, {"filesystem.write.deny[0]"})
        self.assert_verified()

    def test_attributes_by_a_descriptor_that_flips(self):
        self.check("attributes")

    def test_links_both_of_whose_names_flip(self):
        self.check("links")

    def test_renames_both_of_whose_names_flip(self):
        self.check("renames")

    def test_exchanges_both_of_whose_names_flip(self):
        self.check("exchanges")

    def test_names_in_a_directory_whose_descriptor_flips(self):
        self.check("directories")

    def test_how_a_file_is_opened_and_its_name_flip(self):
        """openat2(2): flags, ways to resolve, and the name."""
        self.check("open_how", level="decisions")


class SocketsTest(FlipsCase):
    NETWORK = "  network: {{ egress: [{{host: 127.0.0.1, ports: [{port}], protocol: udp}}], bind: {{ allow: [] }} }}\n"

    def setUp(self):
        super().setUp()
        self.inboxes = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
        for inbox in self.inboxes:
            self.addCleanup(inbox.close)
            inbox.bind(("127.0.0.1", 0))
        self.ports = [inbox.getsockname()[1] for inbox in self.inboxes]

    def arrived(self, inbox):
        inbox.setblocking(False)
        try:
            return len(inbox.recv(9)) > 0
        except BlockingIOError:
            return False

    def test_a_descriptor_that_flips_between_sockets_of_different_kinds(self):
        listener = socket.create_server(("127.0.0.1", self.ports[0]))
        self.addCleanup(listener.close)
        self.leaks_without("sockets", self.ports[0])
        while self.accepted(listener):
            pass
        self.use(deny="", more=self.NETWORK.format(port=self.ports[0]))
        made, refused, other, leaks = self.flip("sockets", self.ports[0])
        self.assertEqual((leaks, made + refused + other), (0, FLIPS))
        self.assertGreater(min(made, refused), 0)
        self.assertFalse(self.accepted(listener))
        self.assertEqual(self.counted(outcome="denied", errno=13), refused)
        self.assert_verified()

    def accepted(self, listener):
        listener.setblocking(False)
        try:
            listener.accept()[0].close()
            return True
        except BlockingIOError:
            return False

    def test_headers_of_a_vector_that_flip(self):
        subprocess.run([self.tool, "messages", "20000", *map(str, self.ports)], check=True, capture_output=True)
        self.assertTrue(self.arrived(self.inboxes[1]), "the negative control")
        while self.arrived(self.inboxes[1]):
            pass
        self.use(deny="", more=self.NETWORK.format(port=self.ports[0]))
        made, refused, other, _ = self.flip("messages", *self.ports)
        self.assertGreater(min(made, refused), 0)
        self.assertEqual(other, 0)
        self.assertFalse(self.arrived(self.inboxes[1]))
        # A call ends at the first message that is refused.
        counts = [self.counted(domain="network_egress", outcome=outcome) for outcome in ("allowed", "denied")]
        self.assertEqual(counts, [made, refused])
        self.assert_verified()


class ExecutionsTest(FlipsCase):
    def check(self, kind):
        files = (self.tool, self.outside / "denied")
        self.leaks_without(kind, *files, flips=300)
        self.use("decisions", deny="")
        flips = max(FLIPS // 10, 1) if FLIPS < 10000 else FLIPS
        made, refused, other, leaks = self.flip(kind, *files, flips=flips)
        self.assertEqual((leaks, made + refused + other), (0, flips))
        self.assertGreater(min(made, refused), 0)
        # What was asked about and allowed can be refused by Landlock afterwards, without a record (decision 0025).
        self.assertLessEqual(self.counted(outcome="denied", operation="execute"), refused)
        self.assertGreater(self.counted(outcome="denied", operation="execute"), 0)
        self.assert_verified()

    def test_a_name_and_its_words_that_flip(self):
        self.check("executed_names")

    def test_a_link_that_flips(self):
        self.check("executed_links")

    def test_a_descriptor_that_flips(self):
        """execveat(2) with AT_EMPTY_PATH."""
        self.check("executed_descriptors")


if __name__ == "__main__":
    aasm_case.main()
