"""Chapter "A tool that computes": a small model, a calculator, and results that are not true."""

from functools import partial

import streamlit as st

from llmviz.course.components import TokenRow, token_strip
from llmviz.course.lessons.reasoning.tools import MODELS, TASKS, TOOLS, words
from llmviz.course.lessons.reasoning.tools.tool_loop import (
    CALLS,
    COPIED,
    DECLINED,
    FINISHED,
    HONEST,
    LENGTH,
    LIES,
    MODEL,
    MOST_CALLS,
    MOST_WRITTEN,
    NONE,
    OFF,
    ORDER,
    OTHER,
    RIGHT,
    SIGN,
    Run,
    chances,
    in_turns,
    kind_of,
    lying,
    write,
)
from llmviz.course.lessons.reasoning.tools.tool_record import (
    BUNDLED,
    COMMAND,
    DIGITS,
    IN_CALL,
    IN_COPY,
    PRODUCT,
    Measured,
    bundled,
    recorded,
)
from llmviz.course.lessons.reasoning.tools.tool_texts import (
    DOUBT,
    OPEN,
    TOKENS,
    TOOL,
    TRAINED,
    UNKNOWN,
    WRONG,
    Question,
    question_of,
)
from llmviz.course.ui import kit
from llmviz.tokenizers import Token
from llmviz.training.measures import Share

