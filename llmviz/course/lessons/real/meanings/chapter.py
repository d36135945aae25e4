"""Chapter "Sums of words": three vectors added and taken away, and who stands near the result."""

from __future__ import annotations

from typing import Any

import streamlit as st

from llmviz.course.lessons.real import source
from llmviz.course.lessons.real.defaults import SUMS
from llmviz.course.lessons.real.meanings import words
from llmviz.course.lessons.real.meanings.model import Near, Sum, Word, add
from llmviz.course.lessons.real.reader import Choice
from llmviz.course.ui import kit
from llmviz.similarity import analogy

KEY = "real.meanings"
FIELDS = ("sumplus", "summinus", "sumother")
WANTED = {  # what one would say oneself, for the sums of the table
    SUMS[0]: "queen",
    SUMS[1]: "Tokyo",
    SUMS[2]: "kitten",
    SUMS[3]: "saw",
    SUMS[4]: "nurse",
    SUMS[5]: "second",
    SUMS[6]: "worse",
}


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show what stands nearest to a sum of words, the guess, and a table of sums."""
    kit.prose(words.hook)
    labels = dict(zip(FIELDS, words.fields, strict=True))
    found: Sum
    made = source.measured_text(state, "meanings", labels, measure="sums", width=160, stays=True)
    stage, asked, looks, found, given = made
    guess = kit.Guess(KEY, question(source.record("sums", *SUMS[0])), seen=given != SUMS[0])
    with stage:
        _rows(found, opened=guess.open)
        if guess.open:
            kit.prose(words.caption, **summary(found))
        for word in found.words:
            if not word.whole:
                kit.inform(pieces(word), ":material/content_cut:")
    with asked:
        guess.ask()
    if guess.open:
        with looks:
            kit.looks(state, words.looks, f"{KEY}.looks")
    kit.section(words.honest)
    if guess.open:
        kit.prose(words.honest_read, **staying())
        prints = "\n".join(f"{choice.text} {choice.share:.3f}" for choice in found.near[:3])
        kit.show_code([add, analogy], source.snippet(words.snippet, words=given), prints)
    kit.section(words.table)
    if guess.open:
        _table()
    kit.section(words.near)
    _near(state)
    source.proved("embeddings", "similarity")
    if guess.open:
        kit.seen(
            words.end,
            **summary(source.record("sums", *SUMS[0])),
            right=sum(map(is_wanted, SUMS)),
            sums=len(SUMS),
        )


def facts() -> dict[str, Any]:
    """Return what other lessons say of this chapter's record."""
    right = sum(map(is_wanted, SUMS))
    return {**summary(source.record("sums", *SUMS[0])), "right": right, "sums": len(SUMS)}


def summary(found: Sum) -> dict[str, Any]:
    """Return what is said of a sum: its words, the nearest token, and the nearest of all."""
    plus, minus, other = (source.word(word.typed) for word in found.words)
    return {
        "plus": plus,
        "minus": minus,
        "other": other,
        "nearest": source.word(found.near[0].text),
        "cosine": kit.local(f"{found.near[0].share:.2f}"),
        "next": kit.listed([source.word(choice.text) for choice in found.near[1:3]]),
    }


def staying() -> dict[str, Any]:
    """Return how many sums land on a word that went in, where those take part, and one."""
    made = [source.record("sums", *triple) for triple in SUMS]
    stay = [
        (triple, summed.with_them[0].text.strip())
        for triple, summed in zip(SUMS, made, strict=True)
        if summed.with_them[0].text.strip() in triple
    ]
    (plus, minus, other), landed = stay[0]
    example = words.line.format(plus=plus, minus=minus, other=other).removesuffix(" =")
    return {
        "stays": len(stay),
        "sums": len(SUMS),
        "example": example,
        "landed": source.word(landed),
    }


def pieces(word: Word) -> str:
    """Return that a word is several tokens, of which the first was taken."""
    return words.piece.format(word=word.typed, token=word.token.strip())


def _rows(found: Sum, *, opened: bool) -> None:
    rows = [
        kit.Case(shown(choice) if opened else words.hidden.format(place=n), choice.share)
        for n, choice in enumerate(found.near, start=1)
    ]
    kit.case_rows(rows, kit.Axis(0, 1, words.axis), key=f"{KEY}.rows", form="figure")


def shown(choice: Choice) -> str:
    """Return a token so that one sees whether a space belongs to it."""
    return choice.text.replace(" ", "·")


def question(found: Sum) -> kit.Question:
    """Ask what stands nearest to king − man + woman."""
    right = found.near[0].text.strip()
    wrong = {"king": words.ask_king, "princess": words.ask_princess, "lady": words.ask_lady}
    reasons = {right: words.ask_right, **{k: v for k, v in wrong.items() if k != right}}
    return kit.Question.among(words.ask, reasons, right, **summary(found))


def is_wanted(triple: tuple[str, str, str]) -> bool:
    """Whether a sum of the table comes to what one would say oneself."""
    found: Sum = source.record("sums", *triple)
    return found.near[0].text.strip() == WANTED[triple]


def _table() -> None:
    """Draw each sum of the table: what came, and what one would have wanted."""
    rows = []
    for triple in SUMS:
        found: Sum = source.record("sums", *triple)
        plus, minus, other = triple
        nearest = found.near[0].text.strip()
        line = words.line.format(plus=plus, minus=minus, other=other)
        case = "right" if is_wanted(triple) else "wrong"
        rows.append(
            kit.Case(
                [(f"{line} ", False), (nearest, True)],
                found.near[0].share,
                note=words.came[case].format(wanted=WANTED[triple]),
                role="value" if case == "right" else "accent",
            )
        )
    axis = kit.Axis(0, 1, words.axis)
    kit.case_rows(rows, axis, key=f"{KEY}.table", form="figure", mark="dot")


def _near(state: kit.PageState) -> None:
    source.own(state, {"nearword": words.near_label})
    found: Near
    begun = (state.params["nearword"].default,)
    found, _ = source.or_recorded("near", (state["nearword"].strip(),), begun)
    if not found.word.whole:
        kit.inform(pieces(found.word), ":material/content_cut:")
    rows = [kit.Case(shown(choice), choice.share) for choice in found.near]
    axis = kit.Axis(min(0.0, *(choice.share for choice in found.near)), 1, words.axis)
    kit.case_rows(rows, axis, key=f"{KEY}.near", form="figure")
    kit.looks(state, words.near_looks, f"{KEY}.near.looks")
