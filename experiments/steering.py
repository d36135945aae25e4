"""The story model steered: doses against effect and damage, and what goes with a direction.

Makes what `llmviz.course.lessons.discoveries.steering.model` reads.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from experiments._command import write_to
from llmviz.corpus.states import LABELS, RULES
from llmviz.course.lessons.discoveries.features_record import MODEL, bundle, weights_of
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.interpretability.steering import removed
from llmviz.training.files import write_json
from llmviz.training.held_out_texts import SEED, stories

if TYPE_CHECKING:
    from llmviz.models.gpt import GPT
    from llmviz.tokenizers import Tokenizer
from llmviz.course.lessons.discoveries.steering.model import (
    COMMAND,
    DIRECTIONS,
    FEATURE,
    FILE,
    HEAD,
    LAYERS,
    MEANS,
    OTHER_SEED,
    PROMPT,
    RANDOM,
    REMOVED_IN,
    SETS,
    TARGETS,
    Choice,
    Removals,
    _directions,
    difference,
    steer,
)

MEANT_ON, MEANT_SEED = 200, SEED + 10  # stories that the means are taken on


CHOICES = (
    Choice(),
    Choice(FEATURE),
    Choice(MEANS, "rule pronouns"),
    Choice(FEATURE, "rule pronouns"),
    Choice(MEANS, "word animals"),
    Choice(MEANS, "rule possession", 1),
    Choice(HEAD, "rule places", 0, 1),
    Choice(HEAD, "rule possession", 3, 0),
)


def read_means(gpt: GPT, tokenizer: Tokenizer) -> dict[str, np.ndarray]:
    """Return the mean of the stream at each layer, and with each target's label minus without."""
    from llmviz.corpus.states import label, token_labels
    from llmviz.interpretability.stream_reading import read_taps, stream_tap

    texts = stories(MEANT_ON, MEANT_SEED)
    ids = [tokenizer.encode_from_start(text) for text in texts]
    on = np.concatenate(
        [token_labels(label(text), [t.char_end for t in tokenizer.tokens(text)]) for text in texts]
    )
    streams = read_taps(gpt, ids, [stream_tap(layer) for layer in LAYERS])
    parts = {}
    for layer, stream in zip(LAYERS, map(np.concatenate, streams), strict=True):
        parts[f"mean.{layer}"] = stream.mean(0)
        columns = [on[:, LABELS.index(target)] for target in TARGETS]
        apart = [stream[column].mean(0) - stream[~column].mean(0) for column in columns]
        parts[f"means.{layer}"] = np.stack(apart)
    return parts


def read_removals(gpt: GPT, tokenizer: Tokenizer, layer: int) -> Removals:
    """Remove the direction of each rule in turn, and measure the loss where each rule decides."""
    from llmviz.corpus.states import label, token_labels
    from llmviz.interpretability.stream_reading import losses_with, stream_tap

    width, columns = gpt.config.n_embd, [LABELS.index(f"rule {rule}") for rule in RULES]
    chance = np.random.default_rng(0)
    drawn = [chance.normal(size=width).astype(np.float32) for _ in range(RANDOM)]
    own = [difference(layer, f"rule {rule}") for rule in RULES]
    directions = bundle(layer).dictionary.directions
    own += [directions[Choice(FEATURE, f"rule {rule}", layer).feature] for rule in RULES]
    mean = _directions(EXPERIMENT_FOLDER)[f"mean.{layer}"]
    every, plain, tokens = [], [], []
    for number in range(SETS):
        texts = stories(REMOVED_IN, OTHER_SEED + SETS + number)
        ids = [tokenizer.encode_from_start(text) for text in texts]
        # A label stands at the token before the one that the rule decides; losses begin with the
        # first token of a story, which the start token predicts.
        parts = []
        for text in texts:
            on = token_labels(label(text), [token.char_end for token in tokenizer.tokens(text)])
            rules = np.vstack((np.zeros((1, len(columns)), bool), on[:-1, columns]))
            parts.append(np.hstack((rules, ~rules.any(1, keepdims=True))))
        decided = np.concatenate(parts)

        def by_rule(losses: np.ndarray, decided: np.ndarray = decided) -> np.ndarray:
            return np.array([losses[mask].mean() if mask.any() else np.nan for mask in decided.T])

        base = by_rule(losses_with(gpt, ids))
        changed = [
            by_rule(losses_with(gpt, ids, stream_tap(layer), removed(direction, mean)))
            for direction in (*own, *drawn)
        ]
        every.append(np.array(changed) - base)
        plain.append(base)
        tokens.append(decided.sum(0))
    rises = np.array(every)  # (S, 2R + RANDOM, R + 1)
    return Removals(
        layer,
        rises[:, : len(RULES)],
        rises[:, len(RULES) : 2 * len(RULES)],
        rises[:, 2 * len(RULES) :],
        np.sum(tokens, 0),
        np.nanmean(plain, 0),
    )


def make(folder: Path = EXPERIMENT_FOLDER) -> None:
    """Measure all and write it."""
    import torch
    from tqdm import tqdm

    from llmviz.models.transformers import require_dense
    from llmviz.pretrained import load_bundled
    from llmviz.training.tensors import save_tensors

    torch.set_num_threads(1)
    model, tokenizer, _ = load_bundled(MODEL)
    gpt = require_dense(model)
    means = {name: torch.from_numpy(mean) for name, mean in read_means(gpt, tokenizer).items()}
    save_tensors(folder / DIRECTIONS, means, torch.float16)
    _directions.cache_clear()
    every = []
    for choice in tqdm(CHOICES):
        *_, last = steer(choice, PROMPT)
        if last.steered is None:
            raise RuntimeError("a measurement ended without a result")
        every.append(asdict(last.steered))
    removals = asdict(read_removals(gpt, tokenizer, LAYERS[-2]))
    removals |= {k: v.round(5).tolist() for k, v in removals.items() if k != "layer"}
    write_json(
        folder / FILE,
        {
            "command": COMMAND,
            "model": MODEL,
            "weights": weights_of(),
            "steered": every,
            "removals": removals,
        },
    )


if __name__ == "__main__":
    write_to(make, "Steer the story model again.")
