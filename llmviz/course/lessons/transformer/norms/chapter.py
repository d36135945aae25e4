"""Chapter "Norms and activations": layer norm number by number, deep stacks, bending curves.

T tokens, C width, F hidden width.
"""

from collections.abc import Sequence

import numpy as np
import streamlit as st
import torch

from llmviz.course.figures.stream import over_points
from llmviz.course.lessons.transformer.depth import depth_study
from llmviz.course.lessons.transformer.norms import bending, words
from llmviz.course.lessons.transformer.norms.picture import Normed, normed, picture_of, students
from llmviz.course.lessons.transformer.stacks import ask_once, stack
from llmviz.course.lessons.transformer.subject import DRAWN, Subject, choose_subject
from llmviz.course.ui import kit, pinned_cells
from llmviz.nn.layers import layer_norm_steps, rms_norm_steps

KEY = "transformer.norms"
LISTED = 4  # numbers of a row that an answer lists


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro)
    subject = choose_subject(state)
    opened, norms = True, None
    if subject is not None:
        if subject.model.config.norm == "none":
            kit.inform(words.no_norms, ":material/info:")
        else:
            kit.choose(state, "which", words.which_label, words.which)
            norms = normed(subject, state["which"])
            # always of the first norm: another layer must not cover the picture anew
            first = normed(subject.at(0), "norm1")
            question = mistake(first.x, first.epsilon, subject.tokens[-1])
            opened = question is None or kit.predict(question, f"{KEY}.mistake", covers=True)
            if opened:
                _norm(state, subject, norms)
    sizes = _stack(state)
    if subject is not None and (below := bending.draw(state, subject)) and sizes and opened:
        line = "" if norms is None else end_norm(norms)
        kit.seen(words.end, norm=line, layers=state["stack"], **sizes, **below)


def end_norm(norms: Normed) -> str:
    """Return what the end says of the vectors that a norm reads."""
    deviation = norms.layer.variance.sqrt()
    line = words.end_norm if len(deviation) > 1 else words.end_norm_one
    return line.format(low=float(deviation.min()), high=float(deviation.max()))


def _norm(state: kit.PageState, subject: Subject, norms: Normed) -> None:
    picture = picture_of(subject, state["which"])
    pinned_cells.show(
        state,
        picture.matrices,
        picture.layout,
        key=f"{KEY}.matrices",
        control="normcell",
        windows=picture.windows,
        narrow=DRAWN,
    )
    kit.prose(summary(norms, subject.model.config.norm_kind))
    _code(subject, state["which"], norms)


def summary(norms: Normed, kind: str) -> str:
    """Return what both norms make of the vectors, and which of them is the model's."""
    deviation = norms.layer.variance.sqrt()
    means = norms.layer.mean
    rms_means = norms.rms.normalized.mean(-1)
    tokens = len(norms.x)
    line = (words.read if tokens > 1 else words.read_one).format(
        tokens=tokens,
        mean_low=float(means.min()),
        mean_high=float(means.max()),
        low=float(deviation.min()),
        high=float(deviation.max()),
        rms_low=float(rms_means.min()),
        rms_high=float(rms_means.max()),
    )
    more = words.epsilon.format(
        epsilon=norms.epsilon,
        variance=float(norms.layer.normalized.var(-1, unbiased=False).min()),
        square=float(norms.rms.normalized.square().mean(-1).min()),
    )
    return f"{line} {words.own[kind]} {more}".replace(" -", " −")


def _listed(row: Sequence[float]) -> str:
    first = ", ".join(kit.signed(float(value)) for value in row[:LISTED])
    return first + (" …" if len(row) > LISTED else "")


