"""One test for all models: which letter came first, asked after 1 to 60 more letters.

A string is 61 random letters from a to z. In training each string is asked once, after a number of
letters that is drawn from 1 to 60: which letter was the first? The letters in between carry no
hint, so what is right in more than one of 26 cases has been remembered. Measured is the answer at
every distance.

`python -m experiments make first-letter` trains six models on this, all alike, and writes
`data/experiments/first-letter/MODEL/`: model.safetensors (float16) and card.json with the command
and how often the model was right at each distance. Reading a card needs no torch.

T = 61 letters.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import ascii_lowercase as LETTERS
from typing import TYPE_CHECKING, Any

import numpy as np

from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.models.base import LanguageModel
from llmviz.training.config import ON_ONE_CORE, TrainConfig
from llmviz.training.errors import CheckpointError
from llmviz.training.files import read_json, write_json

if TYPE_CHECKING:
    from torch import Tensor

FARTHEST = 60  # letters after the first one, at most
LENGTH = FARTHEST + 1
CHANCE = 1 / len(LETTERS)
TEST_STRINGS = 2000  # strings that a card's shares are over
FOLDER, CARD, MODEL = "first-letter", "card.json", "model.safetensors"
_TRAINING, _HELD_OUT = 1, 2  # parts of the random numbers: no string is in both but by chance

# All small: fewer than 30,000 parameters each. The tree takes 32 letters in five levels of pairs.
OPTIONS: dict[str, dict[str, Any]] = {
    "mlp": {"window": 8, "n_embd": 16, "hidden_size": 96},
    "wavenet": {"n_layer": 5, "n_embd": 16, "hidden_size": 48},
    "rnn": {"n_embd": 32, "hidden_size": 64},
    "gru": {"n_embd": 32, "hidden_size": 64},
    "lstm": {"n_embd": 32, "hidden_size": 64},
    "gpt": {"n_layer": 2, "n_head": 4, "n_embd": 32},
}
TRAINING = TrainConfig(
    steps=3000,
    batch_size=64,
    learning_rate=3e-3,
    min_lr=0.0,
    warmup_steps=100,
    weight_decay=0.0,
    eval_every=0,
    eval_batches=4,
    log_every=100,
    checkpoint_every=0,
    **ON_ONE_CORE,
)


def settings(name: str) -> dict[str, Any]:
    """The settings of one of the models, as `build` takes them."""
    return {"vocab_size": len(LETTERS), "context_length": LENGTH, **_known(name)}


def _known(name: str) -> Mapping[str, Any]:
    if name not in OPTIONS:
        raise ValueError(f"the model must be one of {', '.join(OPTIONS)}; got {name!r}")
    return OPTIONS[name]


def strings(part: int, number: int, rows: int, seed: int = 0) -> np.ndarray:
    """Random letters as ids, int64 (rows, T): the same for the same part, number and seed.

    >>> strings(1, 5, 3).shape
    (3, 61)
    """
    return np.random.default_rng((seed, part, number)).integers(0, len(LETTERS), (rows, LENGTH))


@dataclass(frozen=True)
class FirstLetterData:
    """Batches for `train`: random strings, each asked for its first letter at one place."""

    seed: int = 0
    vocab_size: int = len(LETTERS)
    context_length: int = LENGTH

    def batch(self, step: int, rows: int) -> tuple[Tensor, Tensor]:
        """Letters and targets of update `step`, int64 (rows, T) both."""
        return self._asked(_TRAINING, step, rows)

    def validation_batches(self, rows: int, count: int) -> Iterator[tuple[Tensor, Tensor]]:
        """`count` batches of other strings."""
        for number in range(count):
            yield self._asked(_HELD_OUT, 1 + number, rows)

    def count(self, batch: tuple[Tensor, ...]) -> int:
        """One question a string."""
        return len(batch[-1])

    def _asked(self, part: int, number: int, rows: int) -> tuple[Tensor, Tensor]:
        import torch

        from llmviz.nn.loss import IGNORED

        letters = torch.from_numpy(strings(part, number, rows, self.seed))
        chance = np.random.default_rng((self.seed, part, number, rows))
        places = torch.from_numpy(chance.integers(1, LENGTH, rows))
        targets = torch.full_like(letters, IGNORED)
        targets[torch.arange(rows), places] = letters[:, 0]
        return letters, targets


def shares_right(model: LanguageModel, questions: int = TEST_STRINGS) -> list[float]:
    """How often a model's likeliest letter is the first one, after 1 to 60 more letters."""
    import torch

    letters = torch.from_numpy(strings(_HELD_OUT, 0, questions))
    right = torch.zeros(LENGTH)
    with torch.no_grad():
        for rows in letters.split(250):
            right += (model(rows)[0].argmax(-1) == rows[:, :1]).sum(0)
    return [round(float(share), 6) for share in right[1:] / questions]


