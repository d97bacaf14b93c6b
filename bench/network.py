#!/usr/bin/env python3
"""Calls on sockets and signals: plain and in bwrap (the network shared) beside `aasm run exec` with `network` and `ipc` stated. Time for each call, in microseconds.

    AASM=build/release/bin/aasm bench/network.py [--rounds N]

The same script runs in turn without and with the boundary; each row is the least of its rounds.
"""

import argparse
import json
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading

import boundary

WORK = """
import json, os, socket, struct, sys, time
tcp, udp, closed = (int(a) for a in sys.argv[1:4])
listed, other = sys.argv[4:6]
linger = struct.pack("ii", 1, 0)
def connect(port, blocking):
    s = socket.socket(); s.setblocking(blocking)
    s.connect_ex(("127.0.0.1", port))
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger); s.close()
def unix(name):
    s = socket.socket(socket.AF_UNIX); s.connect_ex(name); s.close()
out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
joined = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); joined.connect(("127.0.0.1", udp))
rows = {
    "connect, allowed, blocking": lambda: connect(tcp, True),
    "connect, allowed, non-blocking": lambda: connect(tcp, False),
    "connect, denied (plain: refused)": lambda: connect(closed, True),
    "sendto an address, allowed": lambda: out.sendto(b"x", ("127.0.0.1", udp)),
    "sendmsg, connected": lambda: joined.sendmsg([b"x"]),
    "send, connected (not seen)": lambda: joined.send(b"x"),
    "unix connect, listed": lambda: unix(listed),
    "unix connect, denied (plain: done)": lambda: unix(other),
    "kill of oneself": lambda: os.kill(os.getpid(), 0),
}
result = {}
for name, call in rows.items():
    for _ in range(20): call()
    begin = time.perf_counter()
    for _ in range(400): call()
    result[name] = (time.perf_counter() - begin) / 400 * 1e6
print(json.dumps(result))
"""


def rules(tcp, udp, listed):
    egress = ", ".join(f"{{ host: 127.0.0.1/32, ports: [{port}], protocol: {kind} }}" for port, kind in ((tcp, "tcp"), (udp, "udp")))
    return (f"network: {{ egress: [{egress}] }}",
            f"ipc: {{ unix_sockets: {{ allow: [{listed}] }}, abstract_sockets: deny, signals: inside }}")


def accept_for_ever(listener):
    while True:
        listener.accept()[0].close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    aasm = boundary.program()
    listener = socket.create_server(("127.0.0.1", 0), backlog=512)
    threading.Thread(target=accept_for_ever, args=(listener,), daemon=True).start()
    sink = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sink.bind(("127.0.0.1", 0))
    closed = socket.socket()
    closed.bind(("127.0.0.1", 0))
    tcp, udp, none = (s.getsockname()[1] for s in (listener, sink, closed))
    with tempfile.TemporaryDirectory(prefix="aasm-bench-") as root:
        work = pathlib.Path(root) / "work"
        work.mkdir()
        names = [f"{root}/listed.sock", f"{root}/other.sock"]
        servers = [socket.socket(socket.AF_UNIX) for _ in names]
        for server, name in zip(servers, names):
            server.bind(name)
            server.listen(512)
            threading.Thread(target=accept_for_ever, args=(server,), daemon=True).start()
        program = ["/usr/bin/python3", "-c", WORK, str(tcp), str(udp), str(none), *names]
        policy = pathlib.Path(root) / "policy.yaml"
        policy.write_text(boundary.policy(*rules(tcp, udp, names[0])))
        env = boundary.make_home(aasm, root)
        kinds = {"plain": program, "bwrap": boundary.in_bwrap(*program),
                 "aasm": [aasm, "run", "exec", "--policy", str(policy), "--", *program]}
        least = {}
        for _ in range(rounds):
            for kind, argv in kinds.items():
                if argv is None:
                    continue
                done = subprocess.run(argv, env=env, cwd=work, check=True, stdout=subprocess.PIPE, text=True)
                for name, value in json.loads(done.stdout).items():
                    least[name, kind] = min(value, least.get((name, kind), value))
    for name in dict.fromkeys(name for name, _ in least):
        plain, ours = least[name, "plain"], least[name, "aasm"]
        beside = f"   bwrap {least[name, 'bwrap']:7.1f} us" if (name, "bwrap") in least else ""
        print(f"{name:34} plain {plain:7.1f} us{beside}   aasm {ours:7.1f} us   {ours - plain:+7.1f} us   {ours / plain:5.2f}x")
    return 0


if __name__ == "__main__":
    sys.exit(main())
