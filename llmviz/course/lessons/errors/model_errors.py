"""How wrong a model is on held-out stories, and how sure it was: measured once, and bundled.

`python -m experiments make model-errors` measures the bundled models again, some minutes on one
core, and writes `data/experiments/model-errors.json`. Reading it needs no torch.

S temperatures, B bins, N stories.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from llmviz.corpus.next_tokens import true_tokens
from llmviz.evaluation import calibration
from llmviz.evaluation.exact_loss import CorpusLoss, corpus_loss, divide_logits, story_logits
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.records import Recorded, typed
from llmviz.training.held_out_texts import CALIBRATION_SEED, stories

if TYPE_CHECKING:
    from llmviz.models.base import LanguageModel
    from llmviz.tokenizers import Tokenizer

FILE = "model-errors.json"
COMMAND = "python -m experiments make model-errors"
STORIES, TO_FIT = 100, 30  # held-out stories that are measured, and others that T is fitted to
DRAWS = 300  # of the stories, to see how far the error would differ with others
CAME, TRUE = "came", "true"  # what a guess is held against: the token that came, or its chance
BASE = "tiny-world-gpt"
PREFERENCES = "preferences"
PREFERRED: dict[str, Any] = {
    "rule": "place",
    "steps": 40,
    "beta": 0.1,
}  # as the chapter on preferences opens
TUNED = ("instructions", "instructions-alone", PREFERENCES)  # changed from BASE


@dataclass(frozen=True)
class ModelErrors:
    """What was measured of one model.

    corpus: the parts of its loss. counts (S, B), and the sums (S, B) of how sure the guesses were,
    how many were right and how probable they truly were. losses (S,): nats per token. fitted: the
    temperature of the lowest loss, on other stories. came_error, true_error (S,): standard errors
    of the expected calibration error, against what came and against the true probabilities.
    """

    corpus: CorpusLoss
    counts: np.ndarray
    confidence: np.ndarray
    right: np.ndarray
    true: np.ndarray
    losses: np.ndarray
    fitted: float
    came_error: np.ndarray
    true_error: np.ndarray

    def reliability(self, temperature: float, against: str = CAME) -> calibration.Reliability:
        at = calibration.TEMPERATURES.index(temperature)
        counts, sure = self.counts[at], self.confidence[at]
        held = (self.right if against == CAME else self.true)[at]
        full = counts > 0
        with np.errstate(invalid="ignore"):
            means = sure / counts, held / counts
        error = float(np.abs(sure - held)[full].sum() / counts.sum())
        return calibration.Reliability(counts, *means, error)

    def spread(self, temperature: float, against: str = CAME) -> float:
        """The standard error of the expected calibration error at one of the temperatures."""
        errors = self.came_error if against == CAME else self.true_error
        return float(errors[calibration.TEMPERATURES.index(temperature)])

    def loss(self, temperature: float) -> float:
        """The mean loss at one of the temperatures, nats per token."""
        return float(self.losses[calibration.TEMPERATURES.index(temperature)])


def measure(
    model: LanguageModel, tokenizer: Tokenizer, texts: Sequence[str], to_fit: Sequence[str]
) -> Iterator[int | ModelErrors]:
    """Yield how many stories are read, of all, and at the end what was measured.

    Raises ValueError for a tokenizer whose tokens have no known truth, or no story to measure.
    """
    parts, sums, losses = [], [], []
    for number, text in enumerate(texts):
        truth = true_tokens(text, tokenizer)
        logits = story_logits(model, tokenizer, truth)
        parts.append(divide_logits(logits, truth))
        guesses = calibration.guesses_from(logits, truth)
        sums.append(_binned(guesses))
        losses.append(guesses.losses.sum(-1))
        yield number + 1
    corpus = corpus_loss(parts)
    fit_to: list[np.ndarray] = []
    targets: list[int] = []
    for number, text in enumerate(to_fit):
        truth = true_tokens(text, tokenizer)
        fit_to.append(story_logits(model, tokenizer, truth))
        targets += truth.ids[: len(fit_to[-1])]
        yield len(texts) + number + 1
    each = np.array(sums)  # (N, 4, S, B)
    counts, sure, right, true = each.sum(0)
    yield ModelErrors(
        corpus,
        counts,
        sure,
        right,
        true,
        np.array(losses).sum(0) / corpus.tokens,
        calibration.fit_temperature(np.concatenate(fit_to), np.array(targets)),
        _spread(each[:, 0], each[:, 1] - each[:, 2]),
        _spread(each[:, 0], each[:, 1] - each[:, 3]),
    )


def _binned(guesses: calibration.Guesses) -> np.ndarray:
    """Counts and sums (4, S, B) of a story's guesses; see `reliability` for the bins."""
    found = np.zeros((4, len(guesses.temperatures), calibration.BINS))
    for s, sure in enumerate(guesses.confidence):
        places = np.clip(np.ceil(sure * calibration.BINS).astype(int) - 1, 0, calibration.BINS - 1)
        for row, values in enumerate((None, sure, guesses.right, guesses.true)):
            weights = None if values is None else np.asarray(values, float)
            found[row, s] = np.bincount(places, weights, calibration.BINS)
    return found


def _spread(counts: np.ndarray, gaps: np.ndarray) -> np.ndarray:
    """The standard error (S,) of the expected calibration error, by drawing stories again.

    counts, gaps (N, S, B): of each story. Reference: Efron 1979, the bootstrap.
    """
    chance, n = np.random.default_rng(0), len(counts)
    drawn = []
    for _ in range(DRAWS):
        chosen = chance.integers(0, n, n)
        total = counts[chosen].sum((0, 2))
        drawn.append(np.abs(gaps[chosen].sum(0)).sum(-1) / total)
    return np.std(drawn, axis=0)


def measure_named(name: str) -> Iterator[int | ModelErrors]:
    """Measure a model by its name, as a bundled one or a run has it; see `measure`."""
    model, tokenizer = _load(name)
    yield from measure(model, tokenizer, stories(STORIES), stories(TO_FIT, CALIBRATION_SEED))


def _load(name: str) -> tuple[LanguageModel, Tokenizer]:
    from llmviz.finetuning.adapted import adapted_by
    from llmviz.finetuning.preference_run import Learned, preference_run
    from llmviz.finetuning.tuned_models import tuned_model
    from llmviz.models.transformers import require_transformer
    from llmviz.nn.lora_config import LoraConfig
    from llmviz.pretrained import load_bundled

    model, tokenizer, _ = load_bundled(BASE if name in TUNED else name)
    if name == PREFERENCES:
        *_, learned = preference_run(**PREFERRED)
        assert isinstance(learned, Learned)
        model = adapted_by(require_transformer(model), LoraConfig(8, 16.0), learned.pairs)
    elif name in TUNED:
        model = tuned_model(model, name)
    return model, tokenizer


@cache
def recorded(folder: Path = EXPERIMENT_FOLDER) -> dict[str, ModelErrors]:
    """Return what was measured of the bundled models, by name.

    Raises ValueError where the file is missing or damaged.
    """
    with Recorded(folder / FILE, COMMAND) as content:
        return typed(content["models"], dict[str, ModelErrors])
