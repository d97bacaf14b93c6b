#!/usr/bin/python3
"""The memory that `aasm verify` may take: a file that makes it want more is UNREADABLE, and nothing is left behind."""

from __future__ import annotations

import copy
import json
import os
import pathlib
import resource
import subprocess
import tempfile
import unittest

from forge import Forge, load, load_blobs
from ledgers import Ledgers
from scenarios import Run

AASM = os.environ["AASM"]
MIB = 2**20
LIMIT = 24 * MIB  # an ordinary file takes less than 20 MiB, the hostile one more than 30
PARTS, CANARIES = 235, 200


class Memory(unittest.TestCase):
    """A limit that the caller has set lower than the verifier would is kept; so the end of memory can be provoked."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="aasm-memory-")
        self.addCleanup(folder.cleanup)
        self.place = pathlib.Path(folder.name)
        self.temporary = self.place / "tmp"
        self.temporary.mkdir()
        ledgers = Ledgers(AASM, self.place / "real")
        self.base = Forge(load(ledgers.home / "ledger.db"), load_blobs(ledgers.home / "ledger.db"))
        self.run_id = ledgers.denied

    def write(self, forge: Forge, name: str) -> pathlib.Path:
        forge.build()
        forge.write(self.place / f"{name}.db")
        for path, data in zip((self.place / "trust", self.place / "trust.keys"), forge.trust()):
            path.write_bytes(data)
        return self.place / f"{name}.db"

    def hostile(self) -> Forge:
        """A run that says so much about its set-up, in records of the largest size, that keeping it takes many megabytes."""
        forge = self.base.copy()
        run = Run(forge, self.run_id)
        proved = run.all("boundary.proved")[0]
        canary = copy.deepcopy(proved.body["canaries"][0])
        position = forge.entries.index(proved)
        for part in range(PARTS):
            entry = copy.deepcopy(proved)
            entry.body.update(part=part + 1, parts=PARTS, no_canary=[],
                              canaries=[{**canary, "id": f"{part}.{index}"} for index in range(CANARIES)])
            forge.entries.insert(position + part, entry)
        forge.entries.remove(proved)
        run.body("run.closed")["records"] += PARTS - 1
        return forge

    def verify(self, target: pathlib.Path, limit: int) -> tuple[int, dict[str, object]]:
        def lower() -> None:
            resource.setrlimit(resource.RLIMIT_DATA, (limit, resource.getrlimit(resource.RLIMIT_DATA)[1]))
        done = subprocess.run([AASM, "verify", str(target), "--trust", str(self.place / "trust"), "--format", "json"],
                              env={**os.environ, "TMPDIR": str(self.temporary), "AASM_HOME": str(self.place / "none")},
                              capture_output=True, timeout=120, check=False, preexec_fn=lower)
        self.assertTrue(done.stdout, done.stderr)
        return done.returncode, json.loads(done.stdout)

    def test_a_file_that_takes_more_than_the_limit_is_unreadable(self) -> None:
        target = self.write(self.hostile(), "hostile")
        status, report = self.verify(target, 2048 * MIB)
        self.assertEqual(status, 0, "the same file is verified where there is room")
        good = self.write(self.base.copy(), "good")
        status, report = self.verify(good, LIMIT)
        self.assertEqual((status, report["verdict"]), (0, "VERIFIED"), "an ordinary one within the limit")
        status, report = self.verify(target, LIMIT)
        self.assertEqual((status, report["verdict"]), (4, "UNREADABLE"), report)
        self.assertEqual([group["code"] for group in report["findings"]["groups"]], ["limit_reached"])  # type: ignore[index]
        self.assertEqual(list(self.temporary.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
