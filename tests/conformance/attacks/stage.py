"""The world of one scenario with the processes that its data names, and the attempt's words."""

import array
import contextlib
import ctypes
import fcntl
import json
import os
import pathlib
import pty
import signal
import socket
import subprocess
import termios
import threading

import world


def child_named(pid, name):
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                if pathlib.Path(f"/proc/{child}/comm").read_text().strip() == name:
                    return int(child)
    return None


def ledger_descriptor(pid):
    for link in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        if os.readlink(link).endswith("/ledger.db"):
            return int(link.name)
    raise LookupError(f"{pid} has no ledger open")


def take_terminal():
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def hand_out(name, path, closing):
    """An accomplice outside: whoever connects to the abstract socket gets the open file."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind("\0" + name)
    listener.listen(1)

    def serve():
        with contextlib.suppress(OSError), open(path, "rb") as file:
            connection, _ = listener.accept()
            with connection:
                passed = array.array("i", [file.fileno()])
                connection.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, passed)])

    threading.Thread(target=serve, daemon=True).start()
    # Closing alone would leave accept waiting.
    closing.callback(lambda: (contextlib.suppress(OSError), listener.shutdown(socket.SHUT_RDWR), listener.close()))


def serve_at(path, closing):
    """A service outside whose socket has a name in a folder that no grant covers."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(path)
    listener.listen(8)
    closing.callback(listener.close)


def share_memory(closing):
    """System V shared memory of somebody outside; its number."""
    libc = ctypes.CDLL(None)
    segment = libc.shmget(0, 4096, 0o1666)
    closing.callback(libc.shmctl, segment, 0, None)
    return segment


def listen_at_loopback(closing):
    """A listener outside; its port."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    closing.callback(listener.close)
    return listener.getsockname()[1]


class Stage:
    def __init__(self, shared, scenario):
        self.world = world.World(shared)
        self.scenario = scenario
        self.text = json.dumps(scenario)
        self.policy = scenario.get("policy", "stated")
        self.places = {key: str(value) for key, value in self.world.places().items()}
        self.pass_fds = []
        try:
            self.prepare()
        except BaseException:
            self.close()
            raise

    def names(self, *places):
        return any("{" + place + "}" in self.text for place in places)

    def prepare(self):
        self.world.write_policy(self.policy)
        if self.names("decoy", "decoy_address"):
            pid, address = self.world.decoy()
            self.places.update(decoy=str(pid), decoy_address=address)
        if self.names("accomplice"):
            self.places["accomplice"] = f"aasm-attack-{self.world.token[-12:]}"
            path = self.scenario.get("hands_out", "{secret}").format(**self.places)
            hand_out(self.places["accomplice"], path, self.world.closing)
        if self.names("service"):
            self.places["service"] = str(self.world.outside / "service")
            serve_at(self.places["service"], self.world.closing)
        if self.names("segment"):
            self.places["segment"] = str(share_memory(self.world.closing))
        if self.names("listener"):
            self.places["listener"] = str(listen_at_loopback(self.world.closing))
        if self.names("ledger_fd"):
            idle = self.start_idle()
            self.places["ledger_fd"] = str(ledger_descriptor(idle.pid))
            idle.end()
        if self.names("handle"):
            done = subprocess.run([world.PROBE, "print_handle", self.places["secret"]], capture_output=True, text=True,
                                  check=True)
            self.places["handle"] = done.stdout.split()[0]
        if self.scenario.get("set_uid"):
            os.chown(self.world.ro / "tool", 65534, -1)
            os.chmod(self.world.ro / "tool", 0o4755)
        for number, path in self.scenario.get("descriptors", {}).items():
            self.open_as(int(number), path.format(**self.places))

    def start_idle(self):
        """A confined run that only waits."""
        idle = self.world.start(self.world.command(["hello"], hold=True))
        if not idle.read_until("held"):
            raise RuntimeError(f"the idle run did not start: {idle.end()} {idle.errors}")
        return idle

    def target_idle(self):
        """Makes supervisor and warden those of a confined run that does nothing: what a control attacks."""
        self.know(self.start_idle().pid)

    def know(self, supervisor):
        self.places["supervisor"] = str(supervisor)
        self.places["warden"] = str(child_named(supervisor, "aasm-warden") or self.places.get("warden", 0))

    def open_as(self, number, path):
        """For the command to inherit. The numbers in the data are far above what this process uses."""
        fd = os.open(path, os.O_RDONLY if os.path.isdir(path) else os.O_RDWR | os.O_CREAT, 0o644)
        os.dup2(fd, number)
        os.close(fd)
        self.pass_fds.append(number)
        self.world.closing.callback(os.close, number)

    def options(self):
        more = {"pass_fds": self.pass_fds} if self.pass_fds else {}
        if self.scenario.get("terminal"):
            ends = pty.openpty()
            for end in ends:
                self.world.closing.callback(os.close, end)
            more.update(terminal=ends, preexec_fn=take_terminal)
        return more

    def words(self, inside):
        """The attempt with its places filled in. Inside, the probe finds supervisor and warden itself."""
        places = {**self.places, **({"supervisor": "supervisor", "warden": "warden"} if inside else {})}
        return [word.format(**places) for word in self.scenario["attempt"]]

    def close(self):
        # A warden that a control has stopped would outlive its supervisor.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if int(self.places.get("warden", 0)) > 1:
                os.kill(int(self.places["warden"]), signal.SIGCONT)
        self.world.close()
