"""Two tests of ten questions each, of like difficulty: the same ten tasks with other numbers.

A task is a function that turns its numbers into what a question says, every answer computed: by the
engine where it has the step. The wrong answers are what usual mistakes give. Torch is imported on
first use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

TESTS = ("a", "b")
Values = dict[str, Any]


class Item(NamedTuple):
    """A question of a test: the name of its text, and what is filled into it."""

    name: str
    values: Values


def pieces(merges: Sequence[str], word: str) -> Values:
    """How merges, such as "e+r", cut a word: in their order, by the longest token, or not at all.

    The word is of the letters a to z.
    """
    from llmviz.tokenizers import BPETokenizer

    ids = {chr(letter): letter for letter in range(256)}
    pairs: list[tuple[int, int]] = []
    for merge in merges:
        left, right = merge.split("+")
        ids[left + right] = 256 + len(pairs)
        pairs.append((ids[left], ids[right]))
    tokenizer = BPETokenizer(pairs)

    def cut(tokens: Sequence[int]) -> str:
        return " | ".join(tokenizer.token_bytes(token).decode() for token in tokens)

    return {
        "word": word,
        "merges": ", then ".join(merge.replace("+", " + ") for merge in merges),
        "right": cut(tokenizer.encode(word)),
        "longest": cut(tokenizer.greedy_left_to_right(word)),
        "letters": " | ".join(word),
        "whole": word,
    }


def direction(vectors: Mapping[str, tuple[int, int]], query: str) -> Values:
    """Which vector of two numbers has the largest cosine with one of them, and which others not.

    Raises ValueError: the vectors are not one of each kind.
    """
    from llmviz.similarity import cosine, euclidean

    given = np.array(vectors[query], dtype=float)
    others = {name: np.array(v, dtype=float) for name, v in vectors.items() if name != query}
    cosines = {name: float(cosine(given, v)) for name, v in others.items()}
    far = {name: float(euclidean(given, v)) for name, v in others.items()}
    right = max(cosines, key=cosines.__getitem__)
    near = min(far, key=far.__getitem__)
    opposite = min(cosines, key=cosines.__getitem__)
    (square,) = set(others) - {right, near, opposite} or {""}
    if len({right, near, opposite, square}) < 4:
        raise ValueError(f"the vectors {dict(vectors)} are not one of each kind")
    named = {"right": right, "near": near, "opposite": opposite, "square": square}
    return {
        "given": query,
        "vectors": ", ".join(f"{name} = ({x}, {y})" for name, (x, y) in vectors.items()).replace(
            "-", "−"
        ),
        "distance": far[near],
        **named,
        **{f"{kind}_cosine": cosines[name] for kind, name in named.items()},
    }


def weights(tokens: int, asks: int, asked: int) -> Values:
    """The weight of one token for an earlier one where all scores are equal, under the causal mask.

    asks, asked: their numbers, from 1.
    """
    import torch

    from llmviz.nn.attention import attention, causal_mask

    same = torch.zeros(tokens, 1, dtype=torch.float64)
    row = attention(same, same, same, causal_mask(tokens)).weights[asks - 1]
    every = attention(same, same, same).weights[asks - 1]
    return {
        "tokens": tokens,
        "asks": asks,
        "asked": asked,
        "right": float(row[asked - 1]),
        "unmasked": float(every[asked - 1]),
        "without_itself": 1 / (asks - 1),
    }


def copied(text: str) -> Values:
    """What a head copies that looks for the last token's earlier place; letters, four of them."""
    at = text.index(text[-1])
    return {
        "text": " ".join(text),
        "right": text[at + 1],
        "itself": text[-1],
        "last": text[-2],
        "first": text[0],
    }


def tries(share: str, times: int) -> Values:
    """How probable it is that one of some tries is right; share: of a try, a decimal number."""
    one_try = Fraction(share)
    return {
        "share": share,
        "times": times,
        "right": float(1 - (1 - one_try) ** times),
        "sum": float(one_try * times),
        "every": float(one_try**times),
        "alone": float(one_try),
    }


