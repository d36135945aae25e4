"""Which language is asked for now, and how it writes numbers, shares, lists and plurals.

The rules are those of the Unicode CLDR, by Babel. English is written as the code writes it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

ENGLISH = "en"
# Each language by its short name, as it calls itself.
LANGUAGES = {ENGLISH: "English", "es": "Español", "zh": "中文"}
# The documents that are complete in a language: a test is red until each of their texts is there,
# made from today's English. So who changes one of these sentences changes its translations, too.
_HOUR = """
components/components site/site site/live/live ui/classroom ui/furniture ui/guess
lessons/home/lesson
lessons/tokenization/lesson lessons/tokenization/cut/chapter
lessons/embeddings/lesson lessons/embeddings/similarity/chapter
lessons/attention/lesson lessons/attention/inputs/inputs lessons/attention/trained/chapter
lessons/training/lesson lessons/training/teach/chapter
lessons/sampling/lesson lessons/sampling/temperature/chapter
"""
_REAL = """
lesson assistant/chapter bits/chapter carrier/chapter copies/chapter examples/chapter first/chapter
heart/chapter knows/chapter meanings/chapter people/chapter teach/chapter travels/chapter
yesterday/chapter
"""
_DONE = (*_HOUR.split(), *(f"lessons/real/{name}" for name in _REAL.split()))
COMPLETE = {"es": _DONE, "zh": _DONE}

# What CLDR calls the kinds of numbers that some language has a form for, beside "other".
KINDS = ("zero", "one", "two", "few", "many")

# A share has an article in Spanish, "un 5 %", but "menos del 5 %" has none.
_ARTICLE = re.compile(r"\b(un|el|al|del) (?=menos del\s)")
_INSTEAD = {"un": "", "el": "", "al": "a ", "del": "de "}
# A number in Chinese has a space before it, but a word none.
_LESS = re.compile("(?<=[\u4e00-\u9fff]) (?=不到 [0-9])")
_CHINESE = re.compile("[\u3000-\u9fff\uff00-\uffef]")  # characters and full-width marks

_asks: Callable[[], str] | None = None
_spoken: ContextVar[str | None] = ContextVar("spoken", default=None)


def language() -> str:
    """Return the language that is asked for now: English, unless `let_choose` was called."""
    return ENGLISH if _asks is None else _spoken.get() or _asks()


@contextmanager
def speaking(wanted: str) -> Iterator[None]:
    """Let everything in this block be in one language, whatever is asked for."""
    token = _spoken.set(wanted)
    try:
        yield
    finally:
        _spoken.reset(token)


def let_choose(asks: Callable[[], str] | None) -> None:
    """Let `asks` say, whenever a text is taken, in which language it is wanted; None: English."""
    global _asks
    _asks = asks


@lru_cache(8)
def _locale(wanted: str) -> Any:
    from babel import Locale

    return Locale.parse(wanted)


@lru_cache(8)
def _signs(wanted: str) -> dict[int, str]:
    """What takes the place of the comma and the point of an English number."""
    signs = _locale(wanted).number_symbols["latn"]
    return str.maketrans({",": signs["group"], ".": signs["decimal"]})


def number(written: str) -> str:
    """Return a number that is written in English as the language writes it.

    >>> let_choose(lambda: "es")
    >>> number("-1,234.5")
    '-1.234,5'
    >>> let_choose(None)
    """
    wanted = language()
    return written if wanted == ENGLISH else written.translate(_signs(wanted))


def share(written: str) -> str:
    r"""Return a percentage that is written in English, such as 12.5 with its sign behind a space.

    >>> share("-13\u00a0%"), share("-0\u00a0%")  # a true minus sign, and none before nothing
    ('−13\xa0%', '0\xa0%')
    """
    written = written.replace("-", "−").replace("−0\u00a0%", "0\u00a0%")
    wanted = language()
    if wanted == ENGLISH:
        return written
    sign = _locale(wanted).percent_formats[None].suffix[0]
    return number(written).replace("\u00a0%", sign)


def settled(text: str) -> str:
    """Return a text whose slots were filled as its language writes it where the parts meet.

    >>> let_choose(lambda: "es")
    >>> settled("Baja del 20 % al menos del 0,01 %: queda un menos del 0,01 %.")
    'Baja del 20 % a menos del 0,01 %: queda menos del 0,01 %.'
    >>> let_choose(None)
    """
    if "menos del" in text and language() == "es":
        return _ARTICLE.sub(lambda found: _INSTEAD[found[1]], text)
    if "不到" in text and language() == "zh":
        return _LESS.sub("", text)
    return text


def joined(names: Sequence[str]) -> str:
    """Return names as a list in a sentence, in a language that is not English."""
    from babel.lists import format_list

    written = format_list(list(names), locale=language())
    if language() == "zh" and len(names) > 1:  # the texts have spaces around Latin letters, too
        before, last = written.removesuffix(f"和{names[-1]}"), names[-1]
        ends = " " * (not _CHINESE.match(before[-1:])), " " * (not _CHINESE.match(last))
        return f"{before}{ends[0]}和{ends[1]}{last}"
    return written


def run_on(sentences: Sequence[str]) -> str:
    """Return sentences as one paragraph; in Chinese nothing stands between them."""
    return ("" if language() == "zh" else " ").join(sentences)


def lacks_plural(wanted: str, kind: str) -> bool:
    """Return whether a language has no form of its own for a kind of numbers, such as one."""
    return kind in KINDS and kind not in _locale(wanted).plural_form.tags


def plural(count: float, forms: Mapping[str, str]) -> str:
    """Return the form for a number, by the names that CLDR has for kinds of numbers: one, other."""
    kind = _locale(language()).plural_form(count)
    return forms.get(kind, forms["other"])
