"""Chapter "More ideas than dimensions": features share dimensions if they are rarely on together.

N features, M dimensions.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import streamlit as st

from llmviz.course import components as lv
from llmviz.course.components.scatter_film.view import LAST, ORIGIN, Curve, Film, scatter_film
from llmviz.course.lessons.discoveries.superposition import (
    FEATURES,
    OWN_DENSITIES,
    OWN_RATIOS,
    words,
)
from llmviz.course.lessons.discoveries.superposition.model import (
    ALONE,
    COMMAND,
    DENSITIES,
    KEPT,
    RATIO,
    SEEDS,
    Learned,
    Moment,
    Toy,
    film,
)
from llmviz.course.ui import kit
from llmviz.course.ui.guess_drawn import words as hand_words

KEY = "discoveries.superposition"
GUESS = f"{KEY}.kept"
DIMENSIONS, DENSE, SPARSE = 2, 1.0, 0.05
job_of = kit.job_of("llmviz.course.lessons.discoveries.superposition.model:learn", "toy")


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the directions beside how many there are by density, then what sharing costs."""
    if not kit.is_here(words.missing, COMMAND, lambda: film(DENSE)):
        return
    kit.prose(words.hook, features=FEATURES)
    guess = kit.Guess(GUESS, question())
    opened = guess.open
    learned = film(float(state["toydensity"]), state["toyseed"]) if opened else film(DENSE)
    with kit.stage("superposition"):
        _stage(state, learned, guess)
    guess.ask()
    if opened:
        named = {"dense": film(DENSE), "half": film(0.5), "sparse": film(SPARSE)}
        kit.looks(state, words.looks, f"{KEY}.looks", **named, features=FEATURES)
    kit.section(words.intro, features=FEATURES, dimensions=DIMENSIONS)
    kit.measured(words.how_toy, less=f"{RATIO:g}", from_=KEPT, alone=ALONE)
    if opened:
        _interference(state, learned)
        _own(state)
        kept = {"dense": counts(DENSE), "sparse": counts(SPARSE), "cases": round(1 / SPARSE)}
        kit.seen(words.end, features=FEATURES, dimensions=DIMENSIONS, **kept)


def question() -> kit.Question:
    """Return the question how many features get a direction when they are rarely on.

    The wrong answers are those of somebody to whom two numbers hold two things, and to whom each
    number holds two, one above and one below 0.
    """
    right = int(film(SPARSE).kept.sum())
    return kit.Question.among(
        words.ask_kept,
        {
            DIMENSIONS: words.ask_kept_each,
            2 * DIMENSIONS: words.ask_kept_both,
            right: words.ask_kept_right,
        },
        right,
        dense=int(film(DENSE).kept.sum()),
        features=FEATURES,
        cases=round(1 / SPARSE),
    )


def counts(density: float) -> list[str]:
    """Return how many features the bundled trainings kept at a density, each number once."""
    return [str(count) for count in sorted({int(film(density, s).kept.sum()) for s in SEEDS})]


def _stage(state: kit.PageState, learned: Learned, guess: kit.Guess) -> None:
    opened, last = guess.open, len(learned.moments) - 1
    left, right = st.columns([1, 1], gap="medium", vertical_alignment="center")
    with left:
        at = state["toyframe"] if opened and 0 <= state["toyframe"] < last else LAST
        act = kit.bound(
            state, f"{KEY}.film", step=("toyframe", kit.one_of([*range(last), LAST], LAST))
        )
        draw_film(learned, f"{KEY}.film", at, act)
    with right:
        cases = []
        for density in DENSITIES:
            every = [float(film(density, seed).kept.sum()) for seed in SEEDS]
            label = [(words.densities[str(density)], density == learned.toy.density)]
            told = opened or density in (DENSE, SPARSE)
            shown = {"dots": every} if told else {"note": "?"}
            mean = float(np.mean(every)) if told else None
            cases.append(kit.Case(label, mean, **shown))
        axis = kit.Axis(0, FEATURES + 0.5, words.kept_axis)
        look: dict[str, Any] = {"picture": f"{KEY}.counts", "form": "count"}
        guess.cases(cases, axis, veiled=[DENSITIES.index(SPARSE)], **look)
    if opened:
        anew = state.setter(toyframe=LAST)
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            names = {f"{density:g}": f"{density:g}" for density in DENSITIES}
            kit.choose(state, "toydensity", words.density, names, then=anew)
            runs = {seed: str(seed + 1) for seed in SEEDS}
            kit.choose(state, "toyseed", words.seed, runs, then=anew)
    kit.prose(report(learned))


def draw_film(
    learned: Learned, key: str, step: int = LAST, on_step: Callable[[], None] | None = None
) -> None:
    """Show how the directions of a toy with two dimensions grew."""
    moments, count = learned.moments, learned.toy.features
    scatter_film(
        Film(
            np.array([moment.directions.T for moment in moments]),
            [str(number + 1) for number in range(count)],
            words=words.film_words,
            kinds=np.arange(count),
            kind_names=[words.feature.format(number=number + 1) for number in range(count)],
            lit=range(count),
            links=[(ORIGIN, number) for number in range(count)],
            captions=[words.caption.format(at=moment) for moment in moments],
            curve=Curve(words.loss, [moment.loss for moment in moments]),
            axes=tuple(words.film_axes),
        ),
        key=key,
        step=step,
        on_step=on_step,
    )


