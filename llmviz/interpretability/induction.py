"""Attention alone learns to copy: letters that repeat, small models, and what their heads do.

V letters, T letters of a text, C the width, L layers, H heads, D = C/H, B texts, P the period.

A text repeats a block of different letters, drawn at random, until T letters are full. The models
are GPTs without norms, feed-forward networks and biases, so that what a head adds is a product of
matrices. Reference: Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits"; Olsson
et al. 2022, "In-context Learning and Induction Heads".
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from llmviz.interpretability.moments import Moments

if TYPE_CHECKING:
    from torch import Tensor

    from llmviz.models import GPT
    from llmviz.nn.attention import MultiHeadAttention

LETTERS = "abcdefghijklmnopqrstuvwxyz"
V, T = len(LETTERS), 32
SHORTEST, LONGEST = 5, 15  # letters of a block; each length is as likely
WIDTH, HEADS = 32, 2
BATCH, RATE, DECAY, STEPS = 64, 3e-3, 0.3, 1500
MOMENTS, BEGINNING = 41, 20  # how many moments; the step of the second, the first is step 0
HELD_OUT, HELD_OUT_SEED = 256, 10_000
SCORED = 64  # of the held-out texts, on which heads are scored


@dataclass(frozen=True)
class Copier:
    """A model and its training: how many layers and heads, its width and its seed.

    Raises ValueError naming the rule and the value.
    """

    layers: int = 2
    heads: int = HEADS
    width: int = WIDTH
    seed: int = 0
    steps: int = STEPS

    def __post_init__(self) -> None:
        if not 1 <= self.layers <= 3:
            raise ValueError(f"layers must be 1 to 3; got {self.layers}")
        if self.heads < 1 or self.width % self.heads:
            raise ValueError(f"heads must divide the width {self.width}; got {self.heads}")
        if self.steps < 1:
            raise ValueError(f"steps must be at least 1; got {self.steps}")


@dataclass(frozen=True, eq=False)
class Moment:
    """A model after so many steps, on the same held-out texts each time.

    by_place (T − 1,): the loss of each letter from the second on, in nats. new_loss, repeat_loss:
    the means over letters that nothing before them tells, and over those that repeat. previous,
    induction (L, H): the weight on the letter before, and on what followed the same letter earlier.
    off (L, H): the loss on letters that repeat when a head is off.
    """

    step: int
    by_place: np.ndarray
    new_loss: float
    repeat_loss: float
    previous: np.ndarray
    induction: np.ndarray
    off: np.ndarray


@dataclass(frozen=True, eq=False)
class Learned(Moments):
    """A training so far: its model's settings and its moments, at least one."""

    copier: Copier
    moments: Sequence[Moment]

    @property
    def steepest(self) -> int:
        """The place of the moment before which the loss on repeats falls most in one doubling.

        That is per logarithm of the step; 0 where there is one moment alone.
        """
        if len(self.moments) < 2:
            return 0
        falls = np.diff(self.curve("repeat_loss")) / np.diff(np.log(self.steps + 1.0))
        return int(falls.argmin()) + 1


