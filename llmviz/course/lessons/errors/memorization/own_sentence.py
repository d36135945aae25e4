"""A sentence of the learner's, planted into a text that a new model reads."""

from functools import partial

import streamlit as st

from llmviz.corpus.planted import PLAIN, Planted, own_sentence
from llmviz.course.figures.adapters import Curve, lines
from llmviz.course.lessons.errors.facts.own_fact import often
from llmviz.course.lessons.errors.memorization import words
from llmviz.course.lessons.errors.read_planted import OWN_PASSES, Progress
from llmviz.course.ui import kit

KEY = "errors.memorization"


@kit.kept(12)
def job_of(own: Planted, seed: int) -> kit.Job:
    """Return the training in a process of its own; the same one is run only once."""
    return kit.training_jobs().start(
        "llmviz.course.lessons.errors.read_planted:read_own", own=own, seed=seed
    )


def draw(state: kit.PageState) -> None:
    """Show the field, the count, the button, and what the new model keeps while it reads."""
    kit.section(words.own, plain=PLAIN)
    anew = state.setter(heartread=False)
    kit.text_input(state, "heartown", words.own_text, then=anew)
    st.slider(words.own_times, width=320, **state.ranged("heartowntimes", then=anew))
    own = kit.or_refused(own_sentence, state["heartown"], state["heartowntimes"])
    if own is None:
        return
    kit.live(
        state,
        "heartread",
        job_of,
        (own, state["hearttext"]),
        partial(_draw_results, own),
        start=words.own_start,
        share=lambda job: job.results[-1].step / job.results[-1].steps if job.results else 0.0,
    )


def _draw_results(own: Planted, job: kit.Job) -> None:
    read: list[Progress] = list(job.results)
    if not read:
        return
    steps, losses = [look.step for look in read], [look.own.loss for look in read]
    curve = Curve(words.own_loss, steps, losses, "weights", marks=len(read) == 1)
    kit.chart(lines([curve], (words.own_axis, words.own_loss), kit.theme()), f"{KEY}.own")
    kit.prose(report(own, read[-1]))


def report(own: Planted, last: Progress) -> str:
    """Return how much of the learner's sentence the model has by heart."""
    everything, needed = len(last.own.tokens), last.own.needed
    how = (
        "one"
        if everything == 1
        else "whole"
        if needed <= 1
        else "none"
        if needed >= everything
        else "some"
    )
    text = words.own_read[how].format(
        steps=last.step, rest=everything - 1, all=everything, needed=needed
    )
    return text + words.own_loss_read.format(
        loss=last.own.loss, times=f"{own.times:,}", passes=often(OWN_PASSES)
    )
