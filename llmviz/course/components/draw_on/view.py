"""Lines over one axis, one of which the hand draws on before it is told."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from llmviz.course.components._shared.transport import nothing, pack, renderer


@dataclass(frozen=True)
class Drawn:
    """A line through points. role: the name of its colour; dashed: what somebody might think."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    role: str = "query"
    dashed: bool = False


@dataclass(frozen=True)
class Scale:
    """An axis. marks: where it is marked, and with what, if not at round numbers."""

    low: float
    high: float
    title: str
    log: bool = False
    marks: Sequence[tuple[float, str]] | None = None


@dataclass(frozen=True)
class Hand:
    """What hands draw: the places of x that are asked for, or what was drawn there.

    own: the line that this hand drew, others: those of other hands, a value for each place.
    """

    places: Sequence[float] = ()
    own: Sequence[float] | None = None
    others: Sequence[Sequence[float]] = ()


def draw_on(
    lines: Sequence[Drawn],
    x: Scale,
    y: Scale,
    *,
    key: str,
    words: Mapping[str, str],
    hand: Hand = Hand(),
    form: Literal["percent", "figure"] = "figure",
    levels: Sequence[tuple[float, str]] = (),
    on_act: Callable[[], None] | None = None,
) -> None:
    """Draw lines, and on them what hands drew, or where the hand is asked to draw.

    Then ``st.session_state[key]["act"]`` is ``{"guess": [value, …]}``, a value for each place.
    levels: values with a name, dotted through the picture. `words`: picture, here, hint, done.
    Raises ValueError for what does not fit.
    """
    payload = lines_payload(lines, x, y, hand)
    payload |= {"form": form, "levels": [[float(value), text] for value, text in levels]}
    payload["words"] = dict(words)
    renderer("draw_on")(data=pack(payload), key=key, on_act_change=on_act or nothing)


def lines_payload(
    lines: Sequence[Drawn],
    x: Scale,
    y: Scale,
    hand: Hand,
) -> dict[str, Any]:
    """Return what lines are sent, checked."""
    for axis in (x, y):
        if not (math.isfinite(axis.low) and axis.low < axis.high < math.inf):
            raise ValueError(f"an axis must go up; got {axis.low} to {axis.high}")
        if axis.log and axis.low <= 0:
            raise ValueError(f"an axis by powers begins above 0; got {axis.low}")
    drawn = [] if hand.own is None else [hand.own]
    asks = not drawn and not hand.others
    by_hand = [*drawn, *hand.others] or [[y.high] * len(hand.places)]
    hands = [Drawn("a hand", hand.places, values) for values in by_hand]
    if y.log and min((at for line in (*lines, *hands) for at in line.y), default=1) <= 0:
        raise ValueError("by powers, each height must be above 0")
    sent = []
    for line in (*lines, *hands):
        points = [float(value) for value in line.x], [float(value) for value in line.y]
        if len(points[0]) != len(points[1]) or not all(map(math.isfinite, points[0] + points[1])):
            raise ValueError(f"{line.label!r} needs a finite y for each x")
        sent.append(
            {
                "label": line.label,
                "x": points[0],
                "y": points[1],
                "role": line.role,
                "dashed": line.dashed,
            }
        )
    places = [float(value) for value in hand.places]
    return {
        "lines": sent[: len(lines)],
        "axes": {
            name: {
                "low": float(axis.low),
                "high": float(axis.high),
                "title": axis.title,
                "log": axis.log,
                "marks": axis.marks and [[float(value), text] for value, text in axis.marks],
            }
            for name, axis in (("x", x), ("y", y))
        },
        "asked": {"x": places if asks else []},
        "own": {"x": places if drawn else [], "y": [float(value) for value in hand.own or ()]},
        "others": {"x": places, "y": [[float(at) for at in values] for values in hand.others]},
    }
