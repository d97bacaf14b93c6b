"""A network of two hosts in namespaces of this process: here, and a peer with a name server and a web server.

enter() has to be called before anything else: it starts this program anew inside. Here is 93.184.216.1, the peer
has 93.184.216.34 (web), 93.184.216.53 (names) and the same of 2606:2800:220:1::/64. Nothing leaves the machine.
"""

import contextlib
import ctypes
import http.server
import ipaddress
import os
import pathlib
import shutil
import socket
import socketserver
import struct
import subprocess
import sys
import tempfile
import threading

HERE, WEB, NAMES = "93.184.216.1", "93.184.216.34", "93.184.216.53"
HERE6, WEB6, NAMES6 = (f"2606:2800:220:1::{end}" for end in ("1", "34", "53"))
MARK = "AASM_NAME_WORLD"

# Of a name: addresses by type, an alias, or what is odd about it.
A, AAAA, CNAME = 1, 28, 5
ZONE = {
    "api.example.test": [(A, WEB), (AAAA, WEB6)],
    "x.wild.test": [(A, WEB)],
    "alias.example.test": [(CNAME, "api.example.test"), (A, WEB)],
    "chase.example.test": [(CNAME, "api.example.test")],
    "loop.example.test": [(CNAME, "loop.example.test")],
    "big.example.test": [(A, f"93.184.217.{i}") for i in range(1, 60)],
    "loopback.bad.test": [(A, "127.0.0.1"), (AAAA, "::1")],
    "mapped.bad.test": [(AAAA, "::ffff:127.0.0.1")],
    "metadata.bad.test": [(A, "169.254.169.254"), (AAAA, "fd00:ec2::254")],
    "zero.bad.test": [(A, "0.0.0.0"), (AAAA, "::")],
    "own.bad.test": [(A, HERE), (AAAA, HERE6)],
    "private.bad.test": [(A, "10.1.2.3"), (AAAA, "fd12::1")],
    "shared.bad.test": [(A, "100.64.0.1")],
    "link.bad.test": [(A, "169.254.7.7"), (AAAA, "fe80::1")],
}


def wire(name):
    return b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0"


def text(message, at=12):
    labels = []
    while message[at]:
        labels.append(message[at + 1:at + 1 + message[at]].decode("latin-1"))
        at += 1 + message[at]
    return ".".join(labels), at + 1


def reply_to(message, stream):
    """None: no answer, as of a server that is dead."""
    name, at = text(message)
    kind, _ = struct.unpack(">HH", message[at:at + 4])
    name = name.lower()
    if name.startswith("dead."):
        return None
    records, rcode = [], 0 if name in ZONE else 3
    for record_kind, value in ZONE.get(name, []):
        if record_kind == CNAME:
            records.append((wire(name), CNAME, wire(value)))
            name = value
        elif record_kind == kind:
            records.append((wire(name), kind, ipaddress.ip_address(value).packed))
    body = b"".join(owner + struct.pack(">HHIH", record, 1, 120, len(data)) + data for owner, record, data in records)
    flags = 0x8180 | rcode
    if not stream and len(body) > 400:
        body, records, flags = b"", [], flags | 0x0200
    return message[:2] + struct.pack(">HHHHH", flags, 1, len(records), 0, 0) + message[12:at + 4] + body


class Names:
    """The name server; each question is a line "PROTOCOL TYPE NAME" of the log."""

    def __init__(self, log):
        self.log = open(log, "a", buffering=1, encoding="latin-1")

    def note(self, protocol, message):
        name, at = text(message)
        self.log.write(f"{protocol} {struct.unpack('>H', message[at:at + 2])[0]} {name}\n")

    def datagrams(self, address):
        server = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM)
        server.bind((address, 53))
        while True:
            message, peer = server.recvfrom(4096)
            self.note("udp", message)
            if (reply := reply_to(message, False)) is not None:
                server.sendto(reply, peer)

    def stray(self, address):
        """Datagrams that no policy of the tests allows."""
        server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        server.bind((address, 80))
        while server.recv(4096):
            self.log.write("datagram\n")

    def streams(self, address):
        server = socket.create_server((address, 53))
        while True:
            peer, _ = server.accept()
            with peer, contextlib.suppress(OSError, struct.error):
                size = struct.unpack(">H", peer.recv(2))[0]
                message = peer.recv(size)
                self.note("tcp", message)
                if (reply := reply_to(message, True)) is not None:
                    peer.sendall(struct.pack(">H", len(reply)) + reply)


class Web(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "7")
        self.end_headers()
        self.wfile.write(b"served\n")

    def log_message(self, *_):
        pass


