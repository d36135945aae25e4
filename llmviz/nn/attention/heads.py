"""One matrix seen as many heads, and switching heads off.

B batch, T time, C width, H heads, D = C/H head size.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import TypeVar

import torch
from torch import Tensor

from llmviz.trace import replaced

At = TypeVar("At")
What = TypeVar("What")


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


def at_positions(x: Tensor, positions: Tensor) -> Tensor:
    """Return one token of each text: x (B, T, …), positions (B,) counted from 0, to (B, 1, …)."""
    return x[torch.arange(len(x), device=x.device), positions][:, None]


HeadName = tuple[int | str, int]  # (layer, head); in an encoder–decoder the layer is a path


def heads_of(layer: int | str) -> str:
    """The name under which `replaced` changes what the heads of a layer give, (B, H, T, D)."""
    return f"heads of {layer}"


def heads_off(heads: Iterable[HeadName]) -> AbstractContextManager[None]:
    """Inside the block, the output of these heads is zero before the output projection.

    heads: pairs (layer, head), both counted from 0: `heads_off({(0, 2)})`. The layer is the
      `layer` that the attention was built with: its number in a GPT, its path, such as
      `decoder.blocks.0.cross`, in the encoder–decoder. Only this thread or task is affected.
    """

    def off(numbers: dict[int, None], output: Tensor) -> Tensor:
        return output.index_fill(1, output.new_tensor(list(numbers)).long(), 0.0)

    return _in_layers(((layer, int(head), None) for layer, head in heads), off)


def head_off_in_each_row(heads: Sequence[HeadName | None]) -> AbstractContextManager[None]:
    """Inside the block, row b of a batch is computed with `heads[b]` off; None leaves it whole.

    One pass over the same text B times does what B passes with `heads_off` do. heads are named as
    there; a batch of another size raises ValueError in the layers named.
    """

    def off(own: dict[tuple[int, int], None], output: Tensor) -> Tensor:
        if len(heads) != len(output):
            raise ValueError(f"{len(heads)} rows with a head off need as many; got {len(output)}")
        output = output.clone()
        output[*zip(*own, strict=True)] = 0.0
        return output

    return _in_layers(((at[0], (row, at[1]), None) for row, at in enumerate(heads) if at), off)


def heads_given(values: Mapping[HeadName, Tensor]) -> AbstractContextManager[None]:
    """Inside the block, these heads give the last token what they are told to, shape (D,) each.

    heads are named as for `heads_off`. What they give other tokens stays as it is, and so do all
    other heads: put in what a head gave on another text, and see what of the answer it carries.

    Reference: Meng et al. 2022, "Locating and Editing Factual Associations in GPT"; Wang et al.
    2022, "Interpretability in the Wild": activation patching.
    """

    def given(own: dict[int, Tensor], output: Tensor) -> Tensor:
        output = output.clone()
        for head, value in own.items():
            output[:, head, -1] = value
        return output

    return _in_layers(((layer, head, value) for (layer, head), value in values.items()), given)


def _in_layers(
    entries: Iterable[tuple[int | str, At, What]],
    change: Callable[[dict[At, What], Tensor], Tensor],
) -> AbstractContextManager[None]:
    """`replaced` for all layers of the entries (layer, at, what): what is to be done at each."""
    layers: dict[str, dict[At, What]] = {}
    for layer, at, what in entries:
        layers.setdefault(heads_of(layer), {})[at] = what
    return replaced({name: partial(change, own) for name, own in layers.items()})
