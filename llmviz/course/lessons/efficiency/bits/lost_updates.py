"""Updates that are too small for the weights: which share of them changes nothing."""

from collections.abc import Mapping

import numpy as np
import streamlit as st

from llmviz.course.figures.lines import Line, lines
from llmviz.course.figures.quantization import PowerBars, power_bars
from llmviz.course.lessons.efficiency.bits import words
from llmviz.course.lessons.efficiency.bits.gradients import step_of
from llmviz.course.lessons.efficiency.bits.step_gradients import (
    BATCHES,
    RealStep,
    lost_updates,
    update_steps,
)
from llmviz.course.ui import engine, kit
from llmviz.quantization.formats import FORMATS

KEY = "efficiency.bits.updates"
RATES = tuple(float(rate) for rate in words.rates)
HALF = -1  # as a power of two: from half of the distance on an update counts


@kit.kept(4)
def shares_of(bundled: engine.Bundled) -> Mapping[str, np.ndarray]:
    """Return for each format the share of weights (R,) that stay, at each of the RATES."""
    step = step_of(bundled)
    return {kind: lost_updates(step, kind, RATES) for kind in words.updated_in}


def draw(state: kit.PageState) -> None:
    """Show the part, or one line where its model is not in this copy."""
    kit.section(words.update, batches=BATCHES)
    name = state["gradmodel"]
    if not kit.models_here(name):
        return
    bundled = engine.load(name)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.select_slider(words.rate, words.rates, width=360, **state.bind("updaterate"))
        kit.choose(state, "updatein", words.updated, words.updated_in)
    rate, format = state["updaterate"], state["updatein"]
    at = words.rates.index(rate)
    shares = {kind: float(values[at]) for kind, values in shares_of(bundled).items()}
    kit.chart(figure_of(bundled, rate, format, kit.theme()), f"{KEY}.bars")
    kit.chart(curves_of(bundled, kit.theme()), f"{KEY}.curves")
    told = lost_told(rate, format, shares, len(step_of(bundled).weights))
    kit.prose(f"{told}\n\n{words.update_why}")
    kit.chapter_link("training", "descent", words.optimizers, ":material/trending_down:")
    kit.show_code(
        [RealStep.lost_updates],
        words.snippet_lost_updates.format(name=name, format=format, rate=float(rate)),
        lambda: str(shares[format]),
    )


def lost_told(rate: str, format: str, shares: Mapping[str, float], weights: int) -> str:
    """Return in a sentence which share of the weights stays as it is."""
    others = [
        words.update_other.format(format=kind, lost=kit.percent(share))
        for kind, share in shares.items()
        if kind != format
    ]
    return words.update_read.format(
        rate=rate,
        format=format,
        lost=kit.percent(shares[format]),
        weights=kit.count(weights, "weight"),
        others=" and in ".join(others),
    )


@kit.kept(64)
def figure_of(bundled: engine.Bundled, rate: str, format: str, mode: kit.Mode) -> kit.Figure:
    """Return how large the updates are beside the distance to the next number."""
    powers, counts = update_steps(step_of(bundled), FORMATS[format], float(rate))
    low = powers < HALF
    under, over = words.update_names
    groups = [
        PowerBars(under, powers[low], counts[low], "key"),
        PowerBars(over, powers[~low], counts[~low], "value"),
    ]
    return power_bars(groups, words.update_axes, mode)


@kit.kept(8)
def curves_of(bundled: engine.Bundled, mode: kit.Mode) -> kit.Figure:
    """Return the share of weights that stay against the learning rate, a line a format."""
    drawn = [
        Line(words.updated_in[kind], RATES, shares, number)
        for number, (kind, shares) in enumerate(shares_of(bundled).items())
    ]
    return lines(drawn, words.lost_axes, mode, logarithmic=(True, False), hover="%{y:.2%}")
