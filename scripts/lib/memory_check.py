"""What `resources.memory_bytes` does on a kernel whose control groups are all of version 2, in each kind of place where
aasm may stand: for kernel_check.py, as root. The groups are mounted here, so nobody's are disturbed."""

import os
import pathlib
import re
import shutil
import subprocess

GROUPS = pathlib.Path("/sys/fs/cgroup")
NOBODY = ("setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "--inh-caps=-all")
POLICY = """apiVersion: agent-assembly/v1
kind: Policy
metadata: { name: memory }
spec:
  filesystem:
    read: { allow: [/usr, /lib, /lib64, /bin, /sbin, /etc, /dev, /proc, /sys, "${WORKDIR}"] }
    write: { allow: ["${WORKDIR}", /dev/null%s] }
  syscalls: { allow: ["@default"] }
  credentials: { environment: { allow: [PATH, HOME] } }
  resources: { memory_bytes: 67108864 }
"""
# The hog is a grandchild; with one process killed the program would go on and say so.
HOG = ("import os, sys, time\n"
       "try: open('/proc/self/cgroup').read(), open('%s/cgroup.procs', 'w').write(str(os.getpid()))\n"
       "except OSError as e: print(e.errno, flush=True)\n"
       "if os.fork() == 0:\n"
       "    if os.fork() == 0:\n"
       "        held = bytearray(200 << 20)\n"
       "    time.sleep(60)\n"
       "os.wait(); print('went on')" % GROUPS)


class Place:
    """A folder for one user with state of its own, and a group that its programs are started in."""

    def __init__(self, aasm, user, group):
        self.aasm, self.group = aasm, group
        self.root = pathlib.Path(f"/tmp/memory-{os.urandom(4).hex()}")
        self.work = self.root / "work"
        self.work.mkdir(parents=True)
        self.become = NOBODY if user == "nobody" else ()
        for path in (self.root, self.work):
            shutil.chown(path, user)
        self.env = {"PATH": "/usr/bin:/bin", "HOME": str(self.root), "AASM_HOME": str(self.root / "home")}
        self.policy("")
        self.run("init", "--org", "memory.example")

    def policy(self, writable):
        (self.root / "policy.yaml").write_text(POLICY % writable)

    def popen(self, *args):
        return subprocess.Popen([*self.become, self.aasm, *args], cwd=self.work, env=self.env, stdin=subprocess.DEVNULL, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                preexec_fn=lambda: (self.group / "cgroup.procs").write_text(str(os.getpid())))

    def run(self, *args):
        process = self.popen(*args)
        out, err = process.communicate()
        return process.returncode, out, err

    def exec(self, *program):
        return self.run("run", "exec", "--policy", str(self.root / "policy.yaml"), "--", *program)


def folders(top):
    return {str(path) for path in top.rglob("*") if path.is_dir()}


def limited(place):
    """What is wrong with a run that wants too much, and with what is there after it."""
    before = folders(GROUPS)
    status, out, err = place.exec("/usr/bin/python3", "-c", HOG)
    verified = place.run("verify")
    wrong = []
    if status != 137 or "went on" in out:
        wrong.append(f"the tree was not killed: {status} {out!r} {err!r}")
    if not out.startswith("13"):
        wrong.append(f"it could write to control groups: {out!r}")
    if verified[0] != 0 or not re.search(r"^ +resource +detected ", verified[1], re.MULTILINE):
        wrong.append(f"verify: {verified}")
    if folders(GROUPS) != before:
        wrong.append(f"left: {folders(GROUPS) ^ before}")
    if place.exec("/bin/echo", "fits")[:2] != (0, "fits\n"):
        wrong.append("a program that fits did not run")
    return wrong


def killed_supervisor(place, made_in):
    """Nothing is left of one either, once another has run."""
    process = place.popen("run", "exec", "--policy", str(place.root / "policy.yaml"), "--", "/bin/sh", "-c", "echo up; sleep 60")
    wrong = [] if process.stdout.readline() == "up\n" else ["it did not start"]
    group = made_in / f"aasm-run-{process.pid}"
    wrong += [] if group.is_dir() else [f"no {group}"]
    process.kill()
    process.communicate()
    return wrong, group


def group(path, owner=None, gives=False):
    path.mkdir(exist_ok=True)
    if owner:
        for one in (path, path / "cgroup.procs", path / "cgroup.subtree_control"):
            shutil.chown(one, owner)
    if gives:
        (path / "cgroup.subtree_control").write_text("+memory")
    return path


def check(aasm, say):
    subprocess.run(["mount", "-t", "cgroup2", "cgroup2", GROUPS], check=True)
    good = True

    def expect(what, wrong):
        nonlocal good
        good &= not wrong
        say(f"memory_bytes, {what}: " + ("held" if not wrong else f"WRONG: {wrong}"))

    at_root = Place(aasm, "root", GROUPS)
    expect("root in the root of all groups", limited(at_root))
    wrong, left = killed_supervisor(at_root, GROUPS)
    status = at_root.exec("/bin/true")[0]
    expect("after a killed supervisor", wrong + ([f"left {left}, {status}"] if left.exists() or status else []))
    at_root.policy(", /sys/fs")
    status, _, err = at_root.exec("/bin/true")
    expect("with a grant on control groups, refused", [] if status == 125 and str(GROUPS) in err else [status, err])

    (GROUPS / "cgroup.subtree_control").write_text("+memory")
    group(GROUPS / "slice", "nobody", gives=True)
    expect("nobody beside its own group", limited(Place(aasm, "nobody", group(GROUPS / "slice/scope", "nobody"))))
    alone = Place(aasm, "nobody", group(GROUPS / "service", "nobody"))
    expect("nobody alone in a group of its own", limited(alone))
    # A process of somebody else's there: refused, and it stays where it is.
    other = subprocess.Popen(["sleep", "600"])
    (GROUPS / "service/cgroup.procs").write_text(str(other.pid))
    status, _, err = alone.exec("/bin/true")
    expect("nobody beside another process, refused", [] if status == 125 and "not alone" in err else [status, err])
    stays = (GROUPS / "service/cgroup.procs").read_text().split() == [str(other.pid)]
    expect("the other process where it was", [] if stays else ["moved"])
    other.kill()
    other.wait()
    status, _, err = Place(aasm, "nobody", group(GROUPS / "closed")).exec("/bin/true")
    expect("nobody where nothing is delegated, refused", [] if status == 125 and "ours to write" in err else [status, err])
    return good
