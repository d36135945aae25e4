"""Chapter "Side by side": three settings write from one seed."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from llmviz.sampling import ORDER, text_measures
from llmviz.ui import codec
from llmviz.ui.components.writer import writer
from llmviz.ui.lesson import Question, predict, section, show_code
from llmviz.ui.lessons.common import refuse, signed
from llmviz.ui.lessons.sampling import knobs, params, source, texts, words
from llmviz.ui.lessons.sampling.writing import tokens_of, writer_words
from llmviz.ui.prose import prose
from llmviz.ui.state import PageState

NAMES = ("A", "B", "C")
START = {"A": (0.0, 1.0), "B": (1.0, 0.9), "C": (1.8, 1.0)}  # temperature, top-p
PARAMS = [
    codec.integer("length", 60, 5, params.MOST_TOKENS),
    *(codec.number(f"t{name}", START[name][0], 0.0, 3.0) for name in NAMES),
    *(codec.number(f"p{name}", START[name][1], 0.05, 1.0) for name in NAMES),
    *(params.optional_k(f"k{name}") for name in NAMES),
]


@st.fragment
def draw(state: PageState) -> None:
    """Show the chapter."""
    section(words.compare.TITLE, words.compare.TEXT)
    said = source.prompted(state)
    if said is None:
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.number_input(words.SEED, step=1, width=150, **state.ranged("seed"))
        st.slider(words.compare.TOKENS, width=280, **state.ranged("length"))
    rows, means = [], {}
    for name, column in zip(NAMES, st.columns(len(NAMES), gap="medium"), strict=True):
        with column:
            settings = _controls(state, name, said.logits.size)
            try:
                written = texts.text(said, settings, state["seed"], state["length"])
            except ValueError as error:
                refuse(error)
                continue
            shown = tokens_of(said, written)[: state["length"]]
            writer(
                shown,
                key=f"sampling.compare.{name}",
                prompt="…" + said.text[-40:],
                words=writer_words(said),
                length=len(shown),
                limit=params.MOST_TOKENS,
                ended=written.ended and len(written.tokens) <= state["length"],
                controls=False,
            )
        measures = text_measures(written.tokens[: state["length"]])
        means[name] = measures["mean_log_probability"]
        rows.append(_row(name, settings, len(shown), measures))
    answered = _ask(means)
    if rows:
        hidden = [] if answered else [words.compare.COLUMNS["mean"]]  # it is what was asked
        st.dataframe(
            pd.DataFrame(rows).assign(**dict.fromkeys(hidden, "?")), hide_index=True, width=760
        )
    _code()


def _controls(state: PageState, name: str, vocab_size: int) -> dict[str, Any]:
    st.slider(f"{name}: temperature", step=0.1, **state.ranged(f"t{name}"))
    st.slider(f"{name}: top-p", step=0.05, **state.ranged(f"p{name}"))
    k = state[f"k{name}"]
    return {
        "temperature": state[f"t{name}"],
        "top_p": state[f"p{name}"],
        "top_k": None if k is None or k > vocab_size else k,
    }


def _row(
    name: str, settings: dict[str, Any], tokens: int, measures: dict[str, float]
) -> dict[str, Any]:
    text = knobs.described(knobs.NEUTRAL | settings | {"order": ORDER})
    values = (
        f"{name}: {text}",
        tokens,
        f"{measures['distinct']:.0%}",
        f"{measures['repetition']:.0%}",
        signed(measures["mean_log_probability"]),
    )
    return dict(zip(words.compare.COLUMNS.values(), values, strict=True))


def _ask(means: dict[str, float]) -> bool:
    """Ask for the most probable text; return whether its numbers may be shown."""
    if len(means) < 2 or len(set(means.values())) < len(means):
        return True
    best = max(means, key=means.__getitem__)
    return predict(
        Question(
            words.compare.ASK_COMPARE,
            list(means),
            list(means).index(best),
            [
                words.compare.ASK_COMPARE_REASON.format(name=name, mean=signed(means[name]))
                for name in means
            ],
        ),
        "compare.mean",
    )


def _code() -> None:
    prose(words.compare.NOTE)
    show_code([text_measures], words.compare.SNIPPET, words.compare.PRINTS)
