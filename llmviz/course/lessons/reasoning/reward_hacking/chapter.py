"""Chapter "Rewards that are gamed": a form is paid, the goal is asked for; the learner's reward."""

import math
from typing import Any

import numpy as np
import streamlit as st
from scipy.special import stdtrit

from llmviz.course.lessons.reasoning import sum_texts
from llmviz.course.lessons.reasoning.reward_hacking import BETAS as OFFERED
from llmviz.course.lessons.reasoning.reward_hacking import LEASHES, model, words
from llmviz.course.lessons.reasoning.reward_hacking import model as own_reward
from llmviz.course.lessons.reasoning.reward_runs import numbers_in
from llmviz.course.lessons.reasoning.sum_texts import LONGEST, encode, is_right
from llmviz.course.ui import kit

KEY = "reasoning.reward_hacking"
WEIGHTS = {"right": "payright", "short": "payshort", "word": "payword", "form": "payform"}
PLACES = (1, *range(5, model.UPDATES + 1, 5))  # updates at which the lines are drawn
APART = 0.08  # between the lines of two answers, on average


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the pay and what became of the goal, then let the reader pay."""
    kit.prose(words.hook)
    commands = f"{sum_texts.COMMAND}\n{own_reward.COMMAND}"
    if not kit.is_here(words.missing, commands, model.recorded, sum_texts.bundled):
        return
    beta = float(state["payleash"])
    guess = kit.Guess(f"{KEY}.goal", goal_question(beta))
    shown = guess.open
    with kit.stage("gamed"):
        _curves(beta, guess)
        names = dict(zip(LEASHES, words.leashes, strict=True))
        st.select_slider(words.leash, width=320, **state.named("payleash", names))
    if shown:
        kit.prose(words.caption, **summary(beta))
    guess.ask()
    if shown:
        kit.looks(state, words.looks, f"{KEY}.looks")
    kit.section(words.intro, both=kit.percent(possible()))
    kit.measured(words.how_paid, pattern=model.PATTERN)
    if shown:
        _leashes()
    _own(state)
    if shown:
        kit.seen(words.end, **summary(0.0))


def line(beta: float, name: str) -> list[float]:
    """Return a number of the runs with a penalty at PLACES, the mean of the runs."""
    means = np.mean([getattr(run, name) for run in model.recorded()[beta]], 0)
    return [float(means[at - 1]) for at in PLACES]


def goal_question(beta: float) -> kit.Question | None:
    """Return the question what becomes of right answers; None where the answers are too near.

    The wrong ones are of somebody to whom what looks careful is right as much more often, and of
    one to whom nobody touched the answers.
    """
    paid, right = line(beta, "reward"), line(beta, "right")
    values = {
        "careful": [min(1.0, right[0] + more - paid[0]) for more in paid[1:]],
        "flat": [right[0]] * len(right[1:]),
        "right": right[1:],
    }
    if any(np.ptp([values[name], right[1:]], 0).mean() < APART for name in ("careful", "flat")):
        return None
    return kit.Question(
        words.ask.format(updates=model.UPDATES),
        [words.ask_answers[name] for name in values],
        2,
        [words.ask_reasons[name].format(**summary(beta)) for name in values],
        values=[tuple(drawn) for drawn in values.values()],
    )


def _curves(beta: float, guess: kit.Guess) -> None:
    """Draw the reward of the runs; the hand draws right answers on."""
    guess.line(
        [kit.Drawn(words.paid, PLACES, line(beta, "reward"), "weights")],
        kit.Drawn(words.goal, PLACES, line(beta, "right"), "value"),
        kit.Scale(1, model.UPDATES, words.updates_axis),
        kit.Scale(0, 1, words.share_axis),
        known=1,
        picture=f"{KEY}.curves",
        form="percent",
    )


def ended(beta: float, name: str) -> np.ndarray:
    """Return a number at the end of each run with a penalty."""
    return np.array([run.last(name) for run in model.recorded()[beta]])


def summary(beta: float) -> dict[str, object]:
    """Return the numbers of the runs with a penalty, at their start and their end."""
    return {
        "before": kit.percent(line(beta, "right")[0]),
        "reward": kit.percent(float(ended(beta, "reward").mean())),
        "right": kit.percent(float(ended(beta, "right").mean())),
    }


def possible() -> float:
    """Return the share of sums whose right answer has three digits, as the pay wants it."""
    return float(np.mean([sum(pair) >= 100 for pair in sum_texts.sums()[0]]))


def _leashes() -> None:
    kit.section(words.record)
    cases = []
    for beta in model.BETAS:
        right, said = (
            ended(beta, "right"),
            words.run_name.format(beta=beta, paid=summary(beta)["reward"]),
        )
        cases.append(kit.Case(said, float(right.mean()), dots=tuple(right)))
    kit.case_rows(cases, kit.Axis(0, 0.5, words.goal), key=f"{KEY}.leashes")
    kit.prose(record_read())
    kit.measured(words.how_held)
    kit.prose(words.goodhart)
    code = (
        "from llmviz.course.lessons.reasoning.reward_hacking.model import recorded\n\n"
        "print([f\"{run.last('right'):.3f}\" for run in recorded()[0.0]])"
    )
    kit.show_code([model.GamedRun], code, str([f"{right:.3f}" for right in ended(0.0, "right")]))


def record_read() -> str:
    """Return what the largest penalty does to right answers, within the error."""
    free, held = (ended(beta, "right") for beta in (0.0, model.BETAS[-1]))
    error = math.hypot(*(runs.std(ddof=1) / math.sqrt(len(runs)) for runs in (free, held)))
    gained, chance = held.mean() - free.mean(), error * stdtrit(len(free) + len(held) - 2, 0.975)
    return words.record_read["held" if gained > chance else "worse" if gained < -chance else "tie"]


@kit.cached(12)
def job_of(reward: model.OwnReward, beta: str, updates: int) -> kit.Job:
    """Return a run in a process of its own; the same one is made only once."""
    target = "llmviz.course.lessons.reasoning.reward_hacking.model:own_run"
    return kit.training_jobs().start(target, reward=reward, beta=float(beta), updates=updates)


def _own(state: kit.PageState) -> None:
    kit.section(words.own, longest=LONGEST)
    anew = state.setter(payrun=False)
    labels = words.right, words.short, words.word, words.form
    with st.container(horizontal=True, gap="medium"):
        for key, label in zip(WEIGHTS.values(), labels, strict=True):
            st.slider(label, step=0.25, width=200, **state.ranged(key, then=anew))
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        kit.text_input(state, "payholds", words.holds, anew, width=160)
        kit.text_input(state, "paypattern", words.pattern, anew, width=320)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        names = {beta: beta for beta in OFFERED}
        st.select_slider(words.beta, width=260, **state.named("paybeta", names, anew))
        st.slider(words.updates, step=10, width=260, **state.ranged("payupdates", then=anew))
    try:
        weights: dict[str, Any] = {
            key: round(float(state[name]), 4) + 0.0 for key, name in WEIGHTS.items()
        }
        held = {"holds": state["payholds"], "pattern": state["paypattern"]}
        reward = model.OwnReward(**(weights | held))
    except ValueError as error:
        kit.refuse(error)
        return
    if not any(weights.values()):
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


def _results(job: kit.Job, reward: model.OwnReward) -> None:
    found: list[model.Gamed] = list(job.results)
    if not found:
        return
    last = found[-1]
    paid, right = live_lines(found)
    y = kit.Scale(min(0.0, *paid.y), max(1.0, *paid.y), words.share_axis)
    x = kit.Scale(0, last.step, words.updates_axis)
    kit.draw_on([paid, right], x, y, key=f"{KEY}.live", words={"picture": right.label})
    kit.prose(
        words.live_read,
        step=last.step,
        seconds=last.seconds,
        reward=kit.signed(last.reward),
        right=kit.percent(last.right),
    )
    if last.flat == 1:
        kit.prose(words.live_flat)
    st.caption(f"{words.last_texts} {last.texts[0][0]}")
    most = max(1.0, *(abs(paid) for *_, paid in last.texts))
    axis = kit.Axis(-most if any(paid < 0 for *_, paid in last.texts) else 0, most, words.your_pay)
    kit.case_rows(text_cases(last), axis, key=f"{KEY}.texts", form="figure", mark="dot")
    if job.over and len(found) > 1:
        kit.prose(live_end(found))
    kit.measured(words.how_live, length=last.length, far=last.divergence)


def live_lines(found: list[model.Gamed]) -> list[kit.Drawn]:
    """Return the reward and the goal over the updates of a run, as lines."""
    steps = [update.step for update in found]
    return [
        kit.Drawn(words.your_pay, steps, [update.reward for update in found], "weights"),
        kit.Drawn(words.goal, steps, [update.right for update in found], "value"),
    ]


def text_cases(last: model.Gamed) -> list[kit.Case]:
    """Return a line for each text of the first group with its pay; the right ones are lit."""
    return [
        kit.Case([(text, is_right(numbers_in(encode(prompt)), text))], paid)
        for prompt, text, paid in last.texts
    ]


def live_end(found: list[model.Gamed]) -> str:
    """Return what became of the reward and of the goal, from the first tenth to the last."""
    tenth = max(1, len(found) // 10)
    parts = found[:tenth], found[-tenth:]
    paid = [np.mean([update.reward for update in part]) for part in parts]
    goal = [float(np.mean([update.right for update in part])) for part in parts]
    rose = paid[1] > paid[0]
    kind = "neither" if not rose else "gamed" if goal[1] < goal[0] else "both"
    return words.live_end[kind].format(first=kit.percent(goal[0]), last=kit.percent(goal[1]))
