"""transformers' GPT-2 in the shape of ours, for the benchmarks that compare the two."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from transformers import GPT2LMHeadModel

    from llmviz.models import GPTConfig


def their_gpt2(config: GPTConfig, **more: Any) -> GPT2LMHeadModel:
    """Return the model with random weights; more: options of its own config, else its defaults."""
    from transformers import GPT2Config, GPT2LMHeadModel

    return GPT2LMHeadModel(
        GPT2Config(
            vocab_size=config.vocab_size,
            n_positions=config.context_length,
            n_embd=config.n_embd,
            n_layer=config.n_layer,
            n_head=config.n_head,
            **more,
        )
    )
