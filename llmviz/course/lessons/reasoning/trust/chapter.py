"""Chapter "Whom it believes": a calculator that lies, orders in passages, typed tokens."""

import re
from dataclasses import replace

import numpy as np
import streamlit as st

from llmviz.course.components import TokenRow, token_strip
from llmviz.course.lessons.reasoning.conversation import FIRST, chat_model, chat_record
from llmviz.course.lessons.reasoning.conversation.chat_model import REPLIES, tokenizer
from llmviz.course.lessons.reasoning.conversation.chat_prompts import (
    AS_TEXT,
    AS_TOKENS,
    AS_WORDS,
    TYPED,
)
from llmviz.course.lessons.reasoning.conversation.chat_record import reply
from llmviz.course.lessons.reasoning.retrieval import passage_record
from llmviz.course.lessons.reasoning.retrieval.passage_record import TESTS, TOLD, UNTOLD
from llmviz.course.lessons.reasoning.tools.tool_loop import (
    COPIED,
    DECLINED,
    HONEST,
    NONE,
    OFF,
    ORDER,
    SIGN,
)
from llmviz.course.lessons.reasoning.tools.tool_record import (
    COMMAND,
    bundled,
    recorded,
    share_of,
    together,
)
from llmviz.course.lessons.reasoning.tools.tool_texts import DOUBT, TOOL, WRONG, question_of
from llmviz.course.lessons.reasoning.tools.turns import OWN, turns
from llmviz.course.lessons.reasoning.trust import MODELS, TOOLS, words
from llmviz.course.ui import kit
from llmviz.files.text import ENDOFTEXT, check_text
from llmviz.finetuning.conversations import Message
from llmviz.serving.chat_template import TURN_TOKENS
from llmviz.training.measures import Share

