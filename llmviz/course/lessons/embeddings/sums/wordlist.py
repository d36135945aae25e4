"""Part of the chapter "Sums with words": the cosine of every word of a list with every other."""

import re

import numpy as np

from llmviz.course import components as lv
from llmviz.course.lessons.embeddings import sources
from llmviz.course.lessons.embeddings.sums import MOST_WORDS, words
from llmviz.course.ui import kit
from llmviz.course.ui import pinned_cells as cells
from llmviz.similarity import NotOneRow, VectorTable, pairwise, unit_rows

KEY = "embeddings.wordlist"  # "embeddings.list" is the slot of a control


def draw(state: kit.PageState, table: VectorTable) -> None:
    """Show the matrix of a list of words.

    Raises ValueError: too few or too many words, or a row of zeros.
    """
    kit.text_input(state, "list", words.list)
    rows = _rows(state, table)
    kit.prose(words.list_text, width=table.width)
    names = [_name(table, row) for row in rows]
    alike = pairwise(table.matrix[rows].astype(np.float64))
    _picture(state, table, rows, alike, names)
    _say(rows, alike, table)
    kit.show_code(
        [pairwise],
        words.snippet_wordlist.format(name=table.name, rows=rows),
        f"{alike[0].round(3)}",
    )


def _name(table: VectorTable, row: int) -> str:
    label = sources.labels(table)[row]
    return label.strip("·") or label


def _picture(
    state: kit.PageState, table: VectorTable, rows: list[int], alike: np.ndarray, names: list[str]
) -> None:
    """Draw the cosine (N, N) of every word with every other."""
    vectors = table.matrix[rows].astype(np.float64)
    cells.show(
        state,
        [
            lv.Matrix(words.unit, unit_rows(vectors), row_labels=names, role="residual"),
            lv.Matrix(
                words.list_label,
                alike,
                role="value",
                limit=1.0,
                row_labels=names,
                col_labels=names,
                op=lv.matmul(words.unit, words.unit, transpose_b=True),
            ),
        ],
        [[words.list_label]],
        key=KEY,
        control="listed",
        numbers=True,
    )


def _rows(state: kit.PageState, table: VectorTable) -> list[int]:
    """Return the rows of the words of the list; say which words have none."""
    typed = [word for word in re.split(r"[,;\n]+", state["list"]) if word.strip()]
    if len(typed) > MOST_WORDS:
        raise ValueError(words.list_many.format(most=MOST_WORDS, count=len(typed)))
    rows: list[int] = []
    lost: list[str] = []
    for word in typed:
        try:
            row = table.find(word)
        except NotOneRow as problem:
            like = "".join(
                f" ({words.like.format(word=kit.quote(word))})" for word in problem.spellings[:1]
            )
            lost.append(kit.quote(problem.word) + like)
        else:
            rows += [row] if row not in rows else []
    if lost:
        kit.prose(words.list_skipped, words=", ".join(lost))
    if len(rows) < 2:
        raise ValueError(words.list_few.format(count=len(rows)))
    return rows


def _say(rows: list[int], alike: np.ndarray, table: VectorTable) -> None:
    """Say which pairs are most and least alike."""
    upper = np.triu_indices(len(rows), 1)
    pairs = alike[upper]
    (a, b), (c, d) = (
        [sources.word(table, rows[side[at]]) for side in upper]
        for at in (int(pairs.argmax()), int(pairs.argmin()))
    )
    line = words.list_pairs if len(pairs) > 1 else words.list_pair
    about = {"a": a, "b": b, "high": kit.signed(pairs.max()), "mean": kit.signed(pairs.mean())}
    kit.prose(line, c=c, d=d, low=kit.signed(pairs.min()), **about)
