"""What the benchmarks share: a policy for work in one directory, an aasm with a home of its own, and another sandbox beside it."""

import os
import shutil
import subprocess

BASE = """apiVersion: agent-assembly/v1
kind: Policy
metadata: { name: bench }
spec:
  filesystem:
    read: { allow: [/usr, /lib, /lib64, /bin, /etc, /dev, /proc, "${WORKDIR}"] }
    write: { allow: ["${WORKDIR}", /dev/null] }
  syscalls: { allow: ["@default"] }
"""


def policy(*more):
    """The policy with further lines of its `spec`."""
    return BASE + "".join(f"  {line}\n" for line in more)


def program():
    """The aasm that the environment names."""
    return os.path.abspath(os.environ["AASM"])


def in_bwrap(*command):
    """The command in namespaces of bwrap's, but for that of the network, or None where it does not run."""
    begin = [shutil.which("bwrap") or "", "--unshare-all", "--share-net", "--die-with-parent", "--dev-bind", "/", "/", "--proc", "/proc"]
    if begin[0] and subprocess.run([*begin, "/usr/bin/true"], check=False, stderr=subprocess.DEVNULL).returncode == 0:
        return [*begin, *command]
    print("-- bwrap is left out: it is not there, or may not make namespaces")
    return None


def make_home(aasm, root):
    """Makes a home below `root` and yields the environment that names it."""
    env = {**os.environ, "AASM_HOME": f"{root}/home"}
    subprocess.run([aasm, "init", "--org", "bench.example"], env=env, check=True, stdout=subprocess.DEVNULL)
    return env
