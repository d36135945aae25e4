"""Chapter "Descent": one weight on a parabola, at every learning rate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from llmviz.course.components.descent_view.view import Profile, descent_view
from llmviz.course.lessons.training import trajectories
from llmviz.course.lessons.training.descent import words
from llmviz.course.lessons.training.optimizers import words as view_words
from llmviz.course.lessons.training.trajectories import Rates
from llmviz.course.ui import kit
from llmviz.course.ui.engine_ready import engine_ready

if TYPE_CHECKING:
    from llmviz.training.descent import Descent
    from llmviz.training.surfaces import Guess

KEY, GUESS = "training.descent.one", "training.descent.lands"
CLOSE = 1e-9  # how near 1 a factor is called 1
START, STEPS = 1.0, 20
RATES = Rates(0.005, 1.3, 41)
KNOWN = 34  # of the rates, those up to ½, which are drawn before the question
AT_FIRST = (0.1, 0.5)  # rates whose first step is drawn beside the one that is asked for
EXACT = 0.03  # a step that leaves no more of the distance is just right
MUCH = 0.1  # more of the distance left after all steps is too much
LEAST = 0.0001  # a smaller share is said in words


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the ball's way down, ask where the largest rate leads, and then show all of them."""
    kit.prose(words.hook)
    if not engine_ready():
        return
    from llmviz.training.optimizers import Hyper

    hollow = descended(KNOWN)[0]
    seen = any(stop >= KNOWN for stop in state["one_lr"])
    guess = kit.Guess(
        GUESS, question(hollow.best), seen, by_hand=True, leads=f"one_lr={RATES.count - 1}"
    )
    shown = guess.open
    count = RATES.count if shown else KNOWN
    descent = descended(count)[1]
    now = trajectories.state_of(state, "one", 1, count, STEPS)
    reach = 1.35 * (hollow.best - START)
    x = np.linspace(hollow.best - reach, hollow.best + reach, 161)
    with kit.stage("descent"):
        descent_view(
            [trajectories.walker(descent, Hyper(), hollow.floor, words.label, "key")],
            descent.rates.numpy(),
            key=KEY,
            words=view_words.view | words.view,
            floor=hollow.floor,
            state=now,
            stage=Profile(x, (x - hollow.best) ** 2 + hollow.floor, (hollow.best, hollow.floor)),
            names=("",),
            lines=[sentence(rate) for rate in descent.rates.tolist()],
            on_change=trajectories.keep_in_link(state, "one", KEY, 1, count, STEPS),
        )
    guess.ask()
    guess.cases(
        [
            kit.Case(words.row.format(rate=at), lands(hollow.best, at))
            for at in (*AT_FIRST, RATES.high)
        ],
        kit.Axis(-15, 20, words.axis),
        veiled=[len(AT_FIRST)],
        picture=f"{KEY}.lands",
        form="figure",
        mark="dot",
        levels=[(START, words.start), (hollow.best, words.lowest)],
    )
    if shown:
        rest = abs(1 - 2 * float(RATES.values()[38])) ** STEPS
        kit.looks(state, words.looks, f"{KEY}.looks", rest=kit.percent(rest), steps=STEPS)
    rate = float(f"{float(descent.rates[now.stops[0]]):.3g}")  # as it is shown
    kit.section(words.intro)
    kit.prose(words.many)
    kit.measured(
        words.arithmetic,
        names=len(hollow.numbers),
        best=hollow.best,
        start=START,
        slope=kit.signed(2 * (START - hollow.best), 3),
        rate=rate,
        step=f"{2 * rate * (hollow.best - START):.3f}",
        lands=f"{lands(hollow.best, rate):.3f}",
        factor=f"{1 - 2 * rate:.4g}".replace("-", "−"),
    )
    kit.chapter_link("training", "optimizers", words.optimizers)
    _code(descent, now.stops[0])
    if shown:
        kit.seen(words.end, told=end(rate, hollow.best))


@kit.cached(2)
def descended(count: int) -> tuple[Guess, Descent]:
    """Return the model of one number, the guessed length of a name, and its ways at some rates."""
    import torch

    from llmviz.training.descent import descend
    from llmviz.training.surfaces import name_lengths

    guess = name_lengths()
    place = torch.tensor([START], dtype=torch.float64)
    rates = RATES.values()[:count]
    return guess, descend("sgd", guess.height, guess.gradient, place, rates, STEPS)


def lands(best: float, rate: float) -> float:
    """Return where the first step at a rate leads, on a parabola of curvature 2."""
    return best + (1 - 2 * rate) * (START - best)


def question(best: float) -> kit.Question:
    """Ask where the first step at the largest rate leads.

    The wrong answers are those of somebody to whom a long stride arrives, a rate is a share of the
    distance, or no ball climbs above where it started.
    """
    reasons = {
        lands(best, RATES.high): words.ask_right,
        best: words.ask_arrives,
        START + RATES.high * (best - START): words.ask_share,
        2 * best - START: words.ask_mirror,
    }
    rest: dict[str, Any] = {
        "rate": RATES.high,
        "best": best,
        "start": START,
        "steep": 2 * (best - START),
    }
    rest |= {"step": 2 * RATES.high * (best - START), "factor": 2 * RATES.high - 1}
    return kit.Question.among(words.ask, reasons, lands(best, RATES.high), "{:.1f}".format, **rest)


def sentence(rate: float) -> str:
    """Say what a learning rate does on a parabola of curvature 2."""
    factor = 1 - 2 * rate
    rest = abs(factor) ** STEPS
    if abs(factor) <= EXACT:
        kind = "exact"
    elif abs(factor) == 1:
        kind = "limit"
    elif abs(factor) > 1:
        kind = "gone"
    elif factor > 0:
        kind = "tiny" if rest > MUCH else "slow"
    else:
        kind = "edge" if rest > MUCH else "over"
    return words.lines[kind].format(
        share=kit.percent(2 * rate),
        share_exact=kit.percent(2 * rate) if factor else words.all_of_it,
        steps=STEPS,
        rest=kit.percent(rest) if rest >= LEAST else words.little,
        rest_one=kit.percent(abs(factor)),
        factor=abs(factor),
    )


def end(rate: float, best: float) -> str:
    """Return what was seen of one weight, at a learning rate: where it ends, and where it would."""
    factor = 1 - 2 * rate
    weight = best + (START - best) * factor**STEPS
    size = abs(factor)
    text = words.end_one_same if abs(size - 1) < CLOSE else words.end_one_gone
    if size < 1 - CLOSE:
        text = words.end_one
    left = kit.percent(size)
    return text.format(rate=rate, factor=size, left=left, steps=STEPS, weight=weight, best=best)


def _code(descent: Descent, stop: int) -> None:
    from llmviz.training.descent import descend
    from llmviz.training.optimizers import sgd
    from llmviz.training.surfaces import Guess

    kit.show_code(
        [Guess, sgd, descend],
        words.snippet.format(rates=RATES, stop=stop, next_stop=stop + 1, start=START, steps=STEPS),
        str([f"{w:.4f}" for w in descent.path[stop, :5, 0].tolist()]),
    )
