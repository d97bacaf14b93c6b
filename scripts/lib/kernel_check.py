"""The first program of scripts/test-kernels' machine: runs aasm on its kernel, says what came of it and
whether that is what docs/hosts.md says, and switches the machine off. Prints lines `kernel-check: ...`.
"""

import ctypes
import os
import pathlib
import shutil
import subprocess
import sys
import time
import traceback

import memory_check

ROOT = pathlib.Path(sys.argv[1])
AASM = ROOT / "build/release/bin/aasm"
YAMA = pathlib.Path("/proc/sys/kernel/yama/ptrace_scope")
SIGNAL_SCOPE_ABI = 6


def say(text):
    print(f"kernel-check: {text}", flush=True)


def landlock_abi():
    return ctypes.CDLL(None).syscall(444, 0, 0, 1)


def run_aasm(user):
    """One confined run as `user`: "enforced", or the refusal's line about our backend."""
    root = pathlib.Path(f"/tmp/{user}-{os.urandom(4).hex()}")
    (root / "work").mkdir(parents=True)
    shutil.chown(root, user)
    shutil.chown(root / "work", user)
    env = {"PATH": "/usr/bin:/bin", "HOME": str(root), "AASM_HOME": str(root / "home")}
    become = [] if user == "root" else ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "--inh-caps=-all"]

    def aasm(*args):
        return subprocess.run([*become, AASM, *args], cwd=root / "work", env=env, stdin=subprocess.DEVNULL, text=True,
                              capture_output=True, check=False)
    aasm("init", "--org", "kernels.example")
    done = aasm("run", "exec", "--policy", str(ROOT / "examples/policies/demo.yaml"), "--",
                "/bin/sh", "-c", "cat /etc/shadow; unshare --user true; echo ran")
    verified = aasm("verify")
    shutil.rmtree(root)
    if verified.returncode != 0:
        return f"NOT VERIFIED: {verified.stdout}"
    if done.returncode == 125 and "ran" not in done.stdout:
        return "refused: " + next(line.strip() for line in done.stderr.splitlines() if "aasm-native" in line)
    denied = "/etc/shadow: Permission denied" in done.stderr and "Operation not permitted" in done.stderr
    recorded = "denied_before_execution (1 action)" in verified.stdout
    whole = (done.returncode, done.stdout) == (0, "ran\n") and denied and recorded
    return "enforced" if whole else f"UNEXPECTED: {done} {verified.stdout}"


def expect(what, got, wanted):
    good = got.startswith("enforced" if wanted is None else "refused: backend_unavailable") and (wanted or "") in got
    say(f"{what}: {got[:300]}" + ("" if good else f" (WRONG: expected {wanted or 'enforcement'})"))
    return good


def demo():
    done = subprocess.run(["/bin/bash", ROOT / "scripts/demo"], env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root"},
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    verdicts = [line for line in done.stdout.splitlines() if line.startswith("verify: ")]
    return done.returncode, verdicts, done.stdout[-2000:] + done.stderr[-2000:]


def scopes(lacks_scope):
    """Each Yama scope, as both users; 3 comes last, it cannot be taken back."""
    good = True
    reachable = subprocess.run(["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", AASM, "--version"],
                               capture_output=True, check=False).returncode == 0
    for scope in (0, 1, 2, 3) if YAMA.exists() else (None,):
        if scope is not None:
            YAMA.write_text(str(scope))
        for user in ("root", "nobody") if reachable else ("root",):
            guarded = scope == 3 or (scope == 2 and user != "root")
            wanted = "kernel.yama.ptrace_scope" if guarded else "Landlock ABI 6" if lacks_scope else None
            good &= expect(f"ptrace_scope {scope}, {user}", run_aasm(user), wanted)
    return good


def check():
    abi = landlock_abi()
    lacks_scope = abi < SIGNAL_SCOPE_ABI
    lsm = pathlib.Path("/sys/kernel/security/lsm").read_text()
    say(f"{os.uname().release}, Landlock ABI {abi}, lsm={lsm.strip()}")
    status, verdicts, output = demo()
    demo_good = status != 0 and not verdicts if lacks_scope else (
        status == 0 and verdicts == ["verify: VERIFIED"] * 2)
    say(f"scripts/demo: exit {status}, {verdicts}" + ("" if demo_good else " (WRONG)\n" + output))
    memory_good = lacks_scope or memory_check.check(AASM, say)
    return scopes(lacks_scope) and demo_good and memory_good


if __name__ == "__main__":
    os.environ["PATH"] = "/usr/sbin:/usr/bin:/sbin:/bin"
    try:
        if check():
            say("as documented")
    except Exception:  # pylint: disable=broad-except
        say("failed\n" + traceback.format_exc())
    os.sync()
    pathlib.Path("/proc/sysrq-trigger").write_text("o")
    time.sleep(60)  # until the kernel has switched off; the first program must not end
