"""Chapter "More ideas than dimensions": features share dimensions if they are rarely on together.

N features, M dimensions.
"""

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from llmviz.course import components as lv
from llmviz.course.components.scatter_film.view import LAST
from llmviz.course.figures.phases import phase_chart as phase_figure
from llmviz.course.lessons.discoveries.superposition import own, words
from llmviz.course.lessons.discoveries.superposition.directions import draw_film, report
from llmviz.course.lessons.discoveries.superposition.model import KEPT, Learned, Moment
from llmviz.course.lessons.discoveries.superposition.params import FEATURES
from llmviz.course.lessons.discoveries.superposition.superposition_record import (
    COMMAND,
    DENSITIES,
    PHASE_DENSITIES,
    PHASE_IMPORTANCES,
    RATIO,
    SEEDS,
    STARTS,
    VALUES,
    film,
    phase_chart,
)
from llmviz.course.ui import kit

KEY = "discoveries.superposition"
DIMENSIONS, DENSE, SPARSE = 2, 1.0, 0.05


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro, features=FEATURES, dimensions=DIMENSIONS, less=f"{RATIO:g}")
    if not kit.is_here(words.missing, COMMAND, lambda: film(DENSE)):
        return
    opened, charted = kit.predict(question(), f"{KEY}.kept", covers=True), False
    if opened:
        _film(state)
        _interference(state)
        kit.section(words.phases)
        phase_question = kit.Question.of(words.ask_phase)
        charted = kit.predict(phase_question, f"{KEY}.phase", covers=True)
        if charted:
            _phases(state)
    own.draw(state)
    if opened and charted:
        kit.seen(
            words.end,
            features=FEATURES,
            dimensions=DIMENSIONS,
            cases=round(1 / SPARSE),
            dense=counts(DENSE),
            sparse=counts(SPARSE),
        )


def question() -> kit.Question:
    """Return the question how many features get a direction when they are rarely on."""
    right = int(film(SPARSE).kept.sum())
    why, fewer, more = words.ask_kept_reasons
    return kit.Question.among(
        words.ask_kept,
        {
            count: why if count == right else fewer if count > right else more
            for count in range(DIMENSIONS, FEATURES + 1)
        },
        right,
        scale=True,
        dense=int(film(DENSE).kept.sum()),
        features=FEATURES,
        dimensions=DIMENSIONS,
        cases=round(1 / SPARSE),
    )


def counts(density: float) -> str:
    """Return how many features the bundled trainings kept at a density, each number once."""
    return kit.listed(
        [str(count) for count in sorted({int(film(density, s).kept.sum()) for s in SEEDS})]
    )


def _film(state: kit.PageState) -> None:
    kit.section(words.film)
    anew = state.setter(toyframe=LAST)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        names = {f"{density:g}": f"{density:g}" for density in DENSITIES}
        kit.choose(state, "toydensity", words.density, names, then=anew)
        kit.choose(state, "toyseed", words.seed, {seed: str(seed + 1) for seed in SEEDS}, then=anew)
    learned = chosen(state)
    last = len(learned.moments) - 1
    at = state["toyframe"] if 0 <= state["toyframe"] < last else LAST
    step = kit.bound(
        state, f"{KEY}.film", step=("toyframe", kit.one_of([*range(last), LAST], LAST))
    )
    draw_film(learned, f"{KEY}.film", at, step)
    kit.prose(report(learned))
    kit.prose(words.every)
    kit.rows_table(every_row(), words.every_columns)
    _code(state)


def chosen(state: kit.PageState) -> Learned:
    """Return the bundled training of the controls."""
    return film(float(state["toydensity"]), state["toyseed"])


@kit.kept(1)
def every_row() -> list[tuple[str, ...]]:
    """Return a row for each density: what the three trainings keep, and their losses."""
    rows = []
    for density in DENSITIES:
        every = [film(density, seed) for seed in SEEDS]
        rows.append(
            (
                f"{density:g}",
                ", ".join(str(int(run.kept.sum())) for run in every),
                ", ".join(str(int(run.shared.sum())) for run in every),
                ", ".join(f"{run.last.loss:.4f}" for run in every),
            )
        )
    return rows


def _interference(state: kit.PageState) -> None:
    kit.section(words.interference)
    names = [str(number + 1) for number in range(FEATURES)]
    st.pills(words.on, names, selection_mode="multi", **state.bind("toyon"))
    on = np.array([name in state["toyon"] for name in names])
    moment = chosen(state).last
    kit.show(
        state,
        matrices(moment, on),
        [["x", "h"], ["W", "Wᵀ·W"], ["b", "sum"], [None, "x′"]],
        key=f"{KEY}.cells",
        control="toycell",
        first="Wᵀ·W.0.1",
        numbers=True,
    )
    kit.prose(" ".join([cost(moment, on), *([words.negative] if (moment.bias < 0).all() else [])]))