STAGED = True
KEY = "reasoning.tools"
GUESS = f"{KEY}.digits"
OWN = "own"
APART = 0.2  # between the lines of two answers, on average
Given = tuple[Question, str, str, str]
"""The question, the way of the model, the tool, and what it says where that is the learner's."""


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show a model that asks a calculator, then numbers longer than it learned, then lies."""
    kit.prose(words.hook)
    here = (recorded, lambda: [bundled(way) for way in BUNDLED])
    if not kit.is_here(words.missing, COMMAND, *here):
        return
    task = state["tooltask"]
    asked = question(task)
    opened = asked is None or kit.answered(asked, GUESS)
    with kit.stage("tools", stays=False):
        given = kit.or_refused(question_of, state["toolasked"])
        if given is not None:
            _turns((given, TOOL, HONEST, ""))
        kit.text_input(state, "toolasked", words.asked, width=420)
        _digits(task, asked)
        kit.choose(state, "tooltask", words.task, {name: words.tasks[name] for name in TASKS})
    if opened:
        kit.prose(digits_read(task))
    if asked is not None:
        kit.predict(asked, GUESS, covers=True, hand=True)
    if opened:
        kit.looks(state, words.looks, f"{KEY}.looks")
    kit.section(words.intro, trained=TRAINED, calls=MOST_CALLS)
    _code(given)
    _lies(state, given)
    _mask()
    if opened:
        copied = counted(recorded()[TOOL], OFF, COPIED)
        shares = {
            name: kit.percent(right(PRODUCT, TRAINED + more).share)
            for name, more in (("inside", 0), ("beyond", 1))
        }
        numbers = {"copied": copied.right, "texts": copied.count, "digits": TRAINED}
        kit.seen(words.end, **numbers, **shares)


def together(shares: list[Share]) -> Share:
    """Return the share of several models together."""
    return Share(sum(share.right for share in shares), sum(share.count for share in shares))


def right(task: str, digits: int) -> Share:
    """Return the right answers of the models with calls together."""
    return together([model.right[task][digits] for model in recorded()[TOOL]])


def share_of(answers: dict[str, int], *kinds: str) -> Share:
    """Return how many answers are of some kinds."""
    return Share(sum(answers.get(kind, 0) for kind in kinds), sum(answers.values()))


def counted(models: list[Measured], lie: str, *kinds: str) -> Share:
    """Return how many answers to a lie, or to the honest tool, are of some kinds."""
    return together([share_of(model.told[lie], *kinds) for model in models])


def question(task: str) -> kit.Question | None:
    """Return the question how right answers go on where numbers are longer than in training.

    The wrong answers are of somebody to whom a calculator takes any number, and to whom each
    further digit is a little harder. None where they are too near to what was measured.
    """
    shares = [right(task, digits).share for digits in DIGITS]
    last, further = shares[TRAINED - 1], len(DIGITS) - TRAINED
    values = {
        "any": [last] * further,
        "harder": [last * (1 - n / (further + 1)) for n in range(1, further + 1)],
        "right": shares[TRAINED:],
    }
    for name in ("any", "harder"):
        pairs = zip(values[name], values["right"], strict=True)
        if sum(abs(a - b) for a, b in pairs) < APART * further:
            return None
    return kit.Question(
        words.ask.format(digits=TRAINED),
        [words.ask_answers[name] for name in values],
        2,
        [words.ask_reasons[name] for name in values],
        values=[tuple(line) for line in values.values()],
    )


def _digits(task: str, asked: kit.Question | None) -> None:
    """Draw right answers by digits; the hand draws those beyond the training."""
    kit.guess_line(
        [],
        kit.Drawn(words.line, DIGITS, [right(task, digits).share for digits in DIGITS], "value"),
        kit.Scale(DIGITS[0], DIGITS[-1], words.digits_axis),
        kit.Scale(0, 1, words.right_axis),
        asked,
        GUESS,
        known=TRAINED,
        picture=f"{KEY}.line",
        form="percent",
    )


def causes(task: str, digits: int) -> dict[str, int]:
    """Return where wrong answers with calls come from, of the three models together."""
    found: dict[str, int] = {}
    for model in recorded()[TOOL]:
        for cause, number in model.causes[task][digits].items():
            found[cause] = found.get(cause, 0) + number
    return found


def digits_read(task: str) -> str:
    """Return what becomes of calls with one digit more than was trained."""
    inside, outside = right(task, TRAINED), right(task, TRAINED + 1)
    # The intervals tell them apart, or they do not.
    kind = "falls" if outside.interval[1] < inside.interval[0] else "holds"
    found = causes(task, TRAINED + 1)
    return words.digits_read[kind].format(
        trained=TRAINED,
        most=TRAINED + 1,
        inside=kit.percent(inside.share),
        outside=kit.percent(outside.share),
        wrong=outside.count - outside.right,
        call=found.get(IN_CALL, 0),
        copy=found.get(IN_COPY, 0),
    )


@kit.kept(256)
def run_of(given: Given) -> Run:
    """Return what a bundled model writes with a tool."""
    question, way, kind, says = given
    return write(bundled(way), question, (lambda _: says) if kind == OWN else lying(kind))


@kit.kept(256)
def rows_of(given: Given) -> tuple[TokenRow, ...]:
    """Return a row for the question and one for each turn."""
    run = run_of(given)
    behind = iter(chances(bundled(given[1]), run))
    found = [TokenRow(words.asked_row, tokens_of(run.asked), role="query")]
    tool_row, role = (words.tool_row, "value") if given[2] == HONEST else (words.lie_row, "key")
    for who, ids in run.turns:
        by_model = who == MODEL
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
    tokens, at = [], 0
    for token_id in ids:
        data = TOKENS[token_id].encode()
        tokens.append(Token(token_id, data, at, at + len(data), at, at + len(data)))
        at += len(data)
    return tokens


def _turns(given: Given) -> None:
    """Show the text turn by turn, and what the model answers."""
    run = run_of(given)
    look = {"value_label": words.value_label, "value_range": (0.0, 1.0)}
    token_strip(rows_of(given), key=f"{KEY}.strip.{given[2]}", show_ids=False, **look)
    kit.prose(answer_read(run, given[0]))
    count = sum(ids.count(UNKNOWN) for who, ids in run.turns if who != MODEL)
    if count:
        kit.prose(words.unknown["one" if count == 1 else "more"], count=count)


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


def _code(given: Question | None) -> None:
    if given is None:
        return
    run = run_of((given, TOOL, HONEST, ""))
    kit.show_code(
        [in_turns, write],
        words.snippet.format(way=TOOL, question=given.text[:-1]),
        f"{[(call.text, call.result) for call in run.calls]} {run.answer}",
    )


def _lies(state: kit.PageState, given: Question | None) -> None:
    """Let the learner be the calculator, then show what models make of each lie."""
    kit.section(words.lies)
    if given is not None:
        says = state["toolsays"] if state["toollie"] == OWN else ""
        _turns((given, state["toolmodel"], state["toollie"], says))
    kit.choose(state, "toollie", words.lie, {tool: words.lie_names[tool] for tool in TOOLS})
    if state["toollie"] == OWN:
        kit.text_input(state, "toolsays", words.own_text, width=420)
    kit.choose(state, "toolmodel", words.model, {name: words.model_names[name] for name in MODELS})
    kit.case_rows(told_rows(), kit.Axis(0, 1, words.told_axis), key=f"{KEY}.told", words={})
    silent = counted(recorded()[TOOL], ORDER, NONE)
    kit.prose(words.told_read, texts=silent.count, none=silent.right)
    kit.prose(doubt_read())


def told_rows() -> list[kit.Case]:
    """Return a line for each lie that is copied, then those that a model may doubt."""
    rows = []
    for way, kind, lies in (
        (TOOL, COPIED, (OFF, SIGN, ORDER)),
        (DOUBT, DECLINED, (HONEST, OFF, SIGN)),
    ):
        assert set(lies) <= {HONEST, *LIES}
        for lie in lies:
            found = [share_of(model.told[lie], kind).share for model in recorded()[way]]
            label = words.told_row[way].format(lie=words.told_lies[lie])
            role = "query" if way == TOOL else "value"
            whole = counted(recorded()[way], lie, kind).share
            rows.append(kit.Case(label, whole, dots=found, role=role))
    return rows


def doubt_read() -> str:
    """Return whether the models that may doubt tell a result with one more from an honest one."""
    off, honest, sign = (counted(recorded()[DOUBT], lie, DECLINED) for lie in (OFF, HONEST, SIGN))
    kind = "sees" if off.interval[0] > honest.interval[1] else "blind"
    shown = {"off": off, "honest": honest, "sign": sign}
    said = {name: kit.percent(share.share) for name, share in shown.items()}
    return words.doubt_read[kind].format(share=kit.percent(WRONG), **said)


def _mask() -> None:
    """Say what a loss on results does."""
    kit.section(words.mask)
    plain, learned = (
        together([share_of(model.asked, RIGHT) for model in recorded()[way]])
        for way in (TOOL, OPEN)
    )
    own = together([model.invented for model in recorded()[OPEN] if model.invented])
    cases = [
        kit.Case(words.mask_rows["plain"], plain.share, plain.interval, role="value"),
        kit.Case(words.mask_rows["open"], learned.share, learned.interval),
        kit.Case(words.mask_rows["own"], own.share, own.interval),
    ]
    kit.case_rows(cases, kit.Axis(0, 1, words.right_axis), key=f"{KEY}.mask", words={})
    kit.prose(words.mask_read)
