"""How a LoRA adapter is made; see `lora`, which needs torch."""

from __future__ import annotations

from dataclasses import dataclass

from llmviz.config import Config, setting

TARGETS = ("attn.qkv", "attn.projection", "mlp.hidden", "mlp.up", "mlp.output")
MOST_RANK = 16  # on a form; the rule is that it fits the matrix


@dataclass(frozen=True)
class LoraConfig(Config):
    """How an adapter is made; raises ValueError naming the rule and the value."""

    rank: int = setting(4, "r, columns of B and rows of A", "", 1, MOST_RANK)
    alpha: float = setting(8.0, "α: the change is multiplied by α/r", "", 0.1, 64)
    targets: tuple[str, ...] = TARGETS  # ends of the paths of layers that get a change

    def __post_init__(self) -> None:
        self.require_positive("rank")
        self.require_above_zero("alpha")
        named = isinstance(self.targets, list | tuple) and self.targets
        if not named or not all(isinstance(target, str) for target in self.targets):
            raise ValueError(f"targets must name at least one kind of layer; got {self.targets!r}")
        object.__setattr__(self, "targets", tuple(self.targets))

    @property
    def scale(self) -> float:
        """α/r."""
        return self.alpha / self.rank
