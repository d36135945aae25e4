"""Chapter "Heads": one matrix cut into heads, each with weights of its own, any switched off."""

import math
from dataclasses import replace
from typing import Any

import streamlit as st
import torch

from llmviz.course import components as lv
from llmviz.course.lessons.attention import params
from llmviz.course.lessons.attention.heads import query_heads, switching, words
from llmviz.course.lessons.attention.heads.model import heads_of
from llmviz.course.lessons.attention.inputs import examples, opening, sources
from llmviz.course.lessons.attention.inputs import model_on_text as real
from llmviz.course.lessons.attention.inputs import words as inputs_words
from llmviz.course.lessons.attention.inputs.sources import Inputs
from llmviz.course.lessons.attention.masks.chapter import digits
from llmviz.course.lessons.attention.matrices import build, layouts
from llmviz.course.ui import kit, matrix_picture, model_on_text
from llmviz.course.ui.matrix_picture import Picture, takes
from llmviz.nn.attention import causal_mask, merge_heads, split_heads, variants
from llmviz.nn.attention.steps import AttentionSteps

KEY = "attention.split"
CUT = 4  # tokens that are drawn cut into heads


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show where the heads of a layer look, then how one matrix is cut into them."""
    if not query_heads.draw(state):
        return
    kit.section(words.intro)
    given = kit.or_refused(_inputs, state)
    if given is not None:
        _split(state, *given)
    elif state["source"] == "model":
        return  # neither a model nor a text for what follows, and that is said
    switching.draw(state)


def _inputs(state: kit.PageState) -> tuple[Inputs, int] | None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        examples.choose_source(state)
        if state["source"] == "journey":
            examples.words_box(state)
        if state["source"] != "model":
            inputs = sources.example(state)
            return inputs, examples.choose_heads(state, inputs.x.shape[1])
        bundled = kit.load(real.PICKER.choose(state))
        if bundled is None:
            return None
        layer, _ = opening.choose_head(state, bundled, heads=False)
    # Unknown tokens are told below, where the whole text is read.
    reading = model_on_text.read_text(state, bundled, params.DRAWN, tell_unknown=False)
    if reading is None:
        return None
    return real.model_head(bundled, reading, layer, None), bundled.model.config.n_head


def _split(state: kit.PageState, inputs: Inputs, n_head: int) -> None:
    """Draw the reshape, then what each head makes of its part."""
    q = inputs.qkv()[0]
    t, c = q.shape
    d = c // n_head
    queries = (
        q if inputs.plain is None else inputs.plain[0]
    )  # a rotary model cuts first, then turns
    whole = build.reshape(queries, inputs.tokens, n_head)
    tokens = list(range(min(t, CUT)))
    cut = build.cut_tokens(queries, inputs.tokens, n_head, tokens)
    kit.prose(words.cut, count=kit.count(len(tokens), "token"))
    lv.matrix_view(cut.matrices, layout=_across([m.name for m in cut.matrices]), key=f"{KEY}.cut")
    kit.prose(words.heads_first)
    lv.matrix_view(whole.matrices, key=KEY)
    kit.programmers(words.programmers, words.shapes.format(b=1, t=t, c=c, h=n_head, d=d))
    kit.section(words.each, heads=kit.count(n_head, "head"))
    wrong = n_head > 1 and state["columns"] == "all"
    if n_head > 1:
        kit.choose(state, "columns", words.columns_label, words.columns)
    steps, line = attend(inputs, n_head, all_columns=wrong)
    kit.prose(line)
    right = inputs.before is None  # else the softmax stands before the mask
    names = [inputs_words.head.lower() + f" {h}" for h in range(n_head)]
    square: dict[str, Any] = {
        "row_labels": inputs.tokens,
        "col_labels": inputs.tokens,
        "row_sums": True,
    }
    axes: dict[str, Any] = {
        "row_axis": matrix_picture.ASKING_AXIS,
        "col_axis": matrix_picture.ASKED_AXIS,
    }
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
            op=lv.softmax_rows(f"masked{h}") if right else None,
            notes=takes(inputs.tokens, steps.weights[h].numpy()),
            **square,
            **axes,
        )
        for h in range(n_head)
    ]
    lv.matrix_view(
        [*masked, *weights],
        layout=_across([f"weights{h}" for h in range(n_head)]),
        key=f"{KEY}.weights",
        narrow=params.DRAWN,
    )
    # With the mistake, what the layer hands on is not the model's own.
    _joined(replace(inputs, output=None) if wrong else inputs, steps.output, n_head)
    functions: list[Any] = [split_heads, merge_heads, variants.multi_head]
    functions += [heads_of] if wrong else []
    if inputs.name:
        _split_code(inputs, n_head, functions)
        return
    kit.show_code(
        functions,
        words.snippet.format(
            given=[[round(x, 6) for x in row] for row in q.tolist()], t=t, n_head=n_head, d=d
        ),
        f"{(t, c)} {(t, n_head, d)} {(n_head, t, d)}\nTrue\n"
        f"{[f'{x:.3f}' for x in q[0, :d].tolist()]}",
    )


def attend(inputs: Inputs, n_head: int, *, all_columns: bool) -> tuple[AttentionSteps, str]:
    """Return what heads compute, and a sentence on the columns of Q and K that they compare.

    `all_columns`: each compares all of them, which is a mistake.
    """
    t, c = inputs.qkv()[0].shape
    mask = inputs.allowed if inputs.name else causal_mask(t)
    scale = inputs.scale[0] if inputs.scale else 1 / math.sqrt(c // n_head)
    given = (*inputs.qkv(), n_head, mask, scale, inputs.before)
    right = heads_of(*given)
    if not all_columns:
        lines = [words.own if n_head > 1 else words.one]
        if math.isclose(scale, 1 / math.sqrt(c // n_head)):
            lines.append(words.own_root)
        return right, " ".join(lines).format(c=c, d=c // n_head)
    wrong = heads_of(*given, all_columns=True)
    change = digits(float((wrong.weights - right.weights).abs().max()))
    return wrong, words.all.format(c=c, heads=n_head, change=change)


def _split_code(inputs: Inputs, n_head: int, functions: list) -> None:
    """Show the code that cuts a model's values into heads."""
    layer, values = inputs.place[0], inputs.qkv()[2]
    tap = f"blocks.{layer}.attn.v"
    heads = split_heads(values, n_head)
    kit.show_code(
        functions,
        words.snippet_split_code.format(name=inputs.name, ids=list(inputs.ids), tap=tap),
        f"{tuple(values.shape)} {tuple(heads.shape)}\n"
        f"{[f'{x:.2f}' for x in heads[0, -1, :4].tolist()]}",
    )


def _joined(inputs: Inputs, output: torch.Tensor, n_head: int) -> None:
    """Draw the heads' answers, side by side again, and projected."""
    concat = merge_heads(output)
    limit = float(concat.abs().max()) or 1.0
    queries, parts = Picture(), [f"context{h}" for h in range(n_head)]
    seen = ("", queries.window("D", output.shape[-1]))
    for h, (name, part) in enumerate(zip(parts, output, strict=True)):
        more: dict[str, Any] = {
            "row_labels": inputs.tokens,
            "role": "value",
            "limit": limit,
            "windows": seen,
        }
        queries.add(name, part, words.context.format(head=h), **more)
    last = build.joined(queries, inputs, concat, lv.concat(*parts), limit=limit)
    lv.matrix_view(
        queries.matrices,
        layout=[*_across(parts), last],
        key=f"{KEY}.joined",
        narrow=params.DRAWN,
        windows=queries.windows,
    )


def _across(names: list[str]) -> list[list[str]]:
    return [names[i : i + layouts.ACROSS] for i in range(0, len(names), layouts.ACROSS)]
