"""Makes a table of system calls on names and prints what each came to, one JSON line a call.

Arguments: a directory to work in, one to stay out of. Every call starts from the same small tree; what is printed is
its answer, what an open gave, and how the tree looks afterwards. Raw calls, so that no library turns one into another.
"""

import ctypes
import errno
import fcntl
import json
import os
import platform
import shutil
import stat
import struct
import sys

WORK, OUTSIDE = sys.argv[1], sys.argv[2]
LIBC = ctypes.CDLL(None, use_errno=True)
X86 = platform.machine() == "x86_64"
NUMBERS = (
    {"open": 2, "creat": 85, "truncate": 76, "rename": 82, "mkdir": 83, "rmdir": 84, "link": 86, "unlink": 87,
     "symlink": 88, "mknod": 133, "openat": 257, "mkdirat": 258, "mknodat": 259, "unlinkat": 263, "renameat": 264,
     "linkat": 265, "symlinkat": 266, "renameat2": 316, "openat2": 437, "chmod": 90, "fchmod": 91, "chown": 92, "fchown": 93,
     "lchown": 94, "utime": 132, "setxattr": 188, "lsetxattr": 189, "fsetxattr": 190, "removexattr": 197,
     "lremovexattr": 198, "fremovexattr": 199, "utimes": 235, "fchownat": 260, "futimesat": 261, "fchmodat": 268,
     "utimensat": 280}
    if X86 else
    {"mknodat": 33, "mkdirat": 34, "unlinkat": 35, "symlinkat": 36, "linkat": 37, "renameat": 38, "truncate": 45,
     "openat": 56, "renameat2": 276, "openat2": 437, "setxattr": 5, "lsetxattr": 6, "fsetxattr": 7, "removexattr": 14,
     "lremovexattr": 15, "fremovexattr": 16, "fchmod": 52, "fchmodat": 53, "fchownat": 54, "fchown": 55, "utimensat": 88})
NUMBERS.update({"ioctl": 16 if X86 else 29, "fchmodat2": 452, "setxattrat": 463, "removexattrat": 466, "file_setattr": 469})
CWD = -100
O_TMPFILE = 0o20000000 | os.O_DIRECTORY
O_PATH = 0o10000000
NO_XDEV, NO_MAGIC, NO_SYMLINKS, BENEATH, IN_ROOT, CACHED = 1, 2, 4, 8, 16, 32


def raw(name, *args):
    given = [arg.encode() if isinstance(arg, str) else arg for arg in args]
    given = [ctypes.c_char_p(arg) if isinstance(arg, bytes) else ctypes.c_long(arg) if isinstance(arg, int) else arg
             for arg in given]
    result = LIBC.syscall(ctypes.c_long(NUMBERS[name]), *given)
    if result < 0:
        raise OSError(ctypes.get_errno(), name)
    return result


def what(fd):
    """What a descriptor is."""
    status = os.fstat(fd)
    told = {"type": stat.S_IFMT(status.st_mode), "flags": fcntl.fcntl(fd, fcntl.F_GETFL),
            "cloexec": fcntl.fcntl(fd, fcntl.F_GETFD), "size": status.st_size if stat.S_ISREG(status.st_mode) else 0}
    os.close(fd)
    return told


def opened(*args):
    return what(raw("open", *args)) if X86 else what(raw("openat", CWD, *args))


def openat(*args):
    return what(raw("openat", *args))


def how(directory, path, flags, mode=0, resolve=0, size=24, extra=b""):
    block = ctypes.create_string_buffer(struct.pack("QQQ", flags, mode, resolve) + extra, max(size, 24 + len(extra)))
    return what(raw("openat2", directory, path, ctypes.byref(block), size))


def at(path, flags=O_PATH | os.O_DIRECTORY):
    return os.open(path, flags)


def with_directory(path, call):
    fd = at(path)
    try:
        return call(fd)
    finally:
        os.close(fd)


def within(path, call):
    os.chdir(path)
    try:
        return call()
    finally:
        os.chdir(WORK + "/case")


def masked(mask, call):
    before = os.umask(mask)
    try:
        return call()
    finally:
        os.umask(before)


def write_through(path, flags, text):
    fd = raw("openat", CWD, path, flags, 0o644)
    os.write(fd, text)
    os.close(fd)


def link_of_unnamed(name):
    fd = raw("openat", CWD, "d", O_TMPFILE | os.O_RDWR, 0o600)
    os.write(fd, b"unnamed")
    try:
        return raw("linkat", CWD, f"/proc/self/fd/{fd}", CWD, name, 0x400)
    finally:
        os.close(fd)


def reopen(path, first, second):
    fd = os.open(path, first)
    try:
        return opened(f"/proc/self/fd/{fd}", second)
    finally:
        os.close(fd)


def with_file(path, flags, call):
    """A call on a descriptor, and what it changed."""
    fd = os.open(path, flags)
    try:
        return call(fd), attributes(fd)
    finally:
        os.close(fd)


def attributes(path, follow=True):
    """What a call on attributes can change."""
    status = os.stat(path) if isinstance(path, int) else os.stat(path, follow_symlinks=follow)
    told = [oct(status.st_mode), status.st_uid, status.st_gid, whole(status.st_atime), whole(status.st_mtime)]
    try:
        names = sorted(os.listxattr(path) if isinstance(path, int) else os.listxattr(path, follow_symlinks=follow))
        told.append([(name, len(os.getxattr(path, name))) for name in names if name.startswith("user.")])
    except OSError:
        told.append(None)
    return told


def whole(seconds):
    """A time that a call has set; others differ from run to run."""
    return seconds if seconds < EARLY else "now"


def changed(path, name, *args, follow=True):
    return raw(name, *args), attributes(path, follow)


def block(layout, *values):
    text = struct.pack(layout, *values)
    return ctypes.byref(ctypes.create_string_buffer(text, len(text)))


def with_no_dump(fd):
    """Its flags and one more. Without those it has, ext4 would rewrite the file in the form it had before extents, which it does when it can."""
    flags = ctypes.c_int(0)
    LIBC.ioctl(fd, GETFLAGS, ctypes.byref(flags))
    return raw("ioctl", fd, SETFLAGS, block("i", flags.value | 0x40))


def times(*values):
    """Two struct timespec."""
    return block("qqqq", *(values or (1000, 500000000, 2000, 250000000)))


