#!/usr/bin/env python3
"""Processes, executions and limits: plain, in bwrap, and in `aasm run exec` without limits, with them, and with decisions.

    AASM=build/release/bin/aasm bench/limits.py [--rounds N]

The same script runs in turn in each; a row is the least of its rounds, in microseconds for each action, and its ratio to plain. bwrap
(Debian's bubblewrap) is given the host's files and new namespaces, and no limits: it has none. Left out where it is not installed.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import boundary

KINDS = {
    "aasm": (),
    "ceiling, rlimits": ("processes: { max: 64 }", "resources: { open_files: 256, file_size_bytes: 1073741824, cpu_seconds: 600 }"),
    "and memory": ("processes: { max: 64 }", "resources: { open_files: 256, memory_bytes: 1073741824 }"),
    "and decisions": ("processes: { max: 64 }", "resources: { open_files: 256 }", "evidence: { filesystem: decisions }"),
}

WORK = """
import json, os, sys, threading, time
def forked():
    if (pid := os.fork()) == 0: os._exit(0)
    os.waitpid(pid, 0)
def spawned():
    os.waitpid(os.posix_spawn("/usr/bin/true", ["true"], {}), 0)
def threaded():
    one = threading.Thread(target=int); one.start(); one.join()
def touched():
    held = bytearray(1 << 20); held[::4096] = bytes(256)
result = {}
for name, call, times in (("fork, exit, wait", forked, 200), ("spawn /usr/bin/true, wait", spawned, 100),
                          ("a thread", threaded, 200), ("touch a MiB", touched, 200)):
    for _ in range(5): call()
    begin = time.perf_counter()
    for _ in range(times): call()
    result[name] = (time.perf_counter() - begin) / times * 1e6
print(json.dumps(result))
"""


def commands(aasm, root):
    """What the script is started by, by kind; what this host cannot do is said and left out."""
    program = ["/usr/bin/python3", "-c", WORK]
    found = {"plain": program}
    if beside := boundary.in_bwrap(*program):
        found["bwrap"] = beside
    for kind, more in KINDS.items():
        policy = pathlib.Path(root) / f"{kind.replace(' ', '-')}.yaml"
        policy.write_text(boundary.policy(*more))
        found[kind] = [aasm, "run", "exec", "--policy", str(policy), "--", *program]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    aasm = boundary.program()
    least = {}
    with tempfile.TemporaryDirectory(prefix="aasm-bench-") as root:
        work = pathlib.Path(root) / "work"
        work.mkdir()
        env = boundary.make_home(aasm, root)
        kinds = commands(aasm, root)
        for _ in range(rounds):
            for kind, argv in list(kinds.items()):
                begin = time.perf_counter()
                done = subprocess.run(argv, env=env, cwd=work, check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                took = (time.perf_counter() - begin) * 1e6
                if done.returncode != 0:
                    print(f"-- left out: {kind}: {done.stderr.strip().splitlines()[:2]}")
                    del kinds[kind]
                    continue
                measured = json.loads(done.stdout)
                for name, value in {**measured, "the whole run": took}.items():
                    least[name, kind] = min(value, least.get((name, kind), value))
    for name in dict.fromkeys(name for name, _ in least):
        print(name)
        for kind in kinds:
            print(f"    {kind:18} {least[name, kind]:10.1f} us   {least[name, kind] / least[name, 'plain']:6.2f}x")
    return 0


if __name__ == "__main__":
    sys.exit(main())
