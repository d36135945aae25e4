"""Heads switched off: any of them, and what that does to the next token; in chapter "Heads"."""

from __future__ import annotations

import numpy as np
import streamlit as st

from llmviz.figures.attention import bars
from llmviz.nn.attention import heads_off
from llmviz.sampling.pipeline import top_ids
from llmviz.sampling.steps import softmax
from llmviz.textfile import whole_number
from llmviz.ui import engine
from llmviz.ui.lesson import Question, predict, section, show_code
from llmviz.ui.lessons.attention import opening, real, words
from llmviz.ui.lessons.attention.real import Read, stamp
from llmviz.ui.lessons.common import theme
from llmviz.ui.notices import warn
from llmviz.ui.prose import prose
from llmviz.ui.state import LINK_ICON, PageState
from llmviz.ui.text import escape_plotly

BARS = 8  # tokens whose probabilities are drawn
ASKED = 4  # heads to choose from in the question


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


def draw(state: PageState) -> None:
    """Show which heads are off, and what that does to the next token."""
    section(words.heads.OFF_TITLE, words.heads.OFF_TEXT)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = real.choose_model(state) if state["source"] != "model" else None
        name = name or real.model_name(state)
    found = real.load_and_read(state, name)
    if found is None:
        return
    bundled, said = found
    config = bundled.model.config
    off, bad = read_heads(state["off"], config.n_layer, config.n_head)
    if bad:
        warn(words.heads.OFF_BAD.format(heads=", ".join(bad)[:40]), LINK_ICON)
        state["off"] = _written(off)
    _choose_off(state, off, config.n_layer, config.n_head)
    _effect(bundled, said, tuple(off))


def _written(heads: list[tuple[int, int]]) -> str:
    return ",".join(f"{layer}.{head}" for layer, head in heads)


def _choose_off(state: PageState, off: list[tuple[int, int]], layers: int, heads: int) -> None:
    """Show a button for each head."""
    everything = [(layer, head) for layer in range(layers) for head in range(heads)]
    key = "_attention.off"
    st.session_state[key] = off

    def changed() -> None:
        state["off"] = _written(st.session_state[key])

    st.pills(
        words.heads.OFF_LABEL,
        everything,
        selection_mode="multi",
        format_func=lambda one: words.heads.OFF_NAME.format(layer=one[0], head=one[1]),
        key=key,
        on_change=changed,
    )
    with st.container(horizontal=True):
        for label, chosen in ((words.heads.OFF_ALL, everything), (words.heads.OFF_CLEAR, [])):
            st.button(label, on_click=_set_off, args=(state, chosen))


def _set_off(state: PageState, heads: list[tuple[int, int]]) -> None:
    state["off"] = _written(heads)


def _effect(bundled: engine.Bundled, said: Read, off: tuple[tuple[int, int], ...]) -> None:
    """Draw the next-token probabilities with and without the heads, and say what changed."""
    mark = stamp(bundled)
    full = softmax(opening.last_logits(bundled.name, mark, said.ids, ()).astype(np.float64))
    less = softmax(opening.last_logits(bundled.name, mark, said.ids, off).astype(np.float64))
    best = [int(i) for i in top_ids(np.maximum(full, less), BARS)]
    labels = [escape_plotly(token) for token in real.names_of(best, bundled.tokenizer)]
    mode = theme()
    figure = bars(
        labels,
        (full[best], less[best]) if off else (full[best],),
        (words.heads.OFF_ON_NAME, words.heads.OFF_OFF_NAME),
        words.heads.OFF_AXIS,
        title=words.heads.OFF_TITLE_FIGURE,
        mode=mode,
    )
    st.plotly_chart(figure, key="attention.off.bars", theme=None)
    top = int(full.argmax())
    told = {
        "last": real.spoken(said.tokens[-1], said.ids[-1], bundled.tokenizer),
        "best": real.spoken(real.names_of([top], bundled.tokenizer)[0], top, bundled.tokenizer),
    }
    if not off:
        prose(words.heads.OFF_NONE.format(share=f"{full[top]:.1%}", **told))
    else:
        moved = np.abs(full - less).sum() / 2
        change = {"before": f"{full[top]:.1%}", "after": f"{less[top]:.1%}"}
        prose(words.heads.OFF_READ.format(moved=f"{moved:.0%}", **change, **told))
    heads = bundled.model.config.n_layer * bundled.model.config.n_head
    if heads <= opening.MOST_HEADS:
        _ask(opening.worth_of_heads(bundled.name, mark, said.ids), told["best"])
    else:
        st.caption(words.heads.OFF_MANY.format(heads=heads))
    show_code(
        [heads_off],
        "import torch\nfrom llmviz.nn.attention import heads_off\n"
        "from llmviz.pretrained import load_bundled\n\n"
        f"model, tokenizer, card = load_bundled({bundled.name!r})\n"
        f"ids = torch.tensor([{list(said.ids)}])\n"
        f"with torch.inference_mode(), heads_off({set(off) or '()'}):\n"
        "    p = model(ids)[0][0, -1].softmax(-1)\n"
        f'print(f"{{p[{top}]:.2f}}")',
        f"{less[top]:.2f}",
    )


def _ask(worth: np.ndarray, best: str) -> None:
    """Ask which head matters most here; say it where there is not enough to choose from."""
    made = question(worth, best)
    if made is None or predict(made, "attention.off.ask"):
        layer, head = np.unravel_index(int(worth.argmax()), worth.shape)
        name = words.HEAD_NAME.format(layer=layer, head=head)
        prose(words.heads.OFF_WORTH.format(head=name, moved=f"{worth[layer, head]:.0%}"))


def question(worth: np.ndarray, best: str) -> Question | None:
    """Return the question which head moves most when it is off; None for too few.

    worth: (L, H). Asked for are the best one and three that are spread over the others.
    """
    order = np.argsort(-worth, axis=None, kind="stable")
    if len(order) < ASKED:
        return None
    places = np.unique(np.linspace(0, len(order) - 1, ASKED).round().astype(int))
    chosen = sorted(int(order[place]) for place in places)
    shares = [worth.flat[at] for at in chosen]
    lines = [
        words.heads.ASK_OFF_RIGHT if at == order[0] else words.heads.ASK_OFF_WRONG for at in chosen
    ]
    names = [divmod(at, worth.shape[1]) for at in chosen]
    return Question(
        words.heads.ASK_OFF.format(best=best),
        [words.HEAD_NAME.format(layer=layer, head=head) for layer, head in names],
        chosen.index(int(order[0])),
        [line.format(share=f"{share:.0%}") for line, share in zip(lines, shares, strict=True)],
    )
