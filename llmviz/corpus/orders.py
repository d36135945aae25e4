"""Texts of orders: guests say what they want, and some change their mind.

B texts, T orders, M guests who are asked.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import torch
from torch import Tensor

GUESTS = re.findall(
    r"\w+",
    "Ada Ben Cleo Dan Elif Finn Gül Hugo Ida Jan Kim Leo Mia Noor Olga Pia Quinn Rosa Sami Tom "
    "Uma Vera Wei Xena Yan Zoe Amir Bea Carl Dora Emil Fay Gus Hana Ivo June Kofi Lara Max Nina",
)
DISHES = re.findall(
    r"\w+",
    "tea soup rice cake fish salad bread beans pasta curry juice milk coffee pie eggs toast",
)


class Orders(NamedTuple):
    """Texts of orders: a guest who orders again has changed their mind."""

    guests: Tensor  # (B, T) ids
    dishes: Tensor  # (B, T)
    queries: Tensor  # (B, M) all guests
    right: Tensor  # (B, M) the dish that each ordered last
    again: Tensor  # (B, M) whether that was a second order


def orders(texts: int, guests: int, changed: int, generator: torch.Generator) -> Orders:
    """Draw texts in which so many guests order, and `changed` of them once more, another dish.

    Raises ValueError for more guests than there are, and more changes than guests.
    """
    if not (1 <= guests <= len(GUESTS) and 0 <= changed <= guests):
        raise ValueError(
            f"guests must be from 1 to {len(GUESTS)}, and changes at most as many; "
            f"got {guests} and {changed}"
        )
    drawn = torch.rand(texts, len(GUESTS), generator=generator).argsort(1)[:, :guests]
    places = torch.rand(texts, guests, generator=generator).argsort(1)[:, :changed]
    first = torch.randint(len(DISHES), (texts, guests), generator=generator)
    other = torch.randint(1, len(DISHES), (texts, changed), generator=generator)
    second = (first.gather(1, places) + other) % len(DISHES)
    return Orders(
        torch.cat([drawn, drawn.gather(1, places)], 1),
        torch.cat([first, second], 1),
        drawn,
        first.scatter(1, places, second),
        torch.zeros_like(first, dtype=torch.bool).scatter(1, places, value=True),
    )


def notepad(guests: int, room: int) -> float:
    """Return the share right of a notepad that has room for so many orders, and guesses the rest.

    >>> notepad(3, 4), notepad(8, 4)
    (1.0, 0.53125)
    """
    kept = min(guests, room)
    return (kept + (guests - kept) / len(DISHES)) / guests
