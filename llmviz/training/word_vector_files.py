"""Trained word vectors as a folder: a run that loads like any other, with the film beside it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from llmviz.models.word2vec import SkipGramConfig
from llmviz.tokenizers import WordTokenizer
from llmviz.training.checkpoints import versions
from llmviz.training.errors import CheckpointError
from llmviz.training.files import write_json, write_manifest
from llmviz.training.reading import CONFIG, FORMAT, MODEL, TOKENIZER
from llmviz.training.tensors import load_tensors, save_tensors
from llmviz.training.word_vectors import Beginning, End, Film, Frame, WordVectorPlan, film, film_of

FRAMES = "frames.safetensors"


def make(plan: WordVectorPlan, target: Path, command: str, name: str) -> Iterator[Frame]:
    """Train by a plan and write the folder of a bundled checkpoint; yields the frames.

    The folder holds model.safetensors and frames.safetensors (float16), config.json,
    tokenizer.json, card.json and a manifest.
    """
    frames: list[Frame] = []
    for part in film(plan):
        if isinstance(part, Beginning):
            beginning = part
        elif isinstance(part, Frame):
            frames.append(part)
            yield part
        else:
            end = part
    about = save_vectors(target, plan, beginning, end, command, torch.float16)
    save_film(target / FRAMES, film_of(beginning.rows, frames))
    write_manifest(target, [MODEL, FRAMES, TOKENIZER, CONFIG])
    write_json(
        target / "card.json",
        {
            "name": name,
            "command": command,
            "model": plan.model,
            "parameters": about["parameters"],
            "corpus": plan.corpus,
            "characters": plan.characters,
            "words": int(beginning.counts.sum()),
            "seed": plan.train.seed,
            "epochs": plan.train.epochs,
            "words_read": frames[-1].total,
            "environment": {
                **versions(),
                "device": "cpu",
                "dtype": "float32",
                "threads": plan.train.threads,
            },
            "seconds": round(frames[-1].seconds, 1),
            "weights": "float16",
            "nats_per_pair": frames[-1].loss,
            "analogies": analogy_scores(end.word, beginning.tokenizer),
        },
    )


def save_vectors(
    folder: Path,
    plan: WordVectorPlan,
    beginning: Beginning,
    end: End,
    command: str = "",
    dtype: torch.dtype = torch.float32,
) -> dict[str, Any]:
    """Write trained vectors as a folder that loads like any run; return its config.json."""
    folder.mkdir(parents=True, exist_ok=True)
    tables = {"word.weight": end.word, "neighbour.weight": end.neighbour}
    weights = {key: torch.from_numpy(table) for key, table in tables.items()}
    save_tensors(folder / MODEL, weights, dtype)
    beginning.tokenizer.save(folder / TOKENIZER)
    about = _description(plan, beginning, command)
    write_json(folder / CONFIG, about)
    return about


def _description(plan: WordVectorPlan, beginning: Beginning, command: str) -> dict[str, Any]:
    config = SkipGramConfig.from_dict(
        {**plan.model_options, "vocab_size": beginning.tokenizer.vocab_size}
    )
    return {
        "format": FORMAT,
        "model": {"name": plan.model, "config": config.to_dict()},
        "train": plan.train.to_dict(),
        "data": {
            "corpus": plan.corpus,
            "documents": beginning.documents,
            "words": int(beginning.counts.sum()),
        },
        "tokenizer": {
            "name": beginning.tokenizer.name,
            "kind": beginning.tokenizer.kind,
            "vocab_size": beginning.tokenizer.vocab_size,
        },
        "parameters": 2 * config.vocab_size * config.n_embd,
        "versions": versions(),
        "command": command,
        "plan": plan.to_dict(),
    }


def analogy_scores(vectors: np.ndarray, tokenizer: WordTokenizer) -> dict[str, float]:
    """Return for each relation the share of tiny-world's analogies that come out right.

    Right: of all words but the three that were given, the nearest is the fourth.
    """
    from llmviz.corpus import RELATIONS, analogies
    from llmviz.similarity import analogy

    known = {word: i for i, word in enumerate(tokenizer.vocabulary)}
    scores = {}
    for relation in RELATIONS:
        fours = [[known[w] for w in four] for four in analogies(relation) if {*four} <= {*known}]
        right = sum(analogy(vectors, b, a, c, 1).ids[0] == d for a, b, c, d in fours)
        scores[relation] = round(right / len(fours), 4) if fours else 0.0
    return scores


def save_film(path: Path, film: Film) -> None:
    """Write a film to a safetensors file: vectors as float16, the rest as it is."""
    save_tensors(
        path,
        {
            "vectors": torch.from_numpy(film.vectors).half(),
            "rows": torch.from_numpy(film.rows),
            "read": torch.from_numpy(film.read),
            "total": torch.tensor(film.total),
            "loss": torch.from_numpy(film.loss),
            "rate": torch.from_numpy(film.rate),
        },
    )


def load_film(folder: Path | str) -> Film:
    """Return the film that lies beside a bundled model; CheckpointError if there is none."""
    tensors = load_tensors(Path(folder) / FRAMES)
    try:
        return Film(
            tensors["rows"].numpy(),
            tensors["vectors"].float().numpy(),
            tensors["read"].numpy(),
            int(tensors["total"]),
            tensors["loss"].numpy(),
            tensors["rate"].numpy(),
        )
    except KeyError as error:
        raise CheckpointError(f"{Path(folder) / FRAMES} lacks {error}") from error
