"""A toy model of the learner's: how many features, dimensions, and how often a feature is on."""

import plotly.graph_objects as go
import streamlit as st

from llmviz.course.figures.bars import named_bars
from llmviz.course.lessons.discoveries.superposition import words
from llmviz.course.lessons.discoveries.superposition.directions import draw_film, report
from llmviz.course.lessons.discoveries.superposition.model import Learned, Toy
from llmviz.course.lessons.discoveries.superposition.params import OWN_DENSITIES, OWN_RATIOS
from llmviz.course.ui import kit

KEY = "discoveries.superposition.own"
job_of = kit.job_of("llmviz.course.lessons.discoveries.superposition.model:learn", "toy")


def draw(state: kit.PageState) -> None:
    """Show the controls, the button, and the directions while they are learned."""
    kit.section(words.own)
    anew = state.setter(owntoy=False)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.slider(words.own_features, width=200, **state.ranged("ownfeatures", then=anew))
        st.slider(words.own_dims, width=160, **state.ranged("owndims", then=anew))
        for key, label, texts in (
            ("owndensity", words.own_density, OWN_DENSITIES),
            ("ownratio", words.own_ratio, OWN_RATIOS),
        ):
            st.selectbox(label, width=140, **state.named(key, {text: text for text in texts}, anew))
        st.number_input(words.own_seed, step=1, width=110, **state.ranged("ownseed", then=anew))
    toy = toy_of(state)
    kit.live(
        state,
        "owntoy",
        job_of,
        (toy,),
        lambda job: _results(toy, job),
        start=words.own_start,
        share=lambda job: job.results[-1].step / job.results[-1].steps if job.results else 0.0,
    )


def toy_of(state: kit.PageState) -> Toy:
    """Return what the controls ask for."""
    return Toy(
        state["ownfeatures"],
        state["owndims"],
        float(state["owndensity"]),
        float(state["ownratio"]),
        state["ownseed"],
    )


def _results(toy: Toy, job: kit.Job) -> None:
    moments = list(job.results)
    if not moments:
        return
    learned = Learned(toy, moments)
    last = learned.last
    if not job.over:
        kit.prose(words.own_going.format(step=last.step, steps=last.steps, loss=last.loss))
    if toy.dimensions == 2:
        draw_film(learned, f"{KEY}.film")
    kit.chart(shares(learned, kit.theme()), f"{KEY}.shares")
    kit.prose(report(learned))
    total = float(learned.dimensions_each.sum())
    kit.prose(words.own_shares.format(total=total, dimensions=toy.dimensions))


def shares(learned: Learned, mode: kit.Mode) -> go.Figure:
    """Return how much of a dimension each feature has for itself, as bars."""
    each = learned.dimensions_each
    names = [words.feature.format(number=number + 1) for number in range(len(each))]
    axis = {"title": {"text": words.own_axis, "standoff": 8}, "range": [0, 1.1]}
    texts = [f"{value:.2f}" for value in each]
    return named_bars(names, each.tolist(), texts, kit.role_color("weights", mode), axis, mode)
