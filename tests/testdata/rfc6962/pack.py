#!/usr/bin/env python3
"""Packs the proof cases of a transparency-dev/merkle checkout into proofs.json beside this file."""
import json
import pathlib
import sys


def load(root, folder):
    cases = []
    for path in sorted((root / "testdata" / folder).rglob("*.json")):
        case = json.loads(path.read_text())
        packed = {"name": str(path.relative_to(root / "testdata"))}
        for key, value in case.items():
            packed[key] = str(value) if type(value) is int else value
        cases.append(packed)
    return cases


def main():
    root = pathlib.Path(sys.argv[1])
    packed = {"consistency": load(root, "consistency"), "inclusion": load(root, "inclusion")}
    target = pathlib.Path(__file__).with_name("proofs.json")
    target.write_text(json.dumps(packed, indent=1, sort_keys=True) + "\n")


main()
