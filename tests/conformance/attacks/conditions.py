"""What this host can do without any boundary. A scenario that needs what is missing proves nothing
here and is listed with the reason; nothing else excuses a control that does not succeed."""

import ctypes
import functools
import os
import pathlib
import subprocess
import tempfile

import world  # extends the path
import control_groups

CAPABILITIES = {"cap_chown": 0, "cap_dac_read_search": 2, "cap_setuid": 7, "cap_net_raw": 13, "cap_sys_chroot": 18, "cap_sys_ptrace": 19,
                "cap_sys_admin": 21, "cap_sys_nice": 23, "cap_sys_resource": 24, "cap_mknod": 27, "cap_bpf": 39}


def number_in(path, missing):
    try:
        return int(pathlib.Path(path).read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return missing


def kernel():
    return tuple(int(part) for part in os.uname().release.split("-")[0].split(".")[:2])


@functools.lru_cache(maxsize=None)
def effective():
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith("CapEff:"):
            return int(line.split()[1], 16)
    return 0


def probe_works(*attempt):
    done = subprocess.run([world.PROBE, *attempt], capture_output=True, check=False, timeout=60)
    return done.returncode == 0


@functools.lru_cache(maxsize=None)
def lacks(condition):
    """The reason why the condition does not hold, or None."""
    if condition in CAPABILITIES:
        return None if effective() >> CAPABILITIES[condition] & 1 else f"this user has no {condition}"
    return CHECKS[condition]()


def user_namespaces():
    return None if probe_works("unshare", "0x10000000") else "the host lets this user make no user namespace"


def user_namespace_mounts():
    with tempfile.TemporaryDirectory() as folder:
        files = [os.path.join(folder, name) for name in ("from", "to")]
        for file in files:
            pathlib.Path(file).write_text("x")
        return None if probe_works("mount_in_user_namespace", *files) else "the host lets this user mount nothing in a user namespace"


def ptrace_of_others():
    scope = number_in("/proc/sys/kernel/yama/ptrace_scope", 0)
    return None if scope == 0 or lacks("cap_sys_ptrace") is None else f"Yama's ptrace_scope is {scope}"


def terminal_input():
    allowed = number_in("/proc/sys/dev/tty/legacy_tiocsti", 1)
    return None if allowed else "dev.tty.legacy_tiocsti is 0: the kernel refuses it to everybody"


def perf_events():
    level = number_in("/proc/sys/kernel/perf_event_paranoid", 2)
    if effective() >> 38 & 1 or lacks("cap_sys_admin") is None:
        return None
    return None if level <= 2 else f"kernel.perf_event_paranoid is {level}"


def rings():
    level = number_in("/proc/sys/kernel/io_uring_disabled", 2)
    return None if level == 0 else f"kernel.io_uring_disabled is {level}, or the kernel has none"


def file_flags():
    with tempfile.NamedTemporaryFile() as file:
        if probe_works("set_flags_by_reading", file.name):
            return None
        return "the file system of the temporary directory has no flags of files"


def attributes():
    with tempfile.NamedTemporaryFile() as file:
        try:
            os.setxattr(file.name, "user.probe", b"x")
            return None
        except OSError as error:
            return f"the file system of the temporary directory has no user attributes ({error.strerror})"


def system_call(name, number, *arguments):
    """For calls that a kernel may be built without."""
    def check():
        libc = ctypes.CDLL(None, use_errno=True)
        libc.syscall(number, *arguments)
        return f"this kernel has no {name}" if ctypes.get_errno() == 38 else None
    return check


def numbering(attempt, name):
    def check():
        return None if probe_works(attempt, "20" if attempt == "call_i386" else "39") else f"this kernel takes no {name} calls"
    return check


def init_environment():
    try:
        with open("/proc/1/environ", "rb"):
            return None
    except OSError as error:
        return f"this user may not open /proc/1/environ ({error.strerror})"


def keyrings():
    return None if probe_works("add_key") else "the host refuses kernel keyrings to this user"


CHECKS = {
    "user_namespaces": user_namespaces,
    "user_namespace_mounts": user_namespace_mounts,
    "ptrace_of_others": ptrace_of_others,
    "terminal_input": terminal_input,
    "perf_events": perf_events,
    "rings": rings,
    "attributes": attributes,
    "file_flags": file_flags,
    "keyrings": keyrings,
    "pidfd_groups": lambda: None if kernel() >= (6, 9) else "the kernel is older than 6.9",
    "init_environment": init_environment,
    "i386": numbering("call_i386", "32-bit"),
    "x32": numbering("call_x32", "x32"),
    "memory_groups": lambda: None if control_groups.memory_groups() else "this user can make no control group for memory",
    "file_setattr": lambda: None if kernel() >= (6, 17) else "the kernel is older than 6.17",
    "port_access": system_call("iopl", 172, 0),
    "userfaultfd": system_call("userfaultfd", 323, -1),
    "kernel_log": lambda: None if number_in("/proc/sys/kernel/dmesg_restrict", 0) == 0 or lacks("cap_sys_admin") is None
    else "kernel.dmesg_restrict is 1",
    "two_cpus": lambda: None if len(os.sched_getaffinity(0)) > 1 else "there is one CPU only",
}
