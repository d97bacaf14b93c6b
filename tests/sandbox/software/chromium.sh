#!/bin/sh
# needs: chromium python3
# A browser without a screen, and without a sandbox of its own: a page from a server on loopback (its port is $2),
# as its document and as its picture. $3: more options of the browser.
set -eu
. "$(dirname "$0")/places.inc"
cat > page.html <<'H'
<!doctype html><title>page</title><style>body { background: #fff } #box { width: 90px; height: 60px; background: #06c }</style>
<div id=box></div><p id=text></p><script type=module>
const body = await (await fetch('/data.txt')).text();
localStorage.setItem('kept', navigator.language + body.length);
document.getElementById('text').textContent = body.trim() + ' ' + localStorage.getItem('kept');
</script>
H
echo "fetched" > data.txt
python3 -m http.server "$2" --bind 127.0.0.1 >/dev/null 2>&1 &
server=$!
trap 'kill $server' EXIT
python3 - "$2" <<'P'
import socket, sys, time
for _ in range(100):
    try:
        socket.create_connection(("127.0.0.1", int(sys.argv[1]))).close()
        break
    except ConnectionRefusedError:
        time.sleep(0.05)
P
browse() {
  # shellcheck disable=SC2086
  timeout 120 chromium --headless --no-sandbox --disable-gpu --virtual-time-budget=5000 --window-size=320,240 ${3:-} "$1" "http://127.0.0.1:$2/page.html" 2>/dev/null
}
browse --dump-dom "$2" "${3:-}"
browse --screenshot="$1/page.png" "$2" "${3:-}"
python3 - <<'P'
import hashlib, struct
png = open("page.png", "rb").read()
print(struct.unpack(">II", png[16:24]), hashlib.sha256(png).hexdigest())
P
