"""The tree of a WaveNet above one letter: what each node read, which letters it has seen.

W window, L levels, C = n_embd, F hidden width, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

    from llmviz.models.base import LanguageModel


@dataclass(frozen=True)
class Level:
    """One level of the tree: n nodes, each from two nodes of the level below."""

    pairs: Tensor  # (n, 2·width below): left and right side by side
    linear: Tensor  # (n, F) the pair times the level's matrix
    normed: Tensor  # (n, F) after batch norm; as `linear` without it
    nodes: Tensor  # (n, F) after the tanh


@dataclass(frozen=True)
class FusedTree:
    """The tree of one letter, from the letters up; the last level has one node.

    seen: the ids in the window, the letter itself last; None stands before the text.
    """

    seen: tuple[int | None, ...]
    embed: Tensor  # (W, C)
    levels: tuple[Level, ...]
    probabilities: Tensor  # (V,) of the next token

    def span(self, level: int, node: int) -> tuple[int | None, ...]:
        """What a node has seen; level 0 is a single letter, 1 the first pairs.

        Raises ValueError where there is no such node.
        """
        size = 2**level
        if not (0 <= level <= len(self.levels) and 0 <= node < len(self.seen) // size):
            raise ValueError(f"the tree has no node {node} at level {level}")
        return self.seen[node * size : (node + 1) * size]


def fused_tree(model: LanguageModel, ids: Sequence[int], at: int) -> FusedTree:
    """Return the tree above the letter at a place of token ids.

    Raises ValueError for another model than a WaveNet, and a place that is not there.
    """
    import torch

    from llmviz.models import WaveNet
    from llmviz.trace import record

    if not isinstance(model, WaveNet):
        raise ValueError(f"a WaveNet is needed; got a {type(model).__name__}")
    if not 0 <= at < len(ids):
        raise ValueError(f"the place must be from 0 to {len(ids) - 1}; got {at}")
    window, count = model.config.window, model.config.n_layer
    with torch.inference_mode(), record() as trace:
        model(torch.tensor([list(ids)]))
    padded = [None] * (window - 1) + list(ids)
    embed = trace["embed"][0, at : at + window].clone()
    below, levels = embed, []
    for level in range(count):
        # The tree takes every 2^(level + 1)-th node that the positions share, from its own on.
        own = slice(at, at + window - 2 ** (level + 1) + 1, 2 ** (level + 1))
        linear, normed, nodes = (
            trace[f"levels.{level}{part}"][0, own].clone() for part in (".linear", ".norm", "")
        )
        levels.append(Level(below.reshape(len(nodes), -1), linear, normed, nodes))
        below = nodes
    probabilities = trace["logits"][0, at].softmax(-1).clone()
    return FusedTree(tuple(padded[at : at + window]), embed, tuple(levels), probabilities)
