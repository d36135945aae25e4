"""The table of letter pairs that the counted bigram model starts from."""

import csv
from itertools import pairwise

import numpy as np

from llmviz.files.paths import DATA

LETTERS = ".abcdefghijklmnopqrstuvwxyz"
"""Rows (the letter before) and columns (the letter after); the dot is the start and the end."""


def letter_pair_counts() -> np.ndarray:
    """Return the counts of letter pairs in 32,033 names: int64 (27, 27), in the order of LETTERS.

    Raises ValueError if the bundled table is not 27 × 27.
    """
    with (DATA / "names-counts.csv").open(encoding="utf-8", newline="") as file:
        table = np.array([[int(cell) for cell in row] for row in csv.reader(file)], dtype=np.int64)
    if table.shape != (len(LETTERS), len(LETTERS)):
        raise ValueError(f"names-counts must be 27 × 27; got {table.shape}")
    return table


def count_letter_pairs(names: list[str]) -> np.ndarray:
    """Count letter pairs in names, start and end included: int64 (27, 27).

    Raises ValueError for a name with another character than a to z.
    """
    table = np.zeros((len(LETTERS), len(LETTERS)), dtype=np.int64)
    for name in names:
        ids = [LETTERS.find(letter) for letter in f".{name.lower()}."]
        if min(ids) < 0 or 0 in ids[1:-1]:
            raise ValueError(f"a name must hold the letters a to z only; got {name!r}")
        for left, right in pairwise(ids):
            table[left, right] += 1
    return table
