"""How many numbers LoRA trains, and what they take: counted from a model's settings alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from llmviz.models.arithmetic import count
from llmviz.models.settings import GPTConfig

FLOAT = 4  # bytes of a number in training
HALF = 2  # bytes of a number in the file of a bundled adapter
ADAM = 2  # numbers that AdamW keeps for each one that it trains


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


@dataclass(frozen=True)
class Trained:
    """What a training changes, in numbers, and what it takes in bytes."""

    parameters: int

    @property
    def file(self) -> int:
        """Bytes of a file with 16 bits for each."""
        return HALF * self.parameters

    @property
    def optimizer(self) -> int:
        """Bytes that AdamW keeps between two steps."""
        return ADAM * FLOAT * self.parameters

    @property
    def gradients(self) -> int:
        """Bytes of the gradients."""
        return FLOAT * self.parameters


def whole(config: GPTConfig) -> Trained:
    """What full fine-tuning trains: every number of the model."""
    return Trained(count(config))


def of_rank(config: GPTConfig, rank: int, targets: Sequence[str]) -> Trained:
    """What LoRA of a rank trains: r·(inputs + outputs) for each matrix.

    Raises ValueError for a target that the model does not have.
    """
    known = sides(config)
    if unknown := [name for name in targets if name not in known]:
        raise ValueError(f"targets must be of {', '.join(known)}; got {', '.join(unknown)}")
    return Trained(config.n_layer * rank * sum(sum(known[name]) for name in targets))
