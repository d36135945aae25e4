"""A model of the learner's that learns to copy, or does not, while the learner watches."""

import plotly.graph_objects as go
import streamlit as st

from llmviz.course.figures.lines import lines
from llmviz.course.lessons.discoveries.induction import film, words
from llmviz.course.lessons.discoveries.induction.curves import line
from llmviz.course.lessons.discoveries.induction.induction_record import ONE, TWO, learned
from llmviz.course.lessons.discoveries.induction.params import OWN_HEADS, OWN_LAYERS
from llmviz.course.ui import kit
from llmviz.interpretability.induction import Copier, Learned

KEY = "discoveries.induction.own"
job_of = kit.job_of("llmviz.interpretability.induction:learn", "copier")


def draw(state: kit.PageState, *, opened: bool) -> None:
    """Show the controls, the button, and the loss while the model learns.

    opened: whether the bundled trainings may be seen beside it.
    """
    kit.section(words.own)
    anew = state.setter(copyown=False)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        for key, label, texts in (
            ("copylayers", words.own_layers, OWN_LAYERS),
            ("copyheads", words.own_heads, OWN_HEADS),
        ):
            st.selectbox(label, width=160, **state.named(key, {text: text for text in texts}, anew))
        st.number_input(words.own_seed, step=1, width=110, **state.ranged("copyseed", then=anew))
    copier = Copier(int(state["copylayers"]), int(state["copyheads"]), seed=state["copyseed"])
    kit.live(
        state,
        "copyown",
        job_of,
        (copier,),
        lambda job: _results(copier, job, opened),
        start=words.own_start,
        share=lambda job: job.results[-1].step / copier.steps if job.results else 0.0,
    )


def _results(copier: Copier, job: kit.Job, opened: bool) -> None:
    moments = list(job.results)
    if not moments:
        return
    own = Learned(copier, moments)
    if len(moments) > 1:
        kit.chart(figure(own, kit.theme(), opened=opened), f"{KEY}.loss", bar=False)
    last = own.last
    if not job.over:
        kit.prose(words.own_going, step=last.step, steps=copier.steps, loss=last.repeat_loss)
        return
    kit.rows_table(film.off_rows(last), words.off_columns)
    kit.prose(
        words.own_read,
        step=last.step,
        loss=last.repeat_loss,
        previous=kit.percent(float(last.previous.max())),
        induction=kit.percent(float(last.induction.max())),
    )


def figure(own: Learned, mode: kit.Mode, *, opened: bool) -> go.Figure:
    """Return the loss on letters that repeat, beside that of the bundled models if opened."""
    drawn = [line(own, words.own_line, 2)]
    if opened:
        pairs = ((TWO, words.two_line, 0), (ONE, words.one_line, 1))
        drawn += [
            line(learned(kind), title.format(number=1), n, dashed=True) for kind, title, n in pairs
        ]
    return lines(drawn, (words.step_axis, words.loss_axis), mode, logarithmic=(True, False))