def report(learned: Learned) -> str:
    """Return what a training keeps, in sentences."""
    count, shared = int(learned.kept.sum()), int(learned.shared.sum())
    how = "none" if not count else "shared" if shared else "apart"
    if shared == learned.toy.features > learned.toy.dimensions:
        how = "all"
    slots = {"toy": learned.toy, "kept": count, "shared": shared}
    said = words.report[how].format(step=learned.last.step, **slots)
    if learned.toy.dimensions != 2 or count < 2:
        return said
    least, most = min(learned.gaps), max(learned.gaps)
    line = words.angles["alike" if f"{least:.0f}" == f"{most:.0f}" else "apart"]
    return f"{said} {line.format(least=least, most=most)}"


def _interference(state: kit.PageState, learned: Learned) -> None:
    kit.section(words.interference)
    names = [str(number + 1) for number in range(FEATURES)]
    st.pills(words.on, names, selection_mode="multi", **state.bind("toyon"))
    on = np.array([name in state["toyon"] for name in names])
    moment = learned.last
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
    kept, shared = learned.kept.sum(), learned.shared.sum()
    slots = {"density": learned.toy.density, "seed": learned.toy.seed}
    code = f"{learned.lengths.round(2)} {kept} {shared}"
    kit.show_code([Learned, Moment], words.snippet.format(**slots), code)


def matrices(moment: Moment, on: np.ndarray) -> list[lv.Matrix]:
    """Return the way of features that are on (N,) through a model, as matrices that open."""
    x, w, b = on.astype(float)[None], moment.directions, moment.bias[None]
    hidden, names = x @ w.T, [str(number + 1) for number in range(len(on))]
    numbers, total = [f"h{number + 1}" for number in range(len(w))], hidden @ w + b
    to_h, added = lv.matmul("x", "W", transpose_b=True), lv.matmul("h", "W", bias="b")
    across: dict[str, Any] = {"col_labels": names}
    read: dict[str, Any] = {"role": "value", "op": lv.function("sum", "ReLU")}
    square: dict[str, Any] = {"role": "weights", "scale": "diverging", "row_labels": names}
    return [
        lv.Matrix("x", x, role="residual", **across),
        lv.Matrix("W", w, role="key", row_labels=numbers, **across),
        lv.Matrix("h", hidden, "h", "x · Wᵀ", col_labels=numbers, op=to_h),
        lv.Matrix("b", b, **across),
        lv.Matrix("Wᵀ", w.T, op=lv.transposed("W")),
        lv.Matrix(
            "Wᵀ·W", w.T @ w, words.overlap, "Wᵀ · W", op=lv.matmul("Wᵀ", "W"), **square, **across
        ),
        lv.Matrix("sum", total, "sum", "h · W + b", op=added, **across),
        lv.Matrix("x′", np.maximum(0, total), "x′", "ReLU(sum)", **read, **across),
    ]


def cost(moment: Moment, on: np.ndarray) -> str:
    """Return what a model reads back of features that are on (N,), and of the others."""
    read = moment.read(on.astype(float))
    shown = [f"{value:.2f}" for value in read[on]]
    if on.all():
        return words.cost["all"].format(on=shown)
    which = int(np.where(on, -1.0, read).argmax())
    kind = ("some" if read[which] >= 0.005 else "quiet") if on.any() else "none"
    return words.cost[kind].format(on=shown, most=float(read[which]), which=which + 1)


def _own(state: kit.PageState) -> None:
    """Show a toy of the learner's, and its directions while they are learned."""
    kit.section(words.own)
    anew = state.setter(owntoy=False)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.slider(words.own_features, width=200, **state.ranged("ownfeatures", then=anew))
        st.slider(words.own_dims, width=160, **state.ranged("owndims", then=anew))
        for key, label, texts in (
            ("owndensity", words.density, OWN_DENSITIES),
            ("ownratio", words.own_ratio, OWN_RATIOS),
        ):
            st.selectbox(label, width=140, **state.named(key, {text: text for text in texts}, anew))
        st.number_input(words.own_seed, step=1, width=110, **state.ranged("ownseed", then=anew))
    shape = (state["ownfeatures"], state["owndims"])
    toy = Toy(*shape, float(state["owndensity"]), float(state["ownratio"]), state["ownseed"])
    kit.live(
        state,
        "owntoy",
        job_of,
        (toy,),
        lambda job: _results(toy, job),
        start=words.own_start,
        share=lambda job: job.results[-1].step / job.results[-1].steps if job.results else 0.0,
    )


def _results(toy: Toy, job: kit.Job) -> None:
    if not job.results:
        return
    learned = Learned(toy, list(job.results))
    if not job.over:
        kit.prose(words.own_going, at=learned.last)
    if toy.dimensions == 2:
        draw_film(learned, f"{KEY}.own.film")
    each = learned.dimensions_each
    cases = [
        kit.Case(words.feature.format(number=number + 1), float(value))
        for number, value in enumerate(each)
    ]
    axis = kit.Axis(0, 1.1, words.own_axis)
    kit.case_rows(cases, axis, key=f"{KEY}.own.shares", words=hand_words.bars, form="figure")
    kit.prose(f"{report(learned)} {words.own_shares.format(total=each.sum(), toy=toy)}")
