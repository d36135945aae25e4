"""Chapter "A tool that computes": a small model, a calculator, and results that are not true."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from llmviz.figures.lines import Line, lines
from llmviz.figures.theme import Mode
from llmviz.lessons.reasoning.tools import words
from llmviz.lessons.reasoning.tools.params import MODELS, TASKS, TOOLS
from llmviz.lessons.reasoning.tools.turns import (
    OWN,
    Given,
    answer_read,
    draw_turns,
    run_of,
)
from llmviz.study.calculator import MOST as MOST_RESULT
from llmviz.study.tool_loop import (
    COPIED,
    DECLINED,
    HONEST,
    LIES,
    MOST_CALLS,
    MOST_WRITTEN,
    NONE,
    OFF,
    ORDER,
    OTHER,
    RIGHT,
    SIGN,
    Run,
    in_turns,
    kind_of,
    text_of,
    write,
)
from llmviz.study.tool_record import (
    BUNDLED,
    COMMAND,
    DIGITS,
    IN_CALL,
    IN_COPY,
    PRODUCT,
    TESTS,
    Measured,
    bundled,
    recorded,
)
from llmviz.study.tool_texts import (
    BATCH,
    DIRECT,
    DOUBT,
    OPEN,
    SECOND,
    STEPS,
    TOOL,
    TRAINED,
    UPDATES,
    WRONG,
    Question,
    question_of,
)
from llmviz.study.tool_texts import text_of as training_text
from llmviz.training.measures import Share
from llmviz.ui.code import show_code
from llmviz.ui.common import choose, percent, theme
from llmviz.ui.kept import kept
from llmviz.ui.lesson import section, seen
from llmviz.ui.notices import or_refused
from llmviz.ui.prose import prose
from llmviz.ui.question import Question as Asked
from llmviz.ui.question import predict, share_question
from llmviz.ui.state import PageState
from llmviz.ui.table import rows_table
from llmviz.ui.text_field import text_input

KEY = "reasoning.tools"
EXAMPLE = "37 add 85 times 12"
WAYS = (DIRECT, TOOL)


@st.fragment
def draw(state: PageState) -> None:
    """Show the chapter."""
    section(words.intro)
    try:
        recorded(), [bundled(way) for way in BUNDLED]
    except ValueError:
        st.info(words.missing, icon=":material/download:")
        st.code(COMMAND, language=None)
        return
    prose(
        words.intro_more,
        question=EXAMPLE,
        digits=TRAINED,
        steps=STEPS,
        texts=BATCH * UPDATES,
        parameters=sum(one.numel() for one in bundled(TOOL).parameters()),
    )
    rows_table(example_rows(), words.example_columns)
    prose(words.masked)
    opened, told = predict(right_question(), f"{KEY}.right", covers=True), False
    if opened:
        _digits(state)
    asked = _live(state)
    section(words.lies)
    told = predict(lie_question(), f"{KEY}.lie", covers=True)
    if told:
        _told()
        _doubt()
        if asked is not None:
            _own(state, asked)
        _mask()
    if opened and told:
        seen(words.end, **end())


@kept(1)
def example_rows() -> list[tuple[str, ...]]:
    """Return the pieces of one text of the training in each way, and whether they are learned."""
    rows, question = [], question_of(EXAMPLE)
    for way in WAYS:
        ids, learned = training_text(question, way, np.random.default_rng(0))
        start, asked = 0, True
        for at in range(1, len(ids) + 1):
            if at < len(ids) and learned[at] == learned[start]:
                continue
            writer = "question" if asked else "model" if learned[start] else "tool"
            rows.append(
                (
                    words.example_ways[way],
                    words.writers[writer],
                    text_of(ids[start:at]),
                    words.learned[learned[start]],
                )
            )
            start, asked = at, False
    return rows


def together(shares: list[Share]) -> Share:
    """Return the share of several models together."""
    return Share(sum(one.right for one in shares), sum(one.count for one in shares))


def right(way: str, task: str, digits: int) -> Share:
    """Return the right answers of the models of a way together."""
    return together([one.right[task][digits] for one in recorded()[way]])


def counted(models: list[Measured], lie: str, *kinds: str) -> Share:
    """Return how many answers to a lie, or to the honest tool, are of some kinds."""
    return together([_of(one.asked if lie == HONEST else one.told[lie], *kinds) for one in models])


def _of(answers: dict[str, int], *kinds: str) -> Share:
    return Share(sum(answers.get(kind, 0) for kind in kinds), sum(answers.values()))


def every(shares: list[Share]) -> str:
    """Return the shares of models, one after the other."""
    return ", ".join(percent(one.share) for one in shares)


def right_question() -> Asked:
    """Return the question how often answers with calls are right."""
    at_once, calls = (right(way, PRODUCT, TRAINED) for way in WAYS)
    return share_question(
        words.ask_right.format(digits=TRAINED, direct=percent(at_once.share)),
        calls.share,
        [one.format(texts=calls.count) for one in words.ask_right_reasons],
        percent,
    )


def lie_question() -> Asked:
    """Return the question what becomes of a result that is one too large."""
    copied = counted(recorded()[TOOL], OFF, COPIED)
    true = counted(recorded()[TOOL], OFF, RIGHT)
    place = 0 if copied.share > 0.5 else 1 if true.share > 0.5 else 2
    numbers = {"copied": copied.right, "right": true.right, "texts": copied.count}
    return Asked.of(words.ask_lie, place, **numbers)


def _digits(state: PageState) -> None:
    section(words.digits, tests=TESTS, trained=TRAINED)
    choose(state, "tooltask", words.task, {one: words.tasks[one] for one in TASKS})
    task = state["tooltask"]
    prose(words.task_text[task].format(second=SECOND))
    st.plotly_chart(
        figure(task, theme()), key=f"{KEY}.digits", theme=None, config={"displayModeBar": False}
    )
    prose(digits_read(task))
    rows_table(digit_rows(task), words.digit_columns)
    prose(words.causes_text)
    shares = [one.right[task][TRAINED].share for one in recorded()[TOOL]]
    show_code(
        [Measured],
        "from llmviz.study.tool_record import recorded\n\n"
        f"print([one.right[{task!r}][{TRAINED}].share for one in recorded()[{TOOL!r}]])",
        str(shares),
    )


@kept(8)
def figure(task: str, mode: Mode) -> go.Figure:
    """Return right answers by digits, a line for each way."""
    drawn = []
    for at, way in enumerate(WAYS):
        shares = [right(way, task, digits) for digits in DIGITS]
        ends = [one.interval for one in shares]
        drawn.append(
            Line(
                words.example_ways[way],
                DIGITS,
                [one.share for one in shares],
                at,
                errors=[high - one.share for one, (_, high) in zip(shares, ends, strict=True)],
                below=[one.share - low for one, (low, _) in zip(shares, ends, strict=True)],
            )
        )
    axes = (words.digits_axis, words.right_axis)
    return lines(drawn, axes, mode, hover="%{y:.1%}", ticks=DIGITS)


def causes(task: str, digits: int) -> dict[str, int]:
    """Return where wrong answers with calls come from, of the three models together."""
    found: dict[str, int] = {}
    for one in recorded()[TOOL]:
        for cause, number in one.causes[task][digits].items():
            found[cause] = found.get(cause, 0) + number
    return found


def digits_read(task: str) -> str:
    """Return what becomes of calls with more digits than were trained."""
    inside, outside = right(TOOL, task, TRAINED), right(TOOL, task, DIGITS[-1])
    # The intervals tell them apart, or they do not.
    kind = "falls" if outside.interval[1] < inside.interval[0] else "holds"
    found = causes(task, DIGITS[-1])
    return words.digits_read[kind].format(
        trained=TRAINED,
        most=DIGITS[-1],
        inside=percent(inside.share),
        outside=percent(outside.share),
        wrong=outside.count - outside.right,
        call=found.get(IN_CALL, 0),
        copy=found.get(IN_COPY, 0),
    )


@kept(8)
def digit_rows(task: str) -> list[tuple[str, ...]]:
    """Return a row for each number of digits: right answers, and where wrong ones come from."""
    rows = []
    for digits in DIGITS:
        found = causes(task, digits)
        first, second = found.get(IN_CALL, 0), found.get(IN_COPY, 0)
        low, high = right(TOOL, task, digits).interval
        rows.append(
            (
                str(digits),
                *(every([one.right[task][digits] for one in recorded()[way]]) for way in WAYS),
                f"{percent(low)} – {percent(high)}",
                str(first),
                str(second),
                str(sum(found.values()) - first - second),
            )
        )
    return rows


def _live(state: PageState) -> Question | None:
    section(words.live)
    text_input(state, "toolasked", words.asked, width=420)
    question = or_refused(question_of, state["toolasked"])
    if question is None:
        return None
    given: Given = (question, TOOL, HONEST, "")
    draw_turns(state, "toolturn", given, honest=True)
    run = run_of(given)
    prose(answer_read(run, question))
    direct = run_of((question, DIRECT, HONEST, ""))
    rows_table(way_rows(question, {DIRECT: direct, TOOL: run}), words.way_columns)
    prose(words.bounds, calls=MOST_CALLS, tokens=MOST_WRITTEN, result=MOST_RESULT)
    show_code(
        [in_turns, write],
        "from llmviz.study.tool_loop import write\n"
        "from llmviz.study.tool_record import bundled\n"
        "from llmviz.study.tool_texts import question_of\n\n"
        f"run = write(bundled({TOOL!r}), question_of({question.text[:-1]!r}))\n"
        "print([(one.text, one.result) for one in run.calls], run.answer)",
        f"{[(one.text, one.result) for one in run.calls]} {run.answer}",
    )
    return question


def way_rows(question: Question, runs: dict[str, Run]) -> list[tuple[str, ...]]:
    """Return a row for each way: its answer, and what it took."""
    return [
        (
            words.example_ways[way],
            run.answer or "–",
            words.learned[kind_of(run, question.value) == RIGHT],
            str(run.passes),
            str(len(run.calls)),
        )
        for way, run in runs.items()
    ]


def _told() -> None:
    section(words.told, texts=2 * TESTS)
    rows_table(told_rows(), words.told_columns)
    copied, other = (counted(recorded()[TOOL], ORDER, kind) for kind in (COPIED, OTHER))
    prose(words.told_read, copied=copied.right, texts=copied.count, seven=other.right)


@kept(1)
def told_rows() -> list[tuple[str, ...]]:
    """Return a row for each lie: what the models with calls answer."""
    kinds = ((COPIED,), (RIGHT,), (OTHER, DECLINED), (NONE,))
    return [
        (
            words.told_lies[lie],
            *(every([_of(one.told[lie], *some) for one in recorded()[TOOL]]) for some in kinds),
        )
        for lie in LIES
    ]


def _doubt() -> None:
    section(words.doubt, share=percent(WRONG))
    rows_table(doubt_rows(), words.doubt_columns)
    prose(doubt_read())
    prose(words.doubt_sign, sign=percent(counted(recorded()[DOUBT], SIGN, DECLINED).share))


def doubt_rows() -> list[tuple[str, ...]]:
    """Return a row for the honest tool and each lie: what the models that may doubt answer."""
    rows = []
    for lie in (HONEST, *LIES):
        found = [one.asked if lie == HONEST else one.told[lie] for one in recorded()[DOUBT]]
        name = words.doubt_honest if lie == HONEST else words.told_lies[lie]
        kinds = (DECLINED, COPIED, RIGHT)
        rows.append((name, *(every([_of(one, kind) for one in found]) for kind in kinds)))
    return rows


def doubt_read() -> str:
    """Return whether the models that may doubt tell a result with one more from an honest one."""
    off, honest = (counted(recorded()[DOUBT], lie, DECLINED) for lie in (OFF, HONEST))
    kind = "sees" if off.interval[0] > honest.interval[1] else "blind"
    return words.doubt_read[kind].format(off=percent(off.share), honest=percent(honest.share))


def _own(state: PageState, question: Question) -> None:
    section(words.own)
    choose(state, "toollie", words.lie, {one: words.lie_names[one] for one in TOOLS})
    if state["toollie"] == OWN:
        text_input(state, "toolsays", words.own_text, width=420)
    choose(state, "toolmodel", words.model, {one: words.model_names[one] for one in MODELS})
    says = state["toolsays"] if state["toollie"] == OWN else ""
    given: Given = (question, state["toolmodel"], state["toollie"], says)
    draw_turns(state, "toollieturn", given, honest=False)
    prose(answer_read(run_of(given), question))


def _mask() -> None:
    section(words.mask)
    rows_table(mask_rows(), words.mask_columns)
    invented = together([one.invented for one in recorded()[OPEN] if one.invented])
    prose(words.mask_read, right=percent(invented.share))


def mask_rows() -> list[tuple[str, ...]]:
    """Return a row without and one with a loss on results."""
    rows = []
    for way in (TOOL, OPEN):
        models = recorded()[way]
        invented = [one.invented for one in models if one.invented]
        numbers = [
            Share(one.numbers, one.invented.count) for one in models if one.invented is not None
        ]
        kinds = ([_of(one.asked, RIGHT) for one in models], numbers, invented)
        rows.append((words.mask_names[way], *map(every, kinds)))
    return rows


def end() -> dict[str, object]:
    """Return the numbers of the chapter's end."""
    copied = counted(recorded()[TOOL], OFF, COPIED)
    shares = {way: percent(right(way, PRODUCT, TRAINED).share) for way in WAYS}
    return {"digits": TRAINED, "copied": copied.right, "texts": copied.count, **shares}
