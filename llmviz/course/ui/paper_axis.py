"""The picture on which a question is answered, on paper: its axes, and nothing on them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from markupsafe import Markup, escape

from llmviz.course.components.case_rows.view import Axis, Form

WIDE, LEFT, RIGHT = 640, 190, 620  # of a picture, and where its axis begins and ends
ROW, TOP, TALL, FOOT = 34, 34, 250, 44

Place = Callable[[float], float]


def drawn(picture: Mapping[str, Any]) -> Markup:
    """Return a picture of case rows, or of lines, as SVG; see their payloads."""
    body, tall = _lines(picture) if "lines" in picture else _rows(picture)
    return Markup(f'<figure><svg viewBox="0 0 {WIDE} {tall}" role="img">{body}</svg></figure>')


def _scale(axis: Mapping[str, Any], start: float, end: float) -> Place:
    by = math.log if axis["log"] else float
    low, high = by(axis["low"]), by(axis["high"])
    return lambda value: round(start + (by(value) - low) / (high - low) * (end - start), 1)


def _text(x: float, y: float, text: str, anchor: str = "middle") -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}">{escape(text)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, colour: str = "#000") -> str:
    return f'<path d="M{x1} {y1}L{x2} {y2}" stroke="{colour}" fill="none"/>'


def _rows(picture: Mapping[str, Any]) -> tuple[str, int]:
    axis, rows = picture["axis"], picture["rows"]
    place, parts = _scale(axis, LEFT, RIGHT), []
    for n, row in enumerate(rows):
        y = (n + 0.7) * ROW
        parts.append(_text(LEFT - 12, y + 4, "".join(text for text, _ in row["label"]), "end"))
        parts.append(_line(LEFT, y, RIGHT, y))
        parts += [_line(place(at), y - 5, place(at), y + 5) for at, _ in axis["ticks"]]
    y = len(rows) * ROW + 12
    parts += [_text(place(at), y, text) for at, text in axis["ticks"]]
    parts.append(_text((LEFT + RIGHT) / 2, y + 18, axis["title"]))
    return "".join(parts), y + FOOT // 2


def _lines(picture: Mapping[str, Any]) -> tuple[str, int]:
    axes, left = picture["axes"], 70
    x, y = _scale(axes["x"], left, RIGHT), _scale(axes["y"], TALL, TOP)
    parts = [_line(left, TOP, left, TALL), _line(left, TALL, RIGHT, TALL)]
    for at, text in _ticks(axes["x"], "figure"):
        parts += [_line(x(at), TALL, x(at), TALL + 5), _text(x(at), TALL + 18, text)]
    for at, text in _ticks(axes["y"], picture.get("form", "figure")):
        parts += [_line(left, y(at), RIGHT, y(at), "#ccc"), _text(left - 8, y(at) + 4, text, "end")]
    for line in picture["lines"]:
        points = [f"{x(a)},{y(b)}" for a, b in zip(line["x"], line["y"], strict=True)]
        if not points:
            continue
        parts.append(f'<polyline points="{" ".join(points)}" stroke="#000" fill="none"/>')
        at, height = map(float, points[-1].split(","))
        parts.append(f'<circle cx="{at}" cy="{height}" r="3"/>')
        anchor = "start" if at < WIDE / 2 else "end"
        parts.append(_text(at, height - 8, line["label"], anchor))
    parts.append(_text((left + RIGHT) / 2, TALL + 36, axes["x"]["title"]))
    parts.append(_text(left, 10, axes["y"]["title"], "start"))
    return "".join(parts), TALL + FOOT


def _ticks(axis: Mapping[str, Any], form: Form) -> list[tuple[float, str]]:
    marks = axis["marks"] or Axis(axis["low"], axis["high"], log=axis["log"]).marks(form)
    return [(at, text) for at, text in marks if axis["low"] <= at <= axis["high"]]
