"""The documents of all lessons: they fit their code, link the glossary, and are short sentences."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from llmviz.course.document import Document, texts_of
from llmviz.course.document.marks import as_markdown, unmarked
from llmviz.course.lessons import LESSONS
from llmviz.course.ui.documents import check_documents

LESSONS_FOLDER = Path(__file__).parents[3] / "llmviz" / "course" / "lessons"
DOCUMENTS = sorted(LESSONS_FOLDER.parent.rglob("*.md"))
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
