"""Path patching: edges between the parts of a model, some with what another prompt put on them.

T tokens, C = n_embd, H heads, L layers, V vocabulary, B sets of edges, S senders, R receivers.

A residual stream is a sum. So each part reads the sum of what all earlier parts wrote, one edge for
each of them, and an edge can carry what its sender wrote for another prompt while all other edges
carry what they carry now. What the receiver then makes goes on by all edges that are left alone.

Prompts of different length are aligned at the end: an edge carries what its sender wrote for the
token as far from the end, with that token's position. The first tokens of the longer prompt have
no other; no edge replaces what is written there. To fill the shorter prompt up with start tokens
would keep positions, but a model that never read two in a row answers otherwise behind them.

Reference: Wang et al. 2022, "Interpretability in the Wild", section 3.1; Conmy et al. 2023,
"Towards Automated Circuit Discovery", section 3. A deviation from both: a head's queries, keys and
values have one edge together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from llmviz.interpretability.growing_map import Growing
from llmviz.interpretability.patching import Before, read_prompt, sees_back_only
from llmviz.models.base import LanguageModel
from llmviz.models.gpt import GPT
from llmviz.models.residual import read_stream
from llmviz.models.transformers import require_sum
from llmviz.trace import replaced

AT_ONCE = 60  # tokens of one batch: some sets of edges, each with the whole prompt
MOST_EDGES = 1_000  # of a model whose circuit grows in a page


class Part(NamedTuple):
    """What writes into the stream, or reads it.

    kind: embed, tokens and positions, which only write; head; mlp; logits, which only read.
    """

    kind: str
    layer: int = -1  # −1 outside the layers
    head: int = -1  # −1 where it is no head


class Edge(NamedTuple):
    """From a part that writes to a later one that reads."""

    sender: Part
    receiver: Part


class Sums(NamedTuple):
    """What each part of a model wrote for a prompt, in the order of `senders`."""

    ids: tuple[int, ...]
    written: Tensor  # (S, T, C)
    keys: Tensor  # (L, G, T, D), G heads of keys and values, D = C/H
    values: Tensor  # (L, G, T, D)
    logits: Tensor  # (V,) after the last token


def senders(model: LanguageModel) -> list[Part]:
    """Return the parts that write, the first one first: S = 1 + L · (H + 1)."""
    config = require_sum(model).config
    parts = [Part("embed")]
    for layer in range(config.n_layer):
        parts += [Part("head", layer, head) for head in range(config.n_head)]
        parts.append(Part("mlp", layer))
    return parts


def all_edges(model: LanguageModel) -> list[Edge]:
    """Return every edge of a model, by receiver.

    Raises ValueError for a model that is no transformer, or whose stream is no sum.
    """
    parts = senders(model)
    return [
        Edge(sender, receiver)
        for receiver in [*parts[1:], Part("logits")]
        for sender in parts
        if _before(sender, receiver)
    ]


def read_sums(model: LanguageModel, ids: Sequence[int]) -> Sums:
    """Read a prompt once. Raises ValueError as `all_edges` does, and for bad ids."""
    gpt = require_sum(model)
    stream, read = read_stream(gpt, list(ids)), read_prompt(gpt, ids)
    written = [stream.states[1]]
    for layer in range(gpt.config.n_layer):
        written += list(stream.written[layer])
        written.append(stream.states[3 + 2 * layer] - stream.states[2 + 2 * layer])
    return Sums(tuple(ids), torch.stack(written), read.keys, read.values, read.logits)


def patch_edges(
    model: LanguageModel, own: Sums, donor: Sums, sets: Sequence[Iterable[Edge]]
) -> Tensor:
    """Logits (B, V) after the last token of `own`, in row b with the donor's on the edges of set b.

    Prompts of different length are aligned at the end. All edges together give the donor's logits
    all the same, because the last places are aligned.
    Raises ValueError for an edge that the model lacks.
    """
    gpt = require_sum(model)
    with torch.inference_mode():
        return _Pass(gpt, own, donor, sets).logits()


class _Pass:
    """One pass over a prompt, B times, each with other edges from the donor.

    Tokens before the first that differs are the same in both, and not computed again; nor are those
    that only `own` has, where a token sees those before it alone.
    """

    def __init__(self, gpt: GPT, own: Sums, donor: Sums, sets: Sequence[Iterable[Edge]]) -> None:
        self.gpt, self.own = gpt, own
        self.start = _start(gpt, own, donor)
        places = torch.arange(self.start, len(own.ids)) + len(donor.ids) - len(own.ids)
        self.there = (places >= 0)[:, None]  # (T, 1), the places that both prompts have
        self.donor = donor.written[:, places.clamp(min=0)]
        self.place = {part: number for number, part in enumerate(senders(gpt))}
        self.size = len(sets)
        # by receiver: (B, S), 1 where the edge from a sender carries the donor's
        self.taken: dict[Part, Tensor] = {}
        known = set(all_edges(gpt))
        for row, edges in enumerate(sets):
            for edge in edges:
                if edge not in known:
                    raise ValueError(f"the model has no edge {edge!r}")
                at = self.taken.setdefault(
                    edge.receiver, self.donor.new_zeros(self.size, len(self.place))
                )
                at[row, self.place[edge.sender]] = 1
        # (B, S, T, C): what the donor wrote less what each sender wrote in this pass
        self.apart = self.donor.new_zeros(self.size, *self.donor.shape)

    def logits(self) -> Tensor:
        gpt, own, start = self.gpt, self.own, self.start
        mask, plain = gpt.visible(torch.tensor([own.ids[start:]]), start)
        looks = mask, plain, None, Before(own.keys, own.values, start) if start else None, None
        x = own.written[0, start:].expand(self.size, -1, -1)  # (B, T, C)
        self._wrote(Part("embed"), x)
        for layer, block in enumerate(gpt.blocks):
            x = x + self._attended(layer, x, looks)
            part = Part("mlp", layer)
            added = block.mlp(block.norm2(self._read(part, x)))
            self._wrote(part, added)
            x = x + added
        return gpt.head(gpt.norm_final(self._read(Part("logits"), x)[:, -1]))

    def _attended(self, layer: int, x: Tensor, looks: tuple[Any, ...]) -> Tensor:
        """What attention adds, (B, T, C), where each head has a stream of its own to read."""
        block, config = self.gpt.blocks[layer], self.gpt.config
        heads = [Part("head", layer, head) for head in range(config.n_head)]
        width = config.head_size
        reads = torch.stack([self._read(head, x) for head in heads])  # (H, B, T, C)
        outputs: list[Tensor] = []

        def own_head(concat: Tensor) -> Tensor:
            """(H · B, T, C), every head of every stream, to (B, T, C), each head of its own."""
            each = concat.unflatten(0, (config.n_head, -1))
            outputs.extend(
                each[head, ..., head * width : (head + 1) * width] for head in range(config.n_head)
            )
            return torch.cat(outputs, dim=-1)

        with replaced({f"blocks.{layer}.attn.concat": own_head}):
            added = block.attn(block.norm1(reads.flatten(0, 1)), *looks)
        weight = block.attn.projection.weight.T.reshape(config.n_head, width, -1)  # (H, D, C)
        for part, output, rows in zip(heads, outputs, weight, strict=True):
            self._wrote(part, output @ rows)
        return added

    def _read(self, receiver: Part, x: Tensor) -> Tensor:
        """The stream (B, T, C) with the donor's on the edges to a receiver."""
        taken = self.taken.get(receiver)
        return x if taken is None else x + torch.einsum("bs,bstc->btc", taken, self.apart)

    def _wrote(self, sender: Part, vectors: Tensor) -> None:
        place = self.place[sender]
        self.apart[:, place] = (self.donor[place] - vectors) * self.there


