"""Three arms below the sums: one pull is guessed, then the policy gradient in numbers."""

from typing import Any

import numpy as np
import streamlit as st

from llmviz.course import components as lv
from llmviz.course.lessons.reasoning.reinforce import RATES, words
from llmviz.course.lessons.reasoning.reinforce import bandit_model as model
from llmviz.course.ui import kit
from llmviz.sampling.steps import softmax

KEY = "reasoning.bandit"
GUESS = f"{KEY}.first"
APART = 0.01  # between two answers
TINY = 1e-12  # two variances that differ by less are called equal
POSITIVE = ("probabilities", "after", "hits")
PAYS = ("paya", "payb", "payc")
LAYOUT = (
    ("logits", "→", "probabilities", None, None),
    ("hits", None, "direction", None, None),
    ("rewards", "−", "baseline", "=", "advantage"),
    ("gradient", "→", "drawn", "→", "step"),
    ("new", "→", "after", None, None),
)
Rewards = tuple[float, float, float]
Given = tuple[Rewards, str, float, int]
"""What makes a run: rewards, baseline, learning rate, seed."""


def draw(state: kit.PageState) -> None:
    """Show what one pull does to the arm that pays least, then a hundred, and their numbers."""
    kit.section(words.arms_section)
    given = rewards_of(state), state["armbase"], float(state["armrate"]), state["armseed"]
    guess = kit.Guess(GUESS, first_question(given))
    _pulled(given, guess)
    kit.choose(state, "armbase", words.baseline, dict(words.baselines.items()))
    with st.container(horizontal=True, gap="medium"):
        for key, arm in zip(PAYS, words.arms, strict=True):
            st.slider(words.pay.format(arm=arm), step=0.1, width=200, **state.ranged(key))
    shown = guess.open
    if shown:
        kit.prose(words.caption, **first_numbers(given))
    guess.ask()
    if shown:
        kit.looks(state, words.arm_looks, f"{KEY}.looks")
    if not shown:
        return
    kit.prose(words.run)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        kit.choose(state, "armrate", words.arm_rate, {rate: rate for rate in RATES})
        st.number_input(words.arm_seed, width=160, **state.ranged("armseed"))
    kit.prose(words.baseline_text[given[1]])
    chances, steps = run_of(given).probabilities, range(model.UPDATES + 1)
    drawn = [
        kit.Drawn(_arm(at, given), steps, list(map(float, chances[:, at])), role)
        for at, role in enumerate(("query", "key", "value"))
    ]
    x, y = kit.Scale(0, model.UPDATES, words.arm_updates), kit.Scale(0, 1, words.arm_share)
    kit.draw_on(drawn, x, y, key=f"{KEY}.run", words={}, form="percent")
    kit.prose(run_read(given))
    kit.prose(words.cells)
    kit.programmers(words.cells_code)
    st.slider(words.arm_update, width=420, **state.ranged("armupdate"))
    at = state["armupdate"] - 1
    _cells(state, given, at)
    kit.prose(words.variance)
    spread = {kind: numbers_of(given, at, kind).variance for kind in model.BASELINES}
    axis = kit.Axis(0, max(TINY, *spread.values()), words.variance_axis)
    cases = [kit.Case(words.baselines[kind], value) for kind, value in spread.items()]
    kit.case_rows(cases, axis, key=f"{KEY}.spread", form="figure")
    kit.prose(variance_read(given, at))


def rewards_of(state: kit.PageState) -> Rewards:
    """Return what the arms pay, in tenths."""
    a, b, c = (round(state[key], 1) + 0.0 for key in PAYS)
    return a, b, c


def reward_text(value: float) -> str:
    """Return a reward as it is written: in tenths, with a true minus."""
    return kit.signed(value, 1)


def pulled(given: Given, baseline: str) -> np.ndarray:
    """Return the probabilities of the arms after the arm that pays least was pulled first."""
    rewards, rate = given[0], given[2]
    arm = rewards.index(min(rewards))
    return softmax(model.update(np.zeros(model.ARMS), rewards, baseline).after(arm, rate))


def first_numbers(given: Given) -> dict[str, Any]:
    """Return who was pulled first, what it paid, and its probability before and after."""
    least = min(given[0])
    arm = given[0].index(least)
    return {
        "arm": words.arms[arm],
        "reward": reward_text(least),
        "before": kit.percent(1 / model.ARMS),
        "after": kit.percent(float(pulled(given, given[1])[arm])),
    }


def first_question(given: Given) -> kit.Question | None:
    """Return the question what one pull does to the arm that pays least, without a baseline.

    The wrong answers are of somebody who compares it with the mean pay, and of one who finds
    nothing to compare it with. None where two answers are too near.
    """
    rewards, baseline, *_ = given
    arm = rewards.index(min(rewards))
    right, compared = (float(pulled(given, kind)[arm]) for kind in (model.NONE, model.MEAN))
    values = {"right": right, "compared": compared, "same": 1 / model.ARMS}
    if baseline != model.NONE or np.diff(sorted(values.values())).min() < APART:
        return None
    return kit.Question.named(
        words.ask_arm, words.first_reasons, values, kit.percent, **first_numbers(given)
    )


