"""The settings of a training run: each says what it means, in which unit, in what range."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from llmviz.config import Config, setting
from llmviz.models.catalogue import DEFAULT
from llmviz.models.training_bytes import OPTIMIZER_NUMBERS

LAST_SEED = 2**31 - 1  # what every generator of random numbers takes
MOST_THREADS = 1024  # with many thousands the process ends, in the C library, without a message
DEVICES = ("auto", "cpu", "cuda", "mps")
DTYPES = ("auto", "float32", "bfloat16", "float16")
SCHEDULES = ("cosine", "linear", "constant")
OPTIMIZERS = tuple(OPTIMIZER_NUMBERS)
COMPILE = ("auto", "on", "off")
WINDOWS = ("auto", "random", "documents", "padded", "sorted")
ONE_A_ROW = ("padded", "sorted")  # a document of its own in each row
OWN_TEXT = "corpus.txt"  # as a corpus: the text of this name in the run's own folder
OWNERS, DETAILS, BOTH = "owners", "details", "both"  # what exercises practise
# Of a short training inside a page: it takes one core, and comes out the same to the last bit.
ON_ONE_CORE: dict[str, Any] = {"device": "cpu", "dtype": "float32", "threads": 1, "compile": "off"}
# Of a small model that learns in seconds and is measured at the end alone.
QUICK: dict[str, Any] = {
    **ON_ONE_CORE,
    "learning_rate": 3e-3,
    "min_lr": 3e-5,
    "weight_decay": 0.05,
    "eval_every": 0,
    "eval_batches": 1,
    "checkpoint_every": 0,
}


@dataclass(frozen=True)
class TrainConfig(Config):
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
    recompute: int = setting(
        0,
        "keep only the input of every n-th block and compute the rest again in the backward pass "
        "(gpt, bert): less memory, more time, the same gradients; 0 = keep all",
        "blocks",
        0,
        1000,
    )
    learning_rate: float = setting(
        1e-3,
        "the optimizer's step is multiplied by it; this is the highest value of the schedule",
        "",
        1e-6,
        10,
    )
    min_lr: float = setting(1e-4, "learning rate at the last step (cosine, linear)", "", 0, 10)
    warmup_steps: int = setting(
        50, "linear rise from zero to the learning rate", "steps", 0, 10_000
    )
    schedule: str = setting("cosine", "the learning rate after the warm-up", "", choices=SCHEDULES)
    schedule_start: int = setting(
        0, "the step before the warm-up; of a fork, where it begins", "steps", 0, 200_000
    )
    optimizer: str = setting(
        "adamw", "how gradients become updates (the optimizers of torch)", "", choices=OPTIMIZERS
    )
    weight_decay: float = setting(
        0.1, "pull of the matrices towards zero", "per unit of learning rate", 0, 10
    )
    beta1: float = setting(
        0.9, "share of the old mean of gradients that is kept (Adam), or momentum", "", 0, 0.999
    )
    beta2: float = setting(
        0.99,
        "share of the old mean of squared gradients that is kept (Adam, RMSprop)",
        "",
        0,
        0.99999,
    )
    label_smoothing: float = setting(
        0.0,
        "share of each target that is spread over all tokens, in the training loss alone",
        "",
        0,
        0.9,
    )
    grad_clip: float = setting(1.0, "longest gradient that is not shortened; 0 = never", "", 0, 100)
    eval_every: int = setting(
        100, "steps between two validation losses; 0 = only at the end", "steps", 0, 10_000
    )
    eval_batches: int = setting(
        20, "validation data of each measurement; 0 = all of it", "batches", 0, 10_000
    )
    patience: int = setting(
        0,
        "the run ends after so many validation losses in a row that are not below the lowest "
        "before; 0 = never",
        "",
        0,
        1000,
    )
    keep_best: bool = setting(
        False, "keep the weights of the lowest validation loss in OUT/best; so does patience"
    )
    log_every: int = setting(
        1, "steps between two points; a point's loss is the mean of these steps", "steps", 1, 1000
    )
    sample_every: int = setting(
        0, "steps between two samples of text; 0 = none", "steps", 0, 100_000
    )
    sample_tokens: int = setting(100, "length of a sample", "tokens", 1, 1000)
    checkpoint_every: int = setting(
        500, "steps between two checkpoints; 0 = only at the end", "steps", 0, 100_000
    )
    snapshot_every: int = setting(
        0, "steps between two checkpoints that are not deleted; 0 = none", "steps", 0, 100_000
    )
    seed: int = setting(
        0,
        "start of the random numbers: first weights, order of the data, dropout, samples",
        "",
        0,
        LAST_SEED,
    )
    device: str = setting("auto", "auto = cuda, else mps, else cpu", "", choices=DEVICES)
    dtype: str = setting(
        "auto",
        "precision of the products; auto = the faster one where it was measured",
        "",
        choices=DTYPES,
    )
    loss_scale: float = setting(
        0.0,
        "in float16: the loss is multiplied by it, so that gradients do not vanish; 0 = found in "
        "training",
        "",
        0,
        2**24,
    )
    compile: str = setting("auto", "torch.compile; auto = on CUDA only", "", choices=COMPILE)
    threads: int = setting(0, "0 = the fastest in a short trial", "CPU threads", 0, 256)
    shard: bool = setting(False, "under torchrun: weights and state split over processes (FSDP)")

    def __post_init__(self) -> None:
        self.require_positive("steps", "batch_size", "accumulate", "log_every", "sample_tokens")
        self.require_at_least(0, "warmup_steps", "eval_every", "eval_batches", "sample_every")
        self.require_at_least(0, "threads", "checkpoint_every", "snapshot_every", "seed")
        self.require_at_least(0, "schedule_start", "recompute", "patience")
        if self.patience and not self.eval_every:
            raise ValueError(
                f"patience must be 0 where eval_every is 0; got patience={self.patience}"
            )
        if self.schedule_start and self.schedule_start >= self.steps:
            raise ValueError(
                "schedule_start must be below steps; "
                f"got schedule_start={self.schedule_start}, steps={self.steps}"
            )
        for name, most in (("seed", LAST_SEED), ("threads", MOST_THREADS)):
            if getattr(self, name) > most:
                raise ValueError(f"{name} must be at most {most}; got {getattr(self, name)}")
        self.require_above_zero("learning_rate")
        self.require_not_negative("min_lr", "weight_decay", "grad_clip", "loss_scale")
        if self.loss_scale and self.dtype != "float16":
            raise ValueError(
                f"loss_scale must be 0 unless dtype is float16; got {self.loss_scale:g} with "
                f"dtype={self.dtype}"
            )
        if self.schedule != "constant" and self.min_lr > self.learning_rate:
            raise ValueError(
                "min_lr must not exceed learning_rate; "
                f"got {self.min_lr:g} > {self.learning_rate:g}"
            )
        self.require_fraction("beta1", "beta2", "label_smoothing")
        self.require_bool("shard", "keep_best")
        if self.accumulate > self.batch_size:
            raise ValueError(
                f"accumulate must not exceed batch_size; got {self.accumulate} > {self.batch_size}"
            )
        self.require_one_of("schedule", SCHEDULES)
        self.require_one_of("optimizer", OPTIMIZERS)
        self.require_one_of("device", DEVICES)
        self.require_one_of("dtype", DTYPES)
        self.require_one_of("compile", COMPILE)


@dataclass(frozen=True)
class Plan(Config):
    """What to train on what; plain values, so that it can be kept in config.json."""

    model: str = setting(DEFAULT, "name in the catalogue of models")
    model_options: dict[str, Any] = field(default_factory=dict)  # such as n_layer, n_embd
    corpus: str = setting("tiny-world", "bundled name, a file, a folder or a pattern")
    files: tuple[str, ...] = ()  # further ones, whose documents come behind those of the corpus
    base: str = ""  # the trained model that the run goes on from, as it was named
    lora: int = 0  # with a base: the rank of the changes that are trained; 0 = all its weights
    column: str = setting("text", "field of a .jsonl, or column of a .parquet, with the documents")
    characters: int | None = setting(
        None, "length of tiny-world's text; none = 8 million", "characters", 10_000, 100_000_000
    )
    tokenizer: str = setting("char", "char, word, bpe: trained on the corpus; or gpt2 …")
    vocab_size: int | None = setting(
        None,
        "size of a trained tokenizer; none = all tokens there are, for bpe 1,024",
        "tokens",
        2,
        100_000,
    )
    context_length: int = setting(
        64, "largest number of tokens that the model reads at once", "tokens", 1, 4096
    )
    windows: str = setting(
        "auto",
        "how the text is cut: anywhere (random), from document starts (documents), one document "
        "per row (padded), or the same with documents of similar length together (sorted)",
        choices=WINDOWS,
    )
    fraction: float = setting(0.1, "share of the text that is kept for validation", "", 0.001, 0.5)
    split_seed: int = setting(0, "seed that decides which documents these are", "", 0, LAST_SEED)
    exercises: float = setting(
        0.0,
        "share of the steps that are exercises in tiny-world instead of reading",
        "",
        0,
        0.9,
    )
    practice: str = setting(
        OWNERS,
        "what exercises ask: who has what; or mostly sizes, colours and places; or half and half",
        choices=(OWNERS, DETAILS, BOTH),
    )
    train: TrainConfig = field(default_factory=TrainConfig)

    def __post_init__(self) -> None:
        if isinstance(self.files, list | tuple):
            object.__setattr__(self, "files", tuple(self.files))
        if not isinstance(self.files, tuple) or not all(isinstance(x, str) for x in self.files):
            raise ValueError(f"files must be names of texts; got {self.files!r:.80}")
        for name in ("model", "corpus", "tokenizer", "base", "column"):
            if not isinstance(getattr(self, name), str):
                raise ValueError(f"{name} must be a name; got {getattr(self, name)!r:.80}")
        plain = isinstance(self.model_options, dict) and all(
            isinstance(value, str | int | float | None) or _are_numbers(value)
            for value in self.model_options.values()
        )
        if not plain:
            raise ValueError(f"model_options must be settings; got {self.model_options!r:.80}")
        for name in ("fraction", "exercises", "split_seed"):
            if not isinstance(getattr(self, name), int | float):
                raise ValueError(f"{name} must be a number; got {getattr(self, name)!r:.80}")
        self.require_positive("context_length")
        for name in ("characters", "vocab_size"):
            if getattr(self, name) is not None:
                self.require_positive(name)
        self.require_at_least(0, "lora")
        if self.lora and not self.base:
            raise ValueError(f"lora is for a model that is gone on from; got lora={self.lora}")
        if not 0 < self.fraction < 1:
            raise ValueError(f"fraction must be above 0 and below 1; got {self.fraction!r}")
        self.require_one_of("windows", WINDOWS)
        self.require_one_of("practice", (OWNERS, DETAILS, BOTH))
        self.require_fraction("exercises")
        if self.exercises and (self.files or not self.corpus.startswith("tiny-world")):
            raise ValueError(
                f"exercises must be 0 unless the corpus is tiny-world; got corpus={self.corpus}"
            )

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """From `to_dict`. Raises ValueError for a field that does not exist, KeyError
        without `train`.
        """
        return super().from_dict({**values, "train": TrainConfig.from_dict(values["train"])})


def _are_numbers(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(part, int | float) for part in value)
