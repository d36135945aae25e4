"""The command line as a whole: `--out` everywhere, what is refused first, bars in a terminal."""

import json
import os
import subprocess
import sys

import pytest

from llmviz.cli import main, parser
from tests.published_models import make_gpt2
from tests.sources import ROOT
from tests.test_cli import FAST, SMALL, refused


def commands():
    """Every command with its parser; of those with parts, each part."""
    (listed,) = (action for action in parser()._actions if action.dest == "command")
    for name, command in listed.choices.items():
        parts = [action for action in command._actions if action.dest == "part"]
        for part in parts:
            yield from ((f"{name} {inner}", one) for inner, one in part.choices.items())
        if not parts:
            yield name, command


COMMANDS = dict(commands())


@pytest.mark.parametrize("name", COMMANDS)
def test_a_folder_that_is_written_is_given_by_out(name):
    actions = COMMANDS[name]._actions
    positional = any(action.dest == "out" and not action.option_strings for action in actions)
    written = positional or any(action.dest in ("out", "to") and action.type for action in actions)
    assert written == any("--out" in action.option_strings for action in actions)


@pytest.mark.parametrize("name", COMMANDS)
def test_an_option_that_there_is_not_is_named_before_what_is_missing(name, capsys):
    assert "--no-such-option" in refused(capsys, *name.split(), "--no-such-option", "3")


def test_out_is_given_once_in_either_way(tmp_path, capsys):
    lesson = ["worksheet", "tokenization"]
    assert main([*lesson, str(tmp_path / "a")]) == main([*lesson, "--out", str(tmp_path / "b")])
    first, second = (
        sorted(path.name for path in (tmp_path / name).iterdir()) for name in ("a", "b")
    )
    assert first == second and len(first) == 2
    capsys.readouterr()
    assert "--out" in refused(capsys, *lesson)
    refused(capsys, *lesson, "--out", str(tmp_path), str(tmp_path))


def test_address_is_where_a_server_listens_and_nothing_else():
    with_address = [
        name
        for name, command in COMMANDS.items()
        if any("--address" in action.option_strings for action in command._actions)
    ]
    assert with_address == ["app", "serve"]


def test_what_was_imported_and_exported_can_be_read_by_a_script(tmp_path, capsys):
    folder = make_gpt2(tmp_path / "gpt2")
    run, out = str(tmp_path / "run"), str(tmp_path / "out")
    assert main(["import", str(folder), "--out", run, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["out"], said["n_layer"], said["n_head"], said["n_embd"]) == (run, 2, 4, 32)
    assert main(["export", run, "--out", out, "--json"]) == 0
    written = json.loads(capsys.readouterr().out)
    assert written["out"] == out and written["parameters"] == said["parameters"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals of this kind")
@pytest.mark.parametrize("columns", [0, 100])
def test_a_progress_bar_is_seen_in_a_terminal(tmp_path, columns):
    """One without a size, as in a container, has none of its own."""
    import fcntl
    import pty
    import struct
    import termios

    text = tmp_path / "text.txt"
    text.write_text("The cat sat on the mat. " * 60, "utf-8")
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24 * bool(columns), columns, 0, 0))
    given = ["train", "--corpus", str(text), "--out", str(tmp_path / "run"), "--steps", "5"]
    started = subprocess.Popen(
        [sys.executable, "-m", "llmviz", *given, *FAST, *SMALL],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if "TQDM" not in name},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
    )
    os.close(theirs)
    seen = b""
    try:
        while piece := os.read(ours, 65536):
            seen += piece
    except OSError:  # the other side is closed
        pass
    assert started.wait() == 0
    os.close(ours)
    assert b"5/5" in seen and b"step/s" in seen
