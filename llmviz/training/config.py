"""The settings of a training run: each says what it means, in which unit, in what range."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from typing import Any

from llmviz.config import setting
from llmviz.models.catalogue import DEFAULT

LAST_SEED = 2**31 - 1  # what every generator of random numbers takes
MOST_THREADS = 1024  # with many thousands the process ends, in the C library, without a message
DEVICES = ("auto", "cpu", "cuda", "mps")
DTYPES = ("auto", "float32", "bfloat16")
SCHEDULES = ("cosine", "linear", "constant")
OPTIMIZERS = ("adamw", "adam", "sgd", "momentum", "nesterov", "adagrad", "rmsprop")
COMPILE = ("auto", "on", "off")
WINDOWS = ("auto", "random", "documents", "padded", "sorted")
ONE_A_ROW = ("padded", "sorted")  # a document of its own in each row
OWN_TEXT = "corpus.txt"  # as a corpus: the text of this name in the run's own folder
TRAINED = ("char", "word", "bpe")  # tokenizers that are trained on the run's own corpus


@dataclass(frozen=True)
class TrainConfig:
    """How a model is trained; checks itself and raises ValueError naming the rule and the value.

    A step is one update of the weights. Steps are numbered from 1 to `steps`.
    """

    steps: int = setting(1000, "updates of the weights", "steps", 1, 200_000)
    batch_size: int = setting(
        32, "windows per update, over all processes and micro-batches", "windows", 1, 1024
    )
    accumulate: int = setting(
        1, "micro-batches an update is split into; changes memory, not the maths", "", 1, 64
    )
    learning_rate: float = setting(
        1e-3, "how far an update moves the weights; the schedule's highest value", "", 1e-6, 10
    )
    min_lr: float = setting(1e-4, "learning rate at the last step (cosine, linear)", "", 0, 10)
    warmup_steps: int = setting(
        50, "linear rise from zero to the learning rate", "steps", 0, 10_000
    )
    schedule: str = setting("cosine", "the learning rate after the warm-up", "", choices=SCHEDULES)
    optimizer: str = setting(
        "adamw", "how gradients become updates, torch's own", "", choices=OPTIMIZERS
    )
    weight_decay: float = setting(
        0.1, "pull of the matrices towards zero", "per unit of learning rate", 0, 10
    )
    beta1: float = setting(0.9, "memory for the gradient's mean (Adam), or momentum", "", 0, 0.999)
    beta2: float = setting(
        0.99, "memory for the gradient's mean square (Adam, RMSprop)", "", 0, 0.99999
    )
    grad_clip: float = setting(1.0, "longest gradient that is not cut; 0 = never cut", "", 0, 100)
    eval_every: int = setting(
        100, "between validation losses; 0 = only at the end", "steps", 0, 10_000
    )
    eval_batches: int = setting(
        20, "validation data each time; 0 = all of it", "batches", 0, 10_000
    )
    log_every: int = setting(
        1, "between points; a point's loss is the mean since the last", "steps", 1, 1000
    )
    sample_every: int = setting(0, "between samples of text; 0 = none", "steps", 0, 100_000)
    sample_tokens: int = setting(100, "length of a sample", "tokens", 1, 1000)
    checkpoint_every: int = setting(
        500, "between checkpoints; 0 = only at the end", "steps", 0, 100_000
    )
    snapshot_every: int = setting(
        0, "between checkpoints kept for good; 0 = none", "steps", 0, 100_000
    )
    seed: int = setting(
        0, "of the first weights, the order of the data, dropout, samples", "", 0, LAST_SEED
    )
    device: str = setting("auto", "auto = cuda, else mps, else cpu", "", choices=DEVICES)
    dtype: str = setting(
        "auto", "of the products; auto = the faster where measured", "", choices=DTYPES
    )
    compile: str = setting("auto", "torch.compile; auto = on CUDA only", "", choices=COMPILE)
    threads: int = setting(0, "0 = the fastest in a short trial", "CPU threads", 0, 256)
    shard: bool = setting(False, "under torchrun: weights and state split over processes (FSDP)")

    def __post_init__(self) -> None:
        for name in ("steps", "batch_size", "accumulate", "log_every", "sample_tokens"):
            self._at_least(name, 1)
        for name in ("warmup_steps", "eval_every", "eval_batches", "sample_every", "threads"):
            self._at_least(name, 0)
        for name in ("checkpoint_every", "snapshot_every", "seed"):
            self._at_least(name, 0)
        for name, most in (("seed", LAST_SEED), ("threads", MOST_THREADS)):
            if getattr(self, name) > most:
                raise ValueError(f"{name} must be at most {most}; got {getattr(self, name)}")
        for name in ("learning_rate", "min_lr", "weight_decay", "grad_clip"):
            self._number(name, above_zero=name == "learning_rate")
        if self.schedule != "constant" and self.min_lr > self.learning_rate:
            raise ValueError(
                "min_lr must not exceed learning_rate; "
                f"got {self.min_lr:g} > {self.learning_rate:g}"
            )
        for name in ("beta1", "beta2"):
            value = getattr(self, name)
            if not isinstance(value, int | float) or not 0 <= value < 1:
                raise ValueError(f"{name} must be in [0, 1); got {value!r}")
        if not isinstance(self.shard, bool):
            raise ValueError(f"shard must be true or false; got {self.shard!r}")
        if self.accumulate > self.batch_size:
            raise ValueError(
                f"accumulate must not exceed batch_size; got {self.accumulate} > {self.batch_size}"
            )
        self._one_of("schedule", SCHEDULES)
        self._one_of("optimizer", OPTIMIZERS)
        self._one_of("device", DEVICES)
        self._one_of("dtype", DTYPES)
        self._one_of("compile", COMPILE)

    def _at_least(self, name: str, low: int) -> None:
        value = getattr(self, name)
        if not isinstance(value, int) or isinstance(value, bool) or value < low:
            raise ValueError(f"{name} must be a whole number of at least {low}; got {value!r}")

    def _number(self, name: str, above_zero: bool) -> None:
        value = getattr(self, name)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not math.isfinite(value) or value < 0 or (above_zero and value == 0):
            rule = "above 0" if above_zero else "at least 0"
            raise ValueError(f"{name} must be a number {rule}; got {value!r}")

    def _one_of(self, name: str, choices: tuple[str, ...]) -> None:
        value = getattr(self, name)
        if value not in choices:
            raise ValueError(f"{name} must be one of {', '.join(choices)}; got {value!r}")

    def to_dict(self) -> dict[str, Any]:
        """The settings as plain JSON values."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> TrainConfig:
        """The settings from `to_dict`; an unknown name raises ValueError."""
        known = {field.name for field in dataclasses.fields(cls)}
        unknown = sorted(set(values) - known)
        if unknown:
            raise ValueError(f"TrainConfig has no field {', '.join(unknown)}")
        return cls(**values)


