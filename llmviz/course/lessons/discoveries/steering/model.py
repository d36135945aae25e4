"""The story model steered: doses against effect and damage, and what goes with a direction.

`python -m experiments make steering` measures it again, some minutes on one thread, and writes
`data/experiments/steering.json` and `steering.safetensors`. Reading needs no torch but for the
directions.

C = n_embd, D doses, S sets of stories or seeds, R rules.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from llmviz.corpus.states import LABELS, categories_of
from llmviz.corpus.words import words
from llmviz.course.lessons.discoveries.features_record import MODEL, bundle
from llmviz.course.lessons.discoveries.features_record import scores as feature_scores
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.interpretability.steering import Push, Written, measure, texts_of, write
from llmviz.records import require
from llmviz.training.files import read_json
from llmviz.training.held_out_texts import SEED, stories

FILE, DIRECTIONS = "steering.json", "steering.safetensors"
COMMAND = "python -m experiments make steering"
LAYERS = (0, 1, 2, 3)
MEANS, FEATURE, HEAD = "means", "feature", "head"
KINDS = (MEANS, FEATURE, HEAD)
DOSES = (-1.0, 0.0, 0.25, 0.5, 1.0, 2.0)
HEAD_DOSES = (-1.0, 0.0, 1.0, 2.0, 4.0, 8.0)
TOKENS, COPIES, SETS = 24, 8, 3  # that are written; texts of a dose; seeds, each with own stories
STORIES = 8  # of a set, on which the loss is measured
OTHER_SEED = SEED + 20  # of the stories for losses
REMOVED_IN = 20  # stories of a set, with a direction removed
RANDOM = 3  # directions
PROMPT = (
    "Once there was an odd baker called Nora Copperdale. The best friend she had was Ravi "
    "Nettleton, a kind doctor. They met at the harbour."
)
_PAIRS = {
    "rule possession": ("names",),
    "rule places": ("places",),
    "rule names": ("surnames",),
    "rule attributes": ("colours", "sizes"),
    "rule sounds": ("sounds",),
    "rule capitals": ("capitals",),
    "rule pairs": ("roles",),
    "rule opposites": ("contraries",),
    "rule sums": ("numbers",),
    "rule days": ("days",),
}
_WORDS = {
    "rule pronouns": "he she his her He She",
    "rule agreement": "was were",
    "rule quotes": "said",
    "rule brackets": "bedtime",
    "state she": "she her She",
    "state he": "he his He",
}
TARGETS = (*(label for label in LABELS if not label.startswith("state ")), "state she", "state he")
"""The labels that have words of their own, which can be counted."""


def words_of(target: str) -> frozenset[str]:
    kind, _, name = target.partition(" ")
    if target in _WORDS:
        return frozenset(_WORDS[target].split())
    categories = categories_of(name) if kind == "word" else _PAIRS[target]
    return frozenset(word for category in categories for word in words(category))


@dataclass(frozen=True)
class Choice:
    """What is turned up, and what is counted.

    kind: the difference of two means for the target, its best feature, or a head. Raises ValueError
    naming the rule and the value.
    """

    kind: str = MEANS
    target: str = "rule names"
    layer: int = 2
    head: int = 0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}; got {self.kind!r}")
        if self.target not in TARGETS:
            raise ValueError(
                f"target must be one of the {len(TARGETS)} labels; got {self.target!r}"
            )
        if self.layer not in LAYERS:
            raise ValueError(f"layer must be from 0 to {LAYERS[-1]}; got {self.layer}")

    @property
    def doses(self) -> tuple[float, ...]:
        return HEAD_DOSES if self.kind == HEAD else DOSES

    @property
    def push(self) -> Push:
        """What a dose of 1 does."""
        if self.kind == HEAD:
            return Push(self.layer, head=self.head)
        if self.kind == MEANS:
            return Push(self.layer, difference(self.layer, self.target))
        feature = self.feature
        found = bundle(self.layer)
        highest = float(found.highest[feature])
        return Push(self.layer, found.dictionary.directions[feature] * highest)

    @property
    def feature(self) -> int:
        """The feature that tells the target best."""
        score = next(score for score in feature_scores().of(self.layer) if score.seed == 0)
        return score.best[LABELS.index(self.target)]


@dataclass(frozen=True, eq=False)
class Steered:
    """What was measured of a choice: by set (S) and dose (D).

    losses: nats per token on other stories. text: one of the first set for each dose. known:
    whether the grammar can have written the prompt, so that what is kept can be measured.
    """

    choice: Choice
    prompt: str
    doses: tuple[float, ...]
    written: tuple[tuple[Written, ...], ...]
    losses: tuple[tuple[float, ...], ...]
    texts: tuple[str, ...]
    known: bool

    def of(self, name: str) -> np.ndarray:
        """A field of `Written` (S, D)."""
        return np.array([[getattr(text, name) for text in row] for row in self.written])

    @property
    def damage(self) -> np.ndarray:
        """How much higher the loss is than without it (S, D)."""
        losses = np.array(self.losses)
        return losses - losses[:, [self.doses.index(0.0)]]


@dataclass(frozen=True, eq=False)
class Going:
    """How far it is, from 0 to 1; steered: at the end."""

    done: float
    steered: Steered | None = None


def steer(choice: Choice, prompt: str) -> Iterator[Going]:
    """Write and measure at each dose, and yield how far it is; the result comes last.

    Raises ValueError for a prompt that is too long.
    """
    from llmviz.corpus.grammar_likelihood import kept_characters
    from llmviz.interpretability.stream_reading import losses_with
    from llmviz.models.transformers import require_dense
    from llmviz.pretrained import load_bundled

    yield Going(0.0)
    model, tokenizer, _ = load_bundled(MODEL)
    gpt = require_dense(model)
    push, ids = choice.push, tokenizer.encode_from_start(prompt)
    written, losses = [], []
    shown: list[str] = []
    for number in range(SETS):
        rows = write(gpt, ids, push, choice.doses, TOKENS, COPIES, seed=number)
        texts = texts_of(rows, tokenizer)
        written.append(tuple(measure(prompt, group, words_of(choice.target)) for group in texts))
        shown = shown or [group[0] for group in texts]
        yield Going((number + 0.3) / SETS)
        drawn = stories(STORIES, OTHER_SEED + number)
        others = [tokenizer.encode_from_start(story) for story in drawn]
        of_set = []
        for at, dose in enumerate(choice.doses):
            change = push.change(dose, gpt.config.n_head)
            of_set.append(float(losses_with(gpt, others, push.tap, change).mean()))
            yield Going((number + 0.3 + 0.7 * (at + 1) / len(choice.doses)) / SETS)
        losses.append(tuple(of_set))
    known = kept_characters(prompt) == len(prompt)
    yield Going(
        1.0,
        Steered(choice, prompt, choice.doses, tuple(written), tuple(losses), tuple(shown), known),
    )


@dataclass(frozen=True, eq=False)
class Removals:
    """How the loss rises with a direction removed at the end of a layer: by the rule that decides.

    rises (S, R, R + 1): with the difference of means of the first rule removed, at the places of
    the second; the last column is where no rule decides. by_feature (S, R, R + 1): with the
    direction of the feature removed that tells the rule best. random (S, RANDOM, R + 1): with
    directions of chance. tokens (R + 1,): such places, all sets. plain (R + 1,): the loss as it is.
    """

    layer: int
    rises: np.ndarray
    by_feature: np.ndarray
    random: np.ndarray
    tokens: np.ndarray
    plain: np.ndarray


@cache
def _directions(folder: Path) -> dict[str, np.ndarray]:
    from llmviz.training.tensors import load_tensors

    path = require(folder / DIRECTIONS, COMMAND)
    return {name: tensor.float().numpy() for name, tensor in load_tensors(path).items()}


def difference(layer: int, target: str, folder: Path = EXPERIMENT_FOLDER) -> np.ndarray:
    """Return the mean of the stream where a label is on, minus that where it is off (C,)."""
    return _directions(folder)[f"means.{layer}"][TARGETS.index(target)]


@dataclass(frozen=True, eq=False)
class Record:
    """All that comes along. weights: the sha256 of the model's file."""

    weights: str
    steered: tuple[Steered, ...]
    removals: Removals
    by_choice: dict[Choice, Steered] = field(default_factory=dict)


@cache
def recorded(folder: Path = EXPERIMENT_FOLDER) -> Record:
    """Return what comes along. Raises ValueError where it is missing or damaged."""
    path = require(folder / FILE, COMMAND)
    _directions(folder)
    try:
        listed = read_json(path)
        every = tuple(map(_steered, listed["steered"]))
        parts = dict(listed["removals"])
        layer = int(parts.pop("layer"))
        removals = Removals(layer, **{k: np.array(v, float) for k, v in parts.items()})
        known = {steered.choice: steered for steered in every}
        return Record(str(listed["weights"]), every, removals, known)
    except (KeyError, TypeError) as error:
        raise ValueError(f"{path} is damaged; `{COMMAND}` makes it again") from error


def _steered(values: dict[str, Any]) -> Steered:
    return Steered(
        Choice(**values["choice"]),
        values["prompt"],
        tuple(values["doses"]),
        tuple(tuple(Written(**each) for each in row) for row in values["written"]),
        tuple(tuple(row) for row in values["losses"]),
        tuple(values["texts"]),
        bool(values["known"]),
    )
