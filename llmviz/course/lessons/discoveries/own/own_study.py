"""A study of the learner's: one setting at three values, the same seeds for each, one measure.

Everything else is the same in all its runs: it stands in the study's `base`, a `Plan`. Each run is
trained as any other one. Nothing here needs torch.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from llmviz.config import default_of, settings_of
from llmviz.files.text import check_text
from llmviz.models.catalogue import MODELS, entry_of
from llmviz.models.settings import ACTIVATIONS, POSITIONS
from llmviz.training.config import ON_ONE_CORE, OPTIMIZERS, SCHEDULES, Plan, TrainConfig
from llmviz.training.references import SAMPLE
from llmviz.training.settings_file import following

VALUES = 3
LEAST_STEPS, MOST_STEPS, MOST_SEEDS = 20, 3_000, 5
MOST_HYPOTHESIS = 400  # characters
LOOKS = 20  # validation losses of a run that is to reach a loss
LOOKED_AT = 256  # windows of each of these
SAME = "same"  # as a prediction: no two values differ by more than seeds do
PREDICTIONS = ("1", "2", "3", SAME)  # else the number of the value that will be best
WORLD = "tiny-world"
# The models whose loss is that of the next token; that of others is counted per something else.
TRAINED = tuple(name for name, entry in MODELS.items() if entry.next_token)


@dataclass(frozen=True)
class Varied:
    """A setting that may vary: the part of a plan that has it, its range here or its choices.

    start: the three values that stand there first.
    """

    where: str  # model, train or plan
    start: tuple[Any, ...]
    low: float = 0.0
    high: float = 0.0
    choices: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether its values are whole numbers."""
        return isinstance(self.start[0], int)


SETTINGS: dict[str, Varied] = {
    "n_embd": Varied("model", (16, 32, 64), 4, 96),
    "n_layer": Varied("model", (1, 2, 4), 1, 6),
    "n_head": Varied("model", (1, 2, 4), 1, 16),
    "hidden_size": Varied("model", (32, 64, 128), 4, 384),
    "window": Varied("model", (2, 4, 8), 1, 16),
    "dropout": Varied("model", (0.0, 0.1, 0.3), 0, 0.8),
    "activation": Varied("model", ("gelu", "relu", "swiglu"), choices=ACTIVATIONS),
    "positions": Varied("model", ("learned", "rotary", "none"), choices=POSITIONS),
    "learning_rate": Varied("train", (0.001, 0.005, 0.02), 1e-5, 10),
    "batch_size": Varied("train", (4, 16, 64), 1, 64),
    "weight_decay": Varied("train", (0.0, 0.1, 1.0), 0, 10),
    "label_smoothing": Varied("train", (0.0, 0.1, 0.3), 0, 0.9),
    "warmup_steps": Varied("train", (0, 20, 100), 0, MOST_STEPS),
    "optimizer": Varied("train", ("adamw", "rmsprop", "sgd"), choices=OPTIMIZERS),
    "schedule": Varied("train", SCHEDULES, choices=SCHEDULES),
    "context_length": Varied("plan", (8, 16, 32), 2, 128),
    "characters": Varied("plan", (50_000, 200_000, 800_000), 20_000, 1_000_000),
}


@dataclass(frozen=True)
class Measure:
    """What is measured of a run; of stories alone, where the grammar has to be known."""

    higher_is_better: bool = False
    of_stories: bool = False


MEASURES = {
    "validation": Measure(),
    "floor": Measure(of_stories=True),
    "rules": Measure(higher_is_better=True, of_stories=True),
    "gap": Measure(),
    "reach": Measure(),
    "pace": Measure(higher_is_better=True),
    "parameters": Measure(),
}
# How each text is read: characters, and windows that suit it.
TEXTS: dict[str, dict[str, Any]] = {
    "stories": {"corpus": SAMPLE, "windows": "documents", "context_length": 64},
    "names": {"corpus": "names", "windows": "padded", "context_length": 16},
}


