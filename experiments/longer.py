"""Small models beyond their context: positions stretched in three ways, untuned and tuned a little.

Makes what `llmviz.course.lessons.next.longer.longer_record` reads.

B bins of places.
"""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments._command import write_to
from llmviz.course.lessons.next.longer.longer_record import (
    BIN,
    COMMAND,
    FILE,
    KEPT,
    KINDS,
    SEEDS,
    TEXTS,
    TIMES,
    TUNED,
    TWINS,
    WAYS,
    WINDOWS,
)
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.training.files import write_json

if TYPE_CHECKING:
    from torch import Tensor

    from llmviz.models.gpt import GPT
    from llmviz.tokenizers import Tokenizer

STEPS, CHARACTERS, TUNING_STEPS, TUNING_RATE = 1200, 1_000_000, 150, 5e-4


def floor_by_place(ids: Tensor, tokenizer: Tokenizer) -> list[float]:
    """Return the grammar's own loss of the tokens of texts by place (B,).

    The texts are stories one behind the other, cut into rows; each token's probability is that of
    somebody who reads its story from its beginning.
    """
    import numpy as np

    from llmviz.corpus.next_tokens import true_tokens
    from llmviz.corpus.tiny_world import generate
    from llmviz.evaluation.longer_texts import SEED

    between = tokenizer.start or (tokenizer.end,)
    rows, width = ids.shape
    nats: list[float] = []
    for story in generate(rows * width, SEED):
        following = [-p for p in true_tokens(story.text, tokenizer).log_probs]
        nats += following  # of the story's tokens and of the token that ends it
        if len(nats) > rows * width:
            break
    # The first token between stories comes before all; each later one is the end of a story.
    every = np.array([0.0] * len(between) + nats)[: rows * width].reshape(rows, width)
    return every[:, 1:].reshape(rows, -1, BIN).mean((0, 2)).tolist()


def tuned(model: GPT, tokenizer: Tokenizer, seed: int) -> GPT:
    """Train a model for some steps on texts of the length that it now reads."""
    from experiments._small_world import TRAINING
    from llmviz.corpus import load_corpus
    from llmviz.training.data import TrainData
    from llmviz.training.loop import train

    corpus = load_corpus("tiny-world", characters=CHARACTERS)
    data = TrainData.from_corpus(
        corpus, tokenizer, model.context_length, windows="random", fraction=0.02, seed=seed
    )
    plan = dataclasses.replace(
        TRAINING,
        seed=seed,
        steps=TUNING_STEPS,
        batch_size=TRAINING.batch_size // TIMES,
        learning_rate=TUNING_RATE,
        warmup_steps=10,
        log_every=TUNING_STEPS,
    )
    model.requires_grad_(True)
    for _ in train(model, data, plan):
        pass
    return model.eval()


def measure_one(seed: int, ids: Tensor | None = None) -> dict[str, list[float]]:
    """Train two models from a seed and return the losses by place of all kinds (B,)."""
    from experiments._small_world import train_small
    from llmviz.evaluation.longer_texts import (
        long_texts,
        longer_copy,
        losses_by_position,
        stretched_copy,
    )
    from llmviz.models.transformers import require_transformer

    found: dict[str, list[float]] = {}

    def note(kind: str, model: GPT) -> None:
        losses = losses_by_position(model, texts, BIN)
        found[kind] = [round(loss, 4) for loss in losses.tolist()]

    small = train_small(seed, STEPS, CHARACTERS, {"positions": "learned"})
    model = require_transformer(small.model)
    texts = long_texts(small.tokenizer, TIMES * model.context_length, TEXTS) if ids is None else ids
    note("learned", longer_copy(model, TIMES))
    model = require_transformer(train_small(seed, STEPS, CHARACTERS, {"positions": "rotary"}).model)
    for way in WAYS:
        stretched = stretched_copy(model, TIMES, way)
        note(way, stretched)
        note(f"{way}{TUNED}", tuned(stretched, small.tokenizer, seed))
    return {kind: found[kind] for kind in KINDS}


