"""Chapter "Yesterday": what is sent at each turn, and what the model knows when it is not sent."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import streamlit as st

from llmviz.course.components.token_strip.view import TokenRow
from llmviz.course.lessons.real import source
from llmviz.course.lessons.real.defaults import NAME
from llmviz.course.lessons.real.yesterday import words
from llmviz.course.lessons.real.yesterday.model import (
    ASKS,
    BEGUN,
    DAY,
    WAYS,
    Strip,
    Yesterday,
    strip,
)
from llmviz.course.ui import kit

KEY = "real.yesterday"
CHECKSUM = 12  # letters of a checksum that are shown


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show what is sent, how likely the name is, and the guess where it is kept."""
    kit.prose(words.hook, name=NAME)
    found: Yesterday
    fields = {"yesterdayname": words.own_label}
    stage, _, looks, found, _ = source.measured_text(state, "yesterday", fields, width=200)
    guess = kit.Guess(KEY, question(), seen=state["yesterdayway"] != "kept")
    way = state["yesterdayway"]
    with stage:
        if guess.open:
            kit.choose(state, "yesterdayway", words.way_label, words.ways)
        left, right = st.columns([3, 2], gap="large")
        with left:
            sent = getattr(found, way) if guess.open else found.anew
            kit.value_strip([row_of(sent, found.name)], f"{KEY}.strip", words.who, low=-1.0)
        with right:
            shown = WAYS if guess.open else ("kept",)
            kit.case_rows(
                [
                    kit.Case(
                        words.ways[name] if guess.open else found.name,
                        getattr(found, name).share,
                        role="value" if name == way else "query",
                    )
                    for name in shown
                ],
                kit.Axis(0, 1, words.axis.format(begun=BEGUN, name=found.name)),
                key=f"{KEY}.rows",
            )
            if guess.open:
                kit.prose(words.caption[way], **summary(found))
            guess.ask()
            if not guess.open:
                kit.prose(words.waits, **summary(found))
    first: Yesterday = source.record("yesterday", NAME)
    if guess.open:
        with looks:
            kit.looks(state, words.looks, f"{KEY}.looks")
    kit.section(words.weights)
    if guess.open:
        kit.prose(words.weights_read, **summary(first))
        shown_now: Strip = getattr(found, way)
        text = "".join(piece.text for piece in shown_now.pieces) + BEGUN
        slots = {"text": text, "name": found.name}
        kit.show_code([strip], source.snippet(words.snippet, **slots), f"{shown_now.share:.1%}")
    kit.section(words.memory)
    kit.section(words.tools, **summary(first))
    source.proved("reasoning", "conversation")
    if guess.open:
        kit.seen(words.end, **summary(first))


def row_of(shown: Strip, name: str) -> TokenRow:
    """Return what is sent as chips: the template's pieces pale, those of the name bright."""
    texts = [piece.text for piece in shown.pieces]
    chips = source.chips(texts)
    lit = named(texts, name)
    values = [
        1.0 if n in lit else -0.5 if piece.form else 0.0 for n, piece in enumerate(shown.pieces)
    ]
    return TokenRow("", chips, kit.count(len(chips), "token"), values)


def named(texts: list[str], name: str) -> set[int]:
    """Return the places of the pieces that spell a name, however many pieces it has.

    >>> sorted(named([" I", " am", " Bo", "ris", "."], "Boris"))
    [2, 3]
    """
    whole, ends = "".join(texts), list(accumulate(map(len, texts)))
    found, at = set(), whole.find(name)
    while at >= 0:
        begin, end = at, at + len(name)
        found |= {n for n, stop in enumerate(ends) if stop > begin and stop - len(texts[n]) < end}
        at = whole.find(name, end)
    return found


def question() -> kit.Question:
    """Ask where the name is kept between two turns."""
    return kit.Question.of(words.ask, name=NAME)


def facts() -> dict[str, Any]:
    """Return what other lessons say of this chapter's record."""
    return summary(source.record("yesterday", NAME))


def summary(found: Yesterday) -> dict[str, Any]:
    """Return what is said of a name in all situations."""
    return {way: kit.percent(getattr(found, way).share) for way in WAYS} | {
        "name": found.name,
        "asks": kit.quote(ASKS),
        "begun": kit.quote(BEGUN),
        "sent": len(found.kept.pieces),
        "guess": source.word(found.anew.first.text),
        "guess_share": kit.percent(found.anew.first.share),
        "clock": kit.quote(found.clock, 160),
        "told_day": kit.quote(found.told.rstrip("."), 160),
        "day": DAY,
        "before": found.before[:CHECKSUM],
        "after": found.after[:CHECKSUM],
    }
