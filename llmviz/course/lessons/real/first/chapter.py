"""Chapter "The first word": how much attention it gets in each head, and a window that loses it."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from llmviz.course.components.draw_on.view import draw_on
from llmviz.course.lessons.real import source
from llmviz.course.lessons.real.defaults import LIGHTHOUSE
from llmviz.course.lessons.real.first import words
from llmviz.course.lessons.real.first.model import First, Window, measure
from llmviz.course.lessons.real.reader import unpacked
from llmviz.course.ui import kit

KEY = "real.first"


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show each head's share for the first word, the guess, its vector, and the window."""
    kit.prose(words.hook)
    found: First
    fields = {"firsttext": words.own_label}
    made = source.measured_text(state, "first", fields, width=560)
    stage, _, looks, found, (text,) = made
    guess = kit.Guess(KEY, question(found))
    head = source.cell_of(state["firsthead"], *found.shares.shape)
    with stage:
        left, right = source.beside()
        with left:
            _grid(state, found, opened=guess.open)
    with right:
        if guess.open:
            kit.prose(words.caption, **summary(found))
        if guess.open and head:
            kit.prose(words.sum, **sum_told(found, head))
        guess.ask()
    first: First = source.record("first", LIGHTHOUSE)
    if guess.open:
        with looks:
            if head:
                each = unpacked(found.each[head[0]][head[1]])
                source.mean_of(f"{KEY}.each", words.each_label, found.tokens[1:], each)
            kit.looks(state, words.looks, f"{KEY}.looks")
    kit.section(words.why)
    if guess.open:
        _code(text, found, head)
    kit.section(words.vector)
    if guess.open:
        _lengths(found)
        kit.prose(words.vector_read, **summary(found))
    kit.section(words.window)
    windows: tuple[Window, ...] = source.record("windows")
    kit.choose(
        state, "firstwindow", words.window_label, {str(w.size): str(w.size) for w in windows}
    )
    chosen = next(w for w in windows if str(w.size) == state["firstwindow"])
    _window(chosen)
    kit.prose(words.window_read, **window_told(chosen))
    kit.chapter_link("attention", "trained", words.proved)
    if guess.open:
        kit.seen(words.end, **summary(first), **window_told(chosen))


def facts() -> dict[str, Any]:
    """Return what other lessons say of this chapter's record."""
    windows: tuple[Window, ...] = source.record("windows")
    middle = next(window for window in windows if window.size == 64)
    return {**summary(source.record("first", LIGHTHOUSE)), **window_told(middle)}


def summary(found: First) -> dict[str, Any]:
    """Return what is said of a text: its first token, shares and lengths."""
    shares, lengths = found.shares, np.array(found.first)
    peak = int(lengths.argmax())
    layer, head = np.unravel_index(int(shares.argmax()), shares.shape)
    return {
        "token": source.word(found.tokens[0]),
        "count": len(found.tokens),
        "even": kit.whole_percent(even(found)),
        "mean": kit.whole_percent(found.mean),
        "head": f"{layer}.{head}",
        "most": kit.percent(float(shares.max())),
        "longest": kit.local(f"{lengths[peak]:,.0f}"),
        "others": kit.local(f"{found.others[peak]:,.0f}"),
        "times": kit.local(f"{lengths[peak] / max(found.others[peak], 1e-9):,.0f}"),
    }


def window_told(window: Window) -> dict[str, Any]:
    """Return what is said of a window."""
    return {
        "size": window.size,
        "without": kit.local(f"{window.without:.2f}"),
        "with_first": kit.local(f"{window.with_first:.2f}"),
        "all": kit.local(f"{window.all:.2f}"),
        "back": kit.whole_percent(
            (window.without - window.with_first) / (window.without - window.all)
        ),
    }


def even(found: First) -> float:
    """Return the first token's share if each token looked at all before it alike, its mean."""
    return float(np.mean([1 / n for n in range(2, len(found.tokens) + 1)]))


def question(found: First) -> kit.Question:
    """Ask how much of all attention goes to the first token."""
    reasons = [words.ask_right, words.ask_more, words.ask_less]
    slots = summary(found)
    return kit.share_question(
        words.ask.format(**slots),
        found.mean,
        [reason.format(**slots) for reason in reasons],
        kit.whole_percent,
    )


def _grid(state: kit.PageState, found: First, *, opened: bool) -> None:
    shares = found.shares
    notes = [[words.note.format(share=kit.percent(share)) for share in row] for row in shares]
    look = {"scale": words.scale, "label": words.grid_label}
    source.grid(state, "firsthead", shares, notes, opened=opened, **look)


def sum_told(found: First, head: tuple[int, int]) -> dict[str, Any]:
    """Return what a head's share is the mean of, and the last of these as softmax makes it."""
    layer, number = head
    each, (first, others) = unpacked(found.each[layer][number]), found.scores[layer][number]
    return {
        "head": f"{layer}.{number}",
        "token": source.word(found.tokens[0]),
        "total": kit.local(f"{each.sum():.2f}"),
        "count": len(each),
        "share": kit.percent(float(each.mean())),
        "last": source.word(found.tokens[-1]),
        "first": kit.signed(first, 1),
        "others": kit.signed(others, 1),
        "part": kit.percent(1 / (1 + float(np.exp(others - first)))),
    }


def _code(text: str, found: First, head: tuple[int, int] | None) -> None:
    """Show how one head's share is measured: the chosen one's, or the largest."""
    shares = found.shares
    layer, number = head or np.unravel_index(int(shares.argmax()), shares.shape)
    prints = f"{shares[layer, number]:.0%}"
    kit.show_code(
        [measure], source.snippet(words.snippet, text=text, layer=layer, head=number), prints
    )


def _lengths(found: First) -> None:
    """Draw how long the first token's vector is before each layer, beside the others'."""
    places = range(len(found.first))
    low = min(*found.first, *found.others)
    draw_on(
        [
            kit.Drawn(words.first_line, places, found.first, "accent"),
            kit.Drawn(words.others_line, places, found.others, "query"),
        ],
        kit.Scale(0, len(found.first) - 1, words.layer_axis),
        kit.Scale(max(low / 2, 1e-3), 2 * max(found.first), words.length_axis, log=True),
        key=f"{KEY}.lengths",
        words={"picture": words.length_axis},
    )


def _window(window: Window) -> None:
    rows = [
        kit.Case(words.rows["without"], window.without, role="accent"),
        kit.Case(words.rows["with_first"], window.with_first, role="value"),
        kit.Case(words.rows["all"], window.all, role="query"),
    ]
    axis = kit.Axis(0, 7, words.loss_axis)
    kit.case_rows(rows, axis, key=f"{KEY}.window", form="figure")
