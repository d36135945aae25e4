"""A text that a model and its tool write in turns, drawn as rows of chips, and what it answers."""

from functools import partial

from llmviz.course.components import TokenRow
from llmviz.course.lessons.reasoning.tools import tool_loop, words
from llmviz.course.lessons.reasoning.tools.tool_record import bundled
from llmviz.course.lessons.reasoning.tools.tool_texts import TOKENS, UNKNOWN, Question
from llmviz.course.ui import kit
from llmviz.tokenizers import Token, in_line

OWN = "own"
Given = tuple[Question, str, str, str]
"""The question, the way of the model, the tool, and what it says where that is the learner's."""


@kit.cached(256)
def run_of(given: Given) -> tool_loop.Run:
    """Return what a bundled model writes with a tool."""
    question, way, kind, says = given
    return tool_loop.write(
        bundled(way), question, (lambda _: says) if kind == OWN else tool_loop.lying(kind)
    )


@kit.cached(256)
def rows_of(given: Given) -> tuple[TokenRow, ...]:
    run = run_of(given)
    behind = iter(tool_loop.chances(bundled(given[1]), run))
    found = [TokenRow(words.asked_row, tokens_of(run.question), role="query")]
    tool_row, role = (
        (words.tool_row, "value") if given[2] == tool_loop.HONEST else (words.lie_row, "key")
    )
    for who, ids in run.turns:
        by_model = who == tool_loop.MODEL
        near = [next(behind) for _ in ids]
        details = []
        for (_, chance), *others in near:
            card = {} if by_model else {words.given: "", words.chance: kit.percent(chance)}
            best = ", ".join(f"{TOKENS[other]} {kit.percent(p)}" for other, p in others[:2])
            details.append(card | {words.instead: best})
        name = (words.model_row if by_model else tool_row).format(
            tokens=kit.count(len(ids), "token")
        )
        values = [pairs[0][1] for pairs in near] if by_model else None
        colour = "" if by_model else role
        found.append(TokenRow(name, tokens_of(ids), values=values, details=details, role=colour))
    return tuple(found)


def tokens_of(ids: tuple[int, ...]) -> list[Token]:
    """Return ids as a strip takes them."""
    return in_line((TOKENS[token].encode() for token in ids), ids)


def turns(given: Given, key: str, *, waits: str = "") -> None:
    """Show the text turn by turn, and what the model answers.

    waits: what is said in place of all that follows the tool's first turn.
    """
    run, rows = run_of(given), rows_of(given)
    shown = rows[:3] if waits else rows
    kit.value_strip(shown, f"{key}.{given[2]}", words.value_label)
    kit.prose(waits or answer_read(run, given[0]))
    count = sum(ids.count(UNKNOWN) for who, ids in run.turns if who != tool_loop.MODEL)
    if count:
        kit.prose(words.unknown["one" if count == 1 else "more"], count=count)


def answer_read(run: tool_loop.Run, question: Question) -> str:
    """Return what a model with calls answers, and whether that is the value."""
    kind, value = tool_loop.kind_of(run, question.value), question.value
    reason = {
        tool_loop.CALLS: partial(words.reasons[tool_loop.CALLS].format, calls=tool_loop.MOST_CALLS),
        tool_loop.LENGTH: partial(
            words.reasons[tool_loop.LENGTH].format, tokens=tool_loop.MOST_WRITTEN
        ),
        tool_loop.FINISHED: words.reasons[tool_loop.FINISHED].format,
    }[run.reason]()
    known = words.no_value if value is None else str(value)
    answer = run.answer or ""
    shown = (
        kit.quote(answer)
        if kind in (tool_loop.COPIED, tool_loop.DECLINED, tool_loop.OTHER)
        else answer
    )
    return words.live_read[kind].format(answer=shown, value=known, reason=reason)
