"""A file is whole or not at all, and there is one place that writes so."""

from __future__ import annotations

import ast
import os
from pathlib import Path

import pytest

from llmviz import wholefile
from llmviz.tokenizers import CharTokenizer
from llmviz.wholefile import write_whole
from tests.sources import nodes_where

ROOT = Path(__file__).parents[1]


def fail(path: Path) -> None:
    path.write_text("half")
    raise OSError("no space left")


def test_what_fails_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "text"
    write_whole(path, lambda temporary: temporary.write_text("old"))
    with pytest.raises(OSError, match="no space"):
        write_whole(path, fail)
    assert path.read_text() == "old"
    assert [left.name for left in tmp_path.iterdir()] == ["text"]


def test_the_file_is_on_the_disk_before_it_has_its_name_and_the_name_before_we_go_on(
    tmp_path, monkeypatch
):
    path, synced = tmp_path / "text", []

    def note(descriptor: int) -> None:
        synced.append((os.fstat(descriptor).st_ino, path.exists()))

    monkeypatch.setattr(wholefile.os, "fsync", note)
    write_whole(path, lambda temporary: temporary.write_text("new"))
    file, folder = synced
    assert file == (path.stat().st_ino, False)
    assert folder == (tmp_path.stat().st_ino, True)


def test_a_tokenizer_is_written_so(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(wholefile.os, "fsync", synced.append)
    CharTokenizer.train("abc").save(tmp_path / "deep" / "tokenizer.json")
    assert len(synced) == 2


def test_nobody_else_renames_a_file_over_another():
    """`Path.replace` takes one argument, `str.replace` two, and `dataclasses.replace` names."""
    found = set()
    for path, node in nodes_where((ROOT / "llmviz").rglob("*.py"), "replace"):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "replace"
            and len(node.args) == 1
            and not node.keywords
            and ast.unparse(node.func.value) != "dataclasses"
        ):
            found.add(path.relative_to(ROOT).as_posix())
    assert found == {
        "llmviz/wholefile.py",
        "llmviz/cli/make_checkpoint.py",  # a whole folder
        "llmviz/training/checkpoints.py",  # a link to a file that is there already
        "llmviz/training/run_folders.py",  # a whole folder
    }
