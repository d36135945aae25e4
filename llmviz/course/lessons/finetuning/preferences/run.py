"""The training on pairs while the learner watches: margin, distance, texts, and runs compared."""

import math

import pandas as pd
import streamlit as st

from llmviz.course.figures.adapters import Curve, lines
from llmviz.course.lessons.finetuning.preferences import words
from llmviz.course.lessons.finetuning.training_cost import tell_cost
from llmviz.course.lessons.finetuning.tuned_model import base
from llmviz.course.ui import engine, kit
from llmviz.finetuning.adapted import adapted_by
from llmviz.finetuning.plan import BASE, LoraConfig
from llmviz.finetuning.preference_run import (
    BATCH,
    HELD_OUT,
    OWN_TEXTS,
    PROMPTS,
    Learned,
    Look,
    looks_every,
    pairs_for,
)
from llmviz.models import GPT

KEY = "finetuning.preferences.run"
RUNS = f"{KEY}.done"  # in the session: how runs that have ended went, by their settings
RANK = 8
KEPT_RUNS = 6
ROLES = ("weights", "query", "key", "value", "accent", "residual")

Settings = tuple[str, int, str]  # rule, updates, β as the link writes it
Course = tuple[tuple[float, float], ...]  # at each look: the distance, the share of right pairs


@kit.kept(12)
def run_of(rule: str, updates: int, beta: str) -> kit.Job:
    """Return a training in a process of its own; the same one is run only once."""
    target = "llmviz.finetuning.preference_run:preference_run"
    more = {"rank": RANK, "base": BASE}
    return kit.training_jobs().start(target, rule=rule, steps=updates, beta=float(beta), **more)


def given(state: kit.PageState) -> Settings:
    """Return what makes a run."""
    return state["rule"], state["preferupdates"], state["beta"]


def looks(job: kit.Job) -> list[Look]:
    """Return how the model was at each look so far."""
    return [result for result in list(job.results) if isinstance(result, Look)]


def model_of(state: kit.PageState) -> GPT | None:
    """Return the model that the learner's run ended with; None before."""
    if not state["prefer"]:
        return None
    job = kit.job_for(state, "prefer", run_of, given(state))
    done = job.over and any(isinstance(result, Learned) for result in job.results)
    return _model(job, base()) if done else None


@kit.kept(4)
def _model(job: kit.Job, bundled: engine.Bundled) -> GPT:
    (learned,) = (result for result in job.results if isinstance(result, Learned))
    return adapted_by(bundled.model, LoraConfig(RANK, 2.0 * RANK), learned.pairs)


def draw(state: kit.PageState) -> None:
    """Show the controls, the button and the run."""
    updates = state["preferupdates"]
    line = {"pairs": pairs_for(updates), "batch": BATCH, "every": looks_every(updates)}
    line |= {"held_out": HELD_OUT, "prompts": PROMPTS}
    kit.section(words.train, **line)
    anew = state.setter(prefer=False)
    st.slider(words.updates, step=8, width=300, **state.ranged("preferupdates", then=anew))
    tell_cost(words.cost, 2 * BATCH * updates, updates=updates)
    kit.live(
        state,
        "prefer",
        run_of,
        given(state),
        lambda job: _draw_results(state, job),
        start=words.start,
        share=lambda job: looks(job)[-1].step / updates if looks(job) else 0.0,
    )


def _draw_results(state: kit.PageState, job: kit.Job) -> None:
    so_far = looks(job)
    if not so_far:
        return
    left, right = st.columns(2, gap="medium")
    figures = run_figures(job, len(so_far), kit.theme())
    for place, figure, name in zip((left, right), figures, ("margin", "moved"), strict=True):
        place.plotly_chart(figure, key=f"{KEY}.{name}", theme=None)
    kit.prose(report(so_far[-1]))
    _texts(state, job, so_far)
    if job.over and so_far[-1].step == state["preferupdates"]:
        kit.section(words.over)
        kit.prose(over(so_far))
        _compared(state, so_far)


