"""Whether a sentence was in the training text, told from its loss alone."""

import streamlit as st

from llmviz.course.figures.adapters import Curve, lines
from llmviz.course.lessons.errors.memorization import words
from llmviz.course.lessons.errors.read_planted import SEEDS, Remembered, area, bundled, caught
from llmviz.course.ui import kit

KEY = "errors.memorization"


def draw(state: kit.PageState, model: Remembered, passes: int) -> None:
    """Show both curves, the threshold, and what it catches."""
    kit.section(words.membership, count=len(model.read))
    threshold = state["heartloss"]
    kit.chart(both(state["hearttext"], passes, kit.theme()), f"{KEY}.member")
    st.slider(words.threshold, step=0.1, width=320, format="%.1f", **state.ranged("heartloss"))
    hits, alarms = caught(model.read, model.fresh, threshold)
    areas = [area(found.read, found.fresh) for found in (bundled(seed, passes) for seed in SEEDS)]
    low, high = kit.percent(min(areas)), kit.percent(max(areas))
    kit.prose(
        words.member_read.format(
            threshold=threshold,
            hits=kit.percent(hits),
            alarms=kit.percent(alarms),
            area=kit.percent(area(model.read, model.fresh)),
            passes=words.passes_word[passes],
            range=low if low == high else f"{low} to {high}",
        )
    )


@kit.kept(16)
def both(seed: int, passes: int, mode: kit.Mode) -> kit.Figure:
    """Return the share of sentences below each loss, for those that were read and the others."""
    model = bundled(seed, passes)
    curves = []
    for name, losses, role in (
        (words.read_line, model.read, "weights"),
        (words.fresh_line, model.fresh, "residual"),
    ):
        ordered = sorted(losses)
        heights = [(at + 1) / len(ordered) for at in range(len(ordered))]
        curves.append(Curve(name, ordered, heights, role))
    return lines(curves, (words.loss_of, words.share_of), mode, shares=True)
