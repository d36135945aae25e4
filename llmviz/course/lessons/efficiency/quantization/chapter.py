"""Chapter "Quantization": the loss by bits, what the model then writes, and what rounding does."""

import math
from itertools import takewhile

import numpy as np
import streamlit as st

from llmviz.course.figures.lines import Line, lines
from llmviz.course.figures.quantization import error_bars
from llmviz.course.lessons.efficiency.quantization import row, training, words
from llmviz.course.lessons.efficiency.quantization.model import (
    GROUP_OF,
    MODEL,
    WAYS,
    Curves,
    MatrixError,
    Way,
    curves,
    matrix_errors,
)
from llmviz.course.lessons.efficiency.quantization.row import model
from llmviz.course.ui import engine, kit
from llmviz.finetuning.continuations import continuation
from llmviz.quantization.kernels import INT4_GROUPS
from llmviz.quantization.model import QuantizedModel, plain_bytes, quantize_model, sizes
from llmviz.quantization.quantized_models import AWQ, CALIBRATED_ON, ROUNDING, scaled
from llmviz.quantization.quantized_speed import FLOAT32, INT4, INT8, KINDS, WIDTHS, Speed
from llmviz.quantization.scheme import GROUP, Scheme

KEY, GUESS = "efficiency.quantization", "efficiency.quantization.loss"
KNOWN = 4  # numbers of bits whose loss is drawn before the question: 8, 7, 6 and 5
APART = 0.5  # nats at 2 bits, between the answers of the question
TOKENS = 60  # that are written