def report(last: Look) -> str:
    """Return where a run stands, in a sentence."""
    times = math.exp(min(50.0, last.divergence))
    return words.read.format(
        updates=last.step,
        seconds=last.seconds,
        preferred=kit.percent(last.preferred),
        moved=last.divergence,
        own=OWN_TEXTS,
        times=f"{times:,.2f}" if times < 100 else f"{times:,.0f}",
    )


def over(so_far: list[Look]) -> str:
    """Return how far the model went on after as many pairs were right as ever would be."""
    best = max(so_far, key=lambda look: (look.preferred, -look.step))
    kind = "never" if not best.preferred else "end" if best is so_far[-1] else "before"
    moved = words.over_best[kind].format(
        share=kit.percent(best.preferred),
        step=best.step,
        then=best.divergence,
        now=so_far[-1].divergence,
    )
    score = words.over_score.format(first=_score(so_far[0]), last=_score(so_far[-1]))
    return f"{moved} {score}"


def _score(look: Look) -> str:
    return kit.signed(sum(ending.score for ending in look.endings) / len(look.endings))


@kit.kept(32)
def run_figures(job: kit.Job, count: int, mode: kit.Mode) -> tuple[kit.Figure, kit.Figure]:
    """Return the margin and loss, and the distance, over the first `count` looks of a run."""
    so_far = looks(job)[:count]
    steps = [look.step for look in so_far]
    margin, loss = words.margin_names
    first = [
        Curve(margin, steps, [look.margin for look in so_far], "value", marks=True),
        Curve(loss, steps, [look.loss for look in so_far], "accent", marks=True),
    ]
    moved = [look.divergence for look in so_far]
    second = [Curve(words.moved_name, steps, moved, "weights", marks=True)]
    return lines(first, words.margin_axes, mode), lines(second, words.moved_axes, mode)


def _texts(state: kit.PageState, job: kit.Job, so_far: list[Look]) -> None:
    kit.section(words.texts.title, f"{words.texts_text} {words.scores[state['rule']]}")
    number = min(state["pair"], PROMPTS) - 1
    st.code(so_far[0].endings[number].story, language=None, wrap_lines=True)
    st.table(texts_of(job, len(so_far), number), border="horizontal", hide_index=True)


@kit.kept(32)
def texts_of(job: kit.Job, count: int, number: int) -> pd.DataFrame:
    """Return the endings of one story at the first `count` looks of a run."""
    rows = [
        (
            look.step,
            f"{look.divergence:.3f}",
            f"{look.endings[number].score:g}".replace("-", "−"),
            kit.escape_markdown(look.endings[number].text) or words.nothing,
        )
        for look in looks(job)[:count]
    ]
    return pd.DataFrame(rows, columns=list(words.text_columns))


def _compared(state: kit.PageState, so_far: list[Look]) -> None:
    done: dict[Settings, Course] = st.session_state.setdefault(RUNS, {})
    done[given(state)] = tuple((look.divergence, look.preferred) for look in so_far)
    while len(done) > KEPT_RUNS:
        done.pop(next(iter(done)))
    same = {settings: path for settings, path in done.items() if settings[0] == state["rule"]}
    kit.prose(f"{kit.bold(words.runs_title)} {words.runs_text}")
    kit.chart(runs_figure(tuple(same.items()), kit.theme()), f"{KEY}.runs")


@kit.kept(32)
def runs_figure(runs: tuple[tuple[Settings, Course], ...], mode: kit.Mode) -> kit.Figure:
    """Return the share of right pairs against the distance, a line for each run."""
    curves = []
    for number, ((_, updates, beta), path) in enumerate(runs):
        name = words.run_name.format(beta=beta, updates=updates)
        curves.append(Curve(name, *zip(*path, strict=True), ROLES[number % len(ROLES)], marks=True))
    return lines(curves, words.share_axes, mode, shares=True)
