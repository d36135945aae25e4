"""Is a model as sure as it is right? Reliability, expected calibration error, temperature scaling.

N tokens, B bins, S temperatures, V vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from llmviz.corpus.next_tokens import TrueTokens, true_tokens
from llmviz.evaluation.exact_loss import log_softmax, story_logits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from llmviz.models.base import LanguageModel
    from llmviz.tokenizers import Tokenizer

BINS = 10
TEMPERATURES = tuple(round(0.5 + 0.1 * step, 1) for step in range(16))  # to 2.0
NEAR = 1e-9  # of Newton's steps, when the temperature counts as found


@dataclass(frozen=True)
class Reliability:
    """N guesses put into B bins of equal width by how sure the model was.

    counts (B,); confidence, right (B,): the mean probability that the model gave its guesses, and
    the share of them that was right; NaN in an empty bin. error: the expected calibration error,
    the mean distance of the two, each bin weighing as many guesses as it has.
    """

    counts: np.ndarray
    confidence: np.ndarray
    right: np.ndarray
    error: float

    @property
    def overconfident(self) -> float:
        """The mean of confidence minus right: above 0, the model is surer than it is right."""
        full = self.counts > 0
        weights = self.counts[full] / self.counts.sum()
        return float(weights @ (self.confidence[full] - self.right[full]))


def reliability(confidence: np.ndarray, right: np.ndarray, bins: int = BINS) -> Reliability:
    """Return guesses (N,) by bins; right: whether each was right, or how probable it truly was.

    A bin has its upper end, not its lower one, but for the first, which has both.
    Reference: Guo et al. 2017, equations 2 and 3. Raises ValueError without a guess.
    """
    if not len(confidence):
        raise ValueError("calibration needs at least 1 guess; got 0")
    places = np.clip(np.ceil(confidence * bins).astype(int) - 1, 0, bins - 1)
    counts = np.bincount(places, minlength=bins)
    with np.errstate(invalid="ignore"):
        means = [
            np.bincount(places, weights=values, minlength=bins) / counts
            for values in (confidence, np.asarray(right, float))
        ]
    gaps = np.abs(means[0] - means[1])[counts > 0]
    error = float(gaps @ counts[counts > 0] / len(confidence))
    return Reliability(counts, means[0], means[1], error)


@dataclass(frozen=True)
class Guesses:
    """A model's first guess for each of N tokens, at S temperatures.

    confidence (S, N): the guess's probability; a temperature never changes which token it is. right
    (N,): whether this token came. true (N,): how probable it truly was. losses (S, N): −ln of the
    probability of the token that came, nats. story (N,): the number of its story.
    """

    temperatures: tuple[float, ...]
    confidence: np.ndarray
    right: np.ndarray
    true: np.ndarray
    losses: np.ndarray
    story: np.ndarray

    def at(self, temperature: float) -> int:
        """The number of a temperature; ValueError for one that was not looked at."""
        return self.temperatures.index(temperature)


def guesses_from(
    logits: np.ndarray, truth: TrueTokens, temperatures: tuple[float, ...] = TEMPERATURES
) -> Guesses:
    """Return the first guesses of logits (T, V), which stand before the first T tokens of a story.

    Where T is 0, there are no guesses.
    """
    count = len(logits)
    guess, ids = logits.argmax(-1), np.array(truth.ids[:count], np.int64)
    rows, confidence, losses = np.arange(count), [], []
    for temperature in temperatures:
        log_q = log_softmax(logits / temperature)
        confidence.append(np.exp(log_q[rows, guess]))
        losses.append(-log_q[rows, ids])
    pairs = zip(truth.following[:count], guess, strict=True)
    true = np.array([following.of(int(token)) for following, token in pairs])
    zeros = np.zeros(count, np.int64)
    return Guesses(temperatures, np.array(confidence), guess == ids, true, np.array(losses), zeros)


def guesses_of(
    model: LanguageModel,
    tokenizer: Tokenizer,
    texts: Sequence[str],
    temperatures: tuple[float, ...] = TEMPERATURES,
) -> Guesses:
    """Return the first guesses of a model for the tokens of stories, as far as they have a truth.

    Raises ValueError for a tokenizer whose tokens have no known truth.
    """
    parts = []
    for text in texts:
        truth = true_tokens(text, tokenizer)
        parts.append(guesses_from(story_logits(model, tokenizer, truth), truth, temperatures))
    return joined(parts)


def joined(parts: Sequence[Guesses]) -> Guesses:
    """Return the guesses of several sets of stories as one."""
    stories = np.concatenate([np.full(len(part.right), n) for n, part in enumerate(parts)])
    confidence, right, true, losses = (
        np.concatenate([getattr(part, name) for part in parts], axis=-1)
        for name in ("confidence", "right", "true", "losses")
    )
    return Guesses(parts[0].temperatures, confidence, right, true, losses, stories)


def fit_temperature(logits: np.ndarray, targets: np.ndarray) -> float:
    """Return the temperature at which logits (N, V) have the lowest mean loss on targets (N,).

    The loss is convex in 1/T, so Newton's steps find its one lowest place; T stays between 0.05
    and 20. Reference: Guo et al. 2017, section 4.2, temperature scaling.
    Raises ValueError without a target.
    """
    if not len(targets):
        raise ValueError("a temperature is fitted to at least 1 token; got 0")
    inverse, low, high = 1.0, 0.05, 20.0
    rows = np.arange(len(targets))
    for _ in range(100):
        p = np.exp(log_softmax(logits * inverse))
        mean = (p * logits).sum(-1)
        slope = float((mean - logits[rows, targets]).mean())
        if slope > 0:
            high = inverse
        else:
            low = inverse
        bend = float(((p * logits**2).sum(-1) - mean**2).mean())
        step = inverse - slope / bend if bend > 0 else low - 1
        after = step if low < step < high else (low + high) / 2
        if abs(after - inverse) < NEAR:
            return 1 / after
        inverse = after
    return 1 / inverse