def draw_texts(count: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return texts (count, T) as ids of letters, and the length of the block of each (count,)."""
    periods = generator.integers(SHORTEST, LONGEST + 1, count)
    order = generator.random((count, V)).argsort(1)  # a permutation of the letters for each text
    places = np.arange(T)[None] % periods[:, None]
    return np.take_along_axis(order, places, 1), periods


def repeats(periods: np.ndarray) -> np.ndarray:
    """Return which letters from the second on repeat, and can be known (B, T − 1).

    The first letter of the second block is not among them: nothing says that a block has ended.
    """
    return np.arange(1, T)[None] > periods[:, None]


@cache
def floor() -> np.ndarray:
    """Return what no model can beat on average, for each letter from the second on (T − 1,), nats.

    It follows from how texts are drawn: behind n different letters the block ends with the chance
    1 / (number of lengths that are left), and else one of the V − n other letters follows.
    """
    lengths = LONGEST - SHORTEST + 1
    least = np.zeros(T - 1)
    for n in range(1, LONGEST + 1):
        left = min(lengths, LONGEST + 1 - n)  # lengths of a block that are not shorter than n
        ends = 1 / left if n >= SHORTEST else 0.0
        entropy = sum(-p * math.log(p) for p in (ends, 1 - ends) if p > 0)
        entropy += (1 - ends) * math.log(V - n)
        least[n - 1] = left / lengths * entropy
    return least


def model_of(copier: Copier) -> GPT:
    """Return the untrained model; its numbers depend on the seed alone.

    Each matrix begins with normal numbers of deviation 1/√C.
    """
    import torch

    from llmviz.models import GPT, GPTConfig
    from llmviz.nn.layers import NoFeedForward

    model = GPT(
        GPTConfig(
            vocab_size=V,
            context_length=T,
            n_layer=copier.layers,
            n_head=copier.heads,
            n_embd=copier.width,
            norm="none",
            tied_head=False,
            bias=False,
            qkv_bias=False,
        )
    )
    for block in model.blocks:
        block.mlp = NoFeedForward()
    generator = torch.Generator().manual_seed(copier.seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=copier.width**-0.5, generator=generator)
    return model


def moments_of(steps: int) -> list[int]:
    """Return the steps of the moments, with growing distances; the last is among them.

    >>> len(moments_of(1500)), moments_of(1500)[:3], moments_of(5)
    (41, [0, 20, 22], [0, 5])
    """
    grown = np.geomspace(min(BEGINNING, steps), steps, MOMENTS - 1)
    return sorted({0, *grown.round().astype(int).tolist()})


def train(copier: Copier) -> Iterator[tuple[Moment, GPT]]:
    """Train a model on new texts at each step; yield its moments and the model, always the same."""
    import torch

    model = model_of(copier)
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=RATE, betas=(0.9, 0.98), weight_decay=DECAY
    )
    generator = np.random.default_rng(copier.seed)
    due = set(moments_of(copier.steps))
    for step in range(copier.steps + 1):
        if step in due:
            yield moment_of(model, step), model
        if step < copier.steps:
            texts, _ = draw_texts(BATCH, generator)
            optimizer.zero_grad()
            losses(model, torch.from_numpy(texts)).mean().backward()
            optimizer.step()


def learn(copier: Copier) -> Iterator[Moment]:
    """Train a model and yield its moments."""
    for moment, _ in train(copier):
        yield moment


def losses(model: GPT, texts: Tensor) -> Tensor:
    """Return the loss of each letter from the second on (B, T − 1), in nats."""
    import torch

    logits = model(texts[:, :-1])[0]
    return torch.nn.functional.cross_entropy(logits.transpose(1, 2), texts[:, 1:], reduction="none")


def moment_of(model: GPT, step: int) -> Moment:
    """Return what a model does after a step, on the held-out texts."""
    import torch

    from llmviz.nn.attention import heads_off

    texts, periods = draw_texts(HELD_OUT, np.random.default_rng(HELD_OUT_SEED))
    again, ids = repeats(periods), torch.from_numpy(texts)
    shape = (model.config.n_layer, model.config.n_head)
    with torch.inference_mode():
        each = losses(model, ids).double().numpy()
        off = np.zeros(shape)
        for head in np.ndindex(shape):
            with heads_off([head]):
                off[head] = losses(model, ids).double().numpy()[again].mean()
    previous, induction = scores(model, texts[:SCORED])
    means = (float(each[~again].mean()), float(each[again].mean()))
    return Moment(step, each.mean(0), *means, previous, induction, off)


def scores(model: GPT, texts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the scores of all heads on texts (B, T), each (L, H), means over the texts.

    The weight on the letter before, and on what followed the same letter earlier.
    """
    import torch

    from llmviz.nn.attention.study import summarise_heads
    from llmviz.trace import record

    with torch.inference_mode(), record("blocks.*.attn.weights") as trace:
        model(torch.from_numpy(texts))
    weights = torch.stack(list(trace.values()), 1)  # (B, L, H, T, T)
    found = [summarise_heads(maps, ids) for maps, ids in zip(weights, texts.tolist(), strict=True)]
    return tuple(
        np.mean([getattr(summary, name).numpy() for summary in found], 0, float)
        for name in ("previous", "induction")
    )


@dataclass(frozen=True, eq=False)
class Pair:
    """Two heads, one behind the other, as matrices. E (V, C) is the table of letters.

    asks (V, D): E · W_Q of the second head. writes (V, C): E · W_V · W_O of the first. keys (V, D):
    writes · W_K of the second. match (V, V): asks · keysᵀ / √D. adds (V, C): E · W_V · W_O of the
    second. head (V, C): the last matrix. copies (V, V): adds · headᵀ.
    """

    asks: np.ndarray
    writes: np.ndarray
    keys: np.ndarray
    match: np.ndarray
    adds: np.ndarray
    head: np.ndarray
    copies: np.ndarray


def pair_of(model: GPT, first: int, second: int) -> Pair:
    """Return how a head of the second layer reads what one of the first layer wrote.

    Positions, and what other heads and the letter itself write, are left out.
    Reference: Elhage et al. 2021: K-composition.
    """

    def numbers(tensor: Tensor) -> np.ndarray:
        return tensor.detach().double().numpy()

    before, behind = (model.blocks[layer].attn for layer in (0, 1))
    size = model.config.head_size
    table, head = numbers(model.token.weight), numbers(model.head.weight)

    def written(attn: MultiHeadAttention, number: int) -> np.ndarray:
        value = numbers(attn.projections(number)[2])  # (C, D)
        out = numbers(attn.projection.weight)[:, number * size : (number + 1) * size].T  # (D, C)
        return table @ value @ out

    query, key, _ = (numbers(part) for part in behind.projections(second))
    asks, writes = table @ query, written(before, first)
    keys, adds = writes @ key, written(behind, second)
    return Pair(asks, writes, keys, asks @ keys.T / size**0.5, adds, head, adds @ head.T)


def diagonal(square: np.ndarray) -> int:
    """Return in how many rows of a square matrix the largest number stands on the diagonal.

    >>> diagonal(np.array([[2.0, 1.0], [3.0, 0.0]]))
    1
    """
    return int((square.argmax(1) == np.arange(len(square))).sum())


def ids_of(letters: str) -> list[int]:
    """Return the ids of a learner's letters; large ones count as small, spaces are left out.

    Raises ValueError for anything else, for fewer than 2 letters, and for more than T.
    """
    kept = "".join(letters.lower().split())
    for character in kept:
        if character not in LETTERS:
            raise ValueError(f"only the letters a to z can be read; got {character!r}")
    if not 2 <= len(kept) <= T:
        raise ValueError(f"the models read 2 to {T} letters; got {len(kept)}")
    return [LETTERS.index(letter) for letter in kept]


def next_chances(model: GPT, ids: Sequence[int]) -> np.ndarray:
    """Return the probability of each next letter (V,)."""
    from llmviz.interpretability.heads_on_text import last_logits
    from llmviz.sampling.steps import softmax

    return softmax(last_logits(model, ids).astype(np.float64))
