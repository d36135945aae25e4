"""What makes a language model large: parameters, text and computing, on axes by powers of ten."""

import pandas as pd
import streamlit as st

from llmviz.course.figures.history import sizes as sizes_figure
from llmviz.course.lessons.history.where import programs, words
from llmviz.course.lessons.history.where.model_sizes import KNOWN, ModelSize
from llmviz.course.ui import engine, kit


def small(state: kit.PageState, name: str) -> None:
    """Say how small the language model is that runs here."""
    own = ours()
    gpt3 = next(model for model in KNOWN if model.name == "GPT-3")
    kit.prose(
        words.small,
        parameters=int(own.parameters),
        tokens=int(own.tokens),
        times=short(gpt3.parameters / own.parameters),
    )


def draw(state: kit.PageState, name: str) -> None:
    """Show the chart and the table of sizes."""
    kit.prose(words.sizes)
    st.plotly_chart(_figure(kit.theme()), key="history.where.sizes")
    kit.prose(compared(ours(), KNOWN))
    st.dataframe(_frame(), hide_index=True)


@kit.kept(1)
def ours() -> ModelSize:
    """Return the bundled GPT of names, by its card."""
    card = engine.card(programs.GPT)
    return ModelSize(words.ours, 0, card["parameters"], card["tokens"], words.our_source)


def short(number: float) -> str:
    """Return a large number in words, three digits of it; a very large one as a power of ten.

    >>> short(2_976_190.5), short(175e9), short(950), short(3.15e23)
    ('2.98 million', '175 billion', '950', '3.15·10²³')
    """
    if number >= 1e15:
        return kit.power_of_ten(number, 3)
    for power, word in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million")):
        if number >= power:
            return f"{number / power:.3g} {word}"
    return f"{number:,.0f}"


def compared(own: ModelSize, known: tuple[ModelSize, ...]) -> str:
    """Say how far it is from the model here to the one with the most computing."""
    largest = max(known, key=lambda model: model.compute)
    return words.size_done.format(
        largest=largest.name,
        parameters=short(largest.parameters / own.parameters),
        tokens=short(largest.tokens / own.tokens),
        compute=short(largest.compute / own.compute),
    )


@kit.kept(2)
def _figure(mode: kit.Mode) -> kit.Figure:
    points = {
        f"{size.name}, {size.year}" if size.year else size.name: (size.tokens, size.parameters)
        for size in (ours(), *KNOWN)
        if size.tokens
    }
    return sizes_figure(points, words.ours, words.size_axes, mode)


@kit.kept(1)
def _frame() -> pd.DataFrame:
    rows = [
        (
            size.name,
            str(size.year) if size.year else "",
            short(size.parameters),
            short(size.tokens) if size.tokens else words.size_unknown,
            short(size.compute) if size.compute else words.size_unknown,
            size.source,
        )
        for size in (ours(), *KNOWN)
    ]
    return pd.DataFrame(rows, columns=list(words.size_columns))
