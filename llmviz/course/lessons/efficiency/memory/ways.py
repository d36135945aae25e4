"""The same step made in several ways, its bytes counted and its time measured."""

import streamlit as st

from llmviz.course.figures.losses import compared
from llmviz.course.lessons.efficiency.memory import words
from llmviz.course.lessons.efficiency.memory.chosen import KEY, Chosen
from llmviz.course.lessons.efficiency.memory.model import PIECES, ROUNDS, Way, Ways, group_sizes
from llmviz.course.ui import engine, kit
from llmviz.models.room import spoken_bytes

MB = 1e6


@kit.kept(12)
def ways_of(bundled: engine.Bundled, rows: int, tokens: int) -> kit.Job:
    """Return the work on one batch in a process of its own; the same is done only once."""
    target = "llmviz.course.lessons.efficiency.memory.model:memory_ways"
    return kit.training_jobs().start(target, name=bundled.name, rows=rows, tokens=tokens)


def draw(state: kit.PageState, chosen: Chosen) -> None:
    """Show the button, and what was found."""
    kit.section(words.ways)
    kit.predict(question(chosen.config.n_layer), f"{KEY}.recompute")
    tried = 1 + len(group_sizes(chosen.config.n_layer))
    tried += sum(pieces <= chosen.rows for pieces in PIECES)
    kit.live(
        state,
        "memoryways",
        ways_of,
        (chosen.bundled, chosen.rows, chosen.tokens),
        _draw_results,
        start=words.ways_start,
        share=lambda job: len(job.results) / (tried + ROUNDS),
        said=kit.Said(words.ways_goes, words.ways_stopped, words.ways_again),
    )
    kit.prose(words.ways_command)


def question(layers: int) -> kit.Question:
    """Ask what recomputing costs a model of so many blocks, in forward passes of a block."""
    line = {"layers": layers, "blocks": kit.count(layers, "block")}
    times = {"none": 3, "right": 4, "backward": 5, "all": 6}
    reasons = {n * layers: words.recompute_reasons[name] for name, n in times.items()}
    right = 4 * layers
    return kit.Question.among(
        words.recompute_ask, reasons, right, **line, plain=3 * layers, right=right
    )


def _draw_results(job: kit.Job) -> None:
    measurements = [result for result in list(job.results) if isinstance(result, Ways)]
    if not measurements:
        return
    last = measurements[-1]
    peaks, times = figures(last.ways, kit.theme())
    left, right = st.columns(2, gap="large")
    left.plotly_chart(peaks, key=f"{KEY}.peaks", theme=None)
    if times is not None:
        right.plotly_chart(times, key=f"{KEY}.times", theme=None)
    columns = dict(zip(words.ways_columns, zip(*table(last.ways), strict=True), strict=True))
    if not last.rounds:
        for title in words.ways_times:
            del columns[title]
    kit.columns_table(columns, column_config=kit.grouped(words.ways_columns[1:3]))
    if last.rounds:
        kit.prose("\n\n".join(report(last.ways)))
        st.caption(words.ways_note.format(rounds=kit.count(last.rounds, "step")))


def way_name(way: Way) -> str:
    """Return what a way does, in words."""
    if way.recompute:
        several = way.recompute > 1
        name = words.way_recompute_groups if several else words.way_recompute
        return name.format(every=way.recompute)
    if way.pieces > 1:
        return words.way_pieces.format(pieces=way.pieces)
    return words.way_plain


@kit.kept(32)
def figures(ways: tuple[Way, ...], mode: kit.Mode) -> tuple[kit.Figure, kit.Figure | None]:
    """Return the peaks as bars, and the times once all are measured."""
    names = [way_name(way) for way in ways]
    peaks = compared(names, [way.peak / MB for way in ways], 0, words.peak_axis, mode, digits=1)
    if any(way.milliseconds is None for way in ways):
        return peaks, None
    times = [way.milliseconds for way in ways]
    return peaks, compared(names, times, 0, words.time_axis, mode, digits=0)


def table(ways: tuple[Way, ...]) -> list[tuple]:
    """Return a row for each way; what is not measured yet is empty."""
    first = ways[0].milliseconds
    return [
        (
            way_name(way),
            way.peak,
            way.activations,
            None if way.milliseconds is None else round(way.milliseconds, 1),
            None if way.milliseconds is None or not first else round(way.milliseconds / first, 2),
            kit.power_of_ten(way.difference),
        )
        for way in ways
    ]


def _equal(difference: float) -> str:
    """How far gradients are from those of the plain step."""
    return (
        words.not_equal.format(difference=kit.power_of_ten(difference))
        if difference
        else words.equal
    )


def report(ways: tuple[Way, ...]) -> list[str]:
    """Return what was found, in sentences; all times are measured."""
    plain = ways[0]
    again = [way for way in ways if way.recompute]
    best = min(again, key=lambda way: way.peak)
    worst = max(way.difference for way in again)
    lines = [
        words.ways_read.format(
            way=way_name(best),
            peak=spoken_bytes(best.peak),
            share=kit.percent(best.peak / plain.peak),
            plain=spoken_bytes(plain.peak),
            ratio=best.milliseconds / plain.milliseconds,
            equal=_equal(worst),
        )
    ]
    split = [way for way in ways if way.pieces > 1]
    if split:
        last = split[-1]
        lines.append(
            words.ways_pieces.format(
                pieces=last.pieces,
                peak=spoken_bytes(last.peak),
                ratio=last.milliseconds / plain.milliseconds,
                equal=_equal(last.difference),
            )
        )
    return lines
