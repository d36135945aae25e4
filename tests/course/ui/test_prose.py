"""What was quoted or written by somebody else stays text, in lessons, warnings and tables."""

from __future__ import annotations

import ast
import html
import re
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as some
from streamlit.testing.v1 import AppTest

from llmviz.course.document import Sentence
from llmviz.course.document.marks import as_markdown
from llmviz.course.glossary import terms
from llmviz.course.ui.common import percent
from llmviz.course.ui.notices import refuse_failed, without_folders
from llmviz.course.ui.prose import quote, to_html
from llmviz.course.ui.text import escape_markdown, visible
from tests.sources import ROOT, nodes_where


def without_tags(text: str) -> str:
    return html.unescape(re.sub(r"<[^>]+>", "", text))


def test_marks_become_tags_and_terms_carry_their_explanation():
    shown = to_html(Sentence("**Bold** and *italic*, `a*b*c` and [[merge|merges]]."))
    assert "<strong>Bold</strong>" in shown and "<em>italic</em>" in shown
    assert "<code>a*b*c</code>" in shown
    assert ">merges<" in shown and html.escape(terms()["merge"]) in shown


@pytest.mark.parametrize(
    "attack",
    ["<script>alert(1)</script>", "`</code><img src=x onerror=alert(1)>`", '"><b>', "&lt;b&gt;"],
)
def test_what_is_quoted_stays_text(attack):
    shown = to_html(f"You wrote {quote(attack, limit=100)}.")
    assert set(re.findall(r"<(\w+)", shown)) <= {"p", "code"}
    assert attack in without_tags(shown)


def test_quote_shortens_and_shows_white_space():
    assert as_markdown(quote("a" * 100, limit=10)) == "`" + "a" * 9 + "…`"
    assert as_markdown(quote("  ")) == "`··`"
    assert as_markdown(quote("")) == "`(nothing)`"
    assert visible("a b\n") == "a·b⏎"


def test_every_term_of_every_lesson_is_in_the_glossary():
    linked = re.compile(r"\[\[([a-zA-Z][^\]|\[\\]*)(?:\\?\|[^\]]+)?\]\]")
    for room in ("lessons", "ui"):
        for file in (ROOT / "llmviz" / "course" / room).rglob("*.*"):
            if file.suffix == ".md":
                for term in linked.findall(" ".join(file.read_text("utf-8").split())):
                    assert term in terms(), f"{file}: {term}"
            elif file.suffix == ".py":
                for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                    if isinstance(node, ast.Constant) and isinstance(node.value, str):
                        for term in linked.findall(node.value):
                            assert term in terms(), f"{file}: {term}"


def test_escaped_markdown_has_no_live_mark_left():
    attack = "![x](http://a) **b** $x$ :red[y] <b> `c` # h"
    shown = escape_markdown(attack)
    assert re.sub(r"\\(.)", "", shown).strip(" abchrtpxyed").replace(
        " ", ""
    ).isalpha() or not re.search(r"(?<!\\)[!\[\]()*$:<>`#]", shown)


def test_a_share_reads_as_nothing_only_if_it_is_0():
    for power in range(-320, 1):
        assert re.search("[1-9]", percent(10.0**power)), power
    assert not re.search("[1-9]", percent(0.0))


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


def page() -> None:
    """Three tables, one of them without rows."""
    import numpy as np

    from llmviz.course.ui.common import rows_table

    rows_table([["a", 1, 0.5], ["b", 2, float("nan")]], ["name", "steps", "loss"])
    rows_table(zip(np.arange(3), ["<b>x</b>", "", "é"], strict=True), "za", width=300)
    rows_table([], ["name", "steps"])


def test_rows_and_columns_come_as_given():
    app = AppTest.from_function(page).run()
    assert not app.exception
    rows, columns, none = (one.value for one in app.dataframe)
    assert list(rows.columns) == ["name", "steps", "loss"]
    assert list(rows["name"]) == ["a", "b"] and list(rows["steps"]) == [1, 2]
    assert rows["loss"][0] == 0.5 and rows["loss"].isna().tolist() == [False, True]
    assert columns.to_dict("list") == {"z": [0, 1, 2], "a": ["<b>x</b>", "", "é"]}
    assert list(none.columns) == ["name", "steps"] and len(none) == 0
