"""Parity of bits: models that answer at once, after dots, or after steps that they write.

They learn from texts of all lengths from the start, or from short texts first.
`python -m experiments make think-first` trains the bundled models again, half an hour on one
thread, and writes `data/experiments/think-first.json` and two models, `think-first*.safetensors`.
B texts, T tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from llmviz.course.lessons.reasoning import parity_texts
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.records import require
from llmviz.sampling.steps import softmax
from llmviz.training import small_models
from llmviz.training.files import read_json

if TYPE_CHECKING:
    import torch

    from llmviz.models.gpt import GPT

FILE = "think-first.json"
COMMAND = "python -m experiments make think-first"
WRITES, AT_ONCE = (
    (parity_texts.MIXED, parity_texts.PATH),
    (parity_texts.SHORT_FIRST, parity_texts.DIRECT),
)
WEIGHTS = {WRITES: "think-first.safetensors", AT_ONCE: "think-first-at-once.safetensors"}
"""The two kinds of which the model of the first seed is bundled."""
SEEDS = (0, 1, 2)
LENGTHS = (1, 2, 4, 6, 8, 12, 16, 17, 18, 20)  # that are measured
TESTS = 200  # texts of each length
LAYERS, HEADS, WIDTH = 2, 4, 48
STEPS, RATE, WARMUP = 4000, 2e-3, 100
OWN, SHUFFLED, NONE = "own", "shuffled", "none"
SHOWN = (OWN, SHUFFLED, parity_texts.DOTS, NONE)
"""What stands before ":" when the model that writes a path is asked: its own path, that path in a
random order, as many dots, or nothing."""


@dataclass(frozen=True)
class Share:
    """How many of so many texts."""

    hits: int
    of: int

    @property
    def value(self) -> float:
        """The share, from 0 to 1."""
        return self.hits / self.of


@dataclass(frozen=True)
class Changed:
    """What follows where one step of the path is changed, in texts of TRAINED bits."""

    follows: Share  # the answer is the parity that the changed step and the bits after it give
    right: Share  # the answer is the parity of the bits all the same


@dataclass(frozen=True)
class Measured:
    """One model: right answers by length, and, where it writes a path, what the path is for."""

    order: str
    way: str
    seed: int
    loss: float  # of the last hundred steps
    right: dict[int, Share]
    steps_right: dict[int, Share]  # texts of which every step is right; empty without a path
    shown: dict[str, Share]  # right answers by what stands before ":"; empty without a path
    changed: Changed | None


def new_model() -> GPT:
    """Return a model with random weights, as torch's generator stands."""
    return small_models.new_gpt(
        vocab_size=len(parity_texts.TOKENS),
        context_length=2 * parity_texts.SLOTS + 2,
        n_layer=LAYERS,
        n_head=HEADS,
        n_embd=WIDTH,
    )


def logits_after(model: GPT, texts: torch.Tensor) -> np.ndarray:
    """Return the logits of the token after each text (B, T), as (B, V)."""
    import torch

    with torch.inference_mode():
        return model(texts, last_only=True)[0][:, -1].numpy()


def share(hits: np.ndarray) -> Share:
    return Share(int(hits.sum()), len(hits))


def multiplications(tokens: int) -> int:
    """Return how many multiplications a model does to read so many tokens and predict the next.

    Each token goes once through every matrix: 12·C² in a block, and V·C for the one prediction of
    each token. Attention multiplies each query with the keys so far, and each weight with a value.
    """
    seen = tokens * (tokens + 1) // 2
    return (
        LAYERS * (12 * WIDTH**2 * tokens + 2 * WIDTH * seen)
        + len(parity_texts.TOKENS) * WIDTH * tokens
    )


def _share(value: dict[str, int]) -> Share:
    return Share(value["hits"], value["of"])


