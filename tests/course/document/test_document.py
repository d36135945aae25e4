"""A document of Markdown gives its texts by name, and says in which line it cannot be read."""

from __future__ import annotations

import ast
import importlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from llmviz.course.document import Document, Sentence, texts_of
from llmviz.course.document.check import Names, check
from llmviz.course.document.marks import as_markdown, cleared, marked, unmarked
from llmviz.course.document.read import DocumentError, read
from llmviz.course.document.texts import WATCH
from llmviz.course.document.translated import documents
from llmviz.course.lessons import LESSONS
from llmviz.course.ui.documents import check_documents
from llmviz.course.ui.prose import quote, to_html

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
WHOLE = """---
title: Counting
minutes: 25
---

# What can a table know?

## Pairs of {names:,} {#pairs}

A table of **counts**,
over two lines.

A second paragraph.

result
:   The loss of {name} is {loss:.2f}. It is
    a [[cross-entropy|loss]].

after
:   ␣And one more.

scale
:   - 0 nats
    - {most} nats

known
:   - `yes`: It is in the list.
    - `no`: It is new.

sides
:   - `place`:
      - before
      - after

| Name | Text |
|---|---|
| first_axis | letter \\| sign |

| bits | |
|---|---|
| 4 | four |
| "2" | two, as a text |

| deep | | |
|---|---|---|
| a / b | one | |

### Predict {#ask_row}

How many are there?

- [ ] {n}

  Too few.

- [x] {m}

  As many as rows.

```python snippet
print({n})

print(2)
```

> picture: the table

<!-- a note for authors -->
"""


@pytest.fixture
def written(tmp_path):
    def write(text: str, name: str = "chapter.md"):
        path = tmp_path / name
        path.write_bytes(text.encode("utf-8"))
        return path

    return write


@pytest.mark.parametrize("as_edited", [str, lambda t: "\ufeff" + t.replace("\n", "\r\n")])
def test_every_kind_of_text_is_read(written, as_edited):
    words = Document(written(as_edited(WHOLE)))
    assert words.front == ("Counting", 25, "What can a table know?")
    assert words.pairs.title == "Pairs of {names:,}"
    assert words.pairs.text == Sentence(
        "A table of **counts**, over two lines.\n\nA second paragraph."
    )
    filled = words.result.format(name="Ann", loss=1.234)
    assert filled == Sentence("The loss of Ann is 1.23. It is a [[cross-entropy|loss]].")
    assert words.after == " And one more."
    assert words.scale == ("0 nats", "{most} nats")
    assert words.known[True] == "It is in the list." and words.known[2 > 3] == "It is new."
    assert words.sides["place"] == ("before", "after")
    assert words.first_axis == "letter | sign"
    assert words.bits[4] == "four" and words.bits["2"] == "two, as a text"
    assert words.deep["a"]["b"] == ("one", "")
    assert words.ask_row.text == "How many are there?" and words.ask_row.right == 1
    assert next(iter(words.ask_row.answers.items())) == ("{n}", "Too few.")
    assert words.snippet == "print({n})\n\nprint(2)"
    with pytest.raises(AttributeError, match="no text named 'nothing'"):
        _ = words.nothing


@pytest.mark.parametrize(
    ("text", "line", "rule"),
    [
        ("a\n:   One.\n\na\n:   Two.\n", 4, "'a' stands in line 1 already"),
        ("| Name | Text |\n|---|---|\n| a |\n", 3, "a broken table: this row needs 2 cells"),
        ("| Name | Text |\n| a | b |\n", 1, "a broken table"),
        ("| a | |\n|---|---|\n| b | 1 |\n| b | 2 |\n", 4, "the key 'b' stands there twice"),
        ("A line by itself.\n", 1, "text that belongs to no name"),
        ("## A title\n", 1, "a heading ends with {#name}"),
        ("### Predict {#ask}\n\nWhy?\n", 1, "a question has a list of answers"),
        ("### Predict {#ask}\n\nWhy?\n\n- [x] a\n- [x] b\n", 6, "a second right answer"),
        ("class\n:   A word of Python.\n", 1, "no keyword of Python"),
        ("Two words\n:   A name is one.\n", 1, "a name has small letters"),
        ("# One?\n\n# Two?\n", 3, "one question"),
        ("---\ntitle: A\nminutes: many\n---\n", 3, "minutes is a whole number"),
        ("---\nauthor: A\n---\n", 2, "front matter has title, minutes"),
        ("---\ntitle: A\n", 1, "the front matter has no end"),
        ("a\n:   - `k`: One.\n    - Two.\n", 2, "some texts have a key and some not"),
    ],
)
def test_what_cannot_be_read_is_said_with_its_line(written, text, line, rule):
    with pytest.raises(DocumentError, match=rf"chapter\.md, line {line}: ") as wrong:
        read(written(text))
    assert rule in str(wrong.value)


