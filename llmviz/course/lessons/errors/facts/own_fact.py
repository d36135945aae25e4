"""A fact of the learner's, put into a world and read by a new model."""

from functools import partial

import streamlit as st

from llmviz.corpus.invented import TOWNS, Person, first_names, surnames
from llmviz.course.figures.adapters import Curve, lines
from llmviz.course.lessons.errors.facts import words
from llmviz.course.lessons.errors.read_facts import CHOICES, NOBODY, Progress, Reading
from llmviz.course.ui import kit

KEY = "errors.facts"


@kit.kept(12)
def job_of(own: Person, world: int, passes: int) -> kit.Job:
    """Return the training in a process of its own; the same one is run only once."""
    target = "llmviz.course.lessons.errors.read_facts:read_world"
    return kit.training_jobs().start(target, reading=Reading(world, passes=passes), own=own)


def draw(state: kit.PageState) -> None:
    """Show the controls, the button, and what the new model says while it reads."""
    kit.section(words.own, world=state["factworld"] + 1)
    anew = state.setter(ownread=False)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        for key, label, names in (
            ("ownfirst", words.own_first, first_names()),
            ("ownlast", words.own_last, surnames()),
            ("owntown", words.own_town, TOWNS),
        ):
            st.selectbox(label, width=180, **state.named(key, {name: name for name in names}, anew))
        st.slider(words.own_times, width=220, **state.ranged("owntimes", then=anew))
        st.slider(words.own_passes, width=160, **state.ranged("ownpasses", then=anew))
    own = Person(*(state[f"own{part}"] for part in ("first", "last", "town", "times")))
    kit.live(
        state,
        "ownread",
        job_of,
        (own, state["factworld"], state["ownpasses"]),
        partial(_draw_results, own, state["ownpasses"]),
        start=words.own_start,
        share=lambda job: job.results[-1].step / job.results[-1].steps if job.results else 0.0,
    )


def _draw_results(own: Person, passes: int, job: kit.Job) -> None:
    read: list[Progress] = list(job.results)
    if not read:
        return
    at = TOWNS.index(own.town)
    steps = [look.step for look in read]
    others = [max(p for place, p in enumerate(look.own) if place != at) for look in read]
    rights = [look.own[at] for look in read]
    drawn = [
        Curve(words.own_right, steps, rights, "value", marks=len(read) == 1),
        Curve(words.own_best, steps, others, "key", marks=len(read) == 1),
    ]
    kit.chart(
        lines(drawn, (words.own_axis, words.own_chance), kit.theme(), shares=True), f"{KEY}.own"
    )
    kit.prose(report(own, passes, read[-1]))


def report(own: Person, passes: int, last: Progress) -> str:
    """Return what the model says of the learner's person, in a sentence."""
    best = int(last.own.argmax())
    at = TOWNS.index(own.town)
    how = "declined" if best == NOBODY else "right" if best == at else "wrong"
    return words.own_read[how].format(
        steps=last.step,
        name=own.name,
        said=CHOICES[best],
        chance=kit.percent(last.own[best]),
        right=kit.percent(last.own[at]),
        times=often(own.times),
        passes=often(passes),
    )


def often(number: int) -> str:
    """Return how often, in words."""
    known = words.times_word
    return known[number if number in known else "more"].format(count=f"{number:,}")
