"""A small app that shows one component at a time, or some; the browser tests drive it by its
address.

The data are made here by rules simple enough to check by hand: words, characters and bytes as
tokenizers, REFERENCE-like matrices, and merges of single letters.
"""

import contextlib
import itertools
import re
import time

import numpy as np
import streamlit as st

from llmviz.course import components as lv
from llmviz.course.components.cell_grid.view import cell_grid
from llmviz.tokenizers import Token
from tests.browser.apps import remembering


def tokens_from_cuts(text, cuts):
    """Return tokens between byte offsets ``cuts``."""
    raw = text.encode()
    starts = np.cumsum([0] + [len(character.encode()) for character in text])
    made = []
    for begin, end in itertools.pairwise(cuts):
        first = int(np.searchsorted(starts, begin, side="right")) - 1
        last = int(np.searchsorted(starts, end, side="left"))
        number = sum(raw[begin:end]) * 7 % 50257
        made.append(Token(number, raw[begin:end], begin, end, first, last))
    return made


def by_words(text):
    spans = [m.span() for m in re.finditer(r" ?\w+|\s|[^\w\s]+", text)]
    cuts = sorted({0, len(text.encode()), *(len(text[:a].encode()) for a, _ in spans)})
    return tokens_from_cuts(text, cuts)


def by_characters(text):
    cuts = [len(text[:i].encode()) for i in range(len(text) + 1)]
    return tokens_from_cuts(text, cuts)


def by_three_bytes(text):
    size = len(text.encode())
    return tokens_from_cuts(text, [*range(0, size, 3), size])


TEXT = "The cat sat on the mat. 🙂 한국어 cafe\u0301\n<b>tokenization</b> isn't magic!"


def strip(mode):
    text = st.query_params.get("text", TEXT)
    kinds = {"words": by_words, "characters": by_characters, "three bytes": by_three_bytes}
    rows = []
    for name, cut in kinds.items():
        tokens = cut(text)
        rows.append(lv.TokenRow(name, tokens, note=f"{len(tokens)} tokens"))
    picked = lv.token_strip(rows, key="strip", text=text, mode=mode)
    st.text(f"selected: {picked}")


def values():
    tokens = by_words(TEXT)
    shares = [(i * 37 % 100) / 100 for i in range(len(tokens))]
    row = lv.TokenRow("words", tokens, values=shares, details=[{"rank": "1"}] * len(tokens))
    lv.token_strip([row], key="strip", value_label="probability", show_ids=False)


def cat_sat():
    """Return one head on three tokens, every matrix with its operation."""
    x = np.array([[0.1, 0.4, 0.5, 0.7], [0.2, 0.4, 0.5, 0.6], [0.15, 0.25, 0.5, 0.2]])
    wq = np.array([[0.5, 0.1, 0, 0.3], [0.4, 0.2, 0.1, 0], [0.3] * 4, [0.2, 0.1, 0.5, 0.4]])
    wk = np.array([[0.1, 0.4, 0, 0], [0, 0.5, 0.2, 0.1], [0.3, 0, 0.3, 0.3], [0.2, 0.2, 0.1, 0]])
    wv = np.array([[0.2, 0.1, 0, 0], [0, 0.3, 0.5, 0], [0.1, 0.1, 0.1, 0.4], [0, 0.2, 0.1, 0.1]])
    q, k, v = x @ wq, x @ wk, x @ wv
    scores = q @ k.T
    scaled = scores / 2
    masked = np.where(np.tri(3, dtype=bool), scaled, -np.inf)
    raised = np.exp(masked)
    weights = raised / raised.sum(1, keepdims=True)
    words = ("The", "cat", "sat")
    rows = {"row_labels": words}
    ask = {"row_axis": "who asks", "col_axis": "who is asked"}
    square = {"row_labels": words, "col_labels": words, **ask}
    m = lv.Matrix
    notes = [
        f"{w} takes {p.max():.0%} from {words[p.argmax()]}"
        for w, p in zip(words, weights, strict=True)
    ]
    return [
        m("X", x, "X", "token + position", role="residual", **rows),
        m("W_Q", wq, "W_Q", role="query"),
        m("W_K", wk, "W_K", role="key"),
        m("W_V", wv, "W_V", role="value"),
        m("Q", q, "Q", "X · W_Q", role="query", op=lv.matmul("X", "W_Q"), **rows),
        m("K", k, "K", "X · W_K", role="key", op=lv.matmul("X", "W_K"), **rows),
        m("V", v, "V", "X · W_V", role="value", op=lv.matmul("X", "W_V"), **rows),
        m("scores", scores, "scores", "Q · Kᵀ", op=lv.matmul("Q", "K", transpose_b=True), **square),
        m("scaled", scaled, "scaled", "scores ÷ √4", op=lv.scaled("scores", 0.5, "÷ √4"), **square),
        m("masked", masked, "masked", op=lv.masked("scaled", "a later token"), **square),
        m(
            "weights", weights, "weights", "softmax of each row", role="weights", row_sums=True,
            op=lv.softmax_rows("masked"), notes=notes, limit=1.0, **square,
        ),
        m(
            "context", weights @ v, "context", "weights · V", role="value",
            op=lv.matmul("weights", "V"), **rows,
        ),
    ]  # fmt: skip


