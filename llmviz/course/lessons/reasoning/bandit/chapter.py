"""Chapter "A reward and three arms": the policy gradient in numbers, on a bandit."""

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from llmviz.course import components as lv
from llmviz.course.figures.lines import Line, lines
from llmviz.course.lessons.reasoning.bandit import words
from llmviz.course.lessons.reasoning.bandit.model import (
    ARMS,
    BASELINES,
    MEAN,
    NONE,
    Run,
    Update,
    run,
    softmax,
    update,
)
from llmviz.course.lessons.reasoning.bandit.params import RATES
from llmviz.course.ui import kit

KEY = "reasoning.bandit"
TINY = 1e-12  # two variances that differ by less are called equal
POSITIVE = ("probabilities", "after", "hits", "length", "squared", "variance")
PAYS = ("paya", "payb", "payc")
LAYOUT = (
    ("logits", "→", "probabilities", None, None),
    ("hits", None, "direction", None, None),
    ("rewards", "−", "baseline", "=", "advantage"),
    ("gradient", "→", "drawn", "→", "step"),
    ("new", "→", "after", None, None),
)
SPREAD = (
    ("gradient", "−", "mean", "=", "apart"),
    ("length", "→", "squared", "→", "variance"),
)

Rewards = tuple[float, float, float]
Given = tuple[Rewards, str, float, int]
"""What makes a run: rewards, baseline, learning rate, seed."""


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro, arms=ARMS)
    with st.container(horizontal=True, gap="medium"):
        for key, arm in zip(PAYS, words.arms, strict=True):
            st.slider(words.pay.format(arm=arm), step=0.1, width=200, **state.ranged(key))
    if not kit.predict(first_question(rewards_of(state)), f"{KEY}.first", covers=True):
        return
    kit.section(words.run)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        kit.choose(state, "armbase", words.baseline, dict(words.baselines.items()))
        kit.choose(state, "armrate", words.rate, {rate: rate for rate in RATES})
        st.number_input(words.seed, width=160, **state.ranged("armseed"))
    given = rewards_of(state), state["armbase"], float(state["armrate"]), state["armseed"]
    kit.prose(words.baseline_text[state["armbase"]])
    kit.chart(figure(given, kit.theme()), f"{KEY}.run", bar=False)
    kit.prose(run_read(given))
    kit.section(words.cells)
    st.slider(words.update, width=420, **state.ranged("armupdate"))
    at = state["armupdate"] - 1
    _cells(state, given, at)
    if _variance(given, at):
        kit.seen(words.end, **end(given))


def rewards_of(state: kit.PageState) -> Rewards:
    """Return what the arms pay, in tenths."""
    a, b, c = (round(state[key], 1) + 0.0 for key in PAYS)
    return a, b, c


def reward_text(value: float) -> str:
    """Return a reward as it is written: in tenths, with a true minus."""
    return kit.signed(value, 1)


def first_question(rewards: Rewards) -> kit.Question:
    """Return the question what an update does to the arm that pays least."""
    least = min(rewards)
    kind = "up" if least > 0 else "down" if least < 0 else "same"
    return kit.Question.of(
        words.ask_first,
        ["up", "down", "same"].index(kind),
        arm=words.arms[rewards.index(least)],
        reward=reward_text(least),
        reason=words.first_reasons[kind],
    )


@kit.kept(64)
def run_of(given: Given) -> Run:
    """Return the run of the controls."""
    return run(*given)


@kit.kept(64)
def numbers_of(given: Given, at: int, baseline: str = "") -> Update:
    """Return the numbers of update `at`, from 0, of a run; perhaps with another baseline."""
    return update(run_of(given).logits[at], given[0], baseline or given[1])


@kit.kept(64)
def figure(given: Given, mode: kit.Mode) -> go.Figure:
    """Return the probability of each arm after each update."""
    chances = run_of(given).probabilities
    drawn = [
        Line(
            f"{arm} ({reward_text(reward)})",
            np.arange(len(chances)),
            chances[:, at],
            at,
            marked=False,
        )
        for at, (arm, reward) in enumerate(zip(words.arms, given[0], strict=True))
    ]
    return lines(drawn, (words.updates_axis, words.share_axis), mode, hover="%{y:.1%}", height=300)


def run_read(given: Given) -> str:
    """Return where a run came to."""
    done, rewards = run_of(given), given[0]
    chances, counts = done.probabilities, np.bincount(done.arms, minlength=ARMS)
    first, last = (kit.signed(float(chances[at] @ rewards)) for at in (0, -1))
    return words.run_read.format(
        updates=len(done.arms),
        chances=kit.listed(
            [f"{a} {kit.percent(p)}" for a, p in zip(words.arms, chances[-1], strict=True)]
        ),
        counts=kit.listed([f"{a} {n}" for a, n in zip(words.arms, counts, strict=True)]),
        first=first,
        last=last,
        most=reward_text(max(rewards)),
    )


