"""Every command writes every character, whatever the code page that Windows lends it."""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from llmviz.cli import main, parser
from llmviz.parallel.__main__ import main as parallel

CODE_PAGES = ("cp1252", "cp437", "cp1251", "ascii")
ODD = "Zoë → ☃ 🙂 α"


def commands(one: argparse.ArgumentParser, before: tuple[str, ...] = ()) -> Iterator[tuple]:
    """The words that lead to each command and to each part of one."""
    yield before
    for action in one._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, part in action.choices.items():
                yield from commands(part, (*before, name))


def called(monkeypatch, encoding: str | None, *arguments: str, program=main) -> tuple[int, bytes]:
    """Exit code and the bytes of standard output, where the system's encoding is another."""
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding=encoding or "cp1252"))
    if encoding:
        monkeypatch.setenv("PYTHONIOENCODING", encoding)
    else:
        monkeypatch.delenv("PYTHONIOENCODING", raising=False)
    try:
        code = program(list(arguments))
    except SystemExit as stop:
        code = stop.code
    sys.stdout.flush()
    return code, raw.getvalue()


@pytest.mark.parametrize("page", CODE_PAGES)
def test_every_help_is_written_under_every_code_page(monkeypatch, page):
    leading = list(commands(parser()))
    assert len(leading) > 12
    for words in leading:
        code, written = called(monkeypatch, page, *words, "--help")
        assert code == 0 and written.decode(page).startswith("usage:"), words
    code, written = called(monkeypatch, page, "--help", program=parallel)
    assert code == 0 and written


@pytest.mark.parametrize("page", CODE_PAGES)
@pytest.mark.parametrize(
    "command",
    [
        ("models",),
        ("corpus", "list"),
        ("corpus", "show", "pairs"),
        ("checkpoints", "list"),
        ("tokenize", "--tokenizer", "char", ODD),
    ],
    ids=" ".join,
)
def test_every_list_is_written_under_every_code_page(monkeypatch, page, command):
    code, written = called(monkeypatch, page, *command)
    assert code == 0 and written.decode(page).count("\n") > 3


@pytest.fixture(scope="module")
def odd_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("odd") / "odd.txt"
    path.write_text(f"{ODD}\n", encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("page", CODE_PAGES)
def test_json_loses_nothing_under_a_code_page(monkeypatch, page, odd_file):
    code, written = called(monkeypatch, page, "corpus", "show", odd_file, "--json")
    assert code == 0 and ODD in json.loads(written.decode(page))["first"][0]
    code, written = called(monkeypatch, page, "corpus", "show", odd_file)
    assert code == 0 and "?" in written.decode(page) and "Zo" in written.decode(page)


def test_a_file_or_pipe_gets_utf_8_under_any_code_page(monkeypatch, odd_file):
    for more in ((), ("--json",)):
        code, written = called(monkeypatch, None, "corpus", "show", odd_file, *more)
        assert code == 0 and ODD in written.decode("utf-8")


@pytest.mark.parametrize("page", ["cp1252", "cp437", "cp1251"])
def test_a_real_process_writes_its_list_and_its_refusal_under_a_code_page(page):
    for arguments, code in ((("corpus", "list"), 0), (("corpus", "show", ODD), 2)):
        done = subprocess.run(
            (sys.executable, "-m", "llmviz", *arguments),
            env={**os.environ, "PYTHONIOENCODING": page, "PYTHONUTF8": "0"},
            capture_output=True,
        )
        assert done.returncode == code, done.stderr
        assert len((done.stderr if code else done.stdout).decode(page).splitlines()) >= 1
        assert b"Traceback" not in done.stderr and b"codec" not in done.stderr
