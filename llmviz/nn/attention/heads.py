"""One matrix seen as many heads, and switching heads off.

B batch, T time, C width, H heads, D = C/H head size.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

import torch
from torch import Tensor


def split_heads(x: Tensor, n_head: int) -> Tensor:
    """Cut the width into heads and bring them to the front: (…, T, C) to (…, H, T, D).

    Head h holds columns h·D to (h+1)·D. Raises ValueError when n_head does not divide the width.
    """
    if n_head < 1 or x.shape[-1] % n_head:
        raise ValueError(f"n_head must divide the width {x.shape[-1]}; got n_head={n_head}")
    return x.unflatten(-1, (n_head, -1)).transpose(-2, -3)  # (…, T, H, D) -> (…, H, T, D)


def share_heads(x: Tensor, n_head: int) -> Tensor:
    """Give each query head its keys or values: (…, G, T, D) to (…, H, T, D), H = n_head.

    Query head h reads head h // (H/G) of the G; with G = H nothing changes.

    Reference: Ainslie et al. 2023, "GQA", section 2.2.
    """
    groups = x.shape[-3]
    return x if groups == n_head else x.repeat_interleave(n_head // groups, dim=-3)


def merge_heads(x: Tensor) -> Tensor:
    """Put the heads back side by side, the inverse of `split_heads`: (…, H, T, D) to (…, T, C)."""
    return x.transpose(-2, -3).flatten(-2)


def at_places(x: Tensor, places: Tensor) -> Tensor:
    """Return one token of each text: x (B, T, …), places (B,) counted from 0, to (B, 1, …)."""
    return x[torch.arange(len(x), device=x.device), places][:, None]


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


_off_in_rows: ContextVar[Sequence[HeadName | None]] = ContextVar(
    "llmviz_heads_off_in_rows", default=()
)


@contextmanager
def head_off_in_each_row(heads: Sequence[HeadName | None]) -> Iterator[None]:
    """Inside the block, row b of a batch is computed with `heads[b]` off; None leaves it whole.

    One pass over the same text B times does what B passes with `heads_off` do. heads are named as
    there; a batch of another size raises ValueError.
    """
    token = _off_in_rows.set(tuple(heads))
    try:
        yield
    finally:
        _off_in_rows.reset(token)


_given: ContextVar[Mapping[HeadName, Tensor] | None] = ContextVar(
    "llmviz_heads_given", default=None
)


@contextmanager
def heads_given(values: Mapping[HeadName, Tensor]) -> Iterator[None]:
    """Inside the block, these heads give the last token what they are told to, shape (D,) each.

    heads are named as for `heads_off`. What they give other tokens stays as it is, and so do all
    other heads: put in what a head gave on another text, and see what of the answer it carries.

    Reference: Meng et al. 2022, "Locating and Editing Factual Associations in GPT"; Wang et al.
    2022, "Interpretability in the Wild": activation patching.
    """
    token = _given.set(values)
    try:
        yield
    finally:
        _given.reset(token)


def changed_heads(layer: int | str, output: Tensor) -> Tensor:
    """The output of the heads of a layer, (B, H, T, D), as it is to be used now."""
    if off := heads_off_in(layer):
        output = output.index_fill(1, output.new_tensor(off).long(), 0.0)
    if rows := _off_in_rows.get():
        if len(rows) != len(output):
            raise ValueError(f"{len(rows)} rows with a head off need as many; got {len(output)}")
        own = [(b, head[1]) for b, head in enumerate(rows) if head and head[0] == layer]
        if own:
            output = output.clone()
            output[*zip(*own, strict=True)] = 0.0
    if given := _given.get():
        own = {head: value for (name, head), value in given.items() if name == layer}
        output = output.clone() if own else output
        for head, value in own.items():
            output[:, head, -1] = value
    return output


def heads_off_in(layer: int | str) -> list[int]:
    """The heads of one layer that are switched off now."""
    off = _off.get()
    return sorted(head for name, head in off if name == layer) if off else []


def any_head_changed() -> bool:
    """Whether a head of any layer is switched off now, or told what to give."""
    return bool(_off.get() or _off_in_rows.get() or _given.get())