def mistake(x: torch.Tensor, epsilon: float, token: str) -> kit.Question | None:
    """Return who normed the last row of x (T, C) rightly; None where no mistake shows."""
    rows = {name: _listed(values) for name, values in students(x, epsilon).items()}
    kept_rows = {
        name: row
        for name, row in rows.items()
        if list(rows.values()).count(row) == 1 or name == "right"
    }
    if len(kept_rows) < 2 or list(rows.values()).count(rows["right"]) > 1:
        return None
    text = words.mistake.format(
        token=kit.quote(token),
        numbers=_listed(x[-1]).removesuffix(" …"),
        mean=float(x[-1].mean()),
        deviation=float(x[-1].var(unbiased=False).sqrt()),
        students=words.students[len(kept_rows)],
    )
    reasons = {row: words.mistakes[name] for name, row in kept_rows.items()}
    return kit.Question.among(text.replace(" -", " −"), reasons, rows["right"])


def _code(subject: Subject, which: str, norms: Normed) -> None:
    shift = "None" if norms.shift is None else "norm.bias"
    slots = {"source": norms.source, "which": which, "shift": shift, "listed": LISTED}
    text = subject.opening(words.norm_imports) + words.snippet_norm.format(
        ids=list(subject.ids), layer=subject.layer, **slots
    )
    rows = (norms.layer.output, norms.rms.output)
    prints = "\n".join(str([f"{x:.3f}" for x in row[-1, :LISTED].tolist()]) for row in rows)
    kit.show_code([layer_norm_steps, rms_norm_steps], text, prints)


def kinds(norm: str) -> tuple[str, str]:
    """Return where norms stand and which they are, for an option of the deep stack."""
    return ("pre", "rms") if norm == "rms" else (norm, "layer")


@kit.kept(64)
def stack_lines(layers: int, norm: str, mode: kit.Mode) -> kit.Figure:
    """Return the size of the numbers after each layer, with norms and without."""
    place, kind = kinds(norm)
    stacks = (stack(layers, place, True, kind), stack(layers, "none"))
    series = [result.activations.tolist() for result in stacks]
    return over_points(series, (words.with_text, words.without), words.axes, mode, logarithmic=True)


def _stack(state: kit.PageState) -> dict[str, str] | None:
    """Show the deep stack; return the sizes at its end, once they may be seen."""
    kit.section(words.stack)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.slider(words.stack_layers, width=320, **state.ranged("stack"))
        kit.choose(state, "stacknorm", words.stack_norm, words.stack_norms)
    layers, norm = state["stack"], state["stacknorm"]
    place, kind = kinds(norm)

    def question(depth: int) -> kit.Question:
        return stack_question(depth, size_after(depth, "none"))

    if not ask_once(f"{KEY}.stack.ask", layers, question):
        return None
    sizes = [size_after(layers, "none"), size_after(layers, place, kind)]
    kit.chart(stack_lines(layers, norm, kit.theme()), f"{KEY}.stack")
    written = [written_size(size) for size in sizes]
    slots = dict(zip(("without", "with_"), written, strict=True))
    kit.prose(words.stack_read, layers=layers, why=words.why[norm], **slots)
    st.caption(words.stack_note)
    kit.show_code(
        [depth_study],
        words.snippet.format(place=place, kind=kind, layers=layers),
        "\n".join(f"{size:.2e}" for size in sizes),
    )
    return slots


def size_after(layers: int, norm: str, kind: str = "layer") -> float:
    """Return how large the numbers are after a stack."""
    return float(stack(layers, norm, True, kind).activations[-1])


def written_size(size: float) -> str:
    """Return a size with three digits, or as a power of ten where it is large.

    >>> written_size(2.345), written_size(45678.0), written_size(2.5e9)
    ('2.35', '45,678', '2.5·10^9')
    """
    if size < 1000:
        return f"{size:.3g}"
    if size < 1e6:
        return f"{size:,.0f}"
    digits, power = f"{size:.1e}".split("e")
    return f"{digits}·10^{int(power)}"


def stack_question(layers: int, size: float) -> kit.Question:
    """Return how large the numbers are after a stack without norms, as a question."""
    right = int(np.searchsorted([10.0, 1e3, 1e6], size, side="right"))
    reasons = [words.stack_wrong] * len(words.stack_answers)
    reasons[right] = words.stack_right
    slots = {"layers": layers, "size": written_size(size)}
    return kit.Question.rated(words.stack_ask, words.stack_answers, right, reasons, **slots)