def _cells(state: kit.PageState, given: Given, at: int) -> None:
    done = run_of(given)
    arm = int(done.arms[at])
    parts = matrices(given, at)
    first = f"gradient.{arm}.{arm}"
    kit.show(state, parts, LAYOUT, key=f"{KEY}.cells", control="armcell", first=first)
    now, then = done.probabilities[at, arm], done.probabilities[at + 1, arm]
    kit.prose(
        words.cells_read,
        arm=words.arms[arm],
        chance=kit.percent(now),
        advantage=kit.signed(numbers_of(given, at).advantage[arm]),
        after=kit.percent(then),
    )
    rewards, baseline, *_ = given
    numbers = numbers_of(given, at)
    kit.show_code(
        [update],
        "from llmviz.course.lessons.reasoning.bandit.model import run, update\n\n"
        f"done = run{given!r}\n"
        f"now = update(done.logits[{at}], {rewards!r}, {baseline!r})\n"
        f"print(now.gradient[done.arms[{at}]].round(4), round(now.variance, 6))",
        f"{numbers.gradient[arm].round(4)} {round(numbers.variance, 6)}",
    )


@kit.kept(64)
def matrices(given: Given, at: int) -> tuple[lv.Matrix, ...]:
    """Return an update as matrices that open."""
    numbers, rate, arm = numbers_of(given, at), given[2], int(run_of(given).arms[at])
    after = numbers.after(arm, rate)
    lengths = np.sqrt(numbers.squares)[:, None]
    values = {
        "logits": numbers.logits[None],
        "probabilities": numbers.probabilities[None],
        "hits": np.eye(ARMS),
        "direction": numbers.direction,
        "rewards": numbers.rewards[:, None],
        "baseline": np.array([[numbers.baseline]]),
        "advantage": numbers.advantage[:, None],
        "gradient": numbers.gradient,
        "drawn": numbers.gradient[[arm]],
        "step": rate * numbers.gradient[[arm]],
        "new": after[None],
        "after": softmax(after)[None],
        "mean": numbers.mean[None],
        "apart": numbers.gradient - numbers.mean,
        "length": lengths,
        "squared": numbers.squares[:, None],
        "variance": np.array([[numbers.variance]]),
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
        "mean": lv.matmul("probabilities", "gradient"),
        "apart": lv.subtracted("gradient", "mean"),
        "length": lv.lengths("apart"),
        "squared": lv.multiply("length", "length"),
        "variance": lv.matmul("probabilities", "squared"),
    }
    if given[1] == MEAN:
        ops["baseline"] = lv.matmul("probabilities", "rewards")
    roles = {"probabilities": "weights", "after": "weights", "gradient": "accent"}
    roles |= {"direction": "key", "advantage": "value", "mean": "accent", "drawn": "accent"}
    return tuple(
        lv.Matrix(
            name,
            value,
            words.labels[name][0],
            words.labels[name][1].format(arm=words.arms[arm]),
            row_labels=words.arms if len(value) == ARMS else (),
            col_labels=words.arms if value.shape[1] == ARMS else (),
            role=roles.get(name, "neutral"),
            op=ops.get(name),
            scale="sequential" if name in POSITIVE else "diverging",
        )
        for name, value in values.items()
    )


def _variance(given: Given, at: int) -> bool:
    kit.section(words.variance)
    shown = kit.predict(kit.Question.of(words.ask_mean), f"{KEY}.mean", covers=True)
    if shown:
        kit.prose(words.variance_text)
        lv.matrix_view(matrices(given, at), layout=SPREAD, key=f"{KEY}.spread")
        kit.rows_table(variance_rows(given, at), words.variance_columns)
        kit.prose(variance_read(given, at))
    return shown


def variance_rows(given: Given, at: int) -> list[tuple[str, ...]]:
    """Return a row for each baseline: its value, the mean gradient, and the variance."""
    rows = []
    for baseline in BASELINES:
        now = numbers_of(given, at, baseline)
        mean = ", ".join(kit.signed(value) for value in now.mean)
        rows.append(
            (words.baselines[baseline], kit.signed(now.baseline), mean, f"{now.variance:.4f}")
        )
    return rows


def variance_read(given: Given, at: int) -> str:
    """Return what the mean reward as a baseline does to the variance here."""
    if len(set(given[0])) == 1:
        return words.no_signal
    plain, mean = (numbers_of(given, at, baseline).variance for baseline in (NONE, MEAN))
    if plain < TINY:
        return words.variance_read["zero"]
    kind = "same" if abs(mean - plain) < TINY else "less" if mean < plain else "more"
    return words.variance_read[kind].format(share=kit.percent(mean / plain))


def end(given: Given) -> dict[str, object]:
    """Return what the chapter's end says of the run."""
    chances, rewards = run_of(given).probabilities[-1], given[0]
    best, most = int(chances.argmax()), max(rewards)
    kind = "other" if rewards[best] < most else "one" if rewards.count(most) == 1 else "several"
    pays = words.pays[kind].format(most=words.arms[rewards.index(most)])
    return {"best": words.arms[best], "chance": kit.percent(chances[best]), "pays": pays}
