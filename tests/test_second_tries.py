"""A test that passes at a second try is named at the end of the run."""

from __future__ import annotations

import ast
import subprocess
import sys

from tests.sources import ROOT, nodes_where

TESTS = """
import pytest

tries = []

@pytest.mark.flaky(reruns=2)
def test_slow_machine():
    tries.append(1)
    assert len(tries) == 2

def test_sure():
    pass
"""


def test_who_needed_another_try_is_named_at_the_end(tmp_path):
    (tmp_path / "test_some.py").write_text(TESTS, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]", encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "tests.conftest", str(tmp_path)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    *_, title, name, _ = run.stdout.splitlines()
    assert "needed another try" in title
    assert name == "test_some.py::test_slow_machine: tried 2 times"


def test_no_test_changes_everybodys_clock():
    """`module.time` is the one module of all threads: what is left of another test sleeps too."""
    files = (ROOT / "tests").rglob("*.py")
    for path, node in nodes_where(files, ".time,", ".os,"):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("monkeypatch.setattr"):
            changed = ast.unparse(node.args[0])
            assert not changed.endswith((".time", ".os")), f"{path}:{node.lineno}: {changed}"
