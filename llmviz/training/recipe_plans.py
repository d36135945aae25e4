"""Plans that several bundled checkpoints share but for what they are compared in."""

from __future__ import annotations

from typing import Any

from llmviz.training.config import TrainConfig
from llmviz.training.plan import Plan


def names(model: str, options: dict[str, Any], **train: Any) -> Plan:
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


def whole_words(
    options: dict[str, Any], *, model: str = "gpt", windows: str = "documents", **train: Any
) -> Plan:
    """A small model that reads tiny-world in whole words.

    Models with the same settings of training read the same tokens in the same order, as many.
    """
    settings: dict[str, Any] = {
        "steps": 1000,
        "batch_size": 32,
        "learning_rate": 3e-3,
        "min_lr": 3e-5,
        "warmup_steps": 100,
        "weight_decay": 0.05,
        "eval_every": 200,
        "eval_batches": 20,
        "log_every": 20,
        "checkpoint_every": 400,
        "dtype": "float32",
    }
    return Plan(
        model=model,
        model_options={"n_layer": 3, "n_head": 4, "n_embd": 64, **options},
        corpus="tiny-world",
        characters=4_000_000,
        tokenizer="word",
        context_length=64,
        windows=windows,
        fraction=0.02,
        train=TrainConfig(**{**settings, **train}),
    )


def word_pieces(options: dict[str, Any], **train: Any) -> Plan:
    """A GPT that reads tiny-world in BPE tokens; all such models have the same tokenizer."""
    settings: dict[str, Any] = {"batch_size": 16, "eval_every": 500, "checkpoint_every": 500}
    return Plan(
        model="gpt",
        model_options=options,
        corpus="tiny-world",
        characters=40_000_000,
        tokenizer="bpe",
        vocab_size=3072,
        context_length=256,
        windows="padded",
        fraction=0.01,
        train=TrainConfig(**{**settings, **train}),
    )


def translation(model: str, options: dict[str, Any]) -> Plan:
    """Both translators see the same sentences in the same batches, as often."""
    return Plan(
        model=model,
        model_options=options,
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
    )
