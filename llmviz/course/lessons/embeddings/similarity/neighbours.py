"""Part of the chapter "How alike": the nearest rows of a whole vocabulary.

V rows, C columns, k neighbours.
"""

from typing import Any

import numpy as np
import streamlit as st

from llmviz.course import components as lv
from llmviz.course.components.histogram.view import histogram
from llmviz.course.lessons.embeddings import sources
from llmviz.course.lessons.embeddings.lookup import chapter
from llmviz.course.lessons.embeddings.similarity import words
from llmviz.course.ui import kit
from llmviz.course.ui import pinned_cells as cells
from llmviz.interpretability.vector_tables import crowded, measured
from llmviz.similarity import (
    Neighbours,
    NotOneRow,
    VectorTable,
    best,
    measure_all,
    nearest,
    unit_rows,
)

KEY = "embeddings.neighbours"
BESIDE = 5  # neighbours in the other table
ABOVE = 0.5  # the cosine that the question asks about


def draw(state: kit.PageState, table: VectorTable) -> str:
    """Show the nearest rows of a word; return what was seen, once asked.

    Raises ValueError: the word's row is zero and has no cosine.
    """
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        _controls(state)
    row = _row(state, table)
    if row is None:
        return ""
    near, values = _picture(state, table, row)
    _walk(state, table, near)
    if not _ask(table, row):
        return ""
    _spread(table, row, values, near)
    _others(table, row, near)
    _beside(table, row, near)
    kit.show_code(
        [nearest, measure_all],
        words.snippet_neighbours.format(
            name=table.name, word=state["word"], count_ids=len(near.ids), metric=near.metric
        ),
        f"{[table.name_of(i) for i in near.ids]}\n{near.values.round(3)}",
    )
    return words.end_neighbours.format(
        count=table.size - 1,
        best=sources.label(table, int(near.ids[0])),
        word=sources.label(table, row),
        metric=words.metrics[near.metric],
        value=kit.signed(float(near.values[0])),
    )


def _row(state: kit.PageState, table: VectorTable) -> int | None:
    """Return the row of the word; what the picture above says of it is not said again."""
    if state["kind"] != "words":
        return sources.find(state, "word", table)
    try:
        return table.find(state["word"])
    except NotOneRow as problem:
        if problem.ids:
            sources.pieces(state, "word", table, problem)
    except ValueError:
        pass
    return None


def _controls(state: kit.PageState) -> None:
    if state["kind"] != "words":  # else its box stands under the picture
        kit.text_input(state, "word", words.word, width=180)
    kit.choose(state, "metric", words.metric, words.metrics)
    st.slider(words.how_many, width=220, **state.ranged("k"))


def _picture(state: kit.PageState, table: VectorTable, row: int) -> tuple[Neighbours, np.ndarray]:
    """Draw the nearest rows; return them, and the measure (V,) of every row."""
    metric = state["metric"]
    kit.prose(words.neighbours_text, count=table.size, word=sources.label(table, row))
    values = measured(table, row, metric)
    k = min(state["k"], int(np.isfinite(values).sum()) - 1)
    if k < 1:
        raise ValueError(words.no_neighbours)
    near = best(values, k, metric, exclude=[row])
    _rows(state, table, row, near)
    return near, values


def _rows(state: kit.PageState, table: VectorTable, row: int, near: Neighbours) -> None:
    """Draw the word, its neighbours, and the measure of each as a cell that opens."""
    target, rows = table.exact[[row]], table.exact[near.ids]
    if near.metric == "cosine":
        target, rows = unit_rows(target), unit_rows(rows)
    labels = sources.labels(table)
    names = [labels[i] for i in near.ids]
    limit = float(np.quantile(np.abs(np.vstack((target, rows))), 0.99)) or None
    unit = words.unit_formula if near.metric == "cosine" else ""
    matrices = [
        lv.Matrix(words.target, target, "", unit, [labels[row]], role="residual", limit=limit),
        lv.Matrix(words.found, rows, "", unit, names, role="residual", limit=limit),
    ]
    op = lv.matmul(words.found, words.target, transpose_b=True)
    if near.metric == "euclidean":
        matrices.append(
            lv.Matrix(words.difference, rows - target, op=lv.subtracted(words.found, words.target))
        )
        op = lv.lengths(words.difference)
    label = words.metrics[near.metric]
    matrices.append(lv.Matrix(label, near.values[:, None], row_labels=names, role="value", op=op))
    # The measure stands first: on a phone the long rows run out of the picture.
    layout = [[None, words.target], [label, words.found]]
    cells.show(state, matrices, layout, key=f"{KEY}.rows", control="term", stacked=True)


