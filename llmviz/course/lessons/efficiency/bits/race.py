"""One model trained in several precisions, in the background, while the learner watches."""

import math
from collections.abc import Callable

import streamlit as st

from llmviz.course.figures.lines import Line, lines
from llmviz.course.lessons.efficiency.bits import words as words
from llmviz.course.lessons.efficiency.bits.precision_race import (
    PrecisionEnd,
    PrecisionStep,
    precision_race,
)
from llmviz.course.ui import kit

KEY = "efficiency.bits.race"
EXPLODES = 3  # times the lowest loss: from there on the axis of losses is logarithmic
Steps = tuple[PrecisionStep, ...]
NEAR = 0.01  # nats per token that are called no difference
race_of = kit.job_of(
    "llmviz.course.lessons.efficiency.bits.precision_race:precision_race", "ways", "steps", "shrink"
)


def draw(state: kit.PageState) -> None:
    """Show the controls, the button, and the trainings."""
    kit.section(words.race_intro)
    anew = state.setter(precisionrun=False)
    st.multiselect(
        words.race_ways_label,
        list(words.race_ways),
        format_func=words.race_ways.__getitem__,
        **state.bind("ways", then=anew),
    )
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.slider(words.race_steps, step=20, width=260, **state.ranged("racesteps", then=anew))
        st.slider(words.race_shrink, width=260, **state.ranged("shrink", then=anew))
    ways = tuple(way for way in words.race_ways if way in state["ways"])
    if not ways:
        st.info(words.race_no_way, icon=":material/checklist:")
        return
    steps, shrink = state["racesteps"], state["shrink"]
    kit.live(
        state,
        "precisionrun",
        race_of,
        (ways, steps, shrink),
        _draw_results,
        start=words.race_start,
        share=lambda job: share_done(job, len(ways), steps),
    )
    kit.measured(words.how_race, near=NEAR)
    kit.show_code(
        [precision_race],
        words.snippet_race,
        "float32 1\nfloat16 1\nfloat32 2\nfloat16 2\nfloat32 2\nfloat16 2",
    )


def share_done(job: kit.Job, ways: int, steps: int) -> float:
    """Return how much of the trainings is done, from 0 to 1; one that ended early is done."""
    results = list(job.results)
    ended = [end for end in results if isinstance(end, PrecisionEnd)]
    early = sum(steps - end.step + 1 for end in ended if end.problem)  # its step failed
    return (len(results) - len(ended) + early) / (ways * steps)


def steps_by_way(results: Steps) -> dict[str, list[PrecisionStep]]:
    """Return the updates of each way, in the order of the ways."""
    by_way = {way: [result for result in results if result.way == way] for way in words.race_ways}
    return {way: own for way, own in by_way.items() if own}


def _draw_results(job: kit.Job) -> None:
    results = list(job.results)
    steps = tuple(result for result in results if isinstance(result, PrecisionStep))
    if not steps:
        return
    mode = kit.theme()
    charts = {
        "loss": (words.race_loss_axes, lambda step: step.loss, "%{y:.4f}"),
        "zero": (words.race_zero_axes, lambda step: step.zero, "%{y:.2%}"),
        "unchanged": (words.race_unchanged_axes, lambda step: step.unchanged, "%{y:.2%}"),
    }
    titles = {"zero": words.race_zero_title, "unchanged": words.race_unchanged_title}
    for name, (axes, value, hover) in charts.items():
        if name in titles:
            kit.prose(titles[name])
        kit.chart(_curves(job, len(steps), name, axes, value, hover, mode), f"{KEY}.{name}")
    ends = [result for result in results if isinstance(result, PrecisionEnd)]
    for end in ends:
        if end.problem:
            problem = end.problem.split(";")[0]
            kit.prose(
                words.race_ended, way=words.race_ways[end.way], step=end.step, problem=problem
            )
    if job.over:
        if cases := cases_of(steps):
            top = 1.1 * max(case.value or 0 for case in cases)
            axis = kit.Axis(0, top, words.race_axis)
            kit.case_rows(cases, axis, key=f"{KEY}.ends", form="figure")
        kit.prose("\n\n".join(filter(None, (verdict(steps), words.race_last_note))))


@kit.cached(48, key=lambda job, count, name, axes, value, hover, mode: (job, count, name, mode))
def _curves(
    job: kit.Job,
    count: int,
    name: str,
    axes: tuple[str, str],
    value: Callable[[PrecisionStep], float],
    hover: str,
    mode: kit.Mode,
) -> kit.Figure:
    """Return one line a way over the first `count` updates of a job."""
    steps = [result for result in list(job.results) if isinstance(result, PrecisionStep)][:count]
    order = list(words.race_ways)
    drawn = [
        Line(
            words.race_ways[way],
            [update.step for update in own],
            [value(update) for update in own],
            order.index(way),
            dashed=way.startswith("float16"),  # so that lines on top of each other are all seen
            marked=False,
        )
        for way, own in steps_by_way(tuple(steps)).items()
    ]
    heights = [value for line in drawn for value in line.y if value > 0]
    # One that explodes would press all others onto the axis.
    powers = name == "loss" and max(heights, default=1) > EXPLODES * min(heights, default=1)
    return lines(drawn, axes, mode, hover=hover, logarithmic=(False, powers))


def cases_of(steps: Steps) -> list[kit.Case]:
    """Return the held-out loss that each way came to, where it was measured."""
    ends = {way: _held_out(own) for way, own in steps_by_way(steps).items()}
    return [
        kit.Case(words.race_ways[way], loss, note=f"{loss:.4f}")
        for way, loss in ends.items()
        if loss is not None and math.isfinite(loss)
    ]


def _held_out(own: list[PrecisionStep]) -> float | None:
    """The held-out loss after the last update, in nats per token; None: not measured."""
    return own[-1].held_out if own else None


def verdict(steps: Steps) -> str:
    """Return what float16 without a scale came to beside float32; empty where one is not there."""
    by_way = steps_by_way(steps)
    plain, half = by_way.get("float32"), by_way.get("float16")
    if not plain or not half or len(plain) != len(half):
        return ""
    before, after = _held_out(plain), _held_out(half)
    if before is None or after is None:
        return ""
    line = {"zero": kit.percent(half[-1].zero), "other": kit.percent(plain[-1].zero)}
    more = round(after - before, 4)
    if abs(more) < NEAR:
        return words.race_same
    kind = words.race_worse if more > 0 else words.race_better
    return kind.format(more=f"{more:.2f}", less=f"{-more:.2f}", **line)
