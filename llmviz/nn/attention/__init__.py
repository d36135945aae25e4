"""Attention as steps that can be looked at, and the layer of many heads that uses them.

`steps` is the only place where the maths of attention stands, `tiled` has it once more, tile by
tile; `traffic` counts what either reads and writes; `masks` says which token may look at which;
`multihead` puts heads together; `variants` builds up to it, one idea at a time; `latent` keeps a
narrow vector of each token instead of its keys and values.
"""

from llmviz.nn.attention.heads import (
    head_off_in_each_row,
    heads_given,
    heads_off,
    merge_heads,
    share_heads,
    split_heads,
)
from llmviz.nn.attention.masks import (
    causal_mask,
    causal_mask_off_by_one,
    padding_mask,
    refuse_fully_masked_rows,
    sliding_window_mask,
)
from llmviz.nn.attention.multihead import MultiHeadAttention
from llmviz.nn.attention.steps import AttentionSteps, attention, dropout_mask, fast_attention
from llmviz.nn.attention.tiled import TileStep, attention_tiled, tile_steps

__all__ = [
    "AttentionSteps",
    "MultiHeadAttention",
    "TileStep",
    "attention",
    "attention_tiled",
    "causal_mask",
    "causal_mask_off_by_one",
    "dropout_mask",
    "fast_attention",
    "head_off_in_each_row",
    "heads_given",
    "heads_off",
    "merge_heads",
    "padding_mask",
    "refuse_fully_masked_rows",
    "share_heads",
    "sliding_window_mask",
    "split_heads",
    "tile_steps",
]
