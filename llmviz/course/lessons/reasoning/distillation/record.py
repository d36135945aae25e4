"""The bundled students: noise of gradients, what each lacks, and a word that some never saw."""

from collections.abc import Callable, Sequence
from dataclasses import asdict

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from llmviz.course.figures.lines import Line, lines
from llmviz.course.lessons.reasoning.distillation import words
from llmviz.course.lessons.reasoning.distillation.distil_record import (
    DRAWS,
    FEW,
    MANY,
    NOISE_BATCHES,
    SEEDS,
    WAYS_OF,
    WITHOUT,
    WORD,
    Run,
    recorded,
)
from llmviz.course.lessons.reasoning.distillation.distilling import (
    BATCH,
    SOFT_1,
    TESTS,
    TEXT,
    UPDATES,
    WAYS,
    WRITTEN,
)
from llmviz.course.lessons.reasoning.distillation.params import COUNTS
from llmviz.course.ui import kit

KEY = "reasoning.distillation.runs"
SURE = 2.0  # standard errors: what is less apart is called a tie
NEAR = 0.5  # of what students give to the word that saw it: less is called hardly


def draw(state: kit.PageState) -> bool:
    """Show what was measured of the students; return whether it may be seen."""
    noise = recorded().noise
    kit.section(words.noise, stories=BATCH, draws=DRAWS)
    kit.prose(words.noise_read, **asdict(noise))
    spread = {"text": noise.text, "soft": noise.soft}
    kit.prose(words.batches_read, batches=NOISE_BATCHES, told=batches_told(), **spread)
    kit.section(words.runs, tokens=tokens(), updates=UPDATES)
    if not kit.predict(best_question(), f"{KEY}.best", covers=True):
        return False
    st.segmented_control(
        words.count, **state.named("distcount", {number: f"{int(number):,}" for number in COUNTS})
    )
    count = int(state["distcount"])
    chart(figure(count, kit.theme()), f"{KEY}.lack")
    kit.rows_table(run_rows(count), words.run_columns)
    teacher = recorded().teacher
    kit.prose(words.run_read, tests=TESTS, floor=teacher.floor.value, probes=teacher.rules.count)
    kit.prose(heart_read())
    kit.show_code(
        [Run],
        "from llmviz.course.lessons.reasoning.distillation.distil_record import recorded\n\n"
        f"runs = recorded().of({SOFT_1!r}, {count})\n"
        "print([f'{run.measured.lack.value:.4f}' for run in runs])",
        str([f"{run.measured.lack.value:.4f}" for run in recorded().of(SOFT_1, count)]),
    )
    _word()
    return True


def chart(drawn: go.Figure, key: str) -> None:
    """Show a chart."""
    kit.chart(drawn, key, bar=False)


def tokens() -> int:
    """Return how many tokens the students read, on average over all of them."""
    ends = [run.points[-1].tokens for run in recorded().runs.values()]
    return int(round(float(np.mean(ends)), -3))


def lack_of(run: Run) -> float:
    """Return a student's loss over the floor."""
    return run.measured.lack.value


def mean(way: str, count: int, number: Callable[[Run], float] = lack_of) -> float:
    """Return the mean of a number over the students of a way."""
    return float(recorded().values(number, way, count).mean())


def batches_told() -> str:
    """Return whether soft targets make gradients steadier over batches."""
    noise = recorded().noise
    apart = noise.text - noise.soft
    sure = abs(apart) > SURE * noise.error
    return words.batches_told["tie" if not sure else "less" if apart > 0 else "more"]


def best_question() -> kit.Question:
    """Return the question which students lack least."""
    ways = (TEXT, WRITTEN, SOFT_1)
    values = np.array([recorded().values(lack_of, way, FEW) for way in ways])
    means, errors = values.mean(1), values.std(1, ddof=1) / np.sqrt(len(SEEDS))
    best, second = np.argsort(means, kind="stable")[:2]
    tied = means[second] - means[best] <= SURE * np.hypot(errors[best], errors[second])
    reason = words.best_reason.format(text=means[0], written=means[1], soft=means[2])
    return kit.Question.of(words.ask_best, 3 if tied else int(best), few=FEW, reason=reason)


@kit.kept(4)
def figure(count: int, mode: kit.Mode) -> go.Figure:
    """Return what students lack by the tokens that they have read, a line for each way."""
    return lines(
        curves(count), (words.tokens_axis, words.lack_axis), mode, logarithmic=(False, True)
    )


