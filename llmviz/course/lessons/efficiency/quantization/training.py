"""A small model trained on grids of few bits while the learner watches."""

import streamlit as st

from llmviz.course.figures.adapters import Curve, lines
from llmviz.course.lessons.efficiency.quantization import words
from llmviz.course.lessons.efficiency.quantization.digits import difference
from llmviz.course.lessons.efficiency.quantization.setting import KEY
from llmviz.course.ui import engine, kit
from llmviz.quantization.qat import finish_qat, prepare_qat
from llmviz.quantization.quantization_aware import BITS, CHECKS, EXACT, KINDS, MODEL, RATE, Checked
from llmviz.quantization.scheme import CHANNEL, Scheme

ROLES = {EXACT: "residual", 4: "value", 3: "query", 2: "key"}


@kit.kept(12)
def race_of(updates: int, form: str, per: str) -> kit.Job:
    """Return the trainings in a process of their own; the same ones are run only once."""
    target = "llmviz.quantization.quantization_aware:quantization_aware"
    scheme = Scheme(symmetric=form == "symmetric", per=per)
    return kit.training_jobs().start(
        target, steps=updates, scheme=scheme.to_dict(), rate=RATE, base=MODEL
    )


def draw(state: kit.PageState) -> None:
    """Show the controls, the button and the race."""
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

    kit.show_code(
        [prepare_qat, finish_qat],
        words.snippet_training.format(model=MODEL),
        printed,
    )


def _draw_results(job: kit.Job, updates: int) -> None:
    reports = list(job.results)
    if not reports:
        return
    kit.chart(figure(job, len(reports), kit.theme()), f"{KEY}.race")
    last = {result.bits: result for result in reports}
    if len(reports) < len(KINDS) or any(result.step < updates for result in last.values()):
        return
    first = {result.bits: result for result in reports if result.step == 0}
    kit.rows_table(
        [
            (
                words.training_qat_names[bits],
                f"{first[bits].loss:.4f}",
                f"{last[bits].loss:.4f}",
                f"{last[bits].seconds:.1f}",
            )
            for bits in KINDS
        ],
        words.training_qat_columns,
    )
    kit.prose("\n\n".join(report(first, last, bits) for bits in BITS))


@kit.kept(32)
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


def report(first: dict[int, Checked], last: dict[int, Checked], bits: int) -> str:
    """Return what is left of the cost of rounding, in a sentence."""
    before = first[bits].loss - first[EXACT].loss
    after = last[bits].loss - last[EXACT].loss
    kind = "lower" if round(after, 3) < round(before, 3) else "not"
    line = {"bits": bits, "before": difference(before, 3), "after": difference(after, 3)}
    return words.training_qat_read[kind].format(**line)
