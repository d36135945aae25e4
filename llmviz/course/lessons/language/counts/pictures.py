"""The figures of the chapter "Counts", each built once for its text."""

from collections.abc import Sequence

import numpy as np

from llmviz.course.figures import language as figures
from llmviz.course.lessons.language.counts import counted, words
from llmviz.course.ui import kit

Known = tuple[str, str | None, bool]  # the source, the learner's own text, whether capitals fold
BARS = 12
NAME = 36  # characters of a run of words that are written
POINTS = 400  # of Zipf's line


def _text_counts(source: str, text: str | None, fold: bool) -> counted.Counted:
    return counted.bundled(source, fold) if text is None else counted.of_text(text, fold)


def _short(name: str) -> str:
    return kit.escape_plotly(name if len(name) <= NAME else f"{name[: NAME - 1]}…")


@kit.kept(64)
def bars(source: str, text: str | None, fold: bool, n: int, mode: kit.Mode) -> kit.Figure:
    """Return the most frequent n-grams as bars."""
    most = _text_counts(source, text, fold).most(n, BARS)
    names = [_short(" ".join(gram)) for gram, _ in most]
    return figures.count_bars(names, [times for _, times in most], words.grams_axis, mode)


@kit.kept(64)
def zipf_line(source: str, text: str | None, fold: bool, mode: kit.Mode) -> kit.Figure:
    """Return the words by rank and count, with the line through all of them."""
    line = _text_counts(source, text, fold).zipf
    ranks = drawn_ranks(len(line.words))
    return figures.rank_and_count(
        [_short(line.words[rank - 1]) for rank in ranks],
        ranks,
        [int(line.frequencies[rank - 1]) for rank in ranks],
        (line.slope, line.intercept),
        words.zipf_axes,
        words.zipf_line,
        mode,
    )


def drawn_ranks(words: int) -> list[int]:
    """Return the ranks that have a point: all of few words, of many as even as the axis shows.

    >>> drawn_ranks(3)
    [1, 2, 3]
    """
    if words <= POINTS:
        return list(range(1, words + 1))
    return np.unique(np.geomspace(1, words, POINTS).round().astype(int)).tolist()


def shares(rows: Sequence[Sequence[float]]) -> np.ndarray:
    """Return rows of shares as an array."""
    return np.array(rows, dtype=np.float32)
