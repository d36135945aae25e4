"""Chapter "Residuals": gradients with and without shortcuts, and what a stream is made of.

T tokens, L layers, P = L + 1 points: before the first layer, and after each.
"""

import math

import streamlit as st

from llmviz.course.figures.stream import over_points, stacked
from llmviz.course.lessons.transformer.depth import DepthStudy, depth_study
from llmviz.course.lessons.transformer.residuals import words
from llmviz.course.lessons.transformer.residuals.model import PARTS, stream_shares
from llmviz.course.lessons.transformer.stacks import ask_once, stack
from llmviz.course.ui import engine, kit
from llmviz.models.transformers import require_sum

KEY = "transformer.residuals"
MANY = 100  # times that a gradient may grow on its way before the page speaks of it


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.slider(words.depth, width=320, **state.ranged("deep"))
        kit.choose(state, "deepnorm", words.norm, words.norms)
        st.number_input(words.seed, width=200, **state.ranged("deepseed"))
    layers, norm, seed = state["deep"], state["deepnorm"], state["deepseed"]
    shares = {
        short: share_left(stack(layers, norm, short, "layer", seed)) for short in (True, False)
    }
    opened = True
    if norm == "none":  # with norms it is another answer for each seed
        opened = ask_once(f"{KEY}.ask", (layers, seed), _asked)
    if opened:
        _gradients(layers, norm, seed, shares)
    kit.section(words.stream)
    kit.text_box(state, height=80)
    model_and_text = kit.load_and_read(state, kit.Picker().choose(state), require=require_sum)
    embedding = "" if model_and_text is None else _stream(*model_and_text)
    if opened:
        ends = {"without": written(shares[False]), "with_": written(shares[True])}
        stream = embedding and words.end_stream.format(embedding=embedding)
        kit.seen(
            words.end,
            layers=kit.count(layers, "layer"),
            way=words.end_way[norm],
            stream=stream,
            **ends,
        )


def _asked(about: tuple[int, int]) -> kit.Question:
    layers, seed = about
    return question(layers, share_left(stack(layers, "none", False, "layer", seed)))


def _gradients(layers: int, norm: str, seed: int, shares: dict[bool, float]) -> None:
    kit.chart(gradient_lines(layers, norm, seed, kit.theme()), f"{KEY}.gradients")
    line = words.read.format(without=written(shares[False]), with_=written(shares[True]))
    if norm == "none" and shares[True] > MANY:
        normed = share_left(stack(layers, "pre", True, "layer", seed))
        line += " " + words.grows.format(normed=written(normed))
    if norm != "none":
        line += " " + words.varies
    kit.prose(line)
    st.caption(words.note)
    kit.show_code(
        [depth_study],
        words.snippet.format(layers=layers, norm=norm, seed=seed),
        "\n".join(f"{shares[short]:.1e}" for short in (True, False)),
    )


def share_left(study: DepthStudy) -> float:
    """Return the gradient at the input, as a share of the one at the end."""
    return float(study.gradients[0] / study.gradients[-1])


def written(share: float) -> str:
    """Return a share as a number of times, or as a power of ten where it is small or large.

    >>> written(0.5), written(3e-9), written(12)
    ('0.500', '3·10^−9', '12.0')
    """
    if not math.isfinite(share) or share == 0 or 1e-3 <= abs(share) < 1e4:
        return f"{share:.3g}" if abs(share) < 1e-3 or abs(share) >= 100 else f"{share:#.3g}"
    digits, power = f"{share:.0e}".split("e")
    return f"{digits}·10^{int(power)}".replace("-", "−")


def question(layers: int, share: float) -> kit.Question:
    """Return how much of the gradient is left without shortcuts and norms, as a question."""
    right = 0 if share >= 1 else 1 if share > 0.1 else 2 if share > 1e-3 else 3
    reasons = [words.wrong] * len(words.answers)
    reasons[right] = words.right
    slots = {"share": written(share), "layers": kit.count(layers, "layer")}
    return kit.Question.rated(words.ask, words.answers, right, reasons, **slots)


@kit.kept(64)
def gradient_lines(layers: int, norm: str, seed: int, mode: kit.Mode) -> kit.Figure:
    """Return the gradient at every point of both stacks as lines."""
    series = [
        stack(layers, norm, short, "layer", seed).gradients.tolist() for short in (True, False)
    ]
    axes = (words.axis, words.gradient)
    return over_points(series, (words.with_text, words.without), axes, mode, logarithmic=True)


shares_of = kit.kept(32)(kit.on_model(stream_shares))


def point_names(points: int) -> list[str]:
    """Return what the points are called."""
    return [words.embeddings, *(words.after.format(layer=layer) for layer in range(points - 1))]


@kit.kept(32)
def stream_figures(
    bundled: engine.Bundled, ids: tuple[int, ...], mode: kit.Mode
) -> tuple[kit.Figure, kit.Figure]:
    """Return the shares at every point as stacked bars, and the length as bars."""
    stream = shares_of(bundled, ids)
    names = point_names(stream.norms.shape[0])
    shares = stream.shares.mean(-1).tolist()
    parts = [words.parts[part] for part in PARTS]
    roles = ("residual", "weights", "value")
    length = [stream.norms.mean(-1).tolist()]
    return (
        stacked(names, shares, parts, roles, words.shares, mode),
        stacked(names, length, [words.norms_axis], ("query",), words.norms_axis, mode),
    )


def share_of(share: float) -> str:
    """Return a share of the vector, which may be negative.

    >>> share_of(-0.05), share_of(1.05)
    ('−5.00\\xa0%', '105.0\\xa0%')
    """
    return ("−" if share < 0 else "") + kit.percent(abs(share))


def _stream(bundled: engine.Bundled, read: kit.Read) -> str:
    """Show what the stream is made of; return the share of the embedding at its end."""
    known = (bundled, read.ids)
    stream = shares_of(*known)
    places = st.columns(2, gap="large")
    for place, figure, key in zip(
        places, stream_figures(*known, kit.theme()), ("shares", "length"), strict=True
    ):
        place.plotly_chart(figure, key=f"{KEY}.{key}", theme=None)
    lengths, last = stream.norms.mean(-1), stream.shares[:, -1].mean(-1).tolist()
    ends = {part: share_of(share) for part, share in zip(PARTS, last, strict=True)}
    kit.prose(
        words.stream_read,
        tokens=kit.count(len(read.ids), "token"),
        first=float(lengths[0]),
        last=float(lengths[-1]),
        **ends,
    )
    kit.show_code(
        [stream_shares],
        words.snippet_stream.format(name=bundled.name, ids=list(read.ids)),
        str([f"{x:.3f}" for x in last]),
    )
    return ends["embedding"]
