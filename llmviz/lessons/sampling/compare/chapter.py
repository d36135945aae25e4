"""Chapter "Side by side": three settings write from one seed."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from llmviz.components.writer.view import writer
from llmviz.lessons.sampling import knobs, params, source, texts
from llmviz.lessons.sampling import words as lesson_words
from llmviz.lessons.sampling.compare import words
from llmviz.lessons.sampling.compare.params import NAMES
from llmviz.lessons.sampling.writing.chapter import tokens_of, writer_words
from llmviz.sampling import text_measures, usual_order
from llmviz.ui.code import show_code
from llmviz.ui.common import refuse, signed
from llmviz.ui.lesson import section
from llmviz.ui.prose import prose
from llmviz.ui.question import Question, predict
from llmviz.ui.state import PageState


@st.fragment
def draw(state: PageState) -> None:
    """Show the chapter."""
    section(words.TITLE, words.TEXT)
    said = source.prompted(state)
    if said is None:
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.number_input(lesson_words.SEED, step=1, width=150, **state.ranged("seed"))
        st.slider(words.TOKENS, width=280, **state.ranged("length"))
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
        hidden = [] if answered else [words.COLUMNS["mean"]]  # it is what was asked
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
    text = knobs.described(knobs.NEUTRAL | settings | {"order": usual_order()})
    values = (
        f"{name}: {text}",
        tokens,
        f"{measures['distinct']:.0%}",
        f"{measures['repetition']:.0%}",
        signed(measures["mean_log_probability"]),
    )
    return dict(zip(words.COLUMNS.values(), values, strict=True))


def _ask(means: dict[str, float]) -> bool:
    """Ask for the most probable text; return whether its numbers may be shown."""
    if len(means) < 2 or len(set(means.values())) < len(means):
        return True
    best = max(means, key=means.__getitem__)
    return predict(
        Question(
            words.ASK_COMPARE,
            list(means),
            list(means).index(best),
            [
                words.ASK_COMPARE_REASON.format(name=name, mean=signed(means[name]))
                for name in means
            ],
        ),
        "compare.mean",
    )


def _code() -> None:
    prose(words.NOTE)
    show_code([text_measures], words.SNIPPET, words.PRINTS)
