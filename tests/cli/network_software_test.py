"""Software that uses sockets in its own way shows the same where its peer is listed, and is refused, with a record, where not.

The peer is outside of the boundary. What is not installed is skipped and said.
"""

import os
import pathlib
import shutil
import socket
import subprocess
import textwrap
import unittest

import aasm_case

PYTHON = "/usr/bin/python3"
GIT_BACKEND = pathlib.Path("/usr/lib/git-core/git-http-backend")


def free_port(kind=socket.SOCK_STREAM):
    with socket.socket(socket.AF_INET, kind) as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def python_has(module):
    return subprocess.run([PYTHON, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0


class Software(aasm_case.AasmCase):
    def setUp(self):
        super().setUp()
        self.port, self.other = free_port(), free_port()

    def serve(self, script, *args):
        """Python source that prints a line when it is ready; beside the workspace."""
        server = subprocess.Popen([PYTHON, "-c", textwrap.dedent(script), str(self.port), *map(str, args)], cwd=self.root,
                                  stdout=subprocess.PIPE, text=True)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        self.assertEqual(server.stdout.readline(), "ready\n")

    def listed(self, protocol="tcp"):
        self.write_policy(aasm_case.POLICY.format(read="") +
                          f"  network: {{ egress: [{{host: 127.0.0.1, ports: [{self.port}], protocol: {protocol}}}] }}\n")

    def same_inside(self, *program):
        """What it shows, outside as well as inside."""
        plain = subprocess.run(program, env=self.env, cwd=self.work, capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(plain.returncode, 0, plain.stdout + plain.stderr)
        done = self.run_exec(*program)
        self.assertEqual((done.returncode, done.stdout), (0, plain.stdout), done.stderr)
        return done.stdout.splitlines()

    def assert_recorded(self, protocol="tcp"):
        egress = [e for e in self.events() if e["domain"] == "network_egress" and e["object"].get("protocol") == protocol]
        self.assertIn((self.port, "allowed"), {(e["object"]["port"], e["outcome"]) for e in egress})
        self.assertEqual({e["outcome"] for e in egress if e["object"]["port"] == self.other}, {"denied"})
        self.assert_verified()

    def script(self, name, text):
        (self.work / name).write_text(textwrap.dedent(text))
        return name

    @unittest.skipUnless(shutil.which("node"), "no node")
    def test_libuv_streams_datagrams_and_keepalive(self):
        self.serve("""
            import http.server, sys, threading
            class Handler(http.server.BaseHTTPRequestHandler):
                protocol_version = "HTTP/1.1"
                def do_POST(self):
                    body = self.rfile.read(int(self.headers["Content-Length"]))
                    self.send_response(200); self.send_header("Content-Length", str(len(body))); self.end_headers(); self.wfile.write(body[::-1])
                def log_message(self, *_): pass
            server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler); print("ready", flush=True); server.serve_forever()
            """)
        self.listed()
        inside = self.run_exec(shutil.which("node"), "-e", textwrap.dedent("""
            const [port, other] = process.argv.slice(1).map(Number), http = require('http'), net = require('net'), dgram = require('dgram');
            const agent = new http.Agent({keepAlive: true, maxSockets: 4});
            const post = (size) => new Promise((done, fail) => {
              const q = http.request({host: '127.0.0.1', port, method: 'POST', agent, headers: {'Content-Length': size}}, (r) => {
                let n = 0; r.on('data', (d) => n += d.length).on('end', () => done(n)); });
              q.on('error', fail); q.end(Buffer.alloc(size, 7)); });
            (async () => {
              console.log((await Promise.all([...Array(40).keys()].map((i) => post(1 + i * 5000)))).reduce((a, b) => a + b));
              console.log(await (await fetch(`http://127.0.0.1:${port}/`, {method: 'POST', body: 'abc'})).text());
              agent.destroy();
              console.log(await new Promise((done) => net.connect(other, '127.0.0.1').on('error', (e) => done(e.code))));
              const u = dgram.createSocket('udp4');
              console.log(await new Promise((done) => u.send('x', other, '127.0.0.1', (e) => done(e && e.code)))); u.close();
            })();
            """), str(self.port), str(self.other))
        self.assertEqual(inside.stdout.splitlines(), [str(sum(1 + i * 5000 for i in range(40))), "cba", "EACCES", "EACCES"], inside.stderr)
        self.assert_recorded()

    @unittest.skipUnless(python_has("grpc"), "no python3-grpcio")
    def test_grpc_unary_and_streams(self):
        self.serve("""
            import concurrent.futures, grpc, sys
            class Reverse(grpc.GenericRpcHandler):
                def service(self, details):
                    if details.method == "/t/one": return grpc.unary_unary_rpc_method_handler(lambda q, _: q[::-1])
                    return grpc.stream_stream_rpc_method_handler(lambda them, _: (q[::-1] for q in them))
            server = grpc.server(concurrent.futures.ThreadPoolExecutor(4)); server.add_generic_rpc_handlers((Reverse(),))
            server.add_insecure_port(f"127.0.0.1:{sys.argv[1]}"); server.start(); print("ready", flush=True); server.wait_for_termination()
            """)
        self.listed()
        name = self.script("client.py", """
            import grpc, sys
            with grpc.insecure_channel(f"127.0.0.1:{sys.argv[1]}") as channel:
                print(channel.unary_unary("/t/one")(b"abc", timeout=20))
                print(sum(len(part) for part in channel.stream_stream("/t/many")((b"x" * 30000 for _ in range(60)), timeout=20)))
            with grpc.insecure_channel(f"127.0.0.1:{sys.argv[2]}") as channel:
                try: channel.unary_unary("/t/one")(b"abc", timeout=5)
                except grpc.RpcError as error: print(error.code())
            """)
        lines = self.same_inside(PYTHON, name, str(self.port), str(self.other))
        self.assertEqual(lines, ["b'cba'", "1800000", "StatusCode.UNAVAILABLE"])
        self.assert_recorded()

    @unittest.skipUnless(GIT_BACKEND.exists() and all(map(shutil.which, ("git", "openssl"))), "no git with http, or no openssl")
    def test_git_over_tls_clones_and_pushes(self):
        subprocess.run("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key -out work/cert -days 2 -subj /CN=localhost -addext "
                       "subjectAltName=IP:127.0.0.1 && mkdir served && git init -q --bare served/r.git && git -C served/r.git config http.receivepack true",
                       shell=True, cwd=self.root, env=self.env, capture_output=True, check=True)
        self.serve("""
            import http.server, os, ssl, subprocess, sys
            class Backend(http.server.BaseHTTPRequestHandler):
                def do_GET(self):
                    path, _, query = self.path.partition("?")
                    body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                    env = {**os.environ, "GIT_PROJECT_ROOT": os.path.abspath("served"), "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": path, "QUERY_STRING": query,
                           "REQUEST_METHOD": self.command, "CONTENT_TYPE": self.headers.get("Content-Type", ""), "REMOTE_ADDR": "127.0.0.1",
                           "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""), "CONTENT_LENGTH": str(len(body)),
                           "GIT_PROTOCOL": self.headers.get("Git-Protocol", "")}
                    out = subprocess.run([sys.argv[2]], input=body, env=env, stdout=subprocess.PIPE, check=False).stdout
                    head, _, body = out.partition(b"\\r\\n\\r\\n")
                    self.wfile.write(b"HTTP/1.0 200 OK\\r\\nContent-Length: %d\\r\\n" % len(body) + head + b"\\r\\n\\r\\n" + body)
                do_POST = do_GET
                def log_message(self, *_): pass
            server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Backend)
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER); context.load_cert_chain("work/cert", "key")
            server.socket = context.wrap_socket(server.socket, server_side=True); print("ready", flush=True); server.serve_forever()
            """, GIT_BACKEND)
        self.listed()
        done = self.sh(f"""
            set -e; export HOME="$PWD" GIT_SSL_CAINFO="$PWD/cert" GIT_TERMINAL_PROMPT=0
            git clone -q https://127.0.0.1:{self.port}/r.git one; cd one
            head -c 300000 /dev/urandom > big; git add big; git -c user.name=a -c user.email=a@b commit -qm first; git push -q origin HEAD:main
            cd ..; git clone -q -b main https://127.0.0.1:{self.port}/r.git two; cmp one/big two/big && git -C two log --format=%s
            git ls-remote https://127.0.0.1:{self.other}/r.git 2>/dev/null || echo "refused, $?"
            """)
        self.assertEqual(done.stdout.splitlines(), ["first", "refused, 128"], done.stderr)
        self.assert_recorded()

    # As QUIC's libraries send and receive: many datagrams a call, one call cut by the kernel, marks and interfaces of each.
    def test_datagrams_as_quic_sends_them(self):
        self.port, self.other = free_port(socket.SOCK_DGRAM), free_port(socket.SOCK_DGRAM)
        self.serve("""
            import socket, sys
            server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); server.bind(("127.0.0.1", int(sys.argv[1])))
            server.setsockopt(socket.IPPROTO_IP, 13, 1)  # IP_RECVTOS
            print("ready", flush=True)
            while True:
                data, control, _, peer = server.recvmsg(2048, 64)
                server.sendto(bytes([control[0][2][0]]) + data[::-1], peer)
            """)
        self.listed("udp")
        name = self.script("client.py", """
            import asyncio, socket, struct, sys
            port, other = map(int, sys.argv[1:])
            UDP, SEGMENT, PKTINFO = 17, 103, 8
            def receive(s, count): return sorted(s.recvmsg(2048, 256)[0][:4] for _ in range(count))
            s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(5)
            s.setsockopt(socket.IPPROTO_IP, 10, 2); s.setsockopt(socket.IPPROTO_IP, PKTINFO, 1)  # IP_MTU_DISCOVER
            ecn = (socket.IPPROTO_IP, socket.IP_TOS, struct.pack("i", 2))
            s.sendmsg([b"abc", b"def"], [ecn], 0, ("127.0.0.1", port)); print(receive(s, 1))
            s.sendmsg([bytes(range(30))], [(UDP, SEGMENT, struct.pack("H", 10)), ecn], 0, ("127.0.0.1", port)); print(receive(s, 3))
            interface = (socket.IPPROTO_IP, PKTINFO, struct.pack("i4s4s", 0, socket.inet_aton("127.0.0.1"), bytes(4)))
            s.sendmsg([b"xyz"], [interface], 0, ("127.0.0.1", port)); print(receive(s, 1))
            c = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); c.settimeout(5); c.connect(("127.0.0.1", port))
            c.sendmsg([b"connected"], [ecn]); print(receive(c, 1), c.getpeername()[1] == port)
            class Client(asyncio.DatagramProtocol):
                def datagram_received(self, data, _): got.append(data); len(got) == 50 and done.set_result(None)
                def error_received(self, error): print(type(error).__name__)
            async def talk():
                global done; done = asyncio.get_running_loop().create_future()
                transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(Client, remote_addr=("127.0.0.1", port))
                for i in range(50): transport.sendto(b"%02d" % i)
                await asyncio.wait_for(done, 5); transport.close(); print(len(set(got)))
            got = []; asyncio.run(talk())
            """)
        lines = self.same_inside(PYTHON, name, str(self.port), str(self.other))
        self.assertEqual(lines[0], str([b"\2fed"]))
        done = self.python("""if True:
            import socket, sys
            s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            for send in (lambda to: s.sendmsg([b"x" * 30], [(17, 103, b"\\x0a\\0")], 0, to), lambda to: s.sendto(b"x", to), s.connect):
                try: send(("127.0.0.1", int(sys.argv[1]))); print("sent")
                except PermissionError: print("refused")
            """, str(self.other))
        self.assertEqual(done.stdout.split(), ["refused"] * 3, done.stderr)
        self.assertEqual({e["count"] for e in self.events() if e["domain"] == "network_egress" and e["object"].get("port") == self.other}, {3})
        self.assert_verified()

    def test_tcp_fast_open_by_either_call(self):
        self.serve("""
            import socket, sys
            server = socket.create_server(("127.0.0.1", int(sys.argv[1]))); server.setsockopt(socket.IPPROTO_TCP, socket.TCP_FASTOPEN, 16)
            print("ready", flush=True)
            while True:
                peer, _ = server.accept(); peer.sendall(peer.recv(99)[::-1]); peer.close()
            """)
        self.listed()
        name = self.script("client.py", """
            import errno, socket, sys
            FASTOPEN, FASTOPEN_CONNECT = 0x20000000, 30
            def message(s, to): return s.sendto(b"abc", FASTOPEN, to)
            def header(s, to): return s.sendmsg([b"ab", b"c"], [], FASTOPEN, to)
            def option(s, to): s.setsockopt(socket.IPPROTO_TCP, FASTOPEN_CONNECT, 1); s.connect(to); return s.send(b"abc")
            for port in map(int, sys.argv[1:]):
                for way in (message, header, option) * 2:
                    with socket.socket() as s:
                        try: print(way(s, ("127.0.0.1", port)), s.recv(99))
                        except OSError as error: print("not reached")
            """)
        self.assertEqual(self.same_inside(PYTHON, name, str(self.port), str(self.other)), ["3 b'cba'"] * 6 + ["not reached"] * 6)
        self.assert_recorded()

    @unittest.skipUnless(shutil.which("ping"), "no ping")
    def test_ping_is_refused_and_recorded(self):
        self.listed()
        if os.geteuid() == 0 and "security.capability" in os.listxattr(shutil.which("ping")):
            self.assertIn("capabilities (getcap)", self.run_exec(shutil.which("ping"), "127.0.0.1").stderr)
        shutil.copy(shutil.which("ping"), self.work)  # without them
        done = self.run_exec("./ping", "-c", "1", "-W", "1", "127.0.0.1")
        self.assertNotEqual(done.returncode, 0)
        self.assertNotIn("1 received", done.stdout)
        refused = {e["object"]["name"] for e in self.events() if e["domain"] == "network_egress" and e["outcome"] == "denied"}
        self.assertIn("AF_INET SOCK_DGRAM 1", refused)
        self.assert_verified()


if __name__ == "__main__":
    aasm_case.main()
