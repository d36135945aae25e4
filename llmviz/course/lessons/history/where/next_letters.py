"""The next letter of a name from four programs: rules, counted pairs, a small network, a GPT.

T positions of names, V vocabulary. Torch is imported on first use.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from llmviz.corpus.counts import LETTERS
from llmviz.models.ngram import ADD_ONE, NGrams, positions

if TYPE_CHECKING:
    from llmviz.models.base import LanguageModel
    from llmviz.tokenizers import Tokenizer

END = LETTERS[0]
VOWELS = "aeiou"
RULES = (
    ("after q comes u", lambda name: "u" if name[-1] == "q" else None),
    (
        "a name of six letters or more that ends with a vowel is over",
        lambda name: END if len(name) >= 6 and name[-1] in VOWELS else None,
    ),
    ("after a vowel comes n", lambda name: "n" if name[-1] in VOWELS else None),
    (
        "after two consonants comes i",
        lambda name: "i" if len(name) > 1 and name[-2] not in VOWELS else None,
    ),
    ("after one consonant comes a", lambda name: "a"),
)


def next_by_rules(name: str) -> tuple[str, str]:
    """Return the letter that the first rule that fits gives after a name, and that rule.

    A name of no letter begins with a.

    >>> next_by_rules("maq")
    ('u', 'after q comes u')
    """
    if not name:
        return "a", "a name begins with a"
    return next((letter, rule) for rule, apply in RULES if (letter := apply(name)) is not None)


def right_by_rules(names: Sequence[str]) -> float:
    """Return the share of the letters of names, ends included, that the rules tell in advance."""
    hits = [
        next_by_rules(name[:at])[0] == (name[at] if at < len(name) else END)
        for name in names
        for at in range(len(name) + 1)
    ]
    return float(np.mean(hits))


def right_by_counts(grams: NGrams, names: Sequence[str], n: int) -> float:
    """Return that share for the letter that came most often after the last n."""
    contexts, symbols = positions(names, grams.longest)
    return float((grams.rows(contexts, n, ADD_ONE).argmax(1) == symbols).mean())


def right_by_model(model: LanguageModel, tokenizer: Tokenizer, names: Sequence[str]) -> float:
    """Return that share for the token that a model finds most probable; names fit its context."""
    import torch

    from llmviz.tokenizers import ENDOFTEXT

    end = tokenizer.special_tokens[ENDOFTEXT]
    rows = [[end, *tokenizer.encode(name), end] for name in names]
    longest = max(map(len, rows))
    ids = torch.tensor([row + [end] * (longest - len(row)) for row in rows])
    real = torch.tensor([[1] * (len(row) - 1) + [0] * (longest - len(row)) for row in rows])
    with torch.inference_mode():
        best = model(ids[:, :-1])[0].argmax(-1)  # (N, T)
    return float(((best == ids[:, 1:]) & real.bool()).sum() / real.sum())


def chances_after(model: LanguageModel, tokenizer: Tokenizer, name: str) -> np.ndarray:
    """Return the probability of the end and of each letter a to z after a name, (27,).

    What the vocabulary has besides is left out, so that they may add up to a little less than 1.
    """
    import torch

    from llmviz.tokenizers import ENDOFTEXT

    end = tokenizer.special_tokens[ENDOFTEXT]
    with torch.inference_mode():
        logits = model(torch.tensor([[end, *tokenizer.encode(name)]]))[0][0, -1].double()
    p = logits.softmax(-1).numpy()
    return p[[end, *(tokenizer.encode(letter)[0] for letter in LETTERS[1:])]]


def continue_by_dice(
    model: LanguageModel, tokenizer: Tokenizer, name: str, seed: int, longest: int
) -> str:
    """Return a name continued by a model, one random number a letter, at most `longest` letters."""
    chance = np.random.default_rng(seed)
    while len(name) < longest:
        ends = np.cumsum(chances_after(model, tokenizer, name))
        drawn = int(np.searchsorted(ends, chance.random() * ends[-1], side="right"))
        if drawn in (0, len(LETTERS)):
            break
        name += LETTERS[drawn]
    return name
