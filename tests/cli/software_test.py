"""What an agent works with shows the same, to the byte, under the policy for coding agents and without it.

Each is a session of tests/sandbox/software; tools that are not there are skipped and said. AASM_ALL_SOFTWARE=1
takes the ones that build for long, and a browser, as well.
"""

import os
import shutil
import socket
import subprocess
import sys
import unittest

import aasm_case

SESSIONS = aasm_case.SOURCE / "tests/sandbox/software"
QUICK = ["git", "pytest", "sqlite", "tls"]
LONG = bool(os.environ.get("AASM_ALL_SOFTWARE"))
PROFILE = aasm_case.SOURCE / "examples/policies/coding-agent.yaml"
BROWSER = ["/proc", "/sys/devices/system/cpu", "/etc/fonts", "/var/cache/fontconfig", "/etc/chromium", "/etc/chromium.d"]  # as said there


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Software(aasm_case.AasmCase):
    def setUp(self):
        super().setUp()
        self.port = free_port()

    def sessions(self, names, wrapper, *arguments):
        # Where its user's toolchains are; the sessions keep their own caches in the workspace.
        env = {**self.env, "PATH": os.environ["PATH"], "HOME": os.path.expanduser("~")}
        done = subprocess.run([sys.executable, "-B", aasm_case.SOURCE / "tests/sandbox/sessions/run_sessions", "--folder", SESSIONS,
                               "--own-places", *(f"--argument={one}" for one in (self.port, *arguments)),
                               "--sessions", ",".join(names), "--wrapper", wrapper],
                              env=env, capture_output=True, text=True, check=False, timeout=1800)
        print(done.stdout)
        return done

    # As the profile has it; nothing of the network is reached but what is said.
    def confined(self, network=None, read=(), evidence=None):
        text = PROFILE.read_text(encoding="utf-8").replace("        - /etc/hosts\n", "".join(f"        - {path}\n" for path in ("/etc/hosts", *read)))
        text += f"  network: {network}\n" if network else ""
        text += f"  evidence: {{ filesystem: {evidence} }}\n" if evidence else ""
        self.policy.write_text(text)
        return f"/usr/bin/env AASM_HOME={self.home} {aasm_case.AASM} run exec --policy {self.policy} --"

    def test_each_shows_the_same_inside(self):
        names = sorted(path.stem for path in SESSIONS.glob("*.sh")) if LONG else QUICK
        local = [name for name in names if name not in ("tls", "go", "npm", "chromium")]
        done = self.sessions(local, self.confined("{ allowlist: [] }"))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        done = self.sessions(["tls"], self.confined(f"{{ egress: [{{host: 127.0.0.1, ports: [{self.port}], protocol: tcp}}], "
                                                    f'bind: {{allow: ["127.0.0.1:{self.port}"]}} }}'))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        if LONG:  # these serve at ports of the kernel's choice, which no rule can name
            done = self.sessions(["go", "npm"], self.confined())
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assert_verified()

    # A zygote knows its children by the numbers that come with their messages, which are the broker's where the
    # network is stated.
    @unittest.skipUnless(LONG and shutil.which("chromium"), "AASM_ALL_SOFTWARE=1, with Chromium")
    def test_a_browser_shows_the_same_inside(self):
        stated = f'{{ egress: [{{host: 127.0.0.1, ports: [{self.port}], protocol: tcp}}], bind: {{allow: ["127.0.0.1:{self.port}"]}} }}'
        for policy, options in (({}, []), ({"evidence": "decisions"}, []), ({"evidence": "decisions", "network": stated}, ["--no-zygote"])):
            done = self.sessions(["chromium"], self.confined(read=BROWSER, **policy), *options)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn("chromium: same", done.stdout)
        self.assertIn("network_egress", {event["domain"] for event in self.events() if event["outcome"] == "allowed"})
        self.assert_verified()

    @unittest.skipUnless(all(map(shutil.which, ("python3", "openssl", "curl"))), "no openssl or no curl")
    def test_a_server_that_the_policy_does_not_name_is_not_reached(self):
        done = self.sessions(["tls"], self.confined("{ allowlist: [] }"))
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("tls: DIFFERENT", done.stdout)
        refused = [event for event in self.events() if event["domain"] == "network_egress" and event["outcome"] == "denied"]
        self.assertTrue(refused)
        self.assertEqual({(event["object"]["address"], event["object"]["port"]) for event in refused}, {("127.0.0.1", self.port)})


if __name__ == "__main__":
    aasm_case.main()
