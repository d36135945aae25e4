"""Chapter "Copying nonsense": tokens drawn by chance, twice, and the heads that copy them."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from llmviz.course.lessons.real import source
from llmviz.course.lessons.real.copies import words
from llmviz.course.lessons.real.copies.model import Copies, Off, strongest, twice
from llmviz.course.lessons.real.reader import token_losses, unpacked
from llmviz.course.ui import kit

KEY = "real.copies"
SHOWN = 6  # tokens of the nonsense that are quoted
EDGE = 1.1  # of the largest loss: how high the picture is


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the loss of each token of both times, the guess on it, and the heads that copy."""
    kit.prose(words.hook)
    found: Copies
    fields = {"copytext": words.own_label}
    stage, asked, looks, found, _ = source.measured_text(
        state, "copies", fields, width=560, stays=True
    )
    guess = kit.Guess(KEY, question(found))
    with stage:
        places = list(range(2, 2 * found.length + 1))
        marks = [(1, words.once), (found.length + 1, words.again)]
        guess.line(
            [],
            kit.Drawn(words.line, places, found.losses, "loss"),
            kit.Scale(1, 2 * found.length, words.x_axis, marks=marks),
            kit.Scale(0, EDGE * max(found.losses), words.y_axis),
            known=found.length - 1,
            picture=f"{KEY}.line",
        )
        kit.prose(words.caption["told" if guess.open else "waits"], **summary(found))
    with asked:
        guess.ask()
    drawn: Copies = source.record("copies", "")
    off: Off = source.record("copies_off")
    if guess.open:
        with looks:
            kit.looks(state, words.looks, f"{KEY}.looks")
    kit.section(words.who)
    if guess.open:
        _heads(state, found)
        kit.prose(words.who_read, **heads_told(found))
        prints = f"{found.mean(second=False):.1f} {found.mean(second=True):.1f}"
        text = "".join(found.tokens)
        kit.show_code([twice, token_losses], source.snippet(words.snippet, text=text), prints)
    kit.section(words.needed)
    if guess.open:
        _off(off)
        kit.prose(words.needed_read, **off_told(off))
    source.proved("discoveries", "induction")
    if guess.open:
        kit.seen(words.end, **summary(drawn), **heads_told(drawn))


def facts() -> dict[str, Any]:
    """Return what other lessons say of this chapter's record."""
    drawn: Copies = source.record("copies", "")
    return {**summary(drawn), **heads_told(drawn)}


def summary(found: Copies) -> dict[str, Any]:
    """Return what is said of the nonsense and its losses."""
    shown = "".join(found.tokens[:SHOWN]).strip()
    return {
        "begin": kit.quote(shown, 100),
        "count": found.length,
        "once_loss": kit.local(f"{found.mean(second=False):.1f}"),
        "again_loss": kit.local(f"{found.mean(second=True):.1f}"),
    }


def heads_told(found: Copies) -> dict[str, str]:
    """Return what is said of the heads: who looks behind the former place, who at the last."""
    back, before = found.back, np.array(found.before)
    first, *rest = found.loudest()
    feeds = strongest(before, 2)
    name = "{0[0]}.{0[1]}".format
    return {
        "head": name(first),
        "share": kit.whole_percent(float(back[first])),
        "others": kit.listed([name(head) for head in rest]),
        "feeds": kit.listed([name(head) for head in feeds]),
        "feeds_share": kit.whole_percent(float(before[feeds[0]])),
    }


def off_told(off: Off) -> dict[str, Any]:
    """Return what is said of the heads that are off: means, and the ends of the three seeds."""

    def ranged(values: tuple[float, ...]) -> str:
        low, high = min(values), max(values)
        return words.ranged.format(
            mean=kit.local(f"{np.mean(values):.1f}"),
            low=kit.local(f"{low:.1f}"),
            high=kit.local(f"{high:.1f}"),
        )

    return {
        "heads": kit.listed([f"{layer}.{head}" for layer, head in off.heads]),
        "count": len(off.on),
        "on": ranged(off.on),
        "off": ranged(off.off),
        "others": ranged(off.others),
    }


def question(found: Copies) -> kit.Question | None:
    """Ask for the line of the second time; None where copying does not help.

    The wrong lines: nonsense stays nonsense; it learns slowly; it knows at once and perfectly.
    """
    count, cut = found.length, found.length - 1
    right = tuple(found.losses[cut:])
    once = found.mean(second=False)
    if found.mean(second=True) > once / 2:
        return None
    slow = tuple(once * (1 - n / (2 * count)) for n in range(count))
    wrong = {
        (once,) * count: (words.same, words.ask_same),
        slow: (words.slow, words.ask_slow),
        (0.0,) * count: (words.perfect, words.ask_perfect),
    }
    names = {right: words.measured, **{line: name for line, (name, _) in wrong.items()}}
    reasons = {right: words.ask_right, **{line: reason for line, (_, reason) in wrong.items()}}
    return kit.Question.among(
        words.ask, reasons, right, names.__getitem__, scale=True, **summary(found)
    )


def _heads(state: kit.PageState, found: Copies) -> None:
    """Draw all heads, and beside them what the chosen one's share is the mean of."""
    shares = found.back
    notes = [
        [
            words.note.format(back=kit.percent(a), before=kit.percent(b))
            for a, b in zip(*row, strict=True)
        ]
        for row in zip(shares, found.before, strict=True)
    ]
    left, right = source.beside()
    with left:
        look = {"scale": words.scale, "label": words.grid_label}
        source.grid(state, "copyhead", shares, notes, **look)
    layer, head = source.cell_of(state["copyhead"], *shares.shape) or found.loudest(1)[0]
    each = unpacked(found.each[layer][head])
    with right:
        source.mean_of(f"{KEY}.each", words.each_label, found.tokens[:-1], each)
        kit.prose(
            words.sum,
            head=f"{layer}.{head}",
            total=kit.local(f"{each.sum():.2f}"),
            count=len(each),
            share=kit.percent(float(each.mean())),
        )


def _off(off: Off) -> None:
    rows = [
        kit.Case(words.off_rows[name], float(np.mean(values)), (min(values), max(values)), values)
        for name, values in zip(("on", "off", "others"), (off.on, off.off, off.others), strict=True)
    ]
    top = EDGE * max(*off.on, *off.off, *off.others)
    kit.case_rows(rows, kit.Axis(0, top, words.y_axis), key=f"{KEY}.off", form="figure")
