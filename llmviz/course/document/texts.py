"""A document's texts as attributes, in the language that is asked for."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from llmviz.course.document.languages import ENGLISH, LANGUAGES, language
from llmviz.course.document.read import read
from llmviz.course.document.translated import Translation

WATCH = "LLMVIZ_WATCH_TEXTS"  # in the environment, for who writes: what was saved is read again


class Document:
    """The texts of a Markdown document by name: `words.result` is its text `result`.

    It is read when the first text is asked for, once. A document beside it whose name has a
    language before its end, such as `chapter.es.md`, is read where `language()` is that one; what
    it does not have, or has from another English than today's, is English.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._texts: dict[str, dict[str, Any]] = {}
        self._open: dict[str, tuple[int, int]] = {}  # by language: texts in English, of all
        self._saved = 0  # when English was, in nanoseconds

    def __getattr__(self, name: str) -> Any:
        """Return a text.

        Raises AttributeError: the document has none of this name. DocumentError: it cannot be read.
        """
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return texts_of(self)[name]
        except KeyError:
            raise AttributeError(f"{self._path} has no text named {name!r}") from None


def beside(file: str, name: str = "chapter") -> Document:
    """Return the document `name.md` in the folder of a module, which gives its `__file__`."""
    return Document(Path(file).with_name(f"{name}.md"))


def texts_of(document: Document, wanted: str = "") -> dict[str, Any]:
    """Return all texts by name in a language, by default the one that is asked for now."""
    wanted = wanted or language()
    known = document._texts
    if os.environ.get(WATCH) and document._saved != (saved := document._path.stat().st_mtime_ns):
        document._saved = saved
        known.clear()
    if wanted not in known:
        path = path_of(document, wanted)
        if wanted == ENGLISH:
            known[wanted] = read(path)
        elif wanted not in LANGUAGES or not path.is_file():
            return texts_of(document, ENGLISH)
        else:
            translation = Translation(path, texts_of(document, ENGLISH))
            known[wanted] = translation.texts()
            document._open[wanted] = len(list(translation.open())), len(translation.english)
    return known[wanted]


def in_english(document: Document) -> str:
    """Return how much of a document stands in English in the language that is asked for now.

    "": nothing that has a word; "some"; or "all", where most of its texts have no translation.
    """
    wanted = language()
    if wanted == ENGLISH:
        return ""
    if texts_of(document) is texts_of(document, ENGLISH):
        return "all"
    missing, texts = document._open.get(wanted, (0, 0))
    return "all" if 2 * missing > texts else "some" if missing else ""


def path_of(document: Document, wanted: str = ENGLISH) -> Path:
    """Return where the document of a language stands, whether it is there or not."""
    english = document._path
    return english if wanted == ENGLISH else english.with_name(f"{english.stem}.{wanted}.md")
