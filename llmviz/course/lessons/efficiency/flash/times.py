"""Attention in three ways on this machine, measured in the background when asked for."""

import streamlit as st

from llmviz.course.figures.lines import Line, lines
from llmviz.course.lessons.efficiency.flash import words
from llmviz.course.lessons.efficiency.flash.attention_costs import (
    HEAD_SIZE,
    HEADS,
    LENGTHS,
    SIDE,
    TRIES,
    WAYS,
    AttentionCost,
)
from llmviz.course.lessons.efficiency.flash.film import KEY
from llmviz.course.lessons.efficiency.flash.moved import amount
from llmviz.course.ui import kit

measuring = kit.job_of("llmviz.course.lessons.efficiency.flash.attention_costs:attention_costs")


def draw(state: kit.PageState) -> None:
    """Show the button, and what was measured."""
    kit.section(words.times_section, heads=HEADS, size=HEAD_SIZE, side=SIDE)
    kit.live(
        state,
        "flashtimes",
        measuring,
        (),
        _measured,
        start=words.times_start,
        share=lambda job: len(job.results) / (len(WAYS) * len(LENGTHS)),
        said=kit.Said(words.times_going, words.times_stopped, words.times_again),
    )


def _measured(job: kit.Job) -> None:
    costs = tuple(job.results)
    if not costs:
        return
    places = st.columns(2, gap="large")
    for place, figure, name, key in zip(
        places,
        figures(costs, kit.theme()),
        (words.times_name, words.peak_name),
        ("times", "peaks"),
        strict=True,
    ):
        place.caption(name)
        place.plotly_chart(figure, key=f"{KEY}.{key}", theme=None)
    if line := report(costs):
        kit.prose(line)
    st.caption(words.times_note.format(tries=TRIES))


@kit.kept(32)
def figures(costs: tuple[AttentionCost, ...], mode: kit.Mode) -> tuple[kit.Figure, kit.Figure]:
    """Return time and memory over the length of the text."""

    def drawn(values: dict[AttentionCost, float]) -> list[Line]:
        own = {way: [cost for cost in values if cost.way == way] for way in WAYS}
        return [
            Line(
                words.ways[way],
                [c.length for c in of_way],
                [values[c] for c in of_way],
                number,
            )
            for number, (way, of_way) in enumerate(own.items())
        ]

    times = drawn({cost: cost.milliseconds for cost in costs})
    peaks = drawn({cost: cost.memory / 1e6 for cost in costs})
    both = {"mode": mode, "logarithmic": (True, True), "height": 320, "ticks": LENGTHS}
    return lines(times, words.times_axes, **both), lines(peaks, words.peak_axes, **both)


def report(costs: tuple[AttentionCost, ...]) -> str:
    """Return what each way took at the longest text that all were measured at; "" before."""
    by_length: dict[int, dict[str, AttentionCost]] = {}
    for cost in costs:
        by_length.setdefault(cost.length, {})[cost.way] = cost
    whole = [length for length, ways in by_length.items() if len(ways) == len(WAYS)]
    if not whole:
        return ""
    ways = by_length[max(whole)]
    line = {way: cost.milliseconds for way, cost in ways.items()}
    line |= {f"{way}_memory": amount(cost.memory) for way, cost in ways.items()}
    return words.times_read.format(length=kit.count(max(whole), "token"), **line)
