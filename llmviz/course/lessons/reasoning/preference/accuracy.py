"""How often reward models are right: by pairs, by mistakes of the labeller, on other kinds."""

from collections.abc import Callable

import numpy as np
import plotly.graph_objects as go

from llmviz.course.figures.calibration import reliability_chart
from llmviz.course.figures.lines import Line, lines
from llmviz.course.lessons.reasoning.preference import words
from llmviz.course.lessons.reasoning.preference.preference_model import LABELLER
from llmviz.course.lessons.reasoning.preference.preference_record import (
    ALL,
    BY_LENGTH,
    CONFIDENCES,
    KIND_SEED,
    LONGER,
    SHORTER,
    SIZES,
    Run,
    recorded,
    settings,
)
from llmviz.course.lessons.reasoning.preference.preference_texts import KINDS, pairs_of_kind
from llmviz.course.ui import kit
from llmviz.finetuning.labeller import clean_pairs
from llmviz.training.measures import Share

KEY = "reasoning.preference"
NEAR = 0.05  # shares that differ by less are about the same


def draw() -> bool:
    """Show the section; return whether its question was answered."""
    kit.section(words.accuracy)
    if not kit.predict(shorter_question(), f"{KEY}.shorter", covers=True):
        return False
    kit.prose(words.size_text)
    kit.chart(size_figure(kit.theme()), f"{KEY}.size", bar=False)
    kit.rows_table(run_rows(), words.run_columns)
    kit.prose(words.kind_text)
    kit.rows_table(kind_rows(), words.kind_columns)
    kit.prose(kind_read())
    kit.prose(words.calibration_text)
    kit.chart(calibration_figure(kit.theme()), f"{KEY}.sure", bar=False)
    kit.prose(calibration_read())
    kit.show_code(
        [Run],
        "from llmviz.course.lessons.reasoning.preference.preference_record import recorded\n\n"
        "print([str(one.right['all']) for one in recorded().of(50)])",
        str([str(run.right[ALL]) for run in recorded().of(50)]),
    )
    return True


def shorter(by_length: float) -> np.ndarray:
    """Return how often models are right where the better ending is the shorter one, (seeds,)."""
    return np.array([run.right[SHORTER].share for run in recorded().of(by_length=by_length)])


def shorter_question() -> kit.Question:
    """Return the question what labels by length do where the better ending is the shorter one."""
    plain, biased = shorter(BY_LENGTH[0]), shorter(BY_LENGTH[-1])
    apart = float(biased.mean() - plain.mean())
    place = 2 if abs(apart) < NEAR else 0 if apart > 0 else 1
    return kit.Question.of(
        words.ask_shorter,
        place,
        plain=kit.percent(float(plain.mean())),
        most=kit.percent(BY_LENGTH[-1]),
        reason=words.shorter_reason.format(biased=kit.percent(float(biased.mean()))),
    )


@kit.kept(2)
def size_figure(mode: kit.Mode) -> go.Figure:
    """Return right answers against the number of pairs, three models each."""
    names = {ALL: words.all_name, LONGER: words.longer_name, SHORTER: words.shorter_name}
    drawn = []
    for at, (kind, name) in enumerate(names.items()):
        found = np.array([[run.right[kind].share for run in recorded().of(n)] for n in SIZES])
        mean = found.mean(1)
        drawn.append(Line(name, SIZES, mean, at, errors=np.abs(found - mean[:, None]).max(1)))
    return lines(
        drawn,
        (words.pairs_axis, words.right_axis),
        mode,
        logarithmic=(True, False),
        hover="%{y:.1%}",
        ticks=SIZES,
    )


@kit.kept(1)
def run_rows() -> list[tuple[str, ...]]:
    """Return a row for each number of pairs and each labeller: its three models."""
    rows = []
    for pairs, by_length, wrong in dict.fromkeys(setting[:3] for setting in sorted(settings())):
        runs = recorded().of(pairs, by_length=by_length, wrong=wrong)

        def shares(kind: str, runs: tuple[Run, ...] = runs) -> str:
            return ", ".join(kit.percent(run.right[kind].share) for run in runs)

        head = (str(pairs), kit.percent(by_length), kit.percent(wrong))
        rows.append((*head, shares(ALL), shares(LONGER), shares(SHORTER)))
    return rows


@kit.kept(1)
def kind_rows() -> list[tuple[str, ...]]:
    """Return a row for each kind of pairs, with an example."""
    examples = {kind: pairs_of_kind(kind, 1, KIND_SEED)[0].better for kind in KINDS}
    examples[ALL] = clean_pairs(1, KIND_SEED)[0].better
    right = recorded().bundled.right
    return [
        (words.kinds[kind], examples[kind], with_interval(right[kind])) for kind in (ALL, *KINDS)
    ]


def with_interval(share: Share) -> str:
    """Return a share and its interval."""
    low, high = share.interval
    return f"{kit.percent(share.share)} ({kit.percent(low)} – {kit.percent(high)})"


def kind_read() -> str:
    """Return in which kinds the model is not told apart from guessing, or worse."""
    right: Callable[[str], Share] = recorded().bundled.right.__getitem__
    lost = [words.kinds[kind] for kind in KINDS if right(kind).interval[0] <= 0.5]
    if not lost:
        return words.kind_read["none"]
    return words.kind_read["some"].format(kinds=kit.listed([f"“{name}”" for name in lost]))


def bins() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the bins of all models of the bundled kind: how sure, agreed, and how many, (B,)."""
    counts, sure, agreed = np.sum([run.bins for run in recorded().of()], 0).T
    full = np.maximum(counts, 1)
    return sure / full, agreed / full, counts.astype(int)


@kit.kept(2)
def calibration_figure(mode: kit.Mode) -> go.Figure:
    """Return how often the labeller agreed, by how sure the models are."""
    empty = np.zeros(len(CONFIDENCES) - 1)  # nothing is surer than a half of the other answer
    sure, agreed, counts = (np.concatenate([empty, values]) for values in bins())
    names = words.calibration_names
    axes = words.calibration_axes
    return reliability_chart(
        sure, agreed, counts.astype(int), (names[0], names[1], names[2]), (axes[0], axes[1]), mode
    )


def calibration_read() -> str:
    """Return how sure the models are on average, and how often the labeller agrees."""
    sure, agreed, counts = bins()
    return words.calibration_read.format(
        sure=kit.percent(float(sure @ counts / counts.sum())),
        agreed=kit.percent(float(agreed @ counts / counts.sum())),
        rule=kit.percent(rule_agrees()),
    )


def rule_agrees() -> float:
    """Return in what share of held-out pairs the labeller goes by the rule, in expectation."""
    right = recorded().bundled.right
    kept = 1 - LABELLER.by_length * right[SHORTER].count / right[ALL].count
    return kept * (1 - LABELLER.wrong) + (1 - kept) * LABELLER.wrong
