"""A model and its tool in turns, as chips: who wrote each token, and how probable it was."""

from functools import partial

import streamlit as st

from llmviz.course.components import TokenRow, token_strip
from llmviz.course.lessons.reasoning.tools import words
from llmviz.course.lessons.reasoning.tools.tool_loop import (
    CALLS,
    COPIED,
    DECLINED,
    FINISHED,
    LENGTH,
    MODEL,
    MOST_CALLS,
    MOST_WRITTEN,
    OTHER,
    Run,
    chances,
    kind_of,
    lying,
    write,
)
from llmviz.course.lessons.reasoning.tools.tool_record import bundled
from llmviz.course.lessons.reasoning.tools.tool_texts import END, RESULT, TOKENS, UNKNOWN, Question
from llmviz.course.ui import kit
from llmviz.tokenizers import Token

OWN = "own"
QUESTION_ROLE, TOOL_ROLE, LIE_ROLE = "query", "value", "key"
Given = tuple[Question, str, str, str]
"""The question, the way of the model, the tool, and what it says where that is the learner's."""


@kit.kept(256)
def run_of(given: Given) -> Run:
    """Return what a bundled model writes with a tool."""
    question, way, kind, says = given
    return write(bundled(way), question, (lambda _: says) if kind == OWN else lying(kind))


@kit.kept(256)
def rows_of(given: Given, honest: bool) -> tuple[TokenRow, ...]:
    """Return a row for the question and one for each turn."""
    run = run_of(given)
    behind = iter(chances(bundled(given[1]), run))
    found = [
        TokenRow(
            words.asked_row.format(count=len(run.asked)),
            tokens_of(run.asked),
            role=QUESTION_ROLE,
        )
    ]
    tool_row = words.tool_row if honest else words.lie_row
    for turn, (who, ids) in enumerate(run.turns, 1):
        by_model = who == MODEL
        near = [next(behind) for _ in ids]
        details = []
        for (_, chance), *others in near:
            card = {} if by_model else {words.given: "", words.chance: kit.percent(chance)}
            best = ", ".join(f"{TOKENS[other]} {kit.percent(p)}" for other, p in others[:2])
            details.append(card | {words.instead: best})
        name = (words.model_row if by_model else tool_row).format(turn=turn, count=len(ids))
        values = [pairs[0][1] for pairs in near] if by_model else None
        role = "" if by_model else TOOL_ROLE if honest else LIE_ROLE
        found.append(TokenRow(name, tokens_of(ids), values=values, details=details, role=role))
    return tuple(found)


def tokens_of(ids: tuple[int, ...]) -> list[Token]:
    """Return ids as a strip takes them."""
    tokens, at = [], 0
    for token_id in ids:
        data = TOKENS[token_id].encode()
        tokens.append(Token(token_id, data, at, at + len(data), at, at + len(data)))
        at += len(data)
    return tokens


def draw_turns(state: kit.PageState, key: str, given: Given, *, honest: bool) -> None:
    """Show the text up to a chosen turn, and what happened in it."""
    run, rows = run_of(given), rows_of(given, honest)
    names = {0: words.all_turns} | {at: str(at) for at in range(1, len(run.turns) + 1)}
    kit.keep(state, key, list(names))
    st.select_slider(words.turn, width=320, **state.named(key, names))
    turn = state[key]
    token_strip(
        rows[: turn + 1] if turn else rows,
        key=f"reasoning.tools.{key}.strip",
        show_ids=False,
        value_label=words.value_label,
        value_range=(0.0, 1.0),
    )
    if turn:
        kit.prose(turn_read(run, turn))
    if line := unknown_read(run):
        kit.prose(line)


def turn_read(run: Run, turn: int) -> str:
    """Return what happened in a turn, counted from 1."""
    who, ids = run.turns[turn - 1]
    if who == MODEL:
        last = {RESULT: "call", END: "end"}.get(ids[-1], "cut")
        return words.turn_read[f"model_{last}"].format(count=len(ids))
    call = run.calls[turn // 2 - 1]
    return words.turn_read["tool"].format(call=kit.quote(call.text), result=kit.quote(call.result))


def unknown_read(run: Run) -> str:
    """Return how many characters of the tool's texts are not in the vocabulary; "" for none."""
    count = sum(ids.count(UNKNOWN) for who, ids in run.turns if who != MODEL)
    return words.unknown["one" if count == 1 else "more"].format(count=count) if count else ""


def answer_read(run: Run, question: Question) -> str:
    """Return what a model with calls answers, and whether that is the value."""
    kind, value = kind_of(run, question.value), question.value
    reason = {
        CALLS: partial(words.reasons[CALLS].format, calls=MOST_CALLS),
        LENGTH: partial(words.reasons[LENGTH].format, tokens=MOST_WRITTEN),
        FINISHED: words.reasons[FINISHED].format,
    }[run.reason]()
    known = words.no_value if value is None else str(value)
    answer = run.answer or ""
    shown = kit.quote(answer) if kind in (COPIED, DECLINED, OTHER) else answer
    return words.live_read[kind].format(answer=shown, value=known, reason=reason)
