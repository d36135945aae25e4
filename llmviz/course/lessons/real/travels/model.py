"""Where an answer is while a model reads on: streams of one sentence put into another.

L layers, A places that both sentences have, counted from the end.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from llmviz.course.lessons.real import words as lesson_words
from llmviz.course.lessons.real.reader import Choice, Reads, best, chances, ids_of, text_of

HALF = 0.5  # of the pair's share: from there on the other answer is the likelier one
CHOICES = 3
MOST = 40  # tokens of a sentence


class Travels(NamedTuple):
    """Two sentences, their answers, and the map.

    plain, scores: both answers' logits, the own one first: as it is (2,), and (L + 1, A, 2) with
    the stream before that layer (row L: after the last) exchanged at one place, the last place
    last. places: how a place is called, "France|Italy" where the sentences differ.
    """

    own: Choice
    other: Choice
    places: tuple[str, ...]
    differs: tuple[bool, ...]
    plain: tuple[float, float]
    scores: tuple[tuple[tuple[float, float], ...], ...]

    @property
    def layers(self) -> int:
        """The number of layers, L."""
        return len(self.scores) - 1

    @property
    def shares(self) -> np.ndarray:
        """How much of both answers' chance the other one has, (L + 1, A)."""
        own, other = np.moveaxis(np.array(self.scores), -1, 0)
        return 1 / (1 + np.exp(own - other))

    def jump(self, place: int = -1) -> int | None:
        """Return the first row from which on all rows of a place are on the other side of half.

        None where the first and the last row are on one side.
        """
        column = [row[place] >= HALF for row in self.shares]
        if column[0] == column[-1]:
            return None
        return next(n for n in range(len(column)) if len(set(column[n:])) == 1)


def measure(reader: Reads, own: str, other: str) -> Travels:
    """Exchange each stream of one sentence for the other's, one at a time.

    Raises ValueError: they cannot be read, are the same, or have the same first choice.
    """
    from llmviz.interpretability.patching import patch_map, read_prompt

    rows = [ids_of(reader, text, MOST) for text in (own, other)]
    if rows[0] == rows[1]:
        raise ValueError(lesson_words.refused["same"])
    p = chances(reader, rows)
    answers = [int(row.argmax()) for row in p]
    if answers[0] == answers[1]:
        said = text_of(reader, answers[0]).strip()
        raise ValueError(lesson_words.refused["answer"].format(said=said))
    first, second = (read_prompt(reader.model, row) for row in rows)
    logits = patch_map(reader.model, first, second, answers, ("stream",)).stream  # (L + 1, A, 2)
    scores = logits.flip(1).double().numpy().round(3)
    count = scores.shape[1]
    pairs = list(zip(rows[0][-count:], rows[1][-count:], strict=True))
    names = tuple(
        "|".join(dict.fromkeys(text_of(reader, token).strip() or "␣" for token in pair))
        for pair in pairs
    )
    said_own, said_other = (best(reader, row, 1)[0] for row in p)
    lead, trail = (round(float(x), 3) for x in first.logits[answers])
    return Travels(
        said_own,
        said_other,
        names,
        tuple(a != b for a, b in pairs),
        (lead, trail),
        tuple(tuple(map(tuple, row)) for row in scores.tolist()),
    )
