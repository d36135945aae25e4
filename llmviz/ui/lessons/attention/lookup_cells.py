"""A head's two looks at a story: its weights on the tokens, and one of them number by number."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import streamlit as st

from llmviz.tokenizers import ENDOFTEXT, Token, Tokenizer
from llmviz.ui import components as lv
from llmviz.ui import engine
from llmviz.ui.components import TokenRow, TokenSelection, token_strip
from llmviz.ui.lessons.attention import linked, words
from llmviz.ui.lessons.attention.looking import Head, Pair
from llmviz.ui.lessons.attention.picture import Picture
from llmviz.ui.lessons.common import percent
from llmviz.ui.prose import prose, quote
from llmviz.ui.state import PageState

KEY = "attention.lookup"


def draw(state: PageState, bundled: engine.Bundled, found: Pair, head: Head) -> None:
    """Show the weights of a head on the story, asked both ways, and how one of them came about."""
    prompts = found.story.prompts
    tokens = [tokens_of(prompt, bundled.tokenizer) for prompt in prompts]
    row, place = chosen(state["looked"], found, head)

    def take() -> None:
        clicked = st.session_state[f"{KEY}.strip"].get("selected")
        state["looked"], state["cell"] = ".".join(map(str, clicked)) if clicked else "", ""

    token_strip(
        [
            TokenRow(
                words.lookup.MOST.format(thing=thing),
                part,
                values=look.weights[head].tolist(),
                details=[
                    {words.lookup.WEIGHT: percent(float(weight))} for weight in look.weights[head]
                ],
            )
            for thing, part, look in zip(found.story.things, tokens, found.looks, strict=True)
        ],
        key=f"{KEY}.strip",
        show_ids=False,
        value_label=words.lookup.WEIGHT,
        value_range=(0.0, 1.0),
        selected=TokenSelection(row, place, tokens[row][place].id),
        on_change=take,
    )
    said = quote(tokens[row][place].data.decode("utf-8", "replace").replace(" ", "·"))
    both = place < found.shared
    line = words.lookup.SAME_KEY if both else words.lookup.OWN_KEY
    prose(line.format(token=said, thing=found.story.things[row]))
    plain = bundled.model.config.softmax_before_mask is None
    linked.show(state, product(found, head, row, place, plain), f"{KEY}.product", stacked=True)


def tokens_of(prompt: str, tokenizer: Tokenizer) -> list[Token]:
    """Return the tokens of a prompt as the model reads it, the first one by what it is for."""
    start, *rest = tokenizer.tokens(ENDOFTEXT + prompt, "all")
    return [replace(start, data=words.sources.START.encode()), *rest]


def chosen(written: str, found: Pair, head: Head) -> tuple[int, int]:
    """Return the question and the place of the token that a link names ("1.87").

    Without one, or where there is none, the token that the head looks at most for the first.
    """
    row, _, place = written.partition(".")
    if row in ("0", "1") and place.isdecimal():
        look = found.looks[int(row)]
        if int(place) < len(look.ids):
            return int(row), int(place)
    return 0, int(found.looks[0].weights[head].argmax())


def product(found: Pair, head: Head, row: int, place: int, plain: bool) -> Picture:
    """Return how the weight on one token came about, for both questions where both have it.

    plain: the weights are the softmax of the scores, as they should be.
    """
    asked = (0, 1) if place < found.shared else (row,)
    looks, things = [found.looks[i] for i in asked], [found.story.things[i] for i in asked]
    rows = {"row_labels": [words.lookup.MOST.format(thing=thing) for thing in things]}
    query = np.stack([look.queries[head] for look in looks])  # (1 or 2, D)
    key = looks[0].keys[head][place][None]  # (1, D)
    scores = query @ key.T
    powers = np.zeros((len(looks), max(len(look.ids) for look in looks)))  # of all tokens
    for line, look in zip(powers, looks, strict=True):
        line[: len(look.ids)] = np.exp(look.keys[head] @ look.queries[head])
    weights = np.array([[look.weights[head][place]] for look in looks])
    label = words.lookup
    made = [
        lv.Matrix("q", query, label.QUERY, role="query", **rows),
        lv.Matrix("k", key, label.KEY, role="key"),
        lv.Matrix("terms", query * key, label.TERMS, op=lv.multiply("q", "k"), **rows),
    ]
    ends = [
        lv.Matrix("score", scores, label.SCORE, op=lv.matmul("q", "k", transpose_b=True), **rows)
    ]
    weight = lv.Matrix("weight", weights, label.WEIGHT, role="weights", limit=1.0, **rows)
    if plain:
        weight = replace(weight, op=lv.divided("power", "total"))
        ends += [
            lv.Matrix("power", np.exp(scores), label.POWER, op=lv.function("score", "exp"), **rows),
            lv.Matrix(
                "total",
                powers.sum(axis=1, keepdims=True),
                label.TOTAL,
                op=lv.row_summed("powers"),
                **rows,
            ),
        ]
    ends.append(weight)
    names = [matrix.name for matrix in ends]
    pairs = [names[i : i + 2] for i in range(0, len(names), 2)]  # both find room on a phone
    hidden = lv.Matrix("powers", powers, label.POWER, **rows)
    return Picture([*made, *ends, hidden], [*([matrix.name] * 2 for matrix in made), *pairs])