def big(size):
    return ctypes.c_char_p(b"v" * size)


def without(path, name, *args):
    """Removes an attribute that is there."""
    os.setxattr(path, "user.a", b"value")
    return changed(path, name, *args)


def at_call(value, size=16, flags=0, total=16):
    """struct xattr_args"""
    held = ctypes.create_string_buffer(value)
    del kept[:-8]
    kept.append(held)
    return ctypes.byref(ctypes.create_string_buffer(struct.pack("QII", ctypes.addressof(held), size, flags), max(total, 16)))


def on_pipe(name, *args):
    ends = os.pipe()
    try:
        return raw(name, ends[0], *args), oct(os.fstat(ends[0]).st_mode)
    finally:
        os.close(ends[0])
        os.close(ends[1])


def openat_only(path, flags):
    return raw("openat", CWD, path, flags, 0o600)


def removed_directory(call):
    os.mkdir("gone")
    fd = at("gone")
    os.rmdir("gone")
    try:
        return call(fd)
    finally:
        os.close(fd)


def legacy(name, modern):
    """The call by its old number where there is one."""
    return name if X86 else modern


W, RW, C, T, X, A = os.O_WRONLY, os.O_RDWR, os.O_CREAT, os.O_TRUNC, os.O_EXCL, os.O_APPEND
R = os.O_RDONLY
NOFOLLOW, EMPTY = 0x100, 0x1000
OMIT, NOW = (1 << 30) - 2, (1 << 30) - 1
EARLY = 1e9
GETFLAGS, SETFLAGS, FSSETXATTR = 0x80086601, 0x40086602, 0x401C5820
ME, MINE = os.getuid(), os.getgid()
kept = []
LONG = "n" * 255
CALLS = {
    # opening
    "write": lambda: opened("f", W),
    "read write": lambda: opened("f", RW),
    "read": lambda: opened("f", 0),
    "access mode 3": lambda: opened("f", 3),
    "append": lambda: opened("f", W | A),
    "truncating": lambda: opened("f", W | T),
    "truncating for reading": lambda: opened("f", T),
    "creating": lambda: opened("new", W | C, 0o666),
    "creating with odd mode": lambda: opened("new", RW | C, 0o7777),
    "creating read only": lambda: opened("new", C, 0o444),
    "creating where it is": lambda: opened("f", W | C, 0o666),
    "creating exclusively": lambda: opened("new", W | C | X, 0o666),
    "creating exclusively where it is": lambda: opened("f", W | C | X, 0o666),
    "creating exclusively at a link": lambda: opened("dangling", W | C | X, 0o666),
    "creating through a dangling link": lambda: opened("dangling", W | C, 0o666),
    "mask 077": lambda: masked(0o77, lambda: opened("new", W | C, 0o666)),
    "mask 0": lambda: masked(0, lambda: opened("new", W | C, 0o666)),
    "close on exec": lambda: opened("f", W | os.O_CLOEXEC),
    "not blocking": lambda: opened("f", W | os.O_NONBLOCK),
    "synchronous": lambda: opened("f", W | os.O_SYNC),
    "no access time": lambda: opened("f", RW | os.O_NOATIME),
    "directory flag on a file": lambda: opened("f", W | os.O_DIRECTORY),
    "a directory for writing": lambda: opened("d", W),
    "a directory": lambda: opened("d", os.O_DIRECTORY),
    "creating a directory": lambda: opened("new", W | C | os.O_DIRECTORY, 0o666),
    "creating onto a directory": lambda: opened("d", C, 0o666),
    "slash behind a file": lambda: opened("f/", W),
    "slash behind a directory": lambda: opened("d/", 0),
    "slashes behind a directory": lambda: opened("d///", 0),
    "creating with a slash": lambda: opened("new/", W | C, 0o666),
    "creating a link with a slash": lambda: opened("dlink/", W | C, 0o666),
    "slash behind a link to a directory": lambda: opened("dlink/", 0),
    "creating dot": lambda: opened(".", W | C, 0o666),
    "creating dot dot": lambda: opened("d/..", W | C, 0o666),
    "dot": lambda: opened(".", 0),
    "dot dot": lambda: opened("d/..", 0),
    "through dots": lambda: opened("./d/../f", W),
    "through a missing one": lambda: opened("missing/../f", W),
    "through a file": lambda: opened("f/x", W),
    "missing": lambda: opened("missing", W),
    "empty": lambda: opened("", W),
    "no address": lambda: opened(1, W),
    "long name": lambda: opened(LONG, W | C, 0o600),
    "longer name": lambda: opened(LONG + "n", W | C, 0o600),
    "long path": lambda: opened("./" * 2047 + "f", W),
    "longer path": lambda: opened("./" * 2048 + "f", W),
    "link": lambda: opened("link", W),
    "link to an absolute name": lambda: opened("abs", W),
    "link not followed": lambda: opened("link", W | os.O_NOFOLLOW),
    "loop": lambda: opened("loop", W),
    "through a link": lambda: opened("dlink/x", W),
    "through a link not followed": lambda: opened("dlink/x", W | os.O_NOFOLLOW),
    "creating through a link": lambda: opened("dlink/new", W | C, 0o644),
    "40 links": lambda: opened("chain39", W),
    "41 links": lambda: opened("chain40", W),
    "read only file": lambda: opened("ro", W),
    "read only file, truncating": lambda: opened("ro", T),
    "closed directory": lambda: opened("closed/x", W),
    "null": lambda: opened("/dev/null", W),
    "null, creating": lambda: opened("/dev/null", W | C | T, 0o666),
    "pipe, not blocking, nobody reads": lambda: opened("fifo", W | os.O_NONBLOCK),
    "pipe for both": lambda: opened("fifo", RW),
    "socket file": lambda: opened("sock", W),
    "unnamed": lambda: opened("d", O_TMPFILE | RW, 0o600),
    "unnamed with a slash": lambda: opened("d/", O_TMPFILE | RW, 0o600),
    "unnamed in a link": lambda: opened("dlink", O_TMPFILE | RW, 0o600),
    "unnamed in a link not followed": lambda: opened("dlink", O_TMPFILE | RW | os.O_NOFOLLOW, 0o600),
    "unnamed, read only": lambda: opened("d", O_TMPFILE, 0o600),
    "unnamed in a file": lambda: opened("f", O_TMPFILE | RW, 0o600),
    "unnamed, linked": lambda: link_of_unnamed("named"),
    "relative to a descriptor": lambda: with_directory("d", lambda fd: openat(fd, "x", W)),
    "creating relative to a descriptor": lambda: with_directory("d", lambda fd: openat(fd, "new", W | C, 0o640)),
    "up from a descriptor": lambda: with_directory("d", lambda fd: openat(fd, "../f", W)),
    "relative to a file": lambda: openat(os.open("f", os.O_RDONLY), "x", W | C, 0o640),
    "relative to nothing": lambda: openat(77, "x", W | C, 0o640),
    "absolute with a bad descriptor": lambda: openat(77, WORK + "/case/f", W),
    "relative to a removed directory": lambda: removed_directory(lambda fd: openat(fd, "x", W | C, 0o640)),
    "in another directory": lambda: within("d", lambda: opened("x", W)),
    "own descriptor": lambda: reopen("f", os.O_RDONLY, W),
    "own descriptor of a reference": lambda: reopen("f", O_PATH, RW),
    "own descriptor, creating": lambda: reopen("f", os.O_RDONLY, W | C),
    "own descriptor of a directory": lambda: with_directory("d", lambda fd: opened(f"/proc/self/fd/{fd}/x", W)),
    "creating by own descriptor": lambda: with_directory(
        "d", lambda fd: opened(f"/proc/self/fd/{fd}/new", W | C, 0o600)),
    "own directory": lambda: within("d", lambda: opened("/proc/self/cwd/x", W)),
    "thread's own directory": lambda: within("d", lambda: opened("/proc/thread-self/cwd/x", W)),
    "own root": lambda: opened("/proc/self/root" + WORK + "/case/f", W),
    "name of the process": lambda: opened("/proc/self/comm", W),
    "status of the process": lambda: opened("/proc/self/status", 0),
    "mounts": lambda: opened("/proc/mounts", 0),
    "descriptors by /dev": lambda: with_directory("d", lambda fd: opened(f"/dev/fd/{fd}/x", W)),
    "a missing descriptor": lambda: opened("/proc/self/fd/77", W),
    "written": lambda: write_through("f", W | A, b"more"),
    # openat2
    "how": lambda: how(CWD, "f", W),
    "how, creating": lambda: how(CWD, "new", W | C, 0o640),
    "how, mode without creating": lambda: how(CWD, "f", W, 0o640),
    "how, unknown flag": lambda: how(CWD, "f", 1 << 40),
    "how, unknown way": lambda: how(CWD, "f", W, 0, 1 << 20),
    "how, short": lambda: how(CWD, "f", W, size=16),
    "how, longer": lambda: how(CWD, "f", W, size=32, extra=bytes(8)),
    "how, longer and not zero": lambda: how(CWD, "f", W, size=32, extra=b"\1" * 8),
    "how, too long": lambda: how(CWD, "f", W, size=5000),
    "how, reference": lambda: how(CWD, "link", O_PATH),
    "how, reference to a link": lambda: how(CWD, "link", O_PATH | os.O_NOFOLLOW),
    "how, beneath": lambda: with_directory("d", lambda fd: how(fd, "x", W, 0, BENEATH)),
    "how, beneath and out": lambda: with_directory("d", lambda fd: how(fd, "../f", W, 0, BENEATH)),
    "how, in root": lambda: with_directory("d", lambda fd: how(fd, "/x", W, 0, IN_ROOT)),
    "how, in root and out": lambda: with_directory("d", lambda fd: how(fd, "/../../x", W, 0, IN_ROOT)),
    "how, creating in root": lambda: with_directory("d", lambda fd: how(fd, "/new", W | C, 0o600, IN_ROOT)),
    "how, no links": lambda: how(CWD, "link", W, 0, NO_SYMLINKS),
    "how, no links on the way": lambda: how(CWD, "dlink/x", W, 0, NO_SYMLINKS),
    "how, one filesystem": lambda: how(CWD, "d/x", W, 0, NO_XDEV),
    "how, beneath by a link inside": lambda: with_directory(".", lambda fd: how(fd, "dlink/x", W, 0, BENEATH)),
    "how, beneath by a link out": lambda: with_directory(".", lambda fd: how(fd, "out/f", W, 0, BENEATH)),
    "how, beneath by an absolute link": lambda: with_directory(".", lambda fd: how(fd, "abs", W, 0, BENEATH)),
    "how, beneath an absolute name": lambda: with_directory(".", lambda fd: how(fd, WORK + "/case/f", W, 0, BENEATH)),
    "how, beneath and up again": lambda: with_directory(".", lambda fd: how(fd, "d/../f", W, 0, BENEATH)),
    "how, beneath and missing": lambda: with_directory("d", lambda fd: how(fd, "missing", W, 0, BENEATH)),
    "how, beneath the working directory": lambda: how(CWD, "f", RW, 0, BENEATH),
    "how, beneath a bad descriptor": lambda: how(77, "f", RW, 0, BENEATH),
    "how, beneath a link not followed": lambda: how(CWD, "link", W | os.O_NOFOLLOW, 0, BENEATH),
    "how, beneath a directory": lambda: how(CWD, "d", os.O_DIRECTORY, 0, BENEATH),
    "how, beneath a directory with a slash": lambda: how(CWD, "dlink/", os.O_DIRECTORY, 0, BENEATH),
    "how, beneath a file with a slash": lambda: how(CWD, "f/", R, 0, BENEATH),
    "how, beneath a loop": lambda: how(CWD, "loop", R, 0, BENEATH),
    "how, creating beneath": lambda: with_directory("d", lambda fd: how(fd, "new", W | C, 0o640, BENEATH)),
    "how, creating beneath and out": lambda: with_directory("d", lambda fd: how(fd, "../new", W | C, 0o640, BENEATH)),
    "how, creating beneath by a dangling link": lambda: how(CWD, "dangling", W | C, 0o640, BENEATH),
    "how, creating beneath by a link": lambda: how(CWD, "dlink/new", W | C, 0o640, BENEATH),
    "how, creating beneath exclusively": lambda: how(CWD, "new", W | C | X, 0o640, BENEATH),
    "how, creating beneath exclusively at a link": lambda: how(CWD, "dangling", W | C | X, 0o640, BENEATH),
    "how, creating beneath exclusively where it is": lambda: how(CWD, "f", W | C | X, 0o640, BENEATH),
    "how, creating beneath where it is": lambda: how(CWD, "f", W | C | T, 0o640, BENEATH),
    "how, creating beneath with a slash": lambda: how(CWD, "new/", W | C, 0o640, BENEATH),
    "how, creating beneath a directory": lambda: how(CWD, "d", W | C, 0o640, BENEATH),
    "how, creating beneath nothing": lambda: how(CWD, "missing/new", W | C, 0o640, BENEATH),
    "how, creating beneath a long name": lambda: how(CWD, LONG + "n", W | C, 0o640, BENEATH),
    "how, unnamed beneath": lambda: how(CWD, "d", O_TMPFILE | RW, 0o600, BENEATH),
    "how, in root by an absolute link": lambda: with_directory(".", lambda fd: how(fd, "abs", W, 0, IN_ROOT)),
    "how, creating in root by a dangling link": lambda: with_directory(".", lambda fd: how(fd, "/dangling", W | C, 0o600, IN_ROOT)),
    "how, creating in root without links": lambda: with_directory(".", lambda fd: how(fd, "dangling", W | C, 0o600, IN_ROOT | NO_SYMLINKS)),
    "how, by own descriptor beneath": lambda: with_directory("/proc", lambda fd: how(fd, "self/cwd/f", R, 0, BENEATH)),
    "how, creating without links": lambda: how(CWD, "new", W | C, 0o600, NO_SYMLINKS),
    "how, creating on one filesystem": lambda: how(CWD, "new", W | C, 0o600, NO_XDEV),
    "how, to another filesystem": lambda: how(CWD, "/dev/null", W, 0, NO_XDEV),
    "how, outside beneath": lambda: with_directory(OUTSIDE, lambda fd: how(fd, "f", W, 0, BENEATH)),
    "how, creating outside beneath": lambda: with_directory(OUTSIDE, lambda fd: how(fd, "new", W | C, 0o600, BENEATH)),
    "how, cached and creating": lambda: how(CWD, "new", W | C, 0o600, CACHED | BENEATH),
    "how, no links of proc": lambda: how(CWD, "/proc/self/cwd/f", W, 0, NO_MAGIC),
    # names
    "unlink": lambda: raw("unlinkat", CWD, "f", 0),
    "unlink a link": lambda: raw("unlinkat", CWD, "link", 0),
    "unlink with a slash": lambda: raw("unlinkat", CWD, "f/", 0),
    "unlink a link with a slash": lambda: raw("unlinkat", CWD, "dlink/", 0),
    "unlink a directory": lambda: raw("unlinkat", CWD, "d", 0),
    "unlink dot": lambda: raw("unlinkat", CWD, ".", 0),
    "unlink root": lambda: raw("unlinkat", CWD, "/", 0),
    "unlink missing": lambda: raw("unlinkat", CWD, "missing", 0),
    "unlink with an unknown flag": lambda: raw("unlinkat", CWD, "f", 0x1000),
    "unlink by descriptor": lambda: with_directory("d", lambda fd: raw("unlinkat", fd, "x", 0)),
    "rmdir": lambda: raw("unlinkat", CWD, "empty", 0x200),
    "rmdir with a slash": lambda: raw("unlinkat", CWD, "empty/", 0x200),
    "rmdir a full one": lambda: raw("unlinkat", CWD, "d", 0x200),
    "rmdir a file": lambda: raw("unlinkat", CWD, "f", 0x200),
    "rmdir dot": lambda: raw("unlinkat", CWD, "empty/.", 0x200),
    "rmdir dot dot": lambda: raw("unlinkat", CWD, "d/..", 0x200),
    "rmdir root": lambda: raw("unlinkat", CWD, "/", 0x200),
    "rmdir a link": lambda: raw("unlinkat", CWD, "dlink", 0x200),
    "mkdir": lambda: raw("mkdirat", CWD, "new", 0o777),
    "mkdir with a slash": lambda: raw("mkdirat", CWD, "new/", 0o777),
    "mkdir masked": lambda: masked(0o27, lambda: raw("mkdirat", CWD, "new", 0o1777)),
    "mkdir where it is": lambda: raw("mkdirat", CWD, "d", 0o777),
    "mkdir at a dangling link": lambda: raw("mkdirat", CWD, "dangling", 0o777),
    "mkdir at a dangling link with a slash": lambda: raw("mkdirat", CWD, "dangling/", 0o777),
    "mkdir dot": lambda: raw("mkdirat", CWD, ".", 0o777),
    "mkdir root": lambda: raw("mkdirat", CWD, "/", 0o777),
    "mkdir without parent": lambda: raw("mkdirat", CWD, "missing/new", 0o777),
    "mknod a file": lambda: raw("mknodat", CWD, "new", stat.S_IFREG | 0o644, 0),
    "mknod without a type": lambda: raw("mknodat", CWD, "new", 0o644, 0),
    "mknod a pipe": lambda: raw("mknodat", CWD, "new", stat.S_IFIFO | 0o644, 0),
    "mknod a socket": lambda: raw("mknodat", CWD, "new", stat.S_IFSOCK | 0o644, 0),
    "mknod a directory": lambda: raw("mknodat", CWD, "new", stat.S_IFDIR | 0o755, 0),
    "mknod of no kind": lambda: raw("mknodat", CWD, "new", 0o150000, 0),
    "mknod where it is": lambda: raw("mknodat", CWD, "f", stat.S_IFIFO | 0o644, 0),
    "symlink": lambda: raw("symlinkat", "some/where", CWD, "new"),
    "symlink of nothing": lambda: raw("symlinkat", "", CWD, "new"),
    "symlink where it is": lambda: raw("symlinkat", "x", CWD, "link"),
    "symlink with a slash": lambda: raw("symlinkat", "x", CWD, "new/"),
    "symlink of a long text": lambda: raw("symlinkat", "x" * 4095, CWD, "new"),
    "symlink of a longer text": lambda: raw("symlinkat", "x" * 4096, CWD, "new"),
    "link a file": lambda: raw("linkat", CWD, "f", CWD, "new", 0),
    "link a link": lambda: raw("linkat", CWD, "link", CWD, "new", 0),
    "link what a link names": lambda: raw("linkat", CWD, "link", CWD, "new", 0x400),
    "link a directory": lambda: raw("linkat", CWD, "d", CWD, "new", 0),
    "link where it is": lambda: raw("linkat", CWD, "f", CWD, "d/x", 0),
    "link missing": lambda: raw("linkat", CWD, "missing", CWD, "new", 0),
    "link with an unknown flag": lambda: raw("linkat", CWD, "f", CWD, "new", 0x8000),
    "link without a name": lambda: raw("linkat", CWD, "", CWD, "new", 0),
    "link out": lambda: raw("linkat", CWD, "f", CWD, OUTSIDE + "/new", 0),
    "link in": lambda: raw("linkat", CWD, OUTSIDE + "/f", CWD, "new", 0),
    "rename": lambda: raw("renameat2", CWD, "f", CWD, "new", 0),
    "rename onto": lambda: raw("renameat2", CWD, "f", CWD, "d/x", 0),
    "rename into": lambda: raw("renameat2", CWD, "f", CWD, "d/new", 0),
    "rename a directory": lambda: raw("renameat2", CWD, "d", CWD, "empty", 0),
    "rename a directory with slashes": lambda: raw("renameat2", CWD, "d/", CWD, "new/", 0),
    "rename a file with a slash": lambda: raw("renameat2", CWD, "f/", CWD, "new", 0),
    "rename into itself": lambda: raw("renameat2", CWD, "d", CWD, "d/inner", 0),
    "rename a file onto a directory": lambda: raw("renameat2", CWD, "f", CWD, "d", 0),
    "rename dot": lambda: raw("renameat2", CWD, "d/.", CWD, "new", 0),
    "rename without replacing": lambda: raw("renameat2", CWD, "f", CWD, "ro", 1),
    "exchange": lambda: raw("renameat2", CWD, "f", CWD, "d/x", 2),
    "exchange with missing": lambda: raw("renameat2", CWD, "f", CWD, "missing", 2),
    "rename with an unknown flag": lambda: raw("renameat2", CWD, "f", CWD, "new", 0x80),
    "rename with flags that exclude": lambda: raw("renameat2", CWD, "f", CWD, "new", 3),
    "rename a link": lambda: raw("renameat2", CWD, "link", CWD, "new", 0),
    "rename out": lambda: raw("renameat2", CWD, "f", CWD, OUTSIDE + "/new", 0),
    "rename in": lambda: raw("renameat2", CWD, OUTSIDE + "/f", CWD, "new", 0),
    "rename between descriptors": lambda: with_directory(
        "d", lambda d: with_directory("empty", lambda e: raw("renameat", d, "x", e, "y"))),
    "rename by own descriptors": lambda: with_directory(
        "d", lambda d: raw("renameat2", CWD, f"/proc/self/fd/{d}/x", CWD, "new", 0)),
    "truncate": lambda: raw("truncate", "f", 2),
    "truncate longer": lambda: raw("truncate", "link", 100),
    "truncate below zero": lambda: raw("truncate", "f", -1),
    "truncate a directory": lambda: raw("truncate", "d", 0),
    "truncate a pipe": lambda: raw("truncate", "fifo", 0),
    "truncate missing": lambda: raw("truncate", "missing", 0),
    "truncate read only": lambda: raw("truncate", "ro", 0),
    "truncate a loop": lambda: raw("truncate", "loop", 0),
    "truncate with a slash": lambda: raw("truncate", "f/", 0),
    # outside
    "outside, write": lambda: opened(OUTSIDE + "/f", W),
    "outside, read": lambda: opened(OUTSIDE + "/f", 0),
    "outside, read write": lambda: opened(OUTSIDE + "/f", RW),
    "outside, create": lambda: opened(OUTSIDE + "/new", W | C, 0o644),
    "outside, create exclusively": lambda: opened(OUTSIDE + "/f", W | C | X, 0o644),
    "outside, missing": lambda: opened(OUTSIDE + "/missing", W),
    "outside, truncate": lambda: raw("truncate", OUTSIDE + "/f", 0),
    "outside, by a link": lambda: opened("out/f", W),
    "outside, unlink": lambda: raw("unlinkat", CWD, OUTSIDE + "/f", 0),
    "outside, mkdir": lambda: raw("mkdirat", CWD, OUTSIDE + "/new", 0o755),
    "outside, mkdir where it is": lambda: raw("mkdirat", CWD, OUTSIDE, 0o755),
    "outside, symlink": lambda: raw("symlinkat", "x", CWD, OUTSIDE + "/new"),
    "outside, mknod": lambda: raw("mknodat", CWD, OUTSIDE + "/new", stat.S_IFIFO | 0o644, 0),
    "outside, unnamed": lambda: opened(OUTSIDE, O_TMPFILE | RW, 0o600),
    "outside, directory": lambda: opened(OUTSIDE, os.O_DIRECTORY),
}
CALLS.update({
    # attributes
    "chmod": lambda: changed("f", "fchmodat", CWD, "f", 0o600),
    "chmod with more bits": lambda: changed("f", "fchmodat", CWD, "f", 0o4755 | 1 << 20),
    "chmod a link": lambda: changed("f", "fchmodat", CWD, "link", 0o600),
    "chmod a dangling link": lambda: raw("fchmodat", CWD, "dangling", 0o600),
    "chmod a loop": lambda: raw("fchmodat", CWD, "loop", 0o600),
    "chmod 40 links": lambda: changed("f", "fchmodat", CWD, "chain39", 0o600),
    "chmod 41 links": lambda: raw("fchmodat", CWD, "chain40", 0o600),
    "chmod missing": lambda: raw("fchmodat", CWD, "missing", 0o600),
    "chmod empty": lambda: raw("fchmodat", CWD, "", 0o600),
    "chmod no address": lambda: raw("fchmodat", CWD, 1, 0o600),
    "chmod a long name": lambda: raw("fchmodat", CWD, LONG + "n", 0o600),
    "chmod a file with a slash": lambda: raw("fchmodat", CWD, "f/", 0o600),
    "chmod through a file": lambda: raw("fchmodat", CWD, "f/x", 0o600),
    "chmod through a closed directory": lambda: changed("f", "fchmodat", CWD, "closed/x", 0o600),
    "chmod a directory": lambda: changed("d", "fchmodat", CWD, "d", 0o711),
    "chmod a directory with slashes": lambda: changed("d", "fchmodat", CWD, "d//", 0o711),
    "chmod a link to a directory with a slash": lambda: changed("d", "fchmodat", CWD, "dlink/", 0o711),
    "chmod dot": lambda: changed(".", "fchmodat", CWD, ".", 0o711),
    "chmod dot dot": lambda: changed(".", "fchmodat", CWD, "d/..", 0o711),
    "chmod by a descriptor": lambda: with_directory("d", lambda fd: changed("d/x", "fchmodat", fd, "x", 0o600)),
    "chmod by a bad descriptor": lambda: raw("fchmodat", 77, "x", 0o600),
    "chmod by a descriptor of a file": lambda: raw("fchmodat", os.open("f", R), "x", 0o600),
    "chmod in another directory": lambda: within("d", lambda: changed("x", "fchmodat", CWD, "x", 0o600)),
    "chmod own descriptor": lambda: with_file("f", R, lambda fd: raw("fchmodat", CWD, f"/proc/self/fd/{fd}", 0o600)),
    "chmod own reference": lambda: with_file("f", O_PATH, lambda fd: raw("fchmodat", CWD, f"/proc/self/fd/{fd}", 0o600)),
    "chmod own reference to a link": lambda: with_file(
        "link", O_PATH | os.O_NOFOLLOW, lambda fd: raw("fchmodat", CWD, f"/proc/self/fd/{fd}", 0o600)),
    "chmod below own descriptor": lambda: with_directory(
        "d", lambda fd: changed("d/x", "fchmodat", CWD, f"/proc/self/fd/{fd}/x", 0o600)),
    "chmod own directory": lambda: within("d", lambda: changed(".", "fchmodat", CWD, "/proc/self/cwd", 0o711)),
    "chmod a pipe": lambda: changed("fifo", "fchmodat", CWD, "fifo", 0o600),
    "chmod a socket file": lambda: changed("sock", "fchmodat", CWD, "sock", 0o600),
    "chmod a file of proc": lambda: raw("fchmodat", CWD, "/proc/self/comm", 0o600),
    "chmod of an absolute name": lambda: changed("f", "fchmodat", 77, WORK + "/case/f", 0o600),
    "chmod2": lambda: changed("f", "fchmodat2", CWD, "f", 0o600, 0),
    "chmod2 a link itself": lambda: changed("link", "fchmodat2", CWD, "link", 0o600, NOFOLLOW, follow=False),
    "chmod2 a file itself": lambda: changed("f", "fchmodat2", CWD, "f", 0o600, NOFOLLOW),
    "chmod2 a link with a slash": lambda: changed("d", "fchmodat2", CWD, "dlink/", 0o711, NOFOLLOW),
    "chmod2 dot": lambda: changed(".", "fchmodat2", CWD, "d/..", 0o711, NOFOLLOW),
    "chmod2 an unknown flag": lambda: raw("fchmodat2", CWD, "f", 0o600, 0x8000),
    "chmod2 a descriptor": lambda: with_file("f", R, lambda fd: raw("fchmodat2", fd, "", 0o600, EMPTY)),
    "chmod2 a reference": lambda: with_file("f", O_PATH, lambda fd: raw("fchmodat2", fd, "", 0o600, EMPTY)),
    "chmod2 the working directory": lambda: changed(".", "fchmodat2", CWD, "", 0o711, EMPTY),
    "chmod2 empty": lambda: raw("fchmodat2", CWD, "", 0o711, 0),
    "fchmod": lambda: with_file("f", R, lambda fd: raw("fchmod", fd, 0o600)),
    "fchmod a reference": lambda: with_file("f", O_PATH, lambda fd: raw("fchmod", fd, 0o600)),
    "fchmod nothing": lambda: raw("fchmod", 77, 0o600),
    "fchmod below zero": lambda: raw("fchmod", -1, 0o600),
    "fchmod a directory": lambda: with_file("d", R, lambda fd: raw("fchmod", fd, 0o711)),
    "fchmod a pipe": lambda: on_pipe("fchmod", 0o600),
    "fchmod a memory file": lambda: raw("fchmod", os.memfd_create("m"), 0o600),
    "fchmod an unnamed file": lambda: raw("fchmod", openat_only("d", O_TMPFILE | RW), 0o640),
    "chown": lambda: changed("f", "fchownat", CWD, "f", ME, MINE, 0),
    "chown to nobody": lambda: changed("f", "fchownat", CWD, "f", 12345, 12345, 0),
    "chown to none": lambda: changed("f", "fchownat", CWD, "f", -1, -1, 0),
    "chown of a file with set bits": lambda: (os.chmod("f", 0o6755), changed("f", "fchownat", CWD, "f", ME, MINE, 0))[1],
    "chown a link": lambda: changed("f", "fchownat", CWD, "link", ME, MINE, 0),
    "chown a link itself": lambda: changed("link", "fchownat", CWD, "link", ME, MINE, NOFOLLOW, follow=False),
    "chown a dangling link itself": lambda: changed("dangling", "fchownat", CWD, "dangling", ME, MINE, NOFOLLOW, follow=False),
    "chown an unknown flag": lambda: raw("fchownat", CWD, "f", ME, MINE, 0x8000),
    "chown a descriptor": lambda: with_file("f", R, lambda fd: raw("fchownat", fd, "", ME, MINE, EMPTY)),
    "chown a reference": lambda: with_file("f", O_PATH, lambda fd: raw("fchownat", fd, "", ME, MINE, EMPTY)),
    "chown missing": lambda: raw("fchownat", CWD, "missing", ME, MINE, 0),
    "fchown": lambda: with_file("f", R, lambda fd: raw("fchown", fd, ME, MINE)),
    "fchown a reference": lambda: with_file("f", O_PATH, lambda fd: raw("fchown", fd, ME, MINE)),
    "times": lambda: changed("f", "utimensat", CWD, "f", times(), 0),
    "times now": lambda: changed("f", "utimensat", CWD, "f", 0, 0),
    "times now by number": lambda: changed("f", "utimensat", CWD, "f", times(1000, 0, 0, NOW), 0),
    "times left out": lambda: changed("f", "utimensat", CWD, "f", times(0, OMIT, 2000, 0), 0),
    "times both left out": lambda: raw("utimensat", CWD, "missing", times(0, OMIT, 0, OMIT), 0),
    "times both left out, no address": lambda: raw("utimensat", CWD, 1, times(0, OMIT, 0, OMIT), 0),
    "times of too many parts": lambda: raw("utimensat", CWD, "f", times(0, 1000000000, 0, 0), 0),
    "times of too many parts, missing": lambda: raw("utimensat", CWD, "missing", times(0, 1000000000, 0, 0), 0),
    "times before 1970": lambda: changed("f", "utimensat", CWD, "f", times(-5, 0, -6, 0), 0),
    "times an unknown flag": lambda: raw("utimensat", CWD, "f", times(), 0x8000),
    "times an unknown flag, no address": lambda: raw("utimensat", CWD, "f", 1, 0x8000),
    "times no address": lambda: raw("utimensat", CWD, "f", 1, 0),
    "times a link": lambda: changed("f", "utimensat", CWD, "link", times(), 0),
    "times a link itself": lambda: changed("link", "utimensat", CWD, "link", times(), NOFOLLOW, follow=False),
    "times of a directory": lambda: changed("d", "utimensat", CWD, "d", times(), 0),
    "times by descriptor": lambda: with_file("f", R, lambda fd: raw("utimensat", fd, 0, times(), 0)),
    "times now by descriptor": lambda: with_file("f", R, lambda fd: raw("utimensat", fd, 0, 0, 0)),
    "times by descriptor with a flag": lambda: with_file("f", R, lambda fd: raw("utimensat", fd, 0, times(), NOFOLLOW)),
    "times by reference": lambda: with_file("f", O_PATH, lambda fd: raw("utimensat", fd, 0, times(), 0)),
    "times by reference, empty": lambda: with_file("f", O_PATH, lambda fd: raw("utimensat", fd, "", times(), EMPTY)),
    "times of nothing": lambda: raw("utimensat", CWD, 0, times(), 0),
    "times of a read only file": lambda: changed("ro", "utimensat", CWD, "ro", times(), 0),
    "setxattr": lambda: changed("f", "setxattr", "f", "user.a", "value", 5, 0),
    "setxattr, creating": lambda: changed("f", "setxattr", "f", "user.a", "value", 5, 1),
    "setxattr, replacing": lambda: raw("setxattr", "f", "user.a", "value", 5, 2),
    "setxattr, both": lambda: raw("setxattr", "f", "user.a", "value", 5, 3),
    "setxattr, unknown": lambda: raw("setxattr", "f", "user.a", "value", 5, 4),
    "setxattr of nothing": lambda: changed("f", "setxattr", "f", "user.a", 0, 0, 0),
    "setxattr at no address": lambda: raw("setxattr", "f", "user.a", 1, 5, 0),
    "setxattr, no name": lambda: raw("setxattr", "f", "", "value", 5, 0),
    "setxattr, name at no address": lambda: raw("setxattr", "f", 1, "value", 5, 0),
    "setxattr, a long name": lambda: changed("f", "setxattr", "f", "user." + "n" * 250, "value", 5, 0),
    "setxattr, a longer name": lambda: raw("setxattr", "f", "user." + "n" * 251, "value", 5, 0),
    "setxattr, much": lambda: changed("f", "setxattr", "f", "user.a", big(3000), 3000, 0),
    "setxattr, all that it takes": lambda: raw("setxattr", "f", "user." + "n" * 250, big(65536), 65536, 0),
    "setxattr, too much": lambda: raw("setxattr", "f", "user.a", big(65537), 65537, 0),
    "setxattr of no family": lambda: raw("setxattr", "f", "other.a", "value", 5, 0),
    "setxattr trusted": lambda: raw("setxattr", "f", "trusted.a", "value", 5, 0),
    "setxattr a directory": lambda: changed("d", "setxattr", "d", "user.a", "value", 5, 0),
    "setxattr a pipe": lambda: raw("setxattr", "fifo", "user.a", "value", 5, 0),
    "setxattr a link": lambda: changed("f", "setxattr", "link", "user.a", "value", 5, 0),
    "setxattr a link itself": lambda: raw("lsetxattr", "link", "user.a", "value", 5, 0),
    "setxattr a file itself": lambda: changed("f", "lsetxattr", "f", "user.a", "value", 5, 0),
    "setxattr missing": lambda: raw("setxattr", "missing", "user.a", "value", 5, 0),
    "fsetxattr": lambda: with_file("f", R, lambda fd: raw("fsetxattr", fd, "user.a", "value", 5, 0)),
    "fsetxattr a reference": lambda: with_file("f", O_PATH, lambda fd: raw("fsetxattr", fd, "user.a", "value", 5, 0)),
    "setxattrat": lambda: changed("f", "setxattrat", CWD, "f", 0, "user.a", at_call(b"value", 5), 16),
    "setxattrat, short": lambda: raw("setxattrat", CWD, "f", 0, "user.a", at_call(b"value", 5), 8),
    "setxattrat, longer": lambda: changed("f", "setxattrat", CWD, "f", 0, "user.a", at_call(b"value", 5, total=24), 24),
    "setxattrat, unknown": lambda: raw("setxattrat", CWD, "f", 0x8000, "user.a", at_call(b"value", 5), 16),
    "setxattrat a descriptor": lambda: with_file(
        "f", R, lambda fd: raw("setxattrat", fd, "", EMPTY, "user.a", at_call(b"value", 5), 16)),
    "setxattrat a descriptor, no name": lambda: with_file(
        "f", R, lambda fd: raw("setxattrat", fd, 0, EMPTY, "user.a", at_call(b"value", 5), 16)),
    "setxattrat a reference": lambda: with_file(
        "f", O_PATH, lambda fd: raw("setxattrat", fd, "", EMPTY, "user.a", at_call(b"value", 5), 16)),
    "setxattrat the working directory": lambda: changed(".", "setxattrat", CWD, "", EMPTY, "user.a", at_call(b"value", 5), 16),
    "removexattr": lambda: without("f", "removexattr", "f", "user.a"),
    "removexattr that is not there": lambda: raw("removexattr", "f", "user.a"),
    "removexattr of no name": lambda: raw("removexattr", "f", ""),
    "removexattr a link": lambda: without("f", "removexattr", "link", "user.a"),
    "removexattr a link itself": lambda: raw("lremovexattr", "link", "user.a"),
    "fremovexattr": lambda: without("f", "fremovexattr", os.open("f", R), "user.a"),
    "removexattrat": lambda: without("f", "removexattrat", CWD, "f", 0, "user.a"),
    "removexattrat a descriptor": lambda: without("f", "removexattrat", os.open("f", R), "", EMPTY, "user.a"),
    "flags": lambda: with_file("f", R, with_no_dump),
    "flags of a directory": lambda: with_file("d", R, with_no_dump),
    "flags of a pipe": lambda: on_pipe("ioctl", SETFLAGS, block("i", 0x40)),
    "flags of a reference": lambda: with_file("f", O_PATH, lambda fd: raw("ioctl", fd, SETFLAGS, block("i", 0x40))),
    "flags at no address": lambda: with_file("f", R, lambda fd: raw("ioctl", fd, SETFLAGS, 1)),
    "flags, the other way": lambda: with_file("f", R, lambda fd: raw("ioctl", fd, FSSETXATTR, block("IIIII8x", 0x80, 0, 0, 0, 0))),
    "flags by name": lambda: raw("file_setattr", CWD, "f", block("QIIII", 0x80, 0, 0, 0, 0), 24, 0),
    "flags by name, short": lambda: raw("file_setattr", CWD, "f", block("QIIII", 0x80, 0, 0, 0, 0), 16, 0),
    "flags by name, missing": lambda: raw("file_setattr", CWD, "missing", block("QIIII", 0x80, 0, 0, 0, 0), 24, 0),
    "outside, chmod": lambda: raw("fchmodat", CWD, OUTSIDE + "/f", 0o644),
    "outside, chmod missing": lambda: raw("fchmodat", CWD, OUTSIDE + "/missing", 0o644),
    "outside, chmod by a link": lambda: raw("fchmodat", CWD, "out/f", 0o644),
    "outside, chmod by a link with a slash": lambda: raw("fchownat", CWD, "out/", ME, MINE, NOFOLLOW),
    "outside, chmod by a reference": lambda: with_file(OUTSIDE + "/f", O_PATH, lambda fd: raw("fchmodat2", fd, "", 0o644, EMPTY)),
    "outside, fchmod": lambda: with_file(sys.argv[0], R, lambda fd: raw("fchmod", fd, 0o644)),
    "outside, times": lambda: raw("utimensat", CWD, OUTSIDE + "/f", 0, 0),
})
if X86:
    CALLS.update({
        "old chmod": lambda: changed("f", "chmod", "link", 0o600),
        "old chown": lambda: changed("f", "chown", "link", ME, MINE),
        "old lchown": lambda: changed("link", "lchown", "link", ME, MINE, follow=False),
        "old lchown with a slash": lambda: changed("d", "lchown", "dlink/", ME, MINE),
        "utime": lambda: changed("f", "utime", "f", block("qq", 1000, 2000)),
        "utime now": lambda: changed("f", "utime", "link", 0),
        "utimes": lambda: changed("f", "utimes", "f", block("qqqq", 1000, 5, 2000, 6)),
        "utimes of too many parts": lambda: raw("utimes", "missing", block("qqqq", 1000, 1000000, 2000, 6)),
        "futimesat": lambda: with_directory("d", lambda fd: changed("d/x", "futimesat", fd, "x", block("qqqq", 1000, 5, 2000, 6))),
        "futimesat without a name": lambda: with_file("f", R, lambda fd: raw("futimesat", fd, 0, block("qqqq", 1000, 5, 2000, 6))),
    })
