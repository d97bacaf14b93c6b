"""aasm run --observe with names: looked up though no policy allows them, told beside the address they led to, and learned."""

import subprocess
import textwrap
import unittest

import name_world

if __name__ == "__main__":
    name_world.enter()

import aasm_case  # noqa: E402
from name_world import WEB  # noqa: E402

FETCH = """
    import urllib.request
    print(urllib.request.urlopen("http://api.example.test/", timeout=5).read().decode().strip())
"""


def setUpModule():
    global WORLD
    WORLD = name_world.World()


def tearDownModule():
    WORLD.close()


class ObservedNames(aasm_case.AasmCase):
    def test_a_name_and_what_it_led_to_are_observed_learned_and_then_allowed(self):
        self.write_policy(aasm_case.POLICY.format(read="") + "  network: { allowlist: [] }\n")
        self.assertNotEqual(self.python(textwrap.dedent(FETCH)).returncode, 0)
        WORLD.questions()
        done = self.python(textwrap.dedent(FETCH), options=("--observe",))
        self.assertEqual((done.returncode, done.stdout), (0, "served\n"), done.stderr)
        self.assertTrue(WORLD.questions())
        events = [event for batch in self.bodies("observation.batch") for event in batch["events"]]
        resolved = {e["object"]["name"] for e in events if e["operation"] == "resolve"}
        self.assertEqual(resolved, {"api.example.test"})
        [reached] = [e for e in events if e["operation"] == "connect" and e["object"]["protocol"] == "tcp"]
        self.assertEqual((reached["object"]["name"], reached["object"]["port"]), ("api.example.test", 80))
        claims = self.claims()
        self.assertEqual((claims["name_resolution"]["claim"], claims["network_egress"]["claim"]), ("observed", "observed"))
        diff = self.ok("policy", "learn", self.runs()[0]["run"]).stdout
        self.assertIn('+      "api.example.test:80"\n', diff)
        self.assertNotIn(WEB, diff)
        subprocess.run(["patch", str(self.policy)], input=diff, text=True, check=True, capture_output=True)
        done = self.python(textwrap.dedent(FETCH))
        self.assertEqual((done.returncode, done.stdout), (0, "served\n"), done.stderr)
        self.assertEqual([e for e in self.events() if e["outcome"] == "denied" and e["cause"] == "policy"], [])
        self.assert_verified()

    def test_a_name_that_is_looked_up_and_not_reached_is_told_and_not_proposed(self):
        self.write_policy(aasm_case.POLICY.format(read="") + "  network: { allowlist: [] }\n")
        done = self.python("import socket; print(socket.getaddrinfo('x.wild.test', 80, socket.AF_INET, proto=6)[0][4][0])",
                           options=("--observe",))
        self.assertEqual(done.stdout.strip(), WEB, done.stderr)
        text = self.ok("policy", "learn", self.runs()[0]["run"]).stdout
        self.assertRegex(text, r"# not proposed: name_resolution resolve x\.wild\.test: it was looked up")
        self.assertNotIn('"x.wild.test', text)


if __name__ == "__main__":
    aasm_case.main()
