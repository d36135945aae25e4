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


def draw_on(
    lines: Sequence[Drawn],
    x: Scale,
    y: Scale,
    *,
    key: str,
    words: Mapping[str, str],
    asked: Sequence[float] = (),
    own: Sequence[tuple[float, float]] = (),
    others: tuple[Sequence[float], Sequence[Sequence[float]]] = ((), ()),
    form: Literal["percent", "figure"] = "figure",
    levels: Sequence[tuple[float, str]] = (),
    on_act: Callable[[], None] | None = None,
) -> None:
    """Draw lines; the hand draws values at the places `asked` of x, where there are any.

    Then ``st.session_state[key]["act"]`` is ``{"guess": [value, …]}``, a value for each place.
    own: the points that it drew before. others: what other hands drew, places and the values of
    each. levels: values with a name, dotted through the
    picture. `words`: picture, here, hint, done. Raises ValueError for what does not fit.
    """
    payload = lines_payload(lines, x, y, asked, own)
    payload |= {"form": form, "levels": [[float(value), text] for value, text in levels]}
    places, hands = others
    for values in hands:
        lines_payload([Drawn("", places, values)], x, y, (), ())
    payload["others"] = {"x": list(places), "y": [list(values) for values in hands]}
    payload["words"] = dict(words)
    renderer("draw_on")(data=pack(payload), key=key, on_act_change=on_act or nothing)


def lines_payload(
    lines: Sequence[Drawn],
    x: Scale,
    y: Scale,
    asked: Sequence[float],
    own: Sequence[tuple[float, float]],
) -> dict[str, Any]:
    """Return what lines are sent, checked."""
    for axis in (x, y):
        if not (math.isfinite(axis.low) and axis.low < axis.high < math.inf):
            raise ValueError(f"an axis must go up; got {axis.low} to {axis.high}")
        if axis.log and axis.low <= 0:
            raise ValueError(f"an axis by powers begins above 0; got {axis.low}")
    heights = [*(at for line in lines for at in line.y), *(at for _, at in own)]
    if y.log and min(heights, default=1) <= 0:
        raise ValueError("by powers, each height must be above 0")
    sent = []
    for line in lines:
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
    if not all(map(math.isfinite, [*asked, *(number for point in own for number in point)])):
        raise ValueError("what is drawn needs finite places and values")
    return {
        "lines": sent,
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
        "asked": {"x": [float(value) for value in asked]},
        "own": {"x": [float(at) for at, _ in own], "y": [float(value) for _, value in own]},
    }
