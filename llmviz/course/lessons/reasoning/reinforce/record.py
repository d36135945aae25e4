"""The bundled runs: what each way to learn from rewards comes to, in three runs."""

import math
from collections.abc import Callable

import numpy as np
import plotly.graph_objects as go

from llmviz.course.figures.lines import Line, lines
from llmviz.course.lessons.reasoning.reinforce import words
from llmviz.course.lessons.reasoning.reward_runs import (
    NOISE_BATCHES,
    PAIR_BETA,
    SAMPLES,
    UPDATES,
    WAYS,
    Look,
    config_of,
    recorded,
)
from llmviz.course.ui import kit

KEY = "reasoning.reinforce.runs"
POINT = 0.005  # shares that differ by less are called equal
SURE = 2.0  # standard errors
"""A difference of means of three runs is told where it is larger than this many errors."""


def draw() -> bool:
    """Show the question and what the runs came to; return whether it may be seen."""
    config = config_of("grpo")
    kit.section(
        words.runs,
        updates=UPDATES,
        prompts=config.prompts,
        group=config.group,
        beta=PAIR_BETA,
        passes=config.how.passes,
    )
    if not kit.predict(sharper_question(), f"{KEY}.sharper", covers=True):
        return False
    kit.rows_table(run_rows(), [column.format(samples=SAMPLES) for column in words.run_columns])
    kit.prose(words.pass_text, samples=SAMPLES)
    kit.chart(pass_figure(kit.theme()), f"{KEY}.pass", bar=False)
    kit.prose(pass_read())
    kit.prose(sharpen())
    kit.prose(noise_read())
    kit.show_code(
        [Look],
        "from llmviz.course.lessons.reasoning.reward_runs import recorded\n\n"
        "print([f'{run.last.passed(1):.3f}' for run in recorded().runs['grpo']])",
        str([f"{run.last.passed(1):.3f}" for run in recorded().runs["grpo"]]),
    )
    return True


def mean(way: str, number: Callable[[Look], float]) -> float:
    """Return the mean of a number over the last looks of the runs of a way."""
    return float(recorded().values(way, number).mean())


def sharper_question() -> kit.Question:
    """Return the question whether right answers or at least one right answer gained more."""
    base = recorded().base
    gain = mean("grpo", lambda look: look.right) - base.right
    before, after = base.passed(SAMPLES), mean("grpo", lambda look: look.passed(SAMPLES))
    change = after - before
    place = 2 if abs(change - gain) < POINT else 0 if change > gain else 1
    reason = words.sharper_reason.format(
        before=kit.percent(before),
        after=kit.percent(after),
        change=points(change),
        right_before=kit.percent(base.right),
        right_after=kit.percent(base.right + gain),
    )
    return kit.Question.of(
        words.ask_sharper, place, gain=f"{100 * gain:.1f}", samples=SAMPLES, reason=reason
    )


def points(share: float) -> str:
    """Return a difference of shares in points, with its sign."""
    written = f"{100 * share:+.1f}"
    return written.replace("-", "−")


@kit.kept(1)
def run_rows() -> list[tuple[str, ...]]:
    """Return a row for the base, and one for each way: numbers run by run."""
    base = recorded().base
    rows = [(words.base_row, *(write(base) for write in _written()))]
    for way in WAYS:
        looks = [run.last for run in recorded().runs[way]]
        rows.append((words.ways[way], *(", ".join(map(write, looks)) for write in _written())))
    return rows


def _written() -> list[Callable[[Look], str]]:
    return [
        lambda look: kit.percent(look.right),
        lambda look: kit.percent(look.greedy / look.questions),
        lambda look: kit.percent(look.passed(SAMPLES)),
        lambda look: f"{look.divergence:.3f}",
        lambda look: f"{look.entropy:.3f}",
        lambda look: f"{look.length:.2f}",
    ]


@kit.kept(2)
def pass_figure(mode: kit.Mode) -> go.Figure:
    """Return pass@k of the base and of each way, the mean of its runs."""
    ks = list(range(1, SAMPLES + 1))
    base = recorded().base
    drawn = [Line(words.base_name, ks, [base.passed(k) for k in ks], 5, dashed=True)]
    for at, way in enumerate(WAYS):
        y = [mean(way, lambda look, k=k: look.passed(k)) for k in ks]
        drawn.append(Line(words.ways[way], ks, y, at))
    return lines(drawn, (words.k_axis, words.pass_axis), mode, hover="%{y:.1%}")


def stands(way: str) -> str:
    """Return how a way stands to the base at the largest k: above, below, or a tie."""
    found, base = recorded().values(way, lambda look: look.passed(SAMPLES)), recorded().base
    return told(found, base.passed(SAMPLES), base.questions)


def told(shares: np.ndarray, base: float, questions: int) -> str:
    """Return whether shares of runs lie above or below the base's share of the same questions.

    All runs answer the same few questions, so their number counts once, however well runs agree:
    each share has the error of a count, with one right and one wrong answer added (Agresti and
    Coull 1998), which is not 0 where all are right.
    """
    shrunk = [(share * questions + 1) / (questions + 2) for share in (float(shares.mean()), base)]
    counted = sum(share * (1 - share) / (questions + 2) for share in shrunk)
    error = math.sqrt(shares.var(ddof=1) / len(shares) + counted)
    apart = float(shares.mean()) - base
    return "tie" if abs(apart) <= SURE * error else "above" if apart > 0 else "below"


def pass_read() -> str:
    """Return which ways stand above or below the base at the largest k."""
    said = [
        words.pass_base.format(samples=SAMPLES, before=kit.percent(recorded().base.passed(SAMPLES)))
    ]
    for kind in ("above", "below", "tie"):
        names = [
            words.way_share.format(
                way=words.ways[way], share=kit.percent(mean(way, lambda look: look.passed(SAMPLES)))
            )
            for way in WAYS
            if stands(way) == kind
        ]
        if names:
            numbers = {"samples": SAMPLES, "questions": recorded().base.questions}
            said.append(words.pass_read[kind].format(ways=kit.listed(names), **numbers))
    return " ".join(said)


def sharpen() -> str:
    """Return what sharpening is, and what became of the most probable answers."""
    base = recorded().base
    after = [str(run.last.greedy) for run in recorded().runs["grpo"]]
    return words.sharpen.format(
        greedy=base.greedy, questions=base.questions, after=kit.listed(after)
    )


def noise_read() -> str:
    """Return how large the noise of a gradient is without and with a baseline."""
    noise = recorded().noise
    sentence = words.noise_told[{-1: "less", 0: "tie", 1: "more"}[noise.told]]
    return words.noise_read.format(
        batches=NOISE_BATCHES, plain=noise.plain, compared=noise.compared, told=sentence
    )
