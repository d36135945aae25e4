"""One matrix seen as many heads, and switching heads off.

B batch, T time, C width, H heads, D = C/H head size.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from torch import Tensor


def split_heads(x: Tensor, n_head: int) -> Tensor:
    """Cut the width into heads and bring them to the front: (…, T, C) to (…, H, T, D).

    Head h holds columns h·D to (h+1)·D. Raises ValueError when n_head does not divide the width.
    """
    if n_head < 1 or x.shape[-1] % n_head:
        raise ValueError(f"n_head must divide the width {x.shape[-1]}; got n_head={n_head}")
    return x.unflatten(-1, (n_head, -1)).transpose(-2, -3)  # (…, T, H, D) -> (…, H, T, D)


def merge_heads(x: Tensor) -> Tensor:
    """Put the heads back side by side, the inverse of `split_heads`: (…, H, T, D) to (…, T, C)."""
    return x.transpose(-2, -3).flatten(-2)


HeadName = tuple[int | str, int]  # (layer, head); in an encoder–decoder the layer is a path

_off: ContextVar[frozenset[HeadName]] = ContextVar("llmviz_heads_off", default=frozenset())


@contextmanager
def heads_off(heads: Iterable[HeadName]) -> Iterator[None]:
    """Inside the block, the output of these heads is zero before the output projection.

    heads: pairs (layer, head), both counted from 0: `heads_off({(0, 2)})`. The layer is the
      `layer` that the attention was built with: its number in a GPT, its path, such as
      `decoder.blocks.0.cross`, in the encoder–decoder. Only this thread or task is affected.
    """
    token = _off.set(frozenset((layer, int(head)) for layer, head in heads))
    try:
        yield
    finally:
        _off.reset(token)


def heads_off_in(layer: int | str) -> list[int]:
    """The heads of one layer that are switched off now."""
    off = _off.get()
    return sorted(head for name, head in off if name == layer) if off else []


def any_head_off() -> bool:
    """Whether a head of any layer is switched off now."""
    return bool(_off.get())
