"""Waiters who are asked what guests ordered, with a list of all orders or one matrix for them all.

The list is the attention of a transformer. Matrices differ in what a write does to what was there
before.

B texts, T orders, M guests who are asked, C width of an embedding, D size of keys and values.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from llmviz.corpus.orders import DISHES, GUESTS
from llmviz.nn.state_memory import delta_rule, state_space

LIST, MATRICES = "list", ("adds", "replaces", "fades")
KINDS = (LIST, *MATRICES)  # softmax attention; linear attention, delta rule, gated state space
WIDTH = 32  # C


class Written(NamedTuple):
    """What the orders leave in the state, which is keysᵀ · values."""

    keys: Tensor  # (…, T, D)
    values: Tensor  # (…, T, D)


class Waiter(nn.Module):
    """One layer: the guest of an order makes its key, the dish its value; a guest asked, a query.

    kind: one of KINDS. The list may prefer later orders, by one learned number (as ALiBi, Press et
    al. 2021); else nobody could tell a second order from a first one. No order is looked at as a
    token in a text would be: guest and dish come in one step.
    """

    def __init__(self, kind: str, size: int):
        super().__init__()
        self.kind = kind
        self.guest, self.dish = nn.Embedding(len(GUESTS), WIDTH), nn.Embedding(len(DISHES), WIDTH)
        self.query, self.key, self.value = (nn.Linear(WIDTH, size, bias=False) for _ in range(3))
        self.head = nn.Linear(size, len(DISHES))
        if kind == "replaces":
            self.gate = nn.Linear(WIDTH, 1)
        elif kind == "fades":
            self.gate = nn.Linear(WIDTH, size)
            nn.init.constant_(self.gate.bias, 4.0)  # nearly nothing fades at first
        elif kind == LIST:
            self.later = nn.Parameter(torch.zeros(()))

    def written(self, guests: Tensor, dishes: Tensor) -> Written:
        """Return what orders (…, T) leave in the matrix; for the list, its keys and values."""
        guest, dish = self.guest(guests), self.dish(dishes)
        k, v = self.key(guest), self.value(dish)
        if self.kind == "replaces":
            beta = self.gate(guest + dish).sigmoid().squeeze(-1)
            return Written(delta_rule.unit(k), delta_rule.written(k, v, beta))
        if self.kind == "fades":
            return Written(state_space.left(k, self.gate(guest + dish).sigmoid()), v)
        return Written(k, v)

    def answers(self, guests: Tensor, dishes: Tensor, asked: Tensor) -> Tensor:
        """Return what the list or the matrix answers to each guest asked, (…, M, D)."""
        q, (k, v) = self.query(self.guest(asked)), self.written(guests, dishes)
        if self.kind == LIST:
            scores = q @ k.mT * k.shape[-1] ** -0.5  # (…, M, T)
            return (scores + self.later * torch.arange(k.shape[-2])).softmax(-1) @ v
        return q @ (k.mT @ v)

    def forward(self, guests: Tensor, dishes: Tensor, asked: Tensor) -> Tensor:
        """Return the logits of the dishes, (…, M, dishes)."""
        logits: Tensor = self.head(self.answers(guests, dishes, asked))
        return logits


def numbers_kept(kind: str, size: int, told: int) -> int:
    """Return how many numbers a kind holds after so many orders."""
    return 2 * told * size if kind == LIST else size * size


def multiplications(kind: str, size: int, told: int) -> int:
    """Return those of hearing one order more, the last of `told`, and answering one question.

    Keys, values and queries are made alike by all, and left out. A matrix is written by one
    product a cell, and read by another; the delta rule reads before it writes, and what fades is
    multiplied by its rate.
    """
    if kind == LIST:
        return 2 * told * size  # a score from each key, and a share of each value
    return (2 if kind == "adds" else 3) * size * size
