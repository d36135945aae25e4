"""A run of the learner's: a size and an amount of text with another seed."""

import streamlit as st

from llmviz.background import DONE
from llmviz.course.lessons.discoveries.scaling import OWN_AMOUNTS, OWN_SIZES, words
from llmviz.course.lessons.discoveries.scaling.laws import (
    fit_of,
    law_figure,
    of_width,
    sizes,
    taken_of,
)
from llmviz.course.lessons.discoveries.scaling.scaling_runs import SIZES
from llmviz.course.ui import kit

KEY = "discoveries.scaling.own"
job_of = kit.job_of(
    "llmviz.course.lessons.discoveries.scaling.scaling_runs:train_one", "size", "amount", "seed"
)


def draw(state: kit.PageState, *, opened: bool) -> None:
    """Show the controls, the button, and the run; opened: whether the law may be seen."""
    kit.section(words.own)
    anew = state.setter(ownscale=False)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        names = dict(zip(OWN_SIZES, (f"{count:,}" for count in sizes()), strict=True))
        st.selectbox(words.own_width, width=160, **state.named("ownwidth", names, anew))
        amounts = {amount: f"{int(amount):,}" for amount in OWN_AMOUNTS}
        st.selectbox(words.own_stories, width=140, **state.named("ownstories", amounts, anew))
        st.number_input(words.own_seed, step=1, width=110, **state.ranged("scaleseed", then=anew))
    size = next(model for model in SIZES if str(model.width) == state["ownwidth"])
    kit.live(
        state,
        "ownscale",
        job_of,
        (size, int(state["ownstories"]), state["scaleseed"]),
        lambda job: _results(state, job, opened=opened),
        start=words.own_start,
        share=lambda job: job.results[-1].step / job.results[-1].steps if job.results else 0.0,
    )


def _results(state: kit.PageState, job: kit.Job, *, opened: bool) -> None:
    if not job.results:
        return
    last = job.results[-1]
    if last.run is None or job.state != DONE:
        kit.prose(words.own_going.format(tokens=last.tokens, loss=last.loss))
        return
    run, taken = last.run, taken_of(state)
    kit.chart(law_figure(taken if opened else None, run, kit.theme()), f"{KEY}.chart", bar=False)
    like = next(other for other in of_width(run.width) if other.stories == run.stories)
    text, numbers = words.own_alone, {"loss": run.loss, "bundled": like.loss}
    if opened:
        try:
            law = fit_of(taken).law
        except ValueError:
            pass
        else:
            text = words.own_read
            numbers["law"] = float(law.loss(getattr(run, taken.counted), run.tokens))
    kit.prose(text.format(**numbers))
