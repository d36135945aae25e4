"""A linear layer that consists of a plain one and a change of low rank beside its matrix.

r rank.
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

from torch import Tensor, nn

Layer = TypeVar("Layer", bound=nn.Module)


class LowRank(NamedTuple):
    """What is added to a matrix (out, in): scale·B·A."""

    a: Tensor  # A (r, in)
    b: Tensor  # B (out, r)
    scale: float


def split(module: Layer) -> tuple[Layer, LowRank | None]:
    """Return the plain layer that a layer consists of, and the change beside its matrix, if any.

    A layer that holds changes has a method `parts`, which returns both; others are plain.
    """
    parts = getattr(module, "parts", None)
    return (module, None) if parts is None else parts()
