"""Least squares from one letter to the next: it gives the counted table."""

import numpy as np

from llmviz.corpus.counts import LETTERS, letter_pair_counts
from llmviz.course.lessons.history import typed_name
from llmviz.course.lessons.history.letter_pairs import one_hot_fit, probabilities
from llmviz.course.lessons.history.params import NAME
from llmviz.course.lessons.history.series import words
from llmviz.course.ui import kit


@kit.kept(1)
def _fitted() -> tuple[np.ndarray, np.ndarray]:
    counts = letter_pair_counts()
    return counts, one_hot_fit(counts)


def draw(state: kit.PageState) -> None:
    """Say what least squares finds after the last letter of the learner's name."""
    counts, b = _fitted()
    name = typed_name.read(state[NAME.key]).letters
    row = LETTERS.index(name[-1]) if name else 1
    best = 1 + int(counts[row, 1:].argmax())  # the end is no letter
    kit.section(
        words.letters,
        pairs=int(counts.sum()),
        names=int(counts[0].sum()),
        letter=kit.quote(LETTERS[row]),
        best=kit.quote(LETTERS[best]),
        count=int(counts[row, best]),
        row=int(counts[row].sum()),
        share=b[row, best],
        gap=float(np.abs(b - probabilities(counts)).max()),
    )
