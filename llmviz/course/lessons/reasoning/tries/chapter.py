"""Chapter "More tries": a vote, a checker, the most probable try and beams, by tokens spent."""

import math
from collections import Counter

import plotly.graph_objects as go
import streamlit as st

from llmviz.course.figures.lines import Line, lines
from llmviz.course.lessons.reasoning import sum_texts
from llmviz.course.lessons.reasoning.sum_field import sum_of
from llmviz.course.lessons.reasoning.sum_texts import LEAST, MOST, Sum, bundled, is_right
from llmviz.course.lessons.reasoning.tries import model as more_tries
from llmviz.course.lessons.reasoning.tries import words
from llmviz.course.lessons.reasoning.tries.model import (
    ALL,
    AT_ONCE,
    BEAM,
    CARRIED,
    CHECKED,
    CHOICES,
    COUNTS,
    LIKELY,
    PLAIN,
    QUESTIONS,
    SAMPLES,
    STEPS,
    VOTE,
    Point,
    Try,
    beams_of,
    chosen,
    recorded,
    tries_of,
    vote,
)
from llmviz.course.ui import kit

KEY = "reasoning.tries"
NEAR = 0.1  # numbers of tokens that differ by less, on a logarithmic scale, are nearly the same


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro)
    if not kit.is_here(
        words.missing, f"{sum_texts.COMMAND}\n{more_tries.COMMAND}", recorded, bundled
    ):
        return
    once = kit.percent(last(VOTE, count=1).right)
    kit.prose(words.intro_read, right=once, questions=QUESTIONS, samples=SAMPLES)
    _live(state)
    if not kit.predict(vote_question(), f"{KEY}.vote", covers=True):
        return
    _budget()
    kit.section(words.fails)
    if kit.predict(carried_question(), f"{KEY}.carried", covers=True):
        _fails()
        _steps()
        kit.seen(words.end, **end())


def last(choice: str, part: str = ALL, count: int = SAMPLES) -> Point:
    """Return what a way comes to with so many tries."""
    (found,) = (point for point in recorded().line(choice, part) if point.count == count)
    return found


def vote_question() -> kit.Question:
    """Return the question how often the vote of all tries is right."""
    return kit.share_question(
        words.ask_vote.format(once=kit.percent(last(VOTE, count=1).right), most=SAMPLES),
        last(VOTE).right,
        [reason.format(questions=QUESTIONS) for reason in words.ask_vote_reasons],
        kit.percent,
    )


def carried_question() -> kit.Question:
    """Return the question how often the vote is right where something is carried."""
    return kit.share_question(
        words.ask_carried.format(most=SAMPLES, plain=kit.percent(last(VOTE, PLAIN).right)),
        last(VOTE, CARRIED).right,
        list(words.ask_carried_reasons),
        kit.percent,
    )


def _live(state: kit.PageState) -> None:
    kit.section(words.live)
    kit.prose("\n\n".join(words.choices_text))
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        kit.text_input(state, "trysum", words.sum, width=200)
        for key, label in (("trycount", words.count), ("trybeam", words.beam)):
            names = {option: option for option in state.params[key].options}
            st.select_slider(label, width=220, **state.named(key, names))
        st.number_input(words.draw, width=140, **state.ranged("trydraw"))
    numbers = sum_of(state["trysum"])
    if numbers is None:
        kit.refuse(words.bad_sum.format(least=LEAST, most=MOST))
        return
    count, seed = int(state["trycount"]), state["trydraw"]
    tries = tries_for(numbers, count, seed)
    left, right = st.columns([2, 3], gap="medium")
    with left:
        kit.rows_table(answer_rows(tries, numbers), words.answer_columns)
    with right:
        beam = beam_for(numbers, int(state["trybeam"]))
        kit.rows_table(choice_rows(tries, beam, numbers), words.choice_columns)
    kit.prose(live_read(tries, numbers))
    best = vote(tries)
    kit.show_code(
        [vote],
        "from llmviz.course.lessons.reasoning.tries.model import tries_of, vote\n"
        "from llmviz.course.lessons.reasoning.sum_texts import bundled\n\n"
        f"(tries,) = tries_of(bundled(), [{numbers}], {count}, {seed * SAMPLES})\n"
        "best = vote(tries)\n"
        "print(best and best.text)",
        str(best and best.text),
    )


@kit.kept(64)
def tries_for(numbers: Sum, count: int, seed: int) -> list[Try]:
    """Return the tries of the controls; more tries go on from fewer."""
    return tries_of(bundled(), [numbers], count, seed * SAMPLES)[0]


@kit.kept(64)
def beam_for(numbers: Sum, width: int) -> list[Try]:
    """Return the texts of a beam search."""
    return beams_of(bundled(), numbers, width)


def mark(right: bool) -> str:
    """Return a word for right or wrong."""
    return words.marks[right]


def answer_rows(tries: list[Try], numbers: Sum) -> list[tuple[str, str, str]]:
    """Return a row for each answer, the most frequent first."""
    counted = Counter(attempt.answer for attempt in tries)
    return [
        (
            words.none if answer is None else str(answer),
            str(count),
            mark(answer == sum(numbers)),
        )
        for answer, count in counted.most_common()
    ]