@dataclass(frozen=True)
class Study:
    """All that says how a study is made, and what was expected before it.

    values: of the setting. seeds: how many, from 0. target: the loss that `reach` counts the steps
    to, in nats. prediction: one of PREDICTIONS. base: the plan of all runs, apart from the setting
    and the seed. Raises ValueError naming the rule and the value.
    """

    setting: str
    values: tuple[Any, ...]
    measure: str
    seeds: int
    prediction: str
    hypothesis: str
    base: Plan
    target: float = 2.0

    def __post_init__(self) -> None:
        for name, value, known in (
            ("setting", self.setting, SETTINGS),
            ("measure", self.measure, MEASURES),
            ("prediction", self.prediction, PREDICTIONS),
            ("model", self.base.model, TRAINED),
        ):
            if value not in known:
                raise ValueError(f"{name} must be one of {', '.join(known)}; got {value!r:.80}")
        check_values(self.setting, self.values)
        whole = isinstance(self.seeds, int) and not isinstance(self.seeds, bool)
        if not whole or not 1 <= self.seeds <= MOST_SEEDS:
            raise ValueError(
                f"seeds must be a whole number from 1 to {MOST_SEEDS}; got {self.seeds!r:.80}"
            )
        if isinstance(self.target, bool) or not isinstance(self.target, int | float):
            raise ValueError(f"target must be a number; got {self.target!r:.80}")
        if not 0 < self.target < 100:
            raise ValueError(f"target must be above 0 and below 100 nats; got {self.target}")
        if not isinstance(self.hypothesis, str) or not self.hypothesis.strip():
            raise ValueError("hypothesis must be a sentence: write what you expect, and why")
        if len(check_text(self.hypothesis)) > MOST_HYPOTHESIS:
            raise ValueError(
                f"hypothesis must have at most {MOST_HYPOTHESIS} characters; "
                f"got {len(self.hypothesis)}"
            )
        if not LEAST_STEPS <= self.base.train.steps <= MOST_STEPS:
            raise ValueError(
                f"steps must be from {LEAST_STEPS} to {MOST_STEPS:,}; got {self.base.train.steps:,}"
            )
        self._check_together()

    def _check_together(self) -> None:
        """Refuse what cannot work together: settings, the model's own rules, a measure."""
        if not has_setting(self.base.model, self.setting):
            having = ", ".join(model for model in TRAINED if has_setting(model, self.setting))
            raise ValueError(
                f"{self.base.model} has no setting {self.setting}; it is one of {having}"
            )
        stories = self.base.corpus.startswith(WORLD)
        if not stories and self.setting == "characters":
            raise ValueError("characters can vary for the stories only: names are as many as given")
        if not stories and MEASURES[self.measure].of_stories:
            raise ValueError(
                f"{self.measure} is known for the stories only, whose grammar is known; "
                f"got corpus={self.base.corpus}"
            )
        if self.measure == "gap" and self.setting == "label_smoothing":
            raise ValueError(
                "gap cannot be compared where label_smoothing varies, which is a part of the "
                "training loss itself"
            )
        for value in self.values:
            plan = self.plan(value, 0)
            entry_of(plan.model).config.from_dict(
                {"context_length": plan.context_length, **plan.model_options}
            )

    def __hash__(self) -> int:
        return hash(self.key)

    @cached_property
    def key(self) -> str:
        """Return a name that only this study has: other settings, another expectation, another."""
        written = json.dumps(dataclasses.asdict(self), sort_keys=True)
        return "own-" + hashlib.sha256(written.encode("utf-8")).hexdigest()[:16]

    @property
    def higher_is_better(self) -> bool:
        return MEASURES[self.measure].higher_is_better

    @property
    def best_predicted(self) -> int | None:
        """The place of the value that was said to be the best; None where all were said equal."""
        return None if self.prediction == SAME else int(self.prediction) - 1

    def plan(self, value: Any, seed: int) -> Plan:
        """Return the plan of one run. Raises ValueError as `Plan` and `TrainConfig` do."""
        where = SETTINGS[self.setting].where
        train: dict[str, Any] = {"seed": seed}
        changes: dict[str, Any] = {}
        if where == "model":
            changes["model_options"] = {**self.base.model_options, self.setting: value}
        elif where == "train":
            train[self.setting] = value
            if self.setting == "learning_rate":
                train["min_lr"] = following(value, self.base.train.steps)["min_lr"]
        elif self.setting == "characters":  # each seed holds out other stories
            changes = {"corpus": WORLD, "characters": value, "split_seed": seed}
        else:
            changes[self.setting] = value
        settings = dataclasses.replace(self.base.train, **train)
        if self.measure == "reach":
            settings = dataclasses.replace(
                settings,
                eval_every=max(1, settings.steps // LOOKS),
                eval_batches=max(1, LOOKED_AT // settings.batch_size),
            )
        return dataclasses.replace(self.base, **changes, train=settings)

    def runs(self) -> dict[str, Plan]:
        """Return the plans of all runs by name, all values of a seed before the next seed."""
        return {
            run_name(place, seed): self.plan(value, seed)
            for seed in range(self.seeds)
            for place, value in enumerate(self.values)
        }


def run_name(place: int, seed: int) -> str:
    """Return what the folder of a run is called.

    >>> run_name(0, 2)
    'value-1-seed-2'
    """
    return f"value-{place + 1}-seed-{seed}"


def has_setting(model: str, setting: str) -> bool:
    """Return whether a model has a setting that may vary; those of training are everybody's."""
    entry = entry_of(model)
    own = setting in settings_of(entry.config) and setting not in entry.not_in_forms
    return own or SETTINGS[setting].where != "model"


def base_plan(model: str, text: str, steps: int) -> Plan:
    """Return the plan of a small model that learns a text in so many steps.

    Raises ValueError naming the rule for what there is not.
    """
    if text not in TEXTS:
        raise ValueError(f"text must be one of {', '.join(TEXTS)}; got {text!r:.80}")
    config = entry_of(model).config
    own = settings_of(config)
    options = {name: small for name, small in (("n_head", 4), ("n_embd", 32)) if name in own}
    if "n_layer" in own:
        options["n_layer"] = min(2, default_of(config, "n_layer"))
    if "hidden_size" in own and default_of(config, "hidden_size") is not None:
        options["hidden_size"] = 64
    train = TrainConfig(
        steps=steps,
        batch_size=16,
        learning_rate=5e-3,
        **following(5e-3, steps),
        eval_every=0,
        eval_batches=0,
        log_every=max(1, steps // 50),
        checkpoint_every=max(1, steps // 4),
        **ON_ONE_CORE,
    )
    return Plan(model=model, model_options=options, tokenizer="char", train=train, **TEXTS[text])


def read_values(setting: str, written: str) -> tuple[Any, ...]:
    """Return the three values of a setting that are written with commas between them.

    Raises ValueError naming the rule and the value: they are not three, one is no number or no
    choice, is out of range, or stands there twice.

    >>> read_values("n_embd", "16, 32, 64")
    (16, 32, 64)
    """
    about = SETTINGS[setting]
    values: list[Any] = [part.strip() for part in written.split(",") if part.strip()]
    if not about.choices:
        values = [_number(setting, value, about) for value in values]
    check_values(setting, values)
    return tuple(values)


def _number(setting: str, written: str, about: Varied) -> float:
    kind = "a whole number" if about.is_whole else "a number"
    try:
        return int(written) if about.is_whole else float(written)
    except ValueError:
        raise ValueError(f"each value of {setting} must be {kind}; got {written!r:.40}") from None


def check_values(setting: str, values: Sequence[Any]) -> None:
    """Raise ValueError for values that are not three, not different, or not in range."""
    about = SETTINGS[setting]
    if len(values) != VALUES:
        raise ValueError(
            f"{setting} needs {VALUES} values, with commas between them; got {len(values)}"
        )
    for value in values:
        if about.choices:
            if value not in about.choices:
                raise ValueError(
                    f"each value of {setting} must be one of {', '.join(about.choices)}; "
                    f"got {value!r:.40}"
                )
            continue
        whole = "whole " if about.is_whole else ""
        kind = int if about.is_whole else int | float
        good = isinstance(value, kind) and not isinstance(value, bool)
        if not good or not about.low <= value <= about.high:
            raise ValueError(
                f"each value of {setting} must be a {whole}number from {about.low:g} to "
                f"{about.high:,g}; got {value!r:.40}"
            )
    for value in values:
        if list(values).count(value) > 1:
            raise ValueError(f"the {VALUES} values of {setting} must differ; got {value} twice")