def measure_sinks(seed: int) -> dict[str, dict[str, float]]:
    """Train twins from a seed, one with a token of its own before each text, and return what they
    lose above the grammar while each token sees a window, by twin and by window.

    The tokens are those of the second half of the context, so all windows have lost the first one.
    """
    import torch

    from experiments._small_world import CONTEXT, SIZES, TRAINING
    from llmviz.corpus import load_corpus
    from llmviz.evaluation.longer_texts import long_texts, losses_within
    from llmviz.models import build
    from llmviz.models.transformers import require_transformer
    from llmviz.tokenizers import get_tokenizer
    from llmviz.training.data import TrainData
    from llmviz.training.loop import train

    class FirstOfItsOwn(TrainData):
        """The first token of each row is one that no text holds."""

        def _windows(self, *given: Any) -> tuple[Tensor, Tensor]:
            inputs, targets = super()._windows(*given)
            inputs[:, 0] = self.vocab_size - 1
            return inputs, targets

    tokenizer = get_tokenizer("word")
    corpus = load_corpus("tiny-world", characters=CHARACTERS)
    ids = long_texts(tokenizer, CONTEXT, TEXTS)
    half = CONTEXT // 2
    floor = sum(floor_by_place(ids, tokenizer)[half // BIN :]) / (half // BIN)
    plan = dataclasses.replace(TRAINING, seed=seed, steps=STEPS, log_every=STEPS)
    found: dict[str, dict[str, float]] = {}
    for twin, kind in zip(TWINS, (TrainData, FirstOfItsOwn), strict=True):
        plain = kind.from_corpus(
            corpus, tokenizer, CONTEXT, windows="random", fraction=0.02, seed=seed
        )
        data = dataclasses.replace(plain, vocab_size=tokenizer.vocab_size + 1)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            options = {"vocab_size": data.vocab_size, "positions": "rotary"}
            model = require_transformer(build("gpt", SIZES | options))
        for _ in train(model, data, plan):
            pass
        texts = ids.clone()
        if twin == "own":
            texts[:, 0] = data.vocab_size - 1
        model.eval()
        found[twin] = {
            f"{size}{KEPT if keeps else ''}": round(
                float(losses_within(model, texts, size, keeps_first=keeps)[:, half:].mean())
                - floor,
                4,
            )
            for size in (*WINDOWS, CONTEXT)
            for keeps in (False, True)
        }
    return found


def make(folder: Path = EXPERIMENT_FOLDER) -> None:
    """Train and measure all models; the file is written after each seed."""
    from tqdm import tqdm

    from experiments._small_world import CONTEXT
    from llmviz.evaluation.longer_texts import long_texts
    from llmviz.tokenizers import get_tokenizer

    tokenizer = get_tokenizer("word")
    ids = long_texts(tokenizer, TIMES * CONTEXT, TEXTS)
    floor = [round(nats, 4) for nats in floor_by_place(ids, tokenizer)]
    assert all(map(math.isfinite, floor))
    losses: dict[str, list[list[float]]] = {kind: [] for kind in KINDS}
    twins: dict[str, dict[str, list[float]]] = {twin: {} for twin in TWINS}
    for seed in tqdm(SEEDS, unit="seed"):
        for twin, found in measure_sinks(seed).items():
            for window, loss in found.items():
                twins[twin].setdefault(window, []).append(loss)
        for kind, row in measure_one(seed, ids).items():
            losses[kind].append(row)
        content: dict[str, Any] = {
            "command": COMMAND,
            "seeds": SEEDS,
            "context": CONTEXT,
            "tuned": TUNING_STEPS,
            "floor": floor,
            "losses": losses,
            "twins": twins,
        }
        write_json(folder / FILE, content)


if __name__ == "__main__":
    write_to(make, "Train the models that read on beyond their context again.")
