"""Chapter "Norms and shortcuts": how large numbers get in deep stacks, what a stream is made of.

T tokens, L layers, P = L + 1 points: before the first layer, and after each.
"""

import math

import streamlit as st
from torch import Tensor

from llmviz.course import components as lv
from llmviz.course.figures.stream import over_points, stacked
from llmviz.course.lessons.transformer.depth import DepthStudy, depth_study
from llmviz.course.lessons.transformer.page import MODEL
from llmviz.course.lessons.transformer.residuals import words
from llmviz.course.lessons.transformer.residuals.model import PARTS, stream_shares
from llmviz.course.ui import engine, kit, pinned_cells
from llmviz.course.ui.matrix_picture import Names, Picture
from llmviz.interpretability.block import block_steps
from llmviz.models.three_words import TOKENS, three_words
from llmviz.models.transformers import require_sum
from llmviz.nn.layers import layer_norm_steps, rms_norm_steps

KEY = "transformer.residuals"
GUESS = f"{KEY}.size"
KNOWN = 5  # points of the line without norms that are drawn before the question
GUESSED = 24  # layers that it has then
EPSILON = 1e-5
MANY = 100  # times that a gradient may grow on its way before the page speaks of it
LAYOUT: Names = [
    ["x", "mean", "variance"],
    ["normalized", "deviation", None],
    ["divided", "mean square", "root"],
]


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show how large the numbers get, then a norm, the way back, and the stream of a text."""
    layers, bare = state["deep"], sizes(state["deep"], "none", state["deepseed"])
    chosen = state["deepnorm"], state["shortcut"]
    asks = (layers, state["deepseed"]) == (GUESSED, 0) and chosen != ("none", True)
    guess = kit.Guess(GUESS, question(bare) if asks else None)
    kit.prose(words.hook)
    with kit.stage("residuals"):
        _picture(state, guess, bare)
    shown = guess.ask()
    kit.source(state)
    normed = sizes(layers, "pre", state["deepseed"])
    slots = {
        "bare": size(bare[-1]),
        "normed": size(normed[-1]),
        "layers": kit.count(layers, "layer"),
    }
    if shown:
        faded = sizes(layers, "none", state["deepseed"], shortcuts=False)
        kit.looks(state, words.looks, f"{KEY}.looks", faded=size(faded[-1]), **slots)
        kit.real_look(state, words.real, f"{KEY}.real")
    _norm(state)
    _way_back(state)
    kit.section(words.stream)
    model_and_text = kit.load_and_read(state, MODEL.name(state), require=require_sum)
    told = "" if model_and_text is None else _stream(*model_and_text)
    if shown:
        kit.seen(words.end, stream=told, **slots)


@kit.cached(256)
def stack(layers: int, norm: str, seed: int, shortcuts: bool) -> DepthStudy:
    """Return one stack's pass forward and back."""
    place, kind = ("pre", "rms") if norm == "rms" else (norm, "layer")
    return depth_study(layers, place, shortcuts=shortcuts, norm_kind=kind, seed=seed)


def sizes(layers: int, norm: str, seed: int, *, shortcuts: bool = True) -> list[float]:
    """Return how large the numbers are at each point of a stack, (P,)."""
    return stack(layers, norm, seed, shortcuts).activations.tolist()


def size(number: float) -> str:
    """Return a number with three digits, or by a power of ten where it is small or large.

    >>> size(2.345), size(45678.0), size(2.5e9), size(3e-9)
    ('2.35', '45,700', '2.5·10⁹', '3.0·10⁻⁹')
    """
    if 1e-3 <= number < 1e6 or not number:
        return f"{float(f'{number:.3g}'):,g}" if number >= 1e3 else f"{number:.3g}"
    return kit.power_of_ten(number)


def question(bare: list[float]) -> kit.Question:
    """Ask how the numbers without norms go on.

    The wrong answers are those of somebody to whom each layer adds the same amount, and of one to
    whom what is added cancels out.
    """
    last, later = bare[KNOWN - 1], bare[KNOWN:]
    step = last - bare[KNOWN - 2]
    values = {
        "truth": later,
        "adds": [last + step * n for n in range(1, len(later) + 1)],
        "cancels": [last] * len(later),
    }
    slots = {"size": size(last), "end": size(later[-1]), "layers": len(bare) - 1}
    return kit.Question(
        words.ask.format(known=KNOWN - 1, **slots),
        [words.answers[name] for name in values],
        0,
        [words.reasons[name].format(**slots) for name in values],
        values=[tuple(line) for line in values.values()],
    )


def _picture(state: kit.PageState, guess: kit.Guess, bare: list[float]) -> None:
    """Draw the stack in force beside the one without norms, with the two switches under it."""
    layers, norm, short = state["deep"], state["deepnorm"], state["shortcut"]
    here, points = sizes(layers, norm, state["deepseed"], shortcuts=short), range(layers + 1)
    kind = words.kinds["with_" if short else "without"].format(norm=words.norms[norm])
    lines = [] if (norm, short) == ("none", True) else [kit.Drawn(kind, points, here, "value")]
    low = 10.0 ** min(-1, math.floor(math.log10(min(here))))
    guess.line(
        lines,
        kit.Drawn(words.kinds["with_"].format(norm=words.norms["none"]), points, bare),
        kit.Scale(0, layers, words.points),
        kit.Scale(
            low, max(1e8, *here, *(bare if guess.question is None else ())), words.axis, log=True
        ),
        known=KNOWN,
        picture=f"{KEY}.sizes",
    )
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        kit.choose(state, "deepnorm", words.norm, words.norms)
        st.toggle(words.shortcut, **state.bind("shortcut"))
    kit.prose(words.caption, kind=kind, after=kit.count(layers, "layer"), size=size(here[-1]))


