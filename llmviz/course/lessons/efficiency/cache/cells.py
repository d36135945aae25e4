"""The keys and values of a head as matrices whose cells open to the sums they came from."""

import numpy as np

from llmviz.course import components as lv
from llmviz.course.lessons.efficiency.cache import words
from llmviz.course.lessons.efficiency.cache.cache_contents import CacheContents
from llmviz.course.ui import engine, kit
from llmviz.models.gpt import GPT

BEFORE, ANGLE = "before", "angle"  # keys that are not turned yet, and how far they turn


@kit.kept(32)
def weights_of(bundled: engine.Bundled, layer: int, head: int) -> lv.Weights:
    """Return what makes the keys and values of a head; see `head_weights`."""
    return head_weights(bundled.model, layer, head)


def head_weights(model: GPT, layer: int, head: int) -> lv.Weights:
    """Take W_K and W_V (C, D) of a head of keys and values, and the biases (1, D) if there are any.

    layer, head: from 0.
    """
    attn = model.blocks[layer].attn
    queries = attn.n_head // attn.n_kv_head  # heads of queries that share it
    _, keys, values = attn.projections(head * queries)
    arrays = {"W_K": keys.detach().numpy(), "W_V": values.detach().numpy()}
    if attn.qkv.bias is not None:
        size = model.config.head_size
        parts = attn.qkv.bias.detach()[model.config.n_embd :].view(2, attn.n_kv_head, size)
        arrays |= {"b_K": parts[0, head][None].numpy(), "b_V": parts[1, head][None].numpy()}
    return lv.Weights.of(arrays)


def matrices(
    model: GPT,
    contents: CacheContents,
    weights: lv.Weights,
    tokens: list[str],
    layer: int,
    head: int,
    length: int,
) -> list[lv.Matrix]:
    """Return the first `length` keys and values of a head, and what their sums are made of.

    weights: of the head; tokens: names of the text's tokens.
    """
    x, parts = contents.inputs[layer, :length], weights.values
    biased = "b_K" in parts
    by_x = {
        letter: lv.matmul("x", f"W_{letter}", bias=f"b_{letter}" if biased else None)
        for letter in "KV"
    }
    linked = [lv.Matrix("x", x, row_labels=tokens[:length])]
    linked += [lv.Matrix(name, values) for name, values in parts.items()]
    of_keys = by_x["K"]
    rotary = model.blocks[layer].attn.rotary
    if rotary is not None:
        before = x @ parts["W_K"] + (parts["b_K"] if biased else 0)
        half = before.shape[1] // 2
        speeds = np.arctan2(*(table[1, :half].numpy() for table in (rotary.sin, rotary.cos)))
        angles = np.arange(length)[:, None] * speeds
        linked += [lv.Matrix(BEFORE, before, op=of_keys), lv.Matrix(ANGLE, angles)]
        of_keys = lv.turned(BEFORE, ANGLE)
    for name, values, op, role in (
        ("keys", contents.keys, of_keys, "key"),
        ("values", contents.values, by_x["V"], "value"),
    ):
        linked.append(
            lv.Matrix(
                name,
                values[layer, head, :length],
                words.matrices[name].format(layer=layer, head=head),
                row_labels=tokens[:length],
                row_axis=words.token_axis,
                col_axis=words.number_axis,
                role=role,
                op=op,
            )
        )
    return linked


def report(model: GPT, layer: int) -> str:
    """Return what the cells are made of, in sentences."""
    attn, config = model.blocks[layer].attn, model.config
    biased = attn.qkv.bias is not None
    lines = [
        words.cells.format(
            normed=words.cells_normed if config.norm == "pre" else "",
            width=config.n_embd,
            size=config.head_size,
            key_bias=words.cells_bias.format(letter="K") if biased else "",
            value_bias=words.cells_bias.format(letter="V") if biased else "",
        )
    ]
    if attn.rotary is not None:
        lines.append(words.cells_turned)
    return " ".join(lines)
