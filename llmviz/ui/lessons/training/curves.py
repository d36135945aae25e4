"""Chapter "Curves": what a run wrote down as it went, and what the numbers are held against."""

from __future__ import annotations

import numpy as np
import streamlit as st

from llmviz.figures.training import loss_curve
from llmviz.training.measures import perplexity
from llmviz.training.reading import read_metrics
from llmviz.ui import codec, engine
from llmviz.ui.lesson import section, show_code
from llmviz.ui.lessons.common import count, keep
from llmviz.ui.lessons.training.words import curves as words
from llmviz.ui.prose import prose
from llmviz.ui.state import PageState

PARAMS = [codec.text("run", "names-gpt")]


@st.fragment
def draw(state: PageState) -> None:
    """Show the chapter."""
    section(words.TITLE, words.TEXT)
    name = keep(state, "run", engine.names())
    st.selectbox(words.RUN, engine.names(), width=260, **state.bind("run"))
    records = read_metrics(engine.CHECKPOINTS / name)
    steps = np.array([record.step for record in records])
    train = np.array([record.train_loss for record in records])
    validation = np.array([record.validation_loss for record in records], dtype=float)
    st.plotly_chart(loss_curve(steps, train, validation), key="training.curve")
    last = records[-1]
    prose(
        words.NUMBERS.format(
            name=name,
            tokens=count(last.tokens, "token"),
            seconds=count(round(last.seconds), "second"),
            loss=last.validation_loss,
            perplexity=perplexity(last.validation_loss),
        )
    )
    show_code(
        [perplexity],
        "from llmviz.training import read_metrics\n\n"
        f"last = read_metrics('data/checkpoints/{name}')[-1]\n"
        "print(last.step, round(last.validation_loss, 4))",
        f"{last.step} {round(last.validation_loss, 4)}",
    )
