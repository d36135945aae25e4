"""Chapter "A tool that computes": a small model, a calculator, and longer numbers."""

import streamlit as st

from llmviz.course.lessons.reasoning.tools import TASKS, tool_loop, tool_texts, words
from llmviz.course.lessons.reasoning.tools.tool_record import (
    BUNDLED,
    COMMAND,
    DIGITS,
    IN_CALL,
    IN_COPY,
    PRODUCT,
    bundled,
    recorded,
    share_of,
    together,
)
from llmviz.course.lessons.reasoning.tools.turns import run_of, turns
from llmviz.course.ui import kit
from llmviz.training.measures import Share

KEY = "reasoning.tools"
GUESS = f"{KEY}.digits"
APART = 0.2  # between the lines of two answers, on average


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show a model that asks a calculator, then numbers longer than it learned."""
    kit.prose(words.hook)
    here = (recorded, lambda: [bundled(way) for way in BUNDLED])
    if not kit.is_here(words.missing, COMMAND, *here):
        return
    task = state["tooltask"]
    guess = kit.Guess(GUESS, question(task))
    opened = guess.open
    with kit.stage("tools"):
        given = kit.or_refused(tool_texts.question_of, state["toolasked"])
        if given is not None:
            turns((given, tool_texts.TOOL, tool_loop.HONEST, ""), f"{KEY}.strip")
        kit.text_input(state, "toolasked", words.asked, width=420)
        _digits(task, guess)
        kit.choose(state, "tooltask", words.task, {name: words.tasks[name] for name in TASKS})
    if opened:
        kit.prose(digits_read(task))
    guess.ask()
    if opened:
        kit.looks(state, words.looks, f"{KEY}.looks")
        kit.real_case("yesterday", words.real)
    kit.section(words.intro)
    kit.measured(words.how_calls, trained=tool_texts.TRAINED, calls=tool_loop.MOST_CALLS)
    _code(given)
    _mask()
    if opened:
        shares = {
            name: kit.percent(right(PRODUCT, tool_texts.TRAINED + more).share)
            for name, more in (("inside", 0), ("beyond", 1))
        }
        kit.seen(words.end, digits=tool_texts.TRAINED, **shares)


def right(task: str, digits: int) -> Share:
    """Return the right answers of the models with calls together."""
    return together([model.right[task][digits] for model in recorded()[tool_texts.TOOL]])


def question(task: str) -> kit.Question | None:
    """Return the question how right answers go on where numbers are longer than in training.

    The wrong answers are of somebody to whom a calculator takes any number, and to whom each
    further digit is a little harder. None where they are too near to what was measured.
    """
    shares = [right(task, digits).share for digits in DIGITS]
    last, further = shares[tool_texts.TRAINED - 1], len(DIGITS) - tool_texts.TRAINED
    values = {
        "any": [last] * further,
        "harder": [last * (1 - n / (further + 1)) for n in range(1, further + 1)],
        "right": shares[tool_texts.TRAINED :],
    }
    for name in ("any", "harder"):
        pairs = zip(values[name], values["right"], strict=True)
        if sum(abs(a - b) for a, b in pairs) < APART * further:
            return None
    return kit.Question(
        words.ask.format(digits=tool_texts.TRAINED),
        [words.ask_answers[name] for name in values],
        2,
        [words.ask_reasons[name] for name in values],
        values=[tuple(line) for line in values.values()],
    )


def _digits(task: str, guess: kit.Guess) -> None:
    """Draw right answers by digits; the hand draws those beyond the training."""
    guess.line(
        [],
        kit.Drawn(words.line, DIGITS, [right(task, digits).share for digits in DIGITS], "value"),
        kit.Scale(DIGITS[0], DIGITS[-1], words.digits_axis),
        kit.Scale(0, 1, words.right_axis),
        known=tool_texts.TRAINED,
        picture=f"{KEY}.line",
        form="percent",
    )


def causes(task: str, digits: int) -> dict[str, int]:
    """Return where wrong answers with calls come from, of the three models together."""
    found: dict[str, int] = {}
    for model in recorded()[tool_texts.TOOL]:
        for cause, number in model.causes[task][digits].items():
            found[cause] = found.get(cause, 0) + number
    return found


def digits_read(task: str) -> str:
    """Return what becomes of calls with one digit more than was trained."""
    inside, outside = right(task, tool_texts.TRAINED), right(task, tool_texts.TRAINED + 1)
    # The intervals tell them apart, or they do not.
    falls = outside.interval[1] < inside.interval[0]
    kind = ("falls" if outside.right else "lost") if falls else "holds" if inside.right else "none"
    line = words.digits_read[kind].format(
        trained=tool_texts.TRAINED,
        most=tool_texts.TRAINED + 1,
        inside=kit.percent(inside.share),
        outside=kit.percent(outside.share),
    )
    found, wrong = causes(task, tool_texts.TRAINED + 1), outside.count - outside.right
    if not falls:
        return line
    return f"{line} {wrong_read(wrong, found.get(IN_CALL, 0), found.get(IN_COPY, 0))}"


def wrong_read(wrong: int, call: int, copy: int) -> str:
    """Return where wrong answers come from: a call, a copy, or neither."""
    kind = "call" if call == wrong else "both" if copy else "most"
    return words.wrong_read[kind].format(wrong=wrong, call=call, copy=copy)


def _code(given: tool_texts.Question | None) -> None:
    if given is None:
        return
    run = run_of((given, tool_texts.TOOL, tool_loop.HONEST, ""))
    kit.show_code(
        [tool_loop.in_turns, tool_loop.write],
        words.snippet.format(way=tool_texts.TOOL, question=given.text[:-1]),
        f"{[(call.text, call.result) for call in run.calls]} {run.answer}",
    )


def _mask() -> None:
    kit.section(words.mask)
    plain, learned = (
        together([share_of(model.asked, tool_loop.RIGHT) for model in recorded()[way]])
        for way in (tool_texts.TOOL, tool_texts.OPEN)
    )
    own = together([model.invented for model in recorded()[tool_texts.OPEN] if model.invented])
    cases = [
        kit.Case(words.mask_rows["plain"], plain.share, plain.interval, role="value"),
        kit.Case(words.mask_rows["open"], learned.share, learned.interval),
        kit.Case(words.mask_rows["own"], own.share, own.interval),
    ]
    kit.case_rows(cases, kit.Axis(0, 1, words.right_axis), key=f"{KEY}.mask")
    kit.prose(words.mask_read)
