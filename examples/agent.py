#!/usr/bin/env python3
"""A small agent, standard library only, for the demo.

It does useful work in the workspace it was given (reads the sources, builds and runs them, commits
the result), and then tries four things that its policy does not allow. It reports what it met in
its own words; nothing it prints is evidence.
"""

import ctypes
import errno
import json
import os
import pathlib
import subprocess
import sys

PTRACE_TRACEME = 0
SYS_PTRACE = {"x86_64": 101, "aarch64": 117}
SYS_UNSHARE = {"x86_64": 272, "aarch64": 97}


def run(*command):
    """Runs a command of the workspace and returns its standard output."""
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def work(workspace):
    """Builds the program in the workspace, runs it and commits a result file."""
    sources = sorted(workspace.glob("*.c"))
    lines = sum(len(path.read_text().splitlines()) for path in sources)
    print(f"agent: read {len(sources)} source file(s), {lines} lines")

    run("gcc", "-O1", "-o", "hello", *[path.name for path in sources])
    said = run("./hello")
    print(f"agent: compiled and ran it: {said!r}")

    result = {"sources": [path.name for path in sources], "lines": lines, "output": said}
    (workspace / "result.json").write_text(json.dumps(result, indent=2) + "\n")
    run("git", "add", "result.json")
    run("git", "-c", "user.name=agent", "-c", "user.email=agent@example.invalid",
        "commit", "-q", "-m", "Record what the program said")
    print(f"agent: committed result.json as {run('git', 'rev-parse', '--short', 'HEAD')}")


def attempt(what, action):
    """Tries something that should be refused and says how it ended."""
    try:
        action()
    except OSError as error:
        print(f"agent: {what}: refused ({errno.errorcode.get(error.errno, error.errno)})")
        return True
    print(f"agent: {what}: WENT THROUGH")
    return False


def system_call(number, *arguments):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(number, *arguments) == -1:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def misbehave(outside_file):
    """Four things a well-behaved agent has no business doing."""
    machine = os.uname().machine
    outside = pathlib.Path(outside_file)
    return all([
        attempt(f"read {outside}", outside.read_bytes),
        attempt("write next to it", lambda: outside.with_name("planted.txt").write_text("x")),
        attempt("ptrace", lambda: system_call(SYS_PTRACE[machine], PTRACE_TRACEME, 0, 0, 0)),
        attempt("unshare", lambda: system_call(SYS_UNSHARE[machine], 0)),
    ])


def main():
    workspace = pathlib.Path(os.getcwd())
    work(workspace)
    refused = misbehave(sys.argv[1])
    print("agent: done")
    return 0 if refused else 1


if __name__ == "__main__":
    sys.exit(main())