def _pulled(given: Given, guess: kit.Guess) -> None:
    """Draw the arms' probabilities after one pull, the pulled one veiled where it is asked for."""
    revealed = guess.open
    chances, pays = pulled(given, given[1]), given[0]
    least = pays.index(min(pays))
    cases = [
        kit.Case(
            _arm(at, given),
            float(chances[at]) if revealed or at == least else None,
            note="" if revealed or at == least else "?",
            role="value" if at == least else "query",
        )
        for at in range(model.ARMS)
    ]
    high = (
        max(0.5, *chances)
        if guess.question is None
        else 0.1 + max(max(v) for v in guess.question.values)
    )
    axis, levels = kit.Axis(0, high, words.arm_share), [(1 / model.ARMS, words.arm_before)]
    look: dict[str, Any] = {"veiled": [least], "picture": f"{KEY}.pulled", "levels": levels}
    guess.cases(cases, axis, **look)


def _arm(at: int, given: Given) -> str:
    return words.arm.format(arm=words.arms[at], reward=reward_text(given[0][at]))


@kit.cached(64)
def run_of(given: Given) -> model.Run:
    return model.run(*given)


@kit.cached(64)
def numbers_of(given: Given, at: int, baseline: str = "") -> model.Update:
    """Return the numbers of update `at`, from 0, of a run; perhaps with another baseline."""
    return model.update(run_of(given).logits[at], given[0], baseline or given[1])


def run_read(given: Given) -> str:
    """Return how the mean reward under the policy went."""
    first, last = (kit.signed(float(run_of(given).probabilities[at] @ given[0])) for at in (0, -1))
    most = reward_text(max(given[0]))
    how = "flat" if len(set(given[0])) == 1 else "moves"
    return words.run_read[how].format(updates=model.UPDATES, first=first, last=last, most=most)


def _cells(state: kit.PageState, given: Given, at: int) -> None:
    done = run_of(given)
    arm = int(done.arms[at])
    parts = matrices(given, at)
    first = f"gradient.{arm}.{arm}"
    kit.show(state, parts, LAYOUT, key=f"{KEY}.cells", control="armcell", first=first)
    numbers, (rewards, baseline, *_) = numbers_of(given, at), given
    kit.show_code(
        [model.update],
        "from llmviz.course.lessons.reasoning.reinforce.bandit_model import run, update\n\n"
        f"done = run{given!r}\n"
        f"now = update(done.logits[{at}], {rewards!r}, {baseline!r})\n"
        f"print(now.gradient[done.arms[{at}]].round(4), round(now.variance, 6))",
        f"{numbers.gradient[arm].round(4)} {round(numbers.variance, 6)}",
    )


@kit.cached(64)
def matrices(given: Given, at: int) -> tuple[lv.Matrix, ...]:
    """Return an update as matrices that open."""
    numbers, rate, arm = numbers_of(given, at), given[2], int(run_of(given).arms[at])
    after = numbers.after(arm, rate)
    values = {
        "logits": numbers.logits[None],
        "probabilities": numbers.probabilities[None],
        "hits": np.eye(model.ARMS),
        "direction": numbers.direction,
        "rewards": numbers.rewards[:, None],
        "baseline": np.array([[numbers.baseline]]),
        "advantage": numbers.advantage[:, None],
        "gradient": numbers.gradient,
        "drawn": numbers.gradient[[arm]],
        "step": rate * numbers.gradient[[arm]],
        "new": after[None],
        "after": softmax(after)[None],
    }
    ops = {
        "probabilities": lv.softmax_rows("logits"),
        "direction": lv.subtracted("hits", "probabilities"),
        "advantage": lv.subtracted("rewards", "baseline"),
        "gradient": lv.multiply("advantage", "direction"),
        "drawn": lv.lookup("gradient", [arm]),
        "step": lv.scaled("drawn", rate, words.times_rate.format(rate=f"{rate:g}")),
        "new": lv.add("logits", "step"),
        "after": lv.softmax_rows("new"),
    }
    if given[1] == model.MEAN:
        ops["baseline"] = lv.matmul("probabilities", "rewards")
    roles = {"probabilities": "weights", "after": "weights", "gradient": "accent"}
    roles |= {"direction": "key", "advantage": "value", "drawn": "accent"}
    return tuple(
        lv.Matrix(
            name,
            value,
            words.arm_labels[name][0],
            words.arm_labels[name][1].format(arm=words.arms[arm]),
            row_labels=words.arms if len(value) == model.ARMS else (),
            col_labels=words.arms if value.shape[1] == model.ARMS else (),
            role=roles.get(name, "neutral"),
            op=ops.get(name),
            scale="sequential" if name in POSITIVE else "diverging",
        )
        for name, value in values.items()
    )


def variance_read(given: Given, at: int) -> str:
    """Return what the mean reward as a baseline does to the variance here."""
    if len(set(given[0])) == 1:
        return words.no_signal
    plain, mean = (
        numbers_of(given, at, baseline).variance for baseline in (model.NONE, model.MEAN)
    )
    if plain < TINY:
        return words.variance_read["zero"]
    kind = "same" if abs(mean - plain) < TINY else "less" if mean < plain else "more"
    return words.variance_read[kind].format(share=kit.percent(mean / plain))
