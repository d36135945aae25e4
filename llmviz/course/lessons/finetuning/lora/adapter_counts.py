"""How many numbers LoRA trains, and what they take: counted from a model's settings alone."""

from __future__ import annotations

from collections.abc import Sequence

from llmviz.models.settings import GPTConfig

BYTES = 3 * 4  # of a trained number: its gradient, and two numbers that AdamW keeps, of 32 bits


def sides(config: GPTConfig) -> dict[str, tuple[int, int]]:
    """Return outputs and inputs of each matrix of a layer that an adapter can stand beside.

    By the end of its path, as `llmviz.finetuning.plan.TARGETS` has it. For models without experts.
    """
    c, hidden = config.n_embd, config.feed_forward_size
    shapes = {
        "attn.qkv": (c + 2 * config.kv_heads * config.head_size, c),
        "attn.projection": (c, c),
        "mlp.hidden": (hidden, c),
        "mlp.output": (c, hidden),
    }
    return shapes | ({"mlp.up": (hidden, c)} if config.activation == "swiglu" else {})


def of_rank(config: GPTConfig, rank: int, targets: Sequence[str]) -> int:
    """Return how many numbers LoRA of a rank trains: r·(inputs + outputs) for each matrix.

    Raises ValueError for a target that the model does not have.
    """
    known = sides(config)
    if unknown := [name for name in targets if name not in known]:
        raise ValueError(f"targets must be of {', '.join(known)}; got {', '.join(unknown)}")
    return config.n_layer * rank * sum(sum(known[name]) for name in targets)


def taken(trained: int) -> int:
    """Return the bytes that a training keeps for so many numbers, besides the numbers."""
    return BYTES * trained
