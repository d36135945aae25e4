"""A model's loss on a story, divided by the true distribution of each token.

Before a token the true distribution is p and the model's is q. In expectation the loss of the next
token is −Σ p ln q = H(p) + D(p‖q): the entropy of the world, which no model can know, and the
divergence, which a model with better knowledge would not have. The loss of the token that came
differs from this expectation by chance: the dice. Their mean goes to 0 over many texts.

T tokens, V vocabulary. All numbers are in nats.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from llmviz.corpus.next_tokens import TrueTokens, true_tokens
from llmviz.evaluation.text_loss import target_logits

if TYPE_CHECKING:
    from llmviz.models.base import LanguageModel
    from llmviz.tokenizers import Tokenizer

CERTAIN = 1e-9  # below so many nats, or so far apart, two numbers count as equal


@dataclass(frozen=True)
class DividedLoss:
    """The loss of T tokens of a story in its three parts, and what the model guesses first.

    loss, entropy, divergence (T,): nats. true, given (T,): the probability of the token that came,
    by the grammar and by the model. guess (T,): the model's most probable token; guess_true and
    best_true (T,): its true probability, and the highest true probability that any token has.
    """

    ids: np.ndarray
    loss: np.ndarray
    entropy: np.ndarray
    divergence: np.ndarray
    true: np.ndarray
    given: np.ndarray
    guess: np.ndarray
    guess_true: np.ndarray
    best_true: np.ndarray

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def dice(self) -> np.ndarray:
        """What chance adds to the loss of each token that came, or takes from it (T,)."""
        return self.loss - self.entropy - self.divergence

    @property
    def missed(self) -> np.ndarray:
        """Where another token came than the model's first guess (T,)."""
        return self.guess != self.ids

    @property
    def best_guess(self) -> np.ndarray:
        """Where no guess could have been better than the model's (T,)."""
        return self.guess_true > self.best_true - CERTAIN


def divide_logits(logits: np.ndarray, truth: TrueTokens) -> DividedLoss:
    """Return the parts of the loss; logits (T, V) before the first T tokens, all of them possible.

    Raises ValueError where more tokens are asked for than the grammar can have written.
    """
    count = len(logits)
    if count > truth.possible:
        raise ValueError(f"{truth.possible} tokens have a true probability; got {count} logits")
    log_q = log_softmax(logits)
    ids = np.array(truth.ids[:count], np.int64)
    guess = logits.argmax(-1) if count else ids
    loss = -log_q[np.arange(count), ids]
    parts = np.zeros((5, count))
    for t, following in enumerate(truth.following[:count]):
        p, least = following.probabilities, following.entropy
        expected = -float(p @ log_q[t, following.ids])
        parts[:, t] = (
            least,
            max(0.0, expected - least),
            following.of(int(ids[t])),
            following.of(int(guess[t])),
            p.max(),
        )
    entropy, divergence, true, guess_true, best_true = parts
    return DividedLoss(
        ids, loss, entropy, divergence, true, np.exp(-loss), guess, guess_true, best_true
    )


def divide_loss(model: LanguageModel, tokenizer: Tokenizer, text: str) -> DividedLoss:
    """Return the parts of a model's loss on a text, as far as it is a story and fits the context.

    Raises ValueError for a tokenizer whose tokens have no known truth.
    """
    truth = true_tokens(text, tokenizer)
    return divide_logits(story_logits(model, tokenizer, truth), truth)


def story_logits(model: LanguageModel, tokenizer: Tokenizer, truth: TrueTokens) -> np.ndarray:
    """Return a model's logits (T, V) before each token that was possible and fits the context."""
    count = min(truth.possible, model.context_length)
    ids = tokenizer.behind_start(truth.ids[:count])
    if not count:
        return np.zeros((0, tokenizer.vocab_size))
    return target_logits(model, ids)


def log_softmax(logits: np.ndarray) -> np.ndarray:
    """Return the logarithm of the softmax of each row."""
    shifted = logits - logits.max(-1, keepdims=True, initial=-math.inf)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


class Mean(NamedTuple):
    """A mean over the tokens of many stories, and its standard error, whole stories drawn."""

    value: float
    error: float


def mean_per_token(totals: Sequence[float], tokens: Sequence[int]) -> Mean:
    """Return the mean per token of what N stories have in total.

    Reference: the ratio estimator, Cochran 1977, Sampling Techniques, section 2.11. The error is
    infinite for one story. Raises ValueError without a token.
    """
    sums, counts = np.asarray(totals, float), np.asarray(tokens, float)
    if not counts.sum():
        raise ValueError("a mean per token needs at least 1 token; got 0")
    value = float(sums.sum() / counts.sum())
    n = len(sums)
    if n < 2:
        return Mean(value, math.inf)
    apart = sums - value * counts
    return Mean(value, float(math.sqrt(n / (n - 1) * (apart**2).sum()) / counts.sum()))


@dataclass(frozen=True)
class CorpusLoss:
    """The mean loss per token of N stories in its parts, and the misses of the first guess.

    by_dice: misses where no guess could have been better, per token; by_divergence: the others.
    """

    stories: int
    tokens: int
    loss: Mean
    entropy: Mean
    divergence: Mean
    dice: Mean
    by_dice: Mean
    by_divergence: Mean


def corpus_loss(stories: Sequence[DividedLoss]) -> CorpusLoss:
    """Return the parts of the loss over stories; ValueError where they have no token."""
    tokens = [len(story) for story in stories]

    def mean(values: list[Any]) -> Mean:
        return mean_per_token([float(part.sum()) for part in values], tokens)

    return CorpusLoss(
        len(stories),
        sum(tokens),
        mean([story.loss for story in stories]),
        mean([story.entropy for story in stories]),
        mean([story.divergence for story in stories]),
        mean([story.dice for story in stories]),
        mean([story.missed & story.best_guess for story in stories]),
        mean([story.missed & ~story.best_guess for story in stories]),
    )


def draw_again(truth: TrueTokens, count: int, seed: int) -> np.ndarray:
    """Return one token for each of the first `count` places, drawn from the true distribution.

    Each place keeps the text before it, so what is drawn is no story.
    """
    chance = np.random.default_rng(seed)
    drawn = [chance.choice(place.ids, p=place.probabilities) for place in truth.following[:count]]
    return np.array(drawn, np.int64)
