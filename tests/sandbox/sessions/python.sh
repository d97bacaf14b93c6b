#!/bin/sh
# needs: python3
# Files, processes, threads, sockets, event loops, signals, databases and archives from Python.
set -eu
cd "$1"
cat > session.py <<'P'
import asyncio, concurrent.futures, ctypes, gzip, hashlib, http.server, json, mmap, multiprocessing
import os, pathlib, random, resource, select, selectors, shutil, signal, socket, sqlite3, subprocess
import sys, tempfile, threading, time, urllib.request, zipfile


def square(n):
    return n * n


def files():
    root = pathlib.Path("tree")
    (root / "a" / "b").mkdir(parents=True)
    (root / "a" / "b" / "f").write_text("text\n")
    os.symlink("a", root / "link")
    os.link(root / "a" / "b" / "f", root / "hard")
    shutil.copytree(root, "copy", symlinks=True)
    print(sorted(str(p) for p in pathlib.Path("copy").rglob("*")))
    os.utime(root / "hard", (1, 2)); os.chmod(root / "hard", 0o640)
    s = os.stat(root / "hard"); print(oct(s.st_mode), int(s.st_mtime), s.st_nlink)
    with open("map", "wb+") as f:
        f.truncate(8192)
        with mmap.mmap(f.fileno(), 0) as m:
            m[10:15] = b"hello"; m.flush()
        os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED); os.fsync(f.fileno())
        f.seek(10); print(f.read(5))
    with open("map", "rb") as src, open("map2", "wb") as dst:
        print(os.copy_file_range(src.fileno(), dst.fileno(), 100))
    with tempfile.NamedTemporaryFile(dir=".") as t:
        os.setxattr(t.name, "user.k", b"v") if hasattr(os, "setxattr") else None
        try: print(os.getxattr(t.name, "user.k"))
        except OSError as e: print(e.errno)
    fd = os.memfd_create("m"); os.write(fd, b"abc"); print(os.pread(fd, 2, 1)); os.close(fd)
    shutil.rmtree("copy")


def processes():
    print(subprocess.run(["sort"], input=b"b\na\n", capture_output=True).stdout)
    print(subprocess.run("exit 3", shell=True).returncode)
    p = subprocess.Popen(["sleep", "30"]); p.terminate(); print(p.wait())
    with multiprocessing.get_context("fork").Pool(4) as pool:
        print(sum(pool.map(square, range(100))))
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        print(sum(pool.map(square, range(10))))
    with concurrent.futures.ThreadPoolExecutor(8) as ex:
        print(sum(ex.map(square, range(1000))))
    pid = os.fork()
    if pid == 0: os._exit(9)
    fd = os.pidfd_open(pid); select.select([fd], [], []); print(os.waitid(os.P_PIDFD, fd, os.WEXITED).si_status)
    print(os.waitstatus_to_exitcode(os.system("exit 4")))
    print(resource.getrlimit(resource.RLIMIT_CORE)[0] >= -1, os.nice(0) >= 0, len(os.sched_getaffinity(0)) > 0)


def signals():
    got = []
    signal.signal(signal.SIGALRM, lambda *_: got.append("alarm"))
    signal.setitimer(signal.ITIMER_REAL, 0.05); signal.pause(); print(got)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1}); os.kill(os.getpid(), signal.SIGUSR1)
    print(signal.sigwait({signal.SIGUSR1}), signal.sigpending())


def network():
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200); self.end_headers(); self.wfile.write(b"hello " + self.path.encode())
        def log_message(self, *_): pass
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/x").read()); server.shutdown()
    a, b = socket.socketpair(); socket.send_fds(a, [b"fd"], [1]); m, fds, *_ = socket.recv_fds(b, 9, 1)
    print(m, len(fds)); os.close(fds[0])
    u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); u.bind(("127.0.0.1", 0)); u.sendto(b"d", u.getsockname())
    print(u.recvfrom(9)[0])
    s = socket.socket(socket.AF_UNIX); s.bind("sock"); s.listen(); c = socket.socket(socket.AF_UNIX); c.connect("sock")
    c.sendall(b"unix"); print(s.accept()[0].recv(9))


async def loop():
    async def echo(r, w): w.write(await r.readline()); await w.drain(); w.close()
    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    r, w = await asyncio.open_connection(*server.sockets[0].getsockname()); w.write(b"async\n"); print(await r.readline()); w.close()
    p = await asyncio.create_subprocess_exec("echo", "child", stdout=-1); print(await p.communicate())
    print(await asyncio.gather(*(asyncio.to_thread(square, n) for n in range(5))))
    server.close()


def data():
    db = sqlite3.connect("db"); db.execute("pragma journal_mode=wal"); db.execute("create table t(a)")
    db.executemany("insert into t values (?)", [(n,) for n in range(1000)]); db.commit(); print(db.execute("select sum(a) from t").fetchone()); db.close()
    with zipfile.ZipFile("z.zip", "w", zipfile.ZIP_DEFLATED) as z: z.writestr("n", b"x" * 1000)
    print(zipfile.ZipFile("z.zip").read("n")[:3], hashlib.sha256(b"x").hexdigest()[:8], len(os.urandom(4)))
    print(ctypes.CDLL(None).abs(-3), len(gzip.compress(b"a" * 100, mtime=0)), time.clock_getres(time.CLOCK_MONOTONIC) > 0)


if __name__ == "__main__":
    for step in (files, processes, signals, network, data):
        step(); sys.stdout.flush()
    asyncio.run(loop())
    print(open("/proc/self/comm").read().strip())
P
python3 -u session.py
python3 -c 'import os; os.abort()' 2>/dev/null || echo "aborted $?"
python3 -c 'raise SystemExit(12)' || echo "exited $?"
python3 -m compileall -q session.py && python3 -m py_compile session.py && echo compiled
