"""The activation function of a layer: its curve, its derivative, where a text's numbers lie on it.

T tokens, F hidden width.
"""

import numpy as np

from llmviz.course.figures.activations import curve_on_values
from llmviz.course.lessons.transformer.norms import words
from llmviz.course.lessons.transformer.norms.model import activation_curve, gelu_gap, slopes
from llmviz.course.lessons.transformer.subject import SMALL, Subject
from llmviz.course.ui import kit

KEY = "transformer.bending"
FLAT = 0.1  # a derivative smaller than this teaches next to nothing
THROUGH = (2.0, -1.0)  # what a gate lets through, besides 1


def draw(state: kit.PageState, subject: Subject) -> dict[str, int | str]:
    """Show the part; return how many numbers ReLU would set to 0, once that may be seen."""
    own = subject.model.config.activation
    values = values_of(subject)
    text = words.bend_text.format(
        without=words.bend_gated if own == "swiglu" else words.bend_without,
        text=words.bend_small if subject.name == SMALL else words.bend_own,
        tokens=kit.count(len(subject.tokens), "token"),
        units=kit.count(subject.model.config.feed_forward_size, words.unit_one, words.unit_many),
    )
    kit.section(words.bend.title, text)
    kit.choose(state, "bend", words.bend_label, words.bends)
    name = own if state["bend"] == "own" else state["bend"]
    # always of one layer: another one must neither ask anew nor grade anew
    if not kit.predict(question(values_of(subject.at(0))), f"{KEY}.ask", covers=True):
        return {}
    kit.chart(figure_of(subject, name, kit.theme()), f"{KEY}.curve")
    flat = flat_share(subject, name)
    slots = {"count": len(values), "below": kit.percent(float((values <= 0).mean()))}
    line = words.bend_read.format(
        formula=words.formula[name],
        own=words.bends[own],
        flat=kit.percent(flat),
        name=words.bends["silu" if name == "swiglu" else name],
        **slots,
    )
    if name.startswith("gelu"):
        at, gap = gap_of_gelu()
        line += "\n\n" + words.gap.format(at=at, gap=gap)
    kit.prose(line)
    _code(subject, name, flat)
    return slots


@kit.kept(32)
def values_of(subject: Subject) -> np.ndarray:
    """Return all numbers of a text before the activation function of a layer, (T·F,)."""
    return subject.steps["mlp.hidden"].flatten().numpy().copy()


@kit.kept(64)
def flat_share(subject: Subject, function: str) -> float:
    """Return the share of a text's numbers at which the derivative of a function is small."""
    values = values_of(subject)
    return float((np.abs(slopes(function, values)) < FLAT).mean())


gap_of_gelu = kit.kept(1)(gelu_gap)


@kit.kept(64)
def figure_of(subject: Subject, function: str, mode: kit.Mode) -> kit.Figure:
    """Return a function and its derivative over a text's numbers."""
    curve = activation_curve(function)
    lines, names = [curve.y, curve.slope], [words.bends[function], words.derivative]
    if function == "swiglu":
        names[0] = words.through.format(u=1)
        lines += [activation_curve(function, u).y for u in THROUGH]
        names += [words.through.format(u=u).replace("-", "−") for u in THROUGH]
    values = values_of(subject)
    return curve_on_values(curve.x, lines, names, values, words.counted, words.bend_axis, mode)


def question(values: np.ndarray) -> kit.Question:
    """Return how many of some numbers ReLU sets to 0, as a question."""
    share = float((values <= 0).mean())
    right = int(np.searchsorted([0.25, 0.5, 0.75], share, side="left"))
    slots = {"below": kit.percent(share), "count": len(values)}
    return kit.Question.rated(words.bend_ask, words.bend_answers, right, words.bend_reason, **slots)


def _code(subject: Subject, name: str, flat: float) -> None:
    text = subject.opening(words.bend_imports) + words.snippet_bend.format(
        ids=list(subject.ids), layer=subject.layer, name=name, limit=FLAT
    )
    _, gap = gap_of_gelu()
    kit.show_code([activation_curve, gelu_gap], text, f"{flat:.4f}\n{gap:.6f}")
