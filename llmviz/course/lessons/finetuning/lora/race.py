"""The same stories sorted by two trainings, LoRA and every weight, while the learner watches."""

import streamlit as st

from llmviz.course.figures.adapters import Curve, lines
from llmviz.course.lessons.finetuning.lora import words
from llmviz.course.lessons.finetuning.lora.lora_race import BATCH, WAYS, RaceEnd, RaceStep
from llmviz.course.lessons.finetuning.lora.ranks import Trained
from llmviz.course.lessons.finetuning.training_cost import tell_cost
from llmviz.course.ui import kit
from llmviz.finetuning.plan import BASE

KEY = "finetuning.lora.race"
ROLES = {"lora": "key", "all": "query"}


@kit.kept(12)
def race_of(task: str, updates: int, rank: int) -> kit.Job:
    """Return both trainings in a process of their own; the same ones are run only once."""
    target = "llmviz.course.lessons.finetuning.lora.lora_race:lora_race"
    alpha = 2.0 * rank
    return kit.training_jobs().start(
        target, task=task, steps=updates, rank=rank, alpha=alpha, base=BASE
    )


def ends_of(job: kit.Job) -> dict[str, RaceEnd]:
    """Return what each way came to, as far as it has."""
    return {end.way: end for end in list(job.results) if isinstance(end, RaceEnd)}


@kit.kept(12)
def trained_by(job: kit.Job, rank: int) -> Trained:
    """Return the changes that a race, which is over, ended with."""
    return Trained({way: end.changes for way, end in ends_of(job).items()}, rank)


def given(state: kit.PageState) -> tuple[str, int, int]:
    """Return what makes a race: the task, the updates, the rank."""
    return state["sorted"], state["updates"], state["rank"]


def trained(state: kit.PageState) -> Trained | None:
    """Return what the learner's race ended with; None before."""
    if not state["race"]:
        return None
    job = kit.job_for(state, "race", race_of, given(state))
    done = job.over and len(ends_of(job)) == len(WAYS)
    return trained_by(job, state["rank"]) if done else None


def draw(state: kit.PageState) -> None:
    """Show the controls, the button, and the race."""
    kit.section(words.race)
    anew = state.setter(race=False)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.selectbox(
            words.task,
            list(words.tasks),
            format_func=words.tasks.__getitem__,
            width=260,
            **state.bind("sorted", then=anew),
        )
        st.slider(words.updates, step=10, width=260, **state.ranged("updates", then=anew))
    updates = state["updates"]
    tell_cost(words.race_cost, len(WAYS) * BATCH * updates, batch=BATCH, updates=updates)
    kit.live(
        state,
        "race",
        race_of,
        given(state),
        lambda job: _draw_results(state, job),
        start=words.race_start,
        share=lambda job: len(job.results) / (len(WAYS) * (state["updates"] + 1)),
    )


def _draw_results(state: kit.PageState, job: kit.Job) -> None:
    results = list(job.results)
    if any(isinstance(step, RaceStep) for step in results):
        figure = curves(tuple(step for step in results if isinstance(step, RaceStep)), kit.theme())
        kit.chart(figure, f"{KEY}.curves")
    ends = ends_of(job)
    if len(ends) < len(WAYS):
        return
    kit.prose("\n\n".join(report(ends[way], state["updates"]) for way in WAYS))
    lora, every = (ends[way] for way in WAYS)
    line = words.race_ratio.format(
        ratio=lora.seconds / every.seconds, share=kit.percent(lora.trained / every.trained)
    )
    kit.prose(f"{line} {words.race_then}")


def report(end: RaceEnd, updates: int) -> str:
    """Return what a way came to, in a sentence."""
    return words.race_ended.format(
        name=words.ways[end.way][0].upper() + words.ways[end.way][1:],
        accuracy=kit.percent(end.accuracy),
        tested=kit.count(end.tested, "new story", "new stories"),
        trained=f"{end.trained:,}",
        seconds=end.seconds,
        updates=updates,
    )


@kit.kept(32)
def curves(steps: tuple[RaceStep, ...], mode: kit.Mode) -> kit.Figure:
    """Return the losses of a race so far, two lines a way."""
    drawn = []
    for way in WAYS:
        own = [update for update in steps if update.way == way]
        checked = [update for update in own if update.held_out is not None]
        held_out, batch = (name.format(way=words.ways[way]) for name in words.race_names)
        x, y = [update.step for update in checked], [update.held_out for update in checked]
        drawn.append(Curve(held_out, x, y, ROLES[way], marks=True))
        x, y = [update.step for update in own], [update.loss for update in own]
        drawn.append(Curve(batch, x, y, ROLES[way], dashed=True))
    return lines(drawn, words.race_axes, mode)
