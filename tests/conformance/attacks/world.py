"""Where an attack takes place: a home of aasm, a workspace, things worth taking, and processes outside.

A world is made for one run of one attempt and removed with it. Nothing outside its folder changes.
"""

import atexit
import contextlib
import os
import pathlib
import secrets
import select
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "cli"))
import control_groups  # pylint: disable=wrong-import-position

AASM = os.environ["AASM"]
PROBE = os.environ["ATTACK_PROBE"]
PATIENCE_S = 60

# Each names what it states besides; read and write are the same in all.
POLICIES = {
    "stated": {},
    "unstated": {"syscalls": None},
    "debug": {"syscalls": 'allow: ["@default", "@debug"]'},
    "kill": {"syscalls": 'allow: ["@default"], on_denial: kill'},
    "work_runs": {"execute": ["{bin}", "{work}"]},
    "no_execute_list": {"execute": None},
    "tools_run": {"execute": ["{bin}", "/usr", "/bin", "/lib", "/lib64"], "read": ["/usr", "/bin", "/lib", "/lib64"]},
    "terminal": {"write": ["/dev/tty"]},
    "all_decided": {"evidence": "filesystem: decisions"},
    "denied": {"deny": ["{work}/kept", "{work}/later/name"]},
    "decided": {"evidence": "filesystem: write-decisions"},
    "network": {"network": "egress: [], bind: { allow: [] }"},
    "ipc": {"syscalls": 'allow: ["@default", "@ipc"]',
            "ipc": "unix_sockets: { allow: [] }, abstract_sockets: deny, signals: inside, shared_memory: inside"},
    "network_kills": {"network": "egress: [], on_denial: kill"},
    "limits": {"processes": "max: 12", "resources": "cpu_seconds: 1, file_size_bytes: 8192, open_files: 64"},
    # The files are not made a way out by reading: a folder of groups can be opened.
    "memory": {"resources": "memory_bytes: 67108864", "read": ["/sys/fs/cgroup"]},
    "one_port": {"network": "egress: [{ host: 127.0.0.1/32, ports: [1], protocol: tcp }]"},
    "by_name": {"network": "allowlist: [api.example.test]"},
}


def policy_text(name, places):
    wanted = POLICIES[name]

    def listed(paths):
        return "[" + ", ".join(f'"{path.format(**places)}"' for path in paths) + "]"

    read = ["{bin}", "{ro}", "{work}", "/proc", "/dev/null"] + wanted.get("read", [])
    write = ["{work}", "/dev/null"] + wanted.get("write", [])
    execute = wanted.get("execute", ["{bin}"])
    lines = ["apiVersion: agent-assembly/v1", "kind: Policy", "metadata: { name: attacks }", "spec:", "  filesystem:",
             f"    read: {{ allow: {listed(read)} }}", f"    write: {{ allow: {listed(write)} }}"]
    if execute is not None:
        lines.append(f"    execute: {{ allow: {listed(execute)} }}")
    if "deny" in wanted:
        lines.append(f"    deny: {listed(wanted['deny'])}")
    calls = wanted.get("syscalls", 'allow: ["@default"]')
    if calls is not None:
        lines.append(f"  syscalls: {{ {calls} }}")
    lines += [f"  {node}: {{ {wanted[node]} }}" for node in ("network", "ipc", "evidence", "processes", "resources") if node in wanted]
    lines.append("  credentials: { environment: { allow: [PATH, HOME] } }")
    return "\n".join(lines) + "\n"


class Shared:
    """What all worlds of one process copy from: the probe, and a home that has seen a run."""

    def __init__(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="aasm-attacks-")).resolve()
        atexit.register(shutil.rmtree, self.root, ignore_errors=True)
        self.root.chmod(0o755)
        self.bin = self.root / "bin"
        self.bin.mkdir()
        self.probe = self.bin / "attack_probe"
        shutil.copy(PROBE, self.probe)
        self.probe.chmod(0o755)
        self.home = self.root / "home"
        warm = World(self, make_home=False)
        warm.home = self.home
        warm.env["AASM_HOME"] = str(self.home)
        subprocess.run([AASM, "init", "--org", "test.example"], env=warm.env, check=True, capture_output=True)
        # Its record of the measured host is what the later runs refer to.
        warm.write_policy("stated")
        subprocess.run(warm.command(["hello"]), env=warm.env, cwd=warm.work, check=True, capture_output=True)
        warm.close()