class WebServer(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True

    def server_bind(self):
        socketserver.TCPServer.server_bind(self)


class WebServer6(WebServer):
    address_family = socket.AF_INET6


def command(line):
    subprocess.run(line, shell=True, check=True)


def address(line):
    command(line + (" nodad" if ":" in line else ""))


def serve_peer(read_end, write_end, log):
    """The peer, in a network namespace of its own."""
    if ctypes.CDLL(None, use_errno=True).unshare(0x40000000) != 0:
        os._exit(1)
    os.write(write_end, b"1")
    os.read(read_end, 1)
    command("ip link set lo up; ip link set name_peer up")
    for one in (WEB, NAMES):
        address(f"ip addr add {one}/24 dev name_peer")
    for one in (WEB6, NAMES6):
        address(f"ip addr add {one}/64 dev name_peer")
    names = Names(log)
    jobs = [lambda: names.datagrams(NAMES), lambda: names.datagrams(NAMES6), lambda: names.streams(NAMES),
            lambda: names.stray(WEB),
            WebServer((WEB, 80), Web).serve_forever, WebServer6((WEB6, 80), Web).serve_forever]
    threads = [threading.Thread(target=job, daemon=True) for job in jobs]
    for thread in threads:
        thread.start()
    os.write(write_end, b"2")
    os.read(read_end, 1)  # until the other side ends
    os._exit(0)


def lay_etc(root):
    """An /etc whose resolv.conf is a chain of links, as systemd-resolved lays it."""
    etc = root / "etc"
    with contextlib.suppress(shutil.Error):  # folders that only root reads
        shutil.copytree("/etc", etc, symlinks=True, ignore_dangling_symlinks=True, copy_function=copy_readable,
                        ignore=lambda _, names: [n for n in names if n in ("ssl", "alternatives", "shadow", "gshadow")])
    (etc / "stub").mkdir()
    for name in ("resolv.conf", "hosts"):
        with contextlib.suppress(FileNotFoundError):
            (etc / name).unlink()
    (etc / "resolv.conf").symlink_to("stub/stub-resolv.conf")
    (etc / "stub/stub-resolv.conf").symlink_to("../stub/real.conf")
    (etc / "stub/real.conf").write_text(f"nameserver {NAMES}\nsearch example.test\n")
    (etc / "hosts").write_text(f"127.0.0.1 localhost\n{WEB} filed.example.test Other.Example.Test\n")
    (etc / "nsswitch.conf").write_text("passwd: files\ngroup: files\nhosts: files dns\n")
    command(f"mount --bind {etc} /etc")


def copy_readable(source, target):
    with contextlib.suppress(OSError):
        shutil.copy2(source, target)


class World:
    """Lives until the process ends."""

    def __init__(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="aasm-names-"))
        self.root.chmod(0o755)
        self.log = self.root / "questions"
        self.log.touch()
        ours, theirs = os.pipe(), os.pipe()
        self.peer = os.fork()
        if self.peer == 0:
            os.close(ours[1])
            serve_peer(ours[0], theirs[1], self.log)
        os.close(ours[0])
        self.end = ours[1]
        self.wait(theirs[0], b"1")
        command(f"ip link set lo up; ip link add name_here type veth peer name name_peer netns {self.peer}")
        address(f"ip addr add {HERE}/24 dev name_here")
        address(f"ip addr add {HERE6}/64 dev name_here")
        command("ip link set name_here up")
        os.write(self.end, b"1")
        self.wait(theirs[0], b"2")
        lay_etc(self.root)

    @staticmethod
    def wait(fd, word):
        if os.read(fd, 1) != word:
            raise RuntimeError("the peer did not come up")

    def questions(self):
        """What has arrived at the name server since the last call."""
        lines = self.log.read_text(encoding="latin-1").splitlines()
        os.truncate(self.log, 0)
        return lines

    def close(self):
        os.close(self.end)
        os.waitpid(self.peer, 0)
        command("umount -l /etc")
        shutil.rmtree(self.root, ignore_errors=True)


def enter():
    """Does not return outside. A status of 77: namespaces are not to be had here."""
    if os.environ.get(MARK):
        return
    flags = ["-n", "-m"] if os.geteuid() == 0 else ["-r", "-n", "-m"]
    probe = subprocess.run(["unshare", *flags, "ip", "link", "add", "one", "type", "veth", "peer", "name",
                            "other"],
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if probe.returncode != 0:
        print("skipped: no network namespaces here:", probe.stderr.strip())
        sys.exit(77)
    os.execvpe("unshare", ["unshare", *flags, sys.executable, "-B", *sys.argv], {**os.environ, MARK: "1"})