@kit.cached(2)
def norm_picture(which: str) -> Picture:
    """Return layer norm and RMSNorm of three words, number by number."""
    picture, steps = Picture(), block_steps(three_words(), range(len(TOKENS)), 0)
    x = steps["input" if which == "norm1" else "sum1"]
    layer, rms = layer_norm_steps(x), rms_norm_steps(x)

    def add(name: str, values: Tensor, op: lv.Op | None = None, **role: str) -> None:
        text, label = words.formulas.get(name, ""), words.labels.get(name, name)
        picture.add(name, values, label, text, op=op, row_labels=TOKENS, **role)

    add("x", x, role="residual")
    add("mean", layer.mean, lv.row_mean("x"))
    add("variance", layer.variance, lv.row_mean_square("x", "mean"))
    add("deviation", (layer.variance + EPSILON).sqrt(), lv.root("variance", EPSILON))
    op = lv.normalised("x", "mean", "deviation")
    add("normalized", layer.normalized, op, role="query")
    add("mean square", rms.mean_square, lv.row_mean_square("x"))
    add("root", (rms.mean_square + EPSILON).sqrt(), lv.root("mean square", EPSILON))
    add("divided", rms.normalized, lv.rms_normalised("x", "root"), role="value")
    picture.layout = LAYOUT
    return picture


def _norm(state: kit.PageState) -> None:
    kit.section(words.intro)
    kit.choose(state, "which", words.which_label, words.which)
    picture = norm_picture(state["which"])
    pinned_cells.show(
        state, picture.matrices, picture.layout, key=f"{KEY}.matrices", control="normcell"
    )
    x, deviation = (picture.matrix(name).values for name in ("x", "deviation"))
    at = len(TOKENS) - 1
    kit.prose(
        words.norm_read,
        word=kit.quote(TOKENS[at]),
        mean=kit.signed(float(x[at].mean())),
        deviation=float(deviation[at, 0]),
    )


def _way_back(state: kit.PageState) -> None:
    """Show how long gradients are on their way back, with shortcuts and without."""
    kit.section(words.back)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.slider(words.depth, width=320, **state.ranged("deep"))
        st.number_input(words.seed, width=200, **state.ranged("deepseed"))
    layers, norm, seed = state["deep"], state["deepnorm"], state["deepseed"]
    with_, without = (share_left(stack(layers, norm, seed, short)) for short in (True, False))
    kit.plot(f"{KEY}.gradients", gradient_lines, layers, norm, seed)
    line = words.read.format(norms=words.norms[norm], with_=size(with_), without=size(without))
    if norm != "none":
        line += " " + words.varies
    elif with_ > MANY:
        line += " " + words.grows.format(normed=size(share_left(stack(layers, "pre", seed, True))))
    kit.prose(line)
    kit.measured(words.note)
    place, kind = ("pre", "rms") if norm == "rms" else (norm, "layer")
    kit.show_code(
        [depth_study],
        words.snippet.format(layers=layers, norm=place, kind=kind, seed=seed),
        "\n".join(f"{share:.1e}" for share in (with_, without)),
    )


def share_left(study: DepthStudy) -> float:
    """Return the gradient at the input, as a share of the one at the end."""
    return float(study.gradients[0] / study.gradients[-1])


@kit.cached(64)
def gradient_lines(layers: int, norm: str, seed: int, mode: kit.Mode) -> kit.Figure:
    """Return the gradient at every point of both stacks as lines."""
    series = [stack(layers, norm, seed, short).gradients.tolist() for short in (True, False)]
    axes = (words.points, words.gradient)
    return over_points(series, words.both, axes, mode, logarithmic=True)


shares_of = kit.cached(32)(kit.on_model(stream_shares))


@kit.cached(32)
def stream_figures(
    bundled: engine.Bundled, ids: tuple[int, ...], mode: kit.Mode
) -> tuple[kit.Figure, kit.Figure]:
    """Return the shares at every point as stacked bars, and the length as bars."""
    stream = shares_of(bundled, ids)
    layers = len(stream.norms) - 1
    names = [words.embeddings, *(words.after.format(layer=layer) for layer in range(layers))]
    shares, length = stream.shares.mean(-1).tolist(), [stream.norms.mean(-1).tolist()]
    roles = ("residual", "weights", "value")
    return (
        stacked(names, shares, list(words.parts.values()), roles, words.shares, mode),
        stacked(names, length, [words.norms_axis], ("query",), words.norms_axis, mode),
    )


def share_of(share: float) -> str:
    """Return a share of the vector, which may be negative.

    >>> share_of(-0.05), share_of(1.05)
    ('−5.00\\xa0%', '105.0\\xa0%')
    """
    return ("−" if share < 0 else "") + kit.percent(abs(share))


def _stream(bundled: engine.Bundled, read: kit.Read) -> str:
    stream = shares_of(bundled, read.ids)
    figures = stream_figures(bundled, read.ids, kit.theme())
    for place, figure, key in zip(st.columns(2, gap="large"), figures, "sl", strict=True):
        place.plotly_chart(figure, key=f"{KEY}.{key}", theme=None)
    last = stream.shares[:, -1].mean(-1).tolist()
    kit.prose(
        words.stream_read,
        **{part: share_of(share) for part, share in zip(PARTS, last, strict=True)},
    )
    kit.show_code(
        [stream_shares],
        words.snippet_stream.format(name=bundled.name, ids=list(read.ids)),
        str([f"{x:.3f}" for x in last]),
    )
    first, end = stream.norms[[0, -1], -1].tolist()
    return words.end_stream.format(token=kit.quote(read.tokens[-1]), first=first, last=end)
