"""A small reader of the real model's kind, with random weights."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import torch

from llmviz.models import GPT, GPTConfig
from llmviz.tokenizers import Tokenizer, get_tokenizer
from tests.random_weights import with_random_weights


class Reader(NamedTuple):
    """A model and its tokenizer."""

    model: GPT
    tokenizer: Tokenizer


@cache
def tiny(layers: int = 3) -> Reader:
    """Return a reader with rotary positions, RMS norms, SwiGLU and shared keys."""
    tokenizer = get_tokenizer("bpe")
    torch.manual_seed(0)
    config = GPTConfig(
        vocab_size=tokenizer.vocab_size,
        context_length=128,
        n_layer=layers,
        n_head=6,
        n_kv_head=2,
        n_embd=48,
        positions="rotary",
        norm_kind="rms",
        activation="swiglu",
        bias=False,
        qkv_bias=False,
    )
    model = GPT(config).eval()
    with_random_weights(model, 0.3)
    return Reader(model.requires_grad_(False), tokenizer)
