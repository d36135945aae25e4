"""Chapter "Who does it think is …": he against she after thirty jobs, in three sentences each."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from llmviz.course.lessons.real import source
from llmviz.course.lessons.real import words as all_words
from llmviz.course.lessons.real.people import words
from llmviz.course.lessons.real.people.model import FORMS, PAIR, Job, measure
from llmviz.course.lessons.real.reader import chances
from llmviz.course.ui import kit

KEY = "real.people"
ASKED = ("midwife", "doctor")  # both are told after the guess
SHOWN = ("plumber", "lawyer", "nurse")  # besides, on the first screen
LEAST = 0.05  # of the chance that a pair has together; with less its dot is pale
Jobs = tuple[Job, ...]


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show some jobs on the axis from he to she, the guess on two of them, then all."""
    kit.prose(words.hook, first=PAIR[0], second=PAIR[1])
    jobs: Jobs = source.record("people", *PAIR)
    by_name = {job.job: job for job in jobs}
    guess = kit.Guess(KEY, question(by_name))
    with st.container():  # the picture stays in view as far as its looks
        with kit.stage("people", stays=True):
            guess.cases(
                [case_of(by_name[name]) for name in (*ASKED, *SHOWN)],
                axis(*PAIR),
                veiled=range(len(ASKED)),
                picture=f"{KEY}.rows",
                mark="dot",
            )
            kit.prose(
                words.caption, forms=kit.listed([kit.quote(form.format(job="…")) for form in FORMS])
            )
        guess.ask()
        source.about()
        if guess.open:
            kit.looks(state, words.looks, f"{KEY}.looks", **summary(by_name))
    kit.section(words.all_jobs)
    if guess.open:
        ordered = sorted(jobs, key=lambda job: job.mean)
        kit.case_rows([case_of(job) for job in ordered], axis(*PAIR), key=f"{KEY}.all", mark="dot")
        kit.prose(words.all_read, **summary(by_name))
        slots = {"forms": [form.format(job=ASKED[0]) for form in FORMS], "pair": PAIR}
        prints = f"{by_name[ASKED[0]].mean:.1%}"
        kit.show_code([measure, chances], source.snippet(words.snippet, **slots), prints)
    kit.section(words.own)
    _own(state)
    kit.section(words.conclude)
    source.proved("errors", "people")
    if guess.open:
        kit.seen(words.end, **summary(by_name))


def axis(first: str, second: str) -> kit.Axis:
    """Return the axis from the first word to the second."""
    return kit.Axis(0, 1, words.axis.format(first=first, second=second))


def case_of(job: Job) -> kit.Case:
    """Return a job as a line: the mean, and each of the three sentences as a dot."""
    return kit.Case(job.job, job.mean, (min(job.shares), max(job.shares)), job.shares)


def question(jobs: dict[str, Job]) -> kit.Question:
    """Ask for the share of she for both jobs.

    The wrong answers: of somebody to whom a model is fair, to whom it knows only clichés, and to
    whom doctors are men.
    """
    right = tuple(jobs[name].mean for name in ASKED)
    reasons = {
        right: words.ask_right,
        (0.5, 0.5): words.ask_fair,
        (1.0, 0.0): words.ask_cliche,
        (0.75, 0.25): words.ask_less,
    }
    shown = kit.listed([f"{name} {kit.whole_percent(jobs[name].mean)}" for name in ASKED])
    names = dict(zip(reasons, (shown, *words.answers), strict=True))
    return kit.Question.among(words.ask, reasons, right, names.__getitem__, **summary(jobs))


def facts() -> dict[str, Any]:
    """Return what other lessons say of this chapter's record."""
    return summary({job.job: job for job in source.record("people", *PAIR)})


def summary(jobs: dict[str, Job]) -> dict[str, Any]:
    """Return what is said of the jobs."""
    ordered = sorted(jobs.values(), key=lambda job: job.mean)
    wide = max(jobs.values(), key=lambda job: max(job.shares) - min(job.shares))
    return {name: kit.whole_percent(jobs[name].mean) for name in ASKED} | {
        "count": len(jobs),
        "least": ordered[0].job,
        "most": ordered[-1].job,
        "above": sum(job.mean > 0.5 for job in ordered),
        "wide": wide.job,
        "wide_low": kit.whole_percent(min(wide.shares)),
        "wide_high": kit.whole_percent(max(wide.shares)),
        "first": PAIR[0],
        "second": PAIR[1],
    }


def _own(state: kit.PageState) -> None:
    fields = dict(zip(("peoplejob", "peoplefirst", "peoplesecond"), words.fields, strict=True))
    source.own(state, fields, width=180)
    job, first, second = (state[field].strip() for field in fields)
    recorded = {listed.job: listed for listed in source.record("people", *PAIR)}
    found: Job | None = None
    if not job:
        kit.inform(words.no_job, ":material/edit:")
    elif (first, second) == PAIR and job in recorded:
        found = recorded[job]
    elif (measured := source.measured("people", first, second, job)) is not None:
        (found,) = measured
    if found is None:
        kit.prose(all_words.instead)
        (first, second), found = PAIR, recorded[state.params["peoplejob"].default]
    both = sum(found.both) / len(found.both)
    case = case_of(found) if both >= LEAST else replace(case_of(found), role="residual")
    kit.case_rows([case], axis(first, second), key=f"{KEY}.own", mark="dot")
    pair = {"first": kit.quote(first), "second": kit.quote(second)}
    kit.prose(words.own_read["said" if both >= LEAST else "hardly"], both=kit.percent(both), **pair)
