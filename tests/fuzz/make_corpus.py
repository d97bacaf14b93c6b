#!/usr/bin/env python3
"""Writes the seeds under corpus/ and the trust files under trust/ anew, from real artefacts.

    make_corpus.py BUILD_FOLDER     (for example build/release, with aasm and make_frames built)

Keys, times and identifiers differ each time: run it only when a format changes. A file named
found-* is an input that once failed; those are kept.
"""

import json
import pathlib
import shutil
import socket
import sqlite3
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DENIED = "import ctypes; ctypes.CDLL(None).ptrace(0, 0, 0, 0)"
POLICY = """apiVersion: agent-assembly/v1
kind: Policy
metadata: { name: seed }
spec:
  filesystem:
    read: { allow: [/usr, /lib, /lib64, /bin, /etc, "${WORKDIR}"] }
    write: { allow: ["${WORKDIR}", /dev/null] }
  syscalls: { allow: ["@default"] }
  credentials: { environment: { allow: [PATH, LANG] } }
"""
JSON = {"numbers": '[0,-1,9007199254740991,-9007199254740991]', "unordered": '{"b":1,"a":{"c":[true,false,null]}}',
        "escapes": r'{"a":"\u0000\u00e9\ud83d\ude00\n\"\\","b":"' + "\u00e9\U0001f600" + '"}', "nested": "[" * 32 + "]" * 32,
        "space": ' { "a" : [ 1 , 2 ] } '}


class Home:
    """A ledger made with the built aasm, in a folder of its own below `place`."""

    def __init__(self, aasm, place, name):
        self.aasm, self.place = aasm, place / name
        self.home, self.work = self.place / "home", self.place / "work"
        self.work.mkdir(parents=True)
        (self.place / "policy.yaml").write_text(POLICY)
        (self.place / "refused.yaml").write_text(POLICY.replace('write: { allow: ["${WORKDIR}"', 'write: { allow: ["/"'))
        self.env = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": str(self.place), "AASM_HOME": str(self.home)}
        self.command("init", "--org", f"{name}.example")

    def command(self, *arguments, status=0):
        done = subprocess.run([self.aasm, *arguments], env=self.env, cwd=self.work, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=60, check=False)
        if done.returncode != status:
            sys.exit(f"aasm {arguments}: status {done.returncode}\n{done.stderr}")
        return done.stdout

    def run(self, *program, policy="policy.yaml", options=(), status=0):
        self.command("run", "exec", "--policy", str(self.place / policy), *options, "--", *program, status=status)

    def kill_a_run(self):
        """A supervisor that dies without a word; its program ends by itself."""
        program = subprocess.Popen([self.aasm, "run", "exec", "--isolation", "none", "--policy", self.place / "policy.yaml",
                                    "--", "/bin/cat"], env=self.env, cwd=self.work, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE)
        program.stdin.write(b"started\n")
        program.stdin.flush()
        program.stdout.readline()
        program.kill()
        program.communicate()

    def change_keys(self):
        self.command("key", "rotate", "host")
        self.command("key", "rotate", "log")
        self.command("key", "replace", "host")
        retired = [key["id"] for key in json.loads(self.command("key", "list", "--format", "json"))["keys"]
                   if key["purpose"] == "host" and "until" in key]
        self.command("key", "revoke", retired[0])

    def ledger(self):
        """The bytes of the database with its WAL merged in, in pages as small as they may be: a fuzzer does more with less."""
        with tempfile.TemporaryDirectory() as place:
            for name in ("ledger.db", "ledger.db-wal"):
                if (self.home / name).exists():
                    shutil.copy(self.home / name, place)
            database = sqlite3.connect(f"{place}/ledger.db", isolation_level=None)
            for statement in ("PRAGMA wal_checkpoint(TRUNCATE)", "PRAGMA journal_mode=DELETE", "PRAGMA page_size=512", "VACUUM"):
                database.execute(statement)
            database.close()
            return pathlib.Path(place, "ledger.db").read_bytes()

    def rows(self, query):
        database = sqlite3.connect(f"{self.home}/ledger.db")
        try:
            return database.execute(query).fetchall()
        finally:
            database.close()


def put(target, name, data):
    folder = HERE / "corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data if isinstance(data, bytes) else data.encode())


def put_payloads(homes):
    smallest = {}  # of each kind
    for home in homes:
        for (payload,) in home.rows("SELECT payload FROM records"):
            kind = json.loads(payload)["predicate"]["aasm"]["kind"]
            if len(payload) < len(smallest.get(kind, payload + b" ")):
                smallest[kind] = payload
    for kind, payload in smallest.items():
        put("payload", kind, payload)
    part = json.loads(smallest["policy.resolved"])
    part["predicate"]["body"].update(part=1, parts=2)
    put("payload", "policy.resolved.part", json.dumps(part, sort_keys=True, separators=(",", ":"), ensure_ascii=False))
    put("json", "payload", smallest["run.closed"])


