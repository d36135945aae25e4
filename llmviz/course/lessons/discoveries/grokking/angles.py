"""The sum of two numbers as a sum of angles: waves of a + b − c beside the model's own logits.

K waves, P the modulus.
"""

import numpy as np
import streamlit as st

from llmviz.course import components as lv
from llmviz.course.lessons.discoveries.grokking import words
from llmviz.course.lessons.discoveries.grokking.grokking_record import film, final_logits
from llmviz.course.lessons.discoveries.grokking.model import explained, heights
from llmviz.course.lessons.discoveries.grokking.params import WAVES
from llmviz.course.ui import kit

KEY = "discoveries.grokking.angles"
AROUND = 3  # answers on each side of the sum that are shown


@kit.kept(1)
def waves() -> tuple[np.ndarray, np.ndarray]:
    """Return the frequencies that stand highest in the logits (K,), and their heights (K,)."""
    every = heights(final_logits(), film().task.modulus)
    chosen = np.sort(np.abs(every).argsort()[::-1][:WAVES])
    return chosen + 1, every[chosen]


@kit.kept(1)
def share() -> float:
    """Return how much of the logits' differences the waves explain."""
    return explained(final_logits(), *waves())


def draw(state: kit.PageState) -> None:
    """Show the waves of some answers, cell by cell, and the model's logits below them."""
    modulus = film().task.modulus
    kit.section(words.angles, modulus=modulus)
    with st.container(horizontal=True, gap="medium"):
        for key, label in (("groka", words.a), ("grokb", words.b)):
            st.number_input(label, step=1, width=120, **state.ranged(key))
    a, b = state["groka"], state["grokb"]
    kit.show(
        state,
        matrices(a, b),
        [
            ["turn", "rest"],
            [None, "angle"],
            ["heights", "waves"],
            [None, "result"],
            [None, "model"],
        ],
        key=f"{KEY}.cells",
        control="grokcell",
        first=f"result.0.{AROUND}",
        numbers=True,
    )
    kit.prose(f"{read(a, b)} {fit()}")


def matrices(a: int, b: int) -> list[lv.Matrix]:
    """Return the waves at the sum and at answers around it, as matrices that open."""
    modulus = film().task.modulus
    frequencies, high = waves()
    answers = (a + b + np.arange(-AROUND, AROUND + 1)) % modulus
    rest = (a + b - answers)[None].astype(float)
    turn = 2 * np.pi * frequencies[:, None] / modulus
    angle = turn @ rest
    names = [f"c = {answer}" for answer in answers]
    rows = [f"k = {k}" for k in frequencies]
    own = final_logits()[a * modulus + b]
    own = (own - own.mean())[answers][None]
    added = high[None] @ np.cos(angle)
    return [
        lv.Matrix(
            "turn", turn, words.turn, words.turn_formula.format(modulus=modulus), row_labels=rows
        ),
        lv.Matrix("rest", rest, words.rest, col_labels=names, digits=0),
        lv.Matrix(
            "angle",
            angle,
            "angle",
            words.angle_formula,
            row_labels=rows,
            col_labels=names,
            op=lv.matmul("turn", "rest"),
        ),
        lv.Matrix("heights", high[None], words.height, col_labels=rows, role="key"),
        lv.Matrix(
            "waves",
            np.cos(angle),
            words.wave_name,
            "cos(angle)",
            row_labels=rows,
            col_labels=names,
            role="weights",
            scale="diverging",
            limit=1.0,
            op=lv.function("angle", "cos"),
        ),
        lv.Matrix(
            "result",
            added,
            words.result,
            words.result_formula,
            col_labels=names,
            role="value",
            op=lv.matmul("heights", "waves"),
        ),
        lv.Matrix("model", own, words.model, col_labels=names, role="query"),
    ]


def read(a: int, b: int) -> str:
    """Return which answer is highest, for the waves and for the model."""
    modulus = film().task.modulus
    frequencies, high = waves()
    total = (a + b) % modulus
    said = int(final_logits()[a * modulus + b].argmax())
    turns = 2 * np.pi * np.outer(frequencies, a + b - np.arange(modulus)) / modulus
    best = int((high @ np.cos(turns)).argmax())
    how = "right" if said == best == total else "wrong"
    return words.angles_read[how].format(
        a=a, b=b, sum=total, modulus=modulus, said=said, waves=best
    )


def fit() -> str:
    """Return how much the waves explain, in a sentence."""
    modulus = film().task.modulus
    return words.fit.format(
        all=modulus**2, modulus=modulus, count=WAVES, share=kit.whole_percent(share())
    )