measured = kit.cached(1)(curves)


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the loss by bits and the guess how it goes on; then rows, matrices and training."""
    kit.prose(words.hook)
    if not kit.models_here(MODEL):
        return
    known = kit.or_refused(measured)
    scheme = scheme_of(state)
    shown = known is None
    if known is not None:
        with kit.stage("quantization"):
            shown = _stage(state, scheme, known)
    if shown:
        kit.or_refused(_written, state, scheme)
        kit.looks(state, words.looks, f"{KEY}.looks")
        kit.real_case("bits", words.real, bitsleft="4")
    kit.section(words.deeper)
    kit.choose(state, "qview", words.view, words.views, parts=True)
    if state["qview"] == "training":
        training.draw(state)
    else:
        kit.or_refused(row.draw if state["qview"] == "row" else _matrices, state, scheme)
    if known is not None and shown:
        points = {point.bits: point.loss for point in known.points[way_of(state).key]}
        kit.seen(words.end, four=points[4], two=points[2], exact=known.loss)


def scheme_of(state: kit.PageState) -> Scheme:
    symmetric = state["qform"] == "symmetric"
    return Scheme(state["qbits"], symmetric, state["qper"], int(state["qgroup"]))


def way_of(state: kit.PageState) -> Way:
    """Return the measured way that the controls name; groups were measured with one size."""
    method = state["qmethod"] if state["qper"] == GROUP else ROUNDING
    return Way(state["qform"] == "symmetric", state["qper"], method)


def _stage(state: kit.PageState, scheme: Scheme, known: Curves) -> bool:
    """Draw the loss by bits and the guess; return whether all is shown."""
    way = way_of(state)
    guess = kit.Guess(GUESS, question(known, way))
    shown = guess.open

    def drawn(of: Way, role: str) -> kit.Drawn:
        points = known.points[of.key]
        x = [8 - point.bits for point in points]
        return kit.Drawn(way_name(of), x, [point.loss for point in points], role)

    others = [other for other in WAYS if other.symmetric == way.symmetric and other != way]
    top = 1.1 * max(point.loss for line in known.points.values() for point in line)
    guess.line(
        [drawn(other, "residual") for other in others] if shown else [],
        drawn(way, "query"),
        kit.Scale(0, 6, words.bits, marks=[(8 - bits, str(bits)) for bits in range(2, 9)]),
        kit.Scale(0, top, words.loss_axis),
        known=KNOWN,
        picture=f"{KEY}.curve",
        levels=[(known.loss, words.exact_line)],
    )
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.slider(words.bits, width=220, **state.ranged("qbits"))
        kit.choose(state, "qper", words.per, words.pers)
        kit.choose(state, "qform", words.form, words.forms)
        if state["qper"] == GROUP:
            kit.choose(state, "qgroup", words.group, words.groups)
    kit.prose(words.scheme[state["qform"]], bits=scheme.bits, codes=scheme.codes)
    return guess.ask()


def question(known: Curves, way: Way) -> kit.Question | None:
    """Ask how the loss goes on below 5 bits. None where the answers are too near.

    The wrong answers: it goes on as gently as so far; or each further bit costs the same, until the
    model knows nothing with none.
    """
    points = known.points[way.key]
    last, later = points[KNOWN - 1], points[KNOWN:]
    gentle = (last.loss - points[0].loss) / (points[0].bits - last.bits)
    nothing = math.log(model().model.vocab_size)
    steep = (nothing - last.loss) / last.bits
    values = {
        "truth": [point.loss for point in later],
        "gentle": [last.loss + gentle * (last.bits - point.bits) for point in later],
        "steep": [last.loss + steep * (last.bits - point.bits) for point in later],
    }
    apart = [
        max(map(abs, np.subtract(values["truth"], values[name]))) for name in ("gentle", "steep")
    ]
    if min(apart) < APART:
        return None
    slots = {"last": last.loss, "four": later[0].loss, "two": later[-1].loss, "exact": known.loss}
    return kit.Question(
        words.ask.format(way=way_name(way), **slots),
        [words.answers[name] for name in values],
        0,
        [words.reasons[name].format(**slots) for name in values],
        values=[tuple(line) for line in values.values()],
    )


def way_name(way: Way) -> str:
    """Return how a way is called, without its form."""
    return words.ways[f"{way.per}-{way.method}"].format(group=f"group of {GROUP_OF}")


rounded_from = kit.cached(8)(kit.on_model_and_tokenizer(scaled))


@kit.cached(4)
def small_of(bundled: engine.Bundled, scheme: Scheme, method: str) -> QuantizedModel:
    return quantize_model(rounded_from(bundled, scheme, method), scheme)


@kit.cached(64)
def text_after(bundled: engine.Bundled, scheme: Scheme | None, method: str, text: str) -> str:
    """Return what the model writes, itself or on the grid."""
    own = bundled.model if scheme is None else small_of(bundled, scheme, method).model
    return continuation(own, bundled.tokenizer, text, TOKENS).text.strip()


def _written(state: kit.PageState, scheme: Scheme) -> None:
    """Show what the model writes after the learner's text, itself and on the grid."""
    text = kit.readable(state["qtext"], kit.LOOKED_AT, words.empty, kit.furniture.too_long)
    if text is not None:
        both = [text_after(model(), of, state["qmethod"], text) for of in (None, scheme)]
        for column, label, written in zip(st.columns(2), words.models, both, strict=True):
            column.markdown(f"**{label.format(bits=scheme.bits)}**")
            column.code(written or words.nothing, language=None, wrap_lines=True)
        before, size = plain_bytes(model().model, 2), sizes(model().model, scheme)
        kit.prose(f"{compared(*both)} {words.size}", times=before / size.total)
    kit.text_area(state, "qtext", words.text_label, height=80)


def compared(text: str, other: str) -> str:
    """Return how far two texts are the same.

    >>> compared("A cat", "A cow")
    'The first 3 characters are the same.'
    """
    if text == other:
        return words.same
    same = sum(1 for _ in takewhile(lambda two: two[0] == two[1], zip(text, other, strict=False)))
    return words.different["some" if same > 1 else ("none", "one")[same]].format(count=same)


@kit.cached(32)
def errors_of(
    bundled: engine.Bundled, scheme: Scheme, method: str, ids: tuple[int, ...]
) -> tuple[MatrixError, ...]:
    return tuple(matrix_errors(rounded_from(bundled, scheme, method), ids, scheme))