def put_notes(home, vectors):
    (note,) = home.rows("SELECT note FROM checkpoints ORDER BY size DESC LIMIT 1")[0]
    put("note", "checkpoint", note)
    put("note", "cosigned", vectors["cosigned"]["note"])
    put("note", "log_key", vectors["cosigned"]["log_vkey"])
    put("note", "witness_key", vectors["cosigned"]["witness_vkey"])


def put_trust(homes, vectors):
    """Each home's trust files as seeds of the parser, and all in one for the verifier of any of the ledgers."""
    texts = {name: [(home.home / name).read_text() for home in homes] for name in ("trust", "trust.keys")}
    for name, parts in texts.items():
        put("trust", name, parts[0])
        lines = "".join(parts).replace("quorum none\n", "") + ("quorum none\n" if name == "trust" else "")
        (HERE / "trust").mkdir(exist_ok=True)
        (HERE / "trust" / name).write_text(lines)
    witness = vectors["cosigned"]["witness_vkey"]
    put("trust", "witnesses", texts["trust"][0].replace("quorum none\n", "") +
        f"witness w1 {witness} https://w1.example/\ngroup g1 1 w1\ngroup g2 any w1 g1\nquorum g2\n")
    put("trust", "revoked", texts["trust.keys"][0] + f"revoked {'ab' * 32} 17\n")


def put_runs(home):
    put("verify", "record_0", home.ledger())
    home.run("/bin/true", options=("--isolation", "none", "--receipt", str(home.place / "receipt")))
    put("verify", "unconfined", home.ledger())
    put("verify", "receipt", (home.place / "receipt").read_bytes())
    put("receipt", "run", (home.place / "receipt").read_bytes())
    home.run("/usr/bin/python3", "-c", DENIED)
    put("verify", "confined", home.ledger())


def put_endings(home):
    home.run("/bin/true", policy="refused.yaml", status=125)
    put("verify", "refused", home.ledger())
    home.kill_a_run()
    put("verify", "unfinished", home.ledger())
    home.command("init")  # opens the ledger to append, so it recovers
    put("verify", "recovered", home.ledger())


def put_keys(home):
    home.change_keys()
    put("verify", "keys", home.ledger())


def put_parts(home):
    """A policy that takes two records, and hardly more than one."""
    many = ", ".join(f"/p{number}" for number in range(110))
    (home.place / "parts.yaml").write_text(POLICY.replace("[/usr,", f"[{many}, /usr,"))
    home.run("/bin/true", policy="parts.yaml", options=("--isolation", "none"))
    put("verify", "parts", home.ledger())


def put_policies():
    for file in [*(ROOT / "tests/testdata/policy").glob("*.yaml"), *(ROOT / "examples/policies").glob("*.yaml")]:
        put("policy", file.stem, file.read_bytes())
    put("policy", "seed", POLICY)


def put_addresses():
    """Which socket, which call, and a struct sockaddr."""
    port = struct.pack("!H", 80)
    v4 = struct.pack("=H", socket.AF_INET) + port + socket.inet_aton("127.0.0.1") + bytes(8)
    v6 = struct.pack("=H", socket.AF_INET6) + port + bytes(4)
    for name, head, address in (
            ("tcp", b"\0\0", v4), ("tcp6", b"\1\0", v6 + socket.inet_pton(socket.AF_INET6, "::1") + bytes(4)),
            ("mapped", b"\1\0", v6 + socket.inet_pton(socket.AF_INET6, "::ffff:127.0.0.1") + bytes(4)),
            ("udp", b"\2\3", v4), ("unspecified", b"\0\1", bytes(16)), ("udp6_v4", b"\3\3", v4),
            ("short", b"\0\0", v4[:15]), ("raw", b"\5\0", v4)):
        put("sockaddr", name, head + address)


