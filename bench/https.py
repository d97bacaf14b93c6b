#!/usr/bin/env python3
"""200 HTTPS requests on loopback, each with a connection of its own, below `network`, as a ratio to the same without a boundary.

    AASM=build/release/bin/aasm bench/https.py [--rounds N]

The same client runs in turn without, in bwrap (the network shared) and with the boundary, against one server outside; the ratio is that of the least of each. Needs openssl.
"""

import argparse
import http.server
import pathlib
import ssl
import subprocess
import sys
import tempfile
import threading

import boundary

CLIENT = """
import http.client, ssl, sys, time
port, requests = int(sys.argv[1]), int(sys.argv[2])
context = ssl.create_default_context(cafile="cert.pem")
context.check_hostname = False
begin = time.perf_counter()
for _ in range(requests):
    connection = http.client.HTTPSConnection("127.0.0.1", port, context=context)
    connection.request("GET", "/")
    assert len(connection.getresponse().read()) == 1000
    connection.close()
print(time.perf_counter() - begin)
"""


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b"x" * 1000)

    def log_message(self, *_):
        pass


def serve(folder):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", "/CN=localhost", "-keyout", folder / "key.pem", "-out", folder / "cert.pem"], check=True, capture_output=True)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--requests", type=int, default=200)
    options = parser.parse_args()
    aasm = boundary.program()
    with tempfile.TemporaryDirectory(prefix="aasm-bench-") as root:
        work = pathlib.Path(root) / "work"
        work.mkdir()
        server = serve(work)
        port = server.server_port
        policy = pathlib.Path(root) / "policy.yaml"
        policy.write_text(boundary.policy(f"network: {{ egress: [{{ host: 127.0.0.1/32, ports: [{port}], protocol: tcp }}] }}"))
        env = boundary.make_home(aasm, root)
        argv = ["/usr/bin/python3", "-c", CLIENT, str(port), str(options.requests)]
        commands = {"plain": argv, "bwrap": boundary.in_bwrap(*argv), "confined": [aasm, "run", "exec", "--policy", policy, "--", *argv]}
        least = {}
        for _ in range(options.rounds):
            for name, command in commands.items():
                if command is None:
                    continue
                ended = subprocess.run(command, env=env, cwd=work, check=True, capture_output=True, text=True)
                least[name] = min(float(ended.stdout), least.get(name, 1e9))
        server.shutdown()
    print(f"{options.requests} HTTPS requests: " + ", ".join(
        f"{name} {value:.3f} s ({value / least['plain']:.2f}x)" for name, value in least.items()) + "; target for confined 1.10x")
    return 0


if __name__ == "__main__":
    sys.exit(main())