class World:
    def __init__(self, shared, make_home=True):
        self.shared = shared
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="w-", dir=shared.root))
        self.root.chmod(0o755)
        self.token = "SECRET-" + secrets.token_hex(12)
        self.closing = contextlib.ExitStack()
        self.home, self.work, self.ro, self.outside = (self.root / name for name in ("home", "work", "ro", "outside"))
        for folder in (self.work, self.ro, self.outside, self.outside / "empty", self.work / "kept", self.work / "later"):
            folder.mkdir()
        if make_home:
            shutil.copytree(shared.home, self.home)
        self.policy = self.root / "policy.yaml"
        self.env = {"PATH": "/usr/bin:/bin", "HOME": str(self.root), "AASM_HOME": str(self.home), "CANARY": self.token}
        self.fill()

    def fill(self):
        (self.work / "mine").write_text("mine\n")
        (self.work / "kept" / "secret.txt").write_text(self.token + "\n")
        (self.ro / "file").write_text("granted\n")
        (self.outside / "secret.txt").write_text(self.token + "\n")
        (self.outside / "victim").write_text("victim\n" * 64)
        (self.outside / "link").symlink_to(self.token)
        with contextlib.suppress(OSError):
            os.setxattr(self.outside / "secret.txt", "user.note", self.token.encode())
        for tool in (self.ro / "tool", self.outside / "tool"):
            shutil.copy(self.shared.probe, tool)
        script = self.ro / "script"
        script.write_text(f"#!/bin/sh\nexec {self.shared.probe} hello\n")
        script.chmod(0o755)

    def places(self):
        """What {words} in the data stand for. Processes are added by whoever starts them."""
        half = len(self.token) // 2
        return {"root": self.root, "home": self.home, "work": self.work, "ro": self.ro, "outside": self.outside,
                "bin": self.shared.bin, "probe": self.shared.probe, "aasm": AASM, "policy": self.policy,
                "ledger": self.home / "ledger.db", "secret": self.outside / "secret.txt",
                "victim": self.outside / "victim", "token_a": self.token[:half], "token_b": self.token[half:],
                "uid": os.getuid(), "groups": getattr(control_groups.memory_groups(), "own", "")}

    def write_policy(self, name):
        self.policy.write_text(policy_text(name, {key: str(value) for key, value in self.places().items()}))

    def command(self, attempt, depth="child", options=(), hold=False):
        return [AASM, "run", "exec", "--policy", str(self.policy), *options, "--",
                *self.probe_command(attempt, depth, hold)]

    def probe_command(self, attempt, depth="child", hold=False):
        return [str(self.shared.probe), *(["--hold"] if hold else []), "--depth", depth, *attempt]

    def start(self, command, **more):
        process = Held(command, cwd=self.work, env=self.env, **more)
        self.closing.callback(process.kill)
        return process

    def decoy(self):
        """A process outside, of the same user, that has the secret; returns (pid, where in its memory)."""
        process = self.start([str(self.shared.probe), "--decoy", "CANARY", str(self.outside / "secret.txt")])
        process.read_until("ready")
        process.read_until("\n")  # the line may come in pieces
        return process.pid, process.output.split()[1]

    def close(self):
        self.closing.close()
        for folder, names, _ in os.walk(self.root):
            for name in names:  # what an attempt took the modes of
                with contextlib.suppress(OSError):
                    os.chmod(os.path.join(folder, name), 0o700)
        shutil.rmtree(self.root, ignore_errors=True)


class Held:
    """A process whose output is read up to a word, and which ends when its input is closed."""

    def __init__(self, command, terminal=None, **more):
        """terminal: (master, slave) of a pseudo-terminal that is the input instead of a pipe."""
        self.terminal = terminal
        self.process = subprocess.Popen(command, stdin=terminal[1] if terminal else subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, **more)
        self.pid = self.process.pid
        self.output = ""
        self.errors = ""
        self.timed_out = False

    def read_until(self, word):
        """Reads until the word, the end or the end of patience."""
        end = time.monotonic() + PATIENCE_S
        source = self.process.stdout.fileno()
        while word not in self.output:
            left = end - time.monotonic()
            if left <= 0 or not select.select([source], [], [], left)[0]:
                self.timed_out = True
                return False
            data = os.read(source, 1 << 16)
            if not data:
                return False
            self.output += data.decode(errors="replace")
        return True

    def end(self):
        """Closes the input and waits; returns the status. Only a process that does not end is killed."""
        if self.terminal and self.process.poll() is None:
            os.write(self.terminal[0], b"\x04")
        if self.process.stdin is not None and not self.process.stdin.closed:
            with contextlib.suppress(BrokenPipeError):
                self.process.stdin.close()
        if not self.process.stdout.closed:
            try:
                out, err = self.drain()
            except subprocess.TimeoutExpired:
                self.timed_out = True
                self.process.kill()
                out, err = self.drain()
            self.output += out.decode(errors="replace")
            self.errors += err.decode(errors="replace")
            self.process.stdout.close()
            self.process.stderr.close()
        return self.process.returncode

    def kill(self):
        """For what has done its part; a stopped process ends too."""
        if self.process.poll() is None:
            self.process.kill()
        return self.end()

    def drain(self):
        self.process.stdin = None
        return self.process.communicate(timeout=PATIENCE_S)
