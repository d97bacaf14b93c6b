#!/usr/bin/env python3
"""Work on files, and starting programs, at each level of `evidence.filesystem` and below limits, as a ratio to the same without a boundary.

    AASM=build/release/bin/aasm bench/files.py [--rounds N]

The same work runs in turn without and with each, and in bwrap; a row is the median of the ratios of its rounds.
"""

import argparse
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

import boundary

LEVELS = ("setup", "write-decisions", "decisions")
LIMITS = ("processes: { max: 4096 }", "resources: { open_files: 1024, cpu_seconds: 3600, file_size_bytes: 1073741824 }")
COLUMNS = ("bwrap", *LEVELS, "limits")

# Each prints the seconds that its part took, without what starts a program.
SMALL = """
import os, time
begin = time.perf_counter()
for i in range(2000):
    name = f"s{i}"
    fd = os.open(name, os.O_WRONLY | os.O_CREAT, 0o644); os.write(fd, b"x" * 400); os.close(fd)
    os.stat(name)
    fd = os.open(name, os.O_RDONLY); os.read(fd, 500); os.close(fd)
for i in range(2000):
    os.unlink(f"s{i}")
print(time.perf_counter() - begin)
"""
COMMAND = """
import subprocess, sys, time
begin = time.perf_counter()
subprocess.run(sys.argv[1:], check=False, stdout=subprocess.DEVNULL)
print(time.perf_counter() - begin)
"""
UNIT = "#include <algorithm>\n#include <iostream>\n#include <map>\n#include <regex>\n#include <string>\nint main() {}\n"
WORK = {
    "one C++ unit": [COMMAND, "g++", "-O0", "-c", "unit.cc", "-o", "unit.o"],
    "many small files": [SMALL],
    "grep -r /usr/include": [COMMAND, "grep", "-r", "no such text", "/usr/include"],
    "start a program": ["""
import os, time
begin = time.perf_counter()
for i in range(300):
    os.waitpid(os.posix_spawn("/usr/bin/true", ["true"], {}), 0)
print(time.perf_counter() - begin)
"""],
    "open for writing, close": ["""
import os, time
begin = time.perf_counter()
for i in range(3000):
    os.close(os.open("one", os.O_WRONLY | os.O_CREAT, 0o644))
print(time.perf_counter() - begin)
"""],
    "chmod": ["""
import os, time
open("one", "w").close()
begin = time.perf_counter()
for i in range(3000):
    os.chmod("one", 0o640 + i % 2)
print(time.perf_counter() - begin)
"""],
    "open for reading, close": ["""
import os, time
begin = time.perf_counter()
for i in range(3000):
    os.close(os.open("unit.cc", os.O_RDONLY))
print(time.perf_counter() - begin)
"""],
}


def work_of(text):
    return {name: command for name, command in WORK.items() if text in name}


def seconds(argv, work, env):
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    (work / "unit.cc").write_text(UNIT)
    return float(subprocess.run(argv, env={**env, "TMPDIR": str(work)}, cwd=work, check=True, capture_output=True,
                                text=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="rows whose name has this text")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    aasm = boundary.program()
    ratios = {}
    with tempfile.TemporaryDirectory(prefix="aasm-bench-") as root:
        work = pathlib.Path(root) / "work"
        env = boundary.make_home(aasm, root)
        for level in LEVELS:
            (pathlib.Path(root) / level).write_text(boundary.policy(f"evidence: {{ filesystem: {level} }}"))
        (pathlib.Path(root) / "limits").write_text(boundary.policy("evidence: { filesystem: setup }", *LIMITS))
        columns = COLUMNS if boundary.in_bwrap() else COLUMNS[1:]
        for _ in range(options.rounds):
            for name, command in work_of(options.only).items():
                argv = ["/usr/bin/python3", "-c", *command]
                plain = seconds(argv, work, env)
                for level in columns:
                    aasm_run = [aasm, "run", "exec", "--policy", f"{root}/{level}", "--", *argv]
                    confined = boundary.in_bwrap(*argv) if level == "bwrap" else aasm_run
                    ratios.setdefault((name, level), []).append(seconds(confined, work, env) / plain)
    table = {name: {level: round(statistics.median(ratios[name, level]), 2) for level in columns} for name in work_of(options.only)}
    if options.json:
        print(json.dumps(table, indent=1))
        return 0
    for name, row in table.items():
        print(f"{name:26}" + "".join(f"  {level} {row[level]:5.2f}x" for level in columns))
    return 0


if __name__ == "__main__":
    sys.exit(main())
