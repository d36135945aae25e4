"""The graded questions of the chapter on the loss, made from the numbers of the learner's text."""

import itertools
import math
from collections.abc import Mapping, Sequence

from llmviz.course.lessons.training.loss import words
from llmviz.course.ui import kit

LEAST = 0.001  # as a percentage a smaller probability has hardly a digit left
CLEAR = 0.05  # nats by which the answers about half a probability must differ
APART = 5e-3  # nats by which two losses must differ to be told from each other
EXAMPLE = 0.1  # the probability asked about where no token of the text has a suitable one


def half(probabilities: Sequence[float]) -> kit.Question:
    """Ask what a token would cost at half its probability; `probabilities` are of the targets.

    Doubling or halving the cost is the wrong answer only where it differs from adding ln 2: near
    p = ½ doubling is right as well, near p = 1 all costs are almost 0. There an example is
    asked, and where all are tiny.
    """
    suitable = [p for p in probabilities if _clear(p)]
    p = min(suitable, key=lambda value: abs(value - EXAMPLE), default=EXAMPLE)
    nats = -math.log(p)
    answers = [
        (nats / 2, words.ask_half.format(nats=nats, half=nats / 2), words.ask_no_half),
        (
            nats + math.log(2),
            words.ask_more.format(nats=nats, more=nats + math.log(2)),
            words.ask_yes.format(ln2=math.log(2)),
        ),
        (
            2 * nats,
            words.ask_double.format(nats=nats, double=2 * nats),
            words.ask_no_double.format(p=kit.percent(p), square=kit.percent(p * p)),
        ),
    ]
    right = answers[1]
    answers.sort()  # by their value: the place tells nothing
    text = words.ask if suitable else words.ask_example
    return kit.Question(
        text.format(p=kit.percent(p)),
        [answer for _, answer, _ in answers],
        answers.index(right),
        [reason for *_, reason in answers],
    )


def _clear(p: float) -> bool:
    if not LEAST <= p < 1:
        return False
    nats = -math.log(p)
    costs = sorted((nats / 2, nats + math.log(2), 2 * nats))
    return min(b - a for a, b in itertools.pairwise(costs)) >= CLEAR


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