def test_a_document_is_held_against_its_code(written):
    code = written(
        "words.result.format(name=1, **{'loss': 2}), words.pairs, words.ask_row\n"
        "f'{kind}_axis', words.bits, {'n': 1, 'm': 2, 'most': 3, 'names': 4}\n"
        "words.after, words.scale, words.known, words.sides, words.deep, words.snippet\n",
        "code.py",
    )
    check(written(WHOLE), Names([code]))
    check(written("result\n:   {velocity}\n"), Names([code], Names([written("velocity", "a.js")])))
    with pytest.raises(DocumentError, match=r"line 15: no code fills the slot \{nmae\}"):
        check(written(WHOLE.replace("{name}", "{nmae}")), Names([code]))
    with pytest.raises(DocumentError, match="line 1: no code uses the text 'unused'"):
        check(written("unused\n:   Nobody says this.\n"), Names([code]))


@given(some.text() | some.sampled_from(["**b**", "[[merge]]", "`c`", "*i*", "{braces}", "{0}"]))
def test_what_is_filled_in_is_never_markup(value):
    """Nothing that a learner types becomes a tag, whether it is quoted or, by mistake, not."""
    template = Sentence("You wrote {value}, **really**.")
    quoted = to_html(template.format(value=quote(value, limit=10_000)))
    assert quoted.count("<strong>") == 1 and quoted.count("<code>") == 1
    assert "<em>" not in quoted and "lv-term" not in quoted
    bare = to_html(template.format(value=cleared(value)))
    assert bare.count("<strong>") == 1 and "<code>" not in bare and "lv-term" not in bare


def test_marks_go_back_to_what_they_were():
    text = "**bold**, *italic*, `co*de*`, [[merge|merges]] and 2 * 3 * 4"
    assert as_markdown(marked(text)) == text.replace("[[merge|merges]]", "merges")
    assert unmarked(marked(text)) == "bold, italic, co*de*, merges and 2 * 3 * 4"


@pytest.mark.parametrize("value", [-2.5, -3, np.float32(-0.5), np.float64(-1e-9), 4e-16])
@pytest.mark.parametrize("form", ["", ".2f", ".1e", "+.3g"])
def test_a_number_has_a_true_minus_sign_and_a_name_keeps_its_hyphen(value, form):
    text = Sentence("**at** {value:" + form + "} of {name}, -1").format(value=value, name="b-2")
    filled, rest = text.split(" of ")
    assert rest == "b-2, -1" and "-" not in filled
    plain, _, power = format(value, form).partition("e")
    assert (plain.lstrip("-") if float(plain) == 0 else plain.replace("-", "−")) in filled
    assert (f"·10{str(int(power)).translate(RAISED)}" in filled) if power else "·10" not in filled


def test_a_number_that_is_rounded_to_0_has_no_sign():
    assert Sentence("{x:.2f} {y:.0f} {z:.3f}").format(x=-0.001, y=-0.4, z=-0.5) == "0.00 0 −0.500"


def test_a_sentence_is_filled_as_a_text_is():
    pattern = "{0} {n:,} {word!r} {width:>{size}} {{x}}"
    values = {"n": -1200, "word": "a-b", "width": 7, "size": 4}
    assert Sentence(pattern).format(1, **values).replace("−", "-") == pattern.format(1, **values)
    with pytest.raises(KeyError):
        Sentence("{n} -").format()