def choice_rows(tries: list[Try], beam: list[Try], numbers: Sum) -> list[tuple[str, ...]]:
    """Return a row for each way to take a try."""
    taken = {choice: chosen(tries, numbers, choice) for choice in CHOICES}
    taken[BEAM] = beam[0] if beam else None
    spent = dict.fromkeys(CHOICES, sum(attempt.tokens for attempt in tries))
    spent[BEAM] = sum(attempt.tokens for attempt in beam)
    return [
        (
            words.choices[choice],
            attempt.text if attempt else words.none,
            mark(attempt is not None and is_right(numbers, attempt.text)),
            str(spent[choice]),
        )
        for choice, attempt in taken.items()
    ]


def live_read(tries: list[Try], numbers: Sum) -> str:
    """Return which ways to take one of the tries are right."""
    right = sum(is_right(numbers, attempt.text) for attempt in tries)
    hits = {
        choice: (best := chosen(tries, numbers, choice)) is not None
        and is_right(numbers, best.text)
        for choice in CHOICES
    }
    if not right:
        kind = "none"
    elif hits[VOTE]:
        kind = "all" if hits[LIKELY] else "vote"
    else:
        kind = "likely" if hits[LIKELY] else "checker"
    return words.live_read[kind].format(count=len(tries), right=right)


def _budget() -> None:
    kit.section(words.budget, questions=QUESTIONS)
    kit.chart(budget_figure(kit.theme()), f"{KEY}.budget", bar=False)
    kit.prose(budget_read())
    kit.rows_table(budget_rows(), words.budget_columns)


@kit.kept(2)
def budget_figure(mode: kit.Mode) -> go.Figure:
    """Return right answers against the tokens that each way spends."""
    drawn = []
    for at, choice in enumerate((*CHOICES, BEAM)):
        line = recorded().line(choice)
        drawn.append(
            Line(
                words.choices[choice],
                [point.tokens for point in line],
                [point.right for point in line],
                at,
                errors=[2 * point.error for point in line],
            )
        )
    return lines(
        drawn,
        (words.tokens_axis, words.right_axis),
        mode,
        logarithmic=(True, False),
        hover="%{y:.1%}",
        ticks=(5, 10, 20, 50, 100, 200, 400),
    )


def budget_read() -> str:
    """Return what the ways come to at the largest budget."""
    beam = recorded().line(BEAM)[-1]
    return words.budget_read.format(
        most=SAMPLES,
        tokens=last(VOTE).tokens,
        width=beam.count,
        beam=kit.percent(beam.right),
        beam_tokens=beam.tokens,
        **{choice: kit.percent(last(choice).right) for choice in CHOICES},
    )


@kit.kept(1)
def budget_rows() -> list[tuple[str, ...]]:
    """Return a row for each number of tries."""
    return [
        (
            str(count),
            f"{last(VOTE, count=count).tokens:.0f}",
            *(with_error(last(choice, count=count)) for choice in CHOICES),
        )
        for count in COUNTS
    ]


def with_error(point: Point) -> str:
    """Return a share and its standard error."""
    return words.with_error.format(share=kit.percent(point.right), error=kit.percent(point.error))


def _fails() -> None:
    kit.chart(fails_figure(kit.theme()), f"{KEY}.fails", bar=False)
    found = recorded()
    kit.prose(
        words.fails_read,
        most=SAMPLES,
        questions=QUESTIONS,
        wrong=found.wrong,
        lost=found.lost,
        forgotten=found.forgotten,
    )


@kit.kept(2)
def fails_figure(mode: kit.Mode) -> go.Figure:
    """Return the vote's right answers by how many tries vote, with and without a carry."""
    drawn = []
    for at, part in enumerate((PLAIN, CARRIED)):
        line = recorded().line(VOTE, part)
        drawn.append(
            Line(
                words.parts[part],
                [point.count for point in line],
                [point.right for point in line],
                at,
                errors=[2 * point.error for point in line],
            )
        )
    return lines(
        drawn,
        (words.tries_axis, words.right_axis),
        mode,
        logarithmic=(True, False),
        hover="%{y:.1%}",
        height=320,
        ticks=COUNTS,
    )


def _steps() -> None:
    kit.section(words.steps)
    kit.rows_table(step_rows(), words.steps_columns)
    kit.prose(steps_read())


@kit.kept(1)
def step_rows() -> list[tuple[str, ...]]:
    """Return a row for each kind of tries and how many of them vote."""
    return [
        (words.kinds[kind], str(point.count), f"{point.tokens:.0f}", with_error(point))
        for kind in (AT_ONCE, STEPS)
        for point in recorded().line(VOTE, kind=kind)
    ]


def steps_read() -> str:
    """Return which kind is right more often at the largest budget that both have, in the error."""
    at_once, steps = max(
        (
            (first, second)
            for first in recorded().line(VOTE, kind=AT_ONCE)
            for second in recorded().line(VOTE, kind=STEPS)
            if abs(math.log(first.tokens / second.tokens)) < NEAR
        ),
        key=lambda pair: pair[0].tokens,
    )
    apart = steps.right - at_once.right
    error = math.hypot(at_once.error, steps.error)
    kind = "tie" if abs(apart) <= 2 * error else STEPS if apart > 0 else AT_ONCE
    return words.steps_read[kind].format(first=at_once.tokens, second=steps.tokens)


def end() -> dict[str, object]:
    """Return the numbers of the chapter's end."""
    return {
        "most": SAMPLES,
        "once": kit.percent(last(VOTE, count=1).right),
        "vote": kit.percent(last(VOTE).right),
        "checked": kit.percent(last(CHECKED).right),
        "plain": kit.percent(last(VOTE, PLAIN).right),
        "carried": kit.percent(last(VOTE, CARRIED).right),
    }
