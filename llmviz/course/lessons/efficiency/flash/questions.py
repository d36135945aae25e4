"""The questions of the chapter "Flash attention": one right answer on every text and setting."""

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from llmviz.course.lessons.efficiency.flash import words
from llmviz.course.lessons.efficiency.flash.tiles_on_text import TiledText
from llmviz.course.ui import kit
from llmviz.nn.attention.traffic import tile_traffic

EXAMPLE = (1.0, 2.0, 2.5)  # old maximum, new maximum, sum: where no row gets a larger maximum
PLAIN = 0.5  # the factor that a question is best asked about
PLAIN_ENOUGH = (0.05, 0.9)  # and those that it may be asked about: neither about 0 nor about 1
NEAR = 0.05  # of the right answer: a wrong one so near to it is not offered


def rescale_question(tiles: TiledText, names: Sequence[str]) -> kit.Question:
    """Ask what a larger maximum does to the sum, in a row where that happens if there is one."""
    place = _rise(tiles)
    if place is None:
        where, (old, new, total) = words.ask_example, EXAMPLE
    else:
        step, row = place
        name = names[int(tiles.tiles[step, 0]) + row]
        where = words.ask_here.format(row=kit.quote(name), tile=step)
        old, new = float(tiles.maximum_before[place]), float(tiles.maximum[place])
        total = float(tiles.total_before[place])
    factor = math.exp(old - new)
    right = total * factor
    wrong = {"same": total, "grown": total / factor, "lost": 0.0, "shifted": total + old - new}
    numbers = {"old": old, "new": new, "total": total, "factor": factor, "right": right}
    line = {name: digits(number, 3) for name, number in numbers.items()}
    line |= {"old_": kit.operand(line["old"]), "new_": kit.operand(line["new"])}
    return _of_values(
        words.ask.format(where=where, **line),
        lambda value: words.answer.format(value=digits(value, 3)),
        right,
        wrong,
        words.ask_right.format(**line),
        words.ask_wrong,
    )


def digits(value: float, decimals: int) -> str:
    """Return a number with so many decimals and a true minus sign.

    >>> digits(-1.5, 3), digits(-0.0001, 3)
    ('−1.500', '0.000')
    """
    return f"{round(value, decimals) + 0.0:.{decimals}f}".replace("-", "−")


def _rise(tiles: TiledText) -> tuple[int, int] | None:
    """The tile and the row in it whose sum shrinks to about a half; None where none shrinks."""
    low, high = PLAIN_ENOUGH
    shrinks = (tiles.total_before > 0) & (tiles.rescale > low) & (tiles.rescale < high)
    if not shrinks.any():
        return None
    far = np.where(shrinks, np.abs(tiles.rescale - PLAIN), np.inf)
    step, row = np.unravel_index(int(far.argmin()), far.shape)
    return int(step), int(row)


def growth_question(length: int, head_size: int, side: int, *, causal: bool) -> kit.Question:
    """Ask how the traffic of tiles grows when the text gets twice as long."""
    before, after = (
        tile_traffic(n, head_size, side, side, causal=causal).moved for n in (length, 2 * length)
    )
    right = after / before
    reason = words.growth_right.format(
        before=kit.count(before, "number"),
        after=kit.count(after, "number"),
        length=kit.count(length, "token"),
        strips=kit.count(math.ceil(length / side), "strip"),
        more=kit.count(math.ceil(2 * length / side), "strip"),
    )
    wrong = {"none": 1.0, "linear": 2.0, "square": 4.0, "cube": 8.0}
    return _of_values(
        words.ask_growth.format(length=kit.count(length, "token")),
        lambda value: words.times.format(value=digits(value, 2)),
        right,
        wrong,
        reason,
        words.growth_wrong,
    )


def _of_values(
    text: str,
    write: Callable[[float], str],
    right: float,
    wrong: Mapping[str, float],
    reason: str,
    reasons: Mapping[str, str],
) -> kit.Question:
    """A question whose answers are written numbers, each offered once."""
    offered = {write(right): reason}
    for name, value in wrong.items():
        if abs(value - right) > NEAR * right:
            offered.setdefault(write(value), reasons[name])
    return kit.Question.among(text, offered, write(right))
