"""The attention of both models: all to all, against the triangle."""

import numpy as np
import streamlit as st

from llmviz.course.components.heads_grid.view import heads_grid
from llmviz.course.lessons.transformer.masked import words
from llmviz.course.lessons.transformer.masked.model import all_weights, hidden_at
from llmviz.course.ui import engine, kit
from llmviz.textfile import whole_number

KEY = "transformer.masked.heads"


weights_of = kit.kept(64)(kit.on_model(all_weights))


def chosen_head(written: str, layers: int, heads: int) -> tuple[int, int]:
    """Return the head that a link names ("1.3"); the last layer's first where there is none such.

    >>> chosen_head("1.3", 3, 4), chosen_head("x", 3, 4), chosen_head("9.0", 3, 4)
    ((1, 3), (2, 0), (2, 0))
    """
    place = [whole_number(part) for part in written.split(".")]
    if len(place) == 2 and None not in place and place[0] < layers and place[1] < heads:
        return place[0], place[1]
    return layers - 1, 0


def above(weights: np.ndarray) -> float:
    """Return the share of all weight that lies above the diagonal, on tokens to the right."""
    return float(np.triu(weights, 1).sum() / weights.sum())


def draw(
    state: kit.PageState,
    both: engine.Bundled,
    left: engine.Bundled,
    read: kit.Read,
    word: int,
    name: str,
) -> None:
    """Show the heads of both on the text; name: the hidden word, as it is written in prose."""
    kit.section(words.attention)
    hidden = tuple(hidden_at(both.model, read.ids, word))
    hidden_tokens = list(read.tokens)
    hidden_tokens[word + 1] = words.mask
    pictures = (
        ("bothhead", words.both_heads, both, hidden, hidden_tokens),
        ("lefthead", words.left_heads, left, read.ids, list(read.tokens)),
    )
    shares = []
    for place, (control, line, bundled, ids, tokens) in zip(
        st.columns(2, gap="large"), pictures, strict=True
    ):
        weights = weights_of(bundled, ids)
        shares.append(above(weights))
        layers, heads = weights.shape[:2]
        with place:
            sizes = {"layers": kit.count(layers, "layer"), "heads": kit.count(heads, "head")}
            kit.prose(kit.bold(line.format(word=name, **sizes)))
            _grid(state, control, weights, tokens)
    kit.prose(words.above, both=kit.percent(shares[0]), left=kit.percent(shares[1]))


def _grid(state: kit.PageState, control: str, weights: np.ndarray, tokens: list[str]) -> None:
    key = f"{KEY}.{control}"
    heads_grid(
        np.minimum(weights, 1.0),
        key=key,
        tokens=tokens,
        chosen=chosen_head(state[control], *weights.shape[:2]),
        lines=True,
        on_change=kit.bound(state, key, chosen=(control, kit.link_of)),
    )
