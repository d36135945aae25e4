"""One weight on a parabola: a learning rate that is too small, right, or too large."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from llmviz.course.components.descent_view.view import Profile, descent_view
from llmviz.course.lessons.training.descent import walkers, words
from llmviz.course.lessons.training.descent.descents import Rates, length_descent
from llmviz.course.lessons.training.descent.params import ONE_WEIGHT_NAME
from llmviz.course.ui import kit

KEY = "training.descent.one"

if TYPE_CHECKING:
    from llmviz.training.descent import Descent
    from llmviz.training.one_number import Guess
START, STEPS = 1.0, 20
RATES = Rates(0.005, 1.3, 41)
EXACT = 0.03  # a step that leaves no more of the distance is just right
MUCH = 0.1  # more of the distance left after all steps is too much
LEAST = 0.0001  # a smaller share is said in words


def draw(state: kit.PageState) -> None:
    """Show the part."""
    guess, descent = descended()
    kit.section(words.one)
    kit.prose(words.one_text, names=len(guess.numbers), best=guess.best, start=START)
    from llmviz.training.optimizers import Hyper

    walker = walkers.walker(descent, Hyper(), guess.floor, words.one_label, "key")
    reach = 1.35 * (guess.best - START)
    x = np.linspace(guess.best - reach, guess.best + reach, 161)
    descent_view(
        [walker],
        descent.rates.numpy(),
        key=KEY,
        words=words.view | words.one_view,
        floor=guess.floor,
        state=walkers.state_of(state, ONE_WEIGHT_NAME, 1, RATES.count, STEPS),
        stage=Profile(x, (x - guess.best) ** 2 + guess.floor, (guess.best, guess.floor)),
        names=("",),
        lines=[sentence(rate) for rate in descent.rates.tolist()],
        on_change=walkers.keep_in_link(state, ONE_WEIGHT_NAME, KEY, 1, RATES.count, STEPS),
    )
    rate = float(f"{chosen(state, descent):.3g}")  # as it is shown, so that the arithmetic is right
    kit.predict(question(rate), f"{KEY}.twice")
    _code(state, descent)
    kit.seen(words.end, told=end(rate, guess.best))


def chosen(state: kit.PageState, descent: Descent) -> float:
    """Return the learning rate at which the slider stands."""
    stop = walkers.state_of(state, ONE_WEIGHT_NAME, 1, RATES.count, STEPS).stops[0]
    return float(descent.rates[stop])


@kit.kept(1)
def descended() -> tuple[Guess, Descent]:
    """Return the model of one number, and its ways from the start at every rate."""
    return length_descent(START, RATES, STEPS)


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
    return words.one_lines[kind].format(
        share=kit.percent(2 * rate),
        share_exact=kit.percent(2 * rate) if factor else words.all_of_it,
        steps=STEPS,
        rest=kit.percent(rest) if rest >= LEAST else words.little,
        rest_one=kit.percent(abs(factor)),
        factor=abs(factor),
    )


def question(rate: float) -> kit.Question:
    """Ask what each step would leave of the distance at twice a learning rate."""
    double = 2 * rate
    left, right = 1 - 2 * rate, 1 - 2 * double
    what = words.ask_one_what[_kind(right)]
    reasons = {
        f"{left / 2:.4g}": words.ask_one_half,
        f"{left**2:.4g}": words.ask_one_square,
        f"{left:.4g}": words.ask_one_same,
    }
    reasons[f"{right:.4g}"] = words.ask_one_yes.format(double=double, factor=right, what=what)
    return kit.Question.among(
        words.ask_one.format(rate=rate, factor=left, double=double),
        {answer: reasons[answer] for answer in sorted(reasons, key=float)},
        f"{right:.4g}",
        lambda answer: answer.replace("-", "−"),
    )


def _kind(factor: float) -> str:
    """What becomes of the distance if each step multiplies it by a factor below 1."""
    if factor >= 0:
        return "comes" if factor else "arrives"
    if factor == -1:
        return "limit"
    return "over" if factor > -1 else "gone"


def end(rate: float, best: float) -> str:
    """Return what was seen of one weight, at a learning rate: where it ends, and where it would."""
    factor = 1 - 2 * rate
    weight = best + (START - best) * factor**STEPS
    text = words.end_one if abs(factor) < 1 else words.end_one_gone
    return text.format(rate=rate, factor=factor, steps=STEPS, weight=weight, best=best)


def _code(state: kit.PageState, descent: Descent) -> None:
    from llmviz.training.descent import descend
    from llmviz.training.one_number import Guess
    from llmviz.training.optimizers import sgd

    stop = walkers.state_of(state, ONE_WEIGHT_NAME, 1, RATES.count, STEPS).stops[0]
    kit.show_code(
        [Guess, sgd, descend],
        words.snippet_one_weight.format(
            low=RATES.low,
            high=RATES.high,
            count=RATES.count,
            stop=stop,
            next_stop=stop + 1,
            start=START,
            steps=STEPS,
        ),
        str([f"{w:.4f}" for w in descent.path[stop, :5, 0].tolist()]),
    )
