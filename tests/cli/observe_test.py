"""aasm run --observe and aasm policy learn: what a policy refuses is let through and recorded, and becomes a policy that allows it."""

import contextlib
import itertools
import json
import os
import pathlib
import random
import re
import socket
import sqlite3
import subprocess
import sys
import textwrap
import threading
import unittest

import aasm_case

sys.path.insert(0, str(aasm_case.SOURCE / "tests/conformance"))
from reader import merkle  # noqa: E402

NETWORK = "  network: { allowlist: [] }\n  processes: { max: 40 }\n"


class ObserveCase(aasm_case.AasmCase):
    def observe(self, script, *args, **more):
        done = self.python(textwrap.dedent(script), *args, options=("--observe",), **more)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done

    def state(self, more):
        self.policy.write_text(aasm_case.POLICY.format(read="") + more)

    def observations(self, run=None):
        return [event for batch in self.bodies("observation.batch", run) for event in batch["events"]]

    def observed(self, domain, operation):
        return [e for e in self.observations() if (e["domain"], e["operation"]) == (domain, operation)]

    def denials(self, run=None):
        """What was refused by policy and is no answer for compatibility."""
        return [e for e in self.events(run) if e["outcome"] == "denied" and e["cause"] != "compat"]

    def newest(self):
        return self.runs()[0]["run"]

    def learn(self, *args):
        return self.ok("policy", "learn", self.newest(), *args).stdout

    def patch(self, diff):
        done = subprocess.run(["patch", str(self.policy)], input=diff, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def listener(self):
        one = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(one.close)
        return one


class WhatIsLetThrough(ObserveCase):
    def test_a_file_outside_is_read_and_written_and_each_is_an_observation(self):
        self.observe("""
            import os, sys
            assert open(sys.argv[1]).read() == "not for agents\\n"
            open(sys.argv[2] + "/made", "w").write("x")
            os.rename(sys.argv[2] + "/made", sys.argv[2] + "/moved")
            os.unlink(sys.argv[2] + "/moved")
        """, self.secret, self.outside)
        [read] = [e for e in self.observed("filesystem_read", "read") if e["object"]["path"] == str(self.secret)]
        self.assertEqual((read["outcome"], read["cause"], read["rule"], read["errno"]), ("allowed", "policy", "filesystem.read.allow", 0))
        self.assertEqual(int(read["object"]["inode"]), self.secret.stat().st_ino)
        for operation in ("create", "rename", "remove"):
            [event] = self.observed("filesystem_write", operation)
            self.assertEqual(event["rule"], "filesystem.write.allow")
        self.assertEqual(self.denials(), [])
        claims = self.claims()
        for domain in ("filesystem_read", "filesystem_write"):
            self.assertEqual((claims[domain]["claim"], claims[domain]["boundary"], claims[domain]["basis"]),
                             ("observed", "absent", "runtime_without_decision"))
        self.assert_verified()

    def test_enforced_the_same_is_refused(self):
        done = self.python("import sys; open(sys.argv[1])", self.secret)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("PermissionError", done.stderr)

    def test_what_the_policy_allows_is_not_recorded(self):
        self.observe("open('made', 'w').write('x'); open('made').read()")
        self.assertEqual([e for e in self.observations() if e["object"].get("path", "").startswith(str(self.work))], [])

    def test_a_denied_place_inside_a_grant_is_let_through_and_cites_the_rule(self):
        (self.work / ".env").write_text("TOKEN\n")
        self.policy.write_text(aasm_case.POLICY.format(read="").replace(
            '"${WORKDIR}"] }', '"${WORKDIR}"], deny: [ "${WORKDIR}/.env" ] }\n    execute: { allow: [/usr, /lib, /lib64, /bin] }', 1).replace(
            "spec:\n", "spec:\n  evidence: { filesystem: decisions }\n"))
        self.observe("print(open('.env').read())")
        [event] = [e for e in self.observations() if e["object"].get("path", "").endswith("/.env")]
        self.assertEqual(event["rule"], "filesystem.read.deny[0]")
        self.assertIn("not proposed: filesystem_read read " + str(self.work / ".env"), self.learn())

    def test_a_connection_goes_out_and_is_an_observation(self):
        self.state(NETWORK)
        server = self.listener()
        self.observe("""
            import socket, sys
            socket.create_connection(("127.0.0.1", int(sys.argv[1]))).close()
        """, str(server.getsockname()[1]))
        server.settimeout(5)
        server.accept()[0].close()
        [event] = self.observed("network_egress", "connect")
        self.assertEqual((event["object"]["port"], event["outcome"], event["rule"]),
                         (server.getsockname()[1], "allowed", "network.allowlist"))
        self.assertEqual(self.claims()["network_egress"]["claim"], "observed")

    def test_a_system_call_that_the_policy_refuses_is_made(self):
        self.policy.write_text(aasm_case.POLICY.format(read="").replace('["@default"]', '["@default"], deny: [sysinfo]'))
        self.observe("""
            import ctypes, os
            buffer = ctypes.create_string_buffer(512)
            assert ctypes.CDLL(None, use_errno=True).sysinfo(buffer) == 0
        """)
        events = [e for e in self.observed("syscall", "call") if e["object"]["name"] == "sysinfo"]
        self.assertEqual([(e["rule"], e["outcome"]) for e in events], [("syscalls.deny[0]", "allowed")])

    def test_beyond_the_ceiling_processes_are_made_and_counted(self):
        self.state("  processes: { max: 2 }\n")
        self.observe("""
            import os
            for _ in range(3):
                if os.fork() == 0:
                    os.read(0, 1); os._exit(0)
            for _ in range(3): os.wait()
        """)
        self.assertEqual(sum(e["count"] for e in self.observed("process_creation", "create")), 2)

    def test_a_unix_socket_that_the_policy_does_not_list_is_reached(self):
        self.state("  ipc: { unix_sockets: { allow: [] }, signals: inside, abstract_sockets: deny, shared_memory: inside }\n")
        self.policy.write_text(self.policy.read_text().replace('["@default"]', '["@default", "@ipc"]'))
        path = self.outside / "daemon.sock"
        server = socket.socket(socket.AF_UNIX)
        self.addCleanup(server.close)
        server.bind(str(path))
        server.listen(1)
        path.chmod(0o777)
        self.observe("""
            import os, socket, sys
            with socket.socket(socket.AF_UNIX) as one: one.connect(sys.argv[1])
            try: os.kill(int(sys.argv[2]), 0)
            except PermissionError: pass
            else: raise SystemExit("a signal left the tree")
        """, path, str(os.getpid()))
        self.assertEqual([e["object"]["name"] for e in self.observed("ipc", "connect")], [str(path)])
        self.assertEqual([e["rule"] for e in self.denials() if e["domain"] == "ipc"], ["self_protection.signals"])
        self.assertIn(f'"{path}"', self.learn())

    def test_a_file_that_may_not_be_executed_runs_and_is_an_observation(self):
        tool = self.outside / "tool"
        tool.write_bytes(pathlib.Path("/bin/sh").read_bytes())
        tool.chmod(0o755)
        self.observe("import subprocess, sys\nfor _ in range(3): subprocess.run([sys.argv[1], '-c', ':'], check=True)", tool)
        [event] = self.observed("filesystem_read", "execute")
        self.assertEqual((event["object"]["path"], event["count"], event["rule"]), (str(tool), 3, "filesystem.read.allow"))


class WhatStays(ObserveCase):
    def test_the_home_of_aasm_can_be_neither_read_nor_written_nor_moved(self):
        keys = sorted((self.home / "keys").iterdir())
        self.observe("""
            import os, sys
            home, root = sys.argv[1], sys.argv[2]
            def refused(call, *args):
                try: call(*args)
                except OSError as error: assert error.errno in (13, 1), error
                else: raise SystemExit(f"{call} {args} went through")
            refused(open, home + "/ledger.db")
            refused(open, home + "/ledger.db", "ab")
            refused(open, home + "/ledger.db-wal")
            refused(os.listdir, home)
            refused(os.listdir, home + "/keys")
            refused(open, home + "/planted", "w")
            refused(os.rename, home, root + "/elsewhere")
            refused(os.rename, home + "/keys", root + "/elsewhere")
            refused(os.symlink, "/", home + "/link")
            refused(os.link, home + "/ledger.db", root + "/second")
            refused(open, sys.argv[3], "a")
            fd = os.open(home + "/keys", os.O_PATH)
            refused(os.open, sys.argv[4], os.O_RDONLY)
            refused(lambda: os.open(os.path.basename(sys.argv[4]), os.O_RDONLY, dir_fd=fd))
            refused(os.open, f"/proc/self/fd/{fd}", os.O_RDONLY)
            refused(open, f"/proc/{os.getppid()}/mem", "rb")
            open(sys.argv[3]).read()
        """, self.home, self.root, self.policy, keys[0])
        self.assertEqual({e["rule"] for e in self.denials() if e["domain"].startswith("filesystem")} - {""},
                         {"self_protection.aasm_files"})
        claims = self.claims()
        self.assertEqual(claims["filesystem_read"]["denied_actions"], 0)
        controls = {c["id"]: c for record in self.bodies("control.prepared") for c in record["controls"]}
        self.assertEqual(controls["aasm_files"]["purpose"], "self_protection")
        canaries = [c for body in self.bodies("boundary.proved") for c in body["canaries"] if c["id"].startswith("self_protection.read")]
        self.assertTrue(canaries)
        self.assertEqual({(c["inside"]["outcome"], c["channel"]) for c in canaries}, {("refused", "reported")})
        self.assert_verified()

    def test_attributes_of_its_files_and_what_proc_has_of_its_processes_stay(self):
        self.observe("""
            import errno, os, sys
            def refused(call):
                try: call()
                except OSError as error: assert error.errno == errno.EACCES, error
                else: raise AssertionError(call)
            home, policy = sys.argv[1:]
            held = os.open(policy, os.O_RDONLY)
            for path in (home, home + "/keys", home + "/ledger.db", policy):
                refused(lambda: os.chmod(path, 0o777))
                refused(lambda: os.utime(path, (1, 1)))
            refused(lambda: os.fchmod(held, 0o666))
            ours = [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if os.getppid() <= pid < os.getpid()
                    and open(f"/proc/{pid}/comm").read().strip() == "aasm-warden"]
            assert ours == [os.getppid()], (ours, os.getppid())
            for name in ("oom_score_adj", "coredump_filter"):
                refused(lambda: open(f"/proc/{ours[0]}/{name}", "w"))
            os.utime(sys.argv[0] if os.path.exists(sys.argv[0]) else ".", (1, 1))  # what is not aasm's goes
        """, self.home, self.policy)
        rules = {e["rule"] for e in self.denials()}
        self.assertEqual(rules, {"self_protection.aasm_files", "self_protection.own_processes"})
        self.assertGreater((self.home / "ledger.db").stat().st_mtime, 1)
        self.assert_verified()

    def test_a_home_that_a_link_leads_to_is_kept_by_both_names(self):
        link = self.root / "link"
        link.symlink_to(self.home)
        done = self.observe("""
            import sys
            for home in sys.argv[1:]:
                try: open(home + "/ledger.db")
                except PermissionError: print("refused")
        """, link, self.home, env={**self.env, "AASM_HOME": str(link)})
        self.assertEqual(done.stdout.split(), ["refused", "refused"])

    def test_environment_and_limits_are_enforced_and_said_to_be(self):
        self.state("  resources: { open_files: 64 }\n")
        done = self.observe("import os, resource; print(os.environ.get('SECRET'), resource.getrlimit(resource.RLIMIT_NOFILE)[0])",
                            env={**self.env, "SECRET": "1"})
        self.assertEqual(done.stdout.strip(), "None 64")
        outcomes = {o["domain"]: o["kind"] for o in self.bodies("plan.resolved")[0]["outcomes"]}
        self.assertEqual((outcomes["credential"], outcomes["resource"], outcomes["syscall"]), ("enforced", "enforced", "observed"))

    def test_calls_that_self_protection_closes_stay_closed(self):
        self.observe("""
            import ctypes
            libc = ctypes.CDLL(None, use_errno=True)
            assert libc.unshare(0x10000000) == -1 and ctypes.get_errno() == 1
            assert libc.syscall(999) == -1 and ctypes.get_errno() == 38
        """)
        self.assertEqual({e["rule"] for e in self.denials() if e["domain"] == "syscall"},
                         {"self_protection.unshare", "self_protection.unknown_call"})

    def test_the_report_says_that_nothing_was_prevented_and_the_record_says_the_mode(self):
        report = self.root / "report.txt"
        self.python("import sys; open(sys.argv[1])", self.secret, options=("--enforcement-mode", "observe", "--report", report))
        text = report.read_text()
        self.assertIn("OBSERVED:     policy prevented nothing in: filesystem_read, filesystem_write, syscall", text)
        self.assertIn("filesystem_read: nothing that policy refuses was prevented: it was let through.", text)
        self.assertNotIn("no denial was recorded on filesystem_read", text)
        self.assertEqual(self.bodies("run.opened")[0]["enforcement_mode"], "observe")
        self.assertIn("mode observe      where a boundary is absent, policy prevented nothing", self.ok("verify").stdout)
        plan = self.ok("run", "exec", "--policy", self.policy, "--observe", "--dry-run", "--", "/bin/true").stdout
        self.assertIn("OBSERVED:     policy will prevent nothing in: filesystem_read", plan)
        self.assertIn("Refuse nothing by policy where the channel reports calls", plan)
        self.assertIn("--- summary ---", text)
        self.assertLessEqual(text.split("--- execution")[0].count("\n"), 26)

    def test_without_a_boundary_there_is_nothing_to_observe_from(self):
        done = self.run_exec("/bin/true", options=("--observe", "--isolation", "none"))
        self.assertEqual(done.returncode, 125)
        self.assertIn("--observe needs a boundary", done.stderr)
        done = self.run_exec("/bin/true", options=("--enforcement-mode=disabled",))
        self.assertIn("not built", done.stderr)


class Learning(ObserveCase):
    AGENT = """
        import os, socket, subprocess, sys
        outside, port = sys.argv[1], int(sys.argv[2])
        for name in ("a", "b", "c", "d", "e"): open(f"{outside}/data/{name}").read()
        open(f"{outside}/secret.txt").read()
        open(f"{outside}/out/result", "w").write("x")
        subprocess.run([f"{outside}/tool", "-c", ":"], check=True)
        socket.create_connection(("127.0.0.1", port)).close()
    """

    def setUp(self):
        super().setUp()
        self.state("  network: { allowlist: [] } # nothing yet\n")
        for name in ("a", "b", "c", "d", "e"):
            path = self.outside / "data" / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(name)
        (self.outside / "out").mkdir()
        (self.outside / "tool").write_bytes(pathlib.Path("/bin/sh").read_bytes())
        (self.outside / "tool").chmod(0o755)
        server = self.listener()
        self.arguments = (str(self.outside), str(server.getsockname()[1]))

    def test_observed_learned_patched_it_runs_enforced_without_a_denial(self):
        enforced = self.python(textwrap.dedent(self.AGENT), *self.arguments)
        self.assertNotEqual(enforced.returncode, 0)  # the control: without the patch it is refused
        self.observe(self.AGENT, *self.arguments)
        run = self.newest()
        diff = self.learn()
        self.assertEqual(diff, self.learn())  # as often as one likes
        before = self.policy.read_text()
        self.patch(diff)
        text = self.policy.read_text()
        self.assertIn("# nothing yet", text)
        self.assertIn(f'"{self.outside}/data"\n', re.sub(r",\n", "\n", text))
        self.assertNotIn(f"{self.outside}/data/a", text)
        self.assertIn(f"# learned: 1 event (read) of run {run}\n", text)
        self.assertIn("# learned: 5 events (read) of run " + run, text)
        for line in before.splitlines():
            if "allow" not in line:
                self.assertIn(line, text)
        self.ok("policy", "check", self.policy)
        done = self.python(textwrap.dedent(self.AGENT), *self.arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([e for e in self.denials() if e["cause"] == "policy"], [])

    def test_denials_of_an_enforced_run_are_learned_from_too(self):
        self.state("  evidence: { filesystem: decisions }\n")
        self.python("import sys\ntry: open(sys.argv[1])\nexcept PermissionError: pass", self.secret)
        self.assertIn(f'+        "{self.secret}"', self.learn())

    def test_what_a_deny_beside_the_grants_takes_away_is_not_proposed(self):
        self.policy.write_text(self.policy.read_text().replace("  filesystem:\n", f'  filesystem:\n    deny: ["{self.secret}"]\n'))
        self.observe("import sys; open(sys.argv[1]).read()", self.secret)
        text = self.learn()
        self.assertIn(f"# not proposed: filesystem.read.allow {self.secret}: the policy denies it in another place", text)
        self.assertIn("# nothing to add", text)

    def test_a_ledger_that_does_not_verify_teaches_nothing(self):
        self.observe("import sys; open(sys.argv[1])", self.secret)
        self.assertEqual(len(self.observations()), 1)
        copy = self.root / "copy.db"
        for suffix in ("", "-wal"):
            path = pathlib.Path(f"{self.home}/ledger.db{suffix}")
            if path.exists():
                pathlib.Path(f"{copy}{suffix}").write_bytes(path.read_bytes().replace(b'"outcome":"allowed"', b'"outcome":"denied_"').replace(b"observation.batch", b"observation.batcx"))
        done = self.aasm("policy", "learn", self.newest(), "--ledger", copy)
        self.assertEqual(done.returncode, 1)
        self.assertIn("does not verify", done.stderr)

    def test_what_is_read_is_what_was_verified(self):
        """While the file is exchanged for one whose records say something else, that is never learned."""
        self.observe("import sys; open(sys.argv[1])", self.secret)
        run, planted = self.newest(), self.outside / "planted.tx"
        good, bad, ledger = (self.root / name for name in ("good.db", "bad.db", "ledger.db"))
        for copy in (good, bad):
            with contextlib.closing(sqlite3.connect(f"file:{self.home}/ledger.db?mode=ro", uri=True)) as source, \
                    contextlib.closing(sqlite3.connect(copy)) as target:
                source.backup(target)
                target.execute("PRAGMA journal_mode=DELETE")
                if copy == bad:
                    [(seq, payload)] = target.execute("SELECT seq, payload FROM records WHERE instr(payload, ?)", (b"observation.batch",)).fetchall()
                    payload = bytes(payload).replace(str(self.secret).encode(), str(planted).encode())
                    leaf = merkle.leaf_hash(payload)
                    target.execute("UPDATE records SET payload = ?, leaf = ? WHERE seq = ?", (payload, leaf, seq))
                    target.commit()
        os.link(good, ledger)
        self.assertIn(str(self.secret), self.ok("policy", "learn", run, "--ledger", ledger).stdout)
        over = threading.Event()

        def exchange():
            for turn in itertools.count():
                os.link((bad, good)[turn % 2], self.root / "next.db")
                os.replace(self.root / "next.db", ledger)
                if over.wait(random.uniform(0, 0.02)):
                    return

        exchanging = threading.Thread(target=exchange)
        exchanging.start()
        try:
            for _ in range(int(os.environ.get("AASM_EXCHANGES", "12"))):
                self.assertNotIn(str(planted), self.aasm("policy", "learn", run, "--ledger", ledger).stdout)
        finally:
            over.set()
            exchanging.join()

    def test_dangerous_things_are_named_and_not_proposed(self):
        (self.root / ".ssh").mkdir()
        (self.root / ".ssh" / "id_rsa").write_text("k")
        (self.root / ".bashrc").write_text("")
        self.observe("""
            import os, sys
            root = sys.argv[1]
            open(root + "/.ssh/id_rsa").read()
            open(root + "/.bashrc", "a").close()
            os.listdir("/"); os.listdir(root)
            open(root + "/new", "w").close()
        """, self.root)
        text = self.learn()
        proposed = [line for line in text.splitlines() if line.startswith("+")]
        self.assertEqual([line for line in proposed if ".ssh" in line or ".bashrc" in line or '"/"' in line or f'"{self.root}"' in line], [])
        for what in (f"{self.root}/.ssh/id_rsa", f"{self.root}/.bashrc", "filesystem read /:", f"filesystem read {self.root}:", f"filesystem write {self.root}:"):
            self.assertRegex(text, r"# not proposed: .*" + re.escape(what))

    def test_a_path_to_write_that_is_gone_is_told(self):
        self.observe("import os, sys; p = sys.argv[1] + '/gone'; os.mkdir(p); open(p + '/x', 'w').close(); os.unlink(p + '/x'); os.rmdir(p); open(p + 'file', 'w').close(); open(p + 'file', 'a').close(); os.unlink(p + 'file')",
                     self.outside)
        text = self.learn()
        self.assertIn(f'"{self.outside}"', text)
        self.observe("import os, sys; open(sys.argv[1], 'a').close()", self.secret)
        self.secret.unlink()
        self.assertIn("it is not there, and a path to write has to be before the start", self.learn())

    def test_a_name_that_would_write_into_the_policy_is_not_proposed(self):
        odd = self.outside / 'x"\n    - "'
        odd.write_text("")
        self.observe("import sys; open(sys.argv[1]).read()", odd)
        text = self.learn()
        self.assertIn("a policy cannot safely say this name", text)
        self.assertNotIn("\n+", text.split("\n+++", 1)[-1].split("\n", 1)[-1] if "\n+++" in text else "")

    def test_a_name_that_turns_the_reading_direction_keeps_nothing_else_from_being_learned(self):
        odd, plain = self.outside / "a\u202eb", self.outside / "plain"
        for file in (odd, plain):
            file.write_text("")
        self.observe("import os, sys\nfor name in ('a\\u202eb', 'plain'): open(os.path.join(sys.argv[1], name)).close()", self.outside)
        text = self.learn()
        self.assertIn("a policy cannot safely say this name", text)
        self.assertIn(f'"{plain}"', text)

    def test_as_json_and_into_a_file(self):
        self.observe("import sys; open(sys.argv[1]).read()", self.secret)
        lesson = json.loads(self.learn("--format", "json"))
        self.assertEqual([(a["list"], a["entry"]) for a in lesson["additions"]], [("filesystem.read.allow", str(self.secret))])
        out = self.root / "learned.diff"
        self.ok("policy", "learn", self.newest(), "--output", out)
        self.assertEqual(out.read_text(), lesson["diff"])
        self.policy.write_text(self.policy.read_text() + "# later\n")
        done = self.aasm("policy", "learn", self.newest())
        self.assertIn("has changed since the run", done.stderr)
        self.ok("policy", "learn", self.newest(), "--policy", self.policy)


class LearningForSeveral(ObserveCase):
    """A policy of several documents: each of them that states a list has to allow what the policy is to allow."""

    def setUp(self):
        super().setUp()
        self.org = self.root / "org.yaml"

    def state_both(self, org_read=(), org_more=""):
        text = aasm_case.POLICY
        self.org.write_text(text.format(read="".join(f', "{path}"' for path in org_read)).replace("{ name: test }", "{ scope: org }") + org_more)
        self.policy.write_text(text.format(read="").replace("{ name: test }", "{ scope: agent, extends: [org.yaml] }"))

    def patch_all(self, diff):
        done = subprocess.run(["patch", "-d", "/", "-p1"], input=diff, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def read_secret(self, **more):
        return self.python("import sys; open(sys.argv[1]).read()", self.secret, **more)

    def test_what_another_document_grants_is_put_into_the_one_that_does_not(self):
        self.state_both(org_read=[self.secret])
        self.assertEqual(self.read_secret(options=("--observe",)).returncode, 0)
        before, diff = self.org.read_text(), self.learn()
        self.assertIn(f"# scope agent: {self.policy}\n", diff)
        self.assertNotIn("# scope org", diff)
        self.patch_all(diff)
        self.assertEqual(self.org.read_text(), before)
        self.assertEqual(self.read_secret().returncode, 0)

    def test_what_none_grants_is_put_into_each_and_is_allowed_then(self):
        self.state_both()
        self.assertNotEqual(self.read_secret().returncode, 0)
        self.assertEqual(self.read_secret(options=("--observe",)).returncode, 0)
        diff = self.learn()
        self.assertLess(diff.index(f"# scope org: {self.root}/org.yaml"), diff.index(f"# scope agent: {self.policy}"))
        self.patch_all(diff)
        for document in (self.org, self.policy):
            self.assertIn(f'"{self.secret}"', document.read_text())
        self.assertEqual(self.read_secret().returncode, 0)
        self.assertEqual(self.denials(), [])

    def test_a_document_that_does_not_state_the_list_is_left_alone(self):
        self.state_both()
        self.policy.write_text("metadata: { scope: agent, extends: [org.yaml] }\nprocesses: { max: 40 }\n")
        self.assertEqual(self.read_secret(options=("--observe",)).returncode, 0)
        diff = self.learn()
        self.assertIn("# scope org", diff)
        self.assertNotIn("# scope agent", diff)

    def test_what_one_document_denies_is_proposed_for_none(self):
        self.state_both()
        self.org.write_text(self.org.read_text().replace("  filesystem:\n", f'  filesystem:\n    deny: ["{self.secret}"]\n'))
        self.policy.write_text(self.policy.read_text().replace("${WORKDIR}", f'${{WORKDIR}}", "{self.outside}', 1).replace(
            "spec:\n", "spec:\n  evidence: { filesystem: decisions }\n"))
        self.assertEqual(self.read_secret(options=("--observe",)).returncode, 0)
        text = self.learn()
        self.assertIn("not proposed", text)
        self.assertNotIn("+", text)

    def test_one_that_has_changed_since_is_named(self):
        self.state_both()
        self.assertEqual(self.read_secret(options=("--observe",)).returncode, 0)
        self.org.write_text(self.org.read_text() + "# later\n")
        done = self.aasm("policy", "learn", self.newest())
        self.assertEqual(done.returncode, 1)
        self.assertIn("org.yaml has changed since the run", done.stderr)
        self.assertIn("# scope org", self.learn("--policy", self.policy))

    def test_a_warning_of_one_document_keeps_it_from_all(self):
        (self.root / ".bashrc").write_text("")
        self.state_both()
        done = self.python("import sys; open(sys.argv[1], 'a').close()", self.root / ".bashrc", options=("--observe",))
        self.assertEqual(done.returncode, 0, done.stderr)
        text = self.learn()
        self.assertIn("not proposed: filesystem.write.allow " + str(self.root / ".bashrc"), text)
        self.assertNotIn("+", text.replace("not proposed", ""))


if __name__ == "__main__":
    aasm_case.main()
