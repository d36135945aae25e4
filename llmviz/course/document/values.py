"""What a document says, piece by piece: sentences, sections, questions, and groups of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from numbers import Number
from string import Formatter
from typing import Any, NamedTuple

from llmviz.course.document.languages import number, settled
from llmviz.course.document.marks import marked

_POWER = re.compile(r"e([+-]\d+)$")
_NOTHING = re.compile(r"-0(\.0*)?")
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_WHOLE = re.compile(r"-?\d+")
_NAMED = re.compile(r":[a-z]{3,}}")


class Sentence(str):
    """A text of an author, whose markup is told from what is filled into its slots.

    >>> Sentence("{n} of {all} **tokens**").format(n=1, all=2) == Sentence("1 of 2 **tokens**")
    True
    """

    __slots__ = ()

    def __new__(cls, text: str) -> Sentence:
        """Return the text with its markup as marks."""
        return super().__new__(cls, marked(text))

    def format(self, /, *args: Any, **values: Any) -> str:
        """Return the text with its slots filled; a minus of a number is a true one.

        Small numbers have their power of ten as one writes it: 2·10⁻⁷.

        >>> Sentence("from {low:.1f} to {name}, {off:.0e}").format(low=-2.5, name="b-2", off=2e-7)
        'from −2.5 to b-2, 2·10⁻⁷'
        """
        if _NAMED.search(self):
            return _NUMBERS.vformat(self, args, values)
        text = super().format(*args, **values)
        if "-" not in text:  # nearly always, and many cells of a picture have their sentence
            return text
        return _NUMBERS.vformat(self, args, values)


FORMATS: dict[str, Callable[[Any], str]] = {}  # by its name in a slot: {share:percent}


class Translated(Sentence):
    """A text in the language that is asked for, which writes numbers as that does."""

    __slots__ = ()

    def __new__(cls, text: str) -> Translated:
        """Return a text whose markup is read already as one of another language."""
        return str.__new__(cls, text)

    def format(self, /, *args: Any, **values: Any) -> str:
        """Return the text with its slots filled, as `Sentence.format` does."""
        return settled(_OTHER_NUMBERS.vformat(self, args, values))


class _Numbers(Formatter):
    """Fills slots as `str.format` does, but for the minus signs and powers of ten of numbers."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if write := FORMATS.get(format_spec):
            return write(value)
        text = super().format_field(value, format_spec)
        if not isinstance(value, Number):
            return text
        if _NOTHING.fullmatch(text):  # no number below 0, but one that is rounded to it
            return text[1:]
        return _POWER.sub(_raised, text).replace("-", "−")


def _raised(power: re.Match[str]) -> str:
    return "·10" + str(int(power[1])).translate(_RAISED)


class _OtherNumbers(_Numbers):
    def format_field(self, value: Any, format_spec: str) -> str:
        text = super().format_field(value, format_spec)
        plain = isinstance(value, Number) and format_spec not in FORMATS
        return number(text) if plain else text


_NUMBERS, _OTHER_NUMBERS = _Numbers(), _OtherNumbers()


class Section(NamedTuple):
    """The head of a section and its few sentences."""

    title: Sentence
    text: Sentence

    def filled(self, /, **values: Any) -> tuple[str, str]:
        """Return its title and its text with their slots filled.

        Raises KeyError: a slot has no value.
        """
        return self.title.format(**values), self.text.format(**values)


class Ask(NamedTuple):
    """A question: its text, and each answer with the reason why it is right or what it overlooks.

    right: the place of the right answer; None where that depends on the numbers.
    """

    text: Sentence
    answers: Mapping[str, str]
    right: int | None = None


class Front(NamedTuple):
    """What a document says of itself: its title, how long it takes, the question it answers."""

    title: str
    minutes: int
    question: Sentence


class Group(dict[Any, Any]):
    """Texts by key: the cases of a sentence, or the names of options."""


def group_of(texts: Mapping[str, Any]) -> Group:
    """Return texts by the keys that are written in a document.

    Whole numbers become numbers, and where the keys are `yes` and `no`, they are True and False. A
    key in quotation marks stays a text: `"2"`.

    >>> group_of({"yes": "a", "no": "b"})[True], group_of({"-1": "a", "2": "b"})[-1]
    ('a', 'a')
    """
    if set(texts) == {"yes", "no"}:
        return Group({key == "yes": text for key, text in texts.items()})
    return Group({_key(key): text for key, text in texts.items()})


def _key(written: str) -> str | int:
    if _WHOLE.fullmatch(written):
        return int(written)
    return written[1:-1] if written[:1] == written[-1:] == '"' else written


def texts_in(value: Any) -> Iterator[str]:
    """Return a text, or all texts of a group and of the groups in it, names among them."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for pair in value.items():
            yield from texts_in(pair)
    elif isinstance(value, tuple):
        for part in value:
            yield from texts_in(part)


def sentences(value: Any) -> Iterator[Sentence]:
    """Return all sentences of a text, or of the texts in a group; code is none."""
    return (text for text in texts_in(value) if isinstance(text, Sentence))


def slots(value: Any) -> Iterator[str]:
    """Return the names of all slots of a text, or of the texts in a group.

    Raises ValueError: braces that open and do not close.
    """
    for text in texts_in(value):
        for _, slot, form, _ in _NUMBERS.parse(text):
            if slot is not None:
                name = slot.split(".")[0].split("[")[0].rstrip("'")
                if name.isidentifier():  # others are no slots: braces of code
                    yield name
                yield from slots(form or "")
