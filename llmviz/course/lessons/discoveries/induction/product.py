"""Two heads, one behind the other, as a product of matrices whose cells open."""

import numpy as np
import streamlit as st

from llmviz.course import components as lv
from llmviz.course.lessons.discoveries.induction import film, words
from llmviz.course.lessons.discoveries.induction.induction_record import frame_of, learned, model_at
from llmviz.course.ui import kit
from llmviz.interpretability.induction import HEADS, LETTERS, Pair, V, diagonal, pair_of

KEY = "discoveries.induction.product"
SEEN = 8  # letters and numbers that are seen of a long axis


def draw(state: kit.PageState) -> None:
    """Show the product of the chosen heads at the film's moment, and what it says."""
    first, second = state["copyfirst"], state["copysecond"]
    kit.section(words.product, first=f"0.{first}", second=f"1.{second}")
    with st.container(horizontal=True, gap="medium"):
        for key, label, layer in (("copyfirst", words.first, 0), ("copysecond", words.second, 1)):
            names = {head: f"{layer}.{head}" for head in range(HEADS)}
            kit.choose(state, key, label, names)
    frame, place = frame_of(film.place_of(state))
    pair = pair_at(frame, first, second)
    size = pair.keys.shape[1]
    kit.show(
        state,
        matrices(pair),
        [["asks", "keys", "match"], ["adds", "head", "copies"]],
        key=f"{KEY}.cells",
        control="copycell",
        first="match.4.4",
        numbers=True,
        windows={
            "V": lv.Window(V, SEEN),
            "D": lv.Window(size, min(size, SEEN)),
            "C": lv.Window(pair.adds.shape[1], SEEN),
        },
    )
    kit.prose(
        words.product_read,
        step=learned().moments[place].step,
        letters=V,
        match=diagonal(pair.match),
        copies=diagonal(pair.copies),
        both=diagonal(sum(pair_at(frame, first, head).copies for head in range(HEADS))),
        first=f"0.{first}",
        second=f"1.{second}",
    )


@kit.kept(64)
def pair_at(frame: int, first: int, second: int) -> Pair:
    """Return two heads as matrices, of the weights of a bundled moment."""
    return pair_of(model_at(frame=frame), first, second)


def matrices(pair: Pair) -> list[lv.Matrix]:
    """Return the matrices of two heads as ones that open."""
    letters = list(LETTERS)
    rows = {"row_labels": letters}
    square = rows | {"col_labels": letters, "scale": "diverging", "windows": ("V", "V")}
    return [
        lv.Matrix(
            "asks",
            pair.asks,
            words.asks,
            words.asks_formula,
            role="query",
            windows=("V", "D"),
            **rows,
        ),
        lv.Matrix(
            "keys",
            pair.keys / np.sqrt(pair.keys.shape[1]),
            words.finds,
            words.finds_formula,
            role="key",
            windows=("V", "D"),
            **rows,
        ),
        lv.Matrix(
            "match",
            pair.match,
            words.match,
            words.match_formula,
            role="weights",
            op=lv.matmul("asks", "keys", transpose_b=True),
            **square,
        ),
        lv.Matrix(
            "adds",
            pair.adds,
            words.writes,
            words.writes_formula,
            role="value",
            windows=("V", "C"),
            **rows,
        ),
        lv.Matrix("head", pair.head, words.head_matrix, windows=("V", "C"), **rows),
        lv.Matrix(
            "copies",
            pair.copies,
            words.copies,
            words.copies_formula,
            role="weights",
            op=lv.matmul("adds", "head", transpose_b=True),
            **square,
        ),
    ]
