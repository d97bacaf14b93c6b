#!/bin/sh
# needs: python3 openssl curl
# A certificate of one's own, a TLS server on loopback (its port is $2), and clients that check it.
set -eu
. "$(dirname "$0")/places.inc"
openssl req -x509 -newkey rsa:2048 -nodes -keyout key -out cert -days 2 -subj /CN=localhost \
  -addext 'subjectAltName=DNS:localhost,IP:127.0.0.1' 2>/dev/null
cat > server.py <<'P'
import http.server, ssl, sys, threading, subprocess, urllib.request
PORT = int(sys.argv[1])
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        body = b"over tls " + self.path.encode()
        self.send_response(200); self.send_header("Content-Length", str(len(body))); self.end_headers(); self.wfile.write(body)
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        print("posted", len(body), flush=True); self.send_response(201); self.send_header("Content-Length", "0"); self.end_headers()
    def log_message(self, *_): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER); context.load_cert_chain("cert", "key")
server.socket = context.wrap_socket(server.socket, server_side=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
curl = ["curl", "-sS", "--cacert", "cert", "--noproxy", "*"]
print(subprocess.run([*curl, f"https://127.0.0.1:{PORT}/a"], capture_output=True).stdout)
print(subprocess.run([*curl, "--http1.1", "-Z", *[f"https://127.0.0.1:{PORT}/{n}" for n in range(5)]], capture_output=True).returncode)
open("body", "wb").write(b"x" * 300000)
print(subprocess.run([*curl, "-o", "/dev/null", "-w", "%{http_code}", "--data-binary", "@body", f"https://127.0.0.1:{PORT}/"], capture_output=True).stdout)
print(subprocess.run(["curl", "-sS", "--noproxy", "*", f"https://127.0.0.1:{PORT}/"], capture_output=True).returncode)
client = ssl.create_default_context(cafile="cert")
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=client))
print([opener.open(f"https://127.0.0.1:{PORT}/{n}").read() for n in range(20)][-1])
server.shutdown()
P
python3 -u server.py "$2"
