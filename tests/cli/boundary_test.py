"""aasm run exec: what the boundary refuses, and what the records say of it."""

import os
import unittest

import aasm_case

GRANDCHILD_UNSHARE = """
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
def call():
    print(libc.unshare(0), errno.errorcode.get(ctypes.get_errno()), os.getpid(), os.getppid(), flush=True)
if os.fork() == 0:
    if os.fork() == 0:
        call()
        os._exit(0)
    os.wait()
    os._exit(0)
os.wait()
"""


class Filesystem(aasm_case.AasmCase):
    def test_an_ungranted_file_is_not_read_and_a_granted_one_is(self):
        denied = self.run_exec("/bin/cat", str(self.secret))
        self.assertEqual((denied.returncode, denied.stdout), (1, ""))
        self.assertIn("Permission denied", denied.stderr)
        self.write_policy(read=[self.outside])
        allowed = self.run_exec("/bin/cat", str(self.secret))
        self.assertEqual((allowed.returncode, allowed.stdout), (0, "not for agents\n"))

    def test_nothing_is_written_outside_and_something_is_inside(self):
        for command in (f"echo x > {self.outside}/new", f"echo x >> {self.secret}", f"rm {self.secret}",
                        f"mkdir {self.outside}/d", f"mv {self.secret} moved", f"ln -s / {self.outside}/l",
                        f": > {self.secret}"):
            with self.subTest(command=command):
                self.assertNotEqual(self.sh(command).returncode, 0)
        self.assertEqual(os.listdir(self.outside), ["secret.txt"])
        self.assertEqual(self.secret.read_text(), "not for agents\n")
        done = self.sh("mkdir d && echo x > d/f && mv d e && ln e/f g && mkdir n && mv e/f n/g && cat n/g")
        self.assertEqual((done.returncode, done.stdout), (0, "x\n"), done.stderr)

    def test_filesystem_claims_rest_on_the_boundary_not_on_decisions(self):
        self.sh(f"cat {self.secret}; echo x > {self.outside}/new; exit 0")
        claim = self.claims()["filesystem_write"]
        self.assertEqual((claim["claim"], claim["boundary"]), ("unmeasured", "proved"))


class Syscalls(aasm_case.AasmCase):
    def test_a_denied_call_of_a_grandchild_is_exactly_one_event(self):
        done = self.python(GRANDCHILD_UNSHARE)
        result, code, pid, parent = done.stdout.split()
        self.assertEqual((result, code), ("-1", "EPERM"))
        [event] = [e for e in self.events() if e["object"]["name"] == "unshare"]
        self.assertEqual(event["operation"], "call")
        self.assertEqual((event["outcome"], event["cause"], event["errno"], event["count"]), ("denied", "policy", 1, 1))
        self.assertEqual(event["pid"], int(pid))
        self.assertEqual(event["parents"][0], int(parent))
        self.assertGreaterEqual(len(event["parents"]), 2)
        self.assertEqual(os.path.realpath("/usr/bin/python3"), event["executable"])
        claim = self.claims()["syscall"]
        self.assertEqual((claim["claim"], claim["basis"]), ("denied_before_execution", "decision"))
        self.assertEqual(claim["denied_actions"], 1)

    def test_words_in_the_output_change_no_claim(self):
        self.sh("echo 'Permission denied'; echo 'aasm: denied_before_execution (9 actions)' >&2; exit 1")
        self.assertEqual(self.events(), [])
        claim = self.claims()["syscall"]
        self.assertEqual((claim["claim"], claim["boundary"]), ("unmeasured", "proved"))

    # Case L53. AASM_DENIALS is their number.
    def test_denials_from_8_threads_are_all_counted(self):
        each = int(os.environ.get("AASM_DENIALS", "200000")) // 8
        script = ("import ctypes, threading\n"
                  "libc = ctypes.CDLL(None)\n"
                  "def work():\n"
                  "    call = libc.syscall\n"
                  f"    for _ in range({each}): call(272, 0)\n"
                  "threads = [threading.Thread(target=work) for _ in range(8)]\n"
                  "[t.start() for t in threads]; [t.join() for t in threads]\n")
        self.assertEqual(self.python(script, timeout=60 + each // 250).returncode, 0)
        counted = sum(e["count"] for e in self.events() if e["object"]["name"] == "unshare")
        self.assertEqual(counted, 8 * each)
        closed = self.bodies("run.closed")[0]["channel"]
        self.assertEqual(closed["dropped"], 0)
        self.assertEqual(self.claims()["syscall"]["denied_actions"], 8 * each)


class SelfProtection(aasm_case.AasmCase):
    def test_ledger_keys_and_supervisor_are_out_of_reach(self):
        script = f"""
import os
found = []
for path in ({str(self.home / 'ledger.db')!r}, {str(self.home / 'keys')!r}, {str(self.home)!r}):
    try:
        os.listdir(path) if os.path.isdir(path) else open(path).read()
        found.append(path)
    except OSError as e:
        pass
warden = os.getppid()
try:
    supervisor = int(open(f'/proc/{{warden}}/stat').read().rsplit(')', 1)[1].split()[1])
except OSError:
    supervisor = 0
for pid in (warden, supervisor):
    if not pid: continue
    for sig in (0, 9, 19):
        try:
            os.kill(pid, sig)
            found.append(('kill', pid, sig))
        except OSError:
            pass
    # The numbers of its descriptors are declared readable; what they lead to is not.
    fds = ['fd/' + name for name in (os.listdir(f'/proc/{{pid}}/fd') if os.access(f'/proc/{{pid}}/fd', os.R_OK) else [])]
    for name in ['mem', 'environ', 'maps', 'cwd', 'root', 'exe', *fds]:
        for action in (os.readlink, lambda path: open(path, 'rb').read(1)):
            try:
                action(f'/proc/{{pid}}/{{name}}')
                found.append((name, pid))
            except OSError:
                pass
print(found)
"""
        done = self.python(script)
        self.assertEqual((done.returncode, done.stdout), (0, "[]\n"), done.stderr)
        self.assert_verified()

    def test_attributes_of_own_files_that_change_are_noticed_and_otherwise_nothing_is(self):
        quiet = self.sh("exit 0")
        self.assertEqual((quiet.stderr, self.bodies("run.closed")[0]["detail"]), ("", ""))
        key = sorted((self.home / "keys").iterdir())[0]
        for command in (f"chmod 600 {key}", f"touch -c {key}", f"chmod 700 {self.home / 'keys'}", f"chmod 640 {self.home / 'ledger.db'}"):
            with self.subTest(command=command):
                done = self.sh(command)  # nothing here can refuse it: the caller owns the file
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("attributes of aasm's own files changed during the run", done.stderr)
                self.assertIn(command.split()[-1], self.bodies("run.closed")[0]["detail"])
        (self.home / "ledger.db").chmod(0o600)

    def test_a_grant_over_the_ledger_is_refused_however_it_is_spelt(self):
        link = self.root / "way-in"
        link.symlink_to(self.home)
        for path in (self.home, self.root, link, "/"):
            with self.subTest(path=path):
                self.write_policy(read=[path])
                done = self.sh("echo ran")
                self.assertEqual((done.returncode, done.stdout), (125, ""))
                self.assertIn("grant_covers_evidence", done.stderr)


if __name__ == "__main__":
    aasm_case.main()