def folder_of(name: str) -> Path:
    """Where a bundled model and its card are. Raises ValueError for an unknown name."""
    _known(name)
    return EXPERIMENT_FOLDER / FOLDER / name


def there() -> list[str]:
    """The models that are in this copy, in the order of OPTIONS."""
    return [name for name in OPTIONS if (folder_of(name) / CARD).is_file()]


def read_card(name: str) -> dict[str, Any]:
    """How a bundled model was trained, and `right`, its share of right answers by distance.

    Raises ValueError where the card is not there, damaged, or without 60 shares from 0 to 1.
    """
    card = read_json(folder_of(name) / CARD)
    right = card.get("right")
    shares = right if isinstance(right, list) else []
    fine = all(isinstance(share, int | float) and 0 <= share <= 1 for share in shares)
    if len(shares) != FARTHEST or not fine or not isinstance(card.get("parameters"), int):
        raise CheckpointError(f"the card of {name} does not hold {FARTHEST} shares from 0 to 1")
    return card


def load(name: str) -> LanguageModel:
    """One of the bundled models, in eval mode. Raises ValueError where it is not there."""
    from llmviz.models import build
    from llmviz.training.tensors import load_tensors, load_weights

    path = folder_of(name) / MODEL
    model = build(name, settings(name))
    weights = {key: value.float() for key, value in load_tensors(path).items()}
    load_weights(model, weights, str(path))
    return model.eval().requires_grad_(False)


def make(
    name: str, target: Path = EXPERIMENT_FOLDER / FOLDER, steps: int = TRAINING.steps
) -> dict[str, Any]:
    """Train one model, write its weights and its card below `target`, and return the card.

    steps: another number of them, for a trial. Raises ValueError for an unknown name.
    """
    import torch

    from llmviz.models import build, count_parameters
    from llmviz.training.checkpoints import versions
    from llmviz.training.loop import train
    from llmviz.training.tensors import load_tensors, load_weights, save_tensors

    plan = TrainConfig.from_dict(
        TRAINING.to_dict() | {"steps": steps, "warmup_steps": min(100, steps // 4)}
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(plan.seed)
        model = build(name, settings(name))
    begun = time.perf_counter()
    *_, last = train(model, FirstLetterData(plan.seed), plan)
    seconds = time.perf_counter() - begun
    folder = target / name
    folder.mkdir(parents=True, exist_ok=True)
    save_tensors(folder / MODEL, model.state_dict(), torch.float16)
    # What is measured is what is bundled: the weights as they were rounded.
    rounded = {key: value.float() for key, value in load_tensors(folder / MODEL).items()}
    load_weights(model, rounded, str(folder))
    card = {
        "name": name,
        "command": f"python -m experiments make first-letter {name}",
        "model": {"name": name, "config": settings(name)},
        "parameters": count_parameters(model),
        "train": plan.to_dict(),
        "environment": versions(),
        "weights": "float16",
        "seconds": round(seconds, 1),
        "train_loss": last.train_loss,
        "validation_loss": last.validation_loss,
        "asked": TEST_STRINGS,
        "right": shares_right(model.eval()),
    }
    write_json(folder / CARD, card)
    return card


def reach(right: Sequence[float], least: float = 0.9) -> int:
    """The farthest distance up to which a model is right in at least this share of the strings.

    right: after 1, 2, … more letters. 0 where it fails already after one.

    >>> reach([1.0, 0.95, 0.2, 0.98])
    2
    """
    return next((at for at, share in enumerate(right) if share < least), len(right))


def beyond_luck(right: Sequence[float], questions: int = TEST_STRINGS) -> int:
    """The farthest distance up to which a model is right more often than pure chance may be.

    questions: of how many strings the shares are. Chance lies below 1 in 26 and three standard
    errors.
    """
    return reach(right, CHANCE + 3 * math.sqrt(CHANCE * (1 - CHANCE) / questions))
