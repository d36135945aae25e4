"""Chapter "More tries": a vote, a checker, the most probable try and beams, by tokens spent."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from llmviz.course.figures.lines import Line, lines
from llmviz.course.lessons.reasoning import sum_texts
from llmviz.course.lessons.reasoning.best_of_n import model, words
from llmviz.course.lessons.reasoning.sum_texts import LEAST, MOST, Sum, bundled, is_right, sum_of
from llmviz.course.ui import kit

KEY = "reasoning.best_of_n"
GUESS = f"{KEY}.vote"
NEAR = 0.1  # numbers of tokens that differ by less, on a logarithmic scale, are nearly the same


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show what votes come to, the guess, the reader's own sum, and what was measured."""
    kit.prose(words.hook)
    commands = f"{sum_texts.COMMAND}\n{model.COMMAND}"
    if not kit.is_here(words.missing, commands, model.recorded, bundled):
        return
    guess = kit.Guess(GUESS, vote_question())
    shown = guess.open
    with kit.stage("tries"):
        _votes(guess)
    if shown:
        kit.prose(words.caption, questions=model.QUESTIONS, **end())
    guess.ask()
    if shown:
        kit.looks(state, words.looks, f"{KEY}.looks")
    _live(state)
    kit.section(words.intro)
    if shown:
        _fails()
        kit.section(words.budget)
        kit.chart(budget_figure(kit.theme()), f"{KEY}.budget", bar=False)
        kit.prose(budget_read())
        width = model.recorded().line(model.BEAM)[-1].count
        kit.measured(words.how_budget, width=width, questions=model.QUESTIONS)
        _steps()
        kit.seen(words.end, **end())


def _votes(guess: kit.Guess) -> None:
    """Draw the vote's right answers where nothing is carried; the hand draws the others on."""
    plain, carried = (
        model.recorded().line(model.VOTE, part) for part in (model.PLAIN, model.CARRIED)
    )
    colours = {model.PLAIN: "value", model.CARRIED: "key"}

    def drawn(part: str, line: Sequence[model.Point]) -> kit.Drawn:
        counts, right = zip(*((point.count, point.right) for point in line), strict=True)
        return kit.Drawn(words.parts[part], counts, right, colours[part])

    guess.line(
        [drawn(model.PLAIN, plain)],
        drawn(model.CARRIED, carried),
        kit.Scale(
            1, model.SAMPLES, words.tries_axis, log=True, marks=[(n, f"{n}") for n in model.COUNTS]
        ),
        kit.Scale(0, 1, words.right_axis),
        known=1,
        picture=f"{KEY}.votes",
        form="percent",
    )


def last(choice: str, part: str = model.ALL, count: int = model.SAMPLES) -> model.Point:
    """Return what a way comes to with so many tries."""
    (found,) = (point for point in model.recorded().line(choice, part) if point.count == count)
    return found


def vote_question() -> kit.Question:
    """Return the question how the vote goes on where something is carried.

    The wrong answers are those of somebody to whom many heads are wiser than one, as much as where
    nothing is carried, and of one to whom votes change nothing.
    """
    plain, carried = (
        model.recorded().line(model.VOTE, part) for part in (model.PLAIN, model.CARRIED)
    )
    first, gain = carried[0].right, [point.right - plain[0].right for point in plain[1:]]
    values = {
        "wise": [min(1.0, first + more) for more in gain],
        "flat": [first] * len(gain),
        "right": [point.right for point in carried[1:]],
    }
    about = {"plain": kit.percent(plain[-1].right), "carried": kit.percent(carried[-1].right)}
    return kit.Question(
        words.ask.format(most=model.SAMPLES),
        [words.ask_answers[name] for name in values],
        2,
        [words.ask_reasons[name].format(**about) for name in values],
        values=[tuple(line) for line in values.values()],
    )


def _live(state: kit.PageState) -> None:
    kit.section(words.live)
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
    cases = answer_cases(tries, numbers)
    look: dict[str, Any] = {"key": f"{KEY}.piles", "words": {}, "form": "count"}
    kit.case_rows(cases, kit.Axis(0, count, words.piles_axis), **look)
    kit.prose(live_read(tries, numbers))
    kit.prose("\n\n".join(words.choices_text))
    beam = beam_for(numbers, int(state["trybeam"]))
    kit.rows_table(choice_rows(tries, beam, numbers), words.choice_columns)
    kit.measured(words.how_voted)
    best = model.vote(tries)
    kit.show_code(
        [model.vote],
        "from llmviz.course.lessons.reasoning.best_of_n.model import tries_of, vote\n"
        "from llmviz.course.lessons.reasoning.sum_texts import bundled\n\n"
        f"(tries,) = tries_of(bundled(), [{numbers}], {count}, {seed * model.SAMPLES})\n"
        "best = vote(tries)\n"
        "print(best and best.text)",
        str(best and best.text),
    )


@kit.cached(64)
def tries_for(numbers: Sum, count: int, seed: int) -> list[model.Try]:
    """Return the tries of the controls; more tries go on from fewer."""
    return model.tries_of(bundled(), [numbers], count, seed * model.SAMPLES)[0]


