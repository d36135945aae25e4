"""Chapter "Heads": one matrix cut into heads, each with weights of its own, any switched off."""

from __future__ import annotations

import numpy as np
import streamlit as st
import torch

from llmviz.figures.attention import bars
from llmviz.nn.attention import attention, causal_mask, heads_off, merge_heads, split_heads
from llmviz.nn.attention import ladder as rungs
from llmviz.sampling.pipeline import top_ids
from llmviz.sampling.steps import softmax
from llmviz.ui import components as lv
from llmviz.ui import engine
from llmviz.ui.lesson import Question, predict, section, show_code
from llmviz.ui.lessons.attention import (
    build,
    examples,
    layouts,
    opening,
    params,
    picture,
    real,
    sources,
    words,
)
from llmviz.ui.lessons.attention.real import Read, stamp
from llmviz.ui.lessons.attention.sources import Inputs
from llmviz.ui.lessons.common import refuse, theme
from llmviz.ui.prose import prose, quote
from llmviz.ui.state import PageState
from llmviz.ui.text import escape_plotly

KEY = "attention.split"
BARS = 8  # tokens whose probabilities are drawn
ASKED = 4  # heads to choose from in the question


@st.fragment
def draw(state: PageState) -> None:
    """Show the chapter."""
    section(words.heads.TITLE, words.heads.TEXT)
    try:
        found = _inputs(state)
    except ValueError as error:
        refuse(error)
        found = None
    if found is not None:
        _split(state, *found)
    _off(state)


def _inputs(state: PageState) -> tuple[Inputs, int] | None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        examples.choose_source(state)
        if state["source"] == "journey":
            examples.words_box(state)
        if state["source"] != "model":
            inputs = sources.example(state)
            return inputs, examples.choose_heads(state, inputs.x.shape[1])
        name = real.choose_model(state)
        if name is None:
            return None
        bundled = engine.load(name)
        layer, _ = opening.choose_head(state, bundled, heads=False)
    said = real.read_text(state, bundled, params.DRAWN)
    if said is None:
        return None
    return real.model_head(bundled, said, layer, None), bundled.model.config.n_head


def _split(state: PageState, inputs: Inputs, n_head: int) -> None:
    """Draw the reshape, then what each head makes of its part."""
    q, k, v = inputs.qkv()
    t, c = q.shape
    d = c // n_head
    st.code(words.heads.SHAPES.format(b=1, t=t, c=c, h=n_head, d=d), language=None)
    made = q if inputs.plain is None else inputs.plain[0]  # a rotary model cuts first, then turns
    lv.matrix_view(build.reshape(made, inputs.tokens, n_head).matrices, key=KEY)
    section(words.heads.EACH_TITLE, words.heads.EACH.format(heads=n_head))
    parts = [split_heads(part, n_head) for part in (q, k, v)]
    mask = inputs.allowed if inputs.name else causal_mask(t)
    steps = attention(*parts, mask, inputs.scale and inputs.scale[0])
    names = [words.sources.HEAD.lower() + f" {h}" for h in range(n_head)]
    square = {"row_labels": inputs.tokens, "col_labels": inputs.tokens, "row_sums": True}
    axes = {"row_axis": words.WHO_ASKS, "col_axis": words.WHO_IS_ASKED}
    masked = [
        lv.Matrix(f"masked{h}", steps.masked[h].numpy(), f"masked, {names[h]}")
        for h in range(n_head)
    ]
    weights = [
        lv.Matrix(
            f"weights{h}",
            steps.weights[h].numpy(),
            names[h],
            role="weights",
            limit=1.0,
            op=lv.softmax_rows(f"masked{h}"),
            notes=picture.takes(inputs.tokens, steps.weights[h].numpy()),
            **square,
            **axes,
        )
        for h in range(n_head)
    ]
    lv.matrix_view(
        [*masked, *weights],
        layout=[[f"weights{h}" for h in range(n_head)]],
        key=f"{KEY}.weights",
    )
    _joined(inputs, steps.output, n_head)
    prose(words.heads.BROKEN.format(d=d, c=c))
    if inputs.name:
        return
    show_code(
        [split_heads, merge_heads, rungs.multi_head],
        "import torch\nfrom llmviz.nn.attention import split_heads\n\n"
        f"q = torch.tensor({[[round(x, 6) for x in row] for row in q.tolist()]})\n"
        f"heads = split_heads(q, {n_head})\nprint(tuple(q.shape), tuple(heads.shape))\n"
        'print([f"{x:.3f}" for x in heads[0, 0].tolist()])',
        f"{(t, c)} {(n_head, t, d)}\n{[f'{x:.3f}' for x in q[0, :d].tolist()]}",
    )


def _joined(inputs: Inputs, output: torch.Tensor, n_head: int) -> None:
    """Draw the heads' answers, side by side again, and projected."""
    concat = merge_heads(output)
    limit = float(concat.abs().max()) or 1.0
    made, parts = picture.Picture(), [f"context{h}" for h in range(n_head)]
    seen = ("", made.window("D", output.shape[-1]))
    for h, (name, part) in enumerate(zip(parts, output, strict=True)):
        more = {"row_labels": inputs.tokens, "role": "value", "limit": limit, "windows": seen}
        made.add(name, part, words.heads.CONTEXT.format(head=h), **more)
    last = build.joined(made, inputs, concat, lv.concat(*parts), limit=limit)
    rows = [parts[i : i + layouts.ACROSS] for i in range(0, n_head, layouts.ACROSS)]
    lv.matrix_view(
        made.matrices,
        layout=[*rows, last],
        key=f"{KEY}.joined",
        windows=made.windows,
    )


# ---- heads switched off


def read_heads(written: str, layers: int, heads: int) -> tuple[list[tuple[int, int]], list[str]]:
    """Return the heads that a link names ("0.2,1.3"), and those parts that name none.

    >>> read_heads("0.1,7.0", 2, 2)
    ([(0, 1)], ['7.0'])
    """
    good, bad = [], []
    for part in filter(None, written.split(",")):
        layer, dot, head = part.partition(".")
        fits = dot and layer.isdecimal() and head.isdecimal()
        if fits and int(layer) < layers and int(head) < heads:
            good.append((int(layer), int(head)))
        else:
            bad.append(part)
    return sorted(set(good)), bad


def _off(state: PageState) -> None:
    section(words.heads.OFF_TITLE, words.heads.OFF_TEXT)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = real.choose_model(state) if state["source"] != "model" else None
        name = name or real.model_name(state)
    if name is None:
        return
    try:
        bundled = engine.load(name)
    except ValueError as error:  # a run may be deleted in between
        refuse(error)
        return
    said = real.read_text(state, bundled)
    if said is None:
        return
    config = bundled.model.config
    off, bad = read_heads(state["off"], config.n_layer, config.n_head)
    if bad:
        st.warning(
            words.heads.OFF_BAD.format(heads=quote(", ".join(bad))), icon=":material/link_off:"
        )
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
    _ask(opening.worth_of_heads(bundled.name, mark, said.ids), told["best"])
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
