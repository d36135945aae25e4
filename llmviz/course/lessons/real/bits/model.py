"""A model on fewer and fewer bits: what it still says, and its loss on a text.

T tokens of a text.
"""

from __future__ import annotations

import copy
from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from llmviz.course.lessons.real.reader import Choice, Reads, best, ids_of

if TYPE_CHECKING:
    from torch import Tensor

BITS = (8, 6, 5, 4, 3, 2)
ROW, GROUP = "row", "group"
GROUPED = 32  # weights that share a scale, as in the file itself


class Kept(NamedTuple):
    """What is left with so many bits for each weight, and a scale for a row or for a group.

    share: of the answer that the whole model gives; first: the first choice now. bits 32 is the
    model as it is.
    """

    per: str
    bits: int
    share: float
    first: Choice


class Losses(NamedTuple):
    """The loss of a text, with a scale for each row and for each group of weights, by BITS."""

    whole: float
    row: tuple[float, ...]
    group: tuple[float, ...]


class Rounded(NamedTuple):
    """One number on a grid: the ends of the grid, and which step from below it is put on."""

    per: str
    bits: int
    number: float
    low: float
    high: float
    step: int


def rounded(reader: Reads) -> tuple[Rounded, ...]:
    """Return the first number of the first matrix of the blocks on each grid."""
    import torch

    matrix = next(m for m in reader.model.blocks.modules() if isinstance(m, torch.nn.Linear))
    row, found = matrix.weight[0].detach(), []
    for per, part in ((ROW, row), (GROUP, row[:GROUPED])):
        number, low, high = (float(x) for x in (part[0], part.min(), part.max()))
        for bits in BITS:
            step = round((number - low) / (high - low) * (2**bits - 1))
            found.append(Rounded(per, bits, number, low, high, step))
    return tuple(found)


def measure(reader: Reads, sentence: str) -> Generator[float, None, tuple[Kept, ...]]:
    """Return what is left: first of the whole model, then for each way and number of bits.


    Yields how much is done. Raises ValueError: the sentence cannot be read here.
    """
    ids = ids_of(reader, sentence)
    p = _softmax(after(reader, ids)[-1])
    answer, found = int(p.argmax()), [Kept("", 32, float(p.max()), best(reader, p, 1)[0])]
    for per in (ROW, GROUP):
        for bits in BITS:
            p = _softmax(after(reader, ids, per, bits)[-1])
            found.append(Kept(per, bits, float(p[answer]), best(reader, p, 1)[0]))
            yield (len(found) - 1) / (2 * len(BITS))
    return tuple(found)


def losses(reader: Reads, text: str) -> Losses:
    """Return the loss of a text for each way and number of bits."""
    ids = ids_of(reader, text)

    def loss(*given: Any) -> float:
        p = _softmax(after(reader, ids, *given)[:-1])
        return float(-np.log(p[np.arange(len(ids) - 1), ids[1:]].astype(float)).mean())

    ways = (tuple(loss(per, bits) for bits in BITS) for per in (ROW, GROUP))
    return Losses(loss(), *ways)


def _softmax(logits: Tensor) -> np.ndarray:
    return logits.softmax(-1).numpy()


def on_grid(w: Tensor, bits: int, per: str) -> Tensor:
    """Return weights (R, C) on 2^bits evenly spaced values between the smallest and the largest.

    per: those of each row, or of each group of 32 in a row, which is how the file itself keeps them
    (Q4_1 of GGUF, with 4 bits). Raises ValueError: a row is not made of whole groups.
    """
    if per == GROUP and w.shape[1] % GROUPED:
        raise ValueError(f"rows of {w.shape[1]} numbers have no groups of {GROUPED}")
    parts = w if per == ROW else w.reshape(-1, GROUPED)
    low, high = parts.amin(1, keepdim=True), parts.amax(1, keepdim=True)
    step = ((high - low) / (2**bits - 1)).clamp_min(1e-12)
    return (low + ((parts - low) / step).round() * step).reshape(w.shape)


def after(reader: Reads, ids: Sequence[int], per: str = "", bits: int = 32) -> Tensor:
    """Return the logits (T, V) of a model whose blocks are on a grid; as it is without `per`.

    One block at a time is copied and put on its grid, so little memory is needed.
    """
    import torch

    gpt, row = reader.model, torch.tensor([list(ids)])
    with torch.inference_mode():
        mask, plain = gpt.visible(row, 0)
        x = gpt.token(row)
        for whole in gpt.blocks:
            block = copy.deepcopy(whole) if per else whole
            for layer in block.modules() if per else ():
                if isinstance(layer, torch.nn.Linear):
                    layer.weight.copy_(on_grid(layer.weight, bits, per))
            x = block(x, mask, plain, None)
        return gpt.head(gpt.norm_final(x))[0]
