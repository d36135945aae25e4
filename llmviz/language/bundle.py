"""The bundled tagger: how it is made, and reading it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import torch

from llmviz.files.paths import TUNED
from llmviz.language.names import span_score, token_score
from llmviz.language.tagger import (
    KINDS,
    Tagger,
    single_sentences,
    tagged_stories,
    text_of,
    train_tagger,
)
from llmviz.pretrained import load_bundled
from llmviz.training.checkpoints import versions
from llmviz.training.files import check_manifest, read_json, write_json, write_manifest

TAGGER = "tagger"
BASE = "tiny-world-gpt"
DESCRIPTION = "parts of speech and names, read off the story model by one linear layer each"
# What a word is, and what stands before it: later layers look ahead to what follows.
LAYERS = ("embed", "blocks.0.residual", "blocks.1.residual")
STORIES, TEST_STORIES = 300, 200
TEST_SEED = 1
WEIGHTS, CARD = "heads.safetensors", "card.json"


def scores(
    tagger: Tagger, model: Any, tokenizer: Any, stories: int, *, alone: bool = False
) -> dict[str, float]:
    """Score a tagger on stories that it was not trained on, or on their sentences one by one."""
    sentences = tagged_stories(stories, TEST_SEED)
    if alone:
        sentences = single_sentences(sentences)
    given = tagger.read(model, tokenizer, [text_of(story) for story in sentences])
    tags = [
        (word.tag, read[1])
        for story, own in zip(sentences, given, strict=True)
        for word, read in zip(story, own, strict=True)
    ]
    truth = [[word.entity for word in story] for story in sentences]
    names = [[read[2] for read in own] for own in given]
    return {
        "words": len(tags),
        "accuracy": sum(a == b for a, b in tags) / len(tags),
        "span_f1": span_score(truth, names).f1,
        "token_f1": token_score(truth, names).f1,
    }


def make_tagger(target: Path, command: str) -> dict[str, Any]:
    """Fit the layers, write them with 16 bits, score what was written; return the card."""
    begun = time.perf_counter()
    model, tokenizer, _ = load_bundled(BASE)
    tagger = train_tagger(model, tokenizer, STORIES, LAYERS)
    target.mkdir(parents=True, exist_ok=True)
    tagger.save(target / WEIGHTS, torch.float16)
    seconds = time.perf_counter() - begun
    stored = Tagger.load(target / WEIGHTS)
    card = {
        "name": target.name,
        "command": command,
        "base": BASE,
        "layers": list(LAYERS),
        "classes": {kind: list(names) for kind, names in KINDS.items()},
        "parameters": sum(tensor.numel() for pair in stored.heads.values() for tensor in pair),
        "training_stories": STORIES,
        "test_stories": TEST_STORIES,
        "seconds": round(seconds, 1),
        "weights": "float16",
        "environment": versions(),
        **scores(stored, model, tokenizer, TEST_STORIES),
        "sentences_alone": scores(stored, model, tokenizer, TEST_STORIES // 4, alone=True),
    }
    write_json(target / CARD, card)
    write_manifest(target, [WEIGHTS, CARD])
    return card


def load_tagger(folder: Path = TUNED / TAGGER) -> tuple[Tagger, dict[str, Any]]:
    """Return the bundled tagger and its card; ValueError naming what is absent or damaged."""
    check_manifest(folder)
    return Tagger.load(folder / WEIGHTS), read_json(folder / CARD)
