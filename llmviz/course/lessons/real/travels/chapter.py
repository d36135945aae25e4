"""Chapter "Where a fact travels": each vector of one sentence exchanged for another's."""

from __future__ import annotations

import streamlit as st

from llmviz.course.lessons.real import source
from llmviz.course.lessons.real import words as all_words
from llmviz.course.lessons.real.defaults import FRANCE, ITALY
from llmviz.course.lessons.real.travels import words
from llmviz.course.lessons.real.travels.model import Travels, measure
from llmviz.course.ui import kit
from llmviz.interpretability.patching import patch_map

KEY = "real.travels"
CLEAR = 0.9  # share of the pair: from here on one answer has nearly all


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the map, the guess on its rows, and sentences of one's own."""
    kit.prose(words.hook_own if titled(state) else words.hook)
    found: Travels
    fields = {"travelsown": words.own_label, "travelsother": words.other_label}
    stage, _, looks, found, given = source.measured_text(state, "travels", fields)
    guess = kit.Guess(KEY, question(found))
    cell = source.cell_of(state["travelscell"], *found.shares.shape)
    with stage:
        left, right = st.columns([3, 2], gap="large", vertical_alignment="center")
        with left:
            _map(state, found, opened=guess.open)
        with right:
            guess.cases(
                [kit.Case(words.jumps, jump_layer(found))] if guess.question else [],
                kit.Axis(0, found.layers - 1, words.layer_axis),
                veiled=[0] if guess.question else [],
                picture=f"{KEY}.layer",
                form="count",
                mark="dot",
            )
            kit.prose(words.caption, **numbers(found))
            if guess.open and cell:
                kit.prose(words.cell, **cell_told(found, cell))
            guess.ask()
    if guess.open:
        with looks:
            kit.prose(read_of(found))
            kit.looks(state, words.looks, f"{KEY}.looks")
    france: Travels = source.record("travels", FRANCE, ITALY)
    kit.section(words.enough, **numbers(france))
    if guess.open:
        _code(given, found, cell or (found.layers // 2, found.shares.shape[1] - 1))
    kit.section(words.why)
    source.proved("transformer", "patching")
    if guess.open:
        kit.seen(words.end, **facts())


def titled(state: kit.PageState) -> str:
    """Return the chapter's question about other sentences than those that it names."""
    return (
        "" if (state["travelsown"], state["travelsother"]) == (FRANCE, ITALY) else words.title_own
    )


def facts() -> dict[str, str | int | None]:
    """Return what other lessons say of this chapter's record."""
    france: Travels = source.record("travels", FRANCE, ITALY)
    return {**numbers(france), "layer": jump_layer(france)}


def jump_layer(found: Travels) -> int | None:
    """Return the layer in which the last place takes the other answer; None where none does."""
    row = found.jump()
    return None if row is None else row - 1


def _map(state: kit.PageState, found: Travels, *, opened: bool) -> None:
    """Draw the map, the first layer on top. Before the guess only its first row is told."""
    values = found.shares
    notes = [
        [
            words.note.format(share=kit.percent(share), answer=found.other.text.strip())
            for share in row
        ]
        for row in values
    ]
    if not opened:
        values[1:], notes[1:] = 0, [[all_words.waits] * values.shape[1]] * found.layers
    source.grid(
        state,
        "travelscell",
        values,
        notes,
        row_names=[
            *(words.before.format(layer=layer) for layer in range(found.layers)),
            words.after,
        ],
        column_names=[
            " / ".join(place.split("|")) if differs else place
            for place, differs in zip(found.places, found.differs, strict=True)
        ],
        scale=(found.own.text.strip(), found.other.text.strip()),
        label=words.map_label,
    )


def question(found: Travels) -> kit.Question | None:
    """Ask in which layer the last word takes the answer over; None where none is the one.

    The wrong answers: it is there once the word is read, halfway, where the answer is said.
    """
    layer, last = jump_layer(found), found.layers - 1
    if layer is None:
        return None
    near = max(2, found.layers // 8)
    wrong = {0: words.ask_start, last // 2: words.ask_half, last: words.ask_end}
    reasons = {at: why for at, why in wrong.items() if abs(at - layer) >= near}
    return kit.Question.among(
        words.ask,
        dict(sorted({**reasons, layer: words.ask_right}.items())),
        layer,
        "{:.0f}".format,
        scale=True,
        last=source.word(found.places[-1]),
        count=found.layers,
        answer=source.word(found.other.text),
    )


def numbers(found: Travels) -> dict[str, str]:
    """Return what caption, sections and end say."""
    return {
        "own": source.word(found.own.text),
        "other": source.word(found.other.text),
        "own_share": kit.percent(found.own.share),
        "other_share": kit.percent(found.other.share),
        "last": source.word(found.places[-1]),
        "word": source.word(_swapped(found)),
    }


def cell_told(found: Travels, cell: tuple[int, int]) -> dict[str, str]:
    """Return what is said of a cell: both answers' scores without the exchange and with it."""
    (row, place), scores = cell, found.scores[cell[0]][cell[1]]
    when = words.before.format(layer=row) if row < found.layers else words.after
    written = {
        f"{answer}_{name}": kit.signed(score, 1)
        for name, pair in (("plain", found.plain), ("score", scores))
        for answer, score in zip(("own", "other"), pair, strict=True)
    }
    return {
        **numbers(found),
        **written,
        "when": when,
        "word": source.word(found.places[place].split("|")[0]),
        "lead": kit.signed(found.plain[0] - found.plain[1], 1),
        "left": kit.signed(scores[0] - scores[1], 1),
        "part": kit.percent(float(found.shares[cell])),
    }


def _code(given: source.Given, found: Travels, cell: tuple[int, int]) -> None:
    row, place = cell
    prints = str([f"{score:.1f}" for score in found.scores[row][place]])
    site = ("stream", row, found.shares.shape[1] - 1 - place)
    slots = {"own": given[0], "other": given[1], "site": site}
    kit.show_code([measure, patch_map], source.snippet(words.snippet, **slots), prints)


def _swapped(found: Travels) -> str:
    """The word of the own sentence at the first place that differs."""
    pairs = zip(found.places, found.differs, strict=True)
    return next((place.split("|")[0] for place, differs in pairs if differs), found.places[0])


def read_of(found: Travels) -> str:
    """Return what the map shows of these sentences: how the answer comes to the last place."""
    layer, told = jump_layer(found), numbers(found)
    if layer is None:
        return words.read["stays"].format(**told)
    before, after = found.shares[layer][-1], found.shares[layer + 1][-1]
    at_once = before <= 1 - CLEAR and after >= CLEAR
    slots = {"layer": layer, "before": kit.percent(before), "after": kit.percent(after)}
    return words.read["at_once" if at_once else "slowly"].format(**told, **slots)
