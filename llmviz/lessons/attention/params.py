"""The controls of the lesson on attention, as its links write them; torch is not needed here."""

from __future__ import annotations

import math

from llmviz.lessons.attention.heads import words as heads_words
from llmviz.lessons.attention.inputs import words as inputs_words
from llmviz.lessons.attention.masks import mistake_words
from llmviz.lessons.attention.masks import words as masks_words
from llmviz.lessons.attention.steps import words as steps_words
from llmviz.lessons.attention.trained import words as trained_words
from llmviz.ui import codec

DRAWN = 12  # tokens whose matrices are drawn in full
MOST_ROWS = DRAWN
MOST_COLUMNS = 12


def parse_matrix(written: str) -> list[list[float]]:
    """Read rows that are parted by semicolons, cells by commas.

    Raises ValueError naming the cell: one is empty, no number, infinite or NaN, a row has another
    length, or there are too many.

    >>> parse_matrix("1,2;3,4.5")
    [[1.0, 2.0], [3.0, 4.5]]
    """
    rows = [row.split(",") for row in written.split(";")]
    if len(rows) > MOST_ROWS or max(map(len, rows)) > MOST_COLUMNS:
        raise ValueError(f"a matrix may have {MOST_ROWS} rows and {MOST_COLUMNS} columns at most")
    if len({len(row) for row in rows}) > 1:
        raise ValueError("all rows of a matrix need the same number of cells")
    return [[_cell(text, i, j) for j, text in enumerate(row)] for i, row in enumerate(rows)]


def _cell(text: str, i: int, j: int) -> float:
    where = f"row {i + 1}, column {j + 1}"
    if not text.strip():
        raise ValueError(f"{where} is empty; every cell needs a number")
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"{where} is {text.strip()[:20]!r}, which is no number") from None
    if not math.isfinite(value):
        raise ValueError(f"{where} is {text.strip()[:20]}; every cell needs a finite number")
    if abs(value) > 1e6:
        raise ValueError(f"{where} is {value:g}; cells go from −1,000,000 to 1,000,000")
    return value


def write_matrix(rows: list[list[float]]) -> str:
    """Write what `parse_matrix` reads.

    >>> write_matrix([[1.0, 0.25], [3, 4]])
    '1,0.25;3,4'
    """
    return ";".join(",".join(f"{value:.6g}" for value in row) for row in rows)


def _matrix(key: str) -> codec.Param:
    """A matrix that the learner edited, as text; empty is the example's own."""

    def read(written: str) -> str:
        if written:
            parse_matrix(written)
        return written

    return codec.Param(key, "", read, str)


MATRICES = ("x", "wq", "wk", "wv", "wo")
MOST_NEW = 40  # tokens that the model writes after the learner's text

TEXT = "Once Anna and Samir met at the market. Then"

PARAMS = [
    codec.text("text", TEXT, shared=True),
    codec.choice("source", "cat", list(inputs_words.SOURCES)),
    codec.choice("rung", "causal", list(steps_words.RUNGS)),
    codec.text("words", inputs_words.JOURNEY),
    *(_matrix(key) for key in MATRICES),
    codec.text("model", ""),  # none: the one that knows its language best
    codec.integer("layer", -1, -1, 1_000),  # -1: that of the strongest head
    codec.integer("head", -1, -1, 1_000),
    codec.integer("pair", -1, -1, 1_000),  # the head of the translation, -1: the best aligned
    codec.integer("crossing", -1, -1, 1_000),  # the step of a translation's head, -1: the last
    codec.integer("n", 2, 1, 64),
    codec.number("p", 0.5, 0.0, 0.9),
    codec.integer("seed", 0, 0, 999_999),
    codec.integer("step", -1, -1, 1_000),  # -1: the last
    codec.text("cell", ""),
    codec.text("seen", ""),  # which columns of wide matrices are seen, "C.96,D.12"
    codec.choice("mask", "causal", list(masks_words.MASKS)),
    codec.integer("window", 2, 1, 64),
    codec.integer("real", 2, 0, 64),
    codec.text("own", ""),
    codec.choice("when", "before", list(masks_words.WHEN)),
    codec.choice("scale", "head", list(masks_words.SCALES)),
    codec.choice("twin", "names-gpt-no-mask", list(mistake_words.NAMES)),
    codec.choice("size", "64", [str(2**k) for k in range(10)]),
    codec.choice("columns", "own", list(heads_words.COLUMNS)),
    codec.text("off", ""),
    codec.choice("look", "gpt", list(trained_words.LOOKS)),
    codec.integer("new", 0, 0, MOST_NEW),
    codec.integer("story", 0, 0, 999),  # with two things, in which the model looks up who has one
    codec.choice("mover", "0", list("0123")),  # of the heads that look it up, which is opened
    codec.text("looked", ""),  # the question and the token whose weight is opened, "1.87"
    codec.text("sentence", inputs_words.SENTENCE),
    codec.text("letters", "rosalinda"),
]
