"""Waiters who keep a list or a matrix of orders, and stories read with caches of several widths.

Makes what `llmviz.course.lessons.next.memory.model` reads.

B batch, T time, C width, L latent size.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path

import torch
from torch import Tensor, nn

from experiments._command import write_to
from experiments._small_world import CONTEXT, SIZES, train_small
from llmviz.course.lessons.next.memory import model
from llmviz.course.lessons.next.memory.model import Recorded, Trained
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.models.base import LanguageModel, count_parameters
from llmviz.models.transformers import require_transformer
from llmviz.models.waiter import KINDS, Waiter
from llmviz.nn.attention.latent import (
    LatentMatrices,
    heads_cache_bytes,
    latent_attention,
    latent_cache_bytes,
)
from llmviz.training.files import write_json

TEXTS = 400  # by count of guests, when it is measured
STEPS, CHARACTERS, NEW_TEXTS = 600, 1_000_000, 200  # of the models of stories


def train(kind: str, size: int, seed: int, updates: int = model.UPDATES) -> Waiter:
    """Train a waiter; its weights are rounded to float16 at the end."""
    *_, waiter = model.learn(kind, size, seed, updates)
    return waiter.half().float().eval()


class LatentAttention(nn.Module):
    """Latent attention in the place of a block's `MultiHeadAttention`, with the same start.

    Reference: see `llmviz.nn.attention.latent`.
    """

    def __init__(self, width: int, n_head: int, latent: int, n_layer: int):
        super().__init__()
        self.n_head = n_head

        def drawn(*shape: int, std: float = 0.02) -> nn.Parameter:
            return nn.Parameter(torch.randn(shape) * std)

        self.matrices = nn.ParameterDict(
            {
                "q": drawn(width, width),
                "down": drawn(width, latent),
                "up_k": drawn(latent, width, std=latent**-0.5),
                "up_v": drawn(latent, width, std=latent**-0.5),
                "output": drawn(width, width, std=0.02 / math.sqrt(2 * n_layer)),
            }
        )

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None = None,
        causal: bool = False,
        source: Tensor | None = None,
        cache: object = None,
        positions: Tensor | None = None,
    ) -> Tensor:
        """(B, T, C) to (B, T, C), causal. Raises ValueError for what only a whole GPT can do."""
        if source is not None or cache is not None or positions is not None:
            raise ValueError("latent attention reads whole texts here: no cache, no other source")
        return latent_attention(x, LatentMatrices(**self.matrices), self.n_head).output


def train_reader(name: str, seed: int, steps: int = STEPS) -> tuple[LanguageModel, int]:
    """Train a model of stories whose cache has a name of CACHES; return it and bytes a word."""
    kind, size = name.split()
    n_layer, n_head, width = (int(SIZES[part]) for part in ("n_layer", "n_head", "n_embd"))

    def narrow(reader: LanguageModel) -> None:
        for block in require_transformer(reader).blocks:
            block.register_module("attn", LatentAttention(width, n_head, int(size), n_layer))

    if kind == "latent":
        small = train_small(seed, steps, CHARACTERS, change=narrow)
        return small.model, latent_cache_bytes(1, n_layer, int(size))
    small = train_small(seed, steps, CHARACTERS, {"n_kv_head": int(size)})
    return small.model, heads_cache_bytes(1, n_layer, int(size), width // n_head)


def loss_of(reader: LanguageModel) -> float:
    """Return what a model of stories loses above the grammar's own, nats a word."""
    from experiments.longer import BIN, floor_by_place
    from llmviz.evaluation.longer_texts import long_texts, losses_by_position
    from llmviz.tokenizers import get_tokenizer

    tokenizer = get_tokenizer("word")
    ids = long_texts(tokenizer, CONTEXT, NEW_TEXTS)
    floor = sum(floor_by_place(ids, tokenizer)) * BIN / CONTEXT
    loss = float(losses_by_position(require_transformer(reader), ids, CONTEXT)[0])
    return round(loss - floor, 4)


def measure_waiter(kind: str, size: int) -> tuple[Trained, Waiter]:
    """Train the waiters of a kind and size and measure them; return also the first."""
    waiters = [train(kind, size, seed) for seed in model.SEEDS]
    once, changed = (
        [model.shares_right(waiter, who, TEXTS) for waiter in waiters]
        for who in (model.ONCE, model.CHANGED)
    )
    return Trained(kind, size, count_parameters(waiters[0]), once, changed), waiters[0]


def make(folder: Path = EXPERIMENT_FOLDER) -> None:
    """Train and measure all models; write a small waiter of each kind, and the record.

    The record is written after each kind of cache, and whole only after the last.
    """
    from tqdm import tqdm

    from llmviz.training.tensors import save_tensors

    torch.set_num_threads(1)
    waiters: list[Trained] = []
    weights: dict[str, Tensor] = {}
    for size in tqdm(model.SIZES, unit="size"):
        for kind in KINDS:
            trained, first = measure_waiter(kind, size)
            waiters.append(trained)
            if size == model.SIZES[0]:
                weights |= {f"{kind}.{name}": v for name, v in first.state_dict().items()}
    save_tensors(folder / model.WEIGHTS, weights, torch.float16)

    found = Recorded(model.UPDATES, TEXTS, waiters, STEPS, {}, {}, {})
    for name in tqdm(model.CACHES, unit="cache"):
        found.losses[name] = []
        for seed in model.SEEDS:
            reader, found.cache_bytes[name] = train_reader(name, seed)
            found.losses[name].append(loss_of(reader))
            found.small_parameters[name] = count_parameters(reader)
        write_json(folder / model.FILE, {"command": model.COMMAND, **asdict(found)})


if __name__ == "__main__":
    write_to(make, "Train the waiters and the models of stories with caches of several widths.")
