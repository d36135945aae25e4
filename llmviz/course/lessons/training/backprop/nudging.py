"""The change of the loss that a weight's gradient predicts, and the true one, on a slider."""

import numpy as np

from llmviz.course.components.nudge_view.view import nudge_view
from llmviz.course.lessons.training.backprop import words
from llmviz.course.ui import kit

STOPS = 81  # an odd number: the weight as it is stands in the middle
MIDDLE = STOPS // 2


def values(weight: float, reach: float) -> np.ndarray:
    """Return the values (STOPS,) that a weight is moved through, itself in the middle."""
    return weight + np.linspace(-reach, reach, STOPS)


def draw(
    state: kit.PageState,
    control: str,
    key: str,
    weights: np.ndarray,
    losses: np.ndarray,
    slope: float,
) -> None:
    """Show the slider with its curve; where it is left goes to the page's state."""
    nudge_view(
        weights,
        losses,
        slope,
        key=key,
        at=state[control],
        words=words.nudge,
        lines=lines(weights, losses, slope),
        on_change=kit.bound(state, key, at=(control, kit.one_of(range(STOPS)))),
    )


def lines(weights: np.ndarray, losses: np.ndarray, slope: float) -> list[str]:
    """Return one sentence a stop: the predicted change, the true one, and what is between."""
    sentences = []
    for stop, (weight, loss) in enumerate(zip(weights, losses, strict=True)):
        delta = float(weight - weights[MIDDLE])
        if stop == MIDDLE:
            sentences.append(words.nudge_start.format(value=exact(weight), slope=exact(slope)))
            continue
        true = float(loss - losses[MIDDLE])
        sentences.append(
            words.nudge_line.format(
                delta=exact(delta),
                factor=kit.operand(exact(delta)),
                slope=exact(slope),
                predicted=exact(slope * delta),
                true=exact(true),
                off=exact(true - slope * delta),
            )
        )
    return sentences


def exact(value: float) -> str:
    """Return a number with four digits that count, and a true minus sign.

    >>> exact(-0.0000123456), exact(0.5)
    ('−1.235e-05', '0.5000')
    """
    size = abs(value)
    text = f"{value:.4f}" if size >= 0.01 or size == 0 else f"{value:.6f}"
    if 0 < size < 1e-4:
        text = f"{value:.3e}"
    return text.replace("-", "−", 1) if value < 0 else text
