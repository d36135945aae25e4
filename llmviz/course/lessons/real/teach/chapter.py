"""Chapter "Teach it your style": LoRA on a text of one's own, and what the model forgets."""

from __future__ import annotations

from typing import Any

import streamlit as st

from llmviz.course.components.draw_on.view import draw_on
from llmviz.course.lessons.real import source
from llmviz.course.lessons.real.defaults import BEGINNING, LOG
from llmviz.course.lessons.real.teach import words
from llmviz.course.lessons.real.teach.model import (
    LEAST,
    STEPS,
    Forgot,
    Moment,
    Taught,
    checked,
    taught,
)
from llmviz.course.ui import kit

KEY = "real.teach"
RESULTS = STEPS + 2  # of a whole training: a moment before it, one a step, and what was forgot


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show what it writes before and after, the guess about capitals, and one's own text."""
    kit.prose(words.hook)
    record: Taught = source.record("teach", LOG, BEGINNING)
    guess = kit.Guess(KEY, question(record.forgot))
    with kit.stage("teach"):
        guess.cases(
            [
                kit.Case(words.before, record.forgot.before),
                kit.Case(words.after, record.forgot.after),
            ],
            kit.Axis(0, record.forgot.asked, words.capitals_axis.format(asked=record.forgot.asked)),
            veiled=[1],
            picture=f"{KEY}.capitals",
            form="count",
        )
        _texts(BEGINNING, record.moments)
    guess.ask()
    source.about()
    if guess.open:
        kit.looks(state, words.looks, f"{KEY}.looks")
    kit.section(words.own, least=LEAST)
    _own(state)
    kit.section(words.curve)
    _curve(record.moments)
    kit.prose(words.curve_read, **summary(record))
    if guess.open:
        prints = f"{record.forgot.before} {record.forgot.after}"
        kit.show_code([taught], source.snippet(words.snippet), prints)
        kit.section(words.forgets)
    source.proved("finetuning", "lora")
    if guess.open:
        kit.seen(words.end, **summary(record))


def written(moments: tuple[Moment, ...]) -> list[Moment]:
    """Return the moments at which something was written."""
    return [moment for moment in moments if moment.writes]


def facts() -> dict[str, Any]:
    """Return what other lessons say of this chapter's record."""
    return summary(source.record("teach", LOG, BEGINNING))


def summary(taught: Taught) -> dict[str, Any]:
    """Return what is said of the recorded training."""
    last = taught.moments[-1]
    return {
        "steps": last.step,
        "seconds": f"{last.seconds:.0f}",
        "loss_before": kit.local(f"{taught.moments[0].loss:.1f}"),
        "loss_after": kit.local(f"{last.loss:.1f}"),
        "before": taught.forgot.before,
        "after": taught.forgot.after,
        "asked": taught.forgot.asked,
    }


def question(forgot: Forgot) -> kit.Question:
    """Ask how many capitals it still names. Wrong are: none lost, none left."""
    reasons = {
        forgot.after: words.ask_right,
        forgot.before: words.ask_same,
        0: words.ask_gone,
    }
    return kit.Question.among(
        words.ask,
        reasons,
        forgot.after,
        "{:.0f}".format,
        scale=True,
        before=forgot.before,
        asked=forgot.asked,
    )


def _texts(begin: str, moments: tuple[Moment, ...]) -> None:
    """Show what is written behind a beginning, before the training and after it."""
    first, *_, last = (*written(moments), *written(moments)[-1:])
    for column, moment, head in zip(
        st.columns(2, gap="large"), (first, last), words.heads, strict=True
    ):
        with column:
            kit.prose(head.format(steps=moment.step))
            kit.prose(
                words.writes,
                begin=kit.quote(begin, 80),
                text=kit.quote(moment.writes.strip(), 240),
            )


def _curve(moments: tuple[Moment, ...]) -> None:
    losses = [moment.loss for moment in moments]
    draw_on(
        [kit.Drawn(words.loss_line, [moment.step for moment in moments], losses, "loss")],
        kit.Scale(0, max(1, moments[-1].step), words.step_axis),
        kit.Scale(0, 1.05 * max(losses), words.loss_axis),
        key=f"{KEY}.curve.{len(moments)}",
        words={"picture": words.loss_axis},
    )


@kit.cached(8)
def job_of(text: str, begin: str) -> kit.Job:
    """Return the training in a process of its own; the same one is run only once."""
    target = "llmviz.course.lessons.real.teach.model:teach"
    return kit.training_jobs().start(target, text=text, prompt=begin)


def _own(state: kit.PageState) -> None:
    """Show the fields of one's own text, the button, and what the model writes while it learns."""
    anew = state.setter(teachgo=False)
    kit.text_area(state, "teachtext", words.own_label, anew, height=140)
    kit.text_input(state, "teachbegin", words.begin_label, anew, width=420)
    given = state["teachtext"].strip(), state["teachbegin"].strip()
    reader = source.here()
    if reader is None:
        kit.inform(words.needs_model, ":material/inventory_2:")
        kit.offer_real_model(f"{KEY}.get")
        return
    if not all(given):
        kit.inform(words.nothing, ":material/edit:")
        return
    if kit.or_refused(checked, reader, *given) is None:
        return
    kit.live(
        state,
        "teachgo",
        job_of,
        given,
        lambda job: _going(job, given[1]),
        start=words.start,
        share=lambda job: len(job.results) / RESULTS,
    )


def _going(job: kit.Job, begin: str) -> None:
    results = list(job.results)
    moments = tuple(result for result in results if isinstance(result, Moment))
    if not moments:
        return
    _texts(begin, moments)
    for forgot in (result for result in results if isinstance(result, Forgot)):
        kit.prose(words.forgot, **forgot._asdict())
