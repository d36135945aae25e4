"""What few features leave of a vector, and what more features change."""

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from llmviz.course.figures.lines import Line, lines
from llmviz.course.lessons.discoveries.features import strips, words
from llmviz.course.lessons.discoveries.features.truth import three
from llmviz.course.lessons.discoveries.features_record import (
    MAIN,
    ON,
    ON_EACH,
    SEEDS,
    SIZE,
    SIZES,
    RunScore,
    bundle,
    scores,
)
from llmviz.course.ui import kit

KEY = "discoveries.features.sizes"
MOST = 12  # features that are listed below one
PART = 0.5  # of a part's tokens, at which the whole feature is on, too


def replaced() -> None:
    """Show the loss of the model with features in the place of its vectors."""
    kit.section(words.replaced, seeds=len(SEEDS), features=SIZE)
    kit.chart(loss_figure(kit.theme()), f"{KEY}.loss", bar=False)
    runs, few, many = (scores().of(MAIN, SIZE, on) for on in (ON_EACH, ON[0], ON[-1]))
    read = words.replaced_read.format(
        on=ON_EACH, explained=explained(runs), rise=three(rises(runs), 3), recovered=recovered()
    )
    more = words.sparser.format(
        few=ON[0],
        few_rise=three(rises(few), 3),
        many=ON[-1],
        many_rise=three(rises(many), 3),
    )
    kit.prose(f"{read}\n\n{more}")


def rises(runs: list[RunScore]) -> list[float]:
    """Return by how much the loss is higher with features than without, on the same stories."""
    plain = {(score.layer, score.seed): score.loss for score in scores().layers}
    return [run.loss - plain[run.layer, run.seed] for run in runs]


def explained(runs: list[RunScore]) -> str:
    """Return how much of the variance runs explain, the smallest and the largest share."""
    return between([run.explained for run in runs])


def recovered() -> str:
    """Return how much of the loss the three trainings give back."""
    return between([scores().recovered(run) for run in scores().of(MAIN)])


def between(shares: list[float]) -> str:
    """Return shares as one percentage, or as the smallest and the largest.

    >>> between([0.5, 0.5]).replace("\\u00a0", " "), between([0.5, 0.6]).replace("\\u00a0", " ")
    ('50.0 %', '50.0 % to 60.0 %')
    """
    return " to ".join(dict.fromkeys((kit.percent(min(shares)), kit.percent(max(shares)))))


@kit.kept(2)
def loss_figure(mode: kit.Mode) -> go.Figure:
    """Return the rise of the loss over how many features may be on, a line for each seed."""
    drawn = []
    for seed in SEEDS:
        runs = [next(run for run in scores().of(MAIN, SIZE, on) if run.seed == seed) for on in ON]
        drawn.append(Line(words.training.format(number=seed + 1), list(ON), rises(runs), seed))
    return lines(
        drawn,
        (words.on_axis, words.loss_axis),
        mode,
        logarithmic=(True, False),
        hover="%{y:.3f}",
        ticks=ON,
    )


@kit.kept(1)
def size_rows() -> list[tuple[str, ...]]:
    """Return a row for each number of features, with the three trainings."""
    rows = []
    for size in SIZES:
        runs = scores().of(MAIN, size)
        rows.append(
            (
                str(size),
                ", ".join(kit.percent(run.explained) for run in runs),
                ", ".join(f"{rise:.3f}" for rise in rises(runs)),
                ", ".join(str(run.silent) for run in runs),
                kit.percent(float(np.median(bundle(MAIN, size).share))),
            )
        )
    return rows


def parts(size: int, larger: int) -> np.ndarray:
    """Return the feature of a dictionary that each feature of a larger one is a part of; −1: none.

    Its direction is the nearest, and it is on at half of the part's tokens or more.
    """
    found = bundle(MAIN, larger)
    return np.where(found.shared >= PART, found.parent, -1)


def parts_of(feature: int, size: int, larger: int) -> list[int]:
    """Return the parts of a feature."""
    return np.flatnonzero(parts(size, larger) == feature).tolist()


def parent_of(state: kit.PageState) -> int:
    """Return the feature of the link; without one, that with the most parts."""
    if 0 <= state["featparent"] < SIZES[0]:
        return state["featparent"]
    of = parts(*SIZES[:2])
    return int(np.bincount(of[of >= 0], minlength=SIZES[0]).argmax())


@kit.kept(64)
def split_rows(parent: int) -> list[tuple[str, ...]]:
    """Return a row for a feature of the smallest dictionary, and for its parts."""
    small = bundle(MAIN, SIZES[0])
    share = kit.percent(float(small.share[parent]))
    rows = [(str(SIZES[0]), str(parent), "", "", share, strips.strongest_at(MAIN, 192, parent))]
    level, size = [parent], SIZES[0]
    for larger in SIZES[1:]:
        found, upper = bundle(MAIN, larger), bundle(MAIN, size).dictionary.directions
        below = [feature for above in level for feature in parts_of(above, size, larger)]
        for part in below[:MOST]:
            cosine = float(found.dictionary.directions[part] @ upper[found.parent[part]])
            rows.append(
                (
                    str(larger),
                    str(part),
                    kit.signed(cosine),
                    kit.percent(float(found.shared[part])),
                    kit.percent(float(found.share[part])),
                    strips.strongest_at(MAIN, larger, part),
                )
            )
        level, size = below, larger
    return rows


def draw(state: kit.PageState) -> None:
    """Show what more features change, and into which one of a small dictionary splits."""
    kit.section(words.split)
    kit.rows_table(size_rows(), words.sizes_columns)
    silent = sum(run.silent for size in SIZES for run in scores().of(MAIN, size))
    kit.prose(words.silent["some" if silent else "none"].format(count=silent))
    kit.prose(words.choose_parent)
    take = state.taker("featparent")
    parent = parent_of(state)
    slot = kit.tied(f"_{KEY}.parent", parent, take)
    st.number_input(words.parent, min_value=0, max_value=SIZES[0] - 1, width=280, **slot)
    kit.rows_table(split_rows(parent), words.split_columns)
    below = parts_of(parent, SIZES[0], SIZES[1])
    how = "split" if len(below) > 1 else "same" if below else "gone"
    kit.prose(
        words.split_read[how].format(
            feature=parent, small=SIZES[0], large=SIZES[1], count=len(below)
        )
    )
