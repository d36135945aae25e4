"""How fast products with codes are on this machine, beside float32."""

from llmviz.course.figures.lines import Line, lines
from llmviz.course.lessons.efficiency.quantization import words
from llmviz.course.lessons.efficiency.quantization.setting import KEY
from llmviz.course.ui import kit
from llmviz.quantization.kernels import INT4_GROUPS
from llmviz.quantization.quantized_speed import (
    FLOAT32,
    INT4,
    INT8,
    KINDS,
    REPEATS,
    ROUNDS,
    WIDTHS,
    Speed,
)


@kit.kept(1)
def speeds() -> kit.Job:
    """Return the measurement, in a process of its own."""
    return kit.map_jobs().start("llmviz.quantization.quantized_speed:product_speeds")


def draw(state: kit.PageState) -> None:
    """Show the section."""
    groups = f"{', '.join(map(str, INT4_GROUPS[:-1]))} or {INT4_GROUPS[-1]}"
    kit.section(words.speed, groups=groups)
    kit.live(
        state,
        "qspeed",
        speeds,
        (),
        _draw_results,
        start=words.speed_start,
        share=lambda job: len(job.results) / (len(WIDTHS) * len(KINDS)),
        said=kit.Said(words.going, words.stopped, words.again),
    )


def _draw_results(job: kit.Job) -> None:
    measured = tuple(job.results)
    whole = measured[: len(measured) - len(measured) % len(KINDS)]
    if not whole:
        return
    kit.chart(chart(whole, kit.theme()), f"{KEY}.speed")
    kit.prose(report(whole[-len(KINDS) :]))


@kit.kept(8)
def chart(speeds: tuple[Speed, ...], mode: kit.Mode) -> kit.Figure:
    """Return how many times as fast as float32 each kind is, by width."""
    plain = {run.width: run.seconds for run in speeds if run.kind == FLOAT32}
    drawn = []
    for kind in (INT8, INT4):
        own = [run for run in speeds if run.kind == kind and run.seconds is not None]
        if own:
            y = [plain[run.width] / run.seconds for run in own]
            drawn.append(Line(words.speed_names[kind], [run.width for run in own], y, len(drawn)))
    return lines(
        drawn, words.speed_axes, mode, level=(1.0, words.speed_level), hover="%{y:.2f}", height=300
    )


def report(last: tuple[Speed, ...]) -> str:
    """Return the times of one width, in a sentence."""
    by_kind = {run.kind: run.seconds for run in last}
    others = []
    for kind in (INT8, INT4):
        seconds = by_kind[kind]
        if seconds is None:
            others.append(words.speed_none.format(kind=kind))
        else:
            line = {"ms": 1e3 * seconds, "times": by_kind[FLOAT32] / seconds}
            others.append(words.speed_one.format(kind=kind, **line))
    return words.speed_read.format(
        width=last[0].width,
        float32=1e3 * by_kind[FLOAT32],
        others=", ".join(others),
        repeats=REPEATS,
        rounds=ROUNDS,
    )
