"""What a model that reads tokens knows of letters, and of tokens that it never read.

`python -m experiments make token-letters` measures it again, a minute or two on one core, and
writes `data/experiments/token-letters.json`. Reading it needs no torch.

V vocabulary, C width, N tokens.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from llmviz.corpus.letter_questions import SPELLINGS, WHOLE, cut
from llmviz.corpus.words import words
from llmviz.evaluation.exact_loss import log_softmax
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.records import Recorded, typed

if TYPE_CHECKING:
    from llmviz.models.base import LanguageModel
    from llmviz.tokenizers import Tokenizer

FILE = "token-letters.json"
COMMAND = "python -m experiments make token-letters"
MODEL = "tiny-world-gpt"
BEFORE = (
    "One spring morning, Anna Bramblemere the baker woke up happy. Next door lived Hugo Ravenwick, "
    "a kind cook. They met at the"
)
AFTER = ". Then Anna ate ham with butter. Hugo nodded happily. And where was Anna? At the"
COUNTED = 3_000  # stories in which tokens are counted
FOLDS = 5
VOWELS = "aeiou"


def spelled(tokenizer: Tokenizer, word: str, way: str) -> list[int]:
    """Return a word behind a space as ids: as it is cut, in two halves, or letter by letter.

    The text is the same each time. Raises ValueError for an empty word or an unknown way.
    """
    if not word or way not in SPELLINGS:
        raise ValueError(f"a word and one of {', '.join(SPELLINGS)} is needed; got {word!r}, {way}")
    first, *others = cut(word, way)
    parts = [f" {first}", *others]
    return [token for part in parts for token in tokenizer.encode(part)]


class Recalled(NamedTuple):
    """How probable a place is as the answer, when the story has it in one spelling.

    right: whether each of its tokens is the most probable one. guess: the most probable token
    where the answer begins.
    """

    probability: float
    right: bool
    guess: int


def recall(model: LanguageModel, tokenizer: Tokenizer, word: str, way: str) -> Recalled:
    """Return whether a model finds the place again that the story names in one spelling.

    The answer is asked for as the tokenizer cuts it, whatever the spelling in the story.
    Raises ValueError as `spelled`, and for a word that is too long for the context.
    """
    import torch

    answer = spelled(tokenizer, word, WHOLE)
    story = [*tokenizer.start, *tokenizer.encode(BEFORE), *spelled(tokenizer, word, way)]
    story += tokenizer.encode(AFTER)
    ids = [*story, *answer[:-1]]
    if len(ids) > model.context_length:
        raise ValueError(
            f"the word is too long: with the story it has {len(ids)} tokens, and the model reads "
            f"{model.context_length}"
        )
    with torch.inference_mode():
        logits = model(torch.tensor([ids]))[0][0, len(story) - 1 :].double().numpy()
    log_p = log_softmax(logits)[np.arange(len(answer)), answer]
    best = logits.argmax(-1)
    return Recalled(math.exp(float(log_p.sum())), bool((best == answer).all()), int(best[0]))


class Row(NamedTuple):
    """A token's row of the embedding table: its length, and the nearest rows with their cosines."""

    norm: float
    nearest: list[tuple[int, float]]


def row_of(table: np.ndarray, token: int, count: int = 5) -> Row:
    """Return a row's length and its nearest neighbours by cosine; table (V, C)."""
    norms = np.linalg.norm(table, axis=1)
    cosines = table @ table[token] / (norms * norms[token])
    cosines[token] = -2
    best = np.argsort(-cosines, kind="stable")[:count]
    return Row(float(norms[token]), [(int(i), float(cosines[i])) for i in best])


class Met(NamedTuple):
    """What a model does with one token more: the loss of what follows, with and without it.

    best: the most probable tokens right behind it, with their probabilities.
    """

    with_it: float
    without: float
    best: list[tuple[int, float]]


def meet(model: LanguageModel, tokenizer: Tokenizer, token: int, count: int = 5) -> Met:
    """Return what follows when a token stands between BEFORE and AFTER, as the place."""
    import torch

    front = [*tokenizer.start, *tokenizer.encode(BEFORE)]
    after = tokenizer.encode(AFTER)
    known = tokenizer.encode(f" {words('places')[0]}")
    losses = []
    for place in ([token], known):
        ids = [*front, *place, *after]
        with torch.inference_mode():
            logits = model(torch.tensor([ids[:-1]]))[0][0].double().numpy()
        start = len(front) + len(place)
        rows = log_softmax(logits[start - 1 :])
        losses.append(-float(rows[np.arange(len(after)), after].mean()))
        if len(losses) == 1:
            p = np.exp(rows[0])
            best = np.argsort(-p, kind="stable")[:count]
    return Met(losses[0], losses[1], [(int(i), float(p[i])) for i in best])


@dataclass(frozen=True)
class Spelling:
    """How many places of all are found again in one spelling, and the mean probability."""

    words: int
    right: int
    mean: float


@dataclass(frozen=True)
class LetterProbe:
    """How well a linear probe of embedding rows tells one thing of a token's letters.

    accuracy: its mean over folds of tokens that it did not learn from; error: its standard error
    over the folds. guess: the share of the most frequent class.
    """

    tokens: int
    classes: int
    accuracy: float
    error: float
    guess: float


@dataclass(frozen=True)
class TokenLetters:
    """What was measured: by spelling, by what a probe asks, and how often each token was read."""

    spellings: dict[str, Spelling]
    probes: dict[str, LetterProbe]
    counts: list[int]  # (V,)


PROBES: dict[str, Callable[[str], Any]] = {
    "vowel behind an article": lambda text: text[0] in VOWELS,
    "vowel elsewhere": lambda text: text[0] in VOWELS,
    "first": lambda text: text[0],
    "last": lambda text: text[-1],
    "length": len,
}
"""What is asked of a word's letters: whether it begins with a vowel, its first and last letter …"""


@cache
def recorded(folder: Path = EXPERIMENT_FOLDER) -> TokenLetters:
    """Return what was measured; ValueError where the file is missing or damaged."""
    with Recorded(folder / FILE, COMMAND) as content:
        found = typed(content, TokenLetters)
        if set(found.spellings) != set(SPELLINGS) or set(found.probes) != set(PROBES):
            raise ValueError("a spelling or a probe is missing")
        return found
