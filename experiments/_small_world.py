"""Small models of whole words that read tiny-world in under a minute, several alike but for a seed.

T tokens, V vocabulary.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from llmviz.training.config import QUICK, TrainConfig

if TYPE_CHECKING:
    from collections.abc import Callable

    from llmviz.models.base import LanguageModel
    from llmviz.tokenizers import Tokenizer

CONTEXT = 64  # T
SIZES = {"n_layer": 2, "n_head": 4, "n_embd": 64, "context_length": CONTEXT, "dropout": 0.0}
TRAINING = TrainConfig(batch_size=16, warmup_steps=50, **QUICK)


@dataclass(frozen=True)
class Small:
    """A trained model, in eval mode, its tokenizer, and how often it read its text."""

    model: LanguageModel
    tokenizer: Tokenizer
    passes: float


def train_small(
    seed: int,
    steps: int,
    characters: int,
    options: dict[str, Any] | None = None,
    smoothing: float = 0.0,
    change: Callable[[LanguageModel], None] | None = None,
) -> Small:
    """Train a GPT on the first characters of tiny-world.

    options: settings that differ from those of SIZES. smoothing: of the labels, in its loss.
    change: what is done to the model before it learns.
    """
    import torch

    from llmviz.corpus import load_corpus
    from llmviz.models import build
    from llmviz.tokenizers import get_tokenizer
    from llmviz.training.data import TrainData
    from llmviz.training.loop import train

    tokenizer = get_tokenizer("word")
    corpus = load_corpus("tiny-world", characters=characters)
    data = TrainData.from_corpus(
        corpus, tokenizer, CONTEXT, windows="documents", fraction=0.02, seed=seed
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = build("gpt", {"vocab_size": tokenizer.vocab_size, **SIZES, **(options or {})})
        if change is not None:
            change(model)
    plan = dataclasses.replace(
        TRAINING, seed=seed, steps=steps, log_every=steps, label_smoothing=smoothing
    )
    for _ in train(model, data, plan):
        pass
    read = steps * TRAINING.batch_size * CONTEXT
    return Small(model.eval(), tokenizer, read / len(data.train.ids))
