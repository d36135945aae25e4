"""A decoder that is small enough to count by hand: its tensors, and the shapes on the way.

B batch, S source length, T target length, C width, H heads, D head size, V vocabulary. Torch is
imported on first use.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from llmviz.models.translator_settings import Seq2SeqConfig

if TYPE_CHECKING:
    from llmviz.models import Seq2Seq

SMALL = Seq2SeqConfig(vocab_size=12, n_layer=1, n_head=8, n_embd=32, hidden_size=128)


@dataclass(frozen=True)
class Sized:
    """Something with a name and a shape."""

    name: str
    shape: tuple[int, ...]
    count: int  # numbers in it


@cache
def small_translator() -> Seq2Seq:
    """Return the untrained model, in eval mode; its decoder and head are what is counted."""
    import torch

    from llmviz.models import Seq2Seq

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return Seq2Seq(SMALL).eval().requires_grad_(False)


def learned_tensors() -> list[Sized]:
    """Return every learned tensor of the decoder and its head, as the model holds it."""
    return [
        Sized(name, tuple(tensor.shape), tensor.numel())
        for name, tensor in small_translator().named_parameters()
        if not name.startswith("encoder.")
    ]


def shapes_on_the_way(sources: int, targets: int) -> list[Sized]:
    """Return what the decoder computes for S source and T target tokens, in order; B is 1.

    Raises ValueError for no token or more tokens than the context.
    """
    import torch

    from llmviz.trace import record

    source, target = (torch.ones((1, count), dtype=torch.long) for count in (sources, targets))
    with torch.inference_mode(), record(["encoder.output", "decoder.*", "logits"]) as trace:
        small_translator()(source, target)
    return [Sized(name, tuple(part.shape), part.numel()) for name, part in trace.items()]