def _walk(state: kit.PageState, table: VectorTable, near: Neighbours) -> None:
    take = state.taker("word")
    kit.suggest(
        words.walk,
        [table.name_of(int(i)) for i in near.ids],
        take,
        key="_embeddings.walk",
        format_func=lambda name: sources.labels(table)[table.find(name)],
        wrap=True,
    )


def _spread(table: VectorTable, row: int, values: np.ndarray, near: Neighbours) -> None:
    rest = np.delete(values, row)
    rest = rest[np.isfinite(rest)]
    labels = sources.labels(table)
    histogram(
        rest,
        near.values,
        axes=(words.spread_axis[near.metric].format(word=labels[row]), words.spread_count),
        key=f"{KEY}.spread",
        words=words.spread_words | {"marks": words.spread_marks.format(k=len(near.ids))},
    )
    near_is = words.spread_text.format(
        metric=words.metrics[near.metric],
        median=kit.signed(float(np.median(rest))),
        best=kit.signed(float(near.values[0])),
    )
    text = [near_is]
    if near.undefined:
        text.append(words.undefined.format(count=near.undefined))
    same = crowded(table)
    if near.metric == "cosine" and len(same) > chapter.CROWD * table.size:
        low, high = chapter.middle(values, same)
        text.append(words.spread_crowd.format(count=len(same), low=low, high=high))
    kit.prose(kit.run_on(text))


def _others(table: VectorTable, row: int, near: Neighbours) -> None:
    """Say how many neighbours another measure shares."""
    k = len(near.ids)
    other = "dot" if near.metric == "cosine" else "cosine"
    again = best(measured(table, row, other), k, other, exclude=[row])
    both = len(set(again.ids.tolist()) & set(near.ids.tolist()))
    kit.prose(words.metrics_differ, other=words.metrics[other], same=both, k=k)


def _beside(table: VectorTable, row: int, near: Neighbours) -> None:
    """Say what is nearest in a table that was learned in another way."""
    other = sources.beside(table)
    same = None if other is None else other.rows_of_words.get(table.name_of(row))
    if other is None or same is None:
        return
    again = nearest(other.exact, other.exact[same], BESIDE, near.metric, exclude=[same])
    kit.prose(
        words.beside,
        name=kit.quote(other.name),
        words=", ".join(sources.word(other, int(i)) for i in again.ids),
        why=words.beside_why,
    )


def _ask(table: VectorTable, row: int) -> bool:
    """Ask how many tokens point roughly the same way, where the answers are far enough apart."""
    alike = np.delete(measured(table, row), row)
    asked = many_question(alike[np.isfinite(alike)], sources.label(table, row))
    return kit.Guess(f"{KEY}.many", asked).ask()


def many_question(alike: np.ndarray, word: str) -> kit.Question | None:
    """Return the question how many of the cosines (N,) of other tokens with a word are above 0.5.

    The other answers are the two of four shares of all that are farthest from the right one. None
    where there are too few tokens to keep the answers apart.
    """
    n, right = len(alike), int((alike > ABOVE).sum())
    shares = sorted({0, n // 4, n // 2, n}, key=lambda other: (-abs(other - right), other))
    others = [other for other in shares if abs(other - right) >= max(2, n // 20)][:2]
    if len(others) < 2:
        return None
    about: dict[str, Any] = {
        "right": right,
        "share": kit.percent(right / n),
        "mean": kit.signed(float(alike.mean())),
    }
    reasons = {m: words.ask_many_fewer if m > right else words.ask_many_more for m in others}
    reasons[right] = words.ask_many_right
    return kit.Question.among(
        words.ask_many,
        reasons,
        right,
        lambda answer: words.ask_many_answer.format(count=answer),
        count=n,
        word=word,
        **about,
    )
