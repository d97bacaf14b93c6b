#!/usr/bin/env python3
"""Names that a source file brings in and does not use: using-declarations, aliases of types and namespaces.

The quick form of scripts/tidy sees them in one file of several. By the text of the file alone, so that a name that stands in
another meaning too is missed. Files are arguments; prints what it found, and fails if there is any.
"""

from __future__ import annotations

import pathlib
import re
import sys

BROUGHT_IN = re.compile(r"^(?:using (?:[\w:]+::)?(\w+);|using (\w+) = |namespace (\w+) = )", re.MULTILINE)
NOT_CODE = re.compile(r"//[^\n]*|\"(?:\\.|[^\"\\\n])*\"")


def unused(path: pathlib.Path) -> list[str]:
    """The names, in the order of the file."""
    code = NOT_CODE.sub("", path.read_text(encoding="utf-8"))
    names = [next(filter(None, match.groups())) for match in BROUGHT_IN.finditer(code)]
    return [name for name in names if len(re.findall(rf"\b{name}\b", code)) == 1]


def main() -> int:
    found = [f"{path}: `{name}` is brought in and not used" for path in sys.argv[1:] for name in unused(pathlib.Path(path))]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
