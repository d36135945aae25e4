"""Part of the chapter "Positions": a row of sinusoidal positions with a mistake in it."""

import streamlit as st

from llmviz.course.lessons.embeddings.positions import words
from llmviz.course.lessons.embeddings.positions.model import wave_value
from llmviz.course.ui import kit

POSITION, WIDTH, BASE = 3, 4, 10_000


def draw() -> None:
    """Show a row whose exponents are those of single columns, and ask what is wrong with it."""
    about = {"position": POSITION, "width": WIDTH}
    kit.section(words.mistake, **about)
    lines = [
        words.mistake_line.format(
            column=column,
            wave="cos" if column % 2 else "sin",
            value=f"{wave_value(POSITION, column, column / WIDTH, BASE):.4f}",
            position=POSITION,
            base=f"{BASE:,}",
            width=WIDTH,
        )
        for column in range(WIDTH)
    ]
    st.code("\n".join(lines), language=None, wrap_lines=True)
    kit.predict(mistake_question(), "embeddings.positions.mistake")


def mistake_question() -> kit.Question:
    """Return the question in which columns of the row the exponent is wrong."""
    exact = [wave_value(POSITION, j, (j - j % 2) / WIDTH, BASE) for j in range(WIDTH)]
    about = {"right_1": f"{exact[1]:.4f}", "right_3": f"{exact[3]:.4f}", "width": WIDTH}
    return kit.Question.of(words.mistake_ask, **about)
