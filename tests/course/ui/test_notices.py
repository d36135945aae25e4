"""What somebody else wrote stays text in warnings and refusals, wherever they are shown."""

from __future__ import annotations

import ast
import re
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as some

from llmviz.course.ui.notices import refuse_failed, without_folders
from llmviz.course.ui.text import escape_markdown
from tests.sources import nodes_where

ROOT = Path(__file__).parents[3]
# How addresses are found in text whose escapes are gone: GitHub Flavored Markdown, section 6.9.
ADDRESSES = re.compile(r"https?://|www\.|[-.\w+]@[-\w]", re.IGNORECASE)


def test_warnings_and_refusals_are_shown_in_one_place():
    rooms = [ROOT / "llmviz" / "course" / room for room in ("components", "lessons", "ui")]
    files = sorted(path for room in rooms for path in room.rglob("*.py"))
    for path, node in nodes_where(files, "warning", "error"):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        if node.func.attr in ("warning", "error") and path.name != "notices.py":
            constant = isinstance(node.args[0], ast.Constant | ast.Attribute)
            assert constant, f"{path.name}:{node.lineno} should call notices.warn or refuse"


@pytest.mark.parametrize("below", ["", "/a run/config.json", "/x.json: is missing", "' is not"])
def test_a_message_does_not_say_where_the_servers_folders_are(monkeypatch, tmp_path, below):
    home = tmp_path / "secret" / "place"
    monkeypatch.setenv("LLMVIZ_RUNS", str(home / "runs"))
    monkeypatch.setenv("LLMVIZ_CHECKPOINTS", str(home / "models"))
    monkeypatch.setattr(Path, "home", lambda: Path("/secret/anna"))
    folders = [home / "runs", home / "models", Path.cwd(), ROOT, Path.home()]
    for folder in [*folders, Path(tempfile.gettempdir())]:
        message = without_folders(f"cannot read '{folder}{below}")
        assert message == f"cannot read '{folder.name}{below}"
        assert "secret" not in message


@pytest.mark.parametrize("text", ["a/b", "got '/etc/passwd'", "1/√D", "http://x/tmp/y", "\\frac/"])
def test_other_slashes_stay(text):
    assert without_folders(text) == text


def plain(escaped):
    """What Markdown makes of escapes."""
    return re.sub(r"\\(.)", r"\1", escaped)


@given(some.lists(some.sampled_from(["http", "HTTPS", ":", "/", "www", ".", "@", "a", "-", " "])))
def test_no_address_is_left_once_the_escapes_are_gone(parts):
    assert not ADDRESSES.search(plain(escape_markdown("".join(parts))))


@given(some.text(alphabet=some.characters(exclude_categories=["Cs"], exclude_characters="\n")))
def test_all_characters_are_still_there(text):
    assert plain(escape_markdown(text)).replace("\u2060", "") == text.replace("\u2060", "")


def test_a_bug_in_the_background_is_raised_and_a_broken_rule_is_told(monkeypatch):
    lines = []
    monkeypatch.setattr("llmviz.course.ui.notices.st.error", lambda text, icon: lines.append(text))
    refuse_failed(SimpleNamespace(problem="steps must be at least 1", expected=True))
    assert lines == ["steps must be at least 1"]
    with pytest.raises(RuntimeError, match="Traceback"):
        refuse_failed(SimpleNamespace(problem="Traceback (most recent call last)", expected=False))
    assert len(lines) == 1