def matrices(moment: Moment, on: np.ndarray) -> list[lv.Matrix]:
    """Return the way of features that are on (N,) through a model, as matrices that open."""
    x = on.astype(float)[None]
    w, b = moment.directions, moment.bias[None]
    names = [str(number + 1) for number in range(len(on))]
    numbers = [f"h{number + 1}" for number in range(len(w))]
    hidden = x @ w.T
    total = hidden @ w + b
    across = {"col_labels": names}
    return [
        lv.Matrix("x", x, role="residual", **across),
        lv.Matrix("W", w, role="key", row_labels=numbers, **across),
        lv.Matrix(
            "h",
            hidden,
            "h",
            words.formula_h,
            col_labels=numbers,
            op=lv.matmul("x", "W", transpose_b=True),
        ),
        lv.Matrix("b", b, **across),
        lv.Matrix("Wᵀ", w.T, op=lv.transposed("W")),
        lv.Matrix(
            "Wᵀ·W",
            w.T @ w,
            words.formula_overlap,
            row_labels=names,
            op=lv.matmul("Wᵀ", "W"),
            role="weights",
            scale="diverging",
            **across,
        ),
        lv.Matrix(
            "sum", total, "sum", words.formula_sum, op=lv.matmul("h", "W", bias="b"), **across
        ),
        lv.Matrix(
            "x′",
            np.maximum(0, total),
            "x′",
            words.formula_read,
            role="value",
            op=lv.function("sum", "ReLU"),
            **across,
        ),
    ]


def cost(moment: Moment, on: np.ndarray) -> str:
    """Return what a model reads back of features that are on (N,), and of the others."""
    read = moment.read(on.astype(float))
    shown = kit.listed([f"{value:.2f}" for value in read[on]])
    if on.all():
        return words.cost["all"].format(on=shown)
    off = np.where(on, -1.0, read)
    which = int(off.argmax())
    most = {"most": float(off[which]), "which": which + 1}
    return words.cost["some" if on.any() else "none"].format(on=shown, **most)


def _phases(state: kit.PageState) -> None:
    kit.section(
        words.phase_chart, starts=STARTS, cells=len(PHASE_DENSITIES) * len(PHASE_IMPORTANCES)
    )
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        for key, label, values in (
            ("phasedensity", words.phase_density, PHASE_DENSITIES),
            ("phaseweight", words.phase_weight, PHASE_IMPORTANCES),
        ):
            names = {number: f"{value:.3g}" for number, value in enumerate(values)}
            st.select_slider(label, width=320, **state.named(key, names))
    d, i = state["phasedensity"], state["phaseweight"]
    kit.chart(figure(d, i, kit.theme()), f"{KEY}.phases", bar=False)
    chart = phase_chart()
    first, second = chart.directions[d, i]
    p, weight = float(PHASE_DENSITIES[d]), float(PHASE_IMPORTANCES[i])
    read = words.phase_read[int(chart.kinds[d, i])].format(
        density=p,
        weight=weight,
        first=float(first),
        second=float(second),
        kept_from=KEPT,
        loss=float(chart.losses[d, i]),
    )
    kit.prose(f"{read} {words.phase_drop.format(drop=min(1.0, weight) * variance(p))}")


def variance(density: float) -> float:
    """Return the variance of a feature: what is lost of one that is dropped.

    It is on with this density, and then one of ten values from 0.05 to 0.95, each as often.
    """
    mean = density * VALUES.mean()
    return float(density * (VALUES**2).mean() - mean**2)


@kit.kept(64)
def figure(d: int, i: int, mode: kit.Mode) -> go.Figure:
    """Return the chart of phases with a mark at one cell."""
    return phase_figure(
        PHASE_DENSITIES,
        PHASE_IMPORTANCES,
        phase_chart().kinds,
        words.phase_kinds,
        ("query", "key", "value", "residual"),
        (words.phase_density_axis, words.phase_weight_axis),
        (float(PHASE_DENSITIES[d]), float(PHASE_IMPORTANCES[i]), words.phase_here),
        mode,
    )


def _code(state: kit.PageState) -> None:
    learned = chosen(state)
    kit.show_code(
        [Learned, Moment],
        "from llmviz.course.lessons.discoveries.superposition.superposition_record import film\n\n"
        f"learned = film({learned.toy.density!r}, seed={learned.toy.seed})\n"
        "print(learned.lengths.round(2), learned.kept.sum(), learned.shared.sum())",
        f"{learned.lengths.round(2)} {learned.kept.sum()} {learned.shared.sum()}",
    )
