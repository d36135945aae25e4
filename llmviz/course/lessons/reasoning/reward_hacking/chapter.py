"""Chapter "Rewards that are gamed": the learner's own reward, and the goal that was meant."""

import math

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from llmviz.course.figures.adapters import Curve
from llmviz.course.figures.adapters import lines as curves
from llmviz.course.figures.lines import Line, lines
from llmviz.course.lessons.reasoning import sum_texts
from llmviz.course.lessons.reasoning.reward_hacking import model as own_reward
from llmviz.course.lessons.reasoning.reward_hacking import words
from llmviz.course.lessons.reasoning.reward_hacking.model import (
    BETAS,
    PATTERN,
    UPDATES,
    Gamed,
    GamedRun,
    OwnReward,
    recorded,
)
from llmviz.course.lessons.reasoning.reward_hacking.params import BETAS as OFFERED
from llmviz.course.lessons.reasoning.reward_runs import numbers_in
from llmviz.course.lessons.reasoning.sum_texts import LONGEST, encode, is_right
from llmviz.course.ui import kit

KEY = "reasoning.reward_hacking"
CHART = {"displayModeBar": False}
WEIGHTS = ("payright", "payshort", "payword", "payform")
SAME = 0.02  # shares that differ by less are called about the same
Given = tuple[OwnReward, str, int]  # the reward, β as the link writes it, updates


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro)
    commands = f"{sum_texts.COMMAND}\n{own_reward.COMMAND}"
    if not kit.is_here(words.missing, commands, recorded, sum_texts.bundled):
        return
    kit.section(words.record, pattern=PATTERN)
    opened = kit.predict(goal_question(), f"{KEY}.goal", covers=True)
    if opened:
        _record()
    _own(state)
    if opened:
        kit.seen(words.end, **end())


def begun() -> float:
    """Return the share of right answers before all runs, as their first updates found it."""
    return float(np.mean([run.right[0] for run in recorded()[0.0]]))


def ended(beta: float, name: str) -> float:
    """Return the mean of a number over the ends of the runs with a penalty."""
    return float(np.mean([run.last(name) for run in recorded()[beta]]))


def goal_question() -> kit.Question:
    """Return the question what becomes of right answers where only a form is paid."""
    before, after = begun(), ended(0.0, "right")
    place = 2 if abs(after - before) < SAME else 0 if after > before else 1
    reason = words.goal_reason.format(
        after=kit.percent(after), reward=f"{ended(0.0, 'reward'):.2f}"
    )
    return kit.Question.of(
        words.ask_goal, place, updates=UPDATES, before=kit.percent(before), reason=reason
    )


def _record() -> None:
    kit.prose(words.record_text)
    kit.chart(record_figure(kit.theme()), f"{KEY}.record", bar=False)
    kit.rows_table(record_rows(), words.record_columns)
    kit.prose(record_read())
    kit.prose(words.goodhart)
    kit.show_code(
        [GamedRun],
        "from llmviz.course.lessons.reasoning.reward_hacking.model import recorded\n\n"
        "print([f\"{run.last('right'):.3f}\" for run in recorded()[0.0]])",
        str([f"{run.last('right'):.3f}" for run in recorded()[0.0]]),
    )


@kit.kept(2)
def record_figure(mode: kit.Mode) -> go.Figure:
    """Return the share of right answers by updates, a line for each penalty."""
    drawn = [
        Line(
            words.run_name.format(beta=f"{beta:g}"),
            np.arange(1, UPDATES + 1),
            np.mean([run.right for run in recorded()[beta]], 0),
            at,
            marked=False,
        )
        for at, beta in enumerate(BETAS)
    ]
    axes = (words.updates_axis, words.goal_axis)
    return lines(drawn, axes, mode, hover="%{y:.1%}", height=320)


def record_rows() -> list[tuple[str, ...]]:
    """Return a row for each penalty: numbers of its runs at their end."""
    rows = []
    for beta in BETAS:
        runs = recorded()[beta]
        rows.append(
            (
                f"{beta:g}",
                ", ".join(f"{run.last('reward'):.2f}" for run in runs),
                ", ".join(kit.percent(run.last("right")) for run in runs),
                ", ".join(f"{run.last('divergence'):.3f}" for run in runs),
            )
        )
    return rows


def record_read() -> str:
    """Return what the largest penalty does to right answers, within the error."""
    found = [np.array([run.last("right") for run in recorded()[b]]) for b in (0.0, BETAS[-1])]
    error = math.hypot(*(values.std(ddof=1) / math.sqrt(len(values)) for values in found))
    free, held = (float(values.mean()) for values in found)
    kind = "tie" if abs(held - free) <= 2 * error else "held"
    return words.record_read[kind].format(
        most=BETAS[-1], held=kit.percent(held), free=kit.percent(free)
    )


