"""A head's two looks at a story: its weights on the tokens, and one of them number by number."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import streamlit as st

from llmviz.course import components as lv
from llmviz.course.components import TokenRow, TokenSelection, token_strip
from llmviz.course.lessons.attention.inputs import model_on_text as real
from llmviz.course.lessons.attention.matrices import linked_matrices as linked
from llmviz.course.lessons.attention.trained import words as words
from llmviz.course.lessons.attention.trained.model import Head, Look, LookPair
from llmviz.course.ui import engine, kit, model_on_text
from llmviz.course.ui.matrix_picture import Names, Picture, Scale
from llmviz.files.text import whole_number
from llmviz.nn.attention import attention
from llmviz.sampling.temperature import softmax_terms
from llmviz.tokenizers import Token, Tokenizer

KEY = "attention.lookup"


def draw(state: kit.PageState, bundled: engine.Bundled, pair: LookPair, head: Head) -> None:
    """Show the weights of a head on the story, asked both ways, and how one of them came about."""
    prompts = pair.story.prompts
    tokens = [tokens_of(prompt, bundled.tokenizer) for prompt in prompts]
    row, place = chosen(state["looked"], pair, head)

    def take() -> None:
        clicked = st.session_state[f"{KEY}.strip"].get("selected")
        state["looked"], state["cell"] = kit.link_of(clicked), ""

    token_strip(
        [
            TokenRow(
                words.lookup_most.format(thing=thing),
                part,
                values=look.weights[head].tolist(),
                details=[
                    {words.lookup_weight: kit.percent(float(weight))}
                    for weight in look.weights[head]
                ],
            )
            for thing, part, look in zip(pair.story.things, tokens, pair.looks, strict=True)
        ],
        key=f"{KEY}.strip",
        show_ids=False,
        value_label=words.lookup_weight,
        value_range=(0.0, 1.0),
        selected=TokenSelection(row, place, tokens[row][place].id),
        on_change=take,
    )
    token = kit.quote(tokens[row][place].data.decode("utf-8", "replace").replace(" ", "·"))
    both = place < pair.shared
    line = words.lookup_same_key if both else words.lookup_own_key
    kit.prose(line, token=token, thing=pair.story.things[row])
    scale = real.scale_of(bundled, bundled.model.blocks[head[0]].attn.scale)
    plain = all(look.of_all_scores(head) for look in pair.looks)
    matrices = product(pair, head, row, place, scale, plain=plain)
    linked.show(state, matrices, f"{KEY}.product", stacked=True)
    _code(bundled.name, pair.looks[row], head, place, plain)


def tokens_of(prompt: str, tokenizer: Tokenizer) -> list[Token]:
    """Return the tokens of a prompt as the model reads it, with what stands in front of it."""
    front = tokenizer.start
    names = model_on_text.names_of(front, tokenizer)
    before = [Token(i, name.encode(), 0, 0, 0, 0) for i, name in zip(front, names, strict=True)]
    return [*before, *tokenizer.tokens(prompt)]


def chosen(written: str, pair: LookPair, head: Head) -> tuple[int, int]:
    """Return the question and the place of the token that a link names ("1.87").

    Without one, or where there is none, the token that the head looks at most for the first.
    """
    row, _, place = written.partition(".")
    number = whole_number(place)
    if row in ("0", "1") and number is not None and number < len(pair.looks[int(row)].ids):
        return int(row), number
    return 0, int(pair.looks[0].weights[head].argmax())


def _code(name: str, look: Look, head: Head, place: int, plain: bool) -> None:
    tap, scaled = f"blocks.{head[0]}.attn.scaled", look.scaled[head][place]
    share, prints = "", f"{scaled:.3f}"
    if plain:
        share = f" {{softmax_terms(scaled).probabilities[{place}]:.3f}}"
        prints += f" {look.weights[head][place]:.3f}"
    kit.show_code(
        [attention, softmax_terms],
        words.snippet_lookup_cells.format(
            name=name, ids=list(look.ids), tap=tap, head=head[1], place=place, share=share
        ),
        prints,
    )


def product(
    pair: LookPair, head: Head, row: int, place: int, scale: Scale, *, plain: bool = True
) -> Picture:
    """Return how the weight on one token came about, for both questions where both have it.

    scale: what the model multiplies scores by, and how that is written. plain: the weights are the
    softmax of all scaled scores, which behind a window they are not.
    """
    endings = (0, 1) if place < pair.shared else (row,)
    looks, things = [pair.looks[i] for i in endings], [pair.story.things[i] for i in endings]
    rows: dict[str, Any] = {"row_labels": [words.lookup_most.format(thing=t) for t in things]}
    query = np.stack([look.queries[head] for look in looks])  # (1 or 2, D)
    key = looks[0].keys[head][place][None]  # (1, D)

    def column(name: str, numbers: Iterable[float], text: str, op: lv.Op | None, **more) -> None:
        values = np.array([[number] for number in numbers])
        ends.append(lv.Matrix(name, values, text, op=op, **rows, **more))

    ends: list[lv.Matrix] = []
    by_key = lv.matmul("q", "k", transpose_b=True)
    column("score", (look.scores[head][place] for look in looks), words.lookup_score, by_key)
    column(
        "scaled",
        (look.scaled[head][place] for look in looks),
        words.lookup_scaled,
        lv.scaled("score", *scale),
    )
    weight, hidden = None, []
    if plain:
        terms = [softmax_terms(look.scaled[head]) for look in looks]
        powers = np.zeros((len(looks), max(len(term.exps) for term in terms)))  # of all tokens
        for line, term in zip(powers, terms, strict=True):
            line[: len(term.exps)] = term.exps
        highest = np.array([[term.highest] for term in terms])
        hidden = [
            lv.Matrix("highest", highest, words.lookup_highest, **rows),
            lv.Matrix("powers", powers, words.lookup_power, **rows),
        ]
        less, power = lv.subtracted("scaled", "highest"), lv.function("less", "exp")
        column("less", (term.shifted[place] for term in terms), words.lookup_less, less)
        column("power", (term.exps[place] for term in terms), words.lookup_power, power)
        column("total", (term.total for term in terms), words.lookup_total, lv.row_summed("powers"))
        weight = lv.divided("power", "total")
    shares = (look.weights[head][place] for look in looks)
    column("weight", shares, words.lookup_weight, weight, role="weights", limit=1.0)
    long = [
        lv.Matrix("q", query, words.lookup_query, role="query", **rows),
        lv.Matrix("k", key, words.lookup_key, role="key"),
        lv.Matrix("terms", query * key, words.lookup_terms, op=lv.multiply("q", "k"), **rows),
    ]
    names = [matrix.name for matrix in ends]
    pairs = [[*names[i : i + 2]] for i in range(0, len(names), 2)]  # both find room on a phone
    layout: Names = [[matrix.name] * 2 for matrix in long]
    layout += [[*pair] for pair in pairs]
    return Picture([*long, *ends, *hidden], layout)
