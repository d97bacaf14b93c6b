#!/usr/bin/env python3
"""Writes the seeds under corpus/ and the trust files under trust/ anew, from real artefacts.

    make_corpus.py BUILD_FOLDER     (for example build/release, with aasm and make_frames built)

Keys, times and identifiers differ each time: run it only when a format changes. A file named
found-* is an input that once failed; those are kept.
"""

import json
import pathlib
import shutil
import sqlite3
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
    """A ledger made with the built aasm, in a temporary folder."""

    def __init__(self, aasm, place):
        self.aasm, self.place, self.home, self.work = aasm, place, place / "home", place / "work"
        self.work.mkdir()
        (place / "policy.yaml").write_text(POLICY)
        (place / "refused.yaml").write_text(POLICY.replace('write: { allow: ["${WORKDIR}"', 'write: { allow: ["/"'))
        self.command("init", "--org", "seed.example")

    def command(self, *arguments, status=0):
        env = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": str(self.place), "AASM_HOME": str(self.home)}
        done = subprocess.run([self.aasm, *arguments], env=env, cwd=self.work, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=60, check=False)
        if done.returncode != status:
            sys.exit(f"aasm {arguments}: status {done.returncode}\n{done.stderr}")

    def run(self, *program, policy="policy.yaml", options=(), status=0):
        self.command("run", "exec", "--policy", str(self.place / policy), *options, "--", *program, status=status)

    def ledger(self):
        """The bytes of the database with its WAL merged in."""
        with tempfile.TemporaryDirectory() as place:
            for name in ("ledger.db", "ledger.db-wal"):
                if (self.home / name).exists():
                    shutil.copy(self.home / name, place)
            database = sqlite3.connect(f"{place}/ledger.db")
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            database.execute("PRAGMA journal_mode=DELETE")
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


def put_payloads(home):
    smallest = {}  # of each kind
    for (payload,) in home.rows("SELECT payload FROM records"):
        kind = json.loads(payload)["predicate"]["aasm"]["kind"]
        if len(payload) < len(smallest.get(kind, payload + b" ")):
            smallest[kind] = payload
    for kind, payload in smallest.items():
        put("payload", kind, payload)
    put("json", "payload", smallest["run.closed"])


def put_notes(home, vectors):
    (note,) = home.rows("SELECT note FROM checkpoints ORDER BY size DESC LIMIT 1")[0]
    put("note", "checkpoint", note)
    put("note", "cosigned", vectors["cosigned"]["note"])
    put("note", "log_key", vectors["cosigned"]["log_vkey"])
    put("note", "witness_key", vectors["cosigned"]["witness_vkey"])


def put_trust(home, vectors):
    (HERE / "trust").mkdir(exist_ok=True)
    for name in ("trust", "trust.keys"):
        text = (home.home / name).read_bytes()
        (HERE / "trust" / name).write_bytes(text)
        put("trust", name, text)
    witness = vectors["cosigned"]["witness_vkey"]
    put("trust", "witnesses", (home.home / "trust").read_text().replace("quorum none\n", "") +
        f"witness w1 {witness} https://w1.example/\ngroup g1 1 w1\ngroup g2 any w1 g1\nquorum g2\n")
    put("trust", "revoked", (home.home / "trust.keys").read_text() + f"revoked {'ab' * 32} 17\n")


def put_ledgers(home):
    put("verify", "record_0", home.ledger())
    home.run("/bin/true", options=("--isolation", "none", "--receipt", str(home.place / "receipt")))
    put("verify", "unconfined", home.ledger())
    put("verify", "receipt", (home.place / "receipt").read_bytes())
    put("receipt", "run", (home.place / "receipt").read_bytes())
    home.run("/usr/bin/python3", "-c", DENIED)
    home.run("/bin/true", policy="refused.yaml", status=125)
    put("verify", "runs", home.ledger())


def put_policies():
    for file in [*(ROOT / "tests/testdata/policy").glob("*.yaml"), *(ROOT / "examples/policies").glob("*.yaml")]:
        put("policy", file.stem, file.read_bytes())
    put("policy", "seed", POLICY)


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    for old in HERE.glob("corpus/*/*"):
        if not old.name.startswith("found-"):
            old.unlink()
    vectors = json.loads((ROOT / "tests/testdata/ledger_vectors/vectors.json").read_text())
    for name, text in JSON.items():
        put("json", name, text)
    with tempfile.TemporaryDirectory(prefix="aasm-corpus-") as place:
        home = Home(build / "bin/aasm", pathlib.Path(place))
        put_ledgers(home)
        put_payloads(home)
        put_notes(home, vectors)
        put_trust(home, vectors)
    put("receipt", "vector", vectors["receipt"])
    put_policies()
    (HERE / "corpus/frame").mkdir(parents=True, exist_ok=True)
    subprocess.run([build / "tests/fuzz/make_frames", HERE / "corpus/frame"], check=True)


if __name__ == "__main__":
    main()