@cache
def recorded(folder: Path = EXPERIMENT_FOLDER) -> dict[tuple[str, str], list[Measured]]:
    """Return the bundled results, three models for each order and way, by the two.

    Raises ValueError, naming the command: they are missing or damaged.
    """
    path = require(folder / FILE, COMMAND)
    found: dict[tuple[str, str], list[Measured]] = {
        kind: [] for kind in product(parity_texts.ORDERS, parity_texts.WAYS)
    }
    try:
        for model in read_json(path)["models"]:
            changed = model["changed"]
            found[model["order"], model["way"]].append(
                Measured(
                    model["order"],
                    model["way"],
                    model["seed"],
                    model["loss"],
                    {int(n): _share(value) for n, value in model["right"].items()},
                    {int(n): _share(value) for n, value in model["steps_right"].items()},
                    {name: _share(value) for name, value in model["shown"].items()},
                    changed and Changed(_share(changed["follows"]), _share(changed["right"])),
                )
            )
        whole = all(len(models) == len(SEEDS) for models in found.values())
    except (KeyError, TypeError, AttributeError):
        whole = False
    if not whole:
        raise ValueError(f"{path} is damaged; `{COMMAND}` makes it again")
    return found


@cache
def bundled(kind: tuple[str, str] = WRITES, folder: Path = EXPERIMENT_FOLDER) -> GPT:
    """Return the bundled model of a kind in WEIGHTS. Raises ValueError where it is missing."""
    return small_models.read_weights(folder / WEIGHTS[kind], COMMAND, lambda _: new_model())


@dataclass(frozen=True)
class Step:
    """One written step: the token, the probability of 1 before it, and who wrote it."""

    token: int
    chance: float  # of 1, among all tokens
    changed: bool = False


@dataclass(frozen=True)
class Written:
    """A path as a model wrote it, and its answer."""

    bits: tuple[int, ...]
    steps: tuple[Step, ...]
    answer: int
    confidence: float  # the probability of the answer, among all tokens

    @property
    def path(self) -> list[int]:
        """The tokens of the steps."""
        return [step.token for step in self.steps]

    @property
    def is_right(self) -> bool:
        """Whether the answer is the parity of the bits."""
        return self.answer == sum(self.bits) % 2

    @property
    def slips(self) -> list[int]:
        """The places, from 0, at which a step does not follow from the step before and its bit."""
        before = [0, *self.path]
        rows = zip(self.bits, before, self.path, strict=False)
        return [at for at, (bit, last, now) in enumerate(rows) if now != last ^ bit]


def write(model: GPT, bits: Sequence[int], change: int | None = None) -> Written:
    """Let a model write a path of as many steps as there are bits, and answer.

    change: the place, from 0, of a step that is turned around before the model goes on.
    Raises ValueError for bits that are none, or a place where no step is.
    """
    if change is not None and not 0 <= change < len(bits):
        raise ValueError(f"there are {len(bits)} steps; got place {change}")
    text, steps = parity_texts.question(bits), []
    for at in range(len(bits)):
        chances = _chances(model, text)
        token = int(chances[1] > chances[0])
        if at == change:
            token = 1 - token
        steps.append(Step(token, float(chances[1]), at == change))
        text.append(token)
    return _answered(model, bits, steps, text)


def write_at_once(model: GPT, bits: Sequence[int]) -> Written:
    """Let a model answer without a path. Raises ValueError for bits that are none."""
    return _answered(model, bits, [], parity_texts.question(bits))


def _answered(model: GPT, bits: Sequence[int], steps: list[Step], text: list[int]) -> Written:
    chances = _chances(model, [*text, parity_texts.COLON])
    answer = int(chances[1] > chances[0])
    return Written(tuple(bits), tuple(steps), answer, float(chances[answer]))


def _chances(model: GPT, text: list[int]) -> np.ndarray:
    import torch

    logits: Any = logits_after(model, torch.tensor([text]))[0].astype(float)
    return softmax(logits)
