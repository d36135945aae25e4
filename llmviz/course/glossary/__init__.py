"""The words of the app, each explained in one or two sentences; its document has them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from llmviz.course.document import beside, marks
from llmviz.course.document.values import Translated, sentences

_CODE = re.compile(f"{marks.CODE}[^{marks.CODE_END}]*{marks.CODE_END}")

words = beside(__file__, "glossary")

# Names and signs, also of axes and lists: a chapter that has one explains it at its top.
SHORT = ("BERT", "epoch", "GELU", "GPT", "GRU", "LSTM", "MLP", "ReLU", "RNN", "SGD", "∂", "∇")
_SHORT = {name: re.compile(rf"(?<!\w){name}s?(?!\w)" if name.isalpha() else name) for name in SHORT}


def short_names(texts: Iterable[str]) -> list[str]:
    """Return which of the names in `SHORT` stand in texts of a document, code left out."""
    whole = "\n".join(_CODE.sub("", text) for text in texts)
    return [name for name, pattern in _SHORT.items() if pattern.search(whole)]


def terms() -> Mapping[str, str]:
    """Return all terms with their explanations, in the order of the alphabet."""
    return words.terms


def newcomers() -> dict[str, list[str]]:
    """Return by term, or by chapter such as `errors/people`, words that newcomers search it by."""
    found: dict[str, list[str]] = {}
    for said, places in words.newcomers.items():
        for place in places.split(", "):
            found.setdefault(place, []).append(said)
    return found


def called(texts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the terms that translated texts of a document link to, each as it is called there.

    >>> from llmviz.course.document.values import Translated
    >>> called({"needs": Translated(marks.marked("Una [[head|cabeza]], no un [[token]]."))})
    [('head', 'cabeza')]
    """
    said = (text for text in sentences(texts) if isinstance(text, Translated))
    pairs = (pair for text in said for pair in marks.TERM_SPAN.findall(text))
    return [(name, shown) for name, shown in pairs if name != shown]


def seen() -> dict[str, str]:
    """Return by term the chapter and its state that show it: `lesson/chapter?control=value`."""
    return {term: place for listed, place in words.seen.items() for term in listed.split(", ")}


def define(term: str) -> str:
    """Return the explanation of a term.

    Raises KeyError: the term is not in the glossary.
    """
    return terms()[term]
