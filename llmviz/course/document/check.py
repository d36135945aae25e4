"""Whether documents and the code beside them fit: each text is used, each slot has a value."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, cached_property
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from llmviz.course.document.marks import looks
from llmviz.course.document.read import FRONT, Reader
from llmviz.course.document.values import sentences, slots

_WORD = re.compile(r"\w+")


def check(document: Path, used: Names, take: Callable[[str, str], object] | None = None) -> None:
    """Read a document and hold it against the code that may fill it.

    used: the names of the code that takes its texts and fills their slots. take: what reads the
    value of a control, and raises KeyError or ValueError where there is none such.

    Raises DocumentError naming the file, the line and the rule.
    """
    reader = Reader(document)
    for name, value in reader.texts.items():
        if name == FRONT:
            continue
        if not used.has(name):
            raise reader.wrong(name, f"no code uses the text {name!r}")
        for slot in slots(value):
            if not used.has(slot):
                raise reader.wrong(name, f"no code fills the slot {{{slot}}} of {name!r}")
        if any("](look:" in sentence for sentence in sentences(value)):
            raise reader.wrong(name, "a look cannot be read: in its link a space is written +")
        for look in _looks(value):
            for control, written in parse_qsl(look, keep_blank_values=True):
                try:
                    if take is not None and "{" not in written:
                        take(control, written)
                except (KeyError, ValueError) as rule:
                    raise reader.wrong(name, f"no look leads to {look!r}: {rule}") from None


def _looks(value: Any) -> Iterator[str]:
    """Where the links of a text lead, or those of the texts in a group."""
    for sentence in sentences(value):
        yield from (look for _, look in looks(sentence) if look)


class Names:
    """The names that code has: arguments, keys, attributes, and those that it puts together."""

    def __init__(self, code: Iterable[Path], further: Names | None = None) -> None:
        """Collect the names of files. further: where to look for what they do not have."""
        self._code, self._further = code, further

    @cached_property
    def _found(self) -> tuple[set[str], re.Pattern[str]]:
        known: set[str] = set()
        patterns: set[str] = set()
        for path in self._code:
            own, built = _names(path)
            known |= own
            patterns |= built
        return known, re.compile("|".join(sorted(patterns)) or r"(?!)")

    def has(self, name: str) -> bool:
        """Whether the code has a name, or can put it together."""
        known, built = self._found
        written = {name, name.replace("_", "-")}  # a key of data may be a name with hyphens
        if written & known or built.fullmatch(name):
            return True
        return self._further is not None and self._further.has(name)


@cache
def _names(path: Path) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names in a file, and patterns of those that an f-string puts together.

    Of a script, whose components fill slots in the browser, each word is a name.
    """
    source = path.read_text("utf-8")
    if path.suffix != ".py":
        return frozenset(_WORD.findall(source)), frozenset()
    known: set[str] = set()
    built: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.keyword | ast.arg) and node.arg:
            known.add(node.arg)
        elif isinstance(node, ast.Attribute):
            known.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            known.add(node.value)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            known.add(node.target.id)
        elif isinstance(node, ast.JoinedStr):
            parts = [str(v.value) if isinstance(v, ast.Constant) else None for v in node.values]
            if any(part and _WORD.search(part) for part in parts):
                built.add("".join(r"\w+" if part is None else re.escape(part) for part in parts))
    return frozenset(known), frozenset(built)