@dataclass(frozen=True)
class Plan:
    """What to train on what; plain values, so that it can be kept in config.json."""

    model: str = setting(DEFAULT, "name in the catalogue of models")
    model_options: dict[str, Any] = field(default_factory=dict)  # such as n_layer, n_embd
    corpus: str = setting("tiny-world", "bundled name or a text file")
    characters: int | None = setting(
        None, "how much tiny-world writes; none = 8 million", "characters", 10_000, 100_000_000
    )
    tokenizer: str = setting("char", "char, word, bpe: trained on the corpus; or gpt2 …")
    vocab_size: int | None = setting(
        None, "of a trained tokenizer; none = all there is, for bpe 1,024", "tokens", 2, 100_000
    )
    context_length: int = setting(64, "most that the model looks at at once", "tokens", 1, 4096)
    windows: str = setting(
        "auto",
        "how the text is cut: anywhere (random), from document starts (documents), one document a "
        "row (padded), or that with those of like length together (sorted)",
        choices=WINDOWS,
    )
    fraction: float = setting(0.1, "of the text that is kept for validation", "", 0.001, 0.5)
    split_seed: int = setting(0, "which documents those are", "", 0, LAST_SEED)
    exercises: float = setting(
        0.0,
        "share of the steps that practise who has what in tiny-world instead of reading",
        "",
        0,
        0.9,
    )
    train: TrainConfig = field(default_factory=TrainConfig)

    def __post_init__(self) -> None:
        for name in ("context_length", "characters", "vocab_size"):
            value = getattr(self, name)
            if value is None and name != "context_length":
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"{name} must be a whole number of at least 1; got {value!r}")
        if not 0 < self.fraction < 1:
            raise ValueError(f"fraction must be above 0 and below 1; got {self.fraction!r}")
        if self.windows not in WINDOWS:
            raise ValueError(f"windows must be one of {', '.join(WINDOWS)}; got {self.windows!r}")
        if not 0 <= self.exercises < 1:
            raise ValueError(f"exercises must be at least 0 and below 1; got {self.exercises!r}")
        if self.exercises and not self.corpus.startswith("tiny-world"):
            raise ValueError(f"exercises go with tiny-world's stories; got corpus={self.corpus}")

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Plan:
        """From `to_dict`; ValueError for an unknown name."""
        known = {entry.name for entry in dataclasses.fields(cls)}
        unknown = sorted(set(values) - known)
        if unknown:
            raise ValueError(f"a plan has no field {', '.join(unknown)}")
        return cls(**{**values, "train": TrainConfig.from_dict(values["train"])})
