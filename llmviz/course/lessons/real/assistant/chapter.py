"""Chapter "The same numbers as a chat": a sentence alone, and the question in a chat's template."""

from __future__ import annotations

from typing import Any

import streamlit as st

from llmviz.course.components.token_strip.view import TokenRow
from llmviz.course.lessons.real import source
from llmviz.course.lessons.real.assistant import ALONE, ASKED, words
from llmviz.course.lessons.real.assistant.model import MOST, PENALTY, BothWays, Part, measure
from llmviz.course.lessons.real.chat import sent
from llmviz.course.lessons.real.defaults import PIRATE, QUESTIONS
from llmviz.course.ui import kit

KEY = "real.assistant"
CITIES = ("Sydney", "Canberra", "Melbourne")  # that may be named


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show both ways of asking beside each other, the guess, and a box of one's own."""
    kit.prose(words.hook)
    labels = {"chatalone": words.alone_label, "chatquestion": words.question_label}
    found: BothWays
    made = source.measured_text(state, "assistant", labels, width=420)
    stage, asked, looks, found, given = made
    first: BothWays = source.record("assistant", ALONE, ASKED)
    guess = kit.Guess(KEY, question(first), seen=given != (ALONE, ASKED))
    with stage:
        left, right = st.columns(2, gap="large")
        with left:
            kit.prose(words.alone_head, text=kit.quote(given[0], 160))
            rows = [kit.Case(choice.text.strip() or "␣", choice.share) for choice in found.alone]
            kit.case_rows(rows, kit.Axis(0, 1, words.next_axis), key=f"{KEY}.alone")
            kit.prose(words.goes_on, text=kit.quote(found.goes_on.strip(), 200))
        with right:
            kit.prose(words.chat_head, text=kit.quote(given[1], 160))
            kit.value_strip([strip_of(found.parts)], f"{KEY}.strip", words.who, low=-1.0)
            if guess.open:
                case = "ended" if found.ended else "cut"
                kit.prose(words.answers[case], text=kit.quote(found.answer, 240), most=MOST)
    with asked:
        guess.ask()
    if guess.open:
        with looks:
            kit.looks(state, words.looks, f"{KEY}.looks")
    kit.section(words.template)
    if guess.open:
        kit.prose(words.template_read, **summary(first))
        text = "".join(part.text for part in found.parts)
        kit.show_code(
            [measure, sent], source.snippet(words.snippet, text=text, most=MOST), found.answer
        )
    kit.section(words.trust)
    if guess.open:
        _answers()
    pirate: BothWays = source.record("assistant", *QUESTIONS[-1])
    kit.section(words.again, penalty=PENALTY, plain=kit.quote(pirate.answer, 120))
    if guess.open:
        kit.prose(words.again_read, other=kit.quote(source.record("penalised", PIRATE), 120))
    source.proved("reasoning", "conversation")
    if guess.open:
        kit.seen(words.end, **summary(first))


def strip_of(parts: tuple[Part, ...]) -> TokenRow:
    """Return a chat as chips: what the template wrote in one colour, what was typed in another."""
    chips = source.chips([part.text for part in parts])
    values = [-1.0 if part.form else 1.0 if part.role == "user" else 0.0 for part in parts]
    return TokenRow("", chips, kit.count(len(parts), "token"), values)


def question(found: BothWays) -> kit.Question:
    """Ask which city it names as a chat."""
    named = next(city for city in CITIES if city in found.answer)
    reasons = {city: words.reasons[city] for city in CITIES} | {
        words.declines: words.reasons["none"]
    }
    reasons[named] = words.ask_right
    return kit.Question.among(words.ask, reasons, named, **summary(found))


def facts() -> dict[str, Any]:
    """Return what other lessons say of this chapter's record."""
    berries: BothWays = source.record("assistant", *QUESTIONS[2])
    strawberry = kit.quote(berries.answer, 120)
    return {**summary(source.record("assistant", ALONE, ASKED)), "strawberry": strawberry}


def summary(found: BothWays) -> dict[str, Any]:
    """Return what is said of both ways."""
    return {
        "alone": source.word(found.alone[0].text),
        "alone_share": kit.percent(found.alone[0].share),
        "second": source.word(found.alone[1].text),
        "second_share": kit.percent(found.alone[1].share),
        "named": source.word(next(city for city in CITIES if city in found.answer)),
        "form": sum(part.form for part in found.parts),
        "count": len(found.parts),
    }


def _answers() -> None:
    rows = [
        [asked, source.record("assistant", alone, asked).answer] for alone, asked in QUESTIONS[:-1]
    ]
    kit.rows_table(rows, words.columns)
    kit.prose(words.trust_read)