def curves(count: int) -> list[Line]:
    """Return the line of each way: the mean of three students, and their standard error."""
    drawn = []
    for at, way in enumerate(WAYS):
        if way in WAYS_OF[count]:
            runs = recorded().of(way, count)
            x = np.mean([[point.tokens for point in run.points] for run in runs], axis=0)
            y = np.array([[point.lack for point in run.points] for run in runs])
            errors = y.std(0, ddof=1) / np.sqrt(len(runs))
            drawn.append(Line(words.ways[way], x, y.mean(0), at, errors=errors.tolist()))
    return drawn


def each(values: Sequence[float], written: Callable[[float], str] = "{:.3f}".format) -> str:
    """Return numbers of students, one after the other."""
    return ", ".join(map(written, values))


@kit.kept(2)
def run_rows(count: int) -> list[tuple[str, ...]]:
    """Return a row for each way: numbers student by student; and one for the teacher."""
    teacher = recorded().teacher
    rows = []
    for way in WAYS_OF[count]:
        runs = recorded().of(way, count)
        own = [kit.signed(run.own - run.own_floor) for run in runs if run.own_floor is not None]
        rules = [run.measured.rules for run in runs]
        rows.append(
            (
                words.ways[way],
                each([lack_of(run) for run in runs]),
                ", ".join(own) or words.unknown,
                kit.percent(sum(rule.right for rule in rules) / sum(rule.count for rule in rules)),
            )
        )
    rules = kit.percent(teacher.rules.right / teacher.rules.count)
    return [*rows, (words.teacher_row, f"{teacher.lack.value:.3f}", words.unknown, rules)]


def over_own(run: Run) -> float:
    """Return a student's loss on its own stories, over that of the grammar on the same."""
    assert run.own_floor is not None
    return run.own - run.own_floor


def heart_read() -> str:
    """Return what students have on their own stories and on new ones."""
    return words.heart_read.format(
        few=FEW,
        own=kit.signed(mean(TEXT, FEW, over_own)),
        new=kit.signed(mean(TEXT, FEW)),
        soft_own=kit.signed(mean(SOFT_1, FEW, over_own)),
        soft_new=kit.signed(mean(SOFT_1, FEW)),
    )


def _word() -> None:
    kit.section(words.word, word=WORD, many=MANY)
    kit.rows_table(word_rows(), [column.format(word=WORD) for column in words.word_columns])
    first = recorded().teacher.word
    kit.prose(
        words.word_read,
        word=WORD,
        true=kit.percent(first.true),
        possible=first.possible,
        certain=first.certain,
        text=kit.percent(chances(TEXT, WORD)[0]),
        text_certain=kit.percent(chances(TEXT, WORD)[1]),
        soft=kit.percent(chances(SOFT_1, WORD)[0]),
        soft_certain=kit.percent(chances(SOFT_1, WORD)[1]),
    )
    kit.prose(words.word_found[word_found()])


def chances(way: str, without: str = "") -> tuple[float, float]:
    """Return what students give to the word at both kinds of places, on average."""
    runs = [run.measured.word for run in recorded().of(way, MANY, without)]
    return (
        float(np.mean([word.given for word in runs])),
        float(np.mean([word.given_certain for word in runs])),
    )


def word_found() -> str:
    """Return where soft targets alone taught the word, against students that saw it."""
    alone, seen = chances(SOFT_1, WORD), chances(SOFT_1)
    if alone[0] <= NEAR * seen[0]:
        return "none"
    if seen[1] <= seen[0] / NEAR:
        return "unlearned"
    return "both" if alone[1] > NEAR * seen[1] else "first"


@kit.kept(1)
def word_rows() -> list[tuple[str, ...]]:
    """Return a row for each kind of students: with the word and without; and the teacher."""
    rows = []
    for way in WITHOUT:
        for title, without in zip(words.word_rows[way], ("", WORD), strict=True):
            found = [run.measured.word for run in recorded().of(way, MANY, without)]
            rows.append(
                (
                    title.format(word=WORD),
                    each([word.given for word in found], kit.percent),
                    each([word.given_certain for word in found], kit.percent),
                )
            )
    teacher = recorded().teacher.word
    own = kit.percent(teacher.given), kit.percent(teacher.given_certain)
    return [*rows, (words.teacher_row, *own)]
