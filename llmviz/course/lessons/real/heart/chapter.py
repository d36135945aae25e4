"""Chapter "By heart": famous sentences word by word, and the same with one word exchanged."""

from __future__ import annotations

from typing import Any

import streamlit as st

from llmviz.course.components.token_strip.view import TokenRow
from llmviz.course.lessons.real import source
from llmviz.course.lessons.real.heart import words
from llmviz.course.lessons.real.heart.model import SENTENCES, Heart, Piece, measure
from llmviz.course.ui import kit

KEY = "real.heart"
ASKED = {  # famous words: the sentence, and the piece that is asked for
    "lamb": (SENTENCES[10], " lamb"),
    "dog": (SENTENCES[2], " dog"),
    "worst": (SENTENCES[4], " worst"),
    "others": (SENTENCES[8], " others"),
}


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show all sentences coloured by how likely each piece was, the guess, and one's own."""
    kit.prose(words.hook)
    guess = kit.Guess(KEY, question())
    changed = state["heartway"] == "changed"
    shown = SENTENCES[1::2] if changed else SENTENCES[::2]
    with st.container():  # the picture stays in view as far as its looks
        with kit.stage("heart", stays=True):
            rows = [row_of(source.record("heart", text), opened=guess.open) for text in shown]
            kit.value_strip(rows, f"{KEY}.strip", words.likely)
            kit.prose(words.caption["told" if guess.open else "waits"])
        guess.ask()
        kit.choose(state, "heartway", words.way_label, words.ways)
        source.about()
        if guess.open:
            kit.looks(state, words.looks, f"{KEY}.looks", **facts())
    kit.section(words.begin)
    if guess.open:
        _begins()
        shares = [piece.share for piece in source.record("heart", shown[0]).pieces[1:]]
        prints = " ".join(f"{share:.0%}" for share in shares)
        kit.show_code([measure], source.snippet(words.snippet, text=shown[0]), prints)
    kit.section(words.own)
    source.own(state, {"hearttext": words.own_label}, width=560)
    found: Heart
    begun = (state.params["hearttext"].default,)
    found, _ = source.or_recorded("heart", (state["hearttext"].strip(),), begun)
    kit.value_strip([row_of(found, opened=True)], f"{KEY}.own", words.likely)
    kit.prose(own_line(found))
    kit.section(words.matters)
    source.proved("errors", "memorization")
    if guess.open:
        kit.seen(words.end, **facts())


def row_of(found: Heart, *, opened: bool) -> TokenRow:
    """Return a sentence as chips, coloured by how likely each piece was once that is told."""
    chips = source.chips([piece.text for piece in found.pieces])
    if not opened:
        return TokenRow("", chips, "", [0.0] * len(chips))
    details = [detail(piece) for piece in found.pieces]
    return TokenRow("", chips, "", [piece.share for piece in found.pieces], details)


def detail(piece: Piece) -> dict[str, str]:
    """Return what the card of a piece says; nothing of the first, before which nothing stands."""
    if not piece.first.text:
        return {}
    first = words.first.format(token=piece.first.text.strip(), share=kit.percent(piece.first.share))
    return {words.likely: kit.percent(piece.share), words.likeliest: first}


def share_of(name: str) -> float:
    """Return how likely one of the famous words was in its sentence."""
    text, wanted = ASKED[name]
    found: Heart = source.record("heart", text)
    return next(piece.share for piece in found.pieces if piece.text == wanted)


def question() -> kit.Question:
    """Ask which famous word it expects least."""
    least = min(ASKED, key=share_of)
    begins = {name: text[: text.index(wanted)] for name, (text, wanted) in ASKED.items()}
    shares: dict[str, Any] = {name: kit.percent(share_of(name)) for name in ASKED}
    reasons = {
        words.answer.format(begin=begins[name], word=name): words.reasons[name] for name in ASKED
    }
    right = words.answer.format(begin=begins[least], word=least)
    return kit.Question.among(words.ask, reasons, right, **shares)


def facts() -> dict[str, Any]:
    """Return what looks and end say."""
    times: Heart = source.record("heart", SENTENCES[5])
    truths: Heart = source.record("heart", SENTENCES[0])
    return {name: kit.percent(share_of(name)) for name in ASKED} | {
        "soup_worst": kit.percent(next(p.share for p in times.pieces if p.text == " worst")),
        "begins": truths.begins(),
        "pieces": len(truths.pieces),
    }


def _begins() -> None:
    """Draw for each sentence how much of it has to be given."""
    rows = []
    for text in SENTENCES[::2]:
        found: Heart = source.record("heart", text)
        given, count = found.begins(), len(found.pieces)
        pieces = "".join(piece.text for piece in found.pieces[:given])
        rest = "".join(piece.text for piece in found.pieces[given:])
        note = words.of.format(given=given, count=count)
        rows.append(kit.Case([(pieces, False), (rest, True)], given / count, note=note))
    kit.case_rows(rows, kit.Axis(0, 1, words.given_axis), key=f"{KEY}.begins")
    kit.prose(words.begin_read)


def own_line(found: Heart) -> str:
    """Return how much of one's own sentence has to be given for the model to write the rest."""
    given, count = found.begins(), len(found.pieces)
    case = "none" if given == count else "all" if given == 1 else "some"
    return words.own_read[case].format(
        given=given, count=count, first=source.word(found.pieces[0].text)
    )