def _matrices(state: kit.PageState, scheme: Scheme) -> None:
    """Show how far each matrix is off, and the speed. Raises ValueError as quantization does."""
    text = kit.readable(state["qtext"], kit.LOOKED_AT, words.empty, kit.furniture.too_long)
    if text is not None:
        ids = tuple(model().tokenizer.encode_from_start(text)[: model().model.context_length])
        kit.chart(bars(model(), scheme, state["qmethod"], ids, kit.theme()), f"{KEY}.layers")
        kit.choose(state, "qmethod", words.method, words.methods)
        if state["qmethod"] == AWQ:
            kit.prose(words.awq_text)
        kit.prose(report(errors_of(model(), scheme, state["qmethod"], ids)))
        kit.measured(words.how_layers, texts=CALIBRATED_ON)
    kit.section(words.speed)
    kit.live(
        state,
        "qspeed",
        speeds,
        (),
        _speeds_drawn,
        start=words.speed_start,
        share=lambda job: len(job.results) / (len(WIDTHS) * len(KINDS)),
        said=kit.JobWords(words.going, words.stopped, words.again),
    )
    groups = f"{', '.join(map(str, INT4_GROUPS[:-1]))} or {INT4_GROUPS[-1]}"
    kit.measured(words.how_fast, groups=groups)


def name_of(path: str) -> str:
    """Return how a matrix is called: its layer and what it is for."""
    _, layer, matrix = path.split(".", 2)
    return f"{layer}: {words.matrices.get(matrix, matrix)}"


def spoken(path: str) -> str:
    """Return how a matrix is called in a sentence."""
    layer, matrix = name_of(path).split(": ", 1)
    return words.in_layer.format(matrix=kit.quote(matrix), layer=layer)


@kit.cached(32)
def bars(
    bundled: engine.Bundled, scheme: Scheme, method: str, ids: tuple[int, ...], mode: kit.Mode
) -> kit.Figure:
    """Return both errors of each matrix."""
    errors = errors_of(bundled, scheme, method, ids)
    both = [error.weights for error in errors], [error.outputs for error in errors]
    labels = [name_of(error.path) for error in errors]
    return error_bars(labels, both, words.layers_names, words.layers_axis, mode)


def report(errors: tuple[MatrixError, ...]) -> str:
    """Return which matrices are off most and least."""
    worst = max(errors, key=lambda error: error.outputs)
    best = min(errors, key=lambda error: error.outputs)
    return words.layers_read.format(
        worst=spoken(worst.path),
        most=kit.percent(worst.outputs),
        best=spoken(best.path),
        least=kit.percent(best.outputs),
    )


@kit.cached(1)
def speeds() -> kit.Job:
    """Return the measurement, in a process of its own."""
    return kit.map_jobs().start("llmviz.quantization.quantized_speed:product_speeds")


def _speeds_drawn(job: kit.Job) -> None:
    found = tuple(job.results)
    if whole := found[: len(found) - len(found) % len(KINDS)]:
        kit.chart(speed_chart(whole, kit.theme()), f"{KEY}.speed")


@kit.cached(8)
def speed_chart(found: tuple[Speed, ...], mode: kit.Mode) -> kit.Figure:
    """Return how many times as fast as float32 each kind is, by width."""
    took = [(run, run.seconds) for run in found if run.seconds is not None]
    plain = {run.width: seconds for run, seconds in took if run.kind == FLOAT32}
    drawn: list[Line] = []
    for kind in (INT8, INT4):
        own = {run.width: seconds for run, seconds in took if run.kind == kind}
        if own:
            y = [plain[width] / seconds for width, seconds in own.items()]
            drawn.append(Line(words.speed_names[kind], list(own), y, len(drawn)))
    level = (1.0, words.speed_level)
    return lines(drawn, words.speed_axes, mode, level=level, hover="%{y:.2f}", height=300)
