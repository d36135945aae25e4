"""Markup of authors as single characters that no text holds, so that a filled value is never one.

A sentence is written with `code`, **bold**, *italic*, [[term|form]] and looks, links that put the
page into a state: [words](look: control=value). When it is read, these
become pairs of noncharacters of Unicode (section 23.7 of its standard), before any slot is filled.
What is filled in later keeps its stars, brackets and backticks as letters.
"""

from __future__ import annotations

import re

CODE, CODE_END = "\ufdd0", "\ufdd1"
TERM, FORM, TERM_END = "\ufdd2", "\ufdd3", "\ufdd4"
BOLD, BOLD_END = "\ufdd5", "\ufdd6"
ITALIC, ITALIC_END = "\ufdd7", "\ufdd8"
LOOK, LOOK_TEXT, LOOK_END = "\ufdd9", "\ufdda", "\ufddb"

_ALL = re.compile("[\ufdd0-\ufddb]")
_SOURCE = str.maketrans(
    {CODE: "`", CODE_END: "`", BOLD: "**", BOLD_END: "**", ITALIC: "*", ITALIC_END: "*"}
)
_CODE = re.compile(r"`([^`]+)`")
_TERM = re.compile(r"\[\[([^\]|]+)(?:\|([^\]]+))?\]\]")
_BOLD = re.compile(r"\*\*(.+?)\*\*", re.DOTALL)
_ITALIC = re.compile(r"(?<!\*)\*(?!\s)([^*\n]+)(?<!\s)\*(?!\*)")
_CODE_SPAN = re.compile(f"{CODE}([^{CODE_END}]*){CODE_END}")
_LOOK = re.compile(r"\[([^\]\[]+)\]\(look: *([^)\s]*)\)")
LOOK_SPAN = re.compile(f"{LOOK}([^{LOOK_TEXT}]*){LOOK_TEXT}([^{LOOK_END}]*){LOOK_END}")
TERM_SPAN = re.compile(f"{TERM}([^{FORM}]*){FORM}([^{TERM_END}]*){TERM_END}")


def marked(text: str) -> str:
    """Return an author's text with its markup as marks; of code, nothing inside is markup.

    >>> marked("a `*` and **b**") == f"a {CODE}*{CODE_END} and {BOLD}b{BOLD_END}"
    True
    """
    codes: list[str] = []

    def aside(match: re.Match[str]) -> str:
        codes.append(match[1])
        return f"{CODE}{len(codes) - 1}{CODE_END}"

    text = _CODE.sub(aside, text)
    text = _LOOK.sub(rf"{LOOK}\2{LOOK_TEXT}\1{LOOK_END}", text)
    text = _TERM.sub(lambda match: f"{TERM}{match[1]}{FORM}{match[2] or match[1]}{TERM_END}", text)
    text = _BOLD.sub(rf"{BOLD}\1{BOLD_END}", text)
    text = _ITALIC.sub(rf"{ITALIC}\1{ITALIC_END}", text)
    return _CODE_SPAN.sub(lambda match: f"{CODE}{codes[int(match[1])]}{CODE_END}", text)


def source(text: str) -> str:
    """Return a text as its author wrote it, with the markup that its marks stand for.

    >>> source(marked("**one** [[merge|merges]] of `a*b`, [now](look: t=1)"))
    '**one** [[merge|merges]] of `a*b`, [now](look: t=1)'
    """
    if not _ALL.search(text):
        return text

    def written(match: re.Match[str]) -> str:
        name, form = match[1], match[2]
        return f"[[{name}]]" if name == form else f"[[{name}|{form}]]"

    text = LOOK_SPAN.sub(r"[\2](look: \1)", TERM_SPAN.sub(written, text))
    return text.translate(_SOURCE)


def term(name: str) -> str:
    """Return a term of the glossary as text that shows it under its own name."""
    return f"{TERM}{name}{FORM}{name}{TERM_END}"


def cleared(text: str) -> str:
    """Return a learner's text without the characters that are marks here, each shown as �."""
    return _ALL.sub("�", text)


def unmarked(text: str) -> str:
    """Return a text without marks, for where only plain text is shown: of a term its form.

    >>> unmarked(marked("**one** [[merge|merges]]"))
    'one merges'
    """
    if not _ALL.search(text):
        return text
    text = LOOK_SPAN.sub(lambda match: match[2], text)
    return _ALL.sub("", TERM_SPAN.sub(lambda match: match[2], text))


def looks(text: str) -> list[tuple[str, str]]:
    """Return the pieces of a text as plain text, each with the look that it leads to, or "".

    >>> looks(marked("At [0.2](look: t=0.2) it dares little."))
    [('At ', ''), ('0.2', 't=0.2'), (' it dares little.', '')]
    """
    pieces, at = [], 0
    for match in LOOK_SPAN.finditer(text):
        pieces += [(unmarked(text[at : match.start()]), ""), (unmarked(match[2]), match[1])]
        at = match.end()
    return [piece for piece in [*pieces, (unmarked(text[at:]), "")] if piece[0]]


def as_markdown(text: str) -> str:
    """Return a text with its marks as the Markdown that Streamlit's own elements read."""
    if not _ALL.search(text):
        return text
    text = LOOK_SPAN.sub(lambda match: match[2], TERM_SPAN.sub(lambda match: match[2], text))
    return text.translate(_SOURCE)