def pairs(word: str, letter: str, following: str) -> Values:
    """The share of a letter after another one in a word, by counting pairs; and other shares."""
    from llmviz.models.bigram import CountBigram

    letters = sorted(set(word))
    ids = [letters.index(char) for char in word]
    at, wanted = letters.index(letter), letters.index(following)
    model = CountBigram.fit(ids, len(letters))
    row = model.counts[at]
    kinds = int((row > 0).sum())
    return {
        "word": word,
        "letter": letter,
        "following": following,
        "right": float(model.probabilities()[at, wanted]),
        "times": int(row[wanted]),
        "all": int(row.sum()),
        "of_pairs": float(row[wanted] / model.counts.sum()),
        "pairs": int(model.counts.sum()),
        "of_kinds": 1 / kinds,
        "kinds": kinds,
        "of_letters": word.count(following) / len(word),
    }


def calibrated(asked: int, sure: int) -> Values:
    """How many answers are right of a calibrated model that is so sure of each, in percent."""
    right = asked * sure // 100
    return {
        "asked": asked,
        "sure": sure,
        "right": right,
        "wrong": asked - right,
        "half": asked // 2,
    }


def stop(training: Sequence[float], new: Sequence[float]) -> Values:
    """Which state of a run fits new texts best, by its losses; and by what others would be chosen.

    The states are numbered from 1.
    """
    read, unread = np.array(training), np.array(new)
    by = {
        "right": unread,
        "trained": read,
        "near": np.abs(unread - read),
        "together": unread + read,
    }
    states = {name: int(values.argmin()) + 1 for name, values in by.items()}
    return {
        "training": ", ".join(f"{loss:.1f}" for loss in training),
        "new": ", ".join(f"{loss:.1f}" for loss in new),
        "lowest": float(unread.min()),
        **states,
    }


def temperature(share: int, temperature: float) -> Values:
    """How many times as probable one token is as another at a temperature; share: at 1."""
    from llmviz.sampling.steps import apply_temperature, softmax

    p = softmax(apply_temperature(np.log([float(share), 1.0]), temperature))
    root = softmax(apply_temperature(np.log([float(share), 1.0]), 1 / temperature))
    return {
        "share": share,
        "temperature": temperature,
        "right": float(p[0] / p[1]),
        "times": share / temperature,
        "root": float(root[0] / root[1]),
    }


def adapter(rows: int, columns: int, rank: int) -> Values:
    """How many numbers LoRA trains beside a matrix, and how many it does not."""
    return {
        "rows": rows,
        "columns": columns,
        "rank": rank,
        "right": rank * (rows + columns),
        "whole": rows * columns,
        "alone": rank * columns,
        "square": rank * rank,
    }


@dataclass(frozen=True)
class Task:
    """One of the ten: the function that computes it, and its numbers in each test."""

    compute: Callable[..., Values]
    numbers: Mapping[str, tuple[Any, ...]]


TASKS = (
    Task(
        pieces,
        {
            "a": (("e+r", "w+er", "l+o", "lo+w"), "lower"),
            "b": (("e+n", "k+en", "t+a", "ta+k"), "taken"),
        },
    ),
    Task(
        direction,
        {
            "a": ({"a": (2, 1), "b": (6, 3), "c": (2, 2), "d": (-2, -1), "e": (-1, 2)}, "a"),
            "b": ({"a": (1, 2), "b": (-2, 1), "c": (2, 2), "d": (-1, -2), "e": (3, 6)}, "a"),
        },
    ),
    Task(weights, {"a": (8, 5, 2), "b": (10, 4, 3)}),
    Task(copied, {"a": ("mktak",), "b": ("rdnsd",)}),
    Task(tries, {"a": ("0.2", 3), "b": ("0.4", 2)}),
    Task(pairs, {"a": ("abracadabra", "a", "b"), "b": ("barbarian", "a", "r")}),
    Task(calibrated, {"a": (40, 90), "b": (60, 80)}),
    Task(
        stop,
        {
            "a": ((3.1, 2.4, 1.9, 1.5, 1.3), (3.2, 2.6, 2.3, 2.5, 2.9)),
            "b": ((2.9, 2.1, 1.6, 1.3, 1.1), (3.0, 2.3, 2.5, 2.6, 3.1)),
        },
    ),
    Task(temperature, {"a": (3, 0.5), "b": (4, 0.5)}),
    Task(adapter, {"a": (90, 50, 2), "b": (80, 40, 3)}),
)


def items(test: str) -> list[Item]:
    """Return the ten questions of a test, "a" or "b"."""
    return [Item(task.compute.__name__, task.compute(*task.numbers[test])) for task in TASKS]
