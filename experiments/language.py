"""The same text in other letters: what a tokenizer makes of it, and what a model learns of it.

Makes what `llmviz.course.lessons.next.language.model` reads.
"""

from __future__ import annotations

import dataclasses
import math
import random
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments._command import write_to
from llmviz.corpus.second_script import respelled
from llmviz.course.lessons.next.language.model import (
    COMMAND,
    FILE,
    MIXTURES,
    SEEDS,
    SHARES,
    TOKENIZERS,
    Language,
    Scripts,
    file_of,
    sentences,
)
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.tokenizers import BPETokenizer, get_tokenizer
from llmviz.training.files import write_json
from llmviz.training.held_out_texts import SEED, stories

if TYPE_CHECKING:
    from llmviz.models.base import LanguageModel
    from llmviz.tokenizers import Tokenizer

REAL = "smollm2"
VOCABULARY, STORIES, LEARNED_FROM = 1024, 12_000, 1
CONTEXT, BATCH, STEPS = 128, 16, 800
SIZES = {"n_layer": 2, "n_head": 4, "n_embd": 64, "context_length": CONTEXT, "dropout": 0.0}
HELD_OUT = 100  # stories that are measured in both scripts


def pieces(names: Sequence[str] = TOKENIZERS) -> dict[str, tuple[tuple[int, ...], ...]]:
    """Return the bytes of each token of the sentence in each language, by tokenizer."""
    from llmviz.pretrained import obtained_tokenizer

    each = {name: (obtained_tokenizer if name == REAL else get_tokenizer)(name) for name in names}
    return {
        name: tuple(
            tuple(len(token.data) for token in tokenizer.tokens(text))
            for text in sentences().values()
        )
        for name, tokenizer in each.items()
    }


def mixture(texts: Sequence[str], share: float, seed: int) -> list[str]:
    """Return the texts, a share of them, drawn from a seed, in the second script."""
    chosen = set(random.Random(seed).sample(range(len(texts)), round(share * len(texts))))
    return [respelled(text) if at in chosen else text for at, text in enumerate(texts)]


def tokens_of(tokenizer: Tokenizer, texts: Sequence[str]) -> float:
    """Return the mean tokens of a text, its end included."""
    return round(float(np.mean([len(tokenizer.encode(text)) + 1 for text in texts])), 3)


def train_one(tokenizer: Tokenizer, texts: Sequence[str], seed: int) -> LanguageModel:
    """Return a model that read BATCH · CONTEXT · STEPS tokens of the texts."""
    import torch

    from experiments._small_world import TRAINING
    from llmviz.models import build
    from llmviz.training.data import TrainData
    from llmviz.training.loop import train

    data = TrainData.from_documents(
        texts[:-100], texts[-100:], tokenizer, CONTEXT, windows="random", seed=seed
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = build("gpt", {"vocab_size": tokenizer.vocab_size, **SIZES})
    plan = dataclasses.replace(TRAINING, seed=seed, steps=STEPS, log_every=STEPS, batch_size=BATCH)
    for _ in train(model, data, plan):
        pass
    return model.eval()


def nats_of(model: LanguageModel, ids: Sequence[int]) -> float:
    """Return the loss of a text, nats in all; ids: (T + 1,), the start first.

    A text longer than the context is read in windows that overlap by half, and each token is
    counted where it has the most before it.
    """
    from llmviz.evaluation.exact_loss import log_softmax
    from llmviz.evaluation.text_loss import target_logits

    half, counted, nats = model.context_length // 2, 0, 0.0
    for start in range(0, max(1, len(ids) - 1 - half), half):
        window = list(ids[start : start + 2 * half + 1])
        new = len(window) - 1 - (counted - start)
        sure = log_softmax(target_logits(model, window))[-new:]
        nats -= float(sure[np.arange(new), window[-new:]].sum())
        counted += new
    return nats


def lost(
    model: LanguageModel, tokenizer: Tokenizer, texts: Sequence[str], grammar: float, share: float
) -> float:
    """Return the mean loss of texts above what cannot be avoided: what happens, and which script.

    share: of the stories that are in the script of these texts.
    """
    nats = [nats_of(model, [*tokenizer.encode_from_start(t), tokenizer.end]) for t in texts]
    return round(float(np.mean(nats)) - grammar + math.log(share), 3)


def make(folder: Path = EXPERIMENT_FOLDER) -> None:
    """Count, train and measure all; the file is written after each mixture."""
    from tqdm import tqdm

    from llmviz.corpus.tiny_world import generate

    held = list(generate(HELD_OUT, SEED))
    scripts = [[story.text for story in held], [respelled(story.text) for story in held]]
    grammar = float(np.mean([-story.log_prob for story in held]))
    texts = stories(STORIES, LEARNED_FROM)
    mixed = {(share, seed): mixture(texts, share, seed) for share in SHARES for seed in SEEDS}
    tokenizers = {at: BPETokenizer.train(mixed[at], VOCABULARY) for at in mixed}
    for share in SHARES:
        tokenizers[share, SEEDS[0]].save(folder / file_of(share))
    cut = {
        share: Scripts(
            *(
                tuple(tokens_of(tokenizers[share, seed], script) for seed in SEEDS)
                for script in scripts
            )
        )
        for share in SHARES
    }
    learned: dict[float, dict[float, Scripts]] = {}
    for cut_share, share in tqdm(MIXTURES):
        rows = []
        for seed in SEEDS:
            tokenizer = tokenizers[cut_share, seed]
            model = train_one(tokenizer, mixed[share, seed], seed)
            rows.append(
                [
                    lost(model, tokenizer, script, grammar, of)
                    for script, of in zip(scripts, (1 - share, share), strict=True)
                ]
            )
        learned.setdefault(cut_share, {})[share] = Scripts(*map(tuple, zip(*rows, strict=True)))
        content = Language(
            pieces(),
            round(float(np.mean([len(text) for text in scripts[0]])), 1),
            round(grammar, 3),
            VOCABULARY,
            BATCH * CONTEXT * STEPS,
            HELD_OUT,
            cut,
            learned,
        )
        about: dict[str, Any] = {"command": COMMAND, "seeds": SEEDS, "steps": STEPS}
        write_json(folder / FILE, about | asdict(content))


if __name__ == "__main__":
    write_to(make, "Measure again what the same text costs in another script.")
