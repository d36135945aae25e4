"""Heads switched off: any of them, and what that does to the next token; in chapter "Heads"."""

import numpy as np
import streamlit as st

from llmviz.course.figures.attention import Axes, bars
from llmviz.course.lessons.attention import words as lesson_words
from llmviz.course.lessons.attention.heads import words
from llmviz.course.lessons.attention.inputs import model_on_text as real
from llmviz.course.lessons.attention.inputs import opening
from llmviz.course.ui import engine, kit, model_on_text
from llmviz.files.text import whole_number
from llmviz.nn.attention import heads_off
from llmviz.sampling.pipeline import top_ids
from llmviz.sampling.steps import softmax

BARS = 8  # tokens whose probabilities are drawn


def read_heads(written: str, layers: int, heads: int) -> tuple[list[tuple[int, int]], list[str]]:
    """Return the heads that a link names ("0.2,1.3"), and those parts that name none.

    >>> read_heads("0.1,7.0", 2, 2)
    ([(0, 1)], ['7.0'])
    """
    good, bad = [], []
    for part in filter(None, written.split(",")):
        layer, _, head = map(whole_number, part.partition("."))
        if layer is not None and layer < layers and head is not None and head < heads:
            good.append((layer, head))
        else:
            bad.append(part)
    return sorted(set(good)), bad


def draw(state: kit.PageState) -> None:
    """Show which heads are off, and what that does to the next token."""
    kit.section(words.off)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = real.PICKER.choose(state) if state["source"] != "model" else None
        name = name or real.PICKER.name(state)
    loaded = model_on_text.load_and_read(state, name, tell=state["source"] != "model")
    if loaded is None:
        return
    bundled, reading = loaded
    config = bundled.model.config
    off, bad = read_heads(state["off"], config.n_layer, config.n_head)
    if bad:
        kit.warn(words.off_bad.format(heads=", ".join(bad)[:40]), kit.LINK_ICON)
        state["off"] = _written(off)
    _choose_off(state, off, config.n_layer, config.n_head)
    moved = _effect(bundled, reading, tuple(off))
    heads, width = config.n_head, config.n_embd
    kit.seen(words.end, d=width // heads, c=width, moved=moved)


def _written(heads: list[tuple[int, int]]) -> str:
    return ",".join(f"{layer}.{head}" for layer, head in heads)


def _choose_off(state: kit.PageState, off: list[tuple[int, int]], layers: int, heads: int) -> None:
    everything = [(layer, head) for layer in range(layers) for head in range(heads)]
    st.pills(
        words.off_label,
        everything,
        selection_mode="multi",
        format_func=lambda place: words.off_name.format(layer=place[0], head=place[1]),
        **kit.tied("_attention.off", off, lambda heads: state.setter(off=_written(heads))()),
    )
    with st.container(horizontal=True):
        for title, chosen in ((words.off_all, everything), (words.off_clear, [])):
            st.button(title, on_click=state.setter(off=_written(chosen)))


def _effect(bundled: engine.Bundled, reading: kit.Read, off: tuple[tuple[int, int], ...]) -> str:
    """Draw the next-token probabilities with and without the heads, and say what changed.

    Returns what the end says of the heads that matter most.
    """
    full, less = (chances(bundled, reading.ids, heads) for heads in ((), off))
    kit.chart(chance_bars(bundled, reading.ids, off, kit.theme()), "attention.off.bars")
    top = int(full.argmax())
    slots = {
        "last": model_on_text.spoken(reading.ids[-1], bundled.tokenizer),
        "best": model_on_text.spoken(top, bundled.tokenizer),
    }
    if not off:
        kit.prose(words.off_none, share=f"{full[top]:.1%}", **slots)
    else:
        moved = np.abs(full - less).sum() / 2
        change = {"before": f"{full[top]:.1%}", "after": f"{less[top]:.1%}"}
        kit.prose(words.off_read, moved=f"{moved:.0%}", **change, **slots)
    heads = bundled.model.config.n_layer * bundled.model.config.n_head
    if heads <= opening.MOST_HEADS:
        worth = opening.worth_of_heads(bundled, reading.ids)
        kit.prose(strongest(worth))
        moved_most = words.end_moved.format(moved=f"{worth.max():.0%}")
    else:
        moved_most = ""
        st.caption(words.off_many.format(heads=heads))
    kit.show_code(
        [heads_off],
        words.snippet_switching.format(
            name=bundled.name, ids=list(reading.ids), given=set(off) or "()", top=top
        ),
        f"{less[top]:.2f}",
    )
    return moved_most


def chances(
    bundled: engine.Bundled, ids: tuple[int, ...], off: tuple[tuple[int, int], ...]
) -> np.ndarray:
    """Return the probabilities (V,) of the next token without the heads `off`."""
    return softmax(opening.last_logits(bundled, ids, off).astype(np.float64))


@kit.cached(64)
def chance_bars(
    bundled: engine.Bundled, ids: tuple[int, ...], off: tuple[tuple[int, int], ...], mode: kit.Mode
) -> kit.Figure:
    """Return the likeliest next tokens as bars, with all heads and without those that are off."""
    full, less = (chances(bundled, ids, heads) for heads in ((), off))
    best = [int(i) for i in top_ids(np.maximum(full, less), BARS)]
    names = model_on_text.names_of(best, bundled.tokenizer)
    return bars(
        [kit.escape_plotly(token) for token in names],
        {words.off_on_name: full[best]} | ({words.off_off_name: less[best]} if off else {}),
        Axes("", words.off_axis),
        title=words.off_title_figure,
        mode=mode,
    )


def strongest(worth: np.ndarray) -> str:
    """Return a sentence on the head that moves most when it is off; worth: (L, H)."""
    moved = f"{worth.max():.0%}"
    if moved == "0%":
        return words.off_worth_none
    heads = [
        lesson_words.head_name.format(layer=layer, head=head)
        for layer, head in np.argwhere(worth == worth.max())
    ]
    if len(heads) > 1:
        return words.off_worth_tie.format(heads=" · ".join(heads), moved=moved)
    return words.off_worth.format(head=heads[0], moved=moved)
