"""Chapter "Fewer bits": what is left of an answer with 8, 6, 5, 4, 3 and 2 bits for each weight."""

from __future__ import annotations

from typing import Any

import streamlit as st

from llmviz.course.components.draw_on.view import draw_on
from llmviz.course.lessons.real import source
from llmviz.course.lessons.real.bits import words
from llmviz.course.lessons.real.bits.model import (
    BITS,
    GROUP,
    GROUPED,
    ROW,
    Kept,
    Losses,
    Rounded,
    measure,
    on_grid,
)
from llmviz.course.lessons.real.defaults import FRANCE
from llmviz.course.ui import kit

KEY = "real.bits"
Every = tuple[Kept, ...]


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show how likely the answer stays, the guess on it, and the loss on a story."""
    kit.prose(words.hook)
    first: Every = source.record("bits", FRANCE)
    found: Every
    fields = {"bitstext": words.own_label}
    stage, asked, looks, found, (text,) = source.measured_text(state, "bits", fields, stays=True)
    guess = kit.Guess(KEY, question(found))
    per = state["bitsper"] if guess.open else ROW
    shares = {way: [kept.share for kept in found if kept.per == way] for way in (ROW, GROUP)}
    places, marks = list(range(len(BITS))), [(n, str(bits)) for n, bits in enumerate(BITS)]
    with stage:
        guess.line(
            [kit.Drawn(words.ways[GROUP], places, shares[GROUP], "value")] if per == GROUP else [],
            kit.Drawn(words.ways[ROW], places, shares[ROW], "query"),
            kit.Scale(0, len(BITS) - 1, words.bits_axis, marks=marks),
            kit.Scale(0, 1, words.share_axis.format(answer=found[0].first.text.strip())),
            known=1,
            picture=f"{KEY}.line",
            form="percent",
        )
        if guess.open:
            with st.container(horizontal=True, vertical_alignment="bottom"):
                kit.choose(state, "bitsper", words.per_label, words.ways)
                kit.choose(state, "bitsleft", words.left_label, {str(n): str(n) for n in BITS})
            kit.prose(caption(found, per, int(state["bitsleft"])))
        else:
            kit.prose(words.waits, **summary(found))
    with asked:
        guess.ask()
    if guess.open:
        with looks:
            kit.looks(state, words.looks, f"{KEY}.looks")
    kit.section(words.groups, grouped=GROUPED)
    if guess.open:
        bits = int(state["bitsleft"])
        kit.prose(words.sum[per], **rounded_told(per, bits))
        width = GROUPED if per == GROUP else "layer.in_features"
        slots = {"text": text, "width": width, "steps": 2**bits - 1}
        prints = f"{kept_of(found, per, bits).share:.1%}"
        kit.show_code([measure, on_grid], source.snippet(words.snippet, **slots), prints)
    kit.section(words.honest, grouped=GROUPED)
    kit.section(words.story)
    if guess.open:
        _losses(source.record("bits_loss"))
        kit.prose(words.story_read)
    source.proved("efficiency", "quantization")
    if guess.open:
        kit.seen(words.end, **summary(first))


def kept_of(found: Every, per: str, bits: int) -> Kept:
    """Return what is left in a way with so many bits."""
    return next(kept for kept in found if (kept.per, kept.bits) == (per, bits))


def rounded_told(per: str, bits: int) -> dict[str, Any]:
    """Return how one number is put on a grid."""
    every: tuple[Rounded, ...] = source.record("bits_rounded")
    found = next(rounded for rounded in every if (rounded.per, rounded.bits) == (per, bits))
    width = (found.high - found.low) / (2**bits - 1)
    ends = {name: kit.signed(getattr(found, name), 4) for name in ("number", "low", "high")}
    return ends | {
        "bits": bits,
        "steps": 2**bits - 1,
        "step": found.step,
        "width": kit.local(f"{width:.4f}"),
        "put": kit.signed(found.low + found.step * width, 4),
    }


def facts() -> dict[str, Any]:
    """Return what other lessons say of this chapter's record."""
    return summary(source.record("bits", FRANCE))


def summary(found: Every) -> dict[str, str]:
    """Return what is said of a sentence: its answer, and what is left of it."""
    named = {
        f"{per}_{bits}": kit.percent(kept_of(found, per, bits).share)
        for per in (ROW, GROUP)
        for bits in BITS
    }
    return {
        "answer": source.word(found[0].first.text),
        "whole": kit.percent(found[0].share),
        **named,
    }


def caption(found: Every, per: str, bits: int) -> str:
    """Return what is first with so many bits, and what is left of the answer."""
    kept = kept_of(found, per, bits)
    same = kept.first.text == found[0].first.text
    return words.caption["same" if same else "other"].format(
        bits=bits,
        first=source.word(kept.first.text),
        first_share=kit.percent(kept.first.share),
        share=kit.percent(kept.share),
        **summary(found),
    )


def question(found: Every) -> kit.Question | None:
    """Ask for the rest of the line; None where fewer bits do no harm at all.

    The wrong lines: it fades evenly; it is gone as soon as anything is rounded; rounding does not
    matter.
    """
    right = tuple(kept_of(found, ROW, bits).share for bits in BITS[1:])
    start, count = kept_of(found, ROW, BITS[0]).share, len(right)
    wrong = {
        tuple(start * (count - n) / count for n in range(1, count + 1)): "even",
        (0.0,) * count: "gone",
        (start,) * count: "stays",
    }
    if min(right) > start / 2:
        return None
    names = {right: words.measured, **{line: words.lines[name] for line, name in wrong.items()}}
    reasons = {
        right: words.ask_right,
        **{line: words.reasons[name] for line, name in wrong.items()},
    }
    return kit.Question.among(
        words.ask, reasons, right, names.__getitem__, scale=True, **summary(found)
    )


def _losses(found: Losses) -> None:
    """Draw the loss on the story over the bits, in both ways."""
    places, marks = list(range(len(BITS))), [(n, str(bits)) for n, bits in enumerate(BITS)]
    draw_on(
        [
            kit.Drawn(words.ways[ROW], places, found.row, "query"),
            kit.Drawn(words.ways[GROUP], places, found.group, "value"),
        ],
        kit.Scale(0, len(BITS) - 1, words.bits_axis, marks=marks),
        kit.Scale(0, 1.05 * max(*found.row, *found.group), words.loss_axis),
        key=f"{KEY}.losses",
        words={"picture": words.loss_axis},
        levels=[(found.whole, words.whole_level)],
    )
