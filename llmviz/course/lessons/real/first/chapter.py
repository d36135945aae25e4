"""Chapter "The first word": how much attention it gets in each head, and a window that loses it."""

from __future__ import annotations

import numpy as np
import streamlit as st

from llmviz.course.components.cell_grid.view import cell_grid
from llmviz.course.components.draw_on.view import draw_on
from llmviz.course.lessons.real import source
from llmviz.course.lessons.real.defaults import LIGHTHOUSE
from llmviz.course.lessons.real.first import words
from llmviz.course.lessons.real.first.model import First, Window
from llmviz.course.ui import kit

KEY = "real.first"


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show each head's share for the first word, the guess, its vector, and the window."""
    kit.prose(words.hook)
    stage, _, fields, looks = source.places("first", stays=False)
    with fields:
        source.own(state, {"firsttext": words.own_label}, width=560)
        source.about()
    with stage:
        found: First | None = source.measured("first", state["firsttext"].strip())
    if found is None:
        return
    guess = kit.Guess(KEY, question(found))
    with stage:
        left, right = source.beside()
        with left:
            _grid(found, opened=guess.open)
    with right:
        kit.prose(words.caption["told" if guess.open else "waits"], **told(found))
        guess.ask()
    first: First = source.record("first", LIGHTHOUSE)
    if guess.open:
        with looks:
            kit.looks(state, words.looks, f"{KEY}.looks")
    kit.section(words.why)
    kit.section(words.vector)
    if guess.open:
        _lengths(found)
        kit.prose(words.vector_read, **told(found))
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
        kit.seen(words.end, **told(first), **window_told(chosen))


def told(found: First) -> dict[str, str | int]:
    """Return what is said of a text: its first token, shares and lengths."""
    shares, lengths = np.array(found.shares), np.array(found.first)
    peak = int(lengths.argmax())
    layer, head = np.unravel_index(int(shares.argmax()), shares.shape)
    return {
        "token": source.word(found.tokens[0]),
        "count": len(found.tokens),
        "even": kit.whole_percent(even(found)),
        "mean": kit.whole_percent(found.mean),
        "head": f"{layer}.{head}",
        "most": kit.percent(float(shares.max())),
        "longest": f"{lengths[peak]:,.0f}",
        "others": f"{found.others[peak]:,.0f}",
        "times": f"{lengths[peak] / max(found.others[peak], 1e-9):,.0f}",
    }


def window_told(window: Window) -> dict[str, str | int]:
    """Return what is said of a window."""
    return {
        "size": window.size,
        "without": f"{window.without:.2f}",
        "with_first": f"{window.with_first:.2f}",
        "all": f"{window.all:.2f}",
        "back": kit.whole_percent(
            (window.without - window.with_first) / (window.without - window.all)
        ),
    }


def even(found: First) -> float:
    """Return the first token's share if each token looked at all before it alike, its mean."""
    return float(np.mean([1 / n for n in range(2, len(found.tokens) + 1)]))


def question(found: First) -> kit.Question:
    """Ask how much of all attention goes to the first token."""
    reasons = [words.ask_right, words.ask_less, words.ask_more]
    slots = told(found)
    return kit.share_question(
        words.ask.format(**slots),
        found.mean,
        [reason.format(**slots) for reason in reasons],
        kit.whole_percent,
    )


def _grid(found: First, *, opened: bool) -> None:
    values = np.array(found.shares)
    notes = [[words.note.format(share=kit.percent(share)) for share in row] for row in found.shares]
    if not opened:
        values, notes = np.zeros_like(values), [[words.waits] * values.shape[1]] * len(values)
    cell_grid(
        values,
        key=f"{KEY}.grid",
        row_names=[words.layer.format(layer=n) for n in range(len(values))],
        column_names=[words.head.format(head=n) for n in range(values.shape[1])],
        notes=notes,
        limit=1.0,
        scale=words.scale,
        label=words.grid_label,
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
    kit.case_rows(rows, axis, key=f"{KEY}.window", words={}, form="figure")
