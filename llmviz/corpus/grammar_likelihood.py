"""How far the grammar of tiny-world can have written a text that need not be a whole story."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from llmviz.corpus.story_productions import tell
from llmviz.corpus.writer import NotTinyWorldError, Options, Reader


class _EndOfText(Exception):
    """The text stops within a phrase that can go on."""


@dataclass(slots=True)
class _Beginning(Reader):
    """Follows a text, and is content with one that stops anywhere."""

    def say(self, text: str) -> None:
        left = self.text[self.position :]
        if len(left) < len(text) and text.startswith(left):
            raise _EndOfText
        Reader.say(self, text)

    def _index(self, options: Options) -> int:
        return self._index_among(options, range(len(options)))

    def _index_among(self, options: Options, kept: Sequence[int]) -> int:
        index = options.match(self.text, self.position)
        if index is not None and index in kept:
            return index
        left = self.text[self.position :]
        if any(form.startswith(left) for number in kept for form in options.forms[number]):
            raise _EndOfText
        self._refuse("none of the choices can follow")

    def _refuse(self, why: str) -> NoReturn:
        raise NotTinyWorldError(why)


def kept_characters(text: str) -> int:
    """Return how many characters stand before the first phrase that the grammar cannot write.

    All of them, where a story can begin with the text or is the text. What comes behind the end of
    a story cannot be written.

    >>> kept_characters("Once there was a"), kept_characters("Once there was nobody.")
    (16, 15)
    """
    beginning = _Beginning(text=text)
    try:
        tell(beginning)
    except _EndOfText:
        return len(text)
    except NotTinyWorldError:
        return beginning.position
    return min(beginning.position, len(text))
