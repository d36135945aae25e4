"""The straight-through estimator: the staircase, its gradient, and one weight that learns."""

import streamlit as st
import torch

from llmviz.course.figures.adapters import Curve, lines
from llmviz.course.lessons.efficiency.quantization import words
from llmviz.course.lessons.efficiency.quantization.setting import KEY
from llmviz.course.lessons.efficiency.quantization.straight_through import (
    BEYOND,
    Update,
    picture_scheme,
    staircase,
    walk,
)
from llmviz.course.ui import kit
from llmviz.quantization.qat import fake_quantize

START, TARGET, UPDATES = -0.3, 0.7, 40
GRADIENT = 0.6  # at the rounded weight, in the question
ASKED = {2: 1.6, 3: 0.45, 4: -0.2}  # the exact weight of the question, by bits


stairs_of = kit.kept(4)(staircase)


@kit.kept(64)
def walk_of(bits: int, rate: float) -> tuple[Update, ...]:
    """Return how one weight learns."""
    return tuple(walk(bits, START, TARGET, rate, UPDATES))


def draw(state: kit.PageState) -> None:
    """Show the section."""
    kit.section(words.training_stair)
    kit.choose(state, "stairbits", words.bits, words.training_stair_bits)
    bits, rate = int(state["stairbits"]), state["stairrate"]
    if kit.predict(question(bits), f"{KEY}.through", covers=True):
        kit.chart(staircase_figure(bits, kit.theme()), f"{KEY}.stairs")
    kit.prose(words.training_walk_text, target=TARGET)
    st.slider(words.training_rate, step=0.02, width=260, **state.ranged("stairrate"))
    kit.chart(walk_figure(bits, rate, kit.theme()), f"{KEY}.walk")
    kit.prose(report(walk_of(bits, rate), rate))
    _code(bits)


@kit.kept(8)
def staircase_figure(bits: int, mode: kit.Mode) -> kit.Figure:
    """Return the staircase, the straight line and the gradient."""
    staircase = stairs_of(bits)
    forward, line, backward = words.training_stair_names
    curves = [
        Curve(forward, staircase.weights, staircase.rounded, "weights"),
        Curve(line, staircase.weights, staircase.weights, "residual", dashed=True),
        Curve(backward, staircase.weights, staircase.gradient, "key"),
    ]
    return lines(curves, words.training_stair_axes, mode)


@kit.kept(32)
def walk_figure(bits: int, rate: float, mode: kit.Mode) -> kit.Figure:
    """Return the exact and the rounded weight, update by update."""
    walk = walk_of(bits, rate)
    steps = range(len(walk))
    exact, rounded, target = words.training_walk_names
    curves = [
        Curve(exact, steps, [update.weight for update in walk], "query"),
        Curve(rounded, steps, [update.rounded for update in walk], "weights", marks=True),
        Curve(target, (0, len(walk) - 1), (TARGET, TARGET), "accent", dashed=True),
    ]
    return lines(curves, words.training_walk_axes, mode)


def report(walk: tuple[Update, ...], rate: float) -> str:
    """Return the first update in numbers, and the last rounded weight."""
    first, second = walk[:2]
    return words.training_walk_read.format(
        weight=kit.signed(first.weight),
        rounded=kit.signed(first.rounded),
        target=TARGET,
        gradient=kit.signed(first.at_rounded),
        through=kit.signed(first.at_weight),
        rate=rate,
        operand=kit.operand(kit.signed(first.at_weight)),
        after=kit.signed(second.weight),
        slope=f"{first.slope:g}".replace("-", "−"),
        updates=len(walk) - 1,
        last=kit.signed(walk[-1].rounded),
    )


def end(bits: int, rate: float) -> str:
    """Return where the one weight came to, for the end of the chapter."""
    walk = walk_of(bits, rate)
    return words.end_first["training"].format(
        bits=bits,
        updates=len(walk) - 1,
        weight=kit.signed(walk[-1].weight),
        last=kit.signed(walk[-1].rounded),
        target=TARGET,
    )


def question(bits: int) -> kit.Question:
    """Ask which gradient a weight gets, within the grid or beyond it."""
    weight = kit.signed(ASKED[bits])
    beyond = abs(ASKED[bits]) > 1 + float(1 / (picture_scheme(bits).highest * 2))
    reason = words.training_stair_reasons["beyond" if beyond else "inside"].format(weight=weight)
    right = 0 if beyond else 1
    text = words.training_stair_ask.format(weight=weight)
    return kit.Question(
        text, words.training_stair_answers, right, [reason] * len(words.training_stair_answers)
    )


def _code(bits: int) -> None:
    def printed() -> str:
        w = torch.tensor(weights, requires_grad=True)
        fake_quantize(w, scheme).backward(torch.full_like(w, GRADIENT))
        return str([round(value, 3) for value in w.grad[0].tolist()])

    scheme = picture_scheme(bits)
    weights = [[-0.2, 0.1, 0.45, BEYOND]]
    kit.show_code(
        [fake_quantize, staircase],
        words.snippet_staircase.format(scheme=scheme, weights=weights, gradient=GRADIENT),
        printed,
    )