LESSONS_FOLDER = Path(__file__).parents[3] / "llmviz" / "course" / "lessons"
DOCUMENTS = documents()
LONGEST = 25  # words of a sentence
# Streamlit's own elements, which read Markdown and know nothing of marks.
ELEMENTS = {"caption", "info", "warning", "error", "success", "markdown", "header", "subheader"}
ELEMENTS |= {"title", "button", "slider", "select_slider", "selectbox", "radio", "toggle", "pills"}
ELEMENTS |= {"text_input", "text_area", "number_input", "segmented_control", "multiselect"}
ELEMENTS |= {"expander", "popover", "checkbox", "download_button", "page_link", "file_uploader"}


def strings(value: Any) -> Iterator[str]:
    """Every text in a value of a document."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from strings(key)
            yield from strings(part)
    elif isinstance(value, tuple):
        for part in value:
            yield from strings(part)


def test_every_document_fits_its_code():
    check_documents(LESSONS)


def test_texts_with_markup_are_made_markdown_for_elements_of_streamlit():
    for path in sorted(LESSONS_FOLDER.rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        words = {
            alias.asname or alias.name: importlib.import_module(str(node.module)).words
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            and str(node.module).startswith("llmviz.course.lessons")
            for alias in node.names
            if alias.name == "words"
        }
        for node in ast.walk(tree):
            called = node.func if isinstance(node, ast.Call) else None
            if isinstance(called, ast.Attribute) and called.attr in ELEMENTS:
                for name in _texts(node, words):
                    raise AssertionError(f"{path}, line {node.lineno}: as_markdown(words.{name})")


def _texts(node: ast.AST, words: dict[str, Document]) -> Iterator[str]:
    """The names of texts with markup in a call that nothing turns into Markdown."""
    for part in ast.iter_child_nodes(node):
        if isinstance(part, ast.Call) and ast.unparse(part.func) in ("as_markdown", "unmarked"):
            continue
        if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
            document = words.get(part.value.id)
            value = texts_of(document).get(part.attr, "") if document else ""
            if any(as_markdown(text) != text for text in strings(value)):
                yield part.attr
        yield from _texts(part, words)


def sentences(text: str) -> list[str]:
    """A text's sentences; what stands in brackets or after a colon is counted with its sentence."""
    return [
        one for one in re.split(r"(?<=[.?!])(?:[”)]?\s+|(?=\{))", unmarked(text)) if one.strip()
    ]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: str(p.relative_to(LESSONS_FOLDER.parent)))
def test_no_sentence_has_more_than_25_words(path):
    long = []
    for name, value in texts_of(Document(path)).items():
        if "snippet" in name or "code" in name or "prompt" in name:
            continue
        for text in strings(value):
            for one in sentences(text):
                count = len([word for word in one.split() if re.search(r"\w", word)])
                if count > LONGEST:
                    long.append((name, count, one))
    assert long == []


SAID_TWICE = re.compile(r"(?<![\w’'-])([A-Za-z]{2,})\s+\1(?![\w’'-])")


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: str(p.relative_to(LESSONS_FOLDER.parent)))
def test_no_word_stands_twice_by_mistake(path):
    meant = {"kitten"}  # its second one is what the chapter cuts
    found = {
        name: said
        for name, value in texts_of(Document(path)).items()
        if "corpus" not in name
        for text in strings(value)
        if (said := set(SAID_TWICE.findall(unmarked(text))) - meant)
    }
    assert found == {}


def test_a_saved_document_is_read_again_where_somebody_writes(tmp_path, monkeypatch):
    path = tmp_path / "chapter.md"
    path.write_text("---\ntitle: A\n---\n\n# Why?\n\nhook\n:   Before.\n", "utf-8")
    document = Document(path)
    assert str(document.hook) == "Before."
    path.write_text("---\ntitle: A\n---\n\n# Why?\n\nhook\n:   After.\n", "utf-8")
    os.utime(path, ns=(1, 1))
    assert str(document.hook) == "Before."  # a server reads what it serves once
    monkeypatch.setenv(WATCH, "1")
    assert str(document.hook) == "After."