LADDER = [
    ["X", "×", "W_Q", "=", "Q"],
    ["X", "×", "W_K", "=", "K"],
]


def matrices():
    made = cat_sat()
    layout = [
        ["X", "W_Q", "Q", "scores", "scaled"],
        [None, "W_K", "K", "masked", "weights"],
        [None, "W_V", "V", None, "context"],
    ]
    steps = [
        (["X"], "Each token is a row of four numbers."),
        (["W_Q", "Q"], "Every row times W_Q: what the token asks for."),
        (["W_K", "K"], "Every row times W_K: what it can be asked."),
        (["W_V", "V"], "Every row times W_V: what it would tell."),
        (["scores"], "Each query with each key: one number per pair."),
        (["scaled"], "Divided by the root of the head size."),
        (["masked"], "A token may not look at later ones."),
        (["weights"], "Each row becomes shares that sum to 1."),
        (["context"], "Each token gathers the values by these shares."),
    ]
    state = lv.matrix_view(made, key="view", layout=layout, steps=steps)
    st.text(f"state: {state}")


def hidden():
    made = [m for m in cat_sat() if m.name in ("masked", "weights")]
    made[0] = lv.Matrix("masked", made[0].values)
    made[1] = lv.Matrix(
        "weights", made[1].values, role="weights", op=lv.softmax_rows("masked"), hidden=[(1, 0)]
    )
    st.text(f"state: {lv.matrix_view(made, key='view')}")


def embedding():
    table = np.sin(np.arange(64)[:, None] * np.linspace(0.01, 1, 48)[None])
    m = lv.Matrix(
        "E", table, "embedding", row_labels=[f"token{i}" for i in range(64)], role="residual"
    )
    st.text(f"state: {lv.matrix_view([m], key='view')}")


def cells():
    """A grid with a cell of each sign, and markup where words stand."""
    values = np.array([[0.0, 1.0, -1.0], [0.5, -0.5, 0.25], [0.1, 0.2, 0.3]])
    texts = [["<b>zero</b>", "one", "minus"], ["half", "less", "quarter"], ["x", "y", "z"]]
    chosen = cell_grid(
        values,
        key="cells",
        row_names=["first", "second", "third"],
        column_names=["<i>a</i>", "b", "c"],
        texts=[] if "narrow" in st.query_params else texts,
        notes=[[f"it is {value:.2f}" for value in row] for row in values],
        strong=values == 1,
        starts=[1],
        scale=("down", "up"),
        label="a grid",
        chosen=(0, 1),
    )
    st.text(f"chosen: {chosen}")


def heads():
    t = np.arange(64)
    grid = []
    for layer in range(12):
        for head in range(12):
            raw = np.exp(-np.abs(t[:, None] - t[None] - head) / (1 + layer)) * np.tri(64)
            raw += np.tri(64) * 1e-9
            grid.append(raw / raw.sum(1, keepdims=True))
    weights = np.array(grid, dtype=np.float32).reshape(12, 12, 64, 64)
    notes = [[f"looks {h} back" for h in range(12)] for _ in range(12)]
    words = [f"token{i}" for i in range(64)]
    chosen = lv.heads_grid(weights, key="heads", notes=notes, tokens=words)
    st.text(f"chosen: {chosen}")


