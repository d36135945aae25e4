"""Training on the grid: the staircase and its straight line, one weight, and a small model."""

import streamlit as st

from llmviz.course.figures.adapters import Curve, lines
from llmviz.course.lessons.efficiency.quantization import words
from llmviz.course.lessons.efficiency.quantization.model import Update, staircase, walk
from llmviz.course.ui import engine, kit
from llmviz.evaluation.quantization_aware import BITS, CHECKS, EXACT, KINDS, MODEL, Checked
from llmviz.quantization.grid_training import RATE
from llmviz.quantization.qat import finish_qat, prepare_qat
from llmviz.quantization.scheme import CHANNEL, Scheme

KEY = "efficiency.quantization.training"
START, TARGET, UPDATES = -0.3, 0.7, 40
ROLES = {EXACT: "residual", 4: "value", 3: "query", 2: "key"}

stairs_of = kit.cached(4)(staircase)


@kit.cached(64)
def walk_of(bits: int, rate: float) -> tuple[Update, ...]:
    return tuple(walk(bits, START, TARGET, rate, UPDATES))


def draw(state: kit.PageState) -> None:
    """Show the staircase and one weight that learns, then the race of small models."""
    bits, rate = int(state["stairbits"]), state["stairrate"]
    left, right = st.columns(2, gap="large")
    left.plotly_chart(staircase_figure(bits, kit.theme()), key=f"{KEY}.stairs", theme=None)
    right.plotly_chart(walk_figure(bits, rate, kit.theme()), key=f"{KEY}.walk", theme=None)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        kit.choose(state, "stairbits", words.bits, words.training_stair_bits)
        st.slider(words.training_rate, step=0.02, width=260, **state.ranged("stairrate"))
    updates = walk_of(bits, rate)
    kit.prose(f"{words.training_stair} {words.training_walk_read}", **report(updates, rate))
    kit.measured(words.how_walk, **report(updates, rate))
    kit.section(words.training_qat, model=MODEL)
    if not kit.models_here(MODEL):
        return
    anew = state.setter(qattrained=False)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        kit.choose(state, "qatform", words.form, words.forms, then=anew)
        kit.choose(state, "qatper", words.per, words.training_qat_per, then=anew)
        st.slider(
            words.training_updates, step=50, width=260, **state.ranged("qatupdates", then=anew)
        )
    kit.live(
        state,
        "qattrained",
        race_of,
        (state["qatupdates"], state["qatform"], state["qatper"]),
        lambda job: _draw_results(job, state["qatupdates"]),
        start=words.training_qat_start,
        share=lambda job: len(job.results) / (len(KINDS) * (CHECKS + 1)),
    )

    def printed() -> str:
        small = finish_qat(prepare_qat(engine.load(MODEL).model, Scheme(2, per=CHANNEL)))
        return str(sorted({int(c) for matrix in small.matrices.values() for c in matrix.codes[0]}))

    kit.show_code([prepare_qat, finish_qat], words.snippet_training.format(model=MODEL), printed)


@kit.cached(8)
def staircase_figure(bits: int, mode: kit.Mode) -> kit.Figure:
    """Return the staircase, the straight line and the gradient."""
    stairs = stairs_of(bits)
    forward, line, backward = words.training_stair_names
    curves = [
        Curve(forward, stairs.weights, stairs.rounded, "weights"),
        Curve(line, stairs.weights, stairs.weights, "residual", dashed=True),
        Curve(backward, stairs.weights, stairs.gradient, "key"),
    ]
    return lines(curves, words.training_stair_axes, mode)


@kit.cached(32)
def walk_figure(bits: int, rate: float, mode: kit.Mode) -> kit.Figure:
    """Return the exact and the rounded weight, update by update."""
    updates = walk_of(bits, rate)
    steps = range(len(updates))
    exact, rounded, target = words.training_walk_names
    curves = [
        Curve(exact, steps, [update.weight for update in updates], "query"),
        Curve(rounded, steps, [update.rounded for update in updates], "weights", marks=True),
        Curve(target, (0, len(updates) - 1), (TARGET, TARGET), "accent", dashed=True),
    ]
    return lines(curves, words.training_walk_axes, mode)


def report(updates: tuple[Update, ...], rate: float) -> dict[str, object]:
    """Return the first update in numbers, and the last rounded weight."""
    first, second = updates[:2]
    return {
        "weight": kit.signed(first.weight),
        "rounded": kit.signed(first.rounded),
        "target": TARGET,
        "gradient": kit.signed(first.at_weight),
        "rate": rate,
        "operand": kit.operand(kit.signed(first.at_weight)),
        "after": kit.signed(second.weight),
        "updates": len(updates) - 1,
        "last": kit.signed(updates[-1].rounded),
    }


@kit.cached(12)
def race_of(updates: int, form: str, per: str) -> kit.Job:
    """Return the trainings in a process of their own; the same ones are run only once."""
    target = "llmviz.evaluation.quantization_aware:quantization_aware"
    scheme = Scheme(symmetric=form == "symmetric", per=per)
    return kit.training_jobs().start(
        target, steps=updates, scheme=scheme.to_dict(), rate=RATE, base=MODEL
    )


def _draw_results(job: kit.Job, updates: int) -> None:
    reports = list(job.results)
    if not reports:
        return
    kit.chart(figure(job, len(reports), kit.theme()), f"{KEY}.race")
    last = {result.bits: result for result in reports}
    if len(reports) == len(KINDS) * (CHECKS + 1) or all(
        bits in last and last[bits].step >= updates for bits in KINDS
    ):
        first = {result.bits: result for result in reports if result.step == 0}
        kit.prose(" ".join(race_line(first, last, bits) for bits in BITS))


@kit.cached(32)
def figure(job: kit.Job, count: int, mode: kit.Mode) -> kit.Figure:
    """Return the loss of each training over its first looks, `count` in all."""
    reports = list(job.results)[:count]
    curves = []
    for bits in KINDS:
        own = [result for result in reports if result.bits == bits]
        if own:
            x, y = [result.step for result in own], [result.loss for result in own]
            name = words.training_qat_names[bits]
            curves.append(Curve(name, x, y, ROLES[bits], dashed=bits == EXACT, marks=True))
    return lines(curves, words.training_qat_axes, mode)


def race_line(first: dict[int, Checked], last: dict[int, Checked], bits: int) -> str:
    """Return what is left of the cost of rounding, in a sentence."""
    before, after = (end[bits].loss - end[EXACT].loss for end in (first, last))
    kind = "lower" if round(after, 3) < round(before, 3) else "not"
    numbers = {"before": kit.signed(before, 3), "after": kit.signed(after, 3)}
    return words.training_qat_read[kind].format(bits=bits, **numbers)
