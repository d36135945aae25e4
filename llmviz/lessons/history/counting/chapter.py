"""Chapter "Counting": the table of letter pairs, and a name walked through it."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from llmviz.corpus.counts import letter_pair_counts
from llmviz.lessons.history import typed_name
from llmviz.lessons.history.counting import words
from llmviz.study.letter_pairs import PairStep, average_loss, walk
from llmviz.ui.code import show_code
from llmviz.ui.kept import kept
from llmviz.ui.lesson import section
from llmviz.ui.prose import prose, quote
from llmviz.ui.state import PageState

_counts = kept(1)(letter_pair_counts)


@st.fragment
def draw(state: PageState) -> None:
    """Show the chapter."""
    counts = _counts()
    section(words.TITLE, words.TEXT.format(words=int(counts[0].sum())))
    name = typed_name.ask(state)
    if not name:
        return
    steps = walk(counts, name)
    st.dataframe(_frame(steps), hide_index=True, width=700)
    prose(_result(name, steps, average_loss(counts)))
    show_code(
        [walk],
        "from llmviz.corpus.counts import letter_pair_counts\n"
        "from llmviz.study.letter_pairs import walk\n\n"
        f"for step in walk(letter_pair_counts(), {name!r}):\n"
        "    print(step.first, step.second, step.seen, f'{step.chance:.4f}')",
        "\n".join(f"{one.first} {one.second} {one.seen} {one.chance:.4f}" for one in steps),
    )


def _frame(steps: list[PairStep]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            words.STEP: [one.first + one.second for one in steps],
            words.COUNT: [one.seen for one in steps],
            words.ROW: [one.of_all for one in steps],
            words.CHANCE: [f"{one.chance:.4f}" for one in steps],
            words.SO_FAR: [f"{one.product:.3g}" for one in steps],
            words.LOSS: [f"{one.loss:.4f}" for one in steps],
        }
    )


def _result(name: str, steps: list[PairStep], mean: float) -> str:
    never = next((one for one in steps if not one.seen), None)
    if never is not None:
        pair = quote(never.first + never.second)
        return words.NEVER.format(pair=pair, name=quote(name))
    loss = sum(one.loss for one in steps) / len(steps)
    product = steps[-1].product
    return words.RESULT.format(name=quote(name), product=product, loss=loss, mean=mean)
