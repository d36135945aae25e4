"""Chapter "Temperature": the arithmetic of softmax, entropy, and both limits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st

from llmviz.components.softmax_view.view import softmax_view
from llmviz.lessons.sampling import source
from llmviz.lessons.sampling.source import Prompted
from llmviz.lessons.sampling.temperature import words
from llmviz.sampling import entropy, softmax_terms, temperature_limit
from llmviz.sampling.pipeline import top_ids
from llmviz.ui.code import show_code
from llmviz.ui.lesson import section
from llmviz.ui.prose import prose, quote
from llmviz.ui.question import Question, predict
from llmviz.ui.state import PageState

KEY = "sampling.softmax"
ROWS = 12
STOPS = (
    0.0,
    *(round(0.05 * i, 2) for i in range(1, 20)),
    *(round(0.1 * i, 1) for i in range(10, 31)),
    *(
        3.25,
        3.5,
        3.75,
        4.0,
        4.5,
        5.0,
        5.5,
        6.0,
        7.0,
        8.0,
        10.0,
        12.0,
        15.0,
        20.0,
        30.0,
        50.0,
        100.0,
    ),
)


@st.fragment
def draw(state: PageState) -> None:
    """Show the chapter."""
    section(words.TITLE, words.TEXT)
    said = source.prompted(state)
    if said is None:
        return
    stops: list[float | None] = [*sorted({*STOPS, state["temperature"]}), None]
    _table(state, said, stops)
    prose(words.SOFTMAX_ZERO + " " + words.SOFTMAX_INFINITE)
    _ask(said)
    _code(said, state["temperature"] or 1.0)


def _table(state: PageState, said: Prompted, stops: list[float | None]) -> None:
    ids = top_ids(said.logits, min(ROWS, said.logits.size))
    names = ("scaled", "shifted", "exp", "probability")
    columns = {name: np.full((len(stops), ids.size), np.nan) for name in names}
    texts = said.texts(ids)
    nats, lines = np.zeros(len(stops)), []
    for s, stop in enumerate(stops):
        row = _terms(said.logits, ids, texts, stop)
        for name in names:
            if name in row:
                columns[name][s] = row[name]
        nats[s] = row["entropy"]
        lines.append(row["line"])
    vocabulary = said.logits.size

    def keep_stop(act: dict) -> None:
        at = act.get("at")
        # Infinity is a place on the slider to look at, not a temperature that others can draw with.
        if isinstance(at, int) and 0 <= at < len(stops) - 1:
            state["temperature"] = stops[at]

    softmax_view(
        texts,
        said.logits[ids],
        stops,
        columns,
        nats,
        key=KEY,
        words=words.SOFTMAX
        | {
            "all": words.SOFTMAX["all"].format(
                n=f"{vocabulary:,}", entropy=f"{math.log(vocabulary):.2f}"
            )
        },
        lines=lines,
        at=stops.index(state["temperature"]),
        vocab_size=vocabulary,
        on_act=source.acted(KEY, keep_stop),
    )


def _terms(
    logits: np.ndarray, ids: np.ndarray, names: Sequence[str], stop: float | None
) -> dict[str, Any]:
    """Return the numbers of softmax at one stop for the tokens `ids`, and a sentence."""
    if not stop:
        limit = temperature_limit(logits, math.inf if stop is None else 0)
        row = {"probability": limit[ids], "entropy": float(entropy(limit))}
        if stop is None:
            row |= {"scaled": np.zeros(ids.size), "shifted": np.zeros(ids.size)}
            row |= {"exp": np.ones(ids.size), "line": words.SOFTMAX_INFINITE}
            return row
        return row | {"line": words.SOFTMAX_ZERO}
    terms = softmax_terms(logits, stop)
    row = min(1, ids.size - 1)  # of the second one: the exponential of the first is always 1
    one = int(ids[row])
    line = words.SOFTMAX_LINE.format(
        token=names[row],
        logit=f"{logits[one]:.4f}",
        t=f"{stop:g}",
        highest=f"{terms.highest:.4f}",
        total=f"{terms.total:.4f}",
        exp=f"{terms.exps[one]:.4f}",
        probability=f"{terms.probabilities[one]:.4f}",
        n=f"{logits.size:,}",
    )
    return {
        "scaled": terms.scaled[ids],
        "shifted": terms.shifted[ids],
        "exp": terms.exps[ids],
        "probability": terms.probabilities[ids],
        "entropy": float(entropy(terms.probabilities)),
        "line": line,
    }


def _ask(said: Prompted) -> None:
    if said.logits.size < 3:
        return
    ids = top_ids(said.logits, 3)
    first, second = int(ids[0]), int(ids[2])
    ratio = math.exp(said.logits[first] - said.logits[second])
    answers = [f"{ratio:.2f}", f"{2 * ratio:.2f}", f"{ratio**2:.2f}"]
    if len(set(answers)) < 3 or ratio > 1e4:
        return
    order = sorted(range(3), key=lambda i: float(answers[i]))
    reason = words.ASK_HALF_REASON.format(ratio=ratio, square=ratio**2)
    predict(
        Question(
            words.ASK_HALF.format(
                first=quote(said.token_text(first)),
                second=quote(said.token_text(second)),
                ratio=ratio,
            ),
            [answers[i] for i in order],
            order.index(2),
            [reason if i == 2 else words.ASK_HALF_NO for i in order],
        ),
        "temperature.half",
    )


def _code(said: Prompted, temperature: float) -> None:
    terms = softmax_terms(said.logits, temperature)
    nats = float(entropy(terms.probabilities))
    show_code(
        [softmax_terms, temperature_limit, entropy],
        source.snippet(said) + "from llmviz.sampling import entropy, softmax_terms\n"
        "from llmviz.sampling.generation import NextLogits\n\n"
        f"terms = softmax_terms(NextLogits(model)(ids), {temperature!r})\n"
        "print(round(float(terms.probabilities.max()), 3), round(entropy(terms.probabilities), 3))",
        f"{round(float(terms.probabilities.max()), 3)} {round(nats, 3)}",
    )
