"""What every corpus is: a list of documents, shown as one text, split into two by document."""

import random
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial


@dataclass(frozen=True)
class Corpus:
    """Documents to learn from. Iterating over a corpus gives its documents.

    Raises ValueError if there is no document, or nothing but white space.
    """

    name: str
    documents: list[str] = field(repr=False)
    separator: str = "\n\n"  # between documents where they are shown as one text

    def __post_init__(self) -> None:
        if not any(document.strip() for document in self.documents):
            raise ValueError(f"corpus {self.name!r} is empty: there is nothing to learn from")

    def __iter__(self) -> Iterator[str]:
        return iter(self.documents)

    def __len__(self) -> int:
        return len(self.documents)

    @property
    def text(self) -> str:
        """All documents as one text."""
        return self.separator.join(self.documents)

    def split(self, fraction: float = 0.1, seed: int = 0) -> "tuple[Corpus, Corpus]":
        """Return (training, validation), split by document: no document is in both.

        fraction: the share of the documents that is held out, at least one of them. A corpus of
        one document is cut into two: its last `fraction` of characters is held out, from a line's
        beginning where one is near.
        Raises ValueError for a fraction that is not between 0 and 1, or a corpus too short to cut.
        """
        if not 0 < fraction < 1:
            raise ValueError(f"fraction must be above 0 and below 1; got {fraction}")
        if len(self.documents) == 1:
            train, held_out = ([part] for part in self._cut(fraction))
        else:
            apart = held_out_of(len(self.documents), fraction, seed)
            train = [text for text, out in zip(self.documents, apart, strict=True) if not out]
            held_out = [text for text, out in zip(self.documents, apart, strict=True) if out]
        part = partial(Corpus, separator=self.separator)
        return part(f"{self.name} (training)", train), part(f"{self.name} (validation)", held_out)

    def _cut(self, fraction: float) -> tuple[str, str]:
        text = self.documents[0]
        at = round(len(text) * (1 - fraction))
        at = place_of_cut(len(text), at, text.rfind("\n", 0, at) + 1)
        if not text[:at].strip() or not text[at:].strip():
            raise ValueError(f"corpus {self.name!r} is too short to split: {len(text)} characters")
        return text[:at], text[at:]


def held_out_of(count: int, fraction: float, seed: int) -> array:
    """Of each of two or more documents 1 if it is held out, else 0."""
    order = array("q", range(count))
    random.Random(seed).shuffle(order)
    chosen = array("b", bytes(count))
    for i in order[: min(count - 1, max(1, round(fraction * count)))]:
        chosen[i] = 1
    return chosen


def place_of_cut(length: int, at: int, line: int) -> int:
    """Where a text of `length` characters is cut: where a line begins, if one does just before."""
    return line if at - line < 0.02 * length else at
