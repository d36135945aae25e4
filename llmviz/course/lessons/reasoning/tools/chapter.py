"""Chapter "A tool that computes": a small model, a calculator, and results that are not true."""

import numpy as np
import streamlit as st

from llmviz.course.lessons.reasoning.tools import words
from llmviz.course.lessons.reasoning.tools.calculator import MOST as MOST_RESULT
from llmviz.course.lessons.reasoning.tools.measured import (
    counted,
    draw_digits,
    draw_doubt,
    draw_mask,
    draw_told,
    right,
)
from llmviz.course.lessons.reasoning.tools.params import MODELS, TOOLS
from llmviz.course.lessons.reasoning.tools.tool_loop import (
    COPIED,
    HONEST,
    MOST_CALLS,
    MOST_WRITTEN,
    OFF,
    RIGHT,
    Run,
    in_turns,
    kind_of,
    text_of,
    write,
)
from llmviz.course.lessons.reasoning.tools.tool_record import (
    BUNDLED,
    COMMAND,
    PRODUCT,
    bundled,
    recorded,
)
from llmviz.course.lessons.reasoning.tools.tool_texts import (
    BATCH,
    DIRECT,
    STEPS,
    TOOL,
    TRAINED,
    UPDATES,
    Question,
    question_of,
)
from llmviz.course.lessons.reasoning.tools.tool_texts import text_of as training_text
from llmviz.course.lessons.reasoning.tools.turns import (
    OWN,
    Given,
    answer_read,
    draw_turns,
    run_of,
)
from llmviz.course.ui import kit

KEY = "reasoning.tools"
EXAMPLE = "37 add 85 times 12"
WAYS = (DIRECT, TOOL)


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro)
    if not kit.is_here(
        words.missing, COMMAND, lambda: (recorded(), [bundled(way) for way in BUNDLED])
    ):
        return
    kit.prose(
        words.intro_more,
        question=EXAMPLE,
        digits=TRAINED,
        steps=STEPS,
        texts=BATCH * UPDATES,
        parameters=sum(parameter.numel() for parameter in bundled(TOOL).parameters()),
    )
    kit.rows_table(example_rows(), words.example_columns)
    kit.prose(words.masked)
    opened, shown = kit.predict(right_question(), f"{KEY}.right", covers=True), False
    if opened:
        draw_digits(state)
    question = _live(state)
    kit.section(words.lies)
    shown = kit.predict(lie_question(), f"{KEY}.lie", covers=True)
    if shown:
        draw_told()
        draw_doubt()
        if question is not None:
            _own(state, question)
        draw_mask()
    if opened and shown:
        kit.seen(words.end, **end())


@kit.kept(1)
def example_rows() -> list[tuple[str, ...]]:
    """Return the pieces of one text of the training in each way, and whether they are learned."""
    rows, question = [], question_of(EXAMPLE)
    for way in WAYS:
        ids, learned = training_text(question, way, np.random.default_rng(0))
        start, first = 0, True
        for at in range(1, len(ids) + 1):
            if at < len(ids) and learned[at] == learned[start]:
                continue
            writer = "question" if first else "model" if learned[start] else "tool"
            rows.append(
                (
                    words.example_ways[way],
                    words.writers[writer],
                    text_of(ids[start:at]),
                    words.learned[learned[start]],
                )
            )
            start, first = at, False
    return rows


def right_question() -> kit.Question:
    """Return the question how often answers with calls are right."""
    at_once, calls = (right(way, PRODUCT, TRAINED) for way in WAYS)
    return kit.share_question(
        words.ask_right.format(digits=TRAINED, direct=kit.percent(at_once.share)),
        calls.share,
        [reason.format(texts=calls.count) for reason in words.ask_right_reasons],
        kit.percent,
    )


def lie_question() -> kit.Question:
    """Return the question what becomes of a result that is one too large."""
    copied = counted(recorded()[TOOL], OFF, COPIED)
    true = counted(recorded()[TOOL], OFF, RIGHT)
    place = 0 if copied.share > 0.5 else 1 if true.share > 0.5 else 2
    numbers = {"copied": copied.right, "right": true.right, "texts": copied.count}
    return kit.Question.of(words.ask_lie, place, **numbers)


def _live(state: kit.PageState) -> Question | None:
    kit.section(words.live)
    kit.text_input(state, "toolasked", words.asked, width=420)
    question = kit.or_refused(question_of, state["toolasked"])
    if question is None:
        return None
    given: Given = (question, TOOL, HONEST, "")
    draw_turns(state, "toolturn", given, honest=True)
    run = run_of(given)
    kit.prose(answer_read(run, question))
    direct = run_of((question, DIRECT, HONEST, ""))
    kit.rows_table(way_rows(question, {DIRECT: direct, TOOL: run}), words.way_columns)
    kit.prose(words.bounds, calls=MOST_CALLS, tokens=MOST_WRITTEN, result=MOST_RESULT)
    kit.show_code(
        [in_turns, write],
        "from llmviz.course.lessons.reasoning.tools.tool_loop import write\n"
        "from llmviz.course.lessons.reasoning.tools.tool_record import bundled\n"
        "from llmviz.course.lessons.reasoning.tools.tool_texts import question_of\n\n"
        f"run = write(bundled({TOOL!r}), question_of({question.text[:-1]!r}))\n"
        "print([(one.text, one.result) for one in run.calls], run.answer)",
        f"{[(call.text, call.result) for call in run.calls]} {run.answer}",
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


def _own(state: kit.PageState, question: Question) -> None:
    kit.section(words.own)
    kit.choose(state, "toollie", words.lie, {tool: words.lie_names[tool] for tool in TOOLS})
    if state["toollie"] == OWN:
        kit.text_input(state, "toolsays", words.own_text, width=420)
    kit.choose(state, "toolmodel", words.model, {name: words.model_names[name] for name in MODELS})
    says = state["toolsays"] if state["toollie"] == OWN else ""
    given: Given = (question, state["toolmodel"], state["toollie"], says)
    draw_turns(state, "toollieturn", given, honest=False)
    kit.prose(answer_read(run_of(given), question))


def end() -> dict[str, object]:
    """Return the numbers of the chapter's end."""
    copied = counted(recorded()[TOOL], OFF, COPIED)
    shares = {way: kit.percent(right(way, PRODUCT, TRAINED).share) for way in WAYS}
    counts = {"copied": copied.right, "texts": copied.count}
    beyond = kit.percent(right(TOOL, PRODUCT, TRAINED + 1).share)
    return {"digits": TRAINED, "beyond": beyond, "updates": UPDATES, **counts, **shares}