@kit.kept(12)
def job_of(reward: OwnReward, beta: str, updates: int) -> kit.Job:
    """Return a run in a process of its own; the same one is made only once."""
    target = "llmviz.course.lessons.reasoning.reward_hacking.model:own_run"
    return kit.training_jobs().start(target, reward=reward, beta=float(beta), updates=updates)


def _own(state: kit.PageState) -> None:
    kit.section(words.own, longest=LONGEST)
    anew = state.setter(payrun=False)
    with st.container(horizontal=True, gap="medium"):
        for key, label in zip(
            WEIGHTS, (words.right, words.short, words.word, words.form), strict=True
        ):
            st.slider(label, step=0.25, width=200, **state.ranged(key, then=anew))
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        kit.text_input(state, "payholds", words.holds, anew, width=160)
        kit.text_input(state, "paypattern", words.pattern, anew, width=320)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        names = {beta: beta for beta in OFFERED}
        st.select_slider(words.beta, width=260, **state.named("paybeta", names, anew))
        st.slider(words.updates, step=10, width=260, **state.ranged("payupdates", then=anew))
    try:
        reward = reward_of(state)
    except ValueError as error:
        kit.refuse(error)
        return
    if not any((reward.right, reward.short, reward.word, reward.form)):
        kit.prose(words.no_reward)
    updates = state["payupdates"]
    kit.live(
        state,
        "payrun",
        job_of,
        (reward, state["paybeta"], updates),
        lambda job: _results(job, reward),
        start=words.start,
        share=lambda job: job.results[-1].step / updates if job.results else 0.0,
    )


def reward_of(state: kit.PageState) -> OwnReward:
    """Return the reward of the controls. Raises ValueError for a broken expression."""
    weights = [round(float(state[key]), 4) + 0.0 for key in WEIGHTS]
    return OwnReward(*weights, state["payholds"], state["paypattern"])


def _results(job: kit.Job, reward: OwnReward) -> None:
    found: list[Gamed] = list(job.results)
    if not found:
        return
    columns = st.columns(2, gap="medium")
    for at, figure in enumerate(run_figures(job, len(found), kit.theme())):
        columns[at].plotly_chart(figure, key=f"{KEY}.live.{at}", theme=None, config=CHART)
    last = found[-1]
    kit.prose(
        words.live_read,
        step=last.step,
        seconds=last.seconds,
        reward=kit.signed(last.reward),
        right=kit.percent(last.right),
        length=last.length,
    )
    if last.flat == 1:
        kit.prose(words.live_flat)
    st.caption(f"{words.last_texts} {last.texts[0][0]}")
    kit.rows_table(text_rows(last), words.text_columns)
    if job.over and len(found) > 1:
        kit.prose(live_end(found))


def text_rows(last: Gamed) -> list[tuple[str, ...]]:
    """Return a row for each text of the first group."""
    return [
        (text, kit.signed(paid), words.marks[is_right(numbers_in(encode(prompt)), text)])
        for prompt, text, paid in last.texts
    ]


@kit.kept(32)
def run_figures(job: kit.Job, count: int, mode: kit.Mode) -> tuple[go.Figure, go.Figure]:
    """Return the reward beside the goal, and the distance, over the first updates of a run."""
    found: list[Gamed] = list(job.results)[:count]
    steps = [update.step for update in found]
    paid, goal = words.live_names
    first = [
        Curve(paid, steps, [update.reward for update in found], "weights"),
        Curve(goal, steps, [update.right for update in found], "accent"),
    ]
    second = [Curve(words.far_name, steps, [update.divergence for update in found], "key")]
    return curves(first, words.live_axes, mode), curves(second, words.far_axes, mode)


def live_end(found: list[Gamed]) -> str:
    """Return what became of the reward and of the goal, from the first tenth to the last."""
    tenth = max(1, len(found) // 10)
    parts = found[:tenth], found[-tenth:]
    paid = [np.mean([update.reward for update in part]) for part in parts]
    goal = [float(np.mean([update.right for update in part])) for part in parts]
    rose = paid[1] > paid[0]
    kind = "neither" if not rose else "gamed" if goal[1] < goal[0] else "both"
    return words.live_end[kind].format(first=kit.percent(goal[0]), last=kit.percent(goal[1]))


def end() -> dict[str, object]:
    """Return the numbers of the chapter's end."""
    return {
        "pattern": PATTERN,
        "reward": f"{ended(0.0, 'reward'):.2f}",
        "before": kit.percent(begun()),
        "after": kit.percent(ended(0.0, "right")),
    }
