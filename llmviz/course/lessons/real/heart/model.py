"""What a model knows by heart: how likely each word of a sentence was, and from where on all are.

T tokens.
"""

from __future__ import annotations

from typing import NamedTuple

from llmviz.course.lessons.real import words as lesson_words
from llmviz.course.lessons.real.reader import Choice, Reads, best, ids_of, text_of

MOST = 120  # tokens of a sentence

# Old enough to be free, or so short that they are named everywhere; the second of each pair has
# one word exchanged.
SENTENCES = (
    "We hold these truths to be self-evident, that all men are created equal",
    "We hold these pigeons to be self-evident, that all men are created equal",
    "The quick brown fox jumps over the lazy dog",
    "The quick brown wolf jumps over the lazy dog",
    "It was the best of times, it was the worst of times",
    "It was the best of soups, it was the worst of times",
    "To be, or not to be, that is the question",
    "To be, or not to bee, that is the question",
    "All animals are equal, but some animals are more equal than others",
    "All radiators are equal, but some animals are more equal than others",
    "Mary had a little lamb, its fleece was white as snow",
    "Mary had a little drill, its fleece was white as snow",
)


class Piece(NamedTuple):
    """A token of a sentence, how likely it was, and what was likelier than all others."""

    text: str
    share: float
    first: Choice


class Heart(NamedTuple):
    """A sentence piece by piece; the first has nothing before it, so its share is 0."""

    pieces: tuple[Piece, ...]

    @property
    def last(self) -> Piece:
        """Its last piece."""
        return self.pieces[-1]

    def begins(self) -> int:
        """From which piece on each one is the model's own first choice; T where the last is not.

        So many pieces have to be given for the model to write the rest by itself.
        """
        wrong = [n for n, piece in enumerate(self.pieces) if piece.text != piece.first.text]
        return max(wrong, default=0) + 1


def measure(reader: Reads, text: str) -> Heart:
    """Read a sentence once. Raises ValueError: it is empty, too long, or one token."""
    import torch

    ids = ids_of(reader, text.strip(), MOST)
    if len(ids) < 2:
        raise ValueError(lesson_words.refused["heart"])
    with torch.inference_mode():
        p = reader.model(torch.tensor([ids]))[0][0].softmax(-1).numpy()
    nothing = Piece(text_of(reader, ids[0]), 0.0, Choice("", 0.0))
    return Heart(
        (
            nothing,
            *(
                Piece(text_of(reader, token), float(row[token]), best(reader, row, 1)[0])
                for token, row in zip(ids[1:], p[:-1], strict=True)
            ),
        )
    )
