"""How each bundled checkpoint is made: one line of settings each."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llmviz.models.word2vec_reading import SkipGramTraining
from llmviz.paths import BUNDLED_CHECKPOINTS
from llmviz.training.config import TrainConfig
from llmviz.training.errors import CheckpointError
from llmviz.training.plan import Plan
from llmviz.training.word_vectors import WordVectorPlan


@dataclass(frozen=True)
class Recipe:
    """What a checkpoint is for, and the plan that makes it."""

    description: str
    plan: Plan | WordVectorPlan
    then: dict[str, Any] | None = None  # what a fork at its end changes; the fork is what is kept


def _names(model: str, options: dict[str, Any], **train: Any) -> Plan:
    """All models on `names` see the same batches, as often, with one validation set."""
    settings: dict[str, Any] = {
        "steps": 6000,
        "batch_size": 64,
        "learning_rate": 3e-3,
        "min_lr": 1e-5,
        "warmup_steps": 100,
        "weight_decay": 0.05,
        "eval_every": 500,
        "eval_batches": 0,
        "log_every": 20,
        "checkpoint_every": 2000,
        "sample_every": 1000,
        "sample_tokens": 20,
        "dtype": "float32",
    }
    return Plan(
        model=model,
        model_options=options,
        corpus="names",
        tokenizer="char",
        context_length=16,
        windows="padded",
        train=TrainConfig(**{**settings, **train}),
    )


def _words(positions: str) -> Plan:
    """Two models alike but for positions. One layer: a second would see order through the mask."""
    return Plan(
        model="gpt",
        model_options={"n_layer": 1, "n_head": 4, "n_embd": 64, "positions": positions},
        corpus="tiny-world",
        characters=4_000_000,
        tokenizer="word",
        context_length=64,
        windows="documents",
        fraction=0.02,
        train=TrainConfig(
            steps=4000,
            batch_size=32,
            learning_rate=3e-3,
            min_lr=3e-5,
            warmup_steps=100,
            weight_decay=0.05,
            eval_every=500,
            eval_batches=20,
            log_every=20,
            checkpoint_every=1000,
            dtype="float32",
        ),
    )


_NAMES_GPT = {"n_layer": 2, "n_head": 4, "n_embd": 48, "dropout": 0.1}

RECIPES: dict[str, Recipe] = {
    "tiny-world-gpt": Recipe(
        "a BPE GPT on the bundled world",
        Plan(
            model="gpt",
            model_options={"n_layer": 4, "n_head": 4, "n_embd": 192},
            corpus="tiny-world",
            characters=40_000_000,
            tokenizer="bpe",
            vocab_size=3072,
            context_length=256,
            windows="padded",
            fraction=0.01,
            train=TrainConfig(
                steps=12_000,
                batch_size=16,
                learning_rate=2e-3,
                min_lr=2e-5,
                warmup_steps=300,
                weight_decay=0.05,
                eval_every=500,
                eval_batches=20,
                log_every=20,
                checkpoint_every=500,
                sample_every=1000,
                sample_tokens=200,
            ),
        ),
        # Reading alone does not teach it who has what: see `llmviz.corpus.exercises`.
        then={"exercises": 0.8, "steps": 22_000, "learning_rate": 1.6e-3},
    ),
    "tiny-world-char": Recipe(
        "a character GPT whose every matrix fits on a screen",
        Plan(
            model="gpt",
            model_options={"n_layer": 3, "n_head": 4, "n_embd": 48},
            corpus="tiny-world",
            characters=20_000_000,
            tokenizer="char",
            context_length=128,
            windows="documents",
            fraction=0.02,
            train=TrainConfig(
                steps=8000,
                batch_size=24,
                learning_rate=3e-3,
                min_lr=3e-5,
                warmup_steps=200,
                weight_decay=0.01,
                eval_every=500,
                eval_batches=20,
                log_every=20,
                checkpoint_every=1000,
                sample_every=2500,
                sample_tokens=200,
            ),
        ),
    ),
    "names-bigram": Recipe(
        "letter pairs, trained by gradient",
        _names("bigram", {}, learning_rate=0.1, min_lr=1e-3, weight_decay=0.0),
    ),
    "names-mlp": Recipe(
        "a window of letters through one hidden layer with batch norm",
        _names("mlp", {"window": 8, "n_embd": 16, "hidden_size": 128}),
    ),
    "names-wavenet": Recipe(
        "a window of letters fused pair by pair",
        _names("wavenet", {"n_embd": 24, "hidden_size": 96}),
    ),
    "names-rnn": Recipe("a plain recurrent network", _names("rnn", {"n_embd": 64})),
    "names-gru": Recipe("a recurrent network with gates", _names("gru", {"n_embd": 64})),
    "names-lstm": Recipe(
        "a recurrent network with a protected memory", _names("lstm", {"n_embd": 64})
    ),
    "names-gpt": Recipe("a transformer", _names("gpt", _NAMES_GPT)),
    "names-gpt-no-mask": Recipe(
        "a transformer that sees the letters it should predict",
        _names("gpt", {**_NAMES_GPT, "mask": "none"}, steps=1000),
    ),
    "names-gpt-no-shift": Recipe(
        "a transformer trained to copy its input",
        _names("gpt", {**_NAMES_GPT, "shift": False}, steps=1000),
    ),
    "names-gpt-mask-off-by-one": Recipe(
        "a transformer whose mask lets each letter see one ahead",
        _names("gpt", {**_NAMES_GPT, "mask": "off_by_one"}, steps=1000),
    ),
    "names-gpt-two-softmaxes": Recipe(
        "a transformer that masks after the softmax and takes another",
        _names("gpt", {**_NAMES_GPT, "softmax_before_mask": "softmax_again"}),
    ),
    "names-gpt-no-scale": Recipe(
        "a transformer whose scores are not divided by the root of the head size",
        _names("gpt", {**_NAMES_GPT, "attention_scale": "none"}),
    ),
    "words-gpt": Recipe("one layer over whole words, with positions", _words("learned")),
    "words-gpt-no-positions": Recipe("the same without positions", _words("none")),
    "tiny-world-word2vec": Recipe(
        "a vector for each word, learned from its neighbours",
        WordVectorPlan(
            model_options={"n_embd": 24, "window": 6, "negatives": 5},
            train=SkipGramTraining(
                epochs=20, learning_rate=0.05, subsample=1e-4, snapshots=24, crowding=2.0
            ),
        ),
    ),
    "pairs-seq2seq": Recipe(
        "an encoder and decoder that translate tiny-world's sentences",
        Plan(
            model="seq2seq",
            model_options={"n_layer": 2, "n_head": 4, "n_embd": 96},
            corpus="pairs",
            tokenizer="word",
            context_length=32,
            train=TrainConfig(
                steps=6000,
                batch_size=64,
                learning_rate=2e-3,
                min_lr=2e-5,
                warmup_steps=400,
                weight_decay=0.01,
                eval_every=500,
                eval_batches=10,
                log_every=20,
                checkpoint_every=1000,
            ),
        ),
    ),
}


def plan_of(name: str, **changes: Any) -> Plan | WordVectorPlan:
    """The plan of a recipe; `changes` set fields of its training's settings anew."""
    if name not in RECIPES:
        raise ValueError(f"checkpoint must be one of {', '.join(RECIPES)}; got {name!r}")
    plan = RECIPES[name].plan
    return dataclasses.replace(plan, train=dataclasses.replace(plan.train, **changes))


def find_checkpoint(name_or_folder: str) -> Path:
    """The folder of a run, or of a bundled checkpoint; CheckpointError if there is neither."""
    folder = Path(name_or_folder)
    if folder.is_dir():
        return folder
    if (BUNDLED_CHECKPOINTS / name_or_folder).is_dir() and name_or_folder in RECIPES:
        return BUNDLED_CHECKPOINTS / name_or_folder
    made = sorted(path.name for path in BUNDLED_CHECKPOINTS.glob("*") if path.is_dir())
    known = f"bundled are {', '.join(made)}" if made else "none is bundled yet"
    raise CheckpointError(f"there is no run or checkpoint {name_or_folder!r}; {known}")
