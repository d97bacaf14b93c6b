"""Whether an attempt had its effect, seen from outside. Each function takes a snapshot; an effect
has happened when the snapshots before and after differ, or says otherwise by itself."""

import contextlib
import os
import pathlib
import resource
import signal
import stat
import time

TAKEN = b"taken"


def identity(path):
    """Everything of a path but what a writer of its own changes in its contents."""
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return None
    except PermissionError:
        return "out of reach"
    attributes = {}
    with contextlib.suppress(OSError):
        attributes = {name: os.getxattr(path, name, follow_symlinks=False)
                      for name in os.listxattr(path, follow_symlinks=False)}
    return (status.st_mode, status.st_uid, status.st_gid, status.st_ino, attributes)


def content(path, status):
    """The start of a regular file; a pipe would wait, and a sparse file has no end."""
    if stat.S_ISDIR(status.st_mode):
        return sorted(os.listdir(path))
    if not stat.S_ISREG(status.st_mode):
        return None
    try:
        with open(path, "rb") as file:
            return (status.st_size, file.read(1 << 20))
    except PermissionError:
        return "unreadable"


def of_file(path):
    """All of it: contents and times too."""
    path = pathlib.Path(path)
    if identity(path) in (None, "out of reach"):
        return identity(path)
    status = os.lstat(path)
    link = os.readlink(path) if path.is_symlink() else None
    return (identity(path), content(path, status), status.st_mtime_ns, link)


def of_written_file(path):
    """A file that its owner goes on writing: who it is, whether it is empty, whether our mark is in it."""
    found = identity(path)
    if found is None or found == "out of reach" or not os.path.isfile(path):
        return found
    return (found, os.path.getsize(path) == 0, marked(path))


def marked(path):
    try:
        return TAKEN in pathlib.Path(path).read_bytes()
    except OSError:
        return False


def of_tree(folder):
    if identity(folder) in (None, "out of reach"):
        return {str(folder): identity(folder)}
    return {str(path): of_file(path) for path in [folder, *sorted(pathlib.Path(folder).rglob("*"))]}


def stat_fields(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except (FileNotFoundError, ProcessLookupError):
        return None


def dead(pid):
    fields = stat_fields(pid)
    return fields is None or fields[0] in "ZX"


def stopped(pid):
    fields = stat_fields(pid)
    return fields is not None and fields[0] in "Tt"


def scheduling(pid):
    """As a process of ours has it that nobody touched."""
    fields = stat_fields(pid)
    return None if fields is None else (fields[16], os.sched_getscheduler(pid), sorted(os.sched_getaffinity(pid)))


FILES = {"changed": of_file, "written": of_written_file}
# Whether it has happened can be told without a look before.
NOW = {"marked": marked, "gone": lambda path: not os.path.lexists(path)}
PROCESSES = {
    "dead": dead,
    "stopped": stopped,
    "rescheduled": lambda pid: scheduling(pid) != scheduling(os.getpid()),
    "limited": lambda pid: resource.prlimit(pid, resource.RLIMIT_NPROC) != resource.getrlimit(resource.RLIMIT_NPROC),
}


def left_behind(output):
    """Which of the processes that an attempt left are still there a while after it ended."""
    pids = [int(line.split()[1]) for line in output.splitlines() if line.startswith("left ")]
    end = time.monotonic() + 2
    while time.monotonic() < end and not all(dead(pid) for pid in pids):
        time.sleep(0.01)
    alive = [pid for pid in pids if not dead(pid)]
    for pid in alive:
        os.kill(pid, signal.SIGKILL)
    return alive


class Effect:
    """One effect of the data: "result", "none", "outlives", "leak:WORD", a kind of FILES or NOW and a path,
    or a kind of PROCESSES and a pid.

    before() and happened() are called on either side of the attempt, while everybody still lives.
    `places` fills the {words}; those of processes may be known only afterwards.
    """

    def __init__(self, text):
        self.kind, _, self.target = text.partition(":")
        self.at_start = None

    def before(self, places):
        if self.kind in FILES:
            self.at_start = FILES[self.kind](self.target.format(**places))

    def happened(self, places, output, went_through):
        target = self.target.format(**places)
        if self.kind == "result":
            return went_through
        if self.kind in ("none", "outlives"):
            return False
        if self.kind == "leak":
            return any(target in line for line in output.splitlines() if line.startswith("leak: "))
        if self.kind in FILES:
            return FILES[self.kind](target) != self.at_start
        if self.kind in NOW:
            return NOW[self.kind](target)
        return PROCESSES[self.kind](int(target))
