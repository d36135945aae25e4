"""Which settings of a GPT a second, faster way computes: what it does not name, it refuses.

A GPT's modules compute every setting. A faster way names what it knows, so that a setting or a
value that nobody told it of goes by the modules, and is never computed as if it were the usual one.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, fields
from typing import Any

from llmviz.models.settings import GPTConfig

USUAL = {part.name: part.default for part in fields(GPTConfig)}
# The same arithmetic on more numbers, or what only training asks for: any value will do.
ANY = frozenset(
    (
        *("vocab_size", "context_length", "n_layer", "n_head", "n_embd", "hidden_size"),
        *("tied_head", "qkv_bias", "bias", "norm_epsilon", "rotary_base", "rotary_scaling"),
        *("dropout", "embedding_dropout", "attention_dropout", "shift", "balance"),
        "experts_per_token",
    )
)


@dataclass(frozen=True)
class FastPath:
    """What one faster way computes: `knows` holds the values of a setting that it has code for.

    A setting that is neither there nor in `ANY` has to have a GPT's default. `free`: settings of
    which this way takes any value.
    """

    knows: Mapping[str, Container[Any]]
    free: frozenset[str] = frozenset()

    def refused(self, config: GPTConfig) -> str | None:
        """The name of the first setting that this way does not compute, None where it does all."""
        for part in fields(config):
            name, value = part.name, getattr(config, part.name)
            usual = (USUAL.get(name, part.default),)
            free = name in ANY or name in self.free
            if value not in self.knows.get(name, usual) and not (free and name not in self.knows):
                return name
        return None