if X86:
    CALLS.update({
        "creat": lambda: what(raw("creat", "new", 0o640)),
        "creat where it is": lambda: what(raw("creat", "f", 0o640)),
        "old unlink": lambda: raw("unlink", "f"),
        "old rmdir": lambda: raw("rmdir", "empty"),
        "old mkdir": lambda: raw("mkdir", "new", 0o750),
        "old mknod": lambda: raw("mknod", "new", stat.S_IFIFO | 0o600, 0),
        "old rename": lambda: raw("rename", "f", "new"),
        "old link": lambda: raw("link", "f", "new"),
        "old symlink": lambda: raw("symlink", "text", "new"),
    })


def make_tree(case, chain):
    os.makedirs(case)
    os.chdir(case)
    for name, text, mode in (("f", "content", 0o644), ("ro", "fixed", 0o444)):
        with open(name, "w", encoding="ascii") as file:
            file.write(text)
        os.chmod(name, mode)
    for name in ("d", "empty", "closed"):
        os.mkdir(name)
    for name in ("d/x", "closed/x"):
        with open(name, "w", encoding="ascii") as file:
            file.write(name)
    os.chmod("closed", 0)
    for name, text in (("link", "f"), ("dlink", "d"), ("dangling", "made"), ("loop", "loop"), ("abs", case + "/f"),
                       ("out", OUTSIDE)):
        os.symlink(text, name)
    for i in range(41 if chain else 0):
        os.symlink(f"chain{i - 1}" if i else "f", f"chain{i}")
    os.mkfifo("fifo")
    os.mknod("sock", stat.S_IFSOCK | 0o644)


def look(directory):
    """The tree: kind, mode, links, owner, size and text of each name."""
    seen = {}
    for base, directories, files in os.walk(directory):
        for name in directories + files:
            path = os.path.join(base, name)
            status = os.lstat(path)
            told = [oct(status.st_mode), status.st_nlink, status.st_uid, status.st_gid]
            if stat.S_ISLNK(status.st_mode):
                told.append(os.readlink(path))
            elif stat.S_ISREG(status.st_mode):
                told.append(status.st_size)
            if not name.startswith("chain"):
                seen[os.path.relpath(path, directory)] = told
    return seen


def main():
    case = WORK + "/case"
    for name, call in CALLS.items():
        make_tree(case, name.endswith(" links"))
        try:
            answer = call()
        except OSError as error:
            answer = errno.errorcode.get(error.errno, error.errno)
        print(json.dumps([name, answer, look(case)]), flush=True)
        os.chdir(WORK)
        os.chmod(case, 0o700)
        os.chmod(case + "/closed", 0o700)
        shutil.rmtree(case)


main()