@kit.cached(64)
def beam_for(numbers: Sum, width: int) -> list[model.Try]:
    """Return the texts of a beam search."""
    return model.beams_of(bundled(), numbers, width)


def mark(right: bool) -> str:
    """Return a word for right or wrong."""
    return words.marks[right]


def answer_cases(tries: list[model.Try], numbers: Sum) -> list[kit.Case]:
    """Return a line for each answer, the most frequent first; the right one is lit."""
    counted = Counter(attempt.answer for attempt in tries)
    return [
        kit.Case(
            [(words.none if answer is None else str(answer), answer == sum(numbers))],
            count,
            role="value" if answer == sum(numbers) else "residual",
        )
        for answer, count in counted.most_common()
    ]


def choice_rows(
    tries: list[model.Try], beam: list[model.Try], numbers: Sum
) -> list[tuple[str, ...]]:
    taken = {choice: model.chosen(tries, numbers, choice) for choice in model.CHOICES}
    taken[model.BEAM] = beam[0] if beam else None
    spent = dict.fromkeys(model.CHOICES, sum(attempt.tokens for attempt in tries))
    spent[model.BEAM] = sum(attempt.tokens for attempt in beam)
    return [
        (
            words.choices[choice],
            attempt.text if attempt else words.none,
            mark(attempt is not None and is_right(numbers, attempt.text)),
            str(spent[choice]),
        )
        for choice, attempt in taken.items()
    ]


def live_read(tries: list[model.Try], numbers: Sum) -> str:
    """Return which ways to take one of the tries are right."""
    right = sum(is_right(numbers, attempt.text) for attempt in tries)
    hits = {
        choice: (best := model.chosen(tries, numbers, choice)) is not None
        and is_right(numbers, best.text)
        for choice in model.CHOICES
    }
    if not right:
        kind = "none"
    elif hits[model.VOTE]:
        kind = "all" if hits[model.LIKELY] else "vote"
    else:
        kind = "likely" if hits[model.LIKELY] else "checker"
    return words.live_read[kind].format(count=len(tries), right=right)


@kit.cached(2)
def budget_figure(mode: kit.Mode) -> go.Figure:
    """Return right answers against the tokens that each way spends."""
    drawn = []
    for at, choice in enumerate((*model.CHOICES, model.BEAM)):
        line = model.recorded().line(choice)
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
    beam = model.recorded().line(model.BEAM)[-1]
    return words.budget_read.format(
        most=model.SAMPLES,
        tokens=last(model.VOTE).tokens,
        beam=kit.percent(beam.right),
        beam_tokens=beam.tokens,
        **{choice: kit.percent(last(choice).right) for choice in model.CHOICES},
    )


def _fails() -> None:
    found = model.recorded()
    kit.section(words.fails)
    kind = "none" if not found.lost else "all" if found.lost == found.wrong else "some"
    counts = {"most": model.SAMPLES, "wrong": found.wrong, "lost": found.lost}
    kit.prose(f"{words.fails_read[kind]} {words.fails_why}", forgotten=found.forgotten, **counts)


def _steps() -> None:
    kit.section(words.steps)
    kit.plot(f"{KEY}.steps", steps_figure)
    kind, first, second = steps_told()
    kit.prose(words.steps_read[kind])
    kit.measured(words.how_steps, first=first, second=second)


@kit.cached(2)
def steps_figure(mode: kit.Mode) -> go.Figure:
    """Return the vote's right answers against tokens, of tries with steps and of those without."""
    drawn = []
    for at, kind in enumerate((model.AT_ONCE, model.STEPS)):
        line = model.recorded().line(model.VOTE, kind=kind)
        tokens, right = [point.tokens for point in line], [point.right for point in line]
        errors = [2 * point.error for point in line]
        drawn.append(Line(words.kinds[kind], tokens, right, at, errors=errors))
    axes = words.tokens_axis, words.right_axis
    return lines(drawn, axes, mode, logarithmic=(True, False), hover="%{y:.1%}", height=320)


def steps_told() -> tuple[str, float, float]:
    """Return which kind is right more often at the largest budget that both have, and both."""
    at_once, steps = max(
        (
            (first, second)
            for first in model.recorded().line(model.VOTE, kind=model.AT_ONCE)
            for second in model.recorded().line(model.VOTE, kind=model.STEPS)
            if abs(math.log(first.tokens / second.tokens)) < NEAR
        ),
        key=lambda pair: pair[0].tokens,
    )
    apart = steps.right - at_once.right
    error = math.hypot(at_once.error, steps.error)
    kind = "tie" if abs(apart) <= 2 * error else model.STEPS if apart > 0 else model.AT_ONCE
    return kind, at_once.tokens, steps.tokens


def end() -> dict[str, object]:
    """Return the numbers of the chapter's end."""
    return {
        "most": model.SAMPLES,
        "once": kit.percent(last(model.VOTE, count=1).right),
        "vote": kit.percent(last(model.VOTE).right),
        "checked": kit.percent(last(model.CHECKED).right),
        "plain": kit.percent(last(model.VOTE, model.PLAIN).right),
        "carried": kit.percent(last(model.VOTE, model.CARRIED).right),
    }
