"""A lesson's text becomes the HTML that was meant, and nothing that was quoted becomes any."""

from __future__ import annotations

import ast
import html
import re
from pathlib import Path

import pytest

from llmviz.course.document import Sentence
from llmviz.course.document.marks import as_markdown
from llmviz.course.ui.common import percent
from llmviz.course.ui.glossary import terms
from llmviz.course.ui.prose import quote, to_html
from llmviz.course.ui.text import escape_markdown, visible


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
    root = Path(__file__).parents[3]
    linked = re.compile(r"\[\[([a-zA-Z][^\]|\[]*)(?:\\?\|[^\]]+)?\]\]")
    for room in ("lessons", "ui"):
        for file in (root / "llmviz" / "course" / room).rglob("*.*"):
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
