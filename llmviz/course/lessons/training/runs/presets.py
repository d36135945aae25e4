"""Starting points of a run that work, and what suits a model."""

from typing import Any

from llmviz.course.lessons.training.runs.plan_controls import MARK, MINE, SNAPSHOT_FIELD
from llmviz.course.ui import kit
from llmviz.models.catalogue import MODELS

_GPT = {"n_layer": 2, "n_head": 4, "n_embd": 48, "dropout": 0.1}


_NAMES = {
    "corpus": "names",
    "context_length": 16,
    "windows": "padded",
    "steps": 600,
    "batch_size": 32,
    "learning_rate": 5e-3,
    "min_lr": 1e-4,
    "warmup_steps": 30,
    "weight_decay": 0.05,
    "eval_every": 50,
    "eval_batches": 6,
    "sample_every": 50,
    "sample_tokens": 60,
}


_STORIES = {
    "corpus": "tiny-world-sample",
    "context_length": 64,
    "windows": "documents",
    "steps": 600,
    "batch_size": 16,
    "learning_rate": 5e-3,
    "min_lr": 2e-4,
    "warmup_steps": 40,
    "weight_decay": 0.01,
    "eval_every": 60,
    "eval_batches": 4,
    "sample_every": 60,
    "sample_tokens": 160,
}


PRESETS: dict[str, dict[str, Any]] = {
    "names": {**_NAMES, "model": "gpt", **_GPT},
    "stories": {**_STORIES, "model": "gpt", **_GPT, "n_embd": 64, "dropout": 0.0},
    "bigram": {**_NAMES, "model": "bigram", "learning_rate": 0.2, "min_lr": 1e-2},
    "memory": {**_NAMES, "model": "gru", "n_layer": 1, "n_embd": 64, "dropout": 0.0},
    "words": {
        **_STORIES,
        "tokenizer": "bpe",
        "vocab_size": 512,
        "context_length": 32,
        "model": "gpt",
        **_GPT,
        "n_embd": 64,
        "dropout": 0.0,
        "sample_tokens": 60,
    },
    "vectors": {
        **_STORIES,
        "tokenizer": "word",
        "model": "word2vec",
        "n_embd": 32,
        "window": 5,
        "batch_size": 32,
        "learning_rate": 0.03,
        "min_lr": 1e-3,
        "weight_decay": 0.0,
        "sample_every": 0,
    },
    "mine": {
        **_STORIES,
        "corpus": MINE,
        "windows": "random",
        "context_length": 16,
        "steps": 300,
        "eval_every": 30,
        "sample_every": 30,
        "sample_tokens": 80,
        "model": "gpt",
        **_GPT,
        "dropout": 0.0,
    },
}


_BASE: dict[str, Any] = {
    "model": "gpt",
    "corpus": "names",
    "tokenizer": "char",
    "characters": 2_000_000,
    "vocab_size": 0,
    "fraction": 0.1,
    "accumulate": 1,
    "recompute": 0,
    "schedule": "cosine",
    "optimizer": "adamw",
    "beta1": 0.9,
    "beta2": 0.99,
    "grad_clip": 1.0,
    "seed": 0,
    "device": "auto",
    "dtype": "float32",
    "threads": 1,
    SNAPSHOT_FIELD: 10,
    "hidden_size": 0,
    "window": 8,
    "positions": "learned",
    "norm": "pre",
    "activation": "gelu",
    "batch_norm": True,
    "negatives": 5,
    **_GPT,
}


def values_of(preset: str) -> dict[str, Any]:
    """The value of every control under a preset."""
    return {**_BASE, **PRESETS[preset]}


def use(state: kit.PageState, preset: str) -> None:
    """Set every control to what a preset says."""
    state["preset"] = preset
    for name, value in values_of(preset).items():
        state[MARK + name] = value


def suit(state: kit.PageState) -> None:
    """After another model was chosen: set what suits it, or what the starting point says again."""
    chosen, preset_values = state[MARK + "model"], values_of(state["preset"])
    wanted: dict[str, Any] = {}
    for model, entry in MODELS.items():
        suited = {**entry.suited_plan, **entry.suited_training}
        if model == chosen:
            wanted.update(suited)
        elif preset_values["model"] != model and all(
            state[MARK + k] == v for k, v in suited.items()
        ):
            wanted = {name: preset_values[name] for name in suited} | wanted
    for name, value in wanted.items():
        state[MARK + name] = value
