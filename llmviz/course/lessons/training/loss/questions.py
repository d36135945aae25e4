"""The graded questions of the chapter on the loss, made from the numbers of the learner's text."""

import itertools
import math
from collections.abc import Mapping, Sequence

from llmviz.course.lessons.training.loss import words
from llmviz.course.ui import kit

LEAST = 0.0005  # as a percentage a smaller probability has hardly a digit left
APART = 5e-3  # nats by which two losses must differ to be told from each other
CLEAR = 0.4  # nats between the answers about a cost, so that they are told apart on the picture
USUAL = 2.4  # how many times likelier the token is, at best, from which one reckons


def cost(nats: Sequence[float], names: Sequence[str]) -> tuple[kit.Question, int] | None:
    """Ask what one of the tokens with these losses costs, beside a likelier one; give its place.

    The wrong answers are those of somebody to whom the missing probability is the price, and of
    one who pays as many times more as the token is less likely. None where no pair has answers
    that are clearly apart.
    """
    probabilities = [math.exp(-loss) for loss in nats]
    pairs = [
        (abs(math.log(p / q / USUAL)), at, q, by, p)
        for by, p in enumerate(probabilities)
        for at, q in enumerate(probabilities)
        if LEAST <= q < p < 0.5
        and min(abs(a - b) for a, b in itertools.combinations(_costs(p, q), 2)) >= CLEAR
    ]
    if not pairs:
        return None
    _, at, q, by, p = min(pairs)
    right, missing, times = _costs(p, q)
    reasons = {
        right: words.ask_cost_right,
        missing: words.ask_cost_missing,
        times: words.ask_cost_times,
    }
    asked = kit.Question.among(
        words.ask_cost,
        reasons,
        right,
        lambda nats: words.nats.format(nats=nats),
        reference=kit.quote(names[by]),
        reference_p=kit.percent(p),
        cost=words.nats.format(nats=-math.log(p)),
        token=kit.quote(names[at]),
        p=kit.percent(q),
        times=p / q,
        more=math.log(p / q),
    )
    return asked, at


def _costs(p: float, q: float) -> tuple[float, float, float]:
    """What a token of probability q costs beside one of p: really, by what is missing, by times."""
    nats = -math.log(p)
    return -math.log(q), nats * (1 - q) / (1 - p), nats * p / q


def spot(losses: Mapping[str, float], right: float, blind: float) -> kit.Question | None:
    """Ask which mistake gave a loss; the text decides which one is asked.

    losses: with each mistake, in nats; right: without one; blind: ln V. None where no mistake can
    be told from the others and from the right loss.
    """
    offered = [
        name
        for name, loss in losses.items()
        if math.isfinite(loss)
        and all(
            abs(loss - other) >= APART
            for other in (right, *(value for mistake, value in losses.items() if mistake != name))
        )
    ]
    if not offered:
        return None
    chosen = offered[int(1000 * right) % len(offered)]
    reasons = {
        name: (words.spot_right if name == chosen else words.spot_wrong).format(
            name=words.mistakes[name], value=loss
        )
        for name, loss in losses.items()
    }
    text = words.spot.format(wrong=losses[chosen], right=right, blind=blind)
    return kit.Question.among(text, reasons, chosen, words.mistakes.__getitem__)