def letter_merges(text, merges):
    """Merge letters greedily, the most frequent pair first; return film steps and nodes."""
    raw = text.encode()
    pieces = [(i, i + 1, 0) for i in range(len(raw))]
    nodes, steps, length = {}, [], 40 * len(raw)
    for piece in pieces:
        nodes[piece] = None
    for k in range(1, merges + 1):
        counts = {}
        for a, b in itertools.pairwise(pieces):
            pair = (raw[a[0] : a[1]], raw[b[0] : b[1]])
            counts[pair] = counts.get(pair, 0) + 1
        ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        if not ranked or ranked[0][1] < 2:
            break
        pair, count = ranked[0]
        fresh, i = [], 0
        while i < len(pieces):
            a = pieces[i]
            b = pieces[i + 1] if i + 1 < len(pieces) else None
            if b and (raw[a[0] : a[1]], raw[b[0] : b[1]]) == pair:
                nodes[a] = nodes[b] = k
                made = (a[0], b[1], k)
                nodes[made] = None
                fresh.append(made)
                i += 2
            else:
                fresh.append(a)
                i += 1
        pieces = fresh
        length -= count * 40
        ties = sum(1 for _, c in ranked if c == count)
        top = [(a, b, c * 40) for (a, b), c in ranked[:10]]
        steps.append(lv.FilmStep(pair, pair[0] + pair[1], count * 40, ties, top, length))
    return steps, [
        lv.FilmNode(a, b, born, died, -1 if born == 0 else 255 + born)
        for (a, b, born), died in nodes.items()
    ]


FILM = (
    "the cat sat on the mat and the kitten sat on the other mat. that cat and this kitten "
    "chase the thing that the other cat had on the mat; a 🙂 cat, a 🙂 kitten, "
    "the end of the thing."
)


def film():
    text = FILM if "long" not in st.query_params else FILM * 3
    steps, nodes = letter_merges(text, int(st.query_params.get("merges", 60)))
    at = lv.bpe_film(
        steps, nodes, sample=text, key="film", corpus_length=40 * len(text.encode()),
        tie_rule="the pair whose bytes come first",
    )  # fmt: skip
    st.text(f"step: {at} of {len(steps)}")


def echo():
    """A page that keeps the step itself and hands it back, as one with links does."""
    steps, nodes = letter_merges(FILM, 30)
    if st.button("to 20"):
        st.session_state["kept"] = 20
    kept = st.session_state.get("kept", 3)
    st.session_state["kept"] = lv.bpe_film(
        steps, nodes, sample=FILM, key="film", corpus_length=1, step=kept
    )
    time.sleep(0.3)
    st.text(f"step: {st.session_state['kept']} of {len(steps)}")


def tree():
    word = b" kitten"
    merges = [
        lv.TreeMerge(1, 2, 3),
        lv.TreeMerge(4, 5, 9),
        lv.TreeMerge(0, 7, 40),
        lv.TreeMerge(8, 6, 55),
        lv.TreeMerge(9, 3, 80),
    ]
    candidates = [
        [(0, 120), (1, 3), (2, 14), (3, None), (4, 9), (5, 21)],
        [(0, 40), (7, 60), (3, None), (4, 9), (5, 21)],
        [(0, 40), (7, 60), (3, None), (8, 55)],
        [(9, 80), (3, None), (8, 55)],
        [(9, 80), (3, None)],
    ]
    at = lv.merge_tree(
        [word[i : i + 1] for i in range(len(word))], merges, key="tree", candidates=candidates,
        token_ids=[32, 107, 105, 116, 116, 101, 110, 259, 265, 296, 311, 336],
        greedy=[b" kit", b"te", b"n"],
        greedy_note="the longest known piece from the left",
    )  # fmt: skip
    st.text(f"step: {at}")


def windows():
    tokens = by_words(
        "The cat sat on the mat. The kitten slept near the old dog. Then the cat woke up and ran."
    )
    stride = int(st.query_params.get("stride", 3))
    starts = list(range(0, len(tokens) - 4, stride))
    at = lv.windows_view(tokens, starts, context_length=4, batch_size=2, key="windows")
    st.text(f"selected: {at}")


def wide():
    """Matrices as wide as GPT-2's, seen through windows."""
    c = lv.Window(768, 4)
    many = np.random.default_rng(0).normal(size=(768, 768))
    x = lv.Matrix("X", many[:3], windows=("", "C"))
    weights = [lv.Matrix(f"W_{name}", many[:, :64], windows=("C", "N")) for name in "QKV"]
    windows = {"C": c, "N": lv.Window(64, 4)}
    names = ["X", *(one.name for one in weights)]
    lv.matrix_view([x, *weights], key="m", layout=[names], windows=windows, narrow=12)


SHOW = {
    "cells": cells,
    "chips": lambda: strip("chips"),
    "aligned": lambda: strip("aligned"),
    "values": values,
    "matrices": matrices,
    "wide": wide,
    "hidden": hidden,
    "embedding": embedding,
    "heads": heads,
    "film": film,
    "echo": echo,
    "tree": tree,
    "windows": windows,
    **remembering.SHOW,
}

st.set_page_config(layout="wide")
again = st.button("again")
moved = "move" in st.query_params and st.checkbox("in a box")
with st.container() if moved else contextlib.nullcontext():
    for shown in st.query_params.get("show", "chips").split(","):
        SHOW[shown]()
if again:
    st.text("again")
