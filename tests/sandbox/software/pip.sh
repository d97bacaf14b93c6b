#!/bin/sh
# needs: python3
# A virtual environment with a package from a local index, and its tests. Shows nothing more where this
# Python has no pip.
set -eu
. "$(dirname "$0")/places.inc"
PATH="/usr/bin:$PATH"  # version managers of Python write beside themselves after an install
export PIP_NO_INDEX=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 PYTHONDONTWRITEBYTECODE=1
python3 - <<'P'
import pathlib, zipfile
pathlib.Path("index").mkdir()
files = {"sample/__init__.py": "def answer():\n    return 42\n", "sample/__main__.py": "print('main')\n",
         "sample-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: sample\nVersion: 1.0\n",
         "sample-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
         "sample-1.0.dist-info/entry_points.txt": "[console_scripts]\nsample = sample:answer\n"}
files["sample-1.0.dist-info/RECORD"] = "".join(f"{name},,\n" for name in [*files, "sample-1.0.dist-info/RECORD"])
with zipfile.ZipFile("index/sample-1.0-py3-none-any.whl", "w") as wheel:
    for name, text in files.items():
        wheel.writestr(name, text)
P
if ! python3 -c 'import pip, venv' 2>/dev/null; then
  echo "no pip here"
  exit 0
fi
python3 -m venv --without-pip env
in_env() { python3 -m pip --python env/bin/python "$@"; }
in_env install --quiet --find-links index sample
in_env list --format freeze
env/bin/python -m sample
env/bin/sample || echo "console script ended $?"
printf 'import sample, unittest\nclass T(unittest.TestCase):\n    def test_it(self):\n        self.assertEqual(sample.answer(), 42)\n' > test_it.py
env/bin/python -m unittest -v 2>&1 | without_times
in_env uninstall --quiet --yes sample; ls env/bin/sample 2>/dev/null || echo removed