def put_names():
    """Who reads it, and a message of the domain name system."""
    def wire(name):
        return b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0"

    def head(flags, answers=0, more=0):
        return struct.pack("!HHHHHH", 0x1234, flags, 1, answers, 0, more)

    def asked(name, kind=1):
        return wire(name) + struct.pack("!HH", kind, 1)

    def record(owner, kind, data):
        return owner + struct.pack("!HHIH", kind, 1, 60, len(data)) + data

    same, edns = b"\xc0\x0c", b"\0" + struct.pack("!HHIH", 41, 1232, 0, 0)
    question, reply = asked("a.example"), head(0x8180, 1) + asked("a.example")
    chain = record(same, 5, wire("b.example")) + record(wire("b.example"), 5, b"\1c\xc0\x0e") + record(b"\1c\xc0\x0e", 1, b"\1\2\3\4")
    for name, message in (
            ("a", b"\0" + head(0x100) + question), ("edns", b"\0" + head(0x120, 0, 1) + asked("A.Example", 28) + edns),
            ("odd_labels", b"\0" + head(0x100) + b"\3a.\\\2\xff\0\0" + b"\0\1\0\1"),
            ("longest", b"\0" + head(0x100) + b"\1a" * 127 + b"\0\0\1\0\1"), ("pointer", b"\0" + head(0x100) + same + b"\0\1\0\1"),
            ("more", b"\0" + head(0x100) + question + b"secret"), ("reply", b"\1" + reply + record(same, 1, b"\x5d\xb8\xd8\x22")),
            ("reply_v6", b"\1" + head(0x8180, 1) + asked("a.example", 28) + record(same, 28, bytes(range(16)))),
            ("reply_chain", b"\1" + head(0x8180, 3) + question + chain), ("reply_alias", b"\1" + reply + record(same, 5, wire("b.example"))),
            ("reply_circle", b"\1" + reply + record(same, 5, same)), ("reply_pointers", b"\1" + reply + record(b"\xc0\x1b" + same, 1, b"abcd")),
            ("reply_truncated", b"\1" + head(0x8380) + question), ("reply_unknown", b"\1" + head(0x8183) + question)):
        put("dns", name, message)


def put_messages():
    """Lengths of an address and of a list of buffers, the address, and control messages."""
    def control(level, kind, data):
        return struct.pack("=Qii", 16 + len(data), level, kind) + data + bytes(-len(data) % 8)
    rights = control(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("=ii", 0, 1))
    own = control(socket.SOL_SOCKET, 2, struct.pack("=III", 1, 0, 0))
    for name, message in (("plain", b"\0\1"), ("address", b"\4\1\1\0/x"), ("rights", b"\0\2" + rights), ("credentials", b"\0\1" + own),
                          ("route", b"\0\1" + control(0, 7, bytes(8))), ("two", b"\0\0" + rights + control(0, 1, bytes(4))),
                          ("cut", b"\0\1" + rights[:-4]), ("many", b"\0\377" + 60 * control(0, 1, bytes(4)))):
        put("message", name, message)


def put_audit():
    """Lines of a or d, for a denial or a domain, and the kernel's text."""
    def text(kind, millis, rest):
        return f"{kind}audit({millis // 1000}.{millis % 1000:03}:5): domain={rest}\n"
    file = 'blockers=fs.read_file path="/etc/passwd" dev="vda" ino=861'
    canary, made = text("a", 900, "1f " + file), text("d", 900, '1f status=allocated mode=enforcing pid=7 uid=0 exe="/x" comm="x"')
    ended = text("d", 3000, "1f status=deallocated denials=3")
    for name, lines in (
            ("run", (canary, made, text("a", 2000, "1f " + file), text("a", 2000, "1f blockers=fs.make_reg,fs.refer path=2F612062"), ended)),
            ("others", (canary, made, text("a", 2000, "20 " + file), text("d", 2000, "20 status=allocated pid=8"), ended)),
            ("no_file", (canary, made, text("a", 2000, "1f blockers=net.connect_tcp daddr=127.0.0.1 dest=38857"),
                         text("a", 2000, "1f blockers=scope.abstract_unix_socket path=0066"), text("a", 2000, '1f blockers=ptrace opid=2 ocomm="a"'))),
            ("many", (canary, made, *(text("a", 2000, f'1f blockers=fs.read_file path="/{i}" ino={i}') for i in range(100)))),
            ("unclaimed", (*(text("a", 2000, f"{i:x} {file}") for i in range(100)), made))):
        put("audit", name, "".join(lines).encode())


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    for old in HERE.glob("corpus/*/*"):
        if not old.name.startswith("found-"):
            old.unlink()
    vectors = json.loads((ROOT / "tests/testdata/ledger_vectors/vectors.json").read_text())
    for name, text in JSON.items():
        put("json", name, text)
    with tempfile.TemporaryDirectory(prefix="aasm-corpus-") as place:
        seeds = {name: Home(build / "bin/aasm", pathlib.Path(place), name) for name in ("runs", "endings", "keys", "parts")}
        put_runs(seeds["runs"])
        put_endings(seeds["endings"])
        put_keys(seeds["keys"])
        put_parts(seeds["parts"])
        put_payloads(seeds.values())
        put_notes(seeds["runs"], vectors)
        put_trust(list(seeds.values()), vectors)
    put("receipt", "vector", vectors["receipt"])
    put_policies()
    put_addresses()
    put_names()
    put_messages()
    put_audit()
    (HERE / "corpus/frame").mkdir(parents=True, exist_ok=True)
    subprocess.run([build / "tests/fuzz/make_frames", HERE / "corpus/frame"], check=True)


if __name__ == "__main__":
    main()
