#!/bin/sh
# needs: pytest
# Fixtures, parameters, a temporary folder, captured output, a failure and its report.
set -eu
. "$(dirname "$0")/places.inc"
export PYTHONDONTWRITEBYTECODE=1 PYTEST_DISABLE_PLUGIN_AUTOLOAD=1
cat > test_it.py <<'P'
import os, subprocess, pytest
@pytest.fixture
def made(tmp_path):
    (tmp_path / "f").write_text("text")
    return tmp_path / "f"
@pytest.mark.parametrize("n", range(5))
def test_square(n): assert n * n == sum(2 * k + 1 for k in range(n))
def test_file(made): assert made.read_text() == "text"
def test_output(capfd):
    subprocess.run(["echo", "x"], check=True)
    assert capfd.readouterr().out == "x\n"
def test_environment(monkeypatch):
    monkeypatch.setenv("A", "b")
    assert os.environ["A"] == "b"
def test_fails(): assert 1 == 2
@pytest.mark.skip(reason="not now")
def test_skipped(): pass
P
pytest -p no:cacheprovider -q -rs --basetemp="$1/base" 2>&1 | without_times || true
pytest -p no:cacheprovider -q -k square --basetemp="$1/base" 2>&1 | without_times
