"""Command line of the second reader: the options of `aasm verify` that change a verdict."""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import re

from . import receipts, verify
from .notes import NoteError
from .profile import ProfileError
from .trust import TrustError, load

HEAD = re.compile(r"[0-9a-f]{64}\Z")


def parser() -> argparse.ArgumentParser:
    result = argparse.ArgumentParser(prog="reader", description="A second reader of ledgers and receipts.")
    result.add_argument("file", type=pathlib.Path)
    result.add_argument("--trust", type=pathlib.Path)
    result.add_argument("--run", default="")
    result.add_argument("--allow-open", action="store_true")
    result.add_argument("--require-close", action="store_true")
    result.add_argument("--expect-head", type=pathlib.Path)
    result.add_argument("--state", type=pathlib.Path)
    return result


def run(arguments: list[str]) -> tuple[int, dict[str, object]]:
    given = parser().parse_args(arguments)
    options = verify.Options(run=given.run, allow_open=given.allow_open, require_close=given.require_close)
    options.explicit = given.trust is not None
    home = pathlib.Path(os.environ.get("AASM_HOME") or pathlib.Path.home() / ".aasm")
    options.own = given.file.absolute() == (home / "ledger.db").absolute()
    options.heads = {path.name: path.read_bytes() for path in home.glob("heads/*") if HEAD.match(path.name)}
    try:
        if given.trust is not None or (home / "trust").exists():
            options.trust = load(given.trust or home / "trust")
    except TrustError as error:
        return 2, {"verdict": "USAGE", "exit_status": 2, "error": str(error)}
    if given.expect_head is not None and given.expect_head.exists():
        options.references.append(note_of(given.expect_head.read_bytes()))
    if given.state is not None and given.state.exists():
        options.references.append(given.state.read_bytes())
    report = verify.verify(given.file, options)
    return int(report["exit_status"]), report


def note_of(data: bytes) -> bytes:
    """A receipt stands for the checkpoint it holds."""
    try:
        receipts.parse(data)
    except (receipts.ReceiptError, NoteError, ProfileError):
        return data
    return data.split(b"\n\n", 1)[1]


def main(arguments: list[str]) -> int:
    status, report = run(arguments)
    print(json.dumps(report, indent=1, sort_keys=True))
    return status
