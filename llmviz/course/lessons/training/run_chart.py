"""The chart of several runs: their curves over one axis, with the lines to compare them with."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

import numpy as np

from llmviz.course.components.curves.view import Line, RunCurve, View, curves, view_of
from llmviz.course.lessons.training import words as words
from llmviz.course.lessons.training.charted_runs import ChartedRun, references_of
from llmviz.course.lessons.training.loss_unit import PAIR, blind, note, units
from llmviz.course.ui import kit
from llmviz.training.curves import AXES, KEPT_POINTS, Curve, in_unit, points_each, smooth, thin
from llmviz.training.references import References

POLL = 1.0  # seconds between two looks at a run that goes on


def lines_of(known: References | None) -> list[Line]:
    """The lines that a run's loss is compared with, in nats per token; none where unknown."""
    if known is None:
        return []
    values = {
        "uniform": known.uniform,
        "unigram": known.unigram,
        "bigram": known.bigram,
        "floor": known.floor,
    }
    return [
        Line(words.run_chart_lines[name], value, floor=name == "floor")
        for name, value in values.items()
        if value is not None
    ]


def _lines(main: ChartedRun, known: References | None) -> list[Line]:
    if main.counted == PAIR:
        return [Line(words.run_chart_blind, blind(main.description))]
    return lines_of(known)


def chart(
    drawn: Sequence[ChartedRun],
    view: View,
    *,
    key: str,
    at: int | None = None,
    weights: Sequence[float] = (),
    offered: Sequence[str] = (),
    on_view: Callable[[], None] | None = None,
    on_at: Callable[[], None] | None = None,
    colours: Sequence[int] | None = None,
    hidden: Sequence[str] | None = None,
    on_hidden: Callable[[], None] | None = None,
) -> None:
    """Draw runs over one axis, with the lines that the main one is compared with.

    weights: shares of smoothing that can be chosen where `offered` has "mean".
    """
    limit = points_each(len(drawn))
    references = [known[0] if (known := references_of(run)) else None for run in drawn]
    stops = tuple(sorted({*weights, view.mean} - {0.0}))
    run_curves = [
        run_curve(
            run.name,
            run.label,
            colours[i] if colours else i,
            run.curve,
            float(in_unit(1.0, "bits", known.tokens_per_byte if known else 1.0)),
            stops,
            limit,
        )
        for i, (run, known) in enumerate(zip(drawn, references, strict=True))
    ]
    curves(
        run_curves,
        key=key,
        axes={
            "x": words.run_chart_axes,
            "y": units(run.counted for run in drawn),
            "lr": words.run_chart_lr,
            "grad": words.run_chart_gradient,
        },
        words=words.run_chart_picture,
        lines=_lines(drawn[0], references[0]),
        at=at,
        view=view,
        weights=stops,
        offered=offered,
        notes={
            "thinned": _thinned(drawn, limit),
            "smoothed": words.run_chart_smoothed,
            "bytes": "" if all(references) else words.run_chart_no_bytes,
            "counted": note(run.counted for run in drawn),
        },
        on_view=on_view,
        on_at=on_at,
        hidden=hidden,
        on_hidden=on_hidden,
    )


def take_view(state: kit.PageState, key: str, slots: Mapping[str, str]) -> None:
    """Put what was chosen on a chart into a page's controls; `slots` names the control of each.

    What no link could say is left alone: a browser may send anything.
    """
    for name, value in view_of(key).items():
        slot = slots.get(name)
        if slot is None or value == state[slot]:
            continue
        param = state.params[slot]
        try:
            written = param.write(value)
            state[slot] = param.default if written is None else param.read(written)
        except (TypeError, ValueError, AttributeError):
            continue


@lru_cache(maxsize=256)
def run_curve(
    name: str,
    label: str,
    colour: int,
    curve: Curve,
    bits: float,
    weights: tuple[float, ...],
    limit: int,
) -> RunCurve:
    """One run's arrays; the means are over all points, and then thinned with them."""
    kept = thin(curve.train, limit)
    measured = np.flatnonzero(~np.isnan(curve.validation))
    means = [smooth(curve.train, weight)[kept] for weight in weights]
    return RunCurve(
        name=name,
        label=label,
        colour=colour,
        bits=bits,
        steps=curve.steps[kept],
        tokens=curve.tokens[kept],
        seconds=curve.seconds[kept],
        train=curve.train[kept],
        means=np.array(means).reshape(len(weights), len(kept)),
        measured={axis: curve.column(axis)[measured] for axis in AXES},
        validation=curve.validation[measured],
        lr=curve.lr[kept],
        grad_norm=curve.grad_norm[kept],
        rate=curve.rate[kept],
        samples=[(int(curve.steps[i]), text) for i, text in curve.samples],
    )


def _thinned(drawn: Sequence[ChartedRun], limit: int) -> str:
    longest = max(run.curve.lines for run in drawn)
    if longest > KEPT_POINTS:
        return words.run_chart_long.format(points=longest, kept=KEPT_POINTS)
    return "" if longest <= limit else words.run_chart_thinned.format(limit=limit, points=longest)
