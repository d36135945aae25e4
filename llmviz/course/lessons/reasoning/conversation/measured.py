"""What was measured: with the mask and without it, and on questions of new kinds."""

import math
from collections.abc import Callable

import numpy as np

from llmviz.course.lessons.reasoning.conversation import words
from llmviz.course.lessons.reasoning.conversation.chat_model import ALL, REPLIES, WAYS
from llmviz.course.lessons.reasoning.conversation.chat_prompts import OWN
from llmviz.course.lessons.reasoning.conversation.chat_record import (
    CHANGED,
    HELD,
    NEVER,
    ChatModel,
    Measured,
    recorded,
)
from llmviz.course.lessons.reasoning.think_first import Share
from llmviz.course.ui import kit
from llmviz.finetuning.conversations import ASKS, DECLINES, NEVER_ASKED

KEY = "reasoning.conversation"


def together(way: str, setting: str, number: Callable[[Measured], Share]) -> Share:
    """Return a share over the models of a way."""
    shares = [number(model.settings[setting]) for model in recorded()[way]]
    return Share(sum(share.hits for share in shares), sum(share.of for share in shares))


def right(setting: str, way: str = REPLIES) -> Share:
    """Return the right replies in a setting, over the models of a way."""
    return together(way, setting, lambda result: result.right)


def _every(way: str, number: Callable[[ChatModel], str]) -> str:
    return ", ".join(map(number, recorded()[way]))


@kit.kept(1)
def rows() -> list[tuple[str, ...]]:
    """Return a row for each number, model by model."""

    def share(setting: str, number: Callable[[Measured], Share]) -> Callable[[ChatModel], str]:
        return lambda model: kit.percent(number(model.settings[setting]).value)

    def did(act: str, *, wanted: bool) -> Callable[[ChatModel], str]:
        return share(OWN, lambda result: result.did(act, wanted=wanted))

    numbers: dict[str, Callable[[ChatModel], str]] = {
        "replies": lambda model: f"{model.replies:.3f}",
        "rest": lambda model: f"{model.rest:.3f}",
        "right": share(OWN, lambda result: result.right),
        "asks": did(ASKS, wanted=True),
        "asks_wrong": did(ASKS, wanted=False),
        "declines": did(DECLINES, wanted=True),
        "declines_wrong": did(DECLINES, wanted=False),
        "changed": share(CHANGED, lambda result: result.right),
    }
    named = {words.mask_rows[name]: number for name, number in numbers.items()}
    for turn in recorded()[REPLIES][0].settings[OWN].turns:
        named[words.turn_row.format(turn=turn)] = share(OWN, lambda result, n=turn: result.turns[n])
    return [(name, *(_every(way, number) for way in WAYS)) for name, number in named.items()]


def draw_mask() -> None:
    """Show the models with the mask beside their twins."""
    replies = right(OWN).of // len(recorded()[REPLIES])
    kit.section(words.mask, replies=replies, talks=HELD)
    kit.rows_table(rows(), words.mask_columns, height="content")
    masked, twins = (
        np.array([model.settings[OWN].right.value for model in recorded()[way]]) for way in WAYS
    )
    apart, error = masked.mean() - twins.mean(), math.hypot(*map(standard_error, (masked, twins)))
    kind = "tie" if abs(apart) <= 2 * error else "better" if apart > 0 else "worse"
    kit.prose(
        words.mask_read[kind], masked=kit.percent(masked.mean()), all=kit.percent(twins.mean())
    )
    rest = {way: np.mean([model.rest for model in recorded()[way]]) for way in WAYS}
    kit.prose(words.mask_rest, all=f"{rest[ALL]:.2f}", masked=f"{rest[REPLIES]:.2f}")


def standard_error(values: np.ndarray) -> float:
    """Return the standard error of the mean of several models' numbers."""
    return float(values.std(ddof=1) / math.sqrt(len(values)))


def new_question() -> kit.Question:
    """Return the question how many questions of new kinds are declined."""
    share = together(REPLIES, NEVER, lambda result: result.did(DECLINES, wanted=True))
    of = recorded()[REPLIES][0].settings[NEVER].right.of
    return kit.share_question(
        words.ask_new.format(questions=of, example=NEVER_ASKED[-1]),
        share.value,
        [reason.format(questions=of) for reason in words.ask_new_reasons],
        kit.percent,
    )


def draw_new() -> bool:
    """Ask about questions of new kinds; return whether the answer may be seen."""
    if not kit.predict(new_question(), f"{KEY}.new", covers=True):
        return False
    new, known = (
        together(REPLIES, setting, lambda result: result.did(DECLINES, wanted=True))
        for setting in (NEVER, OWN)
    )
    questions = recorded()[REPLIES][0].settings[NEVER].right.of
    shares = {"new": kit.percent(new.value), "known": kit.percent(known.value)}
    kit.prose(words.new_read, questions=questions, **shares)
    return True