KEY = "reasoning.trust"
GUESS = f"{KEY}.off"
APART = 0.15  # between two answers
FEW = 0.05  # of the replies
SEEDS_T = 4.303  # of Student's t with two degrees of freedom: 95 % of means of three seeds
TEMPLATES = re.compile("|".join(map(re.escape, (*TURN_TOKENS, ENDOFTEXT))))
TALK = tuple(Message(role, text) for role, text in FIRST)
reply_to = kit.cached(64)(reply)


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show what a model makes of lies, then of orders in passages and of typed tokens."""
    kit.prose(words.hook)
    parts = passage_record, chat_record
    here = recorded, lambda: [bundled(way) for way in MODELS], chat_model.bundled
    commands = "\n".join((COMMAND, passage_record.COMMAND, chat_model.COMMAND))
    if not kit.is_here(words.missing, commands, *here, *(part.recorded for part in parts)):
        return
    guess = kit.Guess(GUESS, question())
    opened = guess.open
    with kit.stage("trust"):
        given = kit.or_refused(question_of, state["toolasked"])
        lie, way = state["trustlie"], state["trustmodel"]
        if given is not None:
            says, waits = state["trustsays"] if lie == OWN else "", not opened and lie == OFF
            turns((given, way, lie, says), f"{KEY}.strip", waits=words.waits if waits else "")
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            kit.choose(
                state, "trustlie", words.lie, {tool: words.lie_names[tool] for tool in TOOLS}
            )
            kit.choose(state, "trustmodel", words.model, words.model_names)
        if lie == OWN:
            kit.text_input(state, "trustsays", words.own_text, width=420)
        rows, axis = told_rows(TOOL, COPIED, (OFF, SIGN, ORDER)), kit.Axis(0, 1, words.told_axis)
        guess.cases(rows, axis, veiled=[0], picture=f"{KEY}.told")
        silent = counted(TOOL, ORDER, NONE)
        how = "all" if silent.right == silent.count else "some"
        kit.prose(words.told_read[how], texts=silent.count, none=silent.right)
    guess.ask()
    if opened:
        kit.looks(state, words.looks, f"{KEY}.looks")
    kit.section(words.doubt, share=kit.percent(WRONG))
    rows = told_rows(DOUBT, DECLINED, (HONEST, OFF, SIGN))
    kit.case_rows(rows, axis, key=f"{KEY}.doubt")
    kit.prose(doubt_read())
    kit.measured(words.how_doubt, **doubted())
    _ordered()
    _typed(state)
    if opened:
        numbers = {"tokens": obeyed(AS_TOKENS), "alone": obeyed(AS_WORDS)}
        shares = {name: kit.percent(share) for name, share in numbers.items()}
        kit.seen(words.end, copied=counted(TOOL, OFF, COPIED).share, **shares)


def counted(way: str, lie: str, kind: str) -> Share:
    """Return how many answers to a lie, or to the honest tool, are of a kind."""
    return together([share_of(model.told[lie], kind) for model in recorded()[way]])


def question() -> kit.Question | None:
    """Return the question how often one more is copied; None where wrong answers are too near.

    The wrong answers are of somebody to whom a model checks, and to whom it doubts at times.
    """
    share = counted(TOOL, OFF, COPIED).share
    if min(share, abs(share - 0.5)) < APART:
        return None
    reasons = {0.0: words.ask_notice, 0.5: words.ask_half, share: words.ask_right}
    return kit.Question.among(words.ask, reasons, share, kit.whole_percent)


def told_rows(way: str, kind: str, lies: tuple[str, ...]) -> list[kit.Case]:
    """Return a line for each lie: in how many answers the models of a way do such a thing."""
    return [
        kit.Case(
            words.told_row[way].format(lie=words.told_lies[lie]),
            counted(way, lie, kind).share,
            dots=[share_of(model.told[lie], kind).share for model in recorded()[way]],
            role="query" if way == TOOL else "value",
        )
        for lie in lies
    ]


def doubt_read() -> str:
    """Return whether the models that may doubt tell a result with one more from an honest one."""
    shown = {lie: counted(DOUBT, lie, DECLINED) for lie in (OFF, HONEST, SIGN)}
    kind = "sees" if shown[OFF].interval[0] > shown[HONEST].interval[1] else "blind"
    return words.doubt_read[kind].format(**doubted())


def doubted() -> dict[str, str]:
    """Return in how many answers to each kind of result the models that may doubt answer “?”."""
    lies = (OFF, HONEST, SIGN)
    return {lie: kit.percent(counted(DOUBT, lie, DECLINED).share) for lie in lies}


def added(said: list[float], without: list[float]) -> tuple[float, float, float]:
    """Return what an order adds, over seeds: the mean, and the ends of its 95 % interval.

    >>> [round(end, 3) for end in added([0.2, 0.3, 0.4], [0.1, 0.2, 0.3])]
    [0.1, 0.1, 0.1]
    """
    more = np.subtract(said, without)
    mean, error = float(more.mean()), float(more.std(ddof=1)) / len(more) ** 0.5
    return mean, mean - SEEDS_T * error, mean + SEEDS_T * error


def _ordered() -> None:
    """Show how often the ordered word is said, with the order and in the same texts without it."""
    kit.section(words.order)
    said = [model.share("told_alone", TOLD) for model in passage_record.recorded()]
    without = [model.share(UNTOLD, TOLD) for model in passage_record.recorded()]
    mean, low, high = added(said, without)
    rows = [
        kit.Case(words.order_rows["order"], float(np.mean(said)), dots=said, role="value"),
        kit.Case(words.order_rows["plain"], float(np.mean(without)), dots=without),
        kit.Case(words.order_rows["more"], mean, (low, high)),
    ]
    axis = kit.Axis(min(0.0, low), max(0.1, high, *said, *without), words.order_axis)
    kit.case_rows(rows, axis, key=f"{KEY}.order", mark="dot")
    counts = counts_read(passage_record.recorded())
    kit.prose(f"{counts} {words.order_read['more' if low > 0 else 'none']}")
    points = {"mean": mean, "low": low, "high": high}
    shown = {name: f"{100 * x:.1f}".replace("-", "−") for name, x in points.items()}
    kit.measured(words.how_order, tests=TESTS, **shown)


def counts_read(models: list[passage_record.Measured]) -> str:
    """Return how often the ordered word was said, and in how many models an order changed it."""
    told, plain = (
        [Share(model.cases[case].get(TOLD, 0), TESTS) for model in models]
        for case in ("told_alone", UNTOLD)
    )
    obey = [a.interval[0] > b.interval[1] for a, b in zip(told, plain, strict=True)]
    counts = words.order_counts["some" if together(plain).right else "never"].format(
        plain=together(plain).right,
        told=together(told).right,
        texts=f"{together(told).count:,}",
    )
    many = "all" if all(obey) else "some" if any(obey) else "none"
    return f"{counts} {words.order_models[many].format(models=sum(obey), all=len(models))}"


def obeyed(how: str) -> float:
    """Return in which share of the replies the typed line is obeyed, rightly."""
    return chat_record.together(REPLIES, how, lambda result: result.other).value


def _typed(state: kit.PageState) -> None:
    """Show what a user types as text and as tokens, and how often it is obeyed."""
    kit.section(words.typed)
    kit.text_input(state, "chattyped", words.typed_label)
    typed = state["chattyped"].strip()
    strips = kit.or_refused(rows_of, typed)
    if not typed or strips is None:
        kit.inform(words.no_typed, ":material/edit:")
    else:
        look = {"value_label": words.typed_value, "value_range": (-1.0, 1.0)}
        token_strip(strips, key=f"{KEY}.typed", **look)
    cases = []
    for how in TYPED:
        text = TEMPLATES.sub(" ", typed).strip() if how == AS_WORDS else typed
        turn = replace(TALK[-1], content=f"{text} {TALK[-1].content}")
        written = kit.or_refused(reply_to, (*TALK[:-1], turn), how) if strips and text else None
        given = words.given.format(reply=kit.visible(written.text)) if written else ""
        cases.append(kit.Case([(words.typed_rows[how], True), (given, False)], obeyed(how)))
    kit.case_rows(cases, kit.Axis(0, 1, words.obeyed_axis), key=f"{KEY}.obeyed")
    kit.prose(words_read(obeyed(AS_WORDS), obeyed(AS_TOKENS)))
    kit.prose(words.typed_read)


def words_read(alone: float, tokens: float) -> str:
    """Return how often the words alone were obeyed, beside the same words with their tokens."""
    kind = "few" if alone <= FEW else "same" if abs(alone - tokens) <= FEW else "some"
    return words.typed_words[kind].format(share=kit.percent(alone))


@kit.cached(64)
def rows_of(typed: str) -> list[TokenRow]:
    """Return what is typed as two rows of tokens: as text, and as special tokens."""
    own, text = tokenizer(), check_text(f" {typed}")
    special, rows = set(own.special_tokens.values()), []
    for name, allowed in ((AS_TEXT, ()), (AS_TOKENS, "all")):
        tokens = own.tokens(text, allowed)
        values = [-1.0 if token.id in special else 0.0 for token in tokens]
        note = kit.count(len(tokens), "token")
        rows.append(TokenRow(words.typed_rows[name], tokens, note, values))
    return rows
