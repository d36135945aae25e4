"""Accuracy against the number of training texts, as it was measured for each way of training."""

from __future__ import annotations

import plotly.graph_objects as go
import streamlit as st

from llmviz.figures.finetuning import bands
from llmviz.figures.theme import Mode
from llmviz.lessons.finetuning.classifier import words
from llmviz.study.examples_curve import COMMAND, TASK, Measured, measured
from llmviz.ui.common import percent, theme
from llmviz.ui.kept import kept
from llmviz.ui.lesson import section
from llmviz.ui.notices import inform
from llmviz.ui.prose import prose


def draw() -> None:
    """Show the measured curves; say how they are made where they are not in this copy."""
    try:
        found = curves()
    except ValueError:
        section(words.CURVE_TITLE)
        inform(words.NO_CURVE, ":material/download:")
        st.code(COMMAND, language=None)
        return
    line = {"least": found.counts[0], "most": f"{found.counts[-1]:,}", "seeds": found.seeds}
    question = words.TASK_TEXT[TASK]
    section(
        words.CURVE_TITLE,
        words.CURVE_TEXT.format(question=question, tested=found.tested, **line),
    )
    st.plotly_chart(picture(theme()), key="finetuning.classifier.examples", theme=None)
    steps = words.CURVE_STEPS.format(command=COMMAND, **found.steps)
    prose(f"{steps}\n\n{reading_of(found)}")


@kept(1)
def curves() -> Measured:
    """Return the bundled curves; ValueError where they are not here."""
    return measured()


def reading_of(found: Measured) -> str:
    """Return what the chart says: where a trained model helps most, and what is left of it."""
    means = {band.way: band.mean for band in found.bands}
    nothing = means.pop("nothing")
    gaps = {
        (way, at): share - nothing[at]
        for way, shares in means.items()
        for at, share in enumerate(shares)
    }
    best, at = max(gaps, key=gaps.__getitem__)
    return words.CURVE_READ.format(
        count=f"{found.counts[at]:,}",
        best=words.WAYS[best],
        best_share=percent(means[best][at]),
        nothing_share=percent(nothing[at]),
        most=f"{found.counts[-1]:,}",
        best_most=percent(means[best][-1]),
        nothing_most=percent(nothing[-1]),
    )


@kept(2)
def picture(mode: Mode) -> go.Figure:
    """Return the curves with their bands."""
    found = curves()
    ways = [(words.WAYS[band.way], band.lowest, band.mean, band.highest) for band in found.bands]
    return bands(found.counts, ways, (words.CURVE_GUESS, found.guess), words.CURVE_AXES, mode)
