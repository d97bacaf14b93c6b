"""python3 -B tests/conformance/reader LEDGER [options]: see README.md."""

import pathlib
import sys

if __package__ in (None, ""):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from reader.cli import main  # noqa: E402  (the path is set just above)

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
