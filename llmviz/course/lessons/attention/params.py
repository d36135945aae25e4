"""The controls that several chapters on attention share, as links write them; without torch."""

import math

from llmviz.course.lessons.attention.inputs import words
from llmviz.course.ui import codec
from llmviz.course.ui.translated_sentence import SENTENCE

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
    where = f"row {i}, column {j}"
    if not text.strip():
        raise ValueError(f"{where} is empty; every cell needs a number")
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"{where} is {text.strip()[:20]!r}, which is not a number") from None
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

TEXT = "Once Anna and Samir met at the market. Then"

PARAMS = [
    codec.text("text", TEXT, codec.MOST_OF_A_TEXT, shared=True),
    codec.choice("source", "roles", list(words.sources)),
    codec.text("words", words.journey, 1_000),
    *(_matrix(key) for key in MATRICES),
    codec.text("model", ""),  # none: the one with the lowest loss
    codec.integer("layer", -1, -1, 1_000),  # -1: that of the strongest head
    codec.integer("head", -1, -1, 1_000),
    codec.integer("n", 2, 1, 64),
    codec.integer("seed", 0, 0, 999_999),
    codec.text("cell", ""),
    codec.text("seen", ""),  # which columns of wide matrices are seen, "C.96,D.12"
    codec.integer("step", -1, -1, 1_000),  # -1: the last
    codec.text("letters", "rosalinda"),
    codec.text("sentence", SENTENCE, 1_000),
    codec.choice("look", "gpt", ["gpt", "cross"]),  # old links: the translation had no chapter
]