class GrowingCircuit(Growing):
    """What each edge moves alone, and what is left when only the strongest edges are the own.

    `effects`: the share of the way to the donor's preference, by edge. `order`: the edges, the one
    that moves most in either direction first; empty until all are known. `left[n]`: the share of
    the preference that is left with the n first ones alone, all others being the donor's.
    """

    def __init__(self, model: LanguageModel, own: Sums, donor: Sums, pair: tuple[int, int]) -> None:
        """Begin. Raises ValueError: see `Growing`, `patch_edges`; and for too many edges."""
        edges = all_edges(model)
        super().__init__(own.logits, donor.logits, pair, 2 * len(edges) + 1)
        if len(edges) > MOST_EDGES:
            raise ValueError(
                f"at most {MOST_EDGES:,} edges are patched here; the model has {len(edges):,}"
            )
        self._sums = require_sum(model), own, donor
        self._edges = edges
        self._batch = max(1, AT_ONCE // (len(own.ids) - _start(self._sums[0], own, donor)))
        self.effects: dict[Edge, float] = {}
        self.order: list[Edge] = []
        self.left: list[float] = []

    def left_with(self, edges: Iterable[Edge]) -> float:
        """Return what is left of the preference when all other edges are the donor's."""
        others = set(self._edges).difference(edges)
        return 1 - self._moved([others])[0]

    def _moved(self, sets: Sequence[Iterable[Edge]]) -> list[float]:
        return self.shares_of(patch_edges(*self._sums, sets)[:, list(self.pair)])

    def _steps(self) -> Iterator[int]:
        for first in range(0, len(self._edges), self._batch):
            some = self._edges[first : first + self._batch]
            moved = self._moved([[edge] for edge in some])
            self.effects.update(zip(some, moved, strict=True))
            yield len(some)
        self.order = sorted(self._edges, key=lambda edge: -abs(self.effects[edge]))
        every = range(len(self._edges) + 1)
        for first in range(0, len(every), self._batch):
            numbers = every[first : first + self._batch]
            others = [self.order[number:] for number in numbers]
            self.left += [1 - share for share in self._moved(others)]
            yield len(numbers)


def _start(gpt: GPT, own: Sums, donor: Sums) -> int:
    """The first place that can differ; the last one for equal prompts."""
    if not sees_back_only(gpt):
        return 0
    if len(own.ids) != len(donor.ids):
        return max(0, len(own.ids) - len(donor.ids))
    alike = (a == b for a, b in zip(own.ids, donor.ids, strict=True))
    return next((place for place, same in enumerate(alike) if not same), len(own.ids) - 1)


def _before(sender: Part, receiver: Part) -> bool:
    """Whether a sender has written when a receiver reads."""
    if receiver.kind == "logits":
        return True
    within = sender.kind == "head" and receiver.kind != "head"
    return sender.layer < receiver.layer or (within and sender.layer == receiver.layer)
